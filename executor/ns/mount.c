/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a sandbox's root by descriptor: bind clones, tmpfs, covers; then pivot_root. Process: set-up child, in its own
 * user and mount namespace. Privilege: CAP_SYS_ADMIN there, none on the host.
 *
 * Invariants: no target is resolved again after it was opened, but for a name that was made just now (mount_new.c); targets are
 * opened beneath c->root without symbolic links; every mount is private, nosuid and nodev; the only writable ones are those the plan says.
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/explode.h"
#include "executor/ns/sysmount.h"
#include "executor/ns/vclone.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"
#include "executor/shared/ak_weaken.h"

#define ROOT_SIZE_BYTES (16u << 20)	/* folders, links and the few files of ours */
#define ROOT_INODES 16384

unsigned mount_attrs(const struct mnt_ctx *c, unsigned extra)
{
	if (AK_WEAK(c->weaken, AK_WEAK_NOSUID))
		return extra;
	return extra | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
}

int mount_attach(int fd, int target, const char *what, struct ak_err *err)
{
	if (sys_move_mount(fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "mount on %s", what);
	return 0;
}

int mount_tmpfs(uint64_t size_bytes, uint64_t inodes, unsigned mode, unsigned attrs, struct ak_err *err)
{
	char num[32];
	AK_AUTO_FD fs = sys_fsopen("tmpfs", FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return ak_err_sys(err, errno, "fsopen tmpfs");
	snprintf(num, sizeof(num), "%llu", (unsigned long long)size_bytes);
	if (sys_fsconfig(fs, FSCONFIG_SET_STRING, "size", num) < 0)
		return ak_err_sys(err, errno, "tmpfs size=%s", num);
	snprintf(num, sizeof(num), "%llu", (unsigned long long)inodes);
	if (inodes && sys_fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", num) < 0)
		return ak_err_sys(err, errno, "tmpfs nr_inodes=%s", num);
	snprintf(num, sizeof(num), "%04o", mode);
	if (sys_fsconfig(fs, FSCONFIG_SET_STRING, "mode", num) < 0)
		return ak_err_sys(err, errno, "tmpfs mode=%s", num);
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		return ak_err_sys(err, errno, "create tmpfs");
	fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, attrs);
	if (fd < 0)
		return ak_err_sys(err, errno, "fsmount tmpfs");
	return fd;
}

static int make_masks(struct mnt_ctx *c, struct ak_err *err)
{
	if (mknodat(c->root, MOUNT_MASK_FILE, S_IFREG | 0000, 0) < 0 || mkdirat(c->root, MOUNT_MASK_DIR, 0000) < 0)
		return ak_err_sys(err, errno, "make the covers");
	return 0;
}

void mount_init(struct mnt_ctx *c, const struct plan *p, uint32_t weaken)
{
	*c = (struct mnt_ctx){ .plan = p, .root = -1, .etc_dir = -1, .proc.fd = -1, .dev.fd = -1, .parent = -1, .weaken = weaken,
			       .keep_uid0 = p->identity == PLAN_ID_ROOT };
}

int mount_begin(struct mnt_ctx *c, struct ak_err *err)
{
	const struct plan *p = c->plan;
	const struct plan_mount plain = { .size_bytes = ROOT_SIZE_BYTES, .inodes = ROOT_INODES, .mode = 0755 };
	const struct plan_mount overlay = { .size_bytes = p->root_size_bytes, .mode = 0755 };
	int r;

	if (c->root >= 0)
		return 0;	/* mount_take_over() */
	/* onto "/": a path lookup of ours still starts at the host's root below it */
	r = mount_new_tmpfs(AT_FDCWD, "/", p->root == PLAN_ROOT_OVERLAY ? &overlay : &plain, mount_attrs(c, 0));
	if (r < 0)
		return ak_err_sys(err, -r, "mount the new root");
	/* and ".." at a root leads to what is stacked on it; check_alone() looks whether it did */
	c->root = open("/..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (c->root < 0)
		return ak_err_sys(err, errno, "open the new root");
	if (p->root == PLAN_ROOT_OVERLAY) {
		r = mount_overlay_root(c, err);
		if (r < 0)
			return r;
	}
	return make_masks(c, err);
}

/* mount_begin() for PLAN_ROOT_TMPFS, whose numbers these are */
int mount_early_root(int *ret)
{
	static const char options[] = "size=16777216,mode=0755,nr_inodes=16384";
	static const char top[] = "/", up[] = "/..", file[] = MOUNT_MASK_FILE, dir[] = MOUNT_MASK_DIR;
	long r = part_mount("tmpfs", top, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, options);

	_Static_assert(ROOT_SIZE_BYTES == 16777216 && ROOT_INODES == 16384, "as mount_begin() has them");
	if (r >= 0)
		r = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)up, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0);
	if (r < 0)
		return (int)r;
	*ret = (int)r;
	r = vcall(SYS_mknodat, *ret, (long)(uintptr_t)file, S_IFREG | 0000, 0, 0);
	if (r >= 0)
		r = vcall(SYS_mkdirat, *ret, (long)(uintptr_t)dir, 0000, 0, 0);
	return r < 0 ? (int)r : 0;
}

void mount_take_over(struct mnt_ctx *c, int root, int proc, int dev)
{
	c->root = root;
	c->proc.fd = proc;
	c->dev.fd = dev;
	c->dev_early = c->dev_nodes = true;
	atomic_store(&c->proc.state, PART_DONE);
}

int mount_cover_clone(struct mnt_ctx *c, bool dir, struct ak_err *err)
{
	/* read-only: the sandbox's user owns the cover and could change its mode otherwise */
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };
	AK_AUTO_FD fd = sys_open_tree(c->root, dir ? MOUNT_MASK_DIR : MOUNT_MASK_FILE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0 || sys_mount_setattr(fd, "", AT_EMPTY_PATH, &attr) < 0)
		return ak_err_sys(err, errno, "clone a cover");
	return ak_fd_take(&fd);
}

