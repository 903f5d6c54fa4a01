/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openat2(2), and the same by single steps where a filter refuses it: the filters of ak do, so an ak inside a sandbox (--nesting)
 * needs it. Process: executor, set-up child. Privilege: the caller's.
 *
 * Each step opens one component with O_PATH and O_NOFOLLOW, so nothing is followed that was not looked at. Unlike the call it does
 * not notice that a folder it stands in was moved away meanwhile; with AK_RESOLVE_NO_SYMLINKS ".." is refused for that reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"

#define AGAIN_MAX 64u	/* tries of a look-up that the kernel could not be sure of */
#define LINKS_MAX 40	/* MAXSYMLINKS, linux/namei.h */

struct walk {
	int root;		/* AT_FDCWD: "/" */
	int at;			/* owned once it is not @start */
	int start;
	unsigned depth;		/* folders below the root */
	unsigned links;
	uint64_t mount;		/* with AK_RESOLVE_NO_XDEV: the one that is not left */
	char rest[PATH_MAX];	/* still to go */
	const struct ak_open_how *how;
};

static int mount_of(int fd, uint64_t *ret)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_MNT_ID, &st) < 0)
		return -errno;
	if (!(st.stx_mask & STATX_MNT_ID))	/* before Linux 5.8 */
		return -ENOSYS;
	*ret = st.stx_mnt_id;
	return 0;
}

/* Return: 0, or -EXDEV where a mount was crossed that must not be */
static int stays(const struct walk *w, int fd)
{
	uint64_t mount;
	int r = w->how->resolve & AK_RESOLVE_NO_XDEV ? mount_of(fd, &mount) : 0;

	return r < 0 || !(w->how->resolve & AK_RESOLVE_NO_XDEV) ? r : mount == w->mount ? 0 : -EXDEV;
}

static void enter(struct walk *w, int fd)
{
	if (w->at != w->start && w->at != w->root)
		ak_fd_close(&w->at);
	w->at = fd;
}

/* the text of a link becomes the way to go; @slash: one followed, so that it must lead to a folder */
static int follow(struct walk *w, const char *name, const char *behind, bool slash)
{
	char text[PATH_MAX] AK_UNINIT;
	ssize_t n = readlinkat(w->at, name, text, sizeof(text) - 1);
	size_t rest = strlen(behind);

	if (n < 0)
		return -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if ((size_t)n + rest + 2 > sizeof(w->rest))
		return -ENAMETOOLONG;
	text[n] = '\0';
	memmove(w->rest + n + slash, behind, rest + 1);
	memcpy(w->rest, text, (size_t)n);
	if (slash)
		w->rest[n] = '/';
	if (text[0] == '/') {
		enter(w, w->root);
		w->depth = 0;
	}
	return 0;
}

