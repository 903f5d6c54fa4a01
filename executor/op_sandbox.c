/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests about the executor and its sandboxes. Process: executor. Privilege: none, but for making a sandbox.
 *
 * Safe to serve because a sandbox is only ever made from the sealed plan narrowed by policy_narrow(), and because a connection
 * finds only sandboxes it made or that the executor was started for.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"

int op_hello(struct request *q)
{
	struct server *s = q->s;
	struct ak_hello m;
	struct ak_hello_reply r;
	struct box *named = box_find(s, s->named);

	if (ak_hello_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (m.version != AK_PROTO_VERSION) {
		conn_refuse_text(s, q->c, q->f->seq, AK_CODE_VERSION, EPROTO,
				 "the executor is ak " AK_VERSION " with protocol version %u, the client speaks version %u",
				 AK_PROTO_VERSION, m.version);
		return 0;
	}
	q->c->state = CONN_READY;
	r = (struct ak_hello_reply){ .version = AK_PROTO_VERSION, .pid = (uint32_t)getpid(), .program = AK_VERSION, .sandbox = s->named,
				     .name = named ? named->name : "", .ttl_ms = s->o->ttl_ms, .pool = s->o->pool,
				     .pool_ready = pool_ready(s), .running = s->running, .created_ms = s->born_ms };
	for (size_t i = 0; i < s->ncmds; i++)
		r.jobs += s->cmds[i] && s->cmds[i]->job && s->cmds[i]->state != CMD_ENDED;
	policy_facts(named ? &named->pol : &s->pol, &r.facts);
	conn_reply(s, q->c, AK_OP_HELLO_REPLY, q->f->seq, s->out, ak_hello_reply_encode(&r, s->out, sizeof(s->out)), -1, -1);
	return 0;
}

/* letters, digits, '.', '_' and '-', not first a '.' or '-': as the names of `ak create` */
static bool name_valid(const char *name)
{
	if (!isalnum((unsigned char)name[0]) && name[0] != '_')
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return false;
	return true;
}

static bool name_taken(const struct server *s, const char *name)
{
	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++)
		if (s->boxes[i] && strcmp(s->boxes[i]->name, name) == 0)
			return true;
	return false;
}

/* Return: false after a refusal */
static bool name_good(struct request *q, const char *name)
{
	if (!name[0])
		return true;
	if (!name_valid(name)) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_BAD_VALUE, EINVAL,
				 "a name has letters, digits, '.', '_' and '-', and does not begin with '.' or '-'");
		return false;
	}
	if (name_taken(q->s, name)) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_NAME_TAKEN, EEXIST, "there is a sandbox \"%s\" already", name);
		return false;
	}
	return true;
}

static enum ak_code narrow_code(int e)
{
	return e == -EPERM ? AK_CODE_NOT_ALLOWED : e == -ENOMEM ? AK_CODE_INTERNAL : AK_CODE_BAD_VALUE;
}