int mount_cover(struct mnt_ctx *c, int target, struct ak_err *err)
{
	struct stat st, mask;
	AK_AUTO_FD fd = -1;

	if (fstat(target, &st) < 0)
		return ak_err_sys(err, errno, "stat a path to hide");
	/*
	 * Inside another sandbox this may be its cover: it has no name any more, so nothing can be mounted on it (ENOENT), and
	 * neither is there anything in it nor can anything come
	 */
	if (st.st_nlink == 0 && (st.st_mode & 07777) == 0 && (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_size == 0)))
		return 0;
	/* a cover already: one on it would keep the cover's own name from being removed */
	if (fstatat(c->root, S_ISDIR(st.st_mode) ? MOUNT_MASK_DIR : MOUNT_MASK_FILE, &mask, AT_SYMLINK_NOFOLLOW) == 0 &&
	    mask.st_dev == st.st_dev && mask.st_ino == st.st_ino)
		return 0;
	fd = mount_cover_clone(c, S_ISDIR(st.st_mode), err);
	return fd < 0 ? fd : mount_attach(fd, target, "a path to hide", err);
}

/* false: its name was there, or the mount failed, and nothing is left of it */
static bool bind_on_new(int parent, const char *name, const struct plan_mount *m)
{
	bool dir = !(m->flags & PMF_FILE);

	if (mount_make_name(parent, name, dir) < 0)
		return false;
	if (mount_new_bind(parent, name, m->src, MS_REC) == 0)
		return true;
	(void)unlinkat(parent, name, dir ? AT_REMOVEDIR : 0);
	return false;
}

/* a row of the root view: our own folders, host paths everybody may read; flags are set for all of them at once later */
static int system_bind(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	const char *name;
	int parent = mount_parent(c, m->dst, &name, err);
	AK_AUTO_FD fd = -1;
	int r;

	if (parent < 0)
		return parent;
	if (bind_on_new(parent, name, m))
		return 0;
	fd = sys_open_tree(AT_FDCWD, m->src, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	if (fd < 0 && (m->flags & PMF_OPTIONAL))
		return 0;
	if (fd < 0)
		return ak_err_sys(err, errno, "open %s", m->src);
	r = mount_make_name(parent, name, !(m->flags & PMF_FILE));
	if (r < 0 && r != -EEXIST)
		return ak_err_sys(err, -r, "make the mount point %s", m->dst);
	if (sys_move_mount(fd, "", parent, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "mount on %s", m->dst);
	return 0;
}

/* everything mounted so far becomes read-only, nosuid, nodev and private in one call; the root itself stays writable a while */
static int system_finish(struct mnt_ctx *c, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = mount_attrs(c, 0), .propagation = MS_PRIVATE };
	struct mount_attr clear = { .attr_clr = MOUNT_ATTR_RDONLY };

	c->system_done = true;
	if (!AK_WEAK(c->weaken, AK_WEAK_RDONLY))
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	if (sys_mount_setattr(c->root, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0)
		return ak_err_sys(err, errno, "make the root view read-only");
	if (sys_mount_setattr(c->root, "", AT_EMPTY_PATH, &clear) < 0)
		return ak_err_sys(err, errno, "keep the root writable while it is built");
	/* programs write to /proc/self */
	if (c->proc.fd >= 0 && sys_mount_setattr(c->proc.fd, "", AT_EMPTY_PATH, &clear) < 0)
		return ak_err_sys(err, errno, "keep /proc writable");
	return c->dev_early ? mount_dev_flags(c, err) : 0;
}

/* open a bind's source: already a detached clone (root mode), or cloned here by path without following links */
int mount_bind_source(struct mnt_ctx *c, const struct plan_mount *m)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;
	AK_AUTO_FD at = -1;
	int fd;

	if (m->flags & PMF_PROTECT)
		at = mount_open_beneath(c->root, m->dst + strspn(m->dst, "/"));
	else
		at = sys_openat2(AT_FDCWD, m->src, O_PATH | O_CLOEXEC, AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_MAGICLINKS);
	if (at < 0)
		return -errno;
	fd = sys_open_tree(at, "", flags | AT_EMPTY_PATH);
	return fd < 0 ? -errno : fd;
}

static int bind_attributes(struct mnt_ctx *c, const struct plan_mount *m, int fd, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = mount_attrs(c, 0), .propagation = MS_PRIVATE };

	if ((m->flags & PMF_RO) && !AK_WEAK(c->weaken, AK_WEAK_RDONLY))
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	if (m->flags & PMF_NOEXEC)
		attr.attr_set |= MOUNT_ATTR_NOEXEC;
	if (sys_mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0)
		return ak_err_sys(err, errno, "set the flags of the mount on %s", m->dst);
	return 0;
}

