/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup of ours: made, limited, read, killed, removed. Process: executor. Privilege: to write in the place it is made in.
 *
 * `ak exec` has one group, which holds ak-init and the command. A sandbox that stays has a group that holds no process and
 * one group below it for init and for each command, so that a command can be out of memory without its init:
 *
 *	cgroup_make(place, ..., &sandbox); cgroup_pass_down(&sandbox, ...); cgroup_make(sandbox.dir, ..., &command);
 *
 * Processes get into a group only by being born there (clone3 with CLONE_INTO_CGROUP and @dir): writing to cgroup.procs takes
 * 12-20 ms, as it waits for all processors.
 */
#ifndef AK_NS_CGROUP_H
#define AK_NS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct ak_err;

#define CGROUP_NAME_MAX 48

struct cgroup {
	int parent;		/* directory that it was made in; borrowed; -1 */
	int dir;		/* its own directory, locked: a run that finds it knows that its owner lives; owned; -1 */
	int kill;		/* cgroup.kill, open for writing; owned; -1: the kernel has none (before 5.14) */
	int freeze;		/* cgroup.freeze, the same; only without @kill */
	uint32_t have;		/* enum cgroup_ctl: controllers that act on it */
	char name[CGROUP_NAME_MAX];
};

#define CGROUP_NONE { .parent = -1, .dir = -1, .kill = -1, .freeze = -1 }

/* 0: not limited */
struct cgroup_limits {
	uint64_t memory_bytes;
	uint64_t pids;
	uint64_t cpu_milli;
};

/* what a group has used, and what happened in it */
struct cgroup_usage {
	bool cpu, memory, pids;		/* known? */
	uint64_t cpu_user_us, cpu_system_us, cpu_total_us;
	uint64_t memory_peak_bytes;
	uint64_t pids_peak;
	uint64_t throttled;		/* periods in which the processor share was used up */
	uint64_t pids_refused;		/* forks refused by the limit of this very group */
	uint64_t oom_kills;		/* processes killed for want of memory, whoever's limit it was */
	bool oom_own;			/* the limit of this very group was hit */
};

/**
 * cgroup_make() - a new group with limits, still empty
 * @parent:	directory descriptor; borrowed as long as the group lives
 * @have:	controllers that @parent passes down
 * @l:		limits to set; those of controllers not in @have are left out. Swap is 0 with a memory limit, and all that is in the
 *		group dies together when it is out of memory (memory.oom.group)
 *
 * The name is `ak-PID-RANDOM`; the directory is locked (flock), which tells the living from leftovers (cgroup_sweep()).
 * Return: 0; -EACCES or -EPERM (no right to make groups here), -EROFS, -EAGAIN (cgroup.max.descendants or max.depth),
 * -ENODEV (the parent was removed), -EINVAL (a limit is not accepted). Nothing is left behind on failure.
 */
int cgroup_make(int parent, uint32_t have, const struct cgroup_limits *l, struct cgroup *ret, struct ak_err *err);

/**
 * cgroup_limit() - set limits of a group; those of controllers that it does not have are left out
 * Return: 0; the errno of the write (-EINVAL, -EACCES, -ENOENT: a controller was taken away) with the file named in @err.
 */
int cgroup_limit(const struct cgroup *g, const struct cgroup_limits *l, struct ak_err *err);

/**
 * cgroup_pass_down() - let groups below @dir have controllers
 * @want:	enum cgroup_ctl
 * Return: the controllers they have now; what is missing is in @err (may be NULL) as the last errno and its text.
 */
uint32_t cgroup_pass_down(int dir, uint32_t want, struct ak_err *err);

/**
 * cgroup_kill() - kill every process in the group and below, stopped and frozen ones too
 * Without cgroup.kill: freezes the group and kills one by one until the list is empty (a second at most).
 * Return: 0 or negative errno.
 */
int cgroup_kill(const struct cgroup *g);

/**
 * cgroup_remove() - remove the group; kills what is left in it first
 * Waits two seconds at most for the last process to be gone. @g is closed in any case.
 * Return: 0 (also when it was gone already), -EBUSY, -EACCES (root mode after privs_enter(): the keeper does it).
 */
int cgroup_remove(struct cgroup *g);

/** cgroup_close() - close the descriptors and leave the group where it is */
void cgroup_close(struct cgroup *g);

/** cgroup_usage() - read what was used; what the kernel does not tell is left 0 and unknown */
void cgroup_usage(const struct cgroup *g, struct cgroup_usage *ret);

/** cgroup_cpu_us() - processor time of all that ever ran in the group. Return: 0 or negative errno. */
int cgroup_cpu_us(const struct cgroup *g, uint64_t *ret_us);

/** cgroup_empty() - no process in the group and below? false when that cannot be told */
bool cgroup_empty(const struct cgroup *g);

/**
 * cgroup_outer_oom() - the group above @g whose memory limit was hit
 * @ret_path:	filled with its path below the mount as far as it can be told
 * Looks at memory.events.local of the groups above, the nearest first.
 * Return: true when there is one with a limit and a hit; false: none is seen, so the host itself may have been out of memory.
 */
bool cgroup_outer_oom(const struct cgroup *g, char *ret_path, unsigned long size);

/**
 * cgroup_sweep() - remove groups that runs which were killed have left in a place
 * Only names of ours whose lock nobody holds, a bounded number of them. Never fails: what cannot be removed stays.
 */
void cgroup_sweep(int place);

#endif
