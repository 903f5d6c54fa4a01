/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of a run; see loop.h. Process: agent. Privilege: none. */
#include "agent/loop.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/provider/call.h"
#include "agent/schema.h"
#include "agent/session_about.h"
#include "executor/shared/ak_err.h"

/* one reply, and what follows from it */
struct turn {
	struct completion reply;
	struct call_report report;
	struct msg results;
	struct trace_call calls[LOOP_CALLS_MAX];
	struct usage usage; /* failed attempts too */
	const char *why;    /* for the trace: why the run stops here; NULL */
	const char *text;   /* the reply's, also when the history has taken it over; borrowed */
	size_t text_len;
	struct loop_compaction compaction;
	uint64_t iteration;
	enum budget_which cut; /* the limit that left the reply less room than it was to have; BUDGET_OK: none */
};

int loop_init(struct loop *l, uint8_t write, struct ak_err *err)
{
	const struct tool *t;

	for (size_t i = 0; (t = tool_at(i)) != NULL && l->ntools < LOOP_TOOLS_MAX; i++) {
		const char *text = write == AK_WRITE_DIRECT && t->direct_description ? t->direct_description : t->description;
		int rc = t->writable_only && write == AK_WRITE_NONE ? 1 : schema_parse(t->schema, strlen(t->schema), &l->schemas[l->ntools], err);

		if (rc < 0)
			return rc;
		if (rc == 0)
			l->tools[l->ntools++] = (struct tool_def){ t->name, text, t->schema };
	}
	return 0;
}

void loop_release(struct loop *l)
{
	for (size_t i = 0; i < l->ntools; i++)
		schema_free(l->schemas[i]);
	l->ntools = 0;
}

/* ---- ends ---- */

static bool end(struct loop *l, enum run_end how)
{
	l->result->end = how;
	return false;
}

static bool end_memory(struct loop *l)
{
	(void)ak_err_set(&l->result->err, ENOMEM, "not enough memory for the conversation");
	return end(l, RUN_ERROR);
}

static bool end_budget(struct loop *l, enum budget_which which, const char *reason)
{
	char text[BUDGET_STOP_TEXT];

	l->result->which = which;
	if (run_result_text(l->result, budget_stop_text(which, reason, text)) < 0)
		return end_memory(l);
	return end(l, RUN_BUDGET);
}

/* a signal, or the executor's end; the calls are answered already */
static bool end_cancelled(struct loop *l)
{
	int what = cancel_take(l->cancel);

	if (what == CANCEL_EXECUTOR_GONE || what == 0) {
		(void)ak_err_set(&l->result->err, ECONNRESET, "the executor is gone");
		if (l->env->xc->write == AK_WRITE_COW)
			ak_err_hint(&l->result->err, "changes in the copy of the workspace are kept: ak sessions list");
		return end(l, RUN_SANDBOX);
	}
	l->result->signal = what;
	(void)ak_err_set(&l->result->err, EINTR, "interrupted by signal %d", what);
	return end(l, RUN_INTERRUPTED);
}

static bool end_fault(struct loop *l, enum fault f)
{
	char reason[BUDGET_REASON];

	l->result->fault = f;
	switch (f) {
	case FAULT_CANCELLED:
		return end_cancelled(l);
	case FAULT_OVERTIME:
		l->result->err = (struct ak_err){ 0 };
		if (budget_exceeded(l->budget, tool_now_ms(), reason) != BUDGET_TIME)
			(void)snprintf(reason, sizeof(reason), "time limit reached");
		return end_budget(l, BUDGET_TIME, reason);
	case FAULT_REFUSAL:
		return end(l, RUN_REFUSAL);
	case FAULT_CONTEXT:
		return cancel_came(l->cancel) ? end_cancelled(l) : end(l, RUN_CONTEXT);
	case FAULT_INTERNAL:
		return end(l, RUN_ERROR);
	default:
		return end(l, RUN_PROVIDER);
	}
}

/* ---- the history ---- */

static void stored(struct loop *l, int rc, const struct ak_err *err)
{
	if (rc < 0)
		run_out_warn_err(l->out, "", err);
}

/* a turn is whole: into the transcript and the history. @m is empty afterwards */
static bool keep(struct loop *l, struct msg *m)
{
	struct ak_err err = { 0 };

	stored(l, transcript_add(l->transcript, m, &err), &err);
	return history_join(l->hist, m) == 0 || end_memory(l);
}

/* ---- asking ---- */

