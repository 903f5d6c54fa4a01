/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child that keeps what file tools change. Process: child of the executor. Privilege: the workspace's owner, in a user namespace that
 * maps nobody else. Names in the workspace are hostile: commands run there meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


#include "executor/cow_scribe.h"
#include "executor/ns/sysmount.h"
#include "executor/plan_keys.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"
#include "executor/touch_stay.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/owner.h"
#include "executor/workspace/touched.h"

#define LINKS_MAX 16	/* as the sandbox's init */
#define LOCK_TRIES 60u	/* 3 seconds: a client waits longer */
#define LOCK_WAIT_MS 50

/* ---- where a path leads ---- */

static int open_below(int root, const char *path)
{
	int fd = sys_openat2(root, path[0] ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC, AK_RESOLVE_BENEATH | AK_RESOLVE_NO_MAGICLINKS);

	return fd < 0 ? -errno : fd;
}

/* Return: length of what the kernel calls it now, 0 for none */
static size_t name_of(int fd, char ret[WS_PATH_MAX + 1])
{
	char link[32];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret, WS_PATH_MAX);
	if (n <= 0 || n >= WS_PATH_MAX)
		return 0;
	ret[n] = '\0';
	return (size_t)n;
}

/* the folder @fd as it is called from the workspace, without links. Return: 0, or 1: it is not below */
static int relative(int root, int fd, char ret[WS_PATH_MAX + 1])
{
	char top[WS_PATH_MAX + 1];
	size_t n = name_of(root, top);

	if (n == 0 || name_of(fd, ret) < n || strncmp(ret, top, n) != 0 || (ret[n] && ret[n] != '/' && n > 1))
		return 1;
	if (n == 1)
		n = 0;	/* the workspace is / */
	memmove(ret, ret + n + (ret[n] == '/'), strlen(ret + n + (ret[n] == '/')) + 1);
	return 0;
}

/*
 * The folder of @path as far as it is there: its name without links in @ret, and what is missing of it behind that. Return: its descriptor,
 * or a negative errno
 */
static int open_deepest(int root, char *path, char ret[WS_PATH_MAX + 1])
{
	char all[WS_PATH_MAX + 1];
	size_t whole = strlen(path), cut = whole;
	int fd;

	memcpy(all, path, whole + 1);
	while ((fd = open_below(root, path)) == -ENOENT && cut > 0) {
		while (cut > 0 && path[--cut] != '/')
			;
		path[cut] = '\0';
	}
	if (fd < 0)
		return fd;
	if (relative(root, fd, ret) != 0) {
		(void)close(fd);
		return -EXDEV;
	}
	if (cut < whole) {
		const char *rest = all + cut + (cut > 0);
		size_t at = strlen(ret);

		if (at + 1 + strlen(rest) > WS_PATH_MAX) {
			(void)close(fd);
			return -ENAMETOOLONG;
		}
		(void)snprintf(ret + at, WS_PATH_MAX + 1 - at, "%s%s", at ? "/" : "", rest);
	}
	return fd;
}

/* one step: the last name of @buf in its folder. Return: 0 with @ret; 2: it was a link, @buf says where to; 1; negative errno */
static int step(int root, char buf[WS_PATH_MAX + 1], char *ret)
{
	char *slash = strrchr(buf, '/'), name[WS_NAME_MAX + 1], text[WS_PATH_MAX + 1];
	const char *last = slash ? slash + 1 : buf;
	size_t at = slash ? (size_t)(slash - buf) : 0;
	char folder[WS_PATH_MAX + 1];
	AK_AUTO_FD fd = -1;
	ssize_t n;

	if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0 || strlen(last) > WS_NAME_MAX)
		return 1;
	memcpy(name, last, strlen(last) + 1);
	buf[at] = '\0';
	memcpy(folder, buf, at + 1);
	fd = open_deepest(root, folder, ret);
	if (fd < 0)
		return fd == -ENAMETOOLONG ? fd : 1;
	n = readlinkat(fd, name, text, WS_PATH_MAX);
	if (n > 0 && strlen(folder) == at) {	/* the whole folder is there */
		text[n] = '\0';
		if (text[0] == '/' || at + 1 + (size_t)n > WS_PATH_MAX)
			return 1;
		if (at > 0)
			buf[at++] = '/';
		memcpy(buf + at, text, (size_t)n + 1);
		return 2;
	}
	at = strlen(ret);
	if (at + 1 + strlen(name) > WS_PATH_MAX)
		return -ENAMETOOLONG;
	(void)snprintf(ret + at, WS_PATH_MAX + 1 - at, "%s%s", at ? "/" : "", name);
	return 0;
}

/* folders that were not there to be looked up came with what was written: "a//./b" is a/b */
static void tidy(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		size_t n = strcspn(from, "/");

		if (n > 0 && !(n == 1 && from[0] == '.')) {
			if (to > path)
				*to++ = '/';
			memmove(to, from, n);
			to += n;
		}
		from += n + (from[n] == '/');
	}
	*to = '\0';
}

