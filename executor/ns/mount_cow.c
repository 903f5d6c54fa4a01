/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--write cow`: an overlay over the workspace whose upper layer is in the state folder. Process: set-up child. Privilege:
 * CAP_SYS_ADMIN in its user namespace.
 *
 * The layers are handed over as descriptors where the kernel takes them (6.13). Before that they are attached for a moment
 * under short names on the root tmpfs and named relative to it: names of the host could hold ':' or ',', which the options of
 * overlayfs cannot say on every kernel. The overlay keeps its own private mounts of them, so nothing of that stays.
 *
 * Rootless the descriptors are those of the folders themselves: a detached clone that is closed again costs a wait of the kernel for
 * all its readers (synchronize_rcu), several milliseconds each. In root mode they are clones, which carry the maps of ids.
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"

#define LOWER ".ak-lower"
#define LAYER ".ak-layer"

static int set_fd(int fs, const char *key, int fd)
{
	return (int)syscall(SYS_fsconfig, fs, FSCONFIG_SET_FD, key, NULL, fd);
}

static int layers_by_fd(int fs, int lower, int layer)
{
	AK_AUTO_FD upper = openat(layer, "upper", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AK_AUTO_FD work = openat(layer, "work", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (upper < 0 || work < 0)
		return -errno;
	if (set_fd(fs, "lowerdir+", lower) < 0 || set_fd(fs, "upperdir", upper) < 0 || set_fd(fs, "workdir", work) < 0)
		return -errno;
	return 0;
}

static int layers_by_name(int fs)
{
	static const char *const opts[][2] = { { "lowerdir", LOWER }, { "upperdir", LAYER "/upper" }, { "workdir", LAYER "/work" } };

	for (size_t i = 0; i < sizeof(opts) / sizeof(opts[0]); i++)
		if (sys_fsconfig(fs, FSCONFIG_SET_STRING, opts[i][0], opts[i][1]) < 0)
			return -errno;
	return 0;
}

/*
 * trusted.* attributes need CAP_SYS_ADMIN on the host. No index: it would refuse a layer that is used again. Renaming a folder of
 * the lower layer is EXDEV, as redirect_dir needs trusted.* attributes.
 */
static int create(int fs)
{
	if (sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL) < 0 || sys_fsconfig(fs, FSCONFIG_SET_STRING, "index", "off") < 0 ||
	    sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		return -errno;
	return 0;
}

/* Return: a detached mount; negative errno */
static int overlay_by_fd(int lower, int layer)
{
	AK_AUTO_FD fs = sys_fsopen("overlay", FSOPEN_CLOEXEC);
	int fd, r;

	if (fs < 0)
		return -errno;
	r = layers_by_fd(fs, lower, layer);
	if (r == 0)
		r = create(fs);
	if (r < 0)
		return r;
	fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return fd < 0 ? -errno : fd;
}

/* @clone: @fd is a detached mount already, else a folder of the host */
static int attach_for_a_moment(struct mnt_ctx *c, int fd, bool clone, const char *name)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
	AK_AUTO_FD own = clone ? -1 : sys_open_tree(fd, "", flags);

	if ((!clone && own < 0) || mkdirat(c->root, name, 0700) < 0)
		return -errno;
	return sys_move_mount(clone ? fd : own, "", c->root, name, MOVE_MOUNT_F_EMPTY_PATH) < 0 ? -errno : 0;
}

static void detach(struct mnt_ctx *c, const char *name)
{
	(void)umount2(name, MNT_DETACH);	/* not mounted: the attempt before it failed */
	(void)unlinkat(c->root, name, AT_REMOVEDIR);
}

static int overlay_by_name(struct mnt_ctx *c, int lower, int layer, bool clones)
{
	AK_AUTO_FD fs = sys_fsopen("overlay", FSOPEN_CLOEXEC);
	int r, fd = -1;

	if (fs < 0 || fchdir(c->root) < 0)
		return -errno;
	r = attach_for_a_moment(c, lower, clones, LOWER);
	if (r == 0)
		r = attach_for_a_moment(c, layer, clones, LAYER);
	if (r == 0)
		r = layers_by_name(fs);
	if (r == 0)
		r = create(fs);
	if (r == 0) {
		fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
		r = fd < 0 ? -errno : fd;
	}
	detach(c, LAYER);
	detach(c, LOWER);
	return r;
}

static int explain(int code, const struct plan_mount *m, int lower, struct ak_err *err)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} kinds[] = { { 0x6969, "NFS" }, { 0x65735546, "FUSE" }, { 0x794c7630, "an overlay" }, { 0x4d44, "FAT" },
		      { 0x01021997, "9p" }, { 0xff534d42, "CIFS" }, { 0xfe534d42, "SMB" } };
	struct statfs fs;

	(void)ak_err_sys(err, code, "--write cow: overlay over %s", m->dst);
	if (fstatfs(lower, &fs) == 0)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if ((uint32_t)fs.f_type == kinds[i].magic)
				(void)ak_err_sys(err, code, "--write cow: overlay over %s, which is on %s", m->dst, kinds[i].name);
	ak_err_hint(err, "needs Linux 5.11 with overlayfs, and a workspace that it can be laid over; --write direct does without");
	return -code;
}

static int open_folder(const char *path, uint64_t resolve)
{
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC, AK_RESOLVE_NO_MAGICLINKS | resolve);

	return fd < 0 ? -errno : fd;
}

int mount_cow(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	bool clones = m->src_fd >= 0;
	AK_AUTO_FD own_lower = -1;
	AK_AUTO_FD own_layer = -1;
	int lower = m->src_fd, layer = c->plan->cow_layer_fd, fd;

	if (!c->plan->cow_layer)
		return ak_err_set(err, EINVAL, "--write cow: there is no layer");
	if (!clones) {
		own_lower = open_folder(m->src, AK_RESOLVE_NO_SYMLINKS);
		lower = own_lower;
		own_layer = open_folder(c->plan->cow_layer, 0);
		layer = own_layer;
	}
	if (lower < 0)
		return ak_err_sys(err, -lower, "open %s", m->src);
	if (layer < 0)
		return ak_err_sys(err, -layer, "--write cow: open %s", c->plan->cow_layer);
	fd = AK_WEAK(c->weaken, AK_WEAK_CGKILL) ? -EINVAL : overlay_by_fd(lower, layer);
	if (fd < 0)
		fd = overlay_by_name(c, lower, layer, clones);
	return fd < 0 ? explain(-fd, m, lower, err) : fd;
}
