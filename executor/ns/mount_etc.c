/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's part of /etc, a third of all rows of the root view, as a part that either thread may build. Process: set-up child.
 * Privilege: CAP_SYS_ADMIN in its user namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/mount.h"
#include "executor/ns/vclone.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"

#define FOLDER "/etc/"
#define ROWS_MAX 64	/* bits of mnt_ctx.etc_left */

static bool is_row(const struct plan_mount *m)
{
	return strncmp(m->dst, FOLDER, sizeof(FOLDER) - 1) == 0 && !strchr(m->dst + sizeof(FOLDER) - 1, '/') &&
	       (m->kind == PM_SYMLINK || (m->kind == PM_BIND && (m->flags & PMF_SYSTEM)));
}

/* ---- either thread: system calls without errno; the working directory is /etc ---- */

static long build_row(const struct plan_mount *m)
{
	const char *name = m->dst + sizeof(FOLDER) - 1;
	const bool dir = !(m->flags & PMF_FILE);
	long r;

	if (m->kind == PM_SYMLINK)
		return vcall(SYS_symlinkat, (long)(uintptr_t)m->src, AT_FDCWD, (long)(uintptr_t)name, 0, 0);
	r = dir ? vcall(SYS_mkdirat, AT_FDCWD, (long)(uintptr_t)name, 0755, 0, 0) :
		  vcall(SYS_mknodat, AT_FDCWD, (long)(uintptr_t)name, S_IFREG | 0444, 0, 0);
	if (r < 0)
		return r;
	/* on a name that was made just now: see mount_new.c */
	r = vcall(SYS_mount, (long)(uintptr_t)m->src, (long)(uintptr_t)name, 0, MS_BIND | MS_REC, 0);
	if (r < 0)
		(void)vcall(SYS_unlinkat, AT_FDCWD, (long)(uintptr_t)name, dir ? AT_REMOVEDIR : 0, 0, 0);
	return r;
}

void mount_etc_rows(struct mnt_ctx *c)
{
	bool inside = false;
	size_t i;

	if (!atomic_load(&c->etc_offered))
		return;
	(void)atomic_fetch_add(&c->etc_busy, 1);
	while ((i = atomic_fetch_add(&c->etc_next, 1)) < c->etc_n) {
		inside = inside || vcall(SYS_fchdir, c->etc_dir, 0, 0, 0, 0) == 0;
		if (!inside || build_row(&c->plan->mounts[c->etc_first + i]) < 0)
			(void)atomic_fetch_or(&c->etc_left, 1ull << i);
	}
	if (atomic_fetch_sub(&c->etc_busy, 1) == 1)
		(void)vcall(SYS_futex, (long)(uintptr_t)&c->etc_busy, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

void mount_etc_wait(struct mnt_ctx *c)
{
	int busy;

	/* who begins now finds no row, and does not look into the folder */
	while ((busy = atomic_load(&c->etc_busy)) > 0)
		(void)vcall(SYS_futex, (long)(uintptr_t)&c->etc_busy, FUTEX_WAIT_PRIVATE, busy, 0, 0);
	atomic_store(&c->etc_offered, false);
}

/* ---- the first thread ---- */

bool mount_etc_has(const struct mnt_ctx *c, size_t row)
{
	return row - c->etc_first < c->etc_n;
}

int mount_etc_offer(struct mnt_ctx *c, struct ak_err *err)
{
	const struct plan *p = c->plan;
	size_t first = 0;

	while (first < p->nmounts && !is_row(&p->mounts[first]))
		first++;
	while (first + c->etc_n < p->nmounts && c->etc_n < ROWS_MAX && is_row(&p->mounts[first + c->etc_n]))
		c->etc_n++;
	c->etc_first = first;
	if (c->etc_n == 0)
		return 0;
	if (mkdirat(c->root, "etc", 0755) < 0)
		return ak_err_sys(err, errno, "make the folder /etc");
	c->etc_dir = openat(c->root, "etc", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->etc_dir < 0)
		return ak_err_sys(err, errno, "open the new /etc");
	atomic_store(&c->etc_offered, true);
	mount_say_offer(c);
	return 0;
}
