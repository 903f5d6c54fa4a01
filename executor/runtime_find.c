/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime folder from the side of those who look for a sandbox. Privilege: the caller's. */
#include "executor/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/runtime_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define NS_PER_MS 1000000u
#define GONE_WAIT_NS 2000000

enum life { LIFE_NONE, LIFE_DEAD, LIFE_ALIVE };

/* Is the executor of the folder @dir alive? */
static enum life life_of(int dir)
{
	AK_AUTO_FD alive = runtime_open_alive(dir, false);

	if (alive < 0)
		return alive == -ENOENT ? LIFE_NONE : LIFE_ALIVE;	/* what is not ours to judge is left alone */
	return runtime_lock(alive, LOCK_SH) == 0 ? LIFE_ALIVE : LIFE_DEAD;
}

bool runtime_sweep(int top, const char *name)
{
	char dir_name[RUNTIME_NAME_MAX + 3];
	AK_AUTO_FD dir = -1;
	AK_AUTO_FD alive = -1;

	runtime_dir_name(name, dir_name);
	dir = runtime_open_dir(top, dir_name, dir_name, NULL);
	if (dir < 0)
		return dir == -ENOENT;
	alive = runtime_open_alive(dir, false);
	if (alive == -ENOENT)	/* it was about to be made, or had been removed: an empty folder is nobody's */
		return unlinkat(top, dir_name, AT_REMOVEDIR) == 0;
	if (alive < 0 || runtime_lock(alive, LOCK_EX) != 1 || !runtime_same_file(alive, dir, RUNTIME_ALIVE))
		return false;
	runtime_clear(top, dir, dir_name);
	return faccessat(top, dir_name, F_OK, AT_SYMLINK_NOFOLLOW) < 0;
}

static int unknown(const char *name, struct ak_err *err)
{
	(void)ak_err_set(err, ENOENT, "no sandbox is called %s", name);
	ak_err_hint(err, "`ak ls` lists them; `ak create %s` makes one", name);
	return -ENOENT;
}

static int crashed(const char *name, struct ak_err *err)
{
	(void)ak_err_set(err, EOWNERDEAD, "sandbox %s is gone: its executor was killed or has crashed", name);
	ak_err_hint(err, "nothing of it is left; `ak create %s` makes a new one", name);
	return -EOWNERDEAD;
}

/* Return: the folder of the live sandbox @name, else negative errno with what to say. */
static int find(const struct runtime *rt, const char *name, struct ak_err *err)
{
	char dir_name[RUNTIME_NAME_MAX + 3];
	AK_AUTO_FD dir = -1;
	enum life life;
	int r = runtime_check_name(name, err);

	if (r < 0)
		return r;
	runtime_dir_name(name, dir_name);
	dir = runtime_open_dir(rt->dir, dir_name, dir_name, err);
	if (dir == -ENOENT)
		return unknown(name, err);
	if (dir < 0)
		return dir;
	life = life_of(dir);
	if (life == LIFE_ALIVE)
		return ak_fd_take(&dir);
	(void)runtime_sweep(rt->dir, name);
	return life == LIFE_NONE ? unknown(name, err) : crashed(name, err);
}

static int check_peer(int fd, const char *name, struct runtime_peer *p, struct ak_err *err)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) < 0)
		return ak_err_sys(err, errno, "ask who serves sandbox %s", name);
	if (c.uid != geteuid()) {
		(void)ak_err_set(err, EPERM, "the socket of sandbox %s belongs to uid %u, not to you (uid %u)", name, c.uid,
				 geteuid());
		ak_err_hint(err, "somebody else has put it there: remove the folder %s.d of the runtime folder", name);
		return -EPERM;
	}
	p->pid = c.pid;
	p->pidfd = c.pid > 0 ? (int)syscall(SYS_pidfd_open, c.pid, 0) : -1;
	return 0;
}

static int dial(int dir, const char *name, int *ret, struct ak_err *err)
{
	AK_AUTO_FD fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct timeval tv = { .tv_sec = RUNTIME_CONNECT_MS / 1000 };
	struct sockaddr_un a;

	runtime_address(dir, &a);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0)
		return ak_err_sys(err, errno, "make a socket");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0) {
		*ret = ak_fd_take(&fd);
		return 0;
	}
	switch (errno) {
	case ENOENT:
	case ECONNREFUSED:
		return ak_err_set(err, EAGAIN, "sandbox %s is just starting or ending: try again", name);
	case EAGAIN:
		(void)ak_err_set(err, ETIMEDOUT, "the executor of sandbox %s does not answer", name);
		ak_err_hint(err, "`ak rm %s --force` ends it", name);
		return -ETIMEDOUT;
	case EPROTOTYPE:
		return ak_err_set(err, EPERM, "the socket of sandbox %s is none of ak's", name);
	default:
		return ak_err_sys(err, errno, "connect to sandbox %s", name);
	}
}

