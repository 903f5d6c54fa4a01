/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --disk: bytes that a command may add, over all places that it can write to. Process: executor. Privilege: none.
 *
 * Private file systems are in memory and have a size each; their sizes are lowered until the sum fits. What is written to the
 * host's own disk is not counted by anybody without a quota of the file system, so that a writable workspace or bind is refused. The
 * upper layer of a cow run is ak's own: it is measured while the run goes on (executor/cow.h), and private file systems get half.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/resource.h>

#include "executor/plan_priv.h"

#define SHARE_MIN 65536u	/* a private file system with less than that is of no use */
#define PAGE_BYTES 4096u	/* tmpfs counts in pages */

static bool is_private(const struct plan_mount *m)
{
	return (m->kind == PM_TMPFS && !(m->flags & PMF_RO)) || m->kind == PM_DEV;
}

static int no_disk(struct plan_ctx *c)
{
	const struct plan *p = c->p;

	for (size_t i = 0; i < p->nmounts; i++) {
		const struct plan_mount *m = &p->mounts[i];

		if (m->kind != PM_BIND || !(m->flags & (PMF_USER | PMF_WORKSPACE)) || (m->flags & (PMF_RO | PMF_COW)))
			continue;
		(void)ak_err_set(c->err, EOPNOTSUPP, "--disk: %s%.200s is written to on the host's disk, where nothing counts the bytes",
				 m->flags & PMF_WORKSPACE ? "the workspace " : "", m->dst);
		ak_err_hint(c->err, "give --write none or cow, and no --rw; --fsize SIZE bounds each file");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int nested_disk(struct plan_ctx *c)
{
	(void)ak_err_set(c->err, EOPNOTSUPP, "--disk: with --nesting a command can mount private file systems of its own, which nothing counts");
	ak_err_hint(c->err, "leave one of the two out; --memory bounds what is in memory, where a cgroup holds it");
	return -EOPNOTSUPP;
}

/* bytes that are fixed (asked for by size) and those that may be lowered */
static void add_up(const struct plan *p, uint64_t *ret_fixed, uint64_t *ret_free)
{
	uint64_t sum[2] = { 0, p->root == PLAN_ROOT_OVERLAY ? p->root_size_bytes : 0 };

	for (size_t i = 0; i < p->nmounts; i++) {
		const struct plan_mount *m = &p->mounts[i];
		uint64_t *to = &sum[m->flags & PMF_SIZED ? 0 : 1];

		if (is_private(m))
			*to = m->size_bytes > UINT64_MAX - *to ? UINT64_MAX : *to + m->size_bytes;
	}
	*ret_fixed = sum[0];
	*ret_free = sum[1];
}

/* @size as a part of @whole, of what is @left; in pages */
static uint64_t part(uint64_t size, uint64_t whole, uint64_t left)
{
	uint64_t v = (uint64_t)((__uint128_t)size * left / whole);

	return v - v % PAGE_BYTES;
}

/* what the private file systems leave; no single file may pass it either, so that one write cannot go far beyond before it is seen */
static int layer_share(struct plan_ctx *c, uint64_t disk)
{
	uint64_t fixed, other;

	add_up(c->p, &fixed, &other);
	c->p->cow_disk_bytes = disk - fixed - other;
	if (c->o->fsize_bytes && c->o->fsize_bytes <= c->p->cow_disk_bytes)
		return 0;
	for (size_t i = 0; i < c->p->nrlimits; i++) {
		if (c->p->rlimits[i].resource == RLIMIT_FSIZE) {
			c->p->rlimits[i].soft = c->p->rlimits[i].hard = c->p->cow_disk_bytes;
			return 0;
		}
	}
	return plan_rlimit(c->p, &(struct wanted){RLIMIT_FSIZE, c->p->cow_disk_bytes, c->p->cow_disk_bytes, NULL}, c->err);
}

/* @times: the private file systems get one part in so many; @least: size of the smallest of them */
static int too_small(struct plan_ctx *c, uint64_t fixed, uint64_t can_shrink, uint64_t least, unsigned times)
{
	/* each keeps its share, down to where the smallest has SHARE_MIN */
	uint64_t need = fixed + (least ? (uint64_t)((__uint128_t)(SHARE_MIN + PAGE_BYTES) * can_shrink / least) : 0);
	uint64_t mib = (need * times + (1u << 20) - 1) >> 20;

	(void)ak_err_set(c->err, EINVAL, "--disk %" PRIu64 ": too small for the private file systems%s", c->o->disk_bytes,
			 times > 1 ? ", which get half of it" : "");
	ak_err_hint(c->err, fixed ? "give %" PRIu64 "m or more, or smaller --tmpfs sizes (%" PRIu64 " bytes were asked for)"
				  : "give %" PRIu64 "m or more", mib, fixed);
	return -EINVAL;
}

static void note_least(uint64_t *least, uint64_t bytes)
{
	if (bytes > 0 && (*least == 0 || bytes < *least))
		*least = bytes;
}

static int share_private(struct plan_ctx *c, uint64_t disk, unsigned times)
{
	struct plan *p = c->p;
	uint64_t fixed, can_shrink, least = 0;
	bool small = false;

	add_up(p, &fixed, &can_shrink);
	if (fixed <= disk && can_shrink <= disk - fixed)
		return 0;
	for (size_t i = 0; i < p->nmounts && fixed < disk; i++) {
		struct plan_mount *m = &p->mounts[i];

		if (!is_private(m) || (m->flags & PMF_SIZED))
			continue;
		note_least(&least, m->size_bytes);
		m->size_bytes = part(m->size_bytes, can_shrink, disk - fixed);
		small = small || m->size_bytes < SHARE_MIN;
	}
	if (p->root == PLAN_ROOT_OVERLAY && fixed < disk) {
		note_least(&least, p->root_size_bytes);
		p->root_size_bytes = part(p->root_size_bytes, can_shrink, disk - fixed);
		small = small || p->root_size_bytes < SHARE_MIN;
	}
	if (fixed < disk && !small)
		return 0;
	return too_small(c, fixed, can_shrink, least, times);
}

int plan_disk(struct plan_ctx *c)
{
	uint64_t disk = c->o->disk_bytes;
	bool cow = c->o->write == WRITE_COW;
	int r = disk && c->p->nesting ? nested_disk(c) : disk ? no_disk(c) : 0;

	if (!disk || r < 0)
		return r;
	r = share_private(c, cow ? disk / 2 : disk, cow ? 2 : 1);
	return r == 0 && cow ? layer_share(c, disk) : r;
}
