/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of a serving executor: deadlines, end, result. Process: executor. Privilege: none.
 *
 * A command is in the table from the request until init said FAILED or EXITED, or its sandbox is gone: nothing else ends it, so
 * an id never means two commands. Its client may leave before; then its result is nobody's. An ended job stays for WAIT and its log.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/watch_tree.h"

#define NS_PER_MS 1000000ull

struct cmd *cmd_find(struct server *s, uint32_t id)
{
	for (size_t i = 0; id && i < s->ncmds; i++)
		if (s->cmds[i] && s->cmds[i]->id == id)
			return s->cmds[i];
	return NULL;
}

struct cmd *cmd_of(struct request *q, uint32_t id)
{
	struct cmd *c = cmd_find(q->s, id);

	if (!c || (!c->job && c->c != q->c)) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_NO_COMMAND, ESRCH, "there is no command %u", id);
		return NULL;
	}
	return c;
}

static void wait_release(struct ctl_msg *m)
{
	free(m->buf);
	for (size_t i = 0; i < m->nfds; i++)
		ak_fd_close(&m->fds[i]);
	*m = (struct ctl_msg){ 0 };
}

void cmd_release(struct server *s, struct cmd *c)
{
	for (size_t i = 0; i < s->ncmds; i++)
		if (s->cmds[i] == c)
			s->cmds[i] = NULL;
	while (s->ncmds > 0 && !s->cmds[s->ncmds - 1])
		s->ncmds--;
	wait_release(&c->wait);
	for (unsigned i = 0; i < 2; i++)
		out_release(s, &c->out[i]);
	ak_fd_close(&c->pty);
	ak_fd_close(&c->pty_out);
	server_bury(s, &c->dead);
}

/* ---- while it runs ---- */

static void deadline(uint64_t *at, uint64_t after_ms)
{
	uint64_t now = ak_now_ns();

	*at = after_ms < (INT64_MAX - now) / NS_PER_MS ? now + after_ms * NS_PER_MS : INT64_MAX;
}

void cmd_signal(struct server *s, struct cmd *c, int signo)
{
	struct init_req q = { .type = INIT_REQ_SIGNAL, .id = c->id, .signo = (uint32_t)signo };

	if (c->box && (c->state == CMD_SENT || c->state == CMD_RUNNING))
		(void)ctl_send(s, c->box, &q, NULL, 0);	/* not taken: a kill follows, or the client asks again */
}

static void forced_end(struct cmd *c, bool known, int wstatus);
static void ended(struct server *s, struct cmd *c);

/* not sent yet: a sandbox that is being made for it alone ends with it; for another this command is nothing yet */
static void kill_waiting(struct server *s, struct cmd *c)
{
	if (c->box->fresh) {
		box_end(s, c->box, ECANCELED, "the command was ended before its sandbox was ready");
		return;
	}
	forced_end(c, false, 0);
	ended(s, c);
}

void cmd_kill(struct server *s, struct cmd *c, enum cmd_cause cause)
{
	struct init_req q = { .type = INIT_REQ_KILL, .id = c->id };

	if (c->cause == CAUSE_NONE)
		c->cause = cause;
	if (c->killed || !c->box || c->state == CMD_ENDED)
		return;
	c->killed = true;
	c->timeout_ns = c->kill_ns = 0;
	deadline(&c->giveup_ns, SERVE_KILL_MS);
	if (c->state == CMD_WAITING)
		kill_waiting(s, c);
	else if (c->box->fresh && cause == CAUSE_GONE)
		box_end(s, c->box, ECONNRESET, "the client is gone");
	else if (ctl_send(s, c->box, &q, NULL, 0) < 0)
		box_end(s, c->box, EPIPE, "the sandbox's init takes no requests");
}

