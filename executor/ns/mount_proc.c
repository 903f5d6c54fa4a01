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
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/ns/vclone.h"
#include "executor/plan.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"

enum proc_cover {
	COVER_MASK,	/* unreadable */
	COVER_MASK_0,	/* the same, but host root's with no bits for others: covered only if host uid 0 is mapped */
	COVER_RO,	/* read-only view of itself */
};

/* every procfs has them (fs/proc/root.c, fs/proc/interrupts.c) */
#define FIRST_DIR "fs"
#define FIRST_FILE "interrupts"
#define FIRST_ROWS 2

/*
 * HARDENING 39. Modes are those of Linux 6.1 to 6.18 (fs/proc, kernel, mm); each cover costs about 7 us of a start.
 */
static const struct proc_row {
	char name[16];	/* no pointer: prework_do() comes before relocations */
	bool dir;
	enum proc_cover cover;
} proc_rows[] = {
	{ FIRST_DIR, true, COVER_MASK },	/* ext4 and nfsd internals; nothing of ours needs it */
	{ FIRST_FILE, false, COVER_MASK },	/* keystroke timing */
	{ "sys", true, COVER_RO },
	{ "acpi", true, COVER_MASK },
	{ "asound", true, COVER_MASK },
	{ "scsi", true, COVER_MASK },
	{ "irq", true, COVER_MASK },
	{ "bus", true, COVER_MASK },
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
};

static int explain_proc(int code, struct ak_err *err)
{
	if (code != EPERM)
		return ak_err_sys(err, code, "mount procfs");
	/* mount_too_revealing() of fs/namespace.c: the outer /proc is partly covered, as in most containers */
	(void)ak_err_sys(err, EPERM, "mount a new procfs: the host's /proc is partly covered (a container?)");
	ak_err_hint(err, "start the container with --security-opt systempaths=unconfined (docker, podman) or "
			 "procMount: Unmasked (kubernetes), or use --isolation landlock, which is weaker");
	return -EPERM;
}

/* on a name that was there, as a root file system of the user's has it */
static int attach_proc(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	AK_AUTO_FD fs = sys_fsopen("proc", FSOPEN_CLOEXEC);
	AK_AUTO_FD target = -1;
	AK_AUTO_FD fd = -1;
	int r;

	if (fs < 0)
		return ak_err_sys(err, errno, "fsopen proc");
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) == 0)
		fd = sys_fsmount(fs, FSMOUNT_CLOEXEC, mount_attrs(c, MOUNT_ATTR_NOEXEC));
	if (fd < 0)
		return explain_proc(errno, err);
	target = mount_target(c, m->dst, true, false, err);
	if (target < 0)
		return target;
	r = mount_attach(fd, target, m->dst, err);
	return r < 0 ? r : ak_fd_take(&fd);
}

/* Return: the mounted procfs, O_PATH, or negative errno */
static int new_proc(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	const char *name;
	int parent = mount_new_target(c, m, true, &name);
	int r, fd;

	if (parent < 0)
		return attach_proc(c, m, err);
	r = mount_new_fs(parent, name, "proc", mount_attrs(c, MOUNT_ATTR_NOEXEC), NULL);
	if (r < 0)
		return explain_proc(-r, err);
	fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? ak_err_sys(err, errno, "open the new procfs") : fd;
}

/*
 * The first ones, by the first thread: the working directory becomes /proc, so its parent is the new root, where the covers have
 * their names. Later that is not so: while the old root lies on the new one (pivot_root), ".." leads into the old one.
 */
static int cover_first(const struct mnt_ctx *c, struct ak_err *err)
{
	int r = 0;

	if (AK_WEAK(c->weaken, AK_WEAK_MASKS))
		return 0;
	if (fchdir(c->proc.fd) < 0)
		return ak_err_sys(err, errno, "enter the new procfs");
	for (size_t i = 0; r == 0 && i < FIRST_ROWS; i++)
		r = part_bind(proc_rows[i].dir ? "../" MOUNT_MASK_DIR : "../" MOUNT_MASK_FILE, proc_rows[i].name);
	return r < 0 ? ak_err_sys(err, -r, "cover what is in the new procfs") : 0;
}

