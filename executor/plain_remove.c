/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes a folder that a hostile command has filled. Process: executor. Privilege: none.
 *
 * Not recursive: a tree can be deeper than there is stack or descriptors. A folder that is not empty is moved to the top under a new
 * name, so that the top is all there is to empty.
 */
#include "executor/plain_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"

#define ROUNDS_MAX 100000u	/* looks at the top: each empties at least one folder, or nothing can be done */

/* A folder whose owner may not enter it is opened up; through its descriptor, so that no link is followed */
static int open_folder(int dir, const char *name)
{
	char self[64];
	AK_AUTO_FD path = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (path < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
	(void)chmod(self, 0700);	/* what it was for shows when it is opened */
	path = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return path < 0 ? -errno : ak_fd_take(&path);
}

struct top {
	int fd;
	unsigned serial;	/* of moved folders */
	bool left;		/* something could not be removed */
	bool moved;		/* there is something new at the top */
};

/* @name of @dir, which is the top or a folder of it */
static void remove_entry(struct top *t, int dir, const char *name)
{
	char to[32];
	int fd;

	if (unlinkat(dir, name, 0) == 0)
		return;
	if (errno != EISDIR && errno != EPERM) {
		t->left = true;
		return;
	}
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return;
	if (dir == t->fd) {	/* is there already; the next look empties it */
		t->moved = true;
		return;
	}
	/* a folder is moved by who may write to it: its ".." changes */
	fd = open_folder(dir, name);
	ak_fd_close(&fd);
	for (int i = 0; i < 1000; i++) {
		snprintf(to, sizeof(to), ".%u", t->serial++);
		if (renameat(dir, name, t->fd, to) == 0) {
			t->moved = true;
			return;
		}
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			break;
	}
	t->left = true;
}

static void empty(struct top *t, int dir)
{
	int copy = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!d) {
		ak_fd_close(&copy);
		t->left = true;
		return;
	}
	rewinddir(d);
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_entry(t, dir, e->d_name);
	}
	(void)closedir(d);
}

/* the folders at the top, each emptied; what was in them is at the top then, and they can be removed by the next look */
static void empty_folders(struct top *t)
{
	int copy = fcntl(t->fd, F_DUPFD_CLOEXEC, 3);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!d) {
		ak_fd_close(&copy);
		t->left = true;
		return;
	}
	rewinddir(d);
	while ((e = readdir(d))) {
		AK_AUTO_FD fd = -1;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		fd = open_folder(t->fd, e->d_name);
		if (fd < 0)
			continue;	/* no folder any more, or none that can be opened */
		empty(t, fd);
		(void)unlinkat(t->fd, e->d_name, AT_REMOVEDIR);
	}
	(void)closedir(d);
}

int plain_remove(int base, const char *name)
{
	struct top t = { .fd = open_folder(base, name) };

	if (t.fd < 0)
		return t.fd == -ENOENT ? 0 : t.fd;
	for (unsigned i = 0; i < ROUNDS_MAX; i++) {
		t.moved = t.left = false;
		empty(&t, t.fd);
		if (!t.moved)
			break;
		empty_folders(&t);
	}
	ak_fd_close(&t.fd);
	return unlinkat(base, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}