static void timed_out(struct server *s, struct cmd *c)
{
	c->timeout_ns = 0;
	if (c->cause != CAUSE_NONE)
		return;
	c->cause = CAUSE_TIMEOUT;
	if (c->state == CMD_WAITING) {
		cmd_kill(s, c, CAUSE_TIMEOUT);
		return;
	}
	cmd_signal(s, c, SIGTERM);
	deadline(&c->kill_ns, c->limits.kill_after_ms);
}

/* the host's pid of the command's keeper: the parent of the process that is @pid in the sandbox. 0: not found. */
static int find_keeper(const struct cmd *c)
{
	bool no_children = false;
	struct tree t;
	int found = 0;

	tree_read(&t, c->box->sb.pid, &no_children);
	for (size_t i = 0; i < t.n && !found; i++) {
		char buf[2048], *line, *last;
		int ppid = 0;

		if (!tree_read_file(t.v[i].pid, "status", buf, sizeof(buf)))
			continue;
		line = strstr(buf, "\nNSpid:");
		if (!line)
			continue;
		line[strcspn(line + 1, "\n") + 1] = '\0';
		last = strrchr(line, '\t');
		if (!last || strtoul(last + 1, NULL, 10) != c->pid)
			continue;
		line = strstr(buf, "\nPPid:\t");
		ppid = line ? (int)strtol(line + 7, NULL, 10) : 0;
		found = ppid > 0 && ppid != c->box->sb.pid ? ppid : t.v[i].pid;
	}
	tree_release(&t);
	return found;
}

/* processor time of the command alone: of its keeper's tree */
static void sample(struct server *s, struct cmd *c, uint64_t now)
{
	unsigned next_ms = WATCH_MAX_MS;

	c->watch_ns = 0;
	if (!c->box || c->state != CMD_RUNNING || c->killed)
		return;
	if (!c->watch.root_pid)
		c->watch.root_pid = find_keeper(c);
	c->watch.cpu_limit_ms = c->limits.cpu_time_ms;
	if (c->watch.root_pid && watch_sample(&c->watch, &next_ms) == WATCH_CPU) {
		cmd_kill(s, c, CAUSE_CPU);
		return;
	}
	c->watch_ns = now + next_ms * NS_PER_MS;
}

void cmd_deadline(struct server *s, struct cmd *c, uint64_t now)
{
	if (c->timeout_ns && c->timeout_ns <= now)
		timed_out(s, c);
	if (c->kill_ns && c->kill_ns <= now)
		cmd_kill(s, c, CAUSE_TIMEOUT);
	if (c->watch_ns && c->watch_ns <= now)
		sample(s, c, now);
	if (c->giveup_ns && c->giveup_ns <= now) {
		c->giveup_ns = 0;
		if (c->box)
			box_end(s, c->box, ETIMEDOUT, "a command could not be killed");
	}
}

void cmd_send_waiting(struct server *s, struct cmd *c)
{
	struct ctl_msg m = c->wait;
	struct init_req q;

	c->wait = (struct ctl_msg){ 0 };
	c->state = CMD_SENT;
	if (init_req_decode(m.buf, m.len, &q) < 0 || ctl_send(s, c->box, &q, m.fds, m.nfds) < 0)
		box_end(s, c->box, EPIPE, "the sandbox's init takes no requests");
	free(m.buf);
}

void cmd_started(struct server *s, struct cmd *c, uint32_t pid)
{
	struct ak_started m = { .sandbox = c->box_id, .cmd = c->id, .pid = pid, .pty = c->pty_out >= 0 };

	c->state = CMD_RUNNING;
	c->pid = pid;
	if (c->cause == CAUSE_NO_PTY)
		return;	/* its client hears that it failed */
	if (c->limits.cpu_time_ms != POLICY_NONE)
		c->watch_ns = ak_now_ns() + WATCH_FIRST_MS * NS_PER_MS;
	if (c->told)
		return;
	c->told = true;
	conn_reply(s, c->c, AK_OP_STARTED, c->seq, s->out, ak_started_encode(&m, s->out, sizeof(s->out)), ak_fd_take(&c->pty_out), -1);
	if (c->job)
		c->c = NULL;	/* from now on it is nobody's: any client may ask for it */
}

