/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fallback limits without cgroups: samples a sandbox's tree through /proc and says when a limit is passed.
 * Process: executor. Privilege: none (reads world-readable /proc files of its own descendants).
 *
 * What it does not see: memory that no process has mapped (files in a tmpfs, shared memory segments, pipe and socket buffers),
 * and what is taken and given back between two samples. Sized tmpfs mounts and rlimits bound these. CPU time of a process whose
 * parent ignores SIGCHLD is lost when it ends, as the kernel adds it to nobody.
 */
#ifndef AK_WATCH_H
#define AK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct cgroup;

struct watch {
	int root_pid;			/* init, as the host sees it */
	uint64_t mem_limit_bytes;	/* 0: not watched */
	uint64_t cpu_limit_ms;		/* 0: not watched */
	uint64_t mem_peak_bytes;
	uint64_t cpu_ms;		/* last seen total of the tree, reaped processes included */
	uint32_t pids_peak;		/* processes, init not counted */
	const struct cgroup *group;	/* tells the processor time of all that ever ran in it; borrowed; NULL: the tree is walked */
	bool no_children;		/* /proc/PID/task/TID/children is missing here (found by the first sample, or set by a test) */
};

enum watch_verdict { WATCH_OK, WATCH_MEMORY, WATCH_CPU };

#define WATCH_FIRST_MS 50u	/* first sample after the start: a short command is never sampled */
#define WATCH_MIN_MS 10u
#define WATCH_MAX_MS 250u
#define WATCH_PROCS_MAX 65536u	/* processes looked at in one sample */
#define WATCH_TASKS_MAX 262144u	/* threads whose children are looked up in one sample */

/**
 * watch_sample() - walk the tree once
 * @ret_next_ms:	when to look again: sooner when a limit is near
 * Memory is the resident size of every process with shared pages counted once as far as /proc tells (a cheap sum first, the
 * proportional size only when the sum passes the limit). A process that vanishes meanwhile is no error.
 */
enum watch_verdict watch_sample(struct watch *w, unsigned *ret_next_ms);

/**
 * watch_next_ms() - when a limit can be reached at the soonest
 * @mem_bytes:	memory of the tree now
 * @took_ms:	what the last sample took; sampling gets a tenth of the time at most
 * Return: WATCH_MIN_MS to WATCH_MAX_MS.
 */
unsigned watch_next_ms(const struct watch *w, uint64_t mem_bytes, uint64_t took_ms);

#endif
