/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction in the middle of a run: the summariser's call, the transcript, the trace. Process: agent. Privilege: none. */
#include "agent/loop.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "agent/compact.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define REPLY_TOKENS 4096u
#define TEXT_MIN (4u << 10) /* bytes that the summariser gets to see */
#define TEXT_MAX (1u << 20)
#define BYTES_PER_TOKEN 2u /* dense text: then the summariser's own prompt fits in any case */
#define SUMMARY_MORE 512u /* bytes: what stands around a summary */
#define OVERHEAD_TOKENS 512u

static uint64_t reply_tokens(const struct loop *l)
{
	uint64_t n = l->max_tokens < REPLY_TOKENS ? l->max_tokens : REPLY_TOKENS;

	return l->context.window && n > l->context.window / 4 ? l->context.window / 4 + 1 : n;
}

static size_t text_bytes(const struct loop *l)
{
	uint64_t taken = reply_tokens(l) + OVERHEAD_TOKENS;
	uint64_t n = l->context.window == 0 ? TEXT_MAX :
		     l->context.window > taken ? (l->context.window - taken) * BYTES_PER_TOKEN : 0;

	return n < TEXT_MIN ? TEXT_MIN : n > TEXT_MAX ? TEXT_MAX : (size_t)n;
}

static void trace(struct loop *l, uint64_t iteration, const struct completion *c, const struct call_report *rep,
		  const struct usage *usage, bool ok)
{
	struct trace_turn tt = { .iteration = iteration, .model = l->provider->target.model, .provider = l->provider->target.name,
				 .kind = "summariser", .usage = usage, .stop = ok ? stop_reason_name(c->stop) : NULL,
				 .attempts = rep->attempts, .request_ms = rep->total_ms, .request_id = rep->request_id,
				 .text = c->msg.text, .text_len = c->msg.text_len };
	struct timespec now = { 0 };
	struct ak_err err = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (trace_turn(l->trace, &tt, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000, &err) < 0)
		run_out_warn_err(l->out, "", &err);
}

/* the call itself, booked and traced. Return: 0; as provider_call() */
static int call(struct loop *l, uint64_t iteration, struct provider_req *rq, struct completion *c, struct ak_err *err)
{
	struct call_hooks hooks = { .deadline_ms = budget_deadline_ms(l->budget) };
	struct call_report rep = { 0 };
	struct usage usage = { 0 };
	int rc = provider_call(l->provider, rq, &hooks, c, &rep, err);

	budget_add(l->budget, &rep.lost);
	usage_add(&usage, &rep.lost);
	if (rc == 0) {
		budget_add(l->budget, &c->usage);
		usage_add(&usage, &c->usage);
	}
	trace(l, iteration, c, &rep, &usage, rc == 0);
	return rc;
}

/* Return: 0 with the summary in @out; else why there is none */
static int ask_model(struct loop *l, uint64_t iteration, size_t turns, struct ak_buf *out, struct ak_err *err)
{
	const struct provider *p = l->provider;
	struct provider_req rq = { .system = compact_question(), .stream = true };
	struct budget_call bc = { .price = p->price, .today = p->today, .model = p->target.model, .max_tokens = reply_tokens(l) };
	struct ak_buf text = { 0 };
	struct history h = { 0 };
	struct completion c = { 0 };
	char reason[BUDGET_REASON];
	int rc;

	compact_render(l->hist, turns, text_bytes(l), &text);
	rc = text.failed || !text.data ? ak_err_set(err, ENOMEM, "not enough memory") : history_add_user(&h, text.data);
	bc.prompt_tokens = text.len / BYTES_PER_TOKEN + OVERHEAD_TOKENS;
	ak_buf_release(&text);
	if (rc == 0 && budget_before_call(l->budget, &bc, tool_now_ms(), &rq.max_tokens, reason) != BUDGET_OK)
		rc = ak_err_set(err, EDQUOT, "%s", reason);
	rq.msgs = h.v;
	rq.nmsgs = h.n;
	if (rc == 0)
		rc = call(l, iteration, &rq, &c, err);
	if (rc == 0 && (c.stop != STOP_END_TURN || c.msg.text_len == 0 || c.msg.ncalls > 0))
		rc = ak_err_set(err, EIO, "the model gave none");
	if (rc == 0)
		ak_buf_add(out, c.msg.text, c.msg.text_len < COMPACT_SUMMARY_MAX ? c.msg.text_len : COMPACT_SUMMARY_MAX);
	completion_release(&c);
	history_release(&h);
	return rc < 0 ? rc : out->failed ? -ENOMEM : 0;
}

static uint64_t all_bytes(const struct loop *l)
{
	return context_bytes(l->system, l->tools, l->ntools, l->hist);
}

/* into the history, and what was done onto the disk. Return: is it shorter now? */
static bool replace(struct loop *l, size_t turns, const char *summary, struct loop_compaction *ret)
{
	uint64_t before = all_bytes(l), after;
	uint64_t tokens = prompt_meter_bound(&l->meter, before, context_images(l->hist));
	struct ak_err err = { 0 };

	if (strlen(summary) + SUMMARY_MORE >= compact_gain(l->hist, turns))
		return false;
	if (compact_apply(l->hist, turns, summary, &err) < 0) {
		run_out_warn_err(l->out, "", &err);
		return false;
	}
	if (transcript_compacted(l->transcript, turns, summary, &err) < 0)
		run_out_warn_err(l->out, "", &err);
	after = all_bytes(l);
	*ret = (struct loop_compaction){ .turns = turns, .tokens_before = tokens,
					 .tokens_after = before ? (uint64_t)((double)tokens * (double)after / (double)before) : 0 };
	run_out_note(l->out, "  compacted: %llu turns, about %llu tokens, now %llu", (unsigned long long)turns,
		     (unsigned long long)ret->tokens_before, (unsigned long long)ret->tokens_after);
	return true;
}

bool loop_compact(struct loop *l, uint64_t iteration, struct loop_compaction *ret)
{
	size_t turns = compact_plan(l->hist);
	struct ak_buf summary = { 0 };
	struct ak_err err = { 0 };
	bool done = false;

	if (turns == 0 || compact_gain(l->hist, turns) <= 2 * SUMMARY_MORE)
		return false;
	if (ask_model(l, iteration, turns, &summary, &err) < 0) {
		if (cancel_came(l->cancel)) {
			ak_buf_release(&summary);
			return false;
		}
		run_out_note(l->out, "  no summary by the model: %s", err.msg);
		ak_buf_release(&summary);
		compact_structural(l->hist, turns, &summary);
	}
	if (!summary.failed && summary.data)
		done = replace(l, turns, summary.data, ret);
	ak_buf_release(&summary);
	return done;
}
