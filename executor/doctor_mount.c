/* SPDX-License-Identifier: Apache-2.0 */
/* Trials of mounts, each in a child's own user and mount namespace, so that the host's never change.
 * Privilege: the caller's. */
#include "executor/doctor_int.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_fd.h"

/* mount(2) itself; ak gets by with the calls that came after it */
int try_mount_call(const struct doctor_ctx *ctx, struct trial *t)
{
	(void)ctx;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return trial_fail(t, "make all mounts private");
	return 0;
}

/* A new file system as a detached mount. Return: descriptor, or negative errno. */
static int detached(const char *type, const char *const opts[][2], unsigned attrs, struct trial *t)
{
	AK_AUTO_FD fs = sys_fsopen(type, FSOPEN_CLOEXEC);
	char what[80];
	int fd;

	snprintf(what, sizeof(what), "fsopen %s", type);
	if (fs < 0)
		return trial_fail(t, what);
	for (; opts && (*opts)[0]; opts++) {
		int cmd = (*opts)[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

		snprintf(what, sizeof(what), "fsconfig %s %s", type, (*opts)[0]);
		if (sys_fsconfig(fs, cmd, (*opts)[0], (*opts)[1]) < 0)
			return trial_fail(t, what);
	}
	snprintf(what, sizeof(what), "create %s", type);
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		return trial_fail(t, what);
	snprintf(what, sizeof(what), "fsmount %s", type);
	fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, attrs);
	return fd < 0 ? trial_fail(t, what) : fd;
}

/* Over the root folder of the child's own namespace, as a sandbox's new root is. */
static int attach(int mnt, struct trial *t)
{
	if (sys_move_mount(mnt, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return trial_fail(t, "move_mount");
	return 0;
}

/* A private tmpfs, attached in a private mount namespace. Return: its descriptor or negative errno. */
static int private_tmpfs(const struct doctor_ctx *ctx, struct trial *t)
{
	static const char *const opts[][2] = {
		{"size", "1048576"}, {"nr_inodes", "64"}, {"mode", "0755"}, {NULL, NULL}};
	AK_AUTO_FD fd = -1;
	int rc;

	(void)ctx;
	fd = detached("tmpfs", opts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, t);
	if (fd < 0)
		return fd;
	rc = attach(fd, t);
	return rc < 0 ? rc : ak_fd_take(&fd);
}

int try_tmpfs(const struct doctor_ctx *ctx, struct trial *t)
{
	AK_AUTO_FD fd = private_tmpfs(ctx, t);

	if (fd < 0)
		return fd;
	if (mkdirat(fd, "d", 0755) < 0)
		return trial_fail(t, "mkdir on a private tmpfs");
	return 0;
}

int try_setattr(const struct doctor_ctx *ctx, struct trial *t)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
				  .propagation = MS_PRIVATE};
	AK_AUTO_FD tree = -1;
	struct statvfs sv;
	int rc;

	(void)ctx;
	tree = sys_open_tree(AT_FDCWD, "/usr", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (tree < 0)
		return trial_fail(t, "open_tree /usr");
	if (sys_mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0)
		return trial_fail(t, "mount_setattr read-only and private, recursive");
	rc = attach(tree, t);
	if (rc < 0)
		return rc;
	if (fstatvfs(tree, &sv) < 0)
		return trial_fail(t, "fstatvfs");
	if (!(sv.f_flag & ST_RDONLY)) {
		errno = EIO;
		return trial_fail(t, "the clone of /usr did not become read-only");
	}
	return 0;
}

int try_proc(const struct doctor_ctx *ctx, struct trial *t)
{
	AK_AUTO_FD fd = -1;
	struct stat st;
	int rc;

	(void)ctx;
	fd = detached("proc", NULL, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, t);
	if (fd < 0)
		return fd;
	rc = attach(fd, t);
	if (rc < 0)
		return rc;
	if (fstatat(fd, "1/status", &st, 0) < 0)
		return trial_fail(t, "read the new procfs");
	return 0;
}

int try_pivot(const struct doctor_ctx *ctx, struct trial *t)
{
	AK_AUTO_FD fd = private_tmpfs(ctx, t);

	if (fd < 0)
		return fd;
	if (fchdir(fd) < 0)
		return trial_fail(t, "fchdir to the new root");
	if (sys_pivot_root(".", ".") < 0)
		return trial_fail(t, "pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return trial_fail(t, "detach the old root");
	return 0;
}

int try_devpts(const struct doctor_ctx *ctx, struct trial *t)
{
	static const char *const opts[][2] = {
		{"newinstance", NULL}, {"ptmxmode", "0666"}, {"mode", "0620"}, {NULL, NULL}};
	AK_AUTO_FD fd = -1, ptmx = -1;
	int rc;

	(void)ctx;
	fd = detached("devpts", opts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, t);
	if (fd < 0)
		return fd;
	rc = attach(fd, t);
	if (rc < 0)
		return rc;
	ptmx = openat(fd, "ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY);
	return ptmx < 0 ? trial_fail(t, "open ptmx of the new devpts") : 0;
}

int try_overlay(const struct doctor_ctx *ctx, struct trial *t)
{
	static const char *const opts[][2] = {{"lowerdir", "lower"},
					      {"upperdir", "upper"},
					      {"workdir", "work"},
					      {"userxattr", NULL},
					      {NULL, NULL}};
	AK_AUTO_FD fd = private_tmpfs(ctx, t);
	AK_AUTO_FD ovl = -1, file = -1;

	if (fd < 0)
		return fd;
	if (fchdir(fd) < 0 || mkdir("lower", 0755) < 0 || mkdir("upper", 0755) < 0 ||
	    mkdir("work", 0755) < 0 || mkdir("lower/d", 0755) < 0)
		return trial_fail(t, "prepare folders for an overlay");
	ovl = detached("overlay", opts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, t);
	if (ovl < 0)
		return ovl;
	file = openat(ovl, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (file < 0)
		return trial_fail(t, "write to an overlay on tmpfs");
	/* replacing a lower folder needs user.* attributes on tmpfs, which came with Linux 6.6 */
	if (unlinkat(ovl, "d", AT_REMOVEDIR) < 0 || mkdirat(ovl, "d", 0755) < 0)
		return trial_fail(t, "replace a lower folder in an overlay on tmpfs");
	return 0;
}