static void on_retry(void *ctx, const struct provider_fault *f, unsigned attempt, uint64_t wait, const char *why)
{
	struct loop *l = ctx;

	(void)f;
	run_out_note(l->out, "  attempt %u failed: %s; the next one in %llu.%llu s", attempt, why, (unsigned long long)wait / 1000,
		     (unsigned long long)wait % 1000 / 100);
}

static void on_delta(void *ctx, enum delta_kind kind, const char *text)
{
	const struct loop *l = ctx;

	l->out->view->delta(l->out->view->ctx, kind, text);
}

/* Return: false: there is none to be had */
static bool compact(struct loop *l, struct turn *t)
{
	struct loop_compaction c = { 0 };

	if (!loop_compact(l, t->iteration, &c))
		return false;
	if (t->compaction.turns == 0)
		t->compaction.tokens_before = c.tokens_before;
	t->compaction.turns += c.turns;
	t->compaction.tokens_after = c.tokens_after;
	return true;
}

/* the prompt has to leave room for the reply. Return: false: the run is over */
static bool make_room(struct loop *l, struct turn *t)
{
	uint64_t bytes = context_bytes(l->system, l->tools, l->ntools, l->hist);

	if (context_fits(&l->context, prompt_meter_bound(&l->meter, bytes, context_images(l->hist)), l->max_tokens))
		return true;
	if (compact(l, t))
		bytes = context_bytes(l->system, l->tools, l->ntools, l->hist);
	if (cancel_came(l->cancel))
		return end_cancelled(l);
	if (!context_hopeless(&l->context, bytes))
		return true;
	(void)ak_err_set(&l->result->err, E2BIG, "the conversation is larger than the model's context of %llu tokens",
			 (unsigned long long)l->context.window);
	ak_err_hint(&l->result->err, "begin a new session with a shorter prompt, or say --context N if the model's is larger");
	return end(l, RUN_CONTEXT);
}

/* one call, booked. Return: 0; as provider_call(); 1: the run is over */
static int request(struct loop *l, struct turn *t)
{
	struct provider *p = l->provider;
	uint64_t bytes = context_bytes(l->system, l->tools, l->ntools, l->hist);
	struct budget_call bc = { .price = p->price, .today = p->today, .model = p->target.model, .is_turn = true,
				  .prompt_tokens = prompt_meter_bound(&l->meter, bytes, context_images(l->hist)) };
	struct provider_req rq = { .system = l->system, .tools = l->tools, .ntools = l->ntools, .msgs = l->hist->v, .nmsgs = l->hist->n,
				   .effort = l->effort, .schema = l->output_schema, .cache_key = l->session_id, .stream = true };
	struct call_hooks hooks = { .on_delta = l->out->view ? on_delta : NULL, .on_retry = on_retry, .ctx = l,
				    .deadline_ms = budget_deadline_ms(l->budget) };
	char reason[BUDGET_REASON];
	enum budget_which which;
	int rc;

	bc.max_tokens = context_reply(&l->context, bc.prompt_tokens, l->max_tokens);
	which = budget_before_call(l->budget, &bc, tool_now_ms(), &rq.max_tokens, reason);
	if (which != BUDGET_OK) {
		(void)end_budget(l, which, reason);
		return 1;
	}
	t->cut = rq.max_tokens < bc.max_tokens ? budget_cut_by(l->budget, rq.max_tokens) : BUDGET_OK;
	rc = provider_call(p, &rq, &hooks, &t->reply, &t->report, &l->result->err);
	budget_add(l->budget, &t->report.lost);
	usage_add(&t->usage, &t->report.lost);
	if (rc < 0)
		return rc;
	budget_add(l->budget, &t->reply.usage);
	usage_add(&t->usage, &t->reply.usage);
	prompt_meter_learn(&l->meter, bytes, context_images(l->hist), &t->reply.usage);
	return 0;
}

/* Return: false: the run is over */
static bool ask(struct loop *l, struct turn *t)
{
	int rc;

	if (!make_room(l, t))
		return false;
	rc = request(l, t);
	if (rc == -EIO && t->report.fault.fault == FAULT_CONTEXT) {
		context_learn(&l->context, t->report.fault.context);
		if (compact(l, t)) {
			l->result->err = (struct ak_err){ 0 };
			rc = request(l, t);
		}
	}
	if (rc == -EIO)
		return end_fault(l, t->report.fault.fault);
	if (rc < 0)
		return end(l, RUN_ERROR);
	if (rc > 0)
		return false;
	budget_turn(l->budget);
	l->result->turns++;
	l->result->stop = t->reply.stop;
	l->result->has_stop = true;
	if (t->report.prompt_cut)
		run_out_warn(l->out, "warning: the server counted so few tokens that it must have dropped part of the prompt");
	return true;
}

/* ---- what a reply leads to ---- */

