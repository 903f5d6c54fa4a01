/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root mode: reserves host ids and gives host root up before any sandbox exists. Process: executor.
 * Privilege: host root at the start, two capabilities in a user namespace of its own at the end.
 */
#include "executor/privs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/caps.h"
#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"

#define SUBID_FILE_MAX (256u << 10)
#define SUBID_LINE_MAX 1024

struct id_range {
	bool found;
	uint64_t start, count;
};

/* fields of "name:start:count", subuid(5) */
static bool parse_subid(const char *line, size_t len, struct id_range *ret)
{
	const char *f[3];
	size_t n[3];
	char num[2][24];

	for (int i = 0; i < 3; i++)
		if (!ak_field(&line, &len, ':', &f[i], &n[i]))
			return false;
	if (n[0] != 2 || memcmp(f[0], "ak", 2) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		if (n[i + 1] >= sizeof(num[i]))
			return false;
		memcpy(num[i], f[i + 1], n[i + 1]);
		num[i][n[i + 1]] = '\0';
	}
	if (ak_parse_u64(num[0], 1, UINT32_MAX, &ret->start) < 0 || ak_parse_u64(num[1], 1, UINT32_MAX, &ret->count) < 0)
		return false;
	ret->found = true;
	return true;
}

static int read_subid(const char *path, struct id_range *ret, struct ak_err *err)
{
	char *text = NULL;
	const char *line;
	size_t len, n;
	struct ak_lines l;
	int r = ak_read_file(path, SUBID_FILE_MAX, &text, &len);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return ak_err_sys(err, -r, "read %s", path);
	ak_lines_init(&l, text, len, SUBID_LINE_MAX);
	while (!ret->found && ak_lines_next(&l, &line, &n))
		(void)parse_subid(line, n, ret);
	free(text);
	return 0;
}

static int find_range(struct id_range *uid, struct id_range *gid, struct ak_err *err)
{
	int r = read_subid("/etc/subuid", uid, err);

	if (r == 0)
		r = read_subid("/etc/subgid", gid, err);
	if (r < 0)
		return r;
	if (uid->found != gid->found) {
		(void)ak_err_set(err, EINVAL, "%s has a line for \"ak\" and %s has none", uid->found ? "/etc/subuid" : "/etc/subgid",
				 uid->found ? "/etc/subgid" : "/etc/subuid");
		ak_err_hint(err, "give both files the same line, or take it out of both to use the built-in range");
		return -EINVAL;
	}
	if (!uid->found) {
		*uid = (struct id_range){ true, PRIVS_DEFAULT_BASE, (uint64_t)PRIVS_SLOT_IDS * PRIVS_SLOTS_MAX };
		*gid = *uid;
	}
	if (uid->count < PRIVS_SLOT_IDS || gid->count < PRIVS_SLOT_IDS || uid->start + PRIVS_SLOT_IDS > UINT32_MAX ||
	    gid->start + PRIVS_SLOT_IDS > UINT32_MAX)
		return ak_err_set(err, EINVAL, "the range of \"ak\" in /etc/subuid or /etc/subgid holds less than %u ids", PRIVS_SLOT_IDS);
	return 0;
}

static int open_lock_file(struct ak_err *err)
{
	struct stat st;
	AK_AUTO_FD dir = -1;
	int fd;

	if (mkdir(PRIVS_RUN_DIR, 0755) < 0 && errno != EEXIST)
		return ak_err_sys(err, errno, "make %s", PRIVS_RUN_DIR);
	dir = open(PRIVS_RUN_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0)
		return ak_err_sys(err, errno, "open %s", PRIVS_RUN_DIR);
	if (st.st_uid != 0 || (st.st_mode & 022)) {
		(void)ak_err_set(err, EPERM, "%s must belong to root and be writable by root only", PRIVS_RUN_DIR);
		ak_err_hint(err, "chown root %s; chmod 755 %s", PRIVS_RUN_DIR, PRIVS_RUN_DIR);
		return -EPERM;
	}
	fd = openat(dir, "slots", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? ak_err_sys(err, errno, "open %s/slots", PRIVS_RUN_DIR) : fd;
}

int privs_reserve(struct privs *p, struct ak_err *err)
{
	struct id_range uid = { 0 }, gid = { 0 };
	AK_AUTO_FD lock = -1;
	unsigned slots;
	int r = find_range(&uid, &gid, err);

	p->lock = -1;
	if (r < 0)
		return r;
	lock = open_lock_file(err);
	if (lock < 0)
		return lock;
	slots = (unsigned)((uid.count < gid.count ? uid.count : gid.count) / PRIVS_SLOT_IDS);
	if (slots > PRIVS_SLOTS_MAX)
		slots = PRIVS_SLOTS_MAX;
	for (unsigned i = 0; i < slots; i++) {
		struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = i, .l_len = 1 };

		if (fcntl(lock, F_OFD_SETLK, &fl) == 0) {
			*p = (struct privs){ .uid_base = (uint32_t)uid.start + i * PRIVS_SLOT_IDS,
					     .gid_base = (uint32_t)gid.start + i * PRIVS_SLOT_IDS,
					     .slot = i, .lock = ak_fd_take(&lock) };
			return 0;
		}
		if (errno != EAGAIN && errno != EACCES)
			return ak_err_sys(err, errno, "lock %s/slots", PRIVS_RUN_DIR);
	}
	return ak_err_set(err, EBUSY, "all %u slots of the reserved id range are in use", slots);
}

