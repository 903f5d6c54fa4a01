/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root mode: reserves host ids and gives host root up before any sandbox exists. Process: executor.
 * Privilege: host root at the start, two capabilities in a user namespace of its own at the end.
 */
#include "executor/privs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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

/* runs in a forked child that is still host root: writes the maps of its parent once that has left */
static _Noreturn void map_parent(const struct privs *p, int go, int report, pid_t parent)
{
	struct id_map uid = { p->uid_base, p->uid_base, PRIVS_SLOT_IDS };
	struct id_map gid = { p->gid_base, p->gid_base, PRIVS_SLOT_IDS };
	struct ak_err err = { 0 };
	char c;

	if (read(go, &c, 1) != 1)
		_exit(1);
	if (userns_write_maps(parent, uid, gid, false, &err) < 0)
		(void)ak_write_all(report, err.msg, strlen(err.msg));
	_exit(err.code ? 1 : 0);
}

/* unshare into a user namespace whose maps a helper of ours writes from outside */
static int unshare_mapped(const struct privs *p, struct ak_err *err)
{
	int go[2], report[2];
	char msg[AK_ERR_MSG_MAX] = { 0 };
	pid_t self = getpid(), pid;
	int status, r = 0;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "pipe");
	pid = fork();
	if (pid < 0)
		return ak_err_sys(err, errno, "fork");
	if (pid == 0) {
		(void)close(go[1]);
		map_parent(p, go[0], report[1], self);
	}
	(void)close(go[0]);
	(void)close(report[1]);
	if (unshare(CLONE_NEWUSER) < 0)
		r = userns_explain(errno, err);
	else if (ak_write_all(go[1], "g", 1) < 0)
		r = ak_err_set(err, EPIPE, "the helper that writes the id maps is gone");
	(void)close(go[1]);
	if (read(report[0], msg, sizeof(msg) - 1) > 0 && r == 0)
		r = ak_err_set(err, EPERM, "map the reserved ids: %s", msg);
	(void)close(report[0]);
	if ((waitpid(pid, &status, 0) < 0 || status != 0) && r == 0)
		r = ak_err_set(err, EPERM, "the helper that writes the id maps failed");
	if (r < 0 && !err->hint[0])
		ak_err_hint(err, "%s", PRIVS_NOT_HOST_ROOT);
	return r;
}

int privs_enter(const struct privs *p, struct ak_err *err)
{
	/* the two write the id maps of sandboxes: user_namespaces(7), "Defining user and group ID mappings" */
	static const cap_value_t keep[] = { CAP_SETUID, CAP_SETGID };
	uid_t uid = p->uid_base + PRIVS_OWN_ID;
	gid_t gid = p->gid_base + PRIVS_OWN_ID;
	int r;

	if (setgroups(0, NULL) < 0)
		return ak_err_sys(err, errno, "drop the supplementary groups");
	r = unshare_mapped(p, err);
	if (r < 0)
		return r;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return ak_err_sys(err, errno, "become %u:%u", uid, gid);
	/*
	 * Changing ids made us non-dumpable, so that /proc/PID of a child would belong to host root and its maps could not
	 * be written. Nobody else has our id, and no sandbox process can name us.
	 */
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return ak_err_sys(err, errno, "PR_SET_DUMPABLE");
	r = caps_keep(keep, 2, err);
	if (r < 0)
		return r;
	if (setuid(0) == 0 || errno != EINVAL)
		return ak_err_set(err, EPERM, "host root is still reachable after giving it up");
	return 0;
}