static int attach_bind(struct mnt_ctx *c, const struct plan_mount *m, int fd, struct ak_err *err)
{
	bool dir = !(m->flags & PMF_FILE);
	const char *name;
	int parent = mount_new_target(c, m, dir, &name);
	AK_AUTO_FD target = -1;

	if (parent >= 0 && sys_move_mount(fd, "", parent, name, MOVE_MOUNT_F_EMPTY_PATH) == 0)
		return 0;
	target = mount_target(c, m->dst, dir, m->flags & PMF_TARGET_EXISTS, err);
	return target < 0 ? target : mount_attach(fd, target, m->dst, err);
}

static bool needs_held(const struct mnt_ctx *c, const struct plan_mount *m)
{
	return c->left && !(m->flags & PMF_PROTECT);
}

static int do_bind(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	AK_AUTO_FD own = -1;
	int fd = m->src_fd;
	int r;

	if (m->flags & PMF_COW) {
		own = mount_cow(c, m, err);
		fd = own;
		if (fd < 0)
			return fd;
	} else if (fd < 0) {
		own = needs_held(c, m) ? c->held[c->next_held++] : mount_bind_source(c, m);
		if (own < 0 && (m->flags & PMF_OPTIONAL))
			return 0;	/* missing, or a link on the way: nothing to show */
		if (own < 0)
			return ak_err_sys(err, -own, "%s%sopen %s", m->opt ? m->opt : "", m->opt ? ": " : "", m->src);
		fd = own;
	}
	r = bind_attributes(c, m, fd, err);
	if (r < 0)
		return r;
	return attach_bind(c, m, fd, err);
}

/* on a name that was there; a read-only one is kept open, since mount points of later rows are still to be made in it */
static int held_tmpfs(struct mnt_ctx *c, const struct plan_mount *m, unsigned attrs, struct ak_err *err)
{
	AK_AUTO_FD fd = mount_tmpfs(m->size_bytes, m->inodes, m->mode, attrs, err);
	AK_AUTO_FD target = -1;
	int r;

	if (fd < 0)
		return fd;
	target = mount_target(c, m->dst, true, m->flags & PMF_TARGET_EXISTS, err);
	if (target < 0)
		return target;
	r = mount_attach(fd, target, m->dst, err);
	if (r < 0 || !(m->flags & PMF_RO))
		return r;
	if (c->nexploded == MOUNT_EXPLODED_MAX)
		return ak_err_set(err, E2BIG, "too many folders to hide with something shown below them");
	c->exploded[c->nexploded++] = ak_fd_take(&fd);
	return 0;
}

static int do_tmpfs(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	unsigned attrs = mount_attrs(c, m->flags & PMF_NOEXEC ? MOUNT_ATTR_NOEXEC : 0);
	const char *name;
	int r, parent = m->flags & PMF_RO ? -EEXIST : mount_new_target(c, m, true, &name);

	if (parent < 0)
		return held_tmpfs(c, m, attrs, err);
	r = mount_new_tmpfs(parent, name, m, attrs);
	return r < 0 ? ak_err_sys(err, -r, "mount the tmpfs on %s", m->dst) : 0;
}