int op_create(struct request *q)
{
	struct server *s = q->s;
	struct ak_err err = { 0 };
	struct ak_create m;
	struct policy pol;
	struct box *b;
	int e;

	if (ak_create_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	s->busy_ns = ak_now_ns();
	if (!name_good(q, m.name))
		return 0;
	e = policy_narrow(&s->pol, &m, &pol, &err);
	if (e < 0) {
		conn_refuse(s, q->c, q->f->seq, narrow_code(e), &err);
		return 0;
	}
	b = box_start(s, &pol, &err);
	policy_release(&pol);	/* the sandbox has its own */
	if (!b) {
		conn_refuse(s, q->c, q->f->seq, box_code(&err), &err);
		return 0;
	}
	(void)strncpy(b->name, m.name, sizeof(b->name) - 1);	/* shorter: decode saw to it */
	b->owner = m.name[0] ? NULL : q->c;
	b->create = (struct waiter){ q->c, q->f->seq };
	return 0;
}

static struct ak_sandbox box_row(const struct server *s, const struct box *b)
{
	static const uint8_t states[] = { [BOX_STARTING] = AK_SANDBOX_STARTING, [BOX_READY] = AK_SANDBOX_READY,
					  [BOX_ENDING] = AK_SANDBOX_ENDING };
	uint64_t now = now_ms();
	struct ak_sandbox r = { .id = b->id, .name = b->name, .pid = (uint32_t)b->sb.pid, .running = b->running,
				.state = b->pooled && b->state == BOX_READY ? AK_SANDBOX_POOLED : states[b->state],
				.age_ms = now - b->born_ms, .idle_ms = b->running ? 0 : now - b->used_ms };

	for (size_t i = 0; i < s->ncmds; i++)
		r.jobs += s->cmds[i] && s->cmds[i]->box == b && s->cmds[i]->job;
	return r;
}

int op_list(struct request *q)
{
	struct ak_sandboxes r = { 0 };

	for (size_t i = 0; i < AK_SANDBOXES_MAX; i++) {
		const struct box *b = q->s->boxes[i];

		if (b && (!b->owner || b->owner == q->c))
			r.sandbox[r.count++] = box_row(q->s, b);
	}
	conn_reply(q->s, q->c, AK_OP_SANDBOXES, q->f->seq, q->s->out, ak_sandboxes_encode(&r, q->s->out, sizeof(q->s->out)), -1, -1);
	return 0;
}

int op_stat(struct request *q)
{
	struct ak_sandbox_ref m;
	struct ak_stat r = { 0 };
	unsigned next_ms;
	struct watch now;
	struct box *b;

	if (ak_sandbox_ref_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	b = box_of(q, m.sandbox);
	if (!b)
		return 0;
	now = (struct watch){ .root_pid = b->sb.pid };
	(void)watch_sample(&now, &next_ms);
	r.sandbox = box_row(q->s, b);
	policy_facts(&b->pol, &r.facts);
	r.memory_bytes = now.mem_peak_bytes;
	r.memory_peak_bytes = b->watch.mem_peak_bytes > now.mem_peak_bytes ? b->watch.mem_peak_bytes : now.mem_peak_bytes;
	r.pids = now.pids_peak;
	conn_reply(q->s, q->c, AK_OP_SANDBOX, q->f->seq, q->s->out, ak_stat_encode(&r, q->s->out, sizeof(q->s->out)), -1, -1);
	return 0;
}

int op_destroy(struct request *q)
{
	struct ak_sandbox_ref m;
	struct box *b;

	if (ak_sandbox_ref_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	b = box_find(q->s, m.sandbox ? m.sandbox : q->s->named);
	if (!b || b->pooled || b->fresh || (b->owner && b->owner != q->c)) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_NO_SANDBOX, ENOENT, "there is no sandbox %u", m.sandbox);
		return 0;
	}
	for (size_t i = 0; i < sizeof(b->destroy) / sizeof(b->destroy[0]); i++) {
		if (b->destroy[i].c)
			continue;
		b->destroy[i] = (struct waiter){ q->c, q->f->seq };
		box_end(q->s, b, ECANCELED, "it was destroyed");
		return 0;
	}
	conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_TOO_MANY, EAGAIN, "the sandbox is being destroyed already");
	return 0;
}

int op_shutdown(struct request *q)
{
	struct ak_shutdown m;

	if (ak_shutdown_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	if (!m.force && q->s->running) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_BUSY, EBUSY, "%u commands run", q->s->running);
		return 0;
	}
	for (size_t i = 0; i < 4; i++) {
		if (q->s->shutdown[i].c)
			continue;
		q->s->shutdown[i] = (struct waiter){ q->c, q->f->seq };
		if (q->s->o->seen)
			q->s->o->seen->done = true;
		server_stop(q->s);
		return 0;
	}
	conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_TOO_MANY, EAGAIN, "the executor is being ended already");
	return 0;
}
