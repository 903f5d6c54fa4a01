/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of building a root: the host is left behind, what is ak's own becomes read-only. Process: set-up child. Privilege:
 * CAP_SYS_ADMIN in its user namespace.
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"
#include "executor/shared/ak_weaken.h"

static int set_readonly(int fd, const char *what, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	if (sys_mount_setattr(fd, "", AT_EMPTY_PATH, &attr) < 0)
		return ak_err_sys(err, errno, "make %s read-only", what);
	return 0;
}

/* the old root lies on top of the new one; with an overlay the tmpfs of that lies on top of the old root and goes first */
static int leave_old(struct mnt_ctx *c, struct ak_err *err)
{
	int r = 0;

	if (c->plan->root == PLAN_ROOT_OVERLAY)
		r = part_detach_old(c);
	else if (c->beside) {
		mount_say_old(c, OLD_DETACH);
		return 0;
	}
	if (r == 0)
		r = part_detach_old(c);
	mount_say_old(c, OLD_DONE);
	return r < 0 ? ak_err_sys(err, -r, "detach the old root") : 0;
}

static int pivot(struct mnt_ctx *c, struct ak_err *err)
{
	if (fchdir(c->root) < 0)
		return ak_err_sys(err, errno, "enter the new root");
	if (sys_pivot_root(".", ".") < 0)
		return ak_err_sys(err, errno, "pivot_root");
	return leave_old(c, err);
}

int mount_leave_host(struct mnt_ctx *c, struct ak_err *err)
{
	int r = 0;

	if (!c->left) {
		mount_parts(c);
		mount_parts_end(c);	/* so the other thread can end beside what follows */
		mount_part_wait(&c->dev);
		r = pivot(c, err);
	}
	if (r == 0 && chdir("/") < 0)
		r = ak_err_sys(err, errno, "chdir /");
	return r;
}

/* with an overlay, a device or another file system that is shown, later rows need the host */
static bool needs_host(const struct plan_mount *m)
{
	return m->kind == PM_PROC || m->kind == PM_DEV || m->kind == PM_DEVNODE || (m->kind == PM_BIND && (m->flags & PMF_COW)) ||
	       (m->kind == PM_HIDE && (m->flags & PMF_USER));
}

static bool is_held(const struct plan_mount *m)
{
	return m->kind == PM_BIND && !(m->flags & PMF_PROTECT) && m->src_fd < 0;
}

bool mount_may_leave(const struct mnt_ctx *c, size_t row)
{
	const struct plan_mount *m = c->plan->mounts, *end = m + c->plan->nmounts;
	size_t held = 0;

	if (!c->beside)
		return false;
	for (const struct plan_mount *a = m + row; a < end; a++) {
		held += is_held(a);
		if (needs_host(a) || held > MOUNT_HELD_MAX || strncmp(a->dst, "/dev/", 5) == 0)
			return false;
		/* what is hidden is there by now: no later row covers it, or brings it */
		for (const struct plan_mount *b = m + row; a->kind == PM_HIDE && b < end; b++)
			if (b->kind != PM_HIDE && ak_path_below(a->dst, b->dst))
				return false;
	}
	return true;
}

int mount_leave_soon(struct mnt_ctx *c, size_t row, struct ak_err *err)
{
	int r = 0;

	ak_fd_close(&c->parent);
	for (const struct plan_mount *m = c->plan->mounts + row; r == 0 && m < c->plan->mounts + c->plan->nmounts; m++) {
		if (m->kind == PM_HIDE)
			r = mount_hide(c, m, err);
		if (!is_held(m))
			continue;
		c->held[c->nheld] = mount_bind_source(c, m);
		if (c->held[c->nheld] < 0 && !(m->flags & PMF_OPTIONAL))
			return ak_err_sys(err, -c->held[c->nheld], "%s%sopen %s", m->opt ? m->opt : "", m->opt ? ": " : "", m->src);
		c->nheld++;
	}
	if (r < 0)
		return r;
	mount_parts_end(c);
	c->left = true;
	return pivot(c, err);
}

static int check_part(const struct mnt_part *p, const char *dir, struct ak_err *err)
{
	if (p->result >= 0)
		return 0;
	(void)ak_err_sys(err, -p->result, "build the sandbox's %s: %s", dir, p->what);
	if (p->result == -ENODEV)
		ak_err_hint(err, "what the host has there is not the character device of that name");
	return p->result;
}

int mount_seal(struct mnt_ctx *c, struct ak_err *err)
{
	int r;

	mount_parts(c);	/* left after mount_leave_soon() by a thread that has had no time */
	if (chdir("/") < 0)
		return ak_err_sys(err, errno, "chdir /");
	mount_part_wait(&c->dev);
	mount_part_wait(&c->proc);
	r = check_part(&c->proc, "/proc", err);
	if (r == 0)
		r = check_part(&c->dev, "/dev", err);
	if (r == 0 && (unlinkat(c->root, MOUNT_MASK_FILE, 0) < 0 || unlinkat(c->root, MOUNT_MASK_DIR, AT_REMOVEDIR) < 0))
		r = ak_err_sys(err, errno, "remove the covers' names");
	if (r == 0 && c->dev.fd >= 0)
		r = set_readonly(c->dev.fd, "/dev", err);
	for (unsigned i = 0; r == 0 && i < c->nexploded; i++)
		r = set_readonly(c->exploded[i], "a folder that was made room in", err);
	if (r == 0 && c->plan->root == PLAN_ROOT_TMPFS && !AK_WEAK(c->weaken, AK_WEAK_RDONLY))
		r = set_readonly(c->root, "the root", err);
	ak_fd_close(&c->proc.fd);
	return r;
}

/* "/.." steps up through whatever is stacked on the root: it must be the root itself */
int mount_check_alone(struct mnt_ctx *c, struct ak_err *err)
{
	struct statx root, up;

	if (c->detached < 0)
		return ak_err_sys(err, -c->detached, "detach the old root");
	if (statx(c->root, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID, &root) < 0 ||
	    statx(AT_FDCWD, "/..", 0, STATX_INO | STATX_MNT_ID, &up) < 0)
		return ak_err_sys(err, errno, "look at the new root");
	if (root.stx_mnt_id != up.stx_mnt_id || root.stx_ino != up.stx_ino)
		return ak_err_set(err, EBUSY, "the old root is still mounted on the new one");
	return 0;
}
