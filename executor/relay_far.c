/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relay's other end is an executor that runs the command. Process: `ak exec --in`. Privilege: none.
 *
 * The executor keeps the time and the limits and says how the command ended; this side moves bytes and passes on what the
 * caller wants. An executor that is gone, or does not answer a kill, is not waited for: closing the connection ends the
 * command as soon as the executor can act.
 */
#include "executor/relay_far.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "executor/relay_priv.h"
#include "executor/shared/ak_fd.h"

#define US_PER_S 1000000u

void relay_far_release(struct relay_far *f)
{
	if (f->have_done)
		ak_done_release(&f->done);
	f->have_done = false;
}

static void lost(struct relay *r, const char *what)
{
	r->dead = true;
	relay_fail(r, CAUSE_BROKEN, ECONNRESET, "%s", what);
	relay_over(r);
}

void relay_far_signal(struct relay *r, int signo)
{
	struct relay_far *f = r->sb->far;

	/* before the start it is passed on by on_started(); refused means that the command has just ended */
	if (f->started && !r->dead)
		(void)ak_signal(f->cl, f->cmd, signo, NULL);
}

/* The first time the executor is asked, the second time it is given up */
void relay_far_kill(struct relay *r)
{
	struct relay_far *f = r->sb->far;

	if (r->killed) {
		lost(r, "the executor of the sandbox does not answer");
		return;
	}
	r->killed = true;
	relay_set(r, TIMER_KILL, RELAY_FAR_LOST_MS);
	if (f->started)
		(void)ak_kill(f->cl, f->cmd, NULL);
}

static void on_started(struct relay *r, struct ak_event *ev)
{
	struct relay_far *f = r->sb->far;

	f->started = true;
	f->cmd = ev->cmd;
	if (ev->pty >= 0)
		relay_take_pty(r, &ev->pty);
	if (r->killed)
		(void)ak_kill(f->cl, f->cmd, NULL);
	else if (r->cause == CAUSE_SIGNAL)
		relay_far_signal(r, r->first_signal);
}

static void on_done(struct relay *r, struct ak_event *ev)
{
	struct relay_far *f = r->sb->far;

	f->done = ev->done;
	f->have_done = true;
	ev->done = (struct ak_done){ 0 };
	r->exited = f->done.r.stage == AK_STAGE_NONE;
	r->failed = !r->exited;
	r->wstatus = f->done.r.signal ? W_EXITCODE(0, (int)f->done.r.signal) : W_EXITCODE((int)f->done.r.exit_code, 0);
	r->dead = true;
	relay_over(r);
}

static void on_refused(struct relay *r, const struct ak_event *ev)
{
	struct run_result *ret = r->ret;

	r->failed = true;
	r->fail_exit_code = 125;
	ret->fail_stage = AK_STAGE_SETUP;
	ret->fail_code = ev->err.code;
	(void)snprintf(ret->fail_text, sizeof(ret->fail_text), "%s", ev->err.msg);
	(void)snprintf(ret->fail_hint, sizeof(ret->fail_hint), "%s", ev->err.hint);
	r->dead = true;
	relay_over(r);
}

void relay_far_receive(struct relay *r)
{
	struct relay_far *f = r->sb->far;
	struct ak_event ev;

	while (!r->dead) {
		int n = ak_next(f->cl, &ev, 0, NULL);

		if (n == 0)
			return;
		if (n < 0) {
			lost(r, "the executor of the sandbox is gone");
			return;
		}
		if (ev.tag == f->tag && ev.type == AK_EVENT_STARTED && !f->started)
			on_started(r, &ev);
		else if (ev.tag == f->tag && ev.type == AK_EVENT_DONE)
			on_done(r, &ev);
		else if (ev.tag == f->tag && ev.type == AK_EVENT_REFUSED)
			on_refused(r, &ev);
		ak_event_release(&ev);
	}
}

static const enum run_status statuses[AK_STATUS_END] = {
	[AK_STATUS_EXITED] = RUN_EXITED,	 [AK_STATUS_SIGNALED] = RUN_SIGNALED,
	[AK_STATUS_TIMED_OUT] = RUN_TIMED_OUT,	 [AK_STATUS_OOM_KILLED] = RUN_OOM_KILLED,
	[AK_STATUS_CPU_TIME] = RUN_CPU_TIME,	 [AK_STATUS_OUTPUT_CLOSED] = RUN_OUTPUT_CLOSED,
	[AK_STATUS_FAILED] = RUN_FAILED,
};

static struct timeval as_timeval(uint64_t us)
{
	return (struct timeval){ .tv_sec = (time_t)(us / US_PER_S), .tv_usec = (suseconds_t)(us % US_PER_S) };
}

/* What the executor says is the result; called when ak did not end the command itself */
void relay_far_end(struct relay *r)
{
	const struct relay_far *f = r->sb->far;
	struct run_result *ret = r->ret;
	const struct ak_result *d = &f->done.r;

	if (!f->have_done) {	/* refused */
		ret->status = RUN_FAILED;
		ret->exit_code = 125;
		return;
	}
	ret->status = d->status < AK_STATUS_END ? statuses[d->status] : RUN_FAILED;
	ret->exit_code = (int)d->exit_code;
	ret->signal = (int)d->signal;
	if (d->stage == AK_STAGE_NONE)
		return;
	ret->fail_stage = d->stage;
	ret->fail_code = (int)d->err;
	(void)snprintf(ret->fail_text, sizeof(ret->fail_text), "%s", d->text);
	(void)snprintf(ret->fail_hint, sizeof(ret->fail_hint), "%s", d->hint);
}

/* Times and usage, whoever brought the end about */
void relay_far_used(struct relay *r)
{
	const struct relay_far *f = r->sb->far;
	struct run_result *ret = r->ret;
	const struct ak_result *d = &f->done.r;

	ret->start_ns = ret->end_ns = 0;
	if (!f->have_done)
		return;
	ret->usage.ru_utime = as_timeval(d->user_us);
	ret->usage.ru_stime = as_timeval(d->system_us);
	ret->mem_peak_bytes = d->memory_peak_bytes;
	ret->pids_peak = d->pids_peak;
	ret->timeout_hit = d->limit[AK_LIMIT_TIMEOUT].hit == AK_HIT_YES;
	ret->memory_hit = d->limit[AK_LIMIT_MEMORY].hit == AK_HIT_YES;
	ret->cpu_time_hit = d->limit[AK_LIMIT_CPU_TIME].hit == AK_HIT_YES;
	if (d->duration_ns > 0) {
		ret->start_ns = r->start_ns + d->setup_ns;
		ret->end_ns = ret->start_ns + d->duration_ns;
	}
}
