/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minimal /dev: six nodes bound from the host, a devpts of its own, shared memory. Process: set-up child.
 * Privilege: CAP_SYS_ADMIN in its user namespace (device nodes cannot be made there, so the host's are bound).
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define DEV_SIZE_BYTES (64u << 10)
#define DEV_INODES 256
#define SHM_INODES 65536
#define PTS_MAX "64"

static const struct dev_node {
	const char *name;
	unsigned major, minor;	/* Documentation/admin-guide/devices.txt; checked, so that no other file is shown under the name */
} dev_nodes[] = {
	{ "null", 1, 3 }, { "zero", 1, 5 }, { "full", 1, 7 }, { "random", 1, 8 }, { "urandom", 1, 9 }, { "tty", 5, 0 },
};

static const struct dev_link {
	const char *name, *text;
} dev_links[] = {
	{ "fd", "/proc/self/fd" },     { "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
	{ "stderr", "/proc/self/fd/2" }, { "ptmx", "pts/ptmx" },
};

/* a node may be written to although its mount is below a nodev one; nosuid and noexec come for all of /dev at once */
static int bind_node(int dir, const char *name, const char *src, struct ak_err *err)
{
	AK_AUTO_FD fd = sys_open_tree(AT_FDCWD, src, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);

	if (fd < 0)
		return ak_err_sys(err, errno, "open %s", src);
	if (mknodat(dir, name, S_IFREG | 0666, 0) < 0)
		return ak_err_sys(err, errno, "make /dev/%s", name);
	if (sys_move_mount(fd, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "mount /dev/%s", name);
	return 0;
}

/* from the working directory, the new /dev; looked at where it is mounted, so that nothing else can be shown there */
static int bind_checked(int dir, const struct dev_node *n, struct ak_err *err)
{
	char src[32];
	struct stat st;

	snprintf(src, sizeof(src), "/dev/%s", n->name);
	if (mknodat(dir, n->name, S_IFREG | 0666, 0) < 0)
		return ak_err_sys(err, errno, "make %s", src);
	if (mount(src, n->name, NULL, MS_BIND, NULL) < 0)
		return ak_err_sys(err, errno, "mount %s", src);
	if (fstatat(dir, n->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ak_err_sys(err, errno, "stat %s", src);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(n->major, n->minor))
		return ak_err_set(err, ENODEV, "%s of the host is not the character device %u:%u", src, n->major, n->minor);
	return 0;
}

/*
 * The nodes are the host's: on a read-only mount a device can still be written to, but its mode, owner, times and attributes
 * cannot be changed, which the owner (a caller as root that keeps its id) otherwise could.
 */
static int node_flags(int fd, unsigned flags, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
				   .propagation = MS_PRIVATE };

	if (sys_mount_setattr(fd, "", AT_EMPTY_PATH | flags, &attr) < 0)
		return ak_err_sys(err, errno, "set the flags of /dev");
	return 0;
}

/* all nodes at once; the folder itself is still to be filled */
static int dev_flags(int dir, struct ak_err *err)
{
	struct mount_attr clear = { .attr_clr = MOUNT_ATTR_RDONLY };
	int r = node_flags(dir, AT_RECURSIVE, err);

	if (r == 0 && sys_mount_setattr(dir, "", AT_EMPTY_PATH, &clear) < 0)
		r = ak_err_sys(err, errno, "keep /dev writable while it is built");
	return r;
}

static int mount_pts(int dir, struct ak_err *err)
{
	int r = mount_make_name(dir, "pts", true);

	if (r == 0)
		r = mount_new_fs(dir, "pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,max=" PTS_MAX);
	return r < 0 ? ak_err_sys(err, -r, "mount /dev/pts") : 0;
}

static int mount_shm(struct mnt_ctx *c, int dir, uint64_t size_bytes, struct ak_err *err)
{
	const struct plan_mount shm = { .size_bytes = size_bytes, .inodes = SHM_INODES, .mode = 01777 };
	int r = mount_make_name(dir, "shm", true);

	if (r == 0)
		r = mount_new_tmpfs(dir, "shm", &shm, mount_attrs(c, 0));
	return r < 0 ? ak_err_sys(err, -r, "mount /dev/shm") : 0;
}

/* the tmpfs of /dev: mode 0755 and not 1777, fs.protected_regular would refuse O_CREAT opens of /dev/null otherwise */
static int new_dev(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	const struct plan_mount dev = { .size_bytes = DEV_SIZE_BYTES, .inodes = DEV_INODES, .mode = 0755 };
	unsigned attrs = mount_attrs(c, MOUNT_ATTR_NOEXEC);
	AK_AUTO_FD target = -1;
	const char *name;
	int r, parent = mount_new_target(c, m, true, &name);

	if (parent >= 0) {
		r = mount_new_tmpfs(parent, name, &dev, attrs);
		if (r < 0)
			return ak_err_sys(err, -r, "mount %s", m->dst);
		c->dev = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return c->dev < 0 ? ak_err_sys(err, errno, "open the new %s", m->dst) : 0;
	}
	target = mount_target(c, m->dst, true, false, err);
	if (target < 0)
		return target;
	c->dev = mount_tmpfs(dev.size_bytes, dev.inodes, dev.mode, attrs, err);
	return c->dev < 0 ? c->dev : mount_attach(c->dev, target, m->dst, err);
}

int mount_dev(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	int r = new_dev(c, m, err);

	if (r == 0 && fchdir(c->dev) < 0)
		r = ak_err_sys(err, errno, "enter the new %s", m->dst);
	for (size_t i = 0; r == 0 && i < sizeof(dev_nodes) / sizeof(dev_nodes[0]); i++)
		r = bind_checked(c->dev, &dev_nodes[i], err);
	for (size_t i = 0; r == 0 && i < sizeof(dev_links) / sizeof(dev_links[0]); i++)
		if (symlinkat(dev_links[i].text, c->dev, dev_links[i].name) < 0)
			r = ak_err_sys(err, errno, "make /dev/%s", dev_links[i].name);
	if (r == 0)
		r = dev_flags(c->dev, err);
	if (r == 0)
		r = mount_pts(c->dev, err);
	if (r == 0)
		r = mount_shm(c, c->dev, m->size_bytes, err);
	return r;
}

int mount_devnode(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	const char *slash = strrchr(m->dst, '/');
	char parent[4096];
	struct stat st;
	AK_AUTO_FD dir = -1;
	AK_AUTO_FD node = -1;
	int r;

	if (!slash || (size_t)(slash - m->dst) >= sizeof(parent))
		return ak_err_set(err, EINVAL, "--dev: bad path %s", m->dst);
	if (lstat(m->src, &st) < 0)
		return ak_err_sys(err, errno, "--dev: stat %s", m->src);
	if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode))
		return ak_err_set(err, ENODEV, "--dev: %s is not a device", m->src);
	memcpy(parent, m->dst, (size_t)(slash - m->dst));
	parent[slash - m->dst] = '\0';
	dir = mount_target(c, parent, true, false, err);
	if (dir < 0)
		return dir;
	r = bind_node(dir, slash + 1, m->src, err);
	if (r < 0)
		return r;
	node = openat(dir, slash + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return node < 0 ? ak_err_sys(err, errno, "--dev: open %s", m->dst) : node_flags(node, 0, err);
}
