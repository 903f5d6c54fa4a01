/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the root that either of the set-up child's two threads builds: whichever has time. Process: set-up child. Privilege:
 * CAP_SYS_ADMIN in its user namespace. All of it obeys the rules of vthread(): system calls without errno, nothing of libc.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "executor/ns/mount.h"
#include "executor/ns/sysmount.h"
#include "executor/ns/vclone.h"

int part_bind(const char *src, const char *dst)
{
	return (int)vcall(SYS_mount, (long)(uintptr_t)src, (long)(uintptr_t)dst, 0, MS_BIND, 0);
}

int part_mount(const char *type, const char *dst, unsigned flags, const char *options)
{
	return (int)vcall(SYS_mount, (long)(uintptr_t)type, (long)(uintptr_t)dst, (long)(uintptr_t)type, (long)flags,
			  (long)(uintptr_t)options);
}

static int set_attr(int fd, unsigned flags, const struct mount_attr *attr)
{
	static const char none[] = "";

	return (int)vcall(SYS_mount_setattr, fd, (long)(uintptr_t)none, (long)(AT_EMPTY_PATH | flags), (long)(uintptr_t)attr,
			  sizeof(*attr));
}

int part_flags(int fd, uint64_t attr_set)
{
	struct mount_attr attr = { .attr_set = attr_set, .propagation = MS_PRIVATE };
	struct mount_attr clear = { .attr_clr = MOUNT_ATTR_RDONLY };
	int r = set_attr(fd, AT_RECURSIVE, &attr);

	return r < 0 ? r : set_attr(fd, 0, &clear);
}

void mount_part_build(struct mnt_ctx *c, struct mnt_part *p, int (*fn)(struct mnt_ctx *))
{
	int r;

	p->what = "enter it";
	r = (int)vcall(SYS_fchdir, p->fd, 0, 0, 0, 0);
	p->result = r < 0 ? r : fn(c);
	atomic_store(&p->state, PART_DONE);
	(void)vcall(SYS_futex, (long)(uintptr_t)&p->state, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

void mount_part_wait(struct mnt_part *p)
{
	while (atomic_load(&p->state) == PART_TAKEN)
		(void)vcall(SYS_futex, (long)(uintptr_t)&p->state, FUTEX_WAIT_PRIVATE, PART_TAKEN, 0, 0);
}

static void build_offered(struct mnt_ctx *c, struct mnt_part *p, int (*fn)(struct mnt_ctx *))
{
	int offered = PART_OFFERED;

	if (atomic_compare_exchange_strong(&p->state, &offered, PART_TAKEN))
		mount_part_build(c, p, fn);
}

void mount_parts(struct mnt_ctx *c)
{
	mount_etc_rows(c);
	build_offered(c, &c->dev, mount_dev_fill);	/* first: it is waited for */
	build_offered(c, &c->proc, mount_proc_covers);
}

static void tell(struct mnt_ctx *c)
{
	(void)vcall(SYS_futex, (long)(uintptr_t)&c->offers, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

void mount_say_offer(struct mnt_ctx *c)
{
	atomic_fetch_add(&c->offers, 2);
	tell(c);
}

void mount_part_offer(struct mnt_ctx *c, struct mnt_part *p)
{
	atomic_store(&p->state, PART_OFFERED);
	mount_say_offer(c);
}

void mount_parts_end(struct mnt_ctx *c)
{
	if ((atomic_fetch_or(&c->offers, 1) & 1) == 0)
		tell(c);
}

static void build_all(struct mnt_ctx *c)
{
	for (;;) {
		int seen = atomic_load(&c->offers);

		mount_parts(c);
		if (seen & 1)
			return;
		(void)vcall(SYS_futex, (long)(uintptr_t)&c->offers, FUTEX_WAIT_PRIVATE, seen, 0, 0);
	}
}

void mount_parts_beside(struct mnt_ctx *c)
{
	int old;

	build_all(c);
	while ((old = atomic_load(&c->old)) == OLD_STAYS)
		(void)vcall(SYS_futex, (long)(uintptr_t)&c->old, FUTEX_WAIT_PRIVATE, OLD_STAYS, 0, 0);
	if (old == OLD_DETACH)
		c->detached = part_detach_old(c);
}

int part_detach_old(const struct mnt_ctx *c)
{
	static const char here[] = ".";
	int r = (int)vcall(SYS_fchdir, c->root, 0, 0, 0, 0);

	return r < 0 ? r : (int)vcall(SYS_umount2, (long)(uintptr_t)here, MNT_DETACH, 0, 0, 0);
}

void mount_say_old(struct mnt_ctx *c, int old)
{
	atomic_store(&c->old, old);
	if (c->beside)
		(void)vcall(SYS_futex, (long)(uintptr_t)&c->old, FUTEX_WAKE_PRIVATE, 1, 0, 0);
}

void mount_give_up(struct mnt_ctx *c)
{
	int stays = OLD_STAYS;

	mount_parts_end(c);
	if (atomic_compare_exchange_strong(&c->old, &stays, OLD_DONE))
		mount_say_old(c, OLD_DONE);
}
