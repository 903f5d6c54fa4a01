/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A procfs of the sandbox's own pid namespace, with what tells of or changes the host covered or made read-only.
 * Process: set-up child. Privilege: CAP_SYS_ADMIN in its user namespace.
 */
#include "executor/ns/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"

enum proc_cover {
	COVER_MASK,	/* unreadable */
	COVER_MASK_0,	/* the same, but host root's with no bits for others: covered only if host uid 0 is mapped */
	COVER_RO,	/* read-only view of itself */
};

/*
 * HARDENING 39. Modes are those of Linux 6.1 to 6.18 (fs/proc, kernel, mm); each cover costs about 10 us of a start. The last
 * folder and the last file to be covered exist on every kernel: see mask_one().
 */
static const struct proc_row {
	const char *name;
	bool dir;
	enum proc_cover cover;
} proc_rows[] = {
	{ "sys", true, COVER_RO },
	{ "acpi", true, COVER_MASK },
	{ "asound", true, COVER_MASK },
	{ "scsi", true, COVER_MASK },
	{ "irq", true, COVER_MASK },
	{ "bus", true, COVER_MASK },
	{ "fs", true, COVER_MASK },		/* ext4 and nfsd internals; nothing of ours needs it */
	{ "kcore", false, COVER_MASK_0 },
	{ "kmsg", false, COVER_MASK_0 },
	{ "kpagecgroup", false, COVER_MASK_0 },
	{ "kpagecount", false, COVER_MASK_0 },
	{ "kpageflags", false, COVER_MASK_0 },
	{ "slabinfo", false, COVER_MASK_0 },
	{ "sysrq-trigger", false, COVER_MASK_0 },
	{ "timer_list", false, COVER_MASK_0 },
	{ "vmallocinfo", false, COVER_MASK_0 },
	{ "config.gz", false, COVER_MASK },
	{ "iomem", false, COVER_MASK },
	{ "ioports", false, COVER_MASK },
	{ "kallsyms", false, COVER_MASK },
	{ "key-users", false, COVER_MASK },
	{ "keys", false, COVER_MASK },		/* keys of the same host uid would show */
	{ "latency_stats", false, COVER_MASK },
	{ "mtrr", false, COVER_MASK },
	{ "partitions", false, COVER_MASK },
	{ "sched_debug", false, COVER_MASK },
	{ "timer_stats", false, COVER_MASK },
	{ "interrupts", false, COVER_MASK },	/* keystroke timing */
};

static int new_proc(struct mnt_ctx *c, struct ak_err *err)
{
	AK_AUTO_FD fs = sys_fsopen("proc", FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs < 0)
		return ak_err_sys(err, errno, "fsopen proc");
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) == 0)
		fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, mount_attrs(c, MOUNT_ATTR_NOEXEC));
	if (fd < 0 && errno == EPERM) {
		/* mount_too_revealing() of fs/namespace.c: the outer /proc is partly covered, as in most containers */
		(void)ak_err_sys(err, EPERM, "mount a new procfs: the host's /proc is partly covered (a container?)");
		ak_err_hint(err, "start the container with --security-opt systempaths=unconfined (docker, podman) or "
				 "procMount: Unmasked (kubernetes), or use --isolation landlock where it is available");
		return -EPERM;
	}
	if (fd < 0)
		return ak_err_sys(err, errno, "mount procfs");
	return fd;
}

/*
 * One mask. A cover whose name does not exist here is kept for the next row: closing a mount that was never attached costs an
 * RCU grace period, some 100 us.
 */
static int mask_one(struct mnt_ctx *c, int proc, const struct proc_row *row, int covers[2], struct ak_err *err)
{
	int *cover = &covers[row->dir];

	if (*cover < 0)
		*cover = sys_open_tree(c->root, row->dir ? MOUNT_MASK_DIR : MOUNT_MASK_FILE, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (*cover < 0)
		return ak_err_sys(err, errno, "clone a cover");
	if (sys_move_mount(*cover, "", proc, row->name, MOVE_MOUNT_F_EMPTY_PATH) == 0)
		ak_fd_close(cover);
	else if (errno != ENOENT)
		return ak_err_sys(err, errno, "cover /proc/%s", row->name);
	return 0;
}

static int readonly_one(int proc, const struct proc_row *row, struct ak_err *err)
{
	AK_AUTO_FD fd = sys_open_tree(proc, row->name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0 || sys_move_mount(fd, "", proc, row->name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "mount /proc/%s on itself", row->name);
	return 0;
}

static int cover_row(struct mnt_ctx *c, int proc, const struct proc_row *row, int covers[2], struct ak_err *err)
{
	if (row->cover == COVER_RO)
		return AK_WEAK(c->weaken, AK_WEAK_PROC_RO) ? 0 : readonly_one(proc, row, err);
	if (AK_WEAK(c->weaken, AK_WEAK_MASKS) || (row->cover == COVER_MASK_0 && !c->keep_uid0))
		return 0;
	return mask_one(c, proc, row, covers, err);
}

/* everything mounted on /proc becomes read-only, /proc itself does not: programs write to /proc/self */
static int seal_covers(int proc, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC };
	struct mount_attr clear = { .attr_clr = MOUNT_ATTR_RDONLY };

	if (sys_mount_setattr(proc, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) < 0 ||
	    sys_mount_setattr(proc, "", AT_EMPTY_PATH, &clear) < 0)
		return ak_err_sys(err, errno, "make what covers /proc read-only");
	return 0;
}

int mount_proc(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	AK_AUTO_FD proc = new_proc(c, err);
	AK_AUTO_FD target = -1;
	int covers[2] = { -1, -1 };
	int r;

	if (proc < 0)
		return proc;
	target = mount_target(c, m->dst, true, false, err);
	if (target < 0)
		return target;
	r = mount_attach(proc, target, m->dst, err);
	for (size_t i = 0; r == 0 && i < sizeof(proc_rows) / sizeof(proc_rows[0]); i++)
		r = cover_row(c, proc, &proc_rows[i], covers, err);
	ak_fd_close(&covers[0]);
	ak_fd_close(&covers[1]);
	if (r == 0)
		r = seal_covers(proc, err);
	return r;
}
