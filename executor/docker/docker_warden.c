/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out one command in a container: makes the container, runs the command in it, keeps its time, passes on what the executor
 * wants, removes the container. Process: warden. Privilege: that of docker's socket, through the docker CLI.
 *
 * One thread. While a docker command runs, the runner's loop calls the hooks below; a hook that must ask docker something runs
 * another one meanwhile. Standard error of the command comes through here, since marks in it tell its begin and end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/docker/docker_session.h"
#include "executor/exec_run.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_weaken.h"
#include "executor/warden.h"

#define NS_PER_MS 1000000ull
#define WRITE_MAX 4096u			/* PIPE_BUF: what a pipe that says it is writable takes without waiting */
#define END_GRACE_MS 1000u		/* after the command's end, for its streams to end by themselves */
#define STUCK_MS 1500u			/* then, for a reader that takes nothing */
#define KILLED_GRACE_MS 5000u		/* after the container was killed, for the docker CLI to end */

uint64_t session_after_ms(uint64_t ms)
{
	uint64_t now = ak_now_ns();

	return ms < (UINT64_MAX - now) / NS_PER_MS ? now + ms * NS_PER_MS : UINT64_MAX;
}

/* ---- ends ---- */

static void kill_box(struct session *s)
{
	if (s->phase == PHASE_KILLED)
		return;
	s->phase = PHASE_KILLED;
	if (!s->end_ns)
		s->end_ns = ak_now_ns();
	docker_box_kill(&s->box);
	s->deadline_ns = session_after_ms(KILLED_GRACE_MS);
}

/*
 * While it is being made it cannot be killed, and whoever ends the docker CLI in the middle of `docker run` ends, with podman, the
 * engine: what that had started so far, nobody removes any more. So it is made, and removed.
 */
void session_unwanted(struct session *s)
{
	if (!s->cancelled && !s->box.started)
		s->deadline_ns = session_after_ms((uint64_t)DOCKER_UNWANTED_S * 1000);
	s->cancelled = true;
}

static void on_signal(struct session *s, int signo)
{
	const char *name = sigabbrev_np(signo);

	if (signo < 0 || signo == SIGKILL) {
		session_unwanted(s);
		if (s->box.started)
			kill_box(s);
	} else if (name && s->phase == PHASE_RUN) {
		docker_box_signal(&s->box, name);
	} else if (name && s->phase == PHASE_START) {
		s->early_signal = signo;	/* the command gets it when it is there */
	}
}

/* the executor said something. Return: false when it is gone */
bool session_readable(void *ctx)
{
	struct session *s = ctx;
	int signo = warden_message(s->w);

	if (signo)
		on_signal(s, signo);
	s->ctl_open = signo >= 0;
	return s->ctl_open;
}

uint64_t session_deadline(void *ctx)
{
	const struct session *s = ctx;

	return s->deadline_ns;
}

/* Return: false: the docker CLI is to be killed */
bool session_expired(void *ctx)
{
	struct session *s = ctx;

	switch (s->phase) {
	case PHASE_RUN:
		s->overdue = true;
		kill_box(s);
		return true;
	case PHASE_END:		/* what the command left holds its streams open */
		kill_box(s);
		return true;
	default:
		return false;
	}
}

/* while the container is being made: the only thing to look for is that it is not wanted any more */
static bool hook_start_expired(void *ctx)
{
	(void)ctx;
	return false;
}

/* ---- standard error ---- */

/* waits until descriptor 2 takes bytes; meanwhile time and the executor are looked at. Return: false: nobody will read them */
static bool writable(struct session *s)
{
	uint64_t patience = session_after_ms(STUCK_MS);

	while (!s->mute && (s->phase != PHASE_KILLED || ak_now_ns() < patience)) {
		struct pollfd p[2] = { { .fd = 2, .events = POLLOUT }, { .fd = s->ctl_open ? s->w->ctl : -1, .events = POLLIN } };
		uint64_t now = ak_now_ns();
		uint64_t until = s->phase == PHASE_KILLED && patience < s->deadline_ns ? patience : s->deadline_ns;
		uint64_t wait = until > now ? (until - now) / NS_PER_MS + 1 : 0;

		if (poll(p, 2, !s->deadline_ns ? -1 : wait < 3600000 ? (int)wait : 3600000) < 0 && errno != EINTR)
			return false;
		if (p[0].revents & (POLLERR | POLLNVAL))
			return false;
		if (p[0].revents & POLLOUT)
			return true;
		if (p[1].revents)
			(void)session_readable(s);
		if (s->deadline_ns && ak_now_ns() >= s->deadline_ns) {
			if (!session_expired(s))
				return false;
			patience = session_after_ms(STUCK_MS);
		}
	}
	return false;
}