void privs_release(struct privs *p)
{
	ak_fd_close(&p->lock);
}

/* become the slot's last id; the user namespace is ours already */
static int become_own_id(const struct privs *p, struct ak_err *err)
{
	uid_t uid = p->uid_base + PRIVS_OWN_ID;
	gid_t gid = p->gid_base + PRIVS_OWN_ID;

	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return ak_err_sys(err, errno, "become %u:%u", uid, gid);
	/*
	 * Changing ids made us non-dumpable, so that /proc/PID of a child would belong to host root and its maps could not
	 * be written. Nobody else has our id, and no sandbox process can name us.
	 */
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return ak_err_sys(err, errno, "PR_SET_DUMPABLE");
	return 0;
}

/* the helper follows its parent out of host root */
static int follow(const struct privs *p, pid_t parent, struct ak_err *err)
{
	char path[48];
	AK_AUTO_FD ns = -1;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)parent);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWUSER) < 0)
		return ak_err_sys(err, errno, "enter ak's own user namespace");
	return become_own_id(p, err);
}

/*
 * Runs in a forked child that is still host root: writes the maps of its parent once that has left, then follows it for the errand.
 * On the socket: a byte to go on, each answered by "" or an error's text.
 */
static _Noreturn void helper(const struct privs *p, int sock, pid_t parent, const struct privs_errand *e)
{
	struct id_map uid = { p->uid_base, p->uid_base, PRIVS_SLOT_IDS };
	struct id_map gid = { p->gid_base, p->gid_base, PRIVS_SLOT_IDS };
	struct ak_err err = { 0 };
	char c;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || read(sock, &c, 1) != 1)
		_exit(1);
	(void)userns_write_maps(parent, uid, gid, false, &err);
	if (send(sock, err.msg, strlen(err.msg) + 1, MSG_NOSIGNAL) < 0 || err.code)
		_exit(1);
	if (!e->fn || read(sock, &c, 1) != 1)
		_exit(0);
	(void)follow(p, parent, &err);
	if (send(sock, err.msg, strlen(err.msg) + 1, MSG_NOSIGNAL) < 0 || err.code)
		_exit(1);
	e->fn(e->arg, sock);
	_exit(0);
}

static pid_t helper_start(const struct privs *p, int sock[2], struct privs_errand *e, struct ak_err *err)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t self = getpid(), pid;

	if (e->cgroup >= 0) {
		args.flags = CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)e->cgroup;
	}
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		(void)close(sock[0]);
		helper(p, sock[1], self, e);
	}
	return pid < 0 ? ak_err_sys(err, errno, "start the helper that writes the id maps") : pid;
}

/* let the helper do its next step. Return: 0, or what it says went wrong */
static int helper_step(int sock, const char *what, struct ak_err *err)
{
	char msg[AK_ERR_MSG_MAX] = { 0 };
	ssize_t n = send(sock, "g", 1, MSG_NOSIGNAL) == 1 ? recv(sock, msg, sizeof(msg) - 1, 0) : -1;

	if (n <= 0)
		return ak_err_set(err, EPIPE, "the helper that writes the id maps is gone");
	return msg[0] ? ak_err_set(err, EPERM, "%s: %s", what, msg) : 0;
}

void privs_errand_end(struct privs_errand *e)
{
	ak_fd_close(&e->sock);
	if (e->pid > 0)
		(void)waitpid(e->pid, NULL, 0);
	e->pid = 0;
}

/* unshare into a user namespace whose maps a helper of ours writes from outside */
static int unshare_mapped(const struct privs *p, struct privs_errand *e, struct ak_err *err)
{
	int sock[2], r = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return ak_err_sys(err, errno, "socketpair");
	pid = helper_start(p, sock, e, err);
	(void)close(sock[1]);
	e->sock = sock[0];
	e->pid = pid < 0 ? 0 : pid;
	if (pid < 0)
		return (int)pid;
	if (unshare(CLONE_NEWUSER) < 0)
		r = userns_explain(errno, err);
	if (r == 0)
		r = helper_step(e->sock, "map the reserved ids", err);
	if (r < 0 && !err->hint[0])
		ak_err_hint(err, "%s", PRIVS_NOT_HOST_ROOT);
	return r;
}

static int enter(const struct privs *p, struct privs_errand *e, struct ak_err *err)
{
	/* the two write the id maps of sandboxes: user_namespaces(7), "Defining user and group ID mappings" */
	static const cap_value_t keep[] = { CAP_SETUID, CAP_SETGID };
	int r;

	if (setgroups(0, NULL) < 0)
		return ak_err_sys(err, errno, "drop the supplementary groups");
	r = unshare_mapped(p, e, err);
	if (r == 0)
		r = become_own_id(p, err);
	if (r == 0)
		r = caps_keep(keep, 2, err);
	if (r < 0)
		return r;
	if (setuid(0) == 0 || errno != EINVAL)
		return ak_err_set(err, EPERM, "host root is still reachable after giving it up");
	return e->fn ? helper_step(e->sock, "let the helper leave host root", err) : 0;
}

int privs_enter(const struct privs *p, struct privs_errand *e, struct ak_err *err)
{
	struct privs_errand none = { .cgroup = -1, .sock = -1 };
	int r = enter(p, e ? e : &none, err);

	privs_errand_end(&none);
	if (r < 0 && e)
		privs_errand_end(e);
	return r;
}
