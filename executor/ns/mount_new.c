/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way to mount: mount(2) on a name that was made just now. Process: set-up child. Privilege: CAP_SYS_ADMIN in its
 * user namespace.
 *
 * mount(2) resolves its target again, which is safe in one case only: the name is one component in a folder that is held by
 * descriptor, and making it has just succeeded, so that it is neither a link nor anything of somebody else's; nobody else
 * is in this mount namespace yet. A mount costs 7 us so, and 11 to 36 us as descriptors; a start makes some 50.
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

_Static_assert(MOUNT_ATTR_RDONLY == MS_RDONLY && MOUNT_ATTR_NOSUID == MS_NOSUID && MOUNT_ATTR_NODEV == MS_NODEV &&
		       MOUNT_ATTR_NOEXEC == MS_NOEXEC,
	       "the two mount interfaces number these flags alike");

int mount_make_name(int at, const char *name, bool dir)
{
	int r = dir ? mkdirat(at, name, 0755) : mknodat(at, name, S_IFREG | 0444, 0);

	return r < 0 ? -errno : 0;
}

int mount_parent(struct mnt_ctx *c, const char *dst, const char **ret_name, struct ak_err *err)
{
	size_t n = (size_t)(strrchr(dst, '/') - dst);

	*ret_name = dst + n + 1;
	if (n == 0)
		return c->root;
	if (n >= sizeof(c->parent_path))
		return ak_err_set(err, ENAMETOOLONG, "path too long: %s", dst);
	if (c->parent >= 0 && strncmp(c->parent_path, dst, n) == 0 && c->parent_path[n] == '\0')
		return c->parent;
	ak_fd_close(&c->parent);
	memcpy(c->parent_path, dst, n);
	c->parent_path[n] = '\0';
	c->parent = mount_target(c, c->parent_path, true, false, err);
	return c->parent;
}

int mount_new_target(struct mnt_ctx *c, const struct plan_mount *m, bool dir, const char **ret_name)
{
	int parent;

	if (m->flags & PMF_TARGET_EXISTS)
		return -EEXIST;
	parent = mount_parent(c, m->dst, ret_name, NULL);
	if (parent >= 0 && **ret_name) {
		int r = mount_make_name(parent, *ret_name, dir);

		if (r == 0)
			return parent;
	}
	ak_fd_close(&c->parent);	/* the long way may cover it */
	return -EEXIST;
}

int mount_new_fs(int parent, const char *name, const char *type, unsigned attrs, const char *options)
{
	if (parent != AT_FDCWD && fchdir(parent) < 0)
		return -errno;
	return mount(type, name, type, attrs, options) < 0 ? -errno : 0;
}

void mount_tmpfs_options(char ret[MOUNT_OPTIONS_MAX], const struct plan_mount *m)
{
	int n = snprintf(ret, MOUNT_OPTIONS_MAX, "size=%llu,mode=%04o", (unsigned long long)m->size_bytes, m->mode);

	if (m->inodes)
		snprintf(ret + n, MOUNT_OPTIONS_MAX - (size_t)n, ",nr_inodes=%llu", (unsigned long long)m->inodes);
}

int mount_new_tmpfs(int parent, const char *name, const struct plan_mount *m, unsigned attrs)
{
	char options[MOUNT_OPTIONS_MAX];

	mount_tmpfs_options(options, m);
	return mount_new_fs(parent, name, "tmpfs", attrs, options);
}

int mount_new_bind(int parent, const char *name, const char *src, unsigned flags)
{
	return fchdir(parent) < 0 || mount(src, name, NULL, MS_BIND | flags, NULL) < 0 ? -errno : 0;
}
