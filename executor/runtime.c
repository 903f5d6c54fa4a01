/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime folder from the side of the executor: taking a name, listening, giving it back. Privilege: the caller's. */
#include "executor/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/ns/sysmount.h"
#include "executor/runtime_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"

#define CLAIM_TRIES 40u		/* a lock may be held for a moment by somebody who only looks */
#define CLAIM_WAIT_NS 5000000
#define LISTEN_BACKLOG 64

static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

int runtime_check_name(const char *name, struct ak_err *err)
{
	size_t n = strlen(name);

	if (n > 0 && n <= RUNTIME_NAME_MAX && strspn(name, name_bytes) == n && name[0] != '.' && name[0] != '-')
		return 0;
	(void)ak_err_set(err, EINVAL, "\"%.80s\" is no name of a sandbox", name);
	ak_err_hint(err, "use 1 to %d letters, digits and . _ - that start with none of . and -", RUNTIME_NAME_MAX);
	return -EINVAL;
}

void runtime_dir_name(const char *name, char ret[static RUNTIME_NAME_MAX + 3])
{
	(void)snprintf(ret, RUNTIME_NAME_MAX + 3, "%.*s.d", RUNTIME_NAME_MAX, name);
}

static int check_dir(int fd, const char *shown, struct ak_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at %s", shown);
	if (!S_ISDIR(st.st_mode))
		return ak_err_set(err, ENOTDIR, "%s is not a folder", shown);
	if (st.st_uid != geteuid()) {
		(void)ak_err_set(err, EPERM, "%s belongs to uid %u, not to you (uid %u)", shown, st.st_uid, geteuid());
		ak_err_hint(err, shown[0] == '/' ? "set XDG_RUNTIME_DIR to a folder of yours, or unset it" :
			    "somebody else has put it into the runtime folder: remove it");
		return -EPERM;
	}
	if (st.st_mode & 0077) {
		(void)ak_err_set(err, EACCES, "%s is open to others (mode %04o)", shown, st.st_mode & 07777);
		ak_err_hint(err, "chmod 700 it, after a look at what is in it");
		return -EACCES;
	}
	return 0;
}

int runtime_open_dir(int dir, const char *name, const char *shown, struct ak_err *err)
{
	AK_AUTO_FD fd = sys_openat2(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC, AK_RESOLVE_NO_SYMLINKS);
	int r;

	if (fd < 0 && errno == ELOOP)
		return ak_err_set(err, ELOOP, "%s leads through a symbolic link, which is not followed", shown);
	if (fd < 0)
		return ak_err_sys(err, errno, "open %s", shown);
	r = check_dir(fd, shown, err);
	return r < 0 ? r : ak_fd_take(&fd);
}

#define NO_ROOM "free space on the disk of the runtime folder, or set XDG_RUNTIME_DIR to another folder of yours with mode 0700"

/* Return: negative errno */
static int not_made(int code, const char *folder, const char *name, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "make %s/%s", folder, name);
	ak_no_space(err, NO_ROOM);
	return -code;
}

/* the folders above ak's own are made as hostinfo_make_own() makes them; $XDG_RUNTIME_DIR must be there */
static int make_dirs(const struct hostinfo *h, struct ak_err *err)
{
	const char *xdg = hostinfo_env(h, "XDG_RUNTIME_DIR");

	if (!xdg || xdg[0] != '/')
		(void)hostinfo_make_path(h->state_dir);
	if (mkdir(h->runtime_dir, 0700) == 0 || errno == EEXIST)
		return 0;
	(void)ak_err_sys(err, errno, "make the runtime folder %s", h->runtime_dir);
	ak_no_space(err, NO_ROOM);
	if (xdg && err->code == ENOENT)
		ak_err_hint(err, "set XDG_RUNTIME_DIR to a folder that exists, or unset it");
	return -err->code;
}

int runtime_open(const struct hostinfo *h, bool make, struct runtime *ret, struct ak_err *err)
{
	struct ak_err none = { 0 };
	int r = make ? make_dirs(h, err ? err : &none) : 0;
	int fd;

	if (r < 0)
		return r;
	fd = runtime_open_dir(AT_FDCWD, h->runtime_dir, h->runtime_dir, err);
	if (fd < 0)
		return fd;
	*ret = (struct runtime){ .dir = fd, .path = h->runtime_dir };
	return 0;
}

void runtime_close(struct runtime *rt)
{
	ak_fd_close(&rt->dir);
}

