/* SPDX-License-Identifier: Apache-2.0 */
/* libak: commands, jobs, and the events they bring. Any process, no privilege. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "lib/libak_int.h"

/* ---- events ---- */

static int map_output(struct ak_done *d, unsigned i, int fd)
{
	struct ak_output *o = &d->r.out[i];
	size_t len = (size_t)(o->head_len + o->tail_len);
	long size = ak_memfd_check(fd, AK_CAPTURE_MAX * 2ul);

	if (size < 0 || (size_t)size < len || len == 0)
		return -EBADMSG;
	d->map[i] = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (d->map[i] == MAP_FAILED) {
		d->map[i] = NULL;
		return -errno;
	}
	d->map_len[i] = len;
	return 0;
}

/* The texts lie in storage of our own; whatever the executor has done about them, they are fit for a terminal then */
static void clean(const struct ak_result *r)
{
	ak_text_clean((char *)(uintptr_t)r->text);
	ak_text_clean((char *)(uintptr_t)r->hint);
	for (uint32_t i = 0; i < r->nwarnings; i++)
		ak_text_clean((char *)(uintptr_t)r->warning[i]);
}

static int done_of(struct ak_frame *f, struct ak_done *d)
{
	size_t at = 0;
	int r;

	*d = (struct ak_done){ .storage = malloc(f->len ? f->len : 1) };
	if (!d->storage)
		return -ENOMEM;
	memcpy(d->storage, f->payload, f->len);
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it belongs to @d, and done_of()'s caller releases or hands over that */
	r = ak_result_decode(d->storage, f->len, &d->r);
	if (r == 0 && f->nfds != ak_result_nfds(&d->r))
		r = -EBADMSG;
	for (unsigned i = 0; r == 0 && i < 2; i++)
		if (d->r.out[i].memfd)
			r = map_output(d, i, f->fds[at++]);
	if (r == 0)
		clean(&d->r);
	else
		ak_done_release(d);
	return r;
}

static int started_of(struct ak_frame *f, struct ak_event *ev)
{
	struct ak_started m;

	if (ak_started_decode(f->payload, f->len, &m) < 0 || f->nfds != m.pty)
		return -EBADMSG;
	ev->type = AK_EVENT_STARTED;
	ev->cmd = m.cmd;
	ev->sandbox = m.sandbox;
	ev->pid = m.pid;
	ev->pty = m.pty ? ak_fd_take(&f->fds[0]) : -1;
	return 0;
}

static int refused_of(struct ak_frame *f, struct ak_event *ev)
{
	struct ak_refused m;

	if (ak_refused_decode(f->payload, f->len, &m) < 0 || f->nfds > 0)
		return -EBADMSG;
	ev->type = AK_EVENT_REFUSED;
	ev->code = m.code;
	(void)ak_err_set(&ev->err, m.err ? (int)m.err : EREMOTEIO, "%s", m.text);
	ak_err_hint(&ev->err, "%s", m.hint);
	return 0;
}

int libak_event(struct ak_client *cl, struct ak_frame *f, struct ak_event *ret)
{
	struct ak_event ev = { .tag = f->seq, .pty = -1 };
	int r = -EBADMSG;

	(void)cl;
	if (f->op == AK_OP_STARTED)
		r = started_of(f, &ev);
	else if (f->op == AK_OP_REFUSED)
		r = refused_of(f, &ev);
	else if (f->op == AK_OP_RESULT) {
		ev.type = AK_EVENT_DONE;
		r = done_of(f, &ev.done);
		ev.cmd = ev.done.r.cmd;
		ev.sandbox = ev.done.r.sandbox;
	}
	if (r == 0)
		*ret = ev;
	return r;
}

int libak_take(struct ak_client *cl, uint32_t tag, struct ak_event *ret)
{
	for (size_t i = 0; i < cl->nevents; i++) {
		if (tag && cl->events[i].tag != tag)
			continue;
		*ret = cl->events[i];
		memmove(&cl->events[i], &cl->events[i + 1], (cl->nevents - i - 1) * sizeof(cl->events[0]));
		cl->nevents--;
		return 1;
	}
	return 0;
}

