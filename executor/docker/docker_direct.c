/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command in an image that has no `sleep` or no `sh`: it becomes the only process of a container. Process: warden. Privilege:
 * that of docker's socket, through the docker CLI.
 *
 * Nothing inside can mark where docker's words end and the command's begin, so the first of standard error are held back until it
 * is known whether the command was started at all; docker is asked when all is over.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "executor/docker/docker_session.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/warden.h"

#define START_MS 1000u	/* of the time that passes before the command is started, which is not known here */

static const char banner[] = "Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.\n";

int session_prepare_direct(struct session *s, struct ak_err *err)
{
	const struct exec_opts *o = s->d->opts;
	struct docker_owner self = s->box.self;
	int r;

	if (o->shell) {
		(void)ak_err_set(err, ENOENT, "-c needs a shell, and image %.100s has none", s->d->conf.image);
		ak_err_hint(err, "give the command itself: ak exec ... -- COMMAND");
		return -ENOENT;
	}
	if (s->d->env_text) {
		(void)ak_err_set(err, EOPNOTSUPP, "--env needs a shell in the image: without one docker would show the values to others");
		ak_err_hint(err, "pass them as a file in the workspace or on standard input");
		return -EOPNOTSUPP;
	}
	r = docker_box_close(&s->box, err);
	if (r < 0)
		return r;
	r = docker_box_init(&s->box, &s->d->conf, s->box.runner, err);
	s->box.self = self;
	return r;
}

/* what was held is the command's after all */
static void release_held(struct session *s)
{
	const char *p = s->marks.before;
	size_t n = s->marks.nbefore;

	if (n >= sizeof(banner) - 1 && memcmp(p, banner, sizeof(banner) - 1) == 0) {
		p += sizeof(banner) - 1;
		n -= sizeof(banner) - 1;
	}
	session_pass_on(s, (const uint8_t *)p, n);
	s->marks.started = true;
}

static void hook_err(void *ctx, const uint8_t *p, size_t n)
{
	struct session *s = ctx;

	if (!s->marks.started && n > DOCKER_BEFORE_MAX - s->marks.nbefore)
		release_held(s);
	if (s->marks.started) {
		session_pass_on(s, p, n);
		return;
	}
	memcpy(s->marks.before + s->marks.nbefore, p, n);
	s->marks.nbefore += n;
	s->marks.before[s->marks.nbefore] = '\0';
}

void session_run_direct(struct session *s)
{
	const struct exec_opts *o = s->d->opts;
	const struct docker_command c = { .argv = o->argv, .workdir = s->d->workdir, .stdin_open = session_has_stdin() };
	const struct runner_hooks hooks = { .err_bytes = hook_err, .watch = s->ctl_open ? s->w->ctl : -1,
					    .readable = session_readable, .deadline = session_deadline, .expired = session_expired };

	s->phase = PHASE_RUN;
	s->spawn_ns = ak_now_ns();
	if (o->timeout_ms)
		s->deadline_ns = session_after_ms(docker_seconds(o->timeout_ms) * 1000 + START_MS);
	docker_box_direct(&s->box, &c, (const int[]){ 0, 1 }, &hooks, s, &s->out);
	s->ran = true;
	if (!s->end_ns)
		s->end_ns = ak_now_ns();
	s->command_ran = docker_box_ran(&s->box);
	if (s->command_ran && !s->marks.started)
		release_held(s);
	warden_drop_streams();
}

void session_tell_direct(struct session *s)
{
	int code = s->out.code;

	if (s->out.unavailable) {
		warden_failed(s->w, INIT_STAGE_SETUP, 125, &s->out.err);
	} else if (s->overdue || s->cancelled) {
		s->w->facts->timed_out = s->overdue;
		session_exited(s, W_EXITCODE(0, SIGKILL));
	} else if (s->command_ran) {
		session_exited(s, W_EXITCODE(code & 0xff, 0));
	} else if (docker_complaint(s->marks.before, (char[400]){ 0 }, 400) == DOCKER_WHY_NO_PROGRAM) {
		struct ak_err err = { 0 };

		(void)ak_err_set(&err, ENOENT, "%.200s: cannot be started in image %.100s", s->d->opts->argv[0], s->d->conf.image);
		warden_failed(s->w, INIT_STAGE_EXEC, code == 126 ? 126 : 127, &err);
	} else {
		session_docker_failed(s, code);
	}
}
