/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files by steps, and looks at each. Process: executor. Privilege: the caller's. */
#include "executor/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"

#define LINKS_MAX 40 /* as the kernel: path_resolution(7) */

struct walk {
	int dir; /* owned; where @rest begins */
	unsigned links;
	char rest[PATH_MAX]; /* what is left of the path */
};

static bool own(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

/* the walk goes on in @fd, which it takes over. Return: 0 or negative errno */
static int enter(struct walk *w, int fd)
{
	if (fd < 0)
		return -errno;
	ak_fd_close(&w->dir);
	w->dir = fd;
	return 0;
}

static int begin(struct walk *w)
{
	return enter(w, open(w->rest[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* what the link @fd says, and behind it @tail, is the rest */
static int follow(struct walk *w, int fd, const char *tail)
{
	char text[PATH_MAX] AK_UNINIT, all[2 * PATH_MAX] AK_UNINIT;
	ssize_t n = readlinkat(fd, "", text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	text[n] = '\0';
	(void)snprintf(all, sizeof(all), "%s/%s", text, tail);
	if (strlen(all) >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, all, strlen(all) + 1);
	return w->rest[0] == '/' ? begin(w) : 0;
}

/* the last name, no link when it was looked at. Return: descriptor or negative errno */
static int open_last(const struct walk *w, const char *name)
{
	AK_AUTO_FD fd = openat(w->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat file, folder;

	if (fd < 0 || fstat(fd, &file) < 0 || fstat(w->dir, &folder) < 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	return own(&file) && own(&folder) ? ak_fd_take(&fd) : -EPERM;
}

/* Return: the file's descriptor; -EAGAIN: the walk goes on; another negative errno */
static int step(struct walk *w)
{
	char *at = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(at, "/");
	char name[NAME_MAX + 1];
	AK_AUTO_FD fd = -1;
	struct stat st;
	int e;

	if (n == 0 || n >= sizeof(name))
		return n ? -ENAMETOOLONG : -EINVAL;
	memcpy(name, at, n);
	name[n] = '\0';
	at += n;
	at += strspn(at, "/");
	fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode)) {
		e = own(&st) ? follow(w, fd, at) : -EPERM;
	} else if (*at) {
		memmove(w->rest, at, strlen(at) + 1);
		e = S_ISDIR(st.st_mode) ? enter(w, ak_fd_take(&fd)) : -ENOTDIR;
	} else {
		/* a device or a pipe is not even opened */
		return S_ISREG(st.st_mode) ? open_last(w, name) : -EINVAL;
	}
	return e < 0 ? e : -EAGAIN;
}

int own_file_open(const char *path)
{
	struct walk w = {.dir = -1};
	AK_AUTO_FD there = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC, AK_RESOLVE_NO_SYMLINKS);
	int e;

	if (there < 0 && errno != ELOOP)
		return -errno;
	if (strlen(path) >= sizeof(w.rest))
		return -ENAMETOOLONG;
	memcpy(w.rest, path, strlen(path) + 1);
	e = begin(&w);
	if (e == 0) {
		do
			e = step(&w);
		while (e == -EAGAIN);
	}
	ak_fd_close(&w.dir);
	return e;
}
