/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--rootfs-write tmp`: an overlay over the root file system whose changes live on a private tmpfs and end with the
 * sandbox. Process: set-up child. Privilege: CAP_SYS_ADMIN in its user namespace.
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

/*
 * The lower layer is bound onto the tmpfs first, so that all three layers have short relative names: names of the host
 * could hold ':' or ',', which overlayfs options cannot say on every kernel.
 */
static int bind_lower(struct mnt_ctx *c, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = mount_attrs(c, MOUNT_ATTR_RDONLY), .propagation = MS_PRIVATE };
	AK_AUTO_FD at = -1;
	AK_AUTO_FD own = -1;
	int fd = c->plan->rootfs_fd;

	if (fd < 0) {
		at = sys_openat2(AT_FDCWD, c->plan->rootfs, O_PATH | O_CLOEXEC, AK_RESOLVE_NO_SYMLINKS);
		if (at >= 0)
			own = sys_open_tree(at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
		if (own < 0)
			return ak_err_sys(err, errno, "--rootfs: open %s", c->plan->rootfs);
		fd = own;
	}
	if (sys_mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0)
		return ak_err_sys(err, errno, "set the flags of the root file system");
	if (sys_move_mount(fd, "", c->root, "lower", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "mount the lower layer");
	return 0;
}

static int new_overlay(struct mnt_ctx *c, struct ak_err *err)
{
	static const char *const opts[][2] = { { "lowerdir", "lower" }, { "upperdir", "upper" }, { "workdir", "work" } };
	AK_AUTO_FD fs = sys_fsopen("overlay", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return ak_err_sys(err, errno, "fsopen overlay");
	for (size_t i = 0; i < sizeof(opts) / sizeof(opts[0]); i++)
		if (sys_fsconfig(fs, FSCONFIG_SET_STRING, opts[i][0], opts[i][1]) < 0)
			return ak_err_sys(err, errno, "overlay %s", opts[i][0]);
	/* trusted.* attributes need CAP_SYS_ADMIN on the host */
	if (sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL) < 0 || sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0) {
		int code = errno;

		(void)ak_err_sys(err, code, "--rootfs-write tmp: overlay over %s", c->plan->rootfs);
		ak_err_hint(err, "overlayfs in a user namespace needs Linux 5.11; leave --rootfs-write out for a read-only root");
		return -code;
	}
	fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, mount_attrs(c, 0));
	return fd < 0 ? ak_err_sys(err, errno, "mount the overlay") : fd;
}

int mount_overlay_root(struct mnt_ctx *c, struct ak_err *err)
{
	AK_AUTO_FD fd = -1;
	int r;

	if (mkdirat(c->root, "lower", 0755) < 0 || mkdirat(c->root, "upper", 0755) < 0 || mkdirat(c->root, "work", 0700) < 0)
		return ak_err_sys(err, errno, "make the overlay's folders");
	r = bind_lower(c, err);
	if (r < 0)
		return r;
	if (fchdir(c->root) < 0)
		return ak_err_sys(err, errno, "enter the overlay's tmpfs");
	fd = new_overlay(c, err);
	if (fd < 0)
		return fd;
	r = mount_attach(fd, c->root, "the overlay's tmpfs", err);
	if (r < 0)
		return r;
	ak_fd_close(&c->root);
	c->root = ak_fd_take(&fd);
	return 0;
}