static bool final_answer(struct loop *l, struct turn *t)
{
	char reason[BUDGET_REASON];

	l->result->which = budget_exceeded(l->budget, tool_now_ms(), reason);
	if (run_result_text(l->result, t->reply.msg.text ? t->reply.msg.text : "") < 0)
		return end_memory(l);
	return keep(l, &t->reply.msg) ? end(l, RUN_DONE) : false;
}

/* an answer that does not count: it is shown, and stored nowhere */
static bool no_answer(struct loop *l, struct turn *t, enum run_end how, const char *what)
{
	if (t->reply.msg.text && run_result_text(l->result, t->reply.msg.text) < 0)
		return end_memory(l);
	(void)ak_err_set(&l->result->err, EIO, "%s%s%.300s", what, t->reply.stop_detail ? ": " : "",
			 t->reply.stop_detail ? t->reply.stop_detail : "");
	return end(l, how);
}

/* what a limit of the run left was not enough for the answer: it is the run that has to stop */
static bool cut_by_budget(struct loop *l, const struct turn *t)
{
	char reason[BUDGET_REASON];

	budget_cut_text(l->budget, t->cut, reason);
	return end_budget(l, t->cut, reason);
}

/* calls are open and the run has to stop: they get their results, and the text says why */
static bool stop_before_tools(struct loop *l, struct turn *t, enum budget_which which, const char *reason)
{
	struct ak_err err = { 0 };

	if (loop_not_run(&t->reply.msg, reason, t->calls, &t->results) < 0)
		return end_memory(l);
	run_out_results(l->out, &t->results);
	stored(l, transcript_add(l->transcript, &t->reply.msg, &err), &err);
	stored(l, transcript_add(l->transcript, &t->results, &err), &err);
	return end_budget(l, which, reason);
}

static bool end_tools(struct loop *l, int rc)
{
	char reason[BUDGET_REASON];

	if (rc == -ECONNRESET) {
		(void)end_cancelled(l);
		return false;
	}
	if (cancel_came(l->cancel))
		return end_cancelled(l);
	if (budget_exceeded(l->budget, tool_now_ms(), reason) != BUDGET_TIME)
		(void)snprintf(reason, sizeof(reason), "time limit reached");
	return end_budget(l, BUDGET_TIME, reason);
}

static bool run_calls(struct loop *l, struct turn *t)
{
	size_t n = t->reply.msg.ncalls;
	struct loop_stop stop = { 0 };
	struct ak_err err = { 0 };
	char reason[BUDGET_REASON];
	enum budget_which which = budget_exceeded(l->budget, tool_now_ms(), reason);
	int rc;

	if (which == BUDGET_OK)
		which = budget_before_tools(l->budget, n, tool_now_ms(), reason);
	if (which != BUDGET_OK)
		return stop_before_tools(l, t, which, reason);
	/* before the first command runs: whatever happens then, what was asked for is on record */
	stored(l, transcript_add(l->transcript, &t->reply.msg, &err), &err);
	if (points_save(l->points, l->env->xc, &t->reply.msg, l->result->turns, &err) < 0)
		run_out_warn_err(l->out, "no checkpoint before this turn: ", &err);
	l->env->alone = n == 1;
	budget_tools(l->budget, n);
	l->result->tool_calls += n;
	rc = loop_tools(l, &t->reply.msg, t->calls, &t->results, &stop);
	if (rc < 0 && rc != -ECONNRESET)
		return end_memory(l);
	run_out_results(l->out, &t->results);
	stored(l, transcript_add(l->transcript, &t->results, &err), &err);
	return !(rc < 0 || stop.stopped) || end_tools(l, rc);
}

static bool follow(struct loop *l, struct turn *t, unsigned *pauses)
{
	if (t->reply.stop != STOP_PAUSE)
		*pauses = 0;
	switch (t->reply.stop) {
	case STOP_MAX_TOKENS:
		if (t->cut != BUDGET_OK)
			return cut_by_budget(l, t);
		return no_answer(l, t, RUN_TRUNCATED, "the answer was cut at the maximum of its tokens");
	case STOP_REFUSAL:
		return no_answer(l, t, RUN_REFUSAL, "the model refused");
	case STOP_CONTEXT:
		/* what was cut is stored nowhere; the same is asked again, with more room */
		if (compact(l, t))
			return true;
		return cancel_came(l->cancel) ? end_cancelled(l) : no_answer(l, t, RUN_CONTEXT, "the conversation fills the model's context");
	case STOP_PAUSE:
		if (++*pauses > LOOP_PAUSES_MAX) {
			l->result->fault = FAULT_PROTOCOL;
			return no_answer(l, t, RUN_PROVIDER, "the provider paused its own loop too often");
		}
		return keep(l, &t->reply.msg);
	default:
		return t->reply.msg.ncalls ? run_calls(l, t) : final_answer(l, t);
	}
}