static uint64_t mono_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int ak_next(struct ak_client *cl, struct ak_event *ret, int timeout_ms, struct ak_err *err)
{
	uint64_t end = timeout_ms > 0 ? mono_ms() + (uint64_t)timeout_ms : 0;
	struct ak_frame f = { .nfds = 0 };

	while (!libak_take(cl, 0, ret)) {
		uint64_t now = timeout_ms > 0 ? mono_ms() : 0;
		int left = timeout_ms <= 0 ? timeout_ms : now < end ? (int)(end - now) : 0;
		int r = libak_read(cl, &f, left, err);

		if (r < 0)
			return r;
		if (r == 1) {	/* an answer to nothing that is open */
			r = libak_stray(cl, &f, err);
			if (r < 0)
				return r;
			continue;
		}
		if (r == 0 && left <= 0)
			return 0;
	}
	return 1;
}

void ak_done_output(const struct ak_done *d, unsigned i, const uint8_t **ret_head, size_t *ret_head_len, const uint8_t **ret_tail,
		    size_t *ret_tail_len)
{
	static const uint8_t none[1];
	const struct ak_output *o = &d->r.out[i];
	const uint8_t *p = d->map[i] ? d->map[i] : o->bytes ? o->bytes : none;

	*ret_head = p;
	*ret_head_len = d->map[i] || o->bytes ? (size_t)o->head_len : 0;
	*ret_tail = p + *ret_head_len;
	*ret_tail_len = d->map[i] || o->bytes ? (size_t)o->tail_len : 0;
}

void ak_done_release(struct ak_done *d)
{
	for (int i = 0; i < 2; i++)
		if (d->map[i])
			(void)munmap(d->map[i], d->map_len[i]);
	free(d->storage);
	*d = (struct ak_done){ 0 };
}

void ak_event_release(struct ak_event *ev)
{
	if (ev->type == AK_EVENT_STARTED)
		ak_fd_close(&ev->pty);
	if (ev->type == AK_EVENT_DONE)
		ak_done_release(&ev->done);
	*ev = (struct ak_event){ .pty = -1 };
}

/* ---- commands ---- */