/* ---- how it ended ---- */

static void copy_text(char *to, size_t cap, const char *from)
{
	(void)snprintf(to, cap, "%s", from ? from : "");
	ak_text_clean(to);
}

static void set_error(struct cmd *c, enum ak_stage stage, uint32_t code, const char *text, const char *hint)
{
	c->r.stage = stage;
	c->r.err = code < 4096 ? code : 0;
	copy_text(c->text, sizeof(c->text), text);
	copy_text(c->hint, sizeof(c->hint), hint);
}

/* what the executor's ending makes of it; as relay_end.c has it */
static const struct {
	enum ak_status status;
	uint32_t exit_code;
} ends[] = {
	[CAUSE_TIMEOUT] = { AK_STATUS_TIMED_OUT, 124 },
	[CAUSE_MEMORY] = { AK_STATUS_OOM_KILLED, 128 + SIGKILL },
	[CAUSE_CPU] = { AK_STATUS_CPU_TIME, 128 + SIGKILL },
	[CAUSE_DISK] = { AK_STATUS_SIGNALED, 128 + SIGKILL },
	[CAUSE_KILL] = { AK_STATUS_SIGNALED, 128 + SIGKILL },
	[CAUSE_GONE] = { AK_STATUS_SIGNALED, 128 + SIGKILL },
	[CAUSE_NO_PTY] = { AK_STATUS_FAILED, 125 },
};

static void own_end(struct cmd *c, int wstatus)
{
	if (WIFEXITED(wstatus)) {
		c->r.status = AK_STATUS_EXITED;
		c->r.exit_code = (uint32_t)WEXITSTATUS(wstatus);
	} else {
		c->r.status = AK_STATUS_SIGNALED;
		c->r.signal = (uint32_t)WTERMSIG(wstatus);
		c->r.exit_code = 128 + c->r.signal;
	}
}

static void forced_end(struct cmd *c, bool known, int wstatus)
{
	c->r.status = ends[c->cause].status;
	c->r.exit_code = ends[c->cause].exit_code;
	if (c->cause == CAUSE_NO_PTY) {
		set_error(c, AK_STAGE_SETUP, EMFILE, "the executor has no descriptor left for the command's terminal",
			  "end commands or sandboxes, or raise the limit of open files it was started with");
		return;
	}
	c->r.signal = !known ? SIGKILL : WIFSIGNALED(wstatus) ? (uint32_t)WTERMSIG(wstatus) : 0;
}

static void fill_limits(struct cmd *c, const struct policy *pol)
{
	/* a shell's own child, too */
	bool too_large = c->r.signal == SIGXFSZ || (c->r.status == AK_STATUS_EXITED && c->r.exit_code == 128 + SIGXFSZ);
	struct ak_limit *l = c->r.limit;

	policy_limit_rows(pol, &c->limits, l);
	if (c->cause == CAUSE_TIMEOUT && l[AK_LIMIT_TIMEOUT].by)
		l[AK_LIMIT_TIMEOUT].hit = AK_HIT_YES;
	if (c->cause == CAUSE_MEMORY && l[AK_LIMIT_MEMORY].by)
		l[AK_LIMIT_MEMORY].hit = AK_HIT_YES;
	if (l[AK_LIMIT_CPU_TIME].by && (c->cause == CAUSE_CPU || (c->r.user_us + c->r.system_us) / 1000 >= c->limits.cpu_time_ms))
		l[AK_LIMIT_CPU_TIME].hit = AK_HIT_YES;
	if (l[AK_LIMIT_FSIZE].by && too_large)
		l[AK_LIMIT_FSIZE].hit = AK_HIT_YES;
	/* one file alone may have as much as --disk, where nothing else is said */
	if (l[AK_LIMIT_DISK].by && (c->cause == CAUSE_DISK || (too_large && !l[AK_LIMIT_FSIZE].by)))
		l[AK_LIMIT_DISK].hit = AK_HIT_YES;
	if (l[AK_LIMIT_OUTPUT].by && (c->out[0].done.dropped || c->out[1].done.dropped))
		l[AK_LIMIT_OUTPUT].hit = AK_HIT_YES;
}

