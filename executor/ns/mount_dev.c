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
#include "executor/ns/vclone.h"
#include "executor/plan.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define DEV_SIZE_BYTES (64u << 10)
#define DEV_INODES 256
#define SHM_INODES 65536
#define PTS_MAX "64"

static const struct dev_node {
	const char *name, *src;
	unsigned major, minor;	/* Documentation/admin-guide/devices.txt; checked, so that no other file is shown under the name */
} dev_nodes[] = {
	{ "null", "/dev/null", 1, 3 },	   { "zero", "/dev/zero", 1, 5 },	{ "full", "/dev/full", 1, 7 },
	{ "random", "/dev/random", 1, 8 }, { "urandom", "/dev/urandom", 1, 9 }, { "tty", "/dev/tty", 5, 0 },
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

/*
 * The nodes are the host's: on a read-only mount a device can still be written to, but its mode, owner, times and attributes
 * cannot be changed, which the owner (a caller as root that keeps its id) otherwise could.
 */
#define NODE_FLAGS (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

static int node_flags(int fd, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = NODE_FLAGS, .propagation = MS_PRIVATE };

	if (sys_mount_setattr(fd, "", AT_EMPTY_PATH, &attr) < 0)
		return ak_err_sys(err, errno, "set the flags of /dev");
	return 0;
}

/* looked at where it is mounted, so that nothing else can be shown there */
static int fill_node(const struct dev_node *n)
{
	struct statx st;
	int r = (int)vcall(SYS_mknodat, AT_FDCWD, (long)(uintptr_t)n->name, S_IFREG | 0666, 0, 0);

	if (r == 0)
		r = part_bind(n->src, n->name);
	if (r == 0)
		r = (int)vcall(SYS_statx, AT_FDCWD, (long)(uintptr_t)n->name, AT_SYMLINK_NOFOLLOW, STATX_TYPE, (long)(uintptr_t)&st);
	if (r < 0)
		return r;
	return S_ISCHR(st.stx_mode) && st.stx_rdev_major == n->major && st.stx_rdev_minor == n->minor ? 0 : -ENODEV;
}

static int fill_links(struct mnt_ctx *c)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(dev_links) / sizeof(dev_links[0]); i++) {
		c->dev.what = dev_links[i].name;
		r = (int)vcall(SYS_symlinkat, (long)(uintptr_t)dev_links[i].text, AT_FDCWD, (long)(uintptr_t)dev_links[i].name, 0,
			       0);
	}
	return r;
}

/* mount_dev() for the usual /dev, as far as no plan is needed for it. The flags of the nodes: mount_dev_flags() */
int mount_early_dev(int root, int *ret)
{
	static const char name[] = "dev", type[] = "tmpfs", options[] = "size=65536,mode=0755,nr_inodes=256";
	struct mnt_ctx c AK_UNINIT;	/* of which only the names of failures are written */
	long r = vcall(SYS_fchdir, root, 0, 0, 0, 0);

	_Static_assert(DEV_SIZE_BYTES == 65536 && DEV_INODES == 256, "as new_dev() has them");
	if (r >= 0)
		r = vcall(SYS_mkdirat, AT_FDCWD, (long)(uintptr_t)name, 0755, 0, 0);
	if (r >= 0)
		r = part_mount(type, name, MS_NOSUID | MS_NODEV | MS_NOEXEC, options);
	if (r >= 0)
		r = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0);
	if (r < 0)
		return (int)r;
	*ret = (int)r;
	r = vcall(SYS_fchdir, *ret, 0, 0, 0, 0);
	for (size_t i = 0; r >= 0 && i < sizeof(dev_nodes) / sizeof(dev_nodes[0]); i++)
		r = fill_node(&dev_nodes[i]);
	return r < 0 ? (int)r : fill_links(&c);
}

/*
 * Of a /dev that was there when everything below the root was made nodev: its nodes are devices all the same, and it is still to be
 * filled. The flag came in this namespace, so it may go again; but not from a node that has it on the host already, and would be of no
 * use: mount_setattr(2), EPERM.
 */