static uint32_t count(const char *const *v)
{
	uint32_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

static int fill(const struct ak_request *q, struct ak_exec *m, int fds[AK_FDS_MAX], size_t *nfds, struct ak_err *err)
{
	*m = (struct ak_exec){ .sandbox = q->sandbox, .kind = q->kind ? (uint8_t)q->kind : AK_EXEC_ARGV,
			       .flags = q->flags & ~(uint32_t)AK_EXEC_BODY_FD, .timeout_ms = q->timeout_ms,
			       .kill_after_ms = q->kill_after_ms, .cpu_time_ms = q->cpu_time_ms, .max_output = q->max_output,
			       .session = q->session, .rows = q->rows, .cols = q->cols };
	if (q->nextra > AK_EXEC_EXTRA_MAX || q->nrlimits > AK_EXEC_RLIMITS_MAX)
		return ak_err_set(err, EINVAL, "too many further descriptors or limits");
	if (q->kind == AK_EXEC_PROGRAM)
		fds[(*nfds)++] = q->program;
	for (unsigned i = 0; i < 3; i++) {
		m->stream[i] = (uint8_t)q->stream[i];
		if (q->stream[i] == AK_STREAM_FD)
			fds[(*nfds)++] = q->fd[i];
	}
	for (size_t i = 0; i < q->nextra; i++) {
		m->extra[m->nextra++] = q->extra[i].number;
		fds[(*nfds)++] = q->extra[i].fd;
	}
	for (size_t i = 0; i < q->nrlimits; i++)
		m->rlimit[m->nrlimits++] = q->rlimits[i];
	m->body = (struct ak_exec_body){ .cwd = q->cwd ? q->cwd : "", .argv = { .vec = q->argv, .count = count(q->argv) },
					 .env = { .vec = q->env, .count = count(q->env) } };
	return 0;
}

/* the body as a memfd, in front of the other descriptors */
static long with_memfd(struct ak_client *cl, struct ak_exec *m, int fds[AK_FDS_MAX + 1], size_t *nfds, struct ak_err *err)
{
	uint8_t *buf = malloc(AK_EXEC_BODY_MAX);
	long n = buf ? ak_exec_body_encode(&m->body, buf, AK_EXEC_BODY_MAX) : -ENOMEM;
	int fd = n > 0 ? ak_memfd_sealed("ak-exec", buf, (size_t)n) : -1;

	free(buf);
	if (n == -ENOBUFS)
		return ak_err_set(err, E2BIG, "arguments and environment are too large");
	if (n < 0 || fd < 0)
		return ak_err_sys(err, (int)(n < 0 ? -n : -fd), "send the command");
	memmove(fds + 1, fds, *nfds * sizeof(int));
	fds[0] = fd;
	(*nfds)++;
	m->flags |= AK_EXEC_BODY_FD;
	m->body_len = (uint32_t)n;
	return ak_exec_encode(m, cl->out, AK_PAYLOAD_MAX);
}

int ak_exec_start(struct ak_client *cl, const struct ak_request *req, uint32_t *ret_tag, struct ak_err *err)
{
	int fds[AK_FDS_MAX + 1];
	struct ak_exec m;
	size_t nfds = 0;
	uint32_t seq = 0;
	long n;
	int r;

	if (cl->nopen == LIBAK_EVENTS_MAX)
		return ak_err_set(err, EAGAIN, "%u requests of this client are open", LIBAK_EVENTS_MAX);
	r = fill(req, &m, fds, &nfds, err);
	if (r < 0)
		return r;
	n = ak_exec_encode(&m, cl->out, AK_PAYLOAD_MAX);
	if (n == -ENOBUFS) {
		n = with_memfd(cl, &m, fds, &nfds, err);
		if (n < 0 && !(m.flags & AK_EXEC_BODY_FD))
			return (int)n;
	}
	r = libak_send(cl, AK_OP_EXEC, n, fds, nfds, &seq, err);
	if (m.flags & AK_EXEC_BODY_FD)
		ak_fd_close(&fds[0]);
	if (r == 0)
		r = libak_watch(cl, seq, err);
	if (r == 0)
		*ret_tag = seq;
	return r;
}

int ak_wait_start(struct ak_client *cl, uint32_t cmd, uint64_t timeout_ms, uint32_t *ret_tag, struct ak_err *err)
{
	struct ak_wait_req m = { .cmd = cmd, .timeout_ms = timeout_ms };
	uint32_t seq = 0;
	int r = libak_send(cl, AK_OP_WAIT, ak_wait_req_encode(&m, cl->out, AK_PAYLOAD_MAX), NULL, 0, &seq, err);

	if (r == 0)
		r = libak_watch(cl, seq, err);
	if (r == 0)
		*ret_tag = seq;
	return r;
}

static int take_refusal(struct ak_client *cl, const struct ak_event *ev, struct ak_err *err)
{
	cl->code = ev->code;
	cl->code_err = ev->err.code;
	if (err)
		*err = ev->err;
	return -EREMOTEIO;
}

/* wait for the next event of one request; others stay */
static int next_of(struct ak_client *cl, uint32_t tag, struct ak_event *ret, struct ak_err *err)
{
	struct ak_frame f = { .nfds = 0 };

	while (!libak_take(cl, tag, ret)) {
		int r = libak_read(cl, &f, -1, err);

		if (r == 1)
			r = libak_stray(cl, &f, err);
		if (r < 0)
			return r;
	}
	return ret->type == AK_EVENT_REFUSED ? take_refusal(cl, ret, err) : 0;
}

static int wait_done(struct ak_client *cl, uint32_t tag, struct ak_done *ret, struct ak_err *err)
{
	struct ak_event ev;
	int r;

	for (;;) {
		r = next_of(cl, tag, &ev, err);
		if (r < 0)
			return r;
		if (ev.type == AK_EVENT_DONE)
			break;
		ak_event_release(&ev);
	}
	*ret = ev.done;
	return 0;
}

int ak_exec(struct ak_client *cl, const struct ak_request *req, struct ak_done *ret, struct ak_err *err)
{
	struct ak_request q = *req;
	uint32_t tag = 0;
	int r;

	if (q.flags & AK_EXEC_JOB)
		return ak_err_set(err, EINVAL, "a job is started with ak_exec_job()");
	if (q.stream[0] != AK_STREAM_PTY)
		q.flags |= AK_EXEC_NO_STARTED;
	r = ak_exec_start(cl, &q, &tag, err);
	return r < 0 ? r : wait_done(cl, tag, ret, err);
}

int ak_exec_job(struct ak_client *cl, const struct ak_request *req, uint32_t *ret_job, struct ak_err *err)
{
	struct ak_request q = *req;
	struct ak_event ev;
	uint32_t tag = 0;
	int r;

	q.flags = (q.flags | AK_EXEC_JOB) & ~(uint32_t)AK_EXEC_NO_STARTED;
	r = ak_exec_start(cl, &q, &tag, err);
	if (r == 0)
		r = next_of(cl, tag, &ev, err);
	if (r < 0)
		return r;
	libak_forget(cl, tag);
	if (ev.type == AK_EVENT_DONE) {	/* it could not be started */
		(void)ak_err_set(err, ev.done.r.err ? (int)ev.done.r.err : ECHILD, "%s", ev.done.r.text[0] ? ev.done.r.text : "the job was not started");
		ak_err_hint(err, "%s", ev.done.r.hint);
		ak_event_release(&ev);
		return -ECHILD;
	}
	*ret_job = ev.cmd;
	return 0;
}

static int simple(struct ak_client *cl, uint16_t op, long n, struct ak_err *err)
{
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, op, n, NULL, 0, AK_OP_OK, &f, err);

	if (r < 0)
		return r;
	r = f.len || f.nfds ? libak_malformed(cl, err) : 0;
	ak_frame_release(&f);
	return r;
}