static void finish_outputs(struct server *s, struct cmd *c)
{
	for (unsigned i = 0; i < 2; i++) {
		struct out *o = &c->out[i];

		out_finish(s, o);
		if (o->counted && !c->job) {	/* a job's stays as it is, for its log */
			s->captured -= capture_bytes(&o->kept);
			capture_finish(&o->kept, &o->done);
		}
	}
}

static void answer_waits(struct server *s, struct cmd *c)
{
	for (size_t i = 0; i < AK_WAITS_MAX; i++) {
		struct wait w = s->waits[i];

		if (w.cmd != c->id)
			continue;
		s->waits[i] = (struct wait){ 0 };
		cmd_result(s, c, w.to.c, w.to.seq);
	}
}

/* it has left the table of what runs; everything about how is in c->r */
static void ended(struct server *s, struct cmd *c)
{
	struct box *b = c->box;
	bool told = c->told;

	c->state = CMD_ENDED;
	c->timeout_ns = c->kill_ns = c->giveup_ns = c->watch_ns = 0;
	c->ended_ms = wall_ms();
	finish_outputs(s, c);
	c->r.cmd = c->id;
	c->r.sandbox = c->box_id;
	c->r.text = c->text;
	c->r.hint = c->hint;
	if (c->watch.mem_peak_bytes > c->r.memory_peak_bytes)
		c->r.memory_peak_bytes = c->watch.mem_peak_bytes;
	c->r.pids_peak = c->watch.pids_peak;
	fill_limits(c, &b->pol);
	ak_fd_close(&c->pty);
	c->box = NULL;
	b->running--;
	s->running--;
	b->used_ms = now_ms();
	s->busy_ns = ak_now_ns();
	if (!c->job || !told) {
		cmd_result(s, c, c->c, c->seq);
		c->job = false;
	}
	answer_waits(s, c);
	if (b->fresh && b->state != BOX_ENDING) {
		b->spent = true;
		deadline(&b->deadline_ns, SERVE_QUIET_MS);
	}
	if (!c->job)
		cmd_release(s, c);
}

void cmd_failed(struct server *s, struct cmd *c, const struct init_rep *m)
{
	leaf_ended(c->box, c, m->leaf, 0);
	set_error(c, m->stage >= INIT_STAGE_SETUP && m->stage <= INIT_STAGE_EXEC ? (enum ak_stage)m->stage : AK_STAGE_SETUP, m->code, m->text,
		  m->hint);
	if (m->stage == INIT_STAGE_EXEC && m->exit_code != 125) {
		c->r.status = AK_STATUS_EXITED;
		c->r.exit_code = m->exit_code;
	} else {
		c->r.status = AK_STATUS_FAILED;
		c->r.exit_code = 125;
	}
	ended(s, c);
}

/* times are only believed as far as they make sense */
static void fill_times(struct cmd *c, const struct init_rep *m)
{
	uint64_t now = ak_now_ns();
	uint64_t end = m->end_ns && m->end_ns <= now ? m->end_ns : now;
	uint64_t start = m->start_ns >= c->arrived_ns && m->start_ns <= end ? m->start_ns : c->arrived_ns;

	c->r.setup_ns = start - c->arrived_ns;
	c->r.duration_ns = end > start ? end - start : 1;
}