int runtime_connect(const struct runtime *rt, const char *name, struct runtime_peer *ret, struct ak_err *err)
{
	struct runtime_peer p = RUNTIME_PEER_NONE;
	AK_AUTO_FD dir = find(rt, name, err);
	int r;

	if (dir < 0)
		return dir;
	r = dial(dir, name, &p.fd, err);
	if (r == 0)
		r = check_peer(p.fd, name, &p, err);
	/* the lock says that the pid was still the executor's when its pidfd was opened */
	if (r == 0 && life_of(dir) != LIFE_ALIVE) {
		(void)runtime_sweep(rt->dir, name);
		r = crashed(name, err);
	}
	if (r < 0) {
		runtime_peer_close(&p);
		return r;
	}
	*ret = p;
	return 0;
}

void runtime_peer_close(struct runtime_peer *p)
{
	ak_fd_close(&p->fd);
	ak_fd_close(&p->pidfd);
}

/* A whole small file that is ours, from its descriptor. Return: bytes or negative errno. */
static ssize_t read_plain(int fd, char *buf, size_t cap)
{
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	while (n > 0 && len < cap) {
		n = read(fd, buf + len, cap - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)len;
}

int runtime_read_facts(const struct runtime *rt, const char *name, struct runtime_facts *ret, struct ak_err *err)
{
	char dir_name[RUNTIME_NAME_MAX + 3];
	char text[RUNTIME_FACTS_MAX];
	AK_AUTO_FD dir = -1;
	AK_AUTO_FD fd = -1;
	ssize_t n;
	int r = runtime_check_name(name, err);

	if (r < 0)
		return r;
	runtime_dir_name(name, dir_name);
	dir = runtime_open_dir(rt->dir, dir_name, dir_name, err);
	if (dir < 0)
		return dir;
	fd = openat(dir, RUNTIME_FACTS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	n = fd < 0 ? -errno : read_plain(fd, text, sizeof(text));
	if (n < 0)
		return ak_err_sys(err, (int)-n, "read the facts of sandbox %s", name);
	r = runtime_facts_read(text, (size_t)n, ret, err);
	return r < 0 ? ak_err_wrap(err, "sandbox %s", name) : 0;
}

int runtime_wait_gone(const struct runtime *rt, const char *name, uint64_t timeout_ms)
{
	uint64_t end = ak_now_ns() + timeout_ms * NS_PER_MS;
	struct timespec pause = { .tv_nsec = GONE_WAIT_NS };

	while (!runtime_sweep(rt->dir, name)) {
		if (ak_now_ns() >= end)
			return -ETIMEDOUT;
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Return: true when the entry is the folder of a sandbox; its name is in @ret */
static bool is_sandbox(const char *entry, char ret[static RUNTIME_NAME_MAX + 1])
{
	size_t n = strlen(entry);

	if (n < 3 || n > RUNTIME_NAME_MAX + 2 || strcmp(entry + n - 2, ".d") != 0)
		return false;
	memcpy(ret, entry, n - 2);
	ret[n - 2] = '\0';
	return runtime_check_name(ret, NULL) == 0;
}

int runtime_list(const struct runtime *rt, struct runtime_names *ret, struct ak_err *err)
{
	struct ak_dir d;
	char path[32];
	const char *entry;
	unsigned char type;
	int r;

	ret->n = 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", rt->dir);
	r = ak_dir_open(&d, path);
	if (r < 0)
		return ak_err_sys(err, -r, "read %s", rt->path);
	while (ret->n < RUNTIME_SANDBOXES_MAX && ak_dir_next(&d, &entry, &type))
		ret->n += is_sandbox(entry, ret->name[ret->n]);
	ak_dir_close(&d);
	for (size_t i = 0; i < ret->n;) {
		AK_AUTO_FD dir = -1;
		char dir_name[RUNTIME_NAME_MAX + 3];

		runtime_dir_name(ret->name[i], dir_name);
		dir = runtime_open_dir(rt->dir, dir_name, dir_name, NULL);
		if (dir >= 0 && life_of(dir) == LIFE_ALIVE) {
			i++;
			continue;
		}
		if (dir >= 0)
			(void)runtime_sweep(rt->dir, ret->name[i]);
		ret->n--;
		memmove(ret->name[i], ret->name[ret->n], sizeof(ret->name[0]));
	}
	qsort(ret->name, ret->n, sizeof(ret->name[0]), by_name);
	return 0;
}
