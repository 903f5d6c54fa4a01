/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of one turn: checked, each approved just before it starts, run a few at a time, answered in order. Process: agent. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/loop.h"
#include "agent/schema.h"
#include "executor/shared/ak_err.h"

/* one call on its way */
struct item {
	const struct tool_call *call;
	struct cJSON *args; /* owned */
	struct tool_run run;
	enum trace_approved approved;
	enum loop_order order;
	bool told; /* its end was shown */
};

/* all of them */
struct batch {
	struct loop *l;
	struct item *v;
	size_t n;
	size_t next;	/* the first that was not looked at for starting */
	size_t running;
	struct loop_stop *stop;
	bool killed;
	bool gone; /* the executor */
};

static const struct schema *schema_of(const struct loop *l, const char *name)
{
	for (size_t i = 0; i < l->ntools; i++)
		if (strcmp(l->tools[i].name, name) == 0)
			return l->schemas[i];
	return NULL;
}

/* ---- before it runs: what is not right becomes the result ---- */

static int validate(struct batch *b, struct item *it)
{
	const struct tool_call *c = it->call;
	const struct schema *schema = schema_of(b->l, c->name);
	struct ak_err err = { 0 };

	it->run.tool = tool_find(c->name);
	if (!it->run.tool || !schema)
		return tool_say(&it->run, true, "Unknown tool: '%s'", c->name);
	if (c->bad)
		return tool_say(&it->run, true, "Invalid arguments for '%s': %s", c->name, c->bad);
	if (json_parse(c->args, c->args_len, 0, NULL, &it->args, &err) < 0 || schema_check(schema, it->args, &err) < 0)
		return err.code == ENOMEM ? -ENOMEM : tool_say(&it->run, true, "Invalid arguments for '%s': %s", c->name, err.msg);
	it->run.args = it->args;
	return 0;
}

static int approve(struct batch *b, struct item *it)
{
	struct approve_answer a = { 0 };
	int rc = b->l->approve(b->l->approve_ctx, it->call->name, it->args, &a);

	if (rc < 0)
		return rc;
	/* nobody has denied it: it is not run, as what stands behind it */
	if (a.verdict == APPROVE_DENY && a.by == APPROVE_BY_NOBODY && cancel_came(b->l->cancel))
		return 0;
	it->approved = !a.gated ? TRACE_NOT_GATED : a.verdict == APPROVE_ALLOW ? TRACE_APPROVED : TRACE_DENIED;
	if (a.verdict == APPROVE_ALLOW)
		return 0;
	run_out_note(b->l->out, "  denied: %s%s%s", it->call->name, a.reason[0] ? ": " : "", a.reason);
	rc = run_result_deny(b->l->result, it->call->name, it->call->id, it->call->args);
	return rc < 0 ? rc : tool_say(&it->run, true, "%s", a.text);
}

