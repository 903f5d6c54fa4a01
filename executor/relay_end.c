/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the tree and says how it ended. Process: executor. Privilege: may signal its own sandbox. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/cgroup_place.h"
#include "executor/plain.h"
#include "executor/relay_far.h"
#include "executor/relay_priv.h"
#include "executor/shared/ak_fd.h"

/* Its warden is told, once, and gets the time that this may take; killed itself, it could leave something behind */
static void kill_by_warden(struct relay *r)
{
	if (r->killed)
		return;
	r->killed = true;
	relay_send_signal(r, SIGKILL);
	relay_set(r, TIMER_KILL, RELAY_WARDEN_END_MS);
}

/*
 * All that is in the group; then SIGKILL to pid 1 of the sandbox, by which the kernel ends every process of its pid namespace,
 * stopped ones too
 */
void relay_kill(struct relay *r)
{
	bool waiting = r->at[TIMER_KILL] != 0;

	if (r->sb->warden && !r->dead && (!r->killed || waiting)) {
		kill_by_warden(r);
		return;
	}
	r->at[TIMER_KILL] = 0;
	if (r->dead)
		return;
	if (r->sb->far) {
		relay_far_kill(r);
		return;
	}
	r->killed = true;
	if (r->sb->group)
		(void)cgroup_kill(r->sb->group);
	/* the kernel would end init alone: its part of the tree is ended by itself, and by us if it does not */
	if (r->sb->plain && !r->asked) {
		r->asked = true;
		(void)shutdown(r->sb->ctl, SHUT_WR);
		relay_set(r, TIMER_KILL, RELAY_PLAIN_MS);
		return;
	}
	if (syscall(SYS_pidfd_send_signal, r->sb->pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
		/* end of file means to init that we are gone: it ends by itself */
		(void)shutdown(r->sb->ctl, SHUT_RDWR);
}

/*
 * ak ends the tree: kindly for a timeout and a signal, at once for the rest. Only the first cause counts, and
 * none but a signal after the command has ended by itself: then only readers of its output are still waited
 * for.
 */
void relay_end(struct relay *r, enum relay_cause cause)
{
	bool over = r->dead || r->exited || r->failed;

	if (r->cause != CAUSE_NONE ||
	    (over && cause != CAUSE_SIGNAL && cause != CAUSE_IO && cause != CAUSE_BROKEN))
		return;
	r->cause = cause;
	r->at[TIMER_TIMEOUT] = r->at[TIMER_WATCH] = r->at[TIMER_OUTPUT] = 0;
	if (cause == CAUSE_TIMEOUT || cause == CAUSE_SIGNAL) {
		relay_send_signal(r, cause == CAUSE_TIMEOUT ? SIGTERM : r->first_signal);
		if (!over)
			relay_set(r, TIMER_KILL, r->o->kill_after_ms);
		relay_set(r, TIMER_GIVEUP, r->o->kill_after_ms < UINT64_MAX - RELAY_GIVEUP_MS ?
			  r->o->kill_after_ms + RELAY_GIVEUP_MS : UINT64_MAX);
		return;
	}
	relay_kill(r);
	if (cause == CAUSE_OUTPUT)
		relay_set(r, TIMER_GIVEUP, RELAY_GIVEUP_MS);
}

void relay_fail(struct relay *r, enum relay_cause cause, int code, const char *fmt, ...)
{
	char text[256];
	struct ak_err err = { 0 };
	va_list ap;

	if (r->cause != CAUSE_NONE)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (cause == CAUSE_IO)
		(void)ak_err_sys(&err, code, "%s", text);
	else
		(void)ak_err_set(&err, code, "%s", text);
	r->ret->fail_stage = 0;
	r->ret->fail_code = code;
	(void)snprintf(r->ret->fail_text, sizeof(r->ret->fail_text), "%s", err.msg);
	r->ret->fail_hint[0] = '\0';
	relay_end(r, cause);
}

/*
 * Nobody reads standard output: the command is told by SIGPIPE as it would be without ak, and has a moment to
 * end by itself
 */
void relay_output_gone(struct relay *r, struct pump *p)
{
	r->watch_output = false;
	if (p && p->active && !p->pty && !p->capture) {
		p->gone = true;
		p->off = p->len = 0;
		p->active = false;
		ak_fd_close(p->inner);
	} else if (p && p->active && p->pty) {
		p->gone = true;
	}
	if (!r->dead && !r->exited && !r->failed && !r->at[TIMER_OUTPUT] && r->cause == CAUSE_NONE)
		relay_set(r, TIMER_OUTPUT, RELAY_OUTPUT_GRACE_MS);
}

/* init has ended; the raw call gives what the whole tree has used, as far as it was waited for */
int relay_reap(struct relay *r, struct ak_err *err)
{
	siginfo_t si = { 0 };
	long n;

	relay_receive(r);	/* what it said last is still there */
	do
		n = syscall(SYS_waitid, P_PIDFD, r->sb->pidfd, &si, WEXITED, &r->ret->usage);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return ak_err_sys(err, errno, "wait for the sandbox");
	r->dead = true;
	r->init_code = si.si_code;
	r->init_status = si.si_status;
	if (r->sb->plain && (si.si_code != CLD_EXITED || si.si_status != 0) && plain_kill(r->sb->plain) < 0)
		r->ret->tree_left = true;
	relay_over(r);
	return 0;
}

/* The tree is dead: nothing is waited for any more but what is still in the pipes */
void relay_over(struct relay *r)
{
	if (!r->end_ns)
		r->end_ns = relay_now();
	r->at[TIMER_TIMEOUT] = r->at[TIMER_WATCH] = r->at[TIMER_OUTPUT] = 0;
	r->at[TIMER_KILL] = r->at[TIMER_PTY] = 0;
	r->in.active = false;
	for (int i = 0; i < 2; i++)
		pump_last(&r->out[i]);
	if (r->sb->timed_out && *r->sb->timed_out && !r->at[TIMER_GIVEUP])
		relay_set(r, TIMER_GIVEUP, RELAY_GIVEUP_MS);
}

static void no_result(struct relay *r)
{
	struct run_result *ret = r->ret;
	const char *name = r->init_code == CLD_EXITED ? NULL : sigabbrev_np(r->init_status);
	char how[64] = "";

	if (r->init_code != CLD_EXITED && name)
		(void)snprintf(how, sizeof(how), ": its init was killed by SIG%s", name);
	else
		(void)snprintf(how, sizeof(how), r->init_code == CLD_EXITED ? ": its init exited with %d" :
			       ": its init was killed by signal %d", r->init_status);
	ret->fail_stage = INIT_STAGE_SETUP;
	ret->fail_code = ECHILD;
	(void)snprintf(ret->fail_text, sizeof(ret->fail_text), "the sandbox ended without a result%s", how);
}

/* The command's own end, when ak did not bring it about */
static void own_end(struct relay *r)
{
	struct run_result *ret = r->ret;

	if (r->sb->far)
		relay_far_end(r);
	else if (r->failed && r->fail_exit_code != 125) {
		ret->status = RUN_EXITED;
		ret->exit_code = (int)r->fail_exit_code;
	} else if (r->exited && !r->failed && WIFEXITED(r->wstatus)) {
		ret->status = RUN_EXITED;
		ret->exit_code = WEXITSTATUS(r->wstatus);
	} else if (r->exited && !r->failed && WIFSIGNALED(r->wstatus)) {
		ret->status = RUN_SIGNALED;
		ret->signal = WTERMSIG(r->wstatus);
		ret->exit_code = 128 + ret->signal;
	} else {
		if (!r->failed)
			no_result(r);
		ret->status = RUN_FAILED;
		ret->exit_code = 125;
	}
}

/* What ak's ending makes of the result: status, exit code, and whether the command's own signal is told */
static const struct {
	enum run_status status;
	int exit_code;
} ends[] = {
	[CAUSE_TIMEOUT] = { RUN_TIMED_OUT, 124 },
	[CAUSE_SIGNAL] = { RUN_SIGNALED, 128 },	/* and the signal's number */
	[CAUSE_OUTPUT] = { RUN_OUTPUT_CLOSED, 128 + SIGPIPE },
	[CAUSE_MEMORY] = { RUN_OOM_KILLED, 128 + SIGKILL },
	[CAUSE_CPU] = { RUN_CPU_TIME, 128 + SIGKILL },
	[CAUSE_DISK] = { RUN_DISK, 128 + SIGKILL },
	[CAUSE_BROKEN] = { RUN_FAILED, 125 },
	[CAUSE_IO] = { RUN_FAILED, 125 },
};

static void forced_end(struct relay *r)
{
	struct run_result *ret = r->ret;
	bool signaled = r->exited && WIFSIGNALED(r->wstatus);

	ret->status = ends[r->cause].status;
	ret->exit_code = ends[r->cause].exit_code;
	if (r->cause == CAUSE_SIGNAL) {
		ret->signal = r->first_signal;
		ret->exit_code += r->first_signal;
	} else if (ret->status != RUN_FAILED) {
		ret->signal = signaled ? WTERMSIG(r->wstatus) : !r->exited && (r->killed || r->cause == CAUSE_MEMORY) ? SIGKILL : 0;
	}
}

static uint64_t cpu_ms(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1000;
}

/* of the whole tree; the group also counts who was never waited for */
static uint64_t total_ms(const struct run_result *ret)
{
	return ret->grouped && ret->group.cpu ? ret->group.cpu_total_us / 1000 : cpu_ms(&ret->usage);
}

/*
 * Without a group: processes that die together with init are waited for by nobody, and only the watcher has seen their time. How
 * it divides is not known; it is counted as time of the program itself.
 */
static void add_watched(struct relay *r)
{
	struct rusage *u = &r->ret->usage;
	uint64_t known = cpu_ms(u), seen = r->watch.cpu_ms;

	if (r->ret->grouped && r->ret->group.cpu)
		return;
	if (seen <= known)
		return;
	seen = seen - known + (uint64_t)u->ru_utime.tv_usec / 1000;
	u->ru_utime.tv_sec += (time_t)(seen / 1000);
	u->ru_utime.tv_usec = (suseconds_t)(seen % 1000 * 1000);
}

/* what the group says: read while it is still there */
static void read_group(struct relay *r)
{
	struct run_result *ret = r->ret;
	const struct cgroup *g = r->sb->group;
	const struct exec_opts *o = r->o;

	if (!g)
		return;
	cgroup_usage(g, &ret->group);
	ret->grouped = true;
	ret->cpus_hit = (g->have & CGROUP_CPU) && ret->group.throttled > 0;
	/* an older kernel also counts forks that an outer limit refused: then the group was never full */
	ret->pids_hit = ret->group.pids_refused > 0 && !o->pids.max &&
			(!ret->group.pids || ret->group.pids_peak >= o->pids.value + 1);
}

/*
 * The kernel killed for want of memory, and the command's own end was that: all in the group dies at once, init too, so that
 * nobody may be left to tell. A command that lived on, or that ended with 137 by itself, was not killed.
 */
static void out_of_memory(struct relay *r)
{
	struct run_result *ret = r->ret;
	bool init_died = !r->exited && !r->failed && r->init_code != CLD_EXITED && r->init_status == SIGKILL;
	bool command_died = r->exited && WIFSIGNALED(r->wstatus) && WTERMSIG(r->wstatus) == SIGKILL;

	if (!ret->grouped || ret->group.oom_kills == 0 || r->killed || !(init_died || command_died))
		return;
	if (r->cause == CAUSE_NONE)
		r->cause = CAUSE_MEMORY;
	if (r->cause != CAUSE_MEMORY)
		return;
	ret->outer_oom = !ret->group.oom_own;
	if (ret->outer_oom)
		(void)cgroup_outer_oom(r->sb->group, ret->outer_path, sizeof(ret->outer_path));
}

void relay_result(struct relay *r)
{
	struct run_result *ret = r->ret;

	read_group(r);
	add_watched(r);
	out_of_memory(r);
	if (r->cause == CAUSE_NONE)
		own_end(r);
	else
		forced_end(r);
	/* a failure that came with it is not what counts */
	if (r->cause != CAUSE_NONE && ret->status != RUN_FAILED) {
		ret->fail_stage = 0;
		ret->fail_code = 0;
		ret->fail_text[0] = ret->fail_hint[0] = '\0';
	}
	ret->interrupted = r->first_signal != 0;
	ret->timeout_hit = r->cause == CAUSE_TIMEOUT;
	ret->memory_hit = r->cause == CAUSE_MEMORY && !ret->outer_oom;
	ret->disk_hit = r->cause == CAUSE_DISK;
	ret->cpu_time_hit = r->cause == CAUSE_CPU ||
			    (r->o->cpu_time_ms && total_ms(ret) >= r->o->cpu_time_ms);
	ret->mem_peak_bytes = r->watch.mem_peak_bytes;
	ret->pids_peak = r->watch.pids_peak;
	if (r->sb->far) {
		relay_far_used(r);
	} else if (r->failed || (ret->status == RUN_FAILED && !r->exited)) {
		ret->start_ns = ret->end_ns = 0;
	} else {
		if (!ret->start_ns)
			ret->start_ns = r->start_ns;
		ret->end_ns = r->end_ns;
	}
}