/* The working directory is /proc, and the covers are those of the first ones. No name here is a link */
static int cover_row(const struct mnt_ctx *c, const struct proc_row *row)
{
	int r;

	if (row->cover == COVER_RO)
		return AK_WEAK(c->weaken, AK_WEAK_PROC_RO) ? 0 : part_bind(row->name, row->name);
	if (AK_WEAK(c->weaken, AK_WEAK_MASKS) || (row->cover == COVER_MASK_0 && !c->keep_uid0))
		return 0;
	r = part_bind(row->dir ? FIRST_DIR : FIRST_FILE, row->name);
	/* not on this kernel? It was the cover, then, that was not found */
	if (r == -ENOENT && vcall(SYS_faccessat, AT_FDCWD, (long)(uintptr_t)row->name, F_OK, 0, 0) != -ENOENT)
		return r;
	return r == -ENOENT ? 0 : r;
}

int mount_proc_covers(struct mnt_ctx *c)
{
	int r = 0;

	for (size_t i = FIRST_ROWS; r == 0 && i < sizeof(proc_rows) / sizeof(proc_rows[0]); i++) {
		c->proc.what = proc_rows[i].name;
		r = cover_row(c, &proc_rows[i]);
	}
	if (r < 0)
		return r;
	c->proc.what = "make what covers it read-only";
	/* /proc itself does not become read-only: programs write to /proc/self */
	return part_flags(c->proc.fd, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

/*
 * For --nesting: the kernel lets a new procfs be mounted only where one is that nothing covers (mount_too_revealing() of
 * fs/namespace.c), and it need not be within reach. So there is a second one, in a folder that is covered as a whole.
 */
static int spare_proc(struct mnt_ctx *c, struct ak_err *err)
{
	AK_AUTO_FD dir = -1;
	AK_AUTO_FD cover = -1;
	int r = mount_make_name(c->root, MOUNT_SPARE_DIR, true);

	if (r == 0)
		dir = openat(c->root, MOUNT_SPARE_DIR, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r == 0 && dir >= 0)
		r = mount_make_name(dir, "proc", true);
	if (r < 0 || dir < 0)
		return ak_err_sys(err, r < 0 ? -r : errno, "make a folder for the procfs that sandboxes inside need");
	r = mount_new_fs(dir, "proc", "proc", mount_attrs(c, MOUNT_ATTR_NOEXEC), NULL);
	if (r < 0)
		return explain_proc(-r, err);
	cover = mount_cover_clone(c, true, err);
	return cover < 0 ? cover : mount_attach(cover, dir, "/" MOUNT_SPARE_DIR, err);
}

int mount_early_proc(int root, int *ret)
{
	static const char name[] = "proc", dir[] = "../" MOUNT_MASK_DIR, file[] = "../" MOUNT_MASK_FILE;
	struct mnt_ctx c AK_UNINIT;	/* the members that are read are written here */
	long r = vcall(SYS_fchdir, root, 0, 0, 0, 0);

	c.weaken = 0;
	c.keep_uid0 = false;
	if (r >= 0)
		r = vcall(SYS_mkdirat, AT_FDCWD, (long)(uintptr_t)name, 0755, 0, 0);
	if (r >= 0)
		r = part_mount(name, name, mount_attrs(&c, MOUNT_ATTR_NOEXEC), NULL);
	if (r >= 0)
		r = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0, 0);
	if (r < 0)
		return (int)r;
	*ret = c.proc.fd = (int)r;
	r = vcall(SYS_fchdir, c.proc.fd, 0, 0, 0, 0);
	if (r >= 0)
		r = part_bind(dir, FIRST_DIR);
	if (r >= 0)
		r = part_bind(file, FIRST_FILE);
	return r < 0 ? (int)r : mount_proc_covers(&c);
}

int mount_proc(struct mnt_ctx *c, const struct plan_mount *m, struct ak_err *err)
{
	if (c->proc.fd >= 0)
		return 0;	/* mount_take_over() */
	if (c->plan->nesting) {
		int r = spare_proc(c, err);

		if (r < 0)
			return r;
	}
	c->proc.fd = new_proc(c, m, err);
	if (c->proc.fd < 0)
		return c->proc.fd;
	if (cover_first(c, err) < 0)
		return -err->code;
	atomic_store(&c->proc.state, PART_OFFERED);	/* nobody is woken for it: /dev comes, and is needed first */
	return 0;
}