int touch_resolve(int root, const char *path, const char *inside, char *ret)
{
	char buf[WS_PATH_MAX + 1];
	size_t n = strlen(inside);

	if (path[0] == '/') {
		if (!ak_path_below(path, inside))
			return 1;
		path += n;
		while (*path == '/')
			path++;
	}
	if (strlen(path) > WS_PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(buf, path, strlen(path) + 1);
	for (unsigned i = 0; i < LINKS_MAX; i++) {
		int r = step(root, buf, ret);

		if (r == 0)
			tidy(ret);
		if (r != 2)
			return r;
	}
	return 1;
}

/* ---- orders ---- */

struct keeping {
	const struct touch_child *c;
	struct touched files;
	char session[AK_SESSION_NAME + 1];
	bool stored;
	bool open;
};

/* the folder of the session, with its lock. Return: descriptor; -EAGAIN: another has it, or just removes it; a negative errno */
static int lock_folder(int dir, const char *name)
{
	AK_AUTO_FD fd = -1;
	struct stat mine, now;

	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &mine) < 0)
		return -errno;
	if (fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) < 0 || now.st_ino != mine.st_ino || now.st_dev != mine.st_dev)
		return -EAGAIN;
	return ak_fd_take(&fd);
}

static int open_session(struct keeping *k, const struct touch_order *o, struct ak_err *err)
{
	AK_AUTO_FD dir = -1;

	if (k->open)
		return ak_err_set(err, EALREADY, "the session was named already");
	/* that of a run which was killed a moment ago may still have it */
	dir = lock_folder(k->c->dir, o->session);
	for (unsigned i = 0; dir == -EAGAIN && i < LOCK_TRIES; i++) {
		(void)poll(NULL, 0, LOCK_WAIT_MS);
		dir = lock_folder(k->c->dir, o->session);
	}
	if (dir == -EAGAIN)
		return ak_err_set(err, EAGAIN, "another process still works with the files that tools of this session changed");
	if (dir < 0)
		return ak_err_sys(err, -dir, "open the folder for the files that tools change");
	memcpy(k->session, o->session, sizeof(k->session));
	k->stored = o->flags & AK_SESSION_STORED;
	k->open = touched_open(ak_fd_take(&dir), k->c->root, &k->files, err) == 0;
	return k->open ? 0 : -err->code;
}

static int record(struct keeping *k, const char *path, struct touch_answer *a)
{
	_Static_assert(AK_PATH_MAX == WS_PATH_MAX + 1, "one length");
	int r = touch_resolve(k->c->root, path, k->c->inside, a->path);

	if (r == 1 && path[0] == '/' && !ak_path_below(path, k->c->inside))
		a->where = TOUCH_ELSEWHERE;
	if (r == 0)
		r = touched_record(&k->files, a->path, &a->failed);
	if (r == 0)
		a->where = TOUCH_KEPT;
	/* nothing that a tool can change: the sandbox's init says why, or that it became something meanwhile */
	if (r == 1 || r == -EINVAL || r == -ELOOP || r == -ENOTDIR || r == -EXDEV)
		return 0;
	return r;
}

static int forget(struct keeping *k, struct ak_err *err)
{
	int r = ws_remove(k->c->dir, k->session, err);	/* with its lock: whoever waits for that makes another one */

	touched_close(&k->files);
	k->open = false;
	return r;
}

static void carry_out(struct keeping *k, const struct touch_order *o, struct touch_answer *a)
{
	size_t count = 0;
	int r;

	if (o->op != TOUCH_OPEN && !k->open) {
		(void)ak_err_set(&a->failed, ENOENT, "no session was named");
		return;
	}
	switch (o->op) {
	case TOUCH_OPEN:
		r = open_session(k, o, &a->failed);
		break;
	case TOUCH_RECORD:
		r = record(k, o->path, a);
		break;
	case TOUCH_ROLLBACK:
		a->pending = touched_pending(&k->files);
		r = touched_rollback(&k->files, &count, &a->failed);
		a->count = count;
		break;
	default:
		r = forget(k, &a->failed);
	}
	if (r < 0 && !a->failed.code)
		(void)ak_err_sys(&a->failed, -r, "keep what tools change");
	if (r == 0) {
		a->failed = (struct ak_err){ 0 };	/* what was passed over above */
		if (o->op != TOUCH_ROLLBACK && k->open)
			a->pending = touched_pending(&k->files);
	}
}

/* nothing to take back, or nobody to do it: then nothing stays */
static void leave(struct keeping *k)
{
	bool keep = k->open && k->stored && touched_pending(&k->files) > 0;

	if (!k->open)
		return;
	if (keep)
		touched_close(&k->files);
	else
		(void)forget(k, NULL);
}

_Noreturn void touch_main(const struct touch_child *c)
{
	int keep[] = { c->root, c->dir, c->sock };
	struct keeping k = { .c = c, .files = TOUCHED_NONE };
	struct ak_err cannot = { 0 };
	struct touch_order o;
	sigset_t all;
	ssize_t n;

	sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)prctl(PR_SET_NAME, "ak-scribe");
	plan_keys_forget(environ, NULL);
	scribe_close_others(keep, sizeof(keep) / sizeof(keep[0]));
	(void)owner_become(c->uid, c->gid, &cannot);
	while ((n = recv(c->sock, &o, sizeof(o), 0)) == (ssize_t)sizeof(o) || (n < 0 && errno == EINTR)) {
		struct touch_answer a = { .op = o.op, .failed = cannot };

		if (n < 0)
			continue;
		o.session[AK_SESSION_NAME] = o.path[AK_PATH_MAX - 1] = '\0';
		if (!cannot.code)
			carry_out(&k, &o, &a);
		if (send(c->sock, &a, sizeof(a), MSG_NOSIGNAL) != (ssize_t)sizeof(a))
			break;
	}
	leave(&k);
	_exit(0);
}