int mount_hide(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	AK_AUTO_FD target = -1;

	/* the sandbox's own covers come first, so that none of them lies on what the user hides */
	if (!c->left && ak_path_below(m->dst, "/proc")) {
		mount_parts(c);
		mount_part_wait(&c->proc);
	}
	/* links are followed inside the new root: what the name leads to is what has to be covered */
	target = sys_openat2(c->root, m->dst, O_PATH | O_CLOEXEC, AK_RESOLVE_IN_ROOT | AK_RESOLVE_NO_MAGICLINKS);
	/* what this process may not reach, a command without its capabilities may not either */
	if (target < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	if (target < 0)
		return ak_err_sys(err, errno, "--hide: open %s", m->dst);
	return mount_cover(c, target, err);
}

static int do_node(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	const char *name;
	int parent = mount_parent(c, m->dst, &name, err);
	AK_AUTO_FD fd = -1;

	if (parent < 0)
		return parent;
	if (m->kind == PM_SYMLINK) {
		if (symlinkat(m->src, parent, name) < 0 && errno != EEXIST)
			return ak_err_sys(err, errno, "make the link %s", m->dst);
		return 0;
	}
	if (m->kind == PM_DIR) {
		if (mkdirat(parent, name, m->mode) < 0 && errno != EEXIST)
			return ak_err_sys(err, errno, "make the folder %s", m->dst);
		return 0;
	}
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, m->mode);
	if (fd < 0)
		return ak_err_sys(err, errno, "make the file %s", m->dst);
	if (ak_write_all(fd, m->src, strlen(m->src)) < 0)
		return ak_err_sys(err, errno, "write the file %s", m->dst);
	return 0;
}

static bool is_node(const struct plan_mount *m)
{
	return m->kind == PM_DIR || m->kind == PM_SYMLINK || m->kind == PM_FILE;
}

static bool is_system(const struct plan_mount *m)
{
	return is_node(m) || (m->kind == PM_BIND && (m->flags & PMF_SYSTEM));
}

static int do_mount(struct mnt_ctx *c, const struct plan_mount *m, bool soon, struct ak_err *err)
{
	ak_fd_close(&c->parent);	/* it may be covered by what follows */
	switch (m->kind) {
	case PM_TMPFS:
		return do_tmpfs(c, m, err);
	case PM_PROC:
		return mount_proc(c, m, err);
	case PM_DEV:
		return mount_dev(c, m, soon, err);
	case PM_DEVNODE:
		return mount_devnode(c, m, err);
	case PM_HIDE:
		return c->left ? 0 : mount_hide(c, m, err);	/* else hidden already */
	default:
		return do_bind(c, m, err);
	}
}

static int do_row(struct mnt_ctx *c, const struct plan_mount *m, bool soon, struct ak_err *err)
{
	if (is_node(m))
		return do_node(c, m, err);
	if (is_system(m) && !c->system_done)
		return system_bind(c, m, err);
	return do_mount(c, m, soon, err);
}

/* the rows of /etc are needed now, before their flags are set; what could not be made the short way is made the long one */
static int etc_finish(struct mnt_ctx *c, struct ak_err *err)
{
	uint64_t left;
	int r = 0;

	if (c->etc_n == 0)
		return 0;
	mount_etc_rows(c);
	mount_etc_wait(c);
	ak_fd_close(&c->etc_dir);
	left = atomic_load(&c->etc_left);
	for (size_t i = 0; r == 0 && i < c->etc_n; i++)
		if (left >> i & 1)
			r = do_row(c, &c->plan->mounts[c->etc_first + i], false, err);
	return r;
}

int mount_all(struct mnt_ctx *c, struct ak_err *err)
{
	const bool view = c->plan->root == PLAN_ROOT_TMPFS;
	int r = view ? mount_etc_offer(c, err) : 0;

	for (size_t i = 0; r == 0 && i < c->plan->nmounts; i++) {
		const struct plan_mount *m = &c->plan->mounts[i];
		bool soon;

		if (mount_etc_has(c, i))
			continue;
		if (!c->system_done && !is_system(m) && view) {
			r = etc_finish(c, err);
			if (r == 0)
				r = system_finish(c, err);
		}
		soon = view && m->kind == PM_DEV && mount_may_leave(c, i + 1);
		if (r == 0)
			r = do_row(c, m, soon, err);
		if (r == 0 && soon)
			r = mount_leave_soon(c, i + 1, err);
	}
	ak_fd_close(&c->parent);
	return r;
}
