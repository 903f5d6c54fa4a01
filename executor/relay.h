/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor's loop while a command runs: moves bytes, keeps time, passes signals on, and ends the tree.
 * Process: executor. Privilege: may signal its own sandbox.
 */
#ifndef AK_RELAY_H
#define AK_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "executor/ns/cgroup.h"

struct ak_err;
struct exec_opts;
struct observing;
struct plain;
struct relay_far;
struct streams;

enum run_status {
	RUN_EXITED,
	RUN_SIGNALED,
	RUN_TIMED_OUT,
	RUN_OOM_KILLED,		/* by the group's limit, an outer one (outer_oom), or our watcher */
	RUN_CPU_TIME,
	RUN_OUTPUT_CLOSED,
	RUN_DISK,		/* more was added than --disk allows */
	RUN_FAILED,		/* nothing was run, or its result is unknown */
};

/* bytes of one captured stream: head and tail, with what lies between counted and dropped */
struct capture {
	uint8_t *head;
	size_t head_len;
	uint8_t *tail;
	size_t tail_len;	/* already rotated into order */
	uint64_t total;		/* bytes the command wrote */
	uint64_t dropped;	/* total minus what is kept */
};

struct run_result {
	enum run_status status;
	int exit_code;		/* what ak exits with */
	int signal;		/* of the command's death, or of ak's own end (RUN_SIGNALED); 0 */
	bool interrupted;	/* ak itself got SIGINT, SIGTERM or SIGHUP */
	uint64_t start_ns, end_ns;	/* the command, CLOCK_MONOTONIC; 0 when it never ran */
	struct rusage usage;	/* of init and everything it reaped: the whole tree */
	uint64_t mem_peak_bytes;	/* of the tree as sampled by the watcher; 0: not sampled */
	uint32_t pids_peak;	/* as sampled; 0: not sampled */
	bool memory_hit, cpu_time_hit, timeout_hit;
	bool disk_hit;
	bool pids_hit, cpus_hit;	/* as the group tells; false without one */
	bool grouped;		/* @group was read */
	struct cgroup_usage group;
	bool tree_left;		/* without namespaces: something of the tree may still run */
	bool outer_oom;		/* killed for want of memory, but not by our limit */
	char outer_path[256];	/* the group whose limit it was; "": not known, or the host's own memory */
	struct capture out[2];	/* stdout, stderr; total and dropped are set in every relayed mode */
	bool counted[2];	/* total is known (false when the descriptor was passed) */
	/* FAILED from the set-up child or init */
	unsigned fail_stage;	/* enum init_stage; 0 */
	int fail_code;
	char fail_text[1024];
	char fail_hint[512];
};

struct relay_sandbox {
	int pidfd;		/* of init; borrowed */
	int pid;		/* for /proc reads only, never to signal */
	int ctl;		/* our end of the control socket; borrowed */
	const struct cgroup *group;	/* that init and the command are in; borrowed; NULL: none */
	const int *alarm;	/* descriptor that is readable once the changes of a cow run pass --disk; borrowed; NULL: none */
	bool watch_memory;	/* no group holds the memory limit: sample it */
	struct observing *observing;	/* refused calls are answered and counted here; borrowed; NULL: they are not observed */
	const struct plain *plain;	/* without namespaces: the tree does not die with init; borrowed; NULL else */
	bool warden;		/* pidfd is a warden's (executor/warden.h), which is told to end the tree before it is ended itself */
	const bool *timed_out;	/* with a warden: set when it has ended the command for its time; borrowed; NULL: the relay keeps that */
	struct relay_far *far;	/* a command that another executor runs: the others are not used then; borrowed; else NULL */
};

/**
 * relay_run() - drive one running sandbox to its end
 * @sb:		the sandbox: init has been started
 * @st:		streams; child ends are already closed on our side
 * @signal_fd:	signalfd with SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP?, which the caller has blocked; borrowed
 * @ret:	filled; release with run_result_release()
 *
 * For a far command time and limits are its executor's, and its end is what the executor says.
 * Returns when init has been waited for (waitid on the pidfd), every byte the command wrote has been moved or counted,
 * and nothing of the sandbox is left. Never blocks for ever on a reader or writer that does nothing once the tree is dead
 * and kill_after_ms has passed.
 * Return: 0 (whatever happened to the command is in @ret) or negative errno when the loop itself could not work.
 */
int relay_run(const struct relay_sandbox *sb, const struct exec_opts *o, struct streams *st, int signal_fd,
	      struct run_result *ret, struct ak_err *err);

/** run_result_release() - free what was captured; safe twice */
void run_result_release(struct run_result *r);

#endif
