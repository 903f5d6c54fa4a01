/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a read-only folder's entries on a tmpfs, so that a mount point can be added beside them without touching the
 * folder. Process: set-up child, in its own mount namespace. Privilege: CAP_SYS_ADMIN there.
 */
#include "executor/ns/explode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/mount.h"
#include "executor/ns/sysmount.h"
#include "executor/shared/ak_fd.h"

static int copy_link(int from, int to, const char *name)
{
	char text[4096];
	ssize_t n = readlinkat(from, name, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return symlinkat(text, to, name) < 0 ? -errno : 0;
}

static int show_entry(int from, int to, const char *name)
{
	struct stat st;
	AK_AUTO_FD clone = -1;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return copy_link(from, to, name);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0;
	clone = sys_open_tree(from, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
	if (clone < 0)
		return -errno;
	if (S_ISDIR(st.st_mode) ? mkdirat(to, name, 0755) < 0 : mknodat(to, name, S_IFREG | 0444, 0) < 0)
		return -errno;
	return sys_move_mount(clone, "", to, name, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

static int show_all(DIR *d, int to)
{
	unsigned n = 0;
	struct dirent *e;

	while ((e = readdir(d))) {
		int r;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++n > EXPLODE_ENTRIES_MAX)
			return -E2BIG;
		r = show_entry(dirfd(d), to, e->d_name);
		if (r < 0)
			return r;
	}
	return 0;
}

int mount_explode(struct mnt_ctx *c, int *at)
{
	/* the folder itself, readable; it stays reachable by this descriptor when it is covered */
	AK_AUTO_FD under = openat(*at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AK_AUTO_FD cover = -1;
	DIR *d;
	int r;

	if (under < 0)
		return -errno;
	if (c->nexploded == MOUNT_EXPLODED_MAX)
		return -E2BIG;
	cover = mount_tmpfs(16u << 20, EXPLODE_ENTRIES_MAX * 2, 0755, mount_attrs(c, 0), NULL);
	if (cover < 0)
		return cover;
	r = mount_attach(cover, *at, "a read-only folder", NULL);
	if (r < 0)
		return r;
	d = fdopendir(under);
	if (!d)
		return -errno;
	(void)ak_fd_take(&under);
	r = show_all(d, cover);
	closedir(d);
	if (r < 0)
		return r;
	ak_fd_close(at);
	*at = fcntl(cover, F_DUPFD_CLOEXEC, 3);
	if (*at < 0)
		return -errno;
	c->exploded[c->nexploded++] = ak_fd_take(&cover);
	return 0;
}