void session_pass_on(struct session *s, const uint8_t *p, size_t n)
{
	while (n > 0 && !s->mute) {
		ssize_t w;

		if (!writable(s)) {
			s->mute = true;
			return;
		}
		w = write(2, p, n < WRITE_MAX ? n : WRITE_MAX);
		if (w < 0 && errno != EAGAIN && errno != EINTR)
			s->mute = true;
		if (w > 0) {
			p += w;
			n -= (size_t)w;
		}
	}
}

/* the command runs from now on: its time begins, and its variables have been read */
static void began(struct session *s)
{
	const struct exec_opts *o = s->d->opts;
	uint64_t grace = s->box.facts.has_timeout ? o->kill_after_ms : 0;

	s->start_ns = ak_now_ns();
	docker_files_read(&s->files);
	if (s->phase != PHASE_START)
		return;
	s->phase = PHASE_RUN;
	s->deadline_ns = 0;
	if (o->timeout_ms)
		s->deadline_ns = session_after_ms(docker_seconds(o->timeout_ms) * 1000 +
					  (grace < UINT32_MAX ? grace : UINT32_MAX));
	if (s->early_signal)
		on_signal(s, s->early_signal);
}

static void hook_err(void *ctx, const uint8_t *p, size_t n)
{
	struct session *s = ctx;
	uint8_t out[16384 + DOCKER_HELD_MAX];
	bool started = s->marks.started, ended = s->marks.ended;

	while (n > 0) {
		size_t part = n < 16384 ? n : 16384;
		size_t len = docker_marks_feed(&s->marks, p, part, out);

		p += part;
		n -= part;
		if (!started && s->marks.started)
			began(s);
		started = s->marks.started;
		session_pass_on(s, out, len);
		if (!ended && s->marks.ended) {
			s->end_ns = ak_now_ns();
			if (s->phase == PHASE_RUN) {
				s->phase = PHASE_END;
				s->deadline_ns = session_after_ms(END_GRACE_MS);
			}
		}
		ended = s->marks.ended;
	}
}

/* ---- how it ended ---- */

void session_exited(struct session *s, int wstatus)
{
	uint64_t start = s->start_ns ? s->start_ns : s->spawn_ns;

	warden_exited(s->w, wstatus, start, s->end_ns > start ? s->end_ns : start);
}

/* timeout(1) inside gave the code that says so: GNU's 124, busybox' what the signal makes */
static bool by_timeout(const struct session *s)
{
	const struct exec_opts *o = s->d->opts;
	unsigned code = s->marks.code;

	return o->timeout_ms && (code == 124 || code == 128 + SIGTERM) &&
	       s->end_ns - s->spawn_ns >= docker_seconds(o->timeout_ms) * 1000 * NS_PER_MS;
}

/* docker's own failure, before the command */
void session_docker_failed(struct session *s, int code)
{
	struct ak_err err = { 0 };
	char line[400];
	enum docker_why why = docker_complaint(s->marks.before, line, sizeof(line));

	if (line[0])
		(void)ak_err_set(&err, EIO, "docker exec: %s", line);
	else
		(void)ak_err_set(&err, EIO, "docker exec ended with %d and said nothing", code);
	if (why == DOCKER_WHY_GONE)
		ak_err_hint(&err, "the container was removed by somebody, or ended");
	warden_failed(s->w, INIT_STAGE_SETUP, 125, &err);
}

static void tell(struct session *s)
{
	const struct docker_outcome *out = &s->out;
	struct ak_err err = { 0 };

	if (out->unavailable) {
		warden_failed(s->w, INIT_STAGE_SETUP, 125, &out->err);
	} else if (s->marks.ended) {
		s->w->facts->timed_out = by_timeout(s) || s->overdue;
		session_exited(s, W_EXITCODE((int)s->marks.code, 0));
	} else if (s->overdue || s->cancelled) {
		s->w->facts->timed_out = s->overdue;
		session_exited(s, W_EXITCODE(0, SIGKILL));
	} else if (!s->marks.started) {
		session_docker_failed(s, out->code);
	} else if (out->code > 128 && out->code <= 128 + 64) {
		/* all in the container was killed: for want of memory, or by the command itself */
		session_exited(s, W_EXITCODE(0, out->code - 128));
	} else {
		(void)ak_err_set(&err, EIO, "docker exec ended with %d before the command said how it ended", out->code);
		warden_failed(s->w, INIT_STAGE_SETUP, 125, &err);
	}
}

/* ---- the whole ---- */

