/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests about commands and jobs. Process: executor. Privilege: none.
 *
 * Safe to serve because a command is found only by who started it, or if it is a job, and because what is done to it is done by
 * the sandbox's init in its own pid namespace, or is memory of the executor's own.
 */
#include <errno.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"

#define NS_PER_MS 1000000ull

static struct cmd *running(struct request *q, uint32_t id)
{
	struct cmd *c = cmd_of(q, id);

	if (c && c->state == CMD_ENDED) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_NO_COMMAND, ESRCH, "job %u has ended", id);
		return NULL;
	}
	return c;
}

int op_signal(struct request *q)
{
	struct ak_signal m;
	struct cmd *c;

	if (ak_signal_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (m.signo < 1) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_BAD_VALUE, EINVAL, "signal %u is none", m.signo);
		return 0;
	}
	c = running(q, m.cmd);
	if (!c)
		return 0;
	cmd_signal(q->s, c, (int)m.signo);
	conn_ok(q->s, q->c, q->f->seq);
	return 0;
}

int op_kill(struct request *q)
{
	struct ak_cmd_ref m;
	struct cmd *c;

	if (ak_cmd_ref_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	c = running(q, m.cmd);
	if (!c)
		return 0;
	conn_ok(q->s, q->c, q->f->seq);
	cmd_kill(q->s, c, CAUSE_KILL);
	return 0;
}

int op_resize(struct request *q)
{
	struct ak_resize m;
	struct winsize w;
	struct cmd *c;

	if (ak_resize_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	c = running(q, m.cmd);
	if (!c)
		return 0;
	w = (struct winsize){ .ws_row = (unsigned short)m.rows, .ws_col = (unsigned short)m.cols };
	if (c->pty < 0 || ioctl(c->pty, TIOCSWINSZ, &w) < 0)
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_BAD_VALUE, ENOTTY, "command %u has no terminal", m.cmd);
	else
		conn_ok(q->s, q->c, q->f->seq);
	return 0;
}

static void add_wait(struct request *q, const struct ak_wait_req *m)
{
	uint64_t now = ak_now_ns();

	for (size_t i = 0; i < AK_WAITS_MAX; i++) {
		struct wait *w = &q->s->waits[i];

		if (w->cmd)
			continue;
		*w = (struct wait){ .to = { q->c, q->f->seq }, .cmd = m->cmd };
		if (m->timeout_ms < (INT64_MAX - now) / NS_PER_MS)
			w->deadline_ns = now + m->timeout_ms * NS_PER_MS;
		return;
	}
	conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_TOO_MANY, EAGAIN, "%u clients wait already", AK_WAITS_MAX);
}

int op_wait(struct request *q)
{
	struct ak_wait_req m;
	struct cmd *c;

	if (ak_wait_req_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	c = cmd_of(q, m.cmd);
	if (!c)
		return 0;
	if (!c->job)
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_BAD_VALUE, EINVAL, "command %u is no job: its result comes by itself", m.cmd);
	else if (c->state == CMD_ENDED)
		cmd_result(q->s, c, q->c, q->f->seq);
	else
		add_wait(q, &m);
	return 0;
}

/* ---- jobs ---- */

static struct ak_job job_row(const struct cmd *c)
{
	uint64_t now = wall_ms();

	return (struct ak_job){
		.cmd = c->id,
		.sandbox = c->box_id,
		.running = c->state != CMD_ENDED,
		.status = c->r.status,
		.exit_code = c->r.exit_code,
		.started_ms = c->started_ms,
		.runtime_ms = (c->state == CMD_ENDED ? c->ended_ms : now > c->started_ms ? now : c->started_ms) - c->started_ms,
		.log_bytes = c->out[0].kept.total,
		.title = c->title,
	};
}

int op_job_list(struct request *q)
{
	struct ak_sandbox_ref m;
	struct ak_jobs jobs = { 0 };
	uint32_t last = 0;

	if (ak_sandbox_ref_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	for (;;) {	/* by id, which is by age */
		const struct cmd *next = NULL;

		for (size_t i = 0; i < q->s->ncmds; i++) {
			const struct cmd *c = q->s->cmds[i];

			if (c && c->job && c->id > last && (!m.sandbox || c->box_id == m.sandbox) && (!next || c->id < next->id))
				next = c;
		}
		if (!next || jobs.count == AK_JOBS_MAX)
			break;
		jobs.job[jobs.count++] = job_row(next);
		last = next->id;
	}
	conn_reply(q->s, q->c, AK_OP_JOBS, q->f->seq, q->s->out, ak_jobs_encode(&jobs, q->s->out, sizeof(q->s->out)), -1, -1);
	return 0;
}

int op_job_log(struct request *q)
{
	uint8_t data[AK_LOG_CHUNK];
	struct ak_job_log m;
	struct ak_log_data r;
	struct cmd *c;

	if (ak_job_log_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	c = cmd_of(q, m.cmd);
	if (!c)
		return 0;
	if (!c->job) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_BAD_VALUE, EINVAL, "command %u is no job", m.cmd);
		return 0;
	}
	r = (struct ak_log_data){ .cmd = c->id, .running = c->state != CMD_ENDED, .total = c->out[0].kept.total, .bytes = data };
	r.bytes_len = (uint32_t)capture_read(&c->out[0].kept, m.offset, data, m.limit ? m.limit : AK_LOG_CHUNK, &r.offset);
	conn_reply(q->s, q->c, AK_OP_LOG_DATA, q->f->seq, q->s->out, ak_log_data_encode(&r, q->s->out, sizeof(q->s->out)), -1, -1);
	return 0;
}