int runtime_open_alive(int dir, bool make)
{
	AK_AUTO_FD fd = openat(dir, RUNTIME_ALIVE, O_RDWR | (make ? O_CREAT : 0) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	return ak_fd_take(&fd);
}

int runtime_lock(int fd, int op)
{
	while (flock(fd, op | LOCK_NB) < 0) {
		if (errno == EWOULDBLOCK)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
	return 1;
}

bool runtime_same_file(int fd, int dir, const char *name)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

void runtime_clear(int top, int dir, const char *dir_name)
{
	/* the lock file last, so that whoever holds it has the folder to himself until the end */
	static const char *const files[] = { RUNTIME_SOCK, RUNTIME_FACTS_NEW, RUNTIME_FACTS, RUNTIME_ALIVE };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)unlinkat(dir, files[i], 0);	/* mostly one or the other is missing; the folder tells */
	(void)unlinkat(top, dir_name, AT_REMOVEDIR);
}

void runtime_address(int dir, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/" RUNTIME_SOCK, dir);
}

static int taken(const char *name, struct ak_err *err)
{
	(void)ak_err_set(err, EEXIST, "a sandbox is called %s already", name);
	ak_err_hint(err, "take another name, or end that one: ak rm %s", name);
	return -EEXIST;
}

static int count_names(int top)
{
	struct ak_dir d;
	char path[32];
	const char *entry;
	unsigned char type;
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", top);
	if (ak_dir_open(&d, path) < 0)
		return 0;
	while (ak_dir_next(&d, &entry, &type))
		n++;
	ak_dir_close(&d);
	return n;
}

/* Return: 1 when @s holds the name, 0 to try again, negative errno. */
static int try_claim(const struct runtime *rt, const char *dir_name, struct runtime_slot *s, struct ak_err *err)
{
	AK_AUTO_FD dir = -1;
	AK_AUTO_FD alive = -1;
	int r;

	if (mkdirat(rt->dir, dir_name, 0700) < 0 && errno != EEXIST)
		return not_made(errno, rt->path, dir_name, err);
	dir = runtime_open_dir(rt->dir, dir_name, dir_name, err);
	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	alive = runtime_open_alive(dir, true);
	if (alive < 0)
		return alive == -ENOENT ? 0 : not_made(-alive, rt->path, dir_name, err);
	r = runtime_lock(alive, LOCK_EX);
	if (r < 0)
		return ak_err_sys(err, -r, "lock %s/%s/" RUNTIME_ALIVE, rt->path, dir_name);
	/* somebody may have removed it between the opening and the lock */
	if (r == 0 || !runtime_same_file(alive, dir, RUNTIME_ALIVE) || !runtime_same_file(dir, rt->dir, dir_name))
		return 0;
	(void)unlinkat(dir, RUNTIME_SOCK, 0);	/* of a crashed one */
	s->dir = ak_fd_take(&dir);
	s->alive = ak_fd_take(&alive);
	return 1;
}

int runtime_claim(const struct runtime *rt, const char *name, struct runtime_slot *ret, struct ak_err *err)
{
	struct runtime_slot s = RUNTIME_SLOT_NONE;
	char dir_name[RUNTIME_NAME_MAX + 3];
	struct timespec pause = { .tv_nsec = CLAIM_WAIT_NS };
	int r = runtime_check_name(name, err);

	if (r < 0)
		return r;
	if (count_names(rt->dir) >= RUNTIME_SANDBOXES_MAX)
		return ak_err_set(err, EMFILE, "%d sandboxes exist already, which is the maximum", RUNTIME_SANDBOXES_MAX);
	(void)snprintf(s.name, sizeof(s.name), "%s", name);
	runtime_dir_name(name, dir_name);
	for (unsigned i = 0; i < CLAIM_TRIES; i++) {
		r = try_claim(rt, dir_name, &s, err);
		if (r != 0)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (r == 0)
		return taken(name, err);
	if (r < 0)
		return r;
	s.top = fcntl(rt->dir, F_DUPFD_CLOEXEC, 3);
	if (s.top < 0) {
		r = ak_err_sys(err, errno, "duplicate a descriptor");
		runtime_release(&s);
		return r;
	}
	*ret = s;
	return 0;
}

static int write_facts(const struct runtime_slot *s, const struct runtime_facts *f, struct ak_err *err)
{
	struct ak_buf b = { .max = RUNTIME_FACTS_MAX };
	AK_AUTO_FD fd = -1;
	int r;

	runtime_facts_write(f, &b);
	(void)unlinkat(s->dir, RUNTIME_FACTS_NEW, 0);
	fd = openat(s->dir, RUNTIME_FACTS_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : b.failed ? -E2BIG : ak_write_all(fd, b.data, b.len);
	ak_buf_release(&b);
	if (r == 0 && renameat(s->dir, RUNTIME_FACTS_NEW, s->dir, RUNTIME_FACTS) < 0)
		r = -errno;
	if (r < 0)
		(void)ak_err_sys(err, -r, "write the facts of sandbox %s", s->name);
	ak_no_space(r < 0 ? err : NULL, NO_ROOM);
	return r;
}

int runtime_listen(struct runtime_slot *s, const struct runtime_facts *f, struct ak_err *err)
{
	AK_AUTO_FD fd = -1;
	struct sockaddr_un a;
	mode_t old;
	int r = write_facts(s, f, err);

	if (r < 0)
		return r;
	runtime_address(s->dir, &a);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return ak_err_sys(err, errno, "make a socket");
	old = umask(0077);
	r = bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, LISTEN_BACKLOG) < 0 ? -errno : 0;
	(void)umask(old);
	if (r < 0)
		return ak_err_sys(err, -r, "listen for sandbox %s", s->name);
	s->listen = ak_fd_take(&fd);
	return 0;
}

void runtime_release(struct runtime_slot *s)
{
	ak_fd_close(&s->guard);
	ak_fd_close(&s->listen);
	ak_fd_close(&s->dir);
	ak_fd_close(&s->top);
	ak_fd_close(&s->alive);	/* with the lock; last */
}

void runtime_drop(struct runtime_slot *s)
{
	char dir_name[RUNTIME_NAME_MAX + 3];

	if (s->guard >= 0)
		(void)ak_write_all(s->guard, "", 1);	/* nobody there: the next command that looks removes it */
	if (s->alive >= 0 && s->dir >= 0 && s->top >= 0) {
		runtime_dir_name(s->name, dir_name);
		runtime_clear(s->top, s->dir, dir_name);
	}
	runtime_release(s);
}
