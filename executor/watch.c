/* SPDX-License-Identifier: Apache-2.0 */
/* Samples memory, CPU time and processes of a tree and judges them. Process: executor. Privilege: none. */
#include "executor/shared/ak_clock.h"
#include "executor/watch.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "executor/ns/cgroup.h"
#include "executor/watch_tree.h"

#define FILL_BYTES_PER_MS (4u << 20)	/* how fast a busy machine can touch new memory: 4 GiB/s */
#define WATCH_SHARE 10u			/* a sample takes at most one part in ten of the time */

static uint64_t now_ms(void)
{
	return ak_now_ns() / 1000000;
}

/*
 * Resident bytes of a process in which a page shared by n processes counts 1/n; what is private to it where
 * that is not told
 */
static uint64_t proportional_bytes(const struct tree_proc *p, uint64_t page)
{
	char buf[2048];
	size_t n = tree_read_file(p->pid, "smaps_rollup", buf, sizeof(buf));
	const char *s = n ? strstr(buf, "\nPss:") : NULL;
	uint64_t kib = 0;

	if (s) {
		for (s += 5; *s == ' '; s++)
			;
		for (; *s >= '0' && *s <= '9'; s++)
			kib = kib * 10 + (uint64_t)(*s - '0');
		return kib * 1024;
	}
	return p->rss_pages > p->shared_pages ? (p->rss_pages - p->shared_pages) * page : 0;
}

static uint64_t tree_bytes(const struct tree *t, uint64_t limit)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), sum = 0, pss = 0;

	for (size_t i = 0; i < t->n; i++)
		sum += t->v[i].rss_pages * page;
	if (limit == 0 || sum <= limit)
		return sum;
	for (size_t i = 0; i < t->n; i++)
		pss += proportional_bytes(&t->v[i], page);
	return pss < sum ? pss : sum;
}

static unsigned cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 8;	/* more than the set holds: assume many, look more often */
	return (unsigned)CPU_COUNT(&set);
}

unsigned watch_next_ms(const struct watch *w, uint64_t mem_bytes, uint64_t took_ms)
{
	uint64_t next = WATCH_MAX_MS, t;

	if (w->mem_limit_bytes) {
		t = mem_bytes < w->mem_limit_bytes ? (w->mem_limit_bytes - mem_bytes) / FILL_BYTES_PER_MS : 0;
		next = t < next ? t : next;
	}
	if (w->cpu_limit_ms) {
		t = w->cpu_ms < w->cpu_limit_ms ? (w->cpu_limit_ms - w->cpu_ms) / cpus() : 0;
		next = t < next ? t : next;
	}
	if (next < WATCH_MIN_MS)
		next = WATCH_MIN_MS;
	if (next < took_ms * WATCH_SHARE)
		next = took_ms * WATCH_SHARE;
	return (unsigned)(next < WATCH_MAX_MS ? next : WATCH_MAX_MS);
}

/* walk the tree. Return: its memory; its processor time goes to *@ret_cpu_ms */
static uint64_t sample_tree(struct watch *w, uint64_t *ret_cpu_ms)
{
	uint64_t ticks = 0, mem;
	struct tree t;

	tree_read(&t, w->root_pid, &w->no_children);
	mem = tree_bytes(&t, w->mem_limit_bytes);
	for (size_t i = 0; i < t.n; i++)
		ticks += t.v[i].ticks;
	*ret_cpu_ms = ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
	if (t.n > 0 && t.n - 1 > w->pids_peak)
		w->pids_peak = (uint32_t)(t.n - 1);
	tree_release(&t);
	return mem;
}

enum watch_verdict watch_sample(struct watch *w, unsigned *ret_next_ms)
{
	uint64_t start = now_ms(), mem = 0, cpu = 0, us = 0;
	bool told = w->group && cgroup_cpu_us(w->group, &us) == 0;

	if (!told || w->mem_limit_bytes)
		mem = sample_tree(w, &cpu);
	if (told)
		cpu = us / 1000;
	if (mem > w->mem_peak_bytes)
		w->mem_peak_bytes = mem;
	if (cpu > w->cpu_ms)	/* a child between its end and its parent's wait is seen by neither */
		w->cpu_ms = cpu;
	*ret_next_ms = watch_next_ms(w, mem, now_ms() - start);
	if (w->mem_limit_bytes && mem > w->mem_limit_bytes)
		return WATCH_MEMORY;
	return w->cpu_limit_ms && w->cpu_ms >= w->cpu_limit_ms ? WATCH_CPU : WATCH_OK;
}