void cmd_exited(struct server *s, struct cmd *c, const struct init_rep *m)
{
	bool known = !(m->flags & INIT_EXITED_LOST);

	fill_times(c, m);
	c->r.user_us = m->user_ns / 1000;
	c->r.system_us = m->system_ns / 1000;
	c->r.memory_peak_bytes = m->maxrss_bytes;
	leaf_ended(c->box, c, m->leaf, (int)m->wstatus);
	/* asked for by a client, a kill is nothing of ours: the command's end says what it was */
	if (c->cause == CAUSE_NONE || c->cause == CAUSE_KILL || c->cause == CAUSE_GONE)
		own_end(c, (int)m->wstatus);
	else
		forced_end(c, known, (int)m->wstatus);
	if (c->cause == CAUSE_DISK)
		c->r.warning[c->r.nwarnings++] = "too much was written: the command was killed at the limit of --disk";
	if (m->flags & INIT_EXITED_LEFT)
		c->r.warning[c->r.nwarnings++] = "processes that hang in the kernel could not be ended yet";
	ended(s, c);
}

void cmd_lost(struct server *s, struct cmd *c, struct box *b)
{
	if (c->state == CMD_RUNNING || c->state == CMD_SENT)
		box_out_of_memory(b, c);
	if (c->cause != CAUSE_NONE && c->cause != CAUSE_GONE && c->state != CMD_WAITING) {
		forced_end(c, false, 0);
	} else {
		c->r.status = AK_STATUS_FAILED;
		c->r.exit_code = 125;
		set_error(c, c->state == CMD_WAITING ? AK_STAGE_SETUP : AK_STAGE_RELAY, b->why.code > 0 ? (uint32_t)b->why.code : ECHILD,
			  b->why.msg[0] ? b->why.msg : "the sandbox ended without a result", b->why.hint);
	}
	ended(s, c);
}

/* ---- what the client is told ---- */

static int output_memfd(const struct capture *k, struct ak_output *o)
{
	int fd = ak_memfd_sealed2("ak-output", k->head, k->head_len, k->tail, k->tail_len);

	if (fd < 0) {	/* what cannot be handed over is dropped, and counted as that */
		o->dropped = o->total;
		o->head_len = o->tail_len = 0;
		return -1;
	}
	o->memfd = 1;
	return fd;
}

/* a job's output is read by JOB_LOG: its RESULT tells only how much there is */
static void job_output(const struct cmd *c, struct ak_result *r)
{
	r->out[0].counted = 1;
	r->out[0].total = c->out[0].kept.total;
	r->out[0].dropped = c->out[0].kept.total - c->out[0].kept.head_len - c->out[0].kept.tail_len;
}

static void outputs(const struct cmd *c, struct ak_result *r, uint8_t *inline_buf, int fds[2])
{
	size_t all = 0, at = 0;

	for (int i = 0; i < 2; i++)
		all += c->out[i].done.head_len + c->out[i].done.tail_len;
	for (int i = 0; i < 2; i++) {
		const struct capture *k = &c->out[i].done;
		struct ak_output *o = &r->out[i];

		if (!c->out[i].counted)
			continue;
		*o = (struct ak_output){ .counted = 1, .total = k->total, .dropped = k->dropped, .head_len = k->head_len,
					 .tail_len = k->tail_len };
		if (all > AK_CAPTURE_INLINE) {
			if (k->head_len + k->tail_len > 0)
				fds[i] = output_memfd(k, o);
			continue;
		}
		o->bytes = inline_buf + at;
		o->bytes_len = (uint32_t)(k->head_len + k->tail_len);
		if (k->head_len)
			memcpy(inline_buf + at, k->head, k->head_len);
		if (k->tail_len)
			memcpy(inline_buf + at + k->head_len, k->tail, k->tail_len);
		at += o->bytes_len;
	}
}

void cmd_result(struct server *s, struct cmd *c, struct conn *to, uint32_t seq)
{
	struct ak_result r = c->r;
	int fds[2] = { -1, -1 };

	if (!to)
		return;
	r.text = c->text;
	r.hint = c->hint;
	if (c->job)
		job_output(c, &r);
	else
		outputs(c, &r, s->inlined, fds);
	conn_reply(s, to, AK_OP_RESULT, seq, s->out, ak_result_encode(&r, s->out, sizeof(s->out)), fds[0], fds[1]);
}