int ak_signal(struct ak_client *cl, uint32_t cmd, int signo, struct ak_err *err)
{
	struct ak_signal m = { .cmd = cmd, .signo = (uint32_t)signo };

	return simple(cl, AK_OP_SIGNAL, ak_signal_encode(&m, cl->out, AK_PAYLOAD_MAX), err);
}

int ak_kill(struct ak_client *cl, uint32_t cmd, struct ak_err *err)
{
	struct ak_cmd_ref m = { .cmd = cmd };

	return simple(cl, AK_OP_KILL, ak_cmd_ref_encode(&m, cl->out, AK_PAYLOAD_MAX), err);
}

int ak_resize(struct ak_client *cl, uint32_t cmd, unsigned rows, unsigned cols, struct ak_err *err)
{
	struct ak_resize m = { .cmd = cmd, .rows = rows, .cols = cols };

	return simple(cl, AK_OP_RESIZE, ak_resize_encode(&m, cl->out, AK_PAYLOAD_MAX), err);
}

int ak_destroy(struct ak_client *cl, uint32_t sandbox, struct ak_err *err)
{
	struct ak_sandbox_ref m = { .sandbox = sandbox };

	return simple(cl, AK_OP_DESTROY, ak_sandbox_ref_encode(&m, cl->out, AK_PAYLOAD_MAX), err);
}

int ak_shutdown(struct ak_client *cl, bool force, struct ak_err *err)
{
	struct ak_shutdown m = { .force = force };

	return simple(cl, AK_OP_SHUTDOWN, ak_shutdown_encode(&m, cl->out, AK_PAYLOAD_MAX), err);
}

/* ---- jobs ---- */

int ak_job_wait(struct ak_client *cl, uint32_t job, uint64_t timeout_ms, struct ak_done *ret, struct ak_err *err)
{
	uint32_t tag = 0;
	int r = ak_wait_start(cl, job, timeout_ms, &tag, err);

	return r < 0 ? r : wait_done(cl, tag, ret, err);
}

int ak_job_list(struct ak_client *cl, uint32_t sandbox, void (*cb)(void *arg, const struct ak_job *job), void *arg, struct ak_err *err)
{
	struct ak_sandbox_ref m = { .sandbox = sandbox };
	struct ak_jobs jobs;
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_JOB_LIST, ak_sandbox_ref_encode(&m, cl->out, AK_PAYLOAD_MAX), NULL, 0, AK_OP_JOBS, &f, err);

	if (r < 0)
		return r;
	r = f.nfds ? -EBADMSG : ak_jobs_decode(f.payload, f.len, &jobs);
	ak_frame_release(&f);
	if (r < 0)
		return libak_malformed(cl, err);
	for (uint32_t i = 0; i < jobs.count; i++)
		cb(arg, &jobs.job[i]);
	return 0;
}

int ak_job_log(struct ak_client *cl, uint32_t job, uint64_t offset, struct ak_log_data *ret, struct ak_err *err)
{
	struct ak_job_log m = { .cmd = job, .offset = offset };
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_JOB_LOG, ak_job_log_encode(&m, cl->out, AK_PAYLOAD_MAX), NULL, 0, AK_OP_LOG_DATA, &f, err);

	if (r < 0)
		return r;
	r = f.nfds ? -EBADMSG : ak_log_data_decode(f.payload, f.len, ret);
	ak_frame_release(&f);
	return r < 0 ? libak_malformed(cl, err) : 0;
}
