/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container that stays: made by a warden, which starts ak-init in it with one `docker exec` and gives it the executor's socket
 * over another socket that the container is shown. From then on executor and init talk to each other; the warden waits for the end
 * of either and removes the container. Process: warden. Privilege: that of docker's socket, through the docker CLI.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/docker/docker_session.h"
#include "executor/exec_run.h"
#include "executor/held.h"
#include "executor/ns/init_image.h"
#include "executor/sandbox.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/shared/ak_init_serve.h"
#include "executor/warden.h"

#define CONNECT_MS 30000u	/* for init to connect */
#define KILLED_MS 5000u		/* after the container was killed, for the docker CLI to end */

struct hold {
	struct session s;	/* first: see prepare() */
	const struct plan *plan;
	int signals, listener, epoll, config;	/* owned; -1 */
	bool given;		/* init has the socket */
	bool stop;
	uint64_t deadline_ns;	/* 0: none */
};

/* what the container is shown: its init and a socket. Its processes count as the container's */
static int prepare(struct session *s, struct ak_err *err)
{
	struct hold *h = (struct hold *)s;
	struct docker_run *d = s->d;
	size_t len;
	const void *init = init_image_held(&len);
	int r;

	h->listener = docker_files_box(&s->box.self, init, len, &s->files, err);
	if (h->listener < 0)
		return h->listener;
	r = docker_add_mount(d, strdup(s->files.box), strdup(DOCKER_INIT_DIR), true, err);
	d->conf.mounts = d->mounts;
	d->conf.nmounts = d->nmounts;
	if (d->conf.pids)
		d->conf.pids += AK_INIT_HELPERS(1u) + 1;	/* and what keeps the container */
	return r;
}

/* ---- while the container is made ---- */

static bool stop_readable(void *ctx)
{
	struct hold *h = ctx;

	if (held_stopped(h->signals))
		session_unwanted(&h->s);
	return true;
}

static bool stop_expired(void *ctx)
{
	(void)ctx;
	return false;
}

/* ---- while init runs ---- */

static bool send_fds(int conn, int ctl, int config)
{
	union {
		char space[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	char byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	const int fds[2] = { ctl, config };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	return sendmsg(conn, &m, MSG_NOSIGNAL) == 1;
}

/* the only process of the container that is not `sleep` is our init */
static void give(struct hold *h)
{
	AK_AUTO_FD conn = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);

	if (conn < 0)
		return;
	h->given = send_fds(conn, h->s.w->ctl, h->config);
	docker_files_taken(&h->s.files);
	docker_files_read(&h->s.files);
	ak_fd_close(&h->listener);
	ak_fd_close(&h->config);
	ak_fd_close(&h->s.w->ctl);	/* init's alone: its end is to be seen */
	h->deadline_ns = 0;
}

static bool run_readable(void *ctx)
{
	struct hold *h = ctx;

	if (held_stopped(h->signals) && !h->stop) {
		h->stop = true;
		docker_box_kill(&h->s.box);
		h->deadline_ns = session_after_ms(KILLED_MS);
	}
	if (h->listener >= 0 && !h->stop)
		give(h);
	return true;
}

static uint64_t run_deadline(void *ctx)
{
	const struct hold *h = ctx;

	return h->deadline_ns;
}

static int watch_both(struct hold *h, struct ak_err *err)
{
	struct epoll_event e = { .events = EPOLLIN };

	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h->epoll < 0 || epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->signals, &e) < 0 ||
	    epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->listener, &e) < 0)
		return ak_err_sys(err, errno, "wait for the container");
	return 0;
}

/* what docker said when init could not be started */
static int not_given(const struct runner_result *res, struct ak_err *err)
{
	char line[400];

	(void)docker_complaint(res->err, line, sizeof(line));
	if (line[0])
		return ak_err_set(err, EIO, "docker sandbox unavailable: docker exec: %s", line);
	return ak_err_set(err, EIO, "docker sandbox unavailable: docker exec of ak-init ended with %d before it connected", res->code);
}

/* Return: 0 after the end of a sandbox that was served */
static int serve(struct hold *h, const struct runner *runner, struct ak_err *err)
{
	const struct runner_hooks hooks = { .watch = h->epoll, .readable = run_readable, .deadline = run_deadline, .expired = stop_expired };
	const struct docker_command c = { .env_file = h->s.files.env[0] ? h->s.files.env : NULL };
	struct docker_words w = docker_init_args(&c, h->s.box.name);
	struct runner_call call = { .argv = w.v, .timeout_ms = UINT64_MAX, .fds = { -1, -1 }, .hooks = &hooks, .ctx = h };
	struct runner_result res = { 0 };
	int r;

	h->deadline_ns = session_after_ms(CONNECT_MS);
	r = w.failed ? ak_err_set(err, ENOMEM, "not enough memory") : runner->run(runner->ctx, &call, &res, err);
	docker_words_release(&w);
	if (r == 0 && !h->given && !h->stop)
		r = not_given(&res, err);
	runner_result_release(&res);
	return r;
}

static int make(struct hold *h, const struct held_job *job, const struct runner *runner, char *owner, struct ak_err *err)
{
	struct session *s = &h->s;
	const struct runner_hooks start = { .readable = stop_readable, .deadline = session_deadline, .expired = stop_expired };
	struct runner_hooks hooks = start;
	int r;

	h->signals = held_signals(job, err);
	if (h->signals < 0)
		return h->signals;
	h->config = sandbox_config_open(h->plan, 0, err);
	if (h->config < 0)
		return h->config;
	r = docker_box_init(&s->box, &s->d->conf, runner, err);
	hooks.watch = h->signals;
	s->box.hooks = &hooks;
	s->box.ctx = h;
	if (r == 0)
		r = session_make_box(s, runner, owner, err);
	s->box.hooks = NULL;
	h->stop = s->cancelled;
	return r == 0 ? watch_both(h, err) : r;
}

static int hold_main(struct warden *w, void *arg)
{
	const struct held_job *job = arg;
	struct hold h = { .s = { .w = w, .d = job->r->docker, .prepare = prepare }, .plan = job->plan, .signals = -1, .listener = -1,
			  .epoll = -1, .config = -1 };
	const struct runner runner = { .run = runner_program_run, .ctx = &h.s.d->program };
	char owner[DOCKER_OWNER_BYTES];
	struct ak_err err = { 0 };
	int r = make(&h, job, &runner, owner, &err);

	if (r == 0 && !h.stop)
		r = serve(&h, &runner, &err);
	(void)docker_box_close(&h.s.box, NULL);	/* the next run finds by its label what is left */
	docker_files_remove(&h.s.files);
	if (r < 0 && w->ctl >= 0)
		warden_failed(w, INIT_STAGE_SETUP, 125, &err);
	return r < 0 ? 125 : 0;
}

int docker_hold(struct exec_run *r, const struct plan *p, struct sandbox *ret, struct ak_err *err)
{
	return held_warden(r, p, hold_main, ret, err);
}