static int prepare(struct batch *b, const struct msg *m)
{
	int told = b->l->plan(b->l->approve_ctx, m);

	if (told < 0)
		return told;
	for (size_t i = 0; i < b->n; i++) {
		struct item *it = &b->v[i];
		int rc = i < LOOP_CALLS_MAX ? validate(b, it)
					    : tool_say(&it->run, true, "Not run: %u calls in one turn are the most", LOOP_CALLS_MAX);

		if (rc == 0 && it->run.state != TOOL_DONE)
			it->order = b->l->order(b->l->approve_ctx, it->call->name, it->args);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- running ---- */

/* is what it is judged by still being changed, or would it change what others were judged by? */
static bool must_wait(const struct batch *b, const struct item *it)
{
	bool changing = false;

	for (size_t i = 0; i < b->next; i++)
		changing = changing || (b->v[i].run.state == TOOL_RUNNING && b->v[i].order == LOOP_AFTER_ALL);
	return it->order == LOOP_AFTER_ALL ? b->running > 0 : it->order == LOOP_AFTER_CHANGES && changing;
}

static void tell_end(struct batch *b, struct item *it)
{
	if (it->told || it->run.state != TOOL_DONE)
		return;
	it->told = true;
	run_out_call_ended(b->l->out, it->call, &it->run);
}

static int start_one(struct batch *b, struct item *it)
{
	struct tool_run *r = &it->run;
	int rc = approve(b, it);

	if (rc < 0 || r->state == TOOL_DONE || cancel_came(b->l->cancel))
		return rc;
	run_out_call_started(b->l->out, it->call, it->args);
	r->start_ms = tool_now_ms();
	rc = r->tool->start(r);
	b->running += r->state == TOOL_RUNNING;
	return rc;
}

static int start_more(struct batch *b)
{
	int rc = 0;

	while (rc == 0 && b->next < b->n && b->running < LOOP_CALLS_AT_ONCE && !b->stop->stopped) {
		struct item *it = &b->v[b->next];

		if (cancel_came(b->l->cancel) || must_wait(b, it))
			break;
		b->next++;
		if (it->run.state != TOOL_DONE)
			rc = start_one(b, it);
		tell_end(b, it);
	}
	return rc;
}

static int deliver(struct batch *b, struct ak_event *ev)
{
	for (size_t i = 0; i < b->n; i++) {
		struct tool_run *r = &b->v[i].run;
		int rc;

		if (r->state != TOOL_RUNNING || r->tag != ev->tag)
			continue;
		rc = r->tool->event ? r->tool->event(r, ev) : 0;
		b->running -= r->state == TOOL_DONE;
		tell_end(b, &b->v[i]);
		return rc;
	}
	return 0;
}

static void stop_for(struct batch *b, const char *reason)
{
	if (!b->stop->stopped)
		*b->stop = (struct loop_stop){ true, reason };
}

static int wait_ms(uint64_t end_ms)
{
	uint64_t now = tool_now_ms();

	if (end_ms == 0)
		return -1;
	return end_ms <= now ? 0 : end_ms - now > 60000 ? 60000 : (int)(end_ms - now);
}

/* one event, or none in the time. Return: 1, 0, negative errno */
static int take_event(struct batch *b, int timeout_ms)
{
	struct ak_event ev = { 0 };
	struct ak_err err = { 0 };
	int rc = ak_next(b->l->env->xc->cl, &ev, timeout_ms, &err);

	if (rc <= 0)
		return rc;
	rc = deliver(b, &ev);
	ak_event_release(&ev);
	return rc < 0 ? rc : 1;
}

/* Return: 0; -ECONNRESET, -ENOMEM */
static int wait_some(struct batch *b)
{
	struct ak_client *cl = b->l->env->xc->cl;
	struct pollfd p[2] = { { .fd = ak_poll_fd(cl), .events = POLLIN }, { .fd = b->l->cancel->fd, .events = POLLIN } };
	int n, rc;

	n = ak_pending(cl) ? 1 : poll(p, 2, wait_ms(b->l->env->deadline_ms));
	if (n < 0 && errno != EINTR)
		return -errno;
	do
		rc = take_event(b, 0);
	while (rc == 1);
	if (cancel_came(b->l->cancel))
		stop_for(b, "interrupted");
	else if (b->l->env->deadline_ms && tool_now_ms() >= b->l->env->deadline_ms)
		stop_for(b, "the time of the run is over");
	return rc;
}

/* what still runs is killed, and what it said is taken */
static int kill_running(struct batch *b)
{
	uint64_t end = tool_now_ms() + LOOP_KILL_MS;
	int rc = 0;

	while (b->running > 0 && rc >= 0 && tool_now_ms() < end) {
		for (size_t i = 0; !b->killed && i < b->n; i++) {
			struct tool_run *r = &b->v[i].run;

			/* a wait for a job is not the job */
			if (r->state == TOOL_RUNNING && r->cmd)
				(void)ak_kill(b->l->env->xc->cl, r->cmd, NULL);
			else if (r->state == TOOL_RUNNING && r->tool == &tool_job) {
				rc = tool_say(r, true, "Not run: %s", b->stop->reason);
				b->running--;
			}
		}
		b->killed = true;
		if (rc == 0 && b->running > 0)
			rc = take_event(b, 100);
		/* it may have started only now */
		for (size_t i = 0; i < b->n; i++)
			b->killed = b->killed && !(b->v[i].run.state == TOOL_RUNNING && b->v[i].run.cmd && rc == 1);
		rc = rc > 0 ? 0 : rc;
	}
	return rc;
}

static int run_all(struct batch *b)
{
	int rc = 0;

	do {
		rc = start_more(b);
		if (rc == 0 && cancel_came(b->l->cancel))
			stop_for(b, "interrupted");
		if (rc == 0 && !b->stop->stopped && b->running > 0)
			rc = wait_some(b);
	} while (rc == 0 && !b->stop->stopped && (b->running > 0 || b->next < b->n));
	if (rc == 0 && b->stop->stopped)
		rc = kill_running(b);
	if (rc == -ECONNRESET) {
		b->gone = true;
		stop_for(b, "the sandbox is gone");
	}
	return rc;
}

/* ---- the results ---- */

static int answer(struct batch *b, struct trace_call *calls, struct msg *ret)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		struct item *it = &b->v[i];
		struct tool_run *r = &it->run;

		if (r->state == TOOL_RUNNING)
			rc = tool_say(r, true, "Interrupted: %s; what it did until then is not known", b->stop->reason);
		else if (r->state != TOOL_DONE)
			rc = tool_say(r, true, "Not run: %s", b->stop->reason ? b->stop->reason : "interrupted");
		tell_end(b, it);
		if (rc == 0)
			rc = msg_add_result(ret, it->call->id, r->text.data ? r->text.data : "", r->text.len, r->is_error);
		if (i < LOOP_CALLS_MAX)
			calls[i] = (struct trace_call){ .name = it->call->name, .approved = it->approved, .is_error = r->is_error,
							.args = it->call->args, .args_len = it->call->args_len, .exit_code = r->exit_code,
							.duration_ms = r->duration_ms, .limits_hit = r->limits_hit };
	}
	for (size_t i = 0; rc == 0 && i < ret->nresults && i < LOOP_CALLS_MAX; i++) {
		calls[i].result = ret->results[i].text;
		calls[i].result_len = ret->results[i].text_len;
	}
	return rc;
}