static int step_up(struct walk *w)
{
	int fd, r;

	if (w->how->resolve & (AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS))
		return -EXDEV;
	if (w->depth == 0)
		return 0;
	fd = openat(w->at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = stays(w, fd);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	enter(w, fd);
	w->depth--;
	return 0;
}

static bool is_link(const struct walk *w, const char *name)
{
	struct stat st;

	return fstatat(w->at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* a link at the end. Return: as finish() */
static int finish_link(struct walk *w, const char *name, int fd)
{
	/* the caller wants no link at the end followed; O_PATH is for the link itself then */
	const bool own = w->how->flags & O_NOFOLLOW;

	if (own && fd >= 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	if (own)
		return w->how->flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
	if (w->how->resolve & AK_RESOLVE_NO_SYMLINKS)
		return -ELOOP;
	return follow(w, name, "", false) < 0 ? -ELOOP : -EAGAIN;
}

/* the last component: what the caller asked for. Return: the descriptor; -EAGAIN: it was a link, go on; negative errno */
static int finish(struct walk *w, const char *name)
{
	int flags = (int)w->how->flags | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(w->at, name, flags, (mode_t)w->how->mode);
	struct stat st;
	int r;

	/* of a link: ELOOP, with O_DIRECTORY ENOTDIR, with O_PATH the link */
	if (fd < 0) {
		r = -errno;
		return r == -ELOOP || (r == -ENOTDIR && is_link(w, name)) ? finish_link(w, name, -1) : r;
	}
	if ((flags & O_PATH) && (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode)))
		return finish_link(w, name, fd);
	r = stays(w, fd);
	if (r < 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

/* Return: 0 to go on, or negative errno */
static int step(struct walk *w, const char *name, const char *behind)
{
	int fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		(void)close(fd);
		return w->how->resolve & AK_RESOLVE_NO_SYMLINKS ? -ELOOP : follow(w, name, behind, true);
	}
	r = S_ISDIR(st.st_mode) ? stays(w, fd) : -ENOTDIR;
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	enter(w, fd);
	w->depth++;
	return 0;
}

static int go(struct walk *w)
{
	char name[NAME_MAX + 1];

	for (;;) {
		char *p = w->rest + strspn(w->rest, "/"), *end = p + strcspn(p, "/");
		const char *behind = end + strspn(end, "/");
		size_t n = (size_t)(end - p);
		int r;

		if (n == 0 || (n == 1 && p[0] == '.' && !*behind))
			return finish(w, ".");
		if (n > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, p, n);
		name[n] = '\0';
		if (strcmp(name, ".") == 0)
			r = 0;
		else if (strcmp(name, "..") == 0)
			r = step_up(w);
		else if (!*behind && *end != '/') {
			r = finish(w, name);
			if (r != -EAGAIN)
				return r;
			continue;	/* the rest is the link's text */
		} else {
			char copy[PATH_MAX] AK_UNINIT;

			memcpy(copy, behind, strlen(behind) + 1);
			w->rest[0] = '\0';
			r = step(w, name, copy);
			if (r == 0 && !w->rest[0])
				memcpy(w->rest, copy, strlen(copy) + 1);
			if (r < 0)
				return r;
			continue;
		}
		if (r < 0)
			return r;
		memmove(w->rest, behind, strlen(behind) + 1);
	}
}

static int by_steps(int dirfd, const char *path, const struct ak_open_how *how)
{
	struct walk w AK_UNINIT;
	AK_AUTO_FD top = -1;
	size_t n = strlen(path);
	int r;

	if (n == 0 || n >= sizeof(w.rest))
		return n == 0 ? -ENOENT : -ENAMETOOLONG;
	if (path[0] == '/' && (how->resolve & AK_RESOLVE_BENEATH))
		return -EXDEV;
	memcpy(w.rest, path, n + 1);
	w.how = how;
	w.depth = w.links = 0;
	if (!(how->resolve & AK_RESOLVE_IN_ROOT)) {
		top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (top < 0)
			return -errno;
	}
	w.root = how->resolve & AK_RESOLVE_IN_ROOT ? dirfd : top;
	w.start = path[0] == '/' ? w.root : dirfd;
	w.at = w.start;
	r = how->resolve & AK_RESOLVE_NO_XDEV ? mount_of(w.start, &w.mount) : 0;
	if (r == 0)
		r = go(&w);
	if (w.at != w.start && w.at != w.root)
		ak_fd_close(&w.at);
	return r;
}

int sys_openat2_how(int dirfd, const char *path, const struct ak_open_how *how)
{
	int fd = -1;

	/* EAGAIN: with "..", while anything was renamed or mounted on this machine; openat2(2) */
	for (unsigned i = 0; i < AGAIN_MAX; i++) {
		fd = (int)syscall(SYS_openat2, dirfd, path, how, sizeof(*how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd >= 0 || errno != ENOSYS)
		return fd;
	fd = by_steps(dirfd, path, how);
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

int sys_openat2_steps(int dirfd, const char *path, const struct ak_open_how *how)
{
	return by_steps(dirfd, path, how);
}