/* ---- the trace ---- */

/* the names of the limits that commands of the turn hit. Return: how many */
static size_t limits_hit(const struct trace_call *calls, size_t n, const char *ret[AK_LIMITS])
{
	static const char *const names[AK_LIMITS] = {
		[AK_LIMIT_MEMORY] = "memory", [AK_LIMIT_PIDS] = "pids", [AK_LIMIT_CPUS] = "cpus", [AK_LIMIT_TIMEOUT] = "timeout",
		[AK_LIMIT_CPU_TIME] = "cpu_time", [AK_LIMIT_NOFILE] = "nofile", [AK_LIMIT_FSIZE] = "fsize", [AK_LIMIT_OUTPUT] = "output",
	};
	uint32_t hit = 0;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		hit |= calls[i].limits_hit;
	for (size_t i = 0; i < AK_LIMITS; i++)
		if (hit & (1u << i))
			ret[count++] = names[i];
	return count;
}

static void trace(struct loop *l, struct turn *t, size_t ncalls)
{
	const char *hit[AK_LIMITS];
	const struct exec_client *x = l->env->xc;
	struct trace_sandbox sb = { .backend = xc_backend_name(x->backend), .network = xc_net_name(x->net), .workspace = xc_write_name(x->write),
				    .seccomp = xc_seccomp_name(x->seccomp), .landlock_abi = x->landlock_abi, .denied_syscalls = -1,
				    .denied_hosts = -1, .limits_hit = hit, .nlimits = limits_hit(t->calls, ncalls, hit) };
	struct trace_turn tt = { .iteration = t->iteration, .model = l->provider->target.model, .provider = l->provider->target.name,
				 .usage = &t->usage, .calls = t->calls, .ncalls = ncalls, .stop = t->why, .sandbox = &sb,
				 .compacted = t->compaction.turns > 0, .turns_collapsed = t->compaction.turns,
				 .tokens_before = t->compaction.tokens_before, .tokens_after = t->compaction.tokens_after,
				 .attempts = t->report.attempts, .request_ms = t->report.total_ms, .request_id = t->report.request_id,
				 .text = t->text, .text_len = t->text_len };
	struct timespec now = { 0 };
	struct ak_err err = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (trace_turn(l->trace, &tt, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000, &err) < 0)
		run_out_warn_err(l->out, "", &err);
	session_about_turn(l->about, l->result, l->budget, AK_SESSION_NOT_ENDED);
}

static const char *why_of(const struct loop *l, const struct turn *t, bool goes_on)
{
	if (goes_on || l->result->end == RUN_DONE || l->result->end == RUN_TRUNCATED || l->result->end == RUN_REFUSAL ||
	    l->result->end == RUN_CONTEXT)
		return l->result->has_stop ? stop_reason_name(t->reply.stop) : NULL;
	return run_subtype(l->result);
}

/* one turn. Return: false: the run is over */
static bool step(struct loop *l, uint64_t iteration, unsigned *pauses)
{
	struct turn *t = calloc(1, sizeof(*t));
	size_t ncalls = 0;
	bool on;

	if (!t)
		return end_memory(l);
	t->results.role = MSG_USER;
	t->iteration = iteration;
	on = ask(l, t);
	if (on) {
		t->text = t->reply.msg.text;
		t->text_len = t->reply.msg.text_len;
		run_out_assistant(l->out, &t->reply.msg, l->result->turns, &t->reply.usage);
		on = follow(l, t, pauses);
		ncalls = t->results.nresults < LOOP_CALLS_MAX ? t->results.nresults : LOOP_CALLS_MAX;
	}
	t->why = why_of(l, t, on);
	if (t->report.attempts || t->compaction.turns)
		trace(l, t, ncalls);
	/* a turn with calls and its results are in the transcript already; the trace has needed its strings */
	if (t->results.nresults &&
	    (history_join(l->hist, &t->reply.msg) < 0 || history_join(l->hist, &t->results) < 0))
		on = end_memory(l);
	completion_release(&t->reply);
	msg_release(&t->results);
	free(t);
	return on;
}

void loop_run(struct loop *l)
{
	unsigned pauses = 0;

	for (uint64_t i = 1;; i++) {
		if (cancel_came(l->cancel)) {
			(void)end_cancelled(l);
			break;
		}
		if (!step(l, i, &pauses))
			break;
	}
	l->result->usage = l->budget->total;
}