int mount_dev_flags(struct mnt_ctx *c, struct ak_err *err)
{
	struct mount_attr nodes = { .attr_set = NODE_FLAGS, .attr_clr = MOUNT_ATTR_NODEV, .propagation = MS_PRIVATE };
	struct mount_attr folder = { .attr_set = mount_attrs(c, MOUNT_ATTR_NOEXEC), .attr_clr = MOUNT_ATTR_RDONLY };

	if (sys_mount_setattr(c->dev.fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &nodes) < 0 ||
	    sys_mount_setattr(c->dev.fd, "", AT_EMPTY_PATH, &folder) < 0) {
		int e = errno;

		(void)ak_err_sys(err, e, "set the flags of /dev");
		if (e == EPERM)
			ak_err_hint(err, "a device of the host's /dev is mounted nodev, so that no program can use it: mount it without");
		return -e;
	}
	return 0;
}

static int fill_mount(struct mnt_ctx *c, const char *name, const char *type, unsigned flags, const char *options)
{
	int r;

	c->dev.what = name;
	r = (int)vcall(SYS_mkdirat, AT_FDCWD, (long)(uintptr_t)name, 0755, 0, 0);
	return r < 0 ? r : part_mount(type, name, flags, options);
}

/* the flags come for all nodes at once; the folder itself is still to be filled */
int mount_dev_nodes(struct mnt_ctx *c)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(dev_nodes) / sizeof(dev_nodes[0]); i++) {
		c->dev.what = dev_nodes[i].name;
		r = fill_node(&dev_nodes[i]);
	}
	if (r == 0) {
		c->dev.what = "set its flags";
		r = part_flags(c->dev.fd, NODE_FLAGS);
	}
	return r;
}

int mount_dev_fill(struct mnt_ctx *c)
{
	int r = c->dev_nodes ? 0 : mount_dev_nodes(c);

	if (r == 0 && !c->dev_early)
		r = fill_links(c);
	if (r == 0)
		r = fill_mount(c, "pts", "devpts", MS_NOSUID | MS_NOEXEC,
			       "newinstance,ptmxmode=0666,mode=0620,max=" PTS_MAX);
	return r < 0 ? r : fill_mount(c, "shm", "tmpfs", mount_attrs(c, 0), c->shm_options);
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
		c->dev.fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return c->dev.fd < 0 ? ak_err_sys(err, errno, "open the new %s", m->dst) : 0;
	}
	target = mount_target(c, m->dst, true, false, err);
	if (target < 0)
		return target;
	c->dev.fd = mount_tmpfs(dev.size_bytes, dev.inodes, dev.mode, attrs, err);
	return c->dev.fd < 0 ? c->dev.fd : mount_attach(c->dev.fd, target, m->dst, err);
}

/* whether a later row may have to do with what is in /dev; a name to hide may be a link there */
static bool is_needed_now(const struct mnt_ctx *c, const struct plan_mount *dev)
{
	for (const struct plan_mount *m = dev + 1; m < c->plan->mounts + c->plan->nmounts; m++)
		if (strncmp(m->dst, "/dev/", 5) == 0 || (m->kind == PM_HIDE && (m->flags & PMF_USER)))
			return true;
	return false;
}

/* a failure is the part's, and told with it */
static void make_nodes(struct mnt_ctx *c)
{
	c->dev.what = "enter it";
	c->dev.result = fchdir(c->dev.fd) < 0 ? -errno : mount_dev_nodes(c);
	c->dev_nodes = true;
}

int mount_dev(struct mnt_ctx *c, const struct plan_mount *m, bool soon, struct ak_err *err)
{
	const struct plan_mount shm = { .size_bytes = m->size_bytes, .inodes = SHM_INODES, .mode = 01777 };
	int r = c->dev_early ? 0 : new_dev(c, m, err);

	if (r < 0)
		return r;
	mount_tmpfs_options(c->shm_options, &shm);
	if (soon && !c->dev_early)
		make_nodes(c);
	if (is_needed_now(c, m))
		mount_part_build(c, &c->dev, mount_dev_fill);
	else if (c->dev.result == 0)
		mount_part_offer(c, &c->dev);
	return 0;
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
	return node < 0 ? ak_err_sys(err, errno, "--dev: open %s", m->dst) : node_flags(node, err);
}
