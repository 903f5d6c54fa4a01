/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mount points found and made beneath the new root, by descriptor and without following a link. Process: set-up child.
 * Privilege: CAP_SYS_ADMIN in its user namespace.
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/explode.h"
#include "executor/ns/sysmount.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

/* "a/b/c" beneath root, no links: the common case costs one call */
int mount_open_beneath(int root, const char *rel)
{
	return sys_openat2(root, *rel ? rel : ".", O_PATH | O_CLOEXEC,
			   AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_MAGICLINKS);
}

static int make_one(int at, const char *name, bool dir)
{
	int r = mount_make_name(at, name, dir);

	return r == -EEXIST ? 0 : r;
}

/* one step down: the child @name of *@at, made if missing, replaces it. c->root stays open. */
static int step_down(struct mnt_ctx *c, int *at, const char *name, bool dir)
{
	int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (dir ? O_DIRECTORY : 0);
	int fd = openat(*at, name, flags);
	int r;

	if (fd < 0 && errno == ENOENT) {
		r = make_one(*at, name, dir);
		if (r == -EROFS && *at != c->root) {
			r = mount_explode(c, at);
			if (r == 0)
				r = make_one(*at, name, dir);
		}
		if (r < 0)
			return r;
		fd = openat(*at, name, flags);
	}
	if (fd < 0)
		return -errno;
	if (*at != c->root)
		ak_fd_close(at);
	*at = fd;
	return 0;
}

/* a link is none of ours: as a folder it was refused already, as a file it was opened itself */
static bool is_link(int at, const char *name)
{
	struct stat st;

	return fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 && S_ISLNK(st.st_mode);
}

static int make_path(struct mnt_ctx *c, const char *rel, bool dir)
{
	char part[NAME_MAX + 1] AK_UNINIT;
	int at = c->root;
	int r = 0;

	while (r == 0 && *rel) {
		size_t n = strcspn(rel, "/");

		if (n >= sizeof(part)) {
			r = -ENAMETOOLONG;
			break;
		}
		memcpy(part, rel, n);
		part[n] = '\0';
		rel += n + strspn(rel + n, "/");
		r = step_down(c, &at, part, *rel ? true : dir);
		if (r < 0 ? is_link(at, part) : !*rel && !dir && is_link(at, ""))
			r = -ELOOP;
	}
	if (r < 0 && at != c->root)
		ak_fd_close(&at);
	return r < 0 ? r : at;
}

int mount_target(struct mnt_ctx *c, const char *dst, bool dir, bool must_exist, struct ak_err *err)
{
	const char *rel = dst + strspn(dst, "/");
	int fd = mount_open_beneath(c->root, rel);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT && !must_exist) {
		fd = make_path(c, rel, dir);
		if (fd >= 0)
			return fd;
		errno = -fd;
	}
	if (errno == ELOOP || errno == EXDEV) {
		(void)ak_err_set(err, ELOOP, "mount target %s leads through a symbolic link", dst);
		ak_err_hint(err, "name the real path as the target");
		return -ELOOP;
	}
	return ak_err_sys(err, errno, "mount target %s", dst);
}
