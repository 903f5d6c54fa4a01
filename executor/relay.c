/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop while a command runs. Process: executor. Privilege: may signal its own sandbox.
 *
 * poll(2) over at most nine descriptors, set up anew each turn: there is nothing to register and to undo,
 * files count as ready, and a descriptor nobody waits for is simply not asked. Each turn does one bounded
 * step per stream, so signals, timers and the other stream are never behind a busy one.
 */
#include "executor/relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/observing.h"
#include "executor/relay_far.h"
#include "executor/relay_priv.h"
#include "executor/shared/ak_fd.h"

enum slot {
	SLOT_SIGNAL,
	SLOT_CTL,
	SLOT_INIT,
	SLOT_WATCH,	/* the caller's stdout, for its reader going away */
	SLOT_OUT,
	SLOT_ERR,
	SLOT_IN,
	SLOT_IN_PIPE,
	SLOT_DENIALS,	/* calls that wait for their refusal */
	SLOT_ALARM,
	SLOT_COUNT
};

static void start_watch(struct relay *r)
{
	r->watch = (struct watch){
		.root_pid = r->sb->pid,
		.mem_limit_bytes = r->sb->watch_memory && !r->o->memory_bytes.max ? r->o->memory_bytes.value : 0,
		.cpu_limit_ms = r->o->cpu_time_ms,
		.group = r->sb->group,
	};
	if (r->watch.mem_limit_bytes || r->watch.cpu_limit_ms)
		relay_set(r, TIMER_WATCH, WATCH_FIRST_MS);
}

static void start(struct relay *r)
{
	struct stream *s = r->st->s;

	r->start_ns = relay_now();
	r->ctl_open = true;
	r->watch_output = s[1].kind == STREAM_KIND_PIPE || s[1].kind == STREAM_KIND_SOCK ||
			  s[1].kind == STREAM_KIND_TTY;
	if (r->o->timeout_ms && !r->sb->far)
		relay_set(r, TIMER_TIMEOUT, r->o->timeout_ms);
	if (!r->sb->far)
		start_watch(r);
	if (s[0].mode == STREAM_RELAY)
		intake_start(r, &s[0].inner);
	for (unsigned i = 0; i < 2; i++) {
		struct stream *x = &s[i + 1];

		if (x->mode == STREAM_CAPTURE || (x->mode == STREAM_RELAY && !x->merged))
			pump_start(r, i, &x->inner);
		r->ret->counted[i] = r->out[i].active;
	}
	if (s[1].mode == STREAM_PTY)
		/* the pump starts when the pty arrives; stderr goes the same way */
		r->ret->counted[0] = true;
}

/* The pty may end without an event: once the tree is dead it is read until it says so itself */
static bool read_unasked(const struct pump *p)
{
	return p->active && p->last && p->pty && p->off == p->len && !p->blocked;
}

static int ctl_fd(const struct relay *r)
{
	return r->sb->far ? ak_poll_fd(r->sb->far->cl) : r->sb->ctl;
}

/* A message that was read along with an answer is not told of by poll */
static bool pending(const struct relay *r)
{
	return r->ctl_open && r->sb->far && ak_pending(r->sb->far->cl);
}

static void wanted(struct relay *r, struct pollfd fds[SLOT_COUNT])
{
	fds[SLOT_SIGNAL] = (struct pollfd){ .fd = r->signal_fd, .events = POLLIN };
	fds[SLOT_CTL] = (struct pollfd){ .fd = r->ctl_open ? ctl_fd(r) : -1, .events = POLLIN };
	fds[SLOT_INIT] = (struct pollfd){ .fd = r->dead || r->sb->far ? -1 : r->sb->pidfd, .events = POLLIN };
	/* errors are told unasked */
	fds[SLOT_WATCH] = (struct pollfd){ .fd = r->watch_output ? r->st->s[1].outer : -1, .events = 0 };
	pump_want(&r->out[0], &fds[SLOT_OUT]);
	pump_want(&r->out[1], &fds[SLOT_ERR]);
	intake_want(&r->in, &fds[SLOT_IN], &fds[SLOT_IN_PIPE]);
	fds[SLOT_DENIALS] = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (r->sb->observing && !r->at[TIMER_DENIALS])
		fds[SLOT_DENIALS].fd = r->sb->observing->denials.fd;
	/* once is enough */
	fds[SLOT_ALARM] = (struct pollfd){ .fd = r->sb->alarm && r->cause == CAUSE_NONE && !r->dead ? *r->sb->alarm : -1,
					   .events = POLLIN };
}

static int turn(struct relay *r, struct ak_err *err)
{
	struct pollfd fds[SLOT_COUNT];
	struct timespec wait = { 0 };
	bool unasked = read_unasked(&r->out[0]), told = pending(r);
	int n;

	wanted(r, fds);
	n = ppoll(fds, SLOT_COUNT, unasked || told || relay_wait_time(r, &wait) ? &wait : NULL, NULL);
	if (n < 0)
		return errno == EINTR ? 0 : ak_err_sys(err, errno, "wait for events");
	if (told)
		fds[SLOT_CTL].revents |= POLLIN;
	if (unasked)
		fds[SLOT_OUT].revents |= POLLIN;
	if (fds[SLOT_SIGNAL].revents)
		relay_read_signals(r);
	if (fds[SLOT_CTL].revents)
		relay_receive(r);
	if (fds[SLOT_WATCH].revents & (POLLERR | POLLHUP))
		relay_output_gone(r, &r->out[0]);
	pump_ready(r, &r->out[0], fds[SLOT_OUT].revents);
	pump_ready(r, &r->out[1], fds[SLOT_ERR].revents);
	intake_ready(r, fds[SLOT_IN].revents, fds[SLOT_IN_PIPE].revents);
	if (fds[SLOT_DENIALS].revents) {
		denials_ready(&r->sb->observing->denials, fds[SLOT_DENIALS].revents);
		r->at[TIMER_DENIALS] = r->sb->observing->denials.rest_ns;
	}
	if (fds[SLOT_ALARM].revents & POLLIN)
		relay_end(r, CAUSE_DISK);
	relay_expire(r);
	return fds[SLOT_INIT].revents ? relay_reap(r, err) : 0;
}

static bool finished(const struct relay *r)
{
	return r->dead && !r->out[0].active && !r->out[1].active;
}

int relay_run(const struct relay_sandbox *sb, const struct exec_opts *o, struct streams *st, int signal_fd,
	      struct run_result *ret, struct ak_err *err)
{
	struct relay r = {
		.sb = sb, .o = o, .st = st, .signal_fd = signal_fd, .ret = ret,
		.pty = -1, .tty = TTY_STATE_NONE,
	};
	int e = 0;

	*ret = (struct run_result){ 0 };
	start(&r);
	while (e == 0 && !finished(&r))
		e = turn(&r, err);
	tty_restore(&r.tty);
	if (e < 0 && !r.dead) {	/* the loop cannot work: nothing may stay behind */
		relay_kill(&r);
		if (!sb->far)
			(void)relay_reap(&r, NULL);
	}
	intake_finish(&r);
	for (int i = 0; i < 2; i++) {
		pump_finish(&r.out[i], &ret->out[i]);
		pump_release(&r.out[i]);
	}
	ak_fd_close(&r.pty);
	if (e == 0)
		relay_result(&r);
	return e;
}

void run_result_release(struct run_result *r)
{
	for (int i = 0; i < 2; i++) {
		free(r->out[i].head);
		free(r->out[i].tail);
		r->out[i] = (struct capture){ 0 };
	}
}