int loop_tools(struct loop *l, const struct msg *m, struct trace_call *calls, struct msg *ret, struct loop_stop *stop)
{
	struct batch b = { .l = l, .v = calloc(m->ncalls, sizeof(*b.v)), .n = m->ncalls, .stop = stop };
	int rc, told;

	if (!b.v)
		return -ENOMEM;
	for (size_t i = 0; i < b.n; i++) {
		b.v[i].call = &m->calls[i];
		b.v[i].run.env = l->env;
		b.v[i].run.exit_code = -1;
	}
	rc = prepare(&b, m);
	if (rc == 0)
		rc = run_all(&b);
	told = rc == 0 || rc == -ECONNRESET ? answer(&b, calls, ret) : 0;
	for (size_t i = 0; i < b.n; i++) {
		tool_run_release(&b.v[i].run);
		json_free(b.v[i].args);
	}
	free(b.v);
	return told < 0 ? told : rc;
}

int loop_not_run(const struct msg *m, const char *reason, struct trace_call *calls, struct msg *ret)
{
	char text[BUDGET_REASON + 32];
	int rc = 0;

	(void)snprintf(text, sizeof(text), "Not run: %s", reason);
	for (size_t i = 0; rc == 0 && i < m->ncalls; i++) {
		rc = msg_add_result(ret, m->calls[i].id, text, strlen(text), true);
		if (i < LOOP_CALLS_MAX)
			calls[i] = (struct trace_call){ .name = m->calls[i].name, .is_error = true, .args = m->calls[i].args,
							.args_len = m->calls[i].args_len, .exit_code = -1 };
	}
	return rc;
}
