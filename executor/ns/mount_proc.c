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

/* HARDENING 39. Modes are those of Linux 6.1 to 6.18 (fs/proc, kernel, mm); each cover costs about 10 us of a start. */
static const struct proc_row {
	const char *name;
	bool dir;
	enum proc_cover cover;
} proc_rows[] = {
	{ "acpi", true, COVER_MASK },
	{ "asound", true, COVER_MASK },
	{ "bus", true, COVER_MASK },
	{ "fs", true, COVER_MASK },		/* ext4 and nfsd internals; nothing of ours needs it */
	{ "irq", true, COVER_MASK },
	{ "scsi", true, COVER_MASK },
	{ "config.gz", false, COVER_MASK },
	{ "interrupts", false, COVER_MASK },	/* keystroke timing */
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
	{ "kcore", false, COVER_MASK_0 },
	{ "kmsg", false, COVER_MASK_0 },
	{ "kpagecgroup", false, COVER_MASK_0 },
	{ "kpagecount", false, COVER_MASK_0 },
	{ "kpageflags", false, COVER_MASK_0 },
	{ "slabinfo", false, COVER_MASK_0 },
	{ "sysrq-trigger", false, COVER_MASK_0 },
	{ "timer_list", false, COVER_MASK_0 },
	{ "vmallocinfo", false, COVER_MASK_0 },
	{ "sys", true, COVER_RO },
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

/* Looked up first: closing a cover that was never attached would cost an RCU grace period, some 100 us */
static int mask_one(struct mnt_ctx *c, int proc, const struct proc_row *row, struct ak_err *err)
{
	AK_AUTO_FD clone = -1;

	if (faccessat(proc, row->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 0;
	clone = mount_cover_clone(c, row->dir, err);
	if (clone < 0)
		return clone;
	if (sys_move_mount(clone, "", proc, row->name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "cover /proc/%s", row->name);
	return 0;
}

static int readonly_one(int proc, const struct proc_row *row, struct ak_err *err)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	AK_AUTO_FD fd = sys_open_tree(proc, row->name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0 || sys_mount_setattr(fd, "", AT_EMPTY_PATH, &attr) < 0 ||
	    sys_move_mount(fd, "", proc, row->name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "make /proc/%s read-only", row->name);
	return 0;
}

static int cover_row(struct mnt_ctx *c, int proc, const struct proc_row *row, struct ak_err *err)
{
	if (row->cover == COVER_RO)
		return AK_WEAK(c->weaken, AK_WEAK_PROC_RO) ? 0 : readonly_one(proc, row, err);
	if (AK_WEAK(c->weaken, AK_WEAK_MASKS) || (row->cover == COVER_MASK_0 && !c->keep_uid0))
		return 0;
	return mask_one(c, proc, row, err);
}

int mount_proc(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	AK_AUTO_FD proc = new_proc(c, err);
	AK_AUTO_FD target = -1;
	int r = 0;

	if (proc < 0)
		return proc;
	target = mount_target(c, m->dst, true, false, err);
	if (target < 0)
		return target;
	r = mount_attach(proc, target, m->dst, err);
	for (size_t i = 0; r == 0 && i < sizeof(proc_rows) / sizeof(proc_rows[0]); i++)
		r = cover_row(c, proc, &proc_rows[i], err);
	return r;
}