int session_make_box(struct session *s, const struct runner *runner, char owner[DOCKER_OWNER_BYTES], struct ak_err *err)
{
	struct docker_run *d = s->d;
	int r = docker_owner_self(&s->box.self, err);

	if (r == 0)
		r = docker_files_make(d->host.state_dir, &s->box.self, d->env_text, d->env_len, &s->files, err);
	d->program.cwd = s->files.dir[0] ? s->files.dir : NULL;
	if (r == 0)
		r = docker_ids(d, runner, s->w->facts, err);
	if (r == 0 && s->prepare)
		r = s->prepare(s, err);
	if (r < 0)
		return r;
	docker_owner_write(&s->box.self, owner);
	d->conf.owner = owner;
	d->conf.probe = s->files.probe;
	r = docker_box_start(&s->box, err);
	if (r < 0 && s->box.why == DOCKER_WHY_NO_SLEEP && !s->prepare) {
		s->direct = true;
		r = 0;
	}
	if (r < 0)
		return ak_err_wrap(err, "docker sandbox unavailable");
	if (s->cancelled)
		return 0;
	s->w->facts->isolated = true;
	if (!AK_WEAK(ak_weaken_mask(), AK_WEAK_KEEPER))
		(void)docker_box_sweep(&s->box, docker_start_time);
	if (s->box.has_shell || s->prepare)
		return docker_check_facts(d->opts, &d->conf, s->box.has_shell ? &s->box.facts : NULL, s->w->facts, err);
	s->direct = true;
	r = docker_check_facts(d->opts, &d->conf, NULL, s->w->facts, err);
	return r == 0 ? session_prepare_direct(s, err) : r;
}

/* -i only where there is something to read: docker takes more than the command asks for */
bool session_has_stdin(void)
{
	struct stat in, null;

	return fstat(0, &in) == 0 && !(stat("/dev/null", &null) == 0 && S_ISCHR(in.st_mode) && in.st_rdev == null.st_rdev);
}

static void run_command(struct session *s)
{
	const struct exec_opts *o = s->d->opts;
	struct docker_command c = { .text = o->shell ? o->argv[2] : NULL, .argv = o->argv, .workdir = s->d->workdir,
				    .env_file = s->files.env[0] ? s->files.env : NULL, .timeout_ms = o->timeout_ms,
				    .mark = s->marks.mark };
	const struct runner_hooks hooks = { .err_bytes = hook_err, .watch = s->ctl_open ? s->w->ctl : -1,
					    .readable = session_readable, .deadline = session_deadline, .expired = session_expired };
	uint8_t rest[DOCKER_HELD_MAX];

	c.stdin_open = session_has_stdin();
	s->spawn_ns = ak_now_ns();
	s->deadline_ns = session_after_ms((uint64_t)DOCKER_START_S * 1000);
	docker_box_run(&s->box, &c, (const int[]){ 0, 1 }, &hooks, s, &s->out);
	s->ran = true;
	session_pass_on(s, rest, docker_marks_end(&s->marks, rest));
	if (!s->end_ns)
		s->end_ns = ak_now_ns();
	warden_drop_streams();
}

int docker_warden(struct warden *w, void *arg)
{
	struct session s = { .w = w, .d = arg, .ctl_open = true };
	const struct runner runner = { .run = runner_program_run, .ctx = &s.d->program };
	const struct runner_hooks start = { .watch = w->ctl, .readable = session_readable, .deadline = session_deadline,
					    .expired = hook_start_expired };
	char owner[DOCKER_OWNER_BYTES];
	struct ak_err err = { 0 }, left = { 0 };
	int r = docker_marks_make(&s.marks, &err);

	if (r == 0)
		r = docker_box_init(&s.box, &s.d->conf, &runner, &err);
	s.box.hooks = &start;
	s.box.ctx = &s;
	if (r == 0)
		r = session_make_box(&s, &runner, owner, &err);
	s.box.hooks = NULL;
	if (r == 0 && !s.cancelled && s.direct)
		session_run_direct(&s);
	else if (r == 0 && !s.cancelled)
		run_command(&s);
	if (docker_box_close(&s.box, &left) < 0)
		backend_warn(w->facts, "%.240s", left.msg);
	docker_files_remove(&s.files);
	/* last: what comes after it, the executor does not wait for */
	if (s.ran && s.direct)
		session_tell_direct(&s);
	else if (s.ran)
		tell(&s);
	else if (r == 0)
		session_exited(&s, W_EXITCODE(0, SIGKILL));
	else
		warden_failed(s.w, INIT_STAGE_SETUP, 125, &err);
	runner_result_release(&s.out.r);
	return 0;
}
