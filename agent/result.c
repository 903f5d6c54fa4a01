/* SPDX-License-Identifier: Apache-2.0 */
/* ak-result/1. Pure. Process: agent. Privilege: none. */
#include "agent/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/limits_note.h"
#include "agent/money.h"
#include "executor/shared/ak_json_out.h"

/* One row an end: its words; what depends on more than the end is NULL or -1 */
static const struct {
	const char *subtype;
	const char *status;
	const char *code;
	int exit_code;
} ends[] = {
	[RUN_DONE] = { "success", "completed", NULL, 0 },
	[RUN_ERROR] = { "error", "failed", "error", 1 },
	[RUN_USAGE] = { "error_usage", "failed", "usage", 2 },
	[RUN_PROVIDER] = { NULL, "failed", NULL, -1 },
	[RUN_SANDBOX] = { "error_sandbox", "failed", "sandbox_unavailable", 5 },
	[RUN_BUDGET] = { NULL, "stopped", "budget_exceeded", -1 },
	[RUN_REFUSAL] = { "error_refusal", "failed", "refusal", 14 },
	[RUN_CONTEXT] = { "error_context", "failed", "context_exhausted", 15 },
	[RUN_TRUNCATED] = { "error_truncated", "failed", "output_truncated", 16 },
	[RUN_SCHEMA] = { "error_schema", "failed", "schema_mismatch", 17 },
	[RUN_DENIED] = { "error_denied", "completed", "denied", 18 },
	[RUN_KEPT] = { "error_changes_kept", "completed", "changes_kept", 19 },
	[RUN_INTERRUPTED] = { "error_interrupted", "interrupted", "interrupted", -1 },
};

void run_result_release(struct run_result *r)
{
	for (size_t i = 0; i < r->ndenials; i++) {
		free(r->denials[i].tool);
		free(r->denials[i].id);
		free(r->denials[i].args);
	}
	free(r->denials);
	free(r->text);
	free(r->structured);
	ak_change_set_release(&r->changes);
	*r = (struct run_result){ 0 };
}

int run_result_deny(struct run_result *r, const char *tool, const char *id, const char *args)
{
	struct run_denial *grown = realloc(r->denials, (r->ndenials + 1) * sizeof(*grown));
	struct run_denial *d;

	if (!grown)
		return -ENOMEM;
	r->denials = grown;
	d = &grown[r->ndenials++];
	*d = (struct run_denial){ strdup(tool), strdup(id), strdup(args) };
	return d->tool && d->id && d->args ? 0 : -ENOMEM;
}

int run_result_text(struct run_result *r, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(r->text);
	r->text = copy;
	return 0;
}

/* A run that failed never ends as one that did not, whoever forgot to say what it was */
static const struct fault_info *provider_fault(const struct run_result *r)
{
	return fault_info(r->fault == FAULT_NONE ? FAULT_PROTOCOL : r->fault);
}

int run_exit_code(const struct run_result *r)
{
	switch (r->end) {
	case RUN_PROVIDER:
		return provider_fault(r)->exit_code;
	case RUN_BUDGET:
		return budget_exit_code(r->which);
	case RUN_INTERRUPTED:
		return 128 + r->signal;
	default:
		return ends[r->end].exit_code;
	}
}

const char *run_subtype(const struct run_result *r)
{
	switch (r->end) {
	case RUN_BUDGET:
		return budget_subtype(r->which);
	case RUN_PROVIDER:
		return run_exit_code(r) == FAULT_EXIT_AUTH ? "error_authentication" : "error_provider";
	default:
		return ends[r->end].subtype;
	}
}

const char *run_status(const struct run_result *r)
{
	return ends[r->end].status;
}

static void put_error(struct ak_json *j, const struct run_result *r)
{
	if (r->end == RUN_DONE) {
		ak_json_null(j, "error");
		return;
	}
	ak_json_obj(j, "error");
	ak_json_str(j, "code", r->end == RUN_PROVIDER ? provider_fault(r)->name : ends[r->end].code);
	ak_json_str(j, "message", r->err.msg[0] ? r->err.msg : r->text ? r->text : "");
	if (r->err.hint[0])
		ak_json_str(j, "hint", r->err.hint);
	ak_json_obj_end(j);
}

static void put_usage(struct ak_json *j, const struct usage *u)
{
	ak_json_obj(j, "usage");
	ak_json_u64(j, "input_tokens", u->input_uncached);
	ak_json_u64(j, "cache_creation_input_tokens", u->cache_write_5m + u->cache_write_1h);
	ak_json_u64(j, "cache_read_input_tokens", u->cache_read);
	ak_json_u64(j, "output_tokens", u->output);
	ak_json_u64(j, "reasoning_tokens", u->reasoning);
	ak_json_obj_end(j);
}

static void put_cost(struct ak_json *j, const struct run_result *r, const struct run_about *a)
{
	char text[MONEY_TEXT];

	/* no call, no cost; a call whose price nobody knows: unknown, not 0 */
	if (r->usage.cost_source == COST_NONE && r->usage.prompt_total + r->usage.output > 0) {
		ak_json_null(j, "total_cost_usd");
	} else {
		(void)money_format_exact(r->usage.cost_picousd, text);
		ak_json_raw(j, "total_cost_usd", text, strlen(text));
	}
	ak_json_str(j, "cost_source", cost_source_name(r->usage.cost_source));
	ak_json_str(j, "price_as_of", a->price_as_of);
}

static void put_denials(struct ak_json *j, const struct run_result *r)
{
	ak_json_arr(j, "permission_denials");
	for (size_t i = 0; i < r->ndenials; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "tool_name", r->denials[i].tool);
		ak_json_str(j, "tool_use_id", r->denials[i].id);
		ak_json_raw(j, "tool_input", r->denials[i].args, strlen(r->denials[i].args));
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_paths(struct ak_json *j, const struct ak_change_set *s, bool protected)
{
	struct ak_change c = { 0 };
	size_t pos = 0;

	ak_json_arr(j, protected ? "protected" : "files");
	while (ak_change_next(s->data, s->len, &pos, &c) == 1) {
		if (!protected || (c.flags & AK_CHANGE_PROTECTED)) {
			ak_json_obj(j, NULL);
			ak_json_str(j, "path", c.path);
			ak_json_str(j, "op", ak_change_op_name(c.op));
			ak_json_obj_end(j);
		}
	}
	ak_json_arr_end(j);
}

static void put_changes(struct ak_json *j, const struct run_result *r)
{
	static const char *const names[AK_OUTCOME_END] = { "open", "none", "kept", "applied", "discarded" };
	const struct ak_change_set *s = &r->changes;

	if (!r->has_changes) {
		ak_json_null(j, "changes");
		return;
	}
	ak_json_obj(j, "changes");
	if (r->direct) {
		ak_json_null(j, "id");
		ak_json_null(j, "files"); /* not observed */
		put_paths(j, s, true);
		if (s->total > s->entries)
			ak_json_u64(j, "protected_more", s->total - s->entries);
		ak_json_obj_end(j);
		return;
	}
	ak_json_str(j, "id", s->outcome == AK_CHANGES_KEPT ? s->id : NULL);
	ak_json_str(j, "outcome", names[s->outcome < AK_OUTCOME_END ? s->outcome : 0]);
	ak_json_u64(j, "total", s->total);
	put_paths(j, s, false);
	put_paths(j, s, true);
	ak_json_obj_end(j);
}

void run_result_json(struct ak_json *j, const struct run_result *r, const struct run_about *a)
{
	ak_json_str(j, "type", "result");
	ak_json_str(j, "subtype", run_subtype(r));
	ak_json_str(j, "schema", "ak-result/1");
	ak_json_str(j, "status", run_status(r));
	ak_json_bool(j, "is_error", r->end != RUN_DONE);
	ak_json_i64(j, "exit_code", run_exit_code(r));
	ak_json_str(j, "result", r->text);
	put_error(j, r);
	ak_json_str(j, "session_id", a->session_id);
	ak_json_str(j, "model", a->model);
	ak_json_str(j, "provider", a->provider);
	ak_json_u64(j, "num_turns", r->turns);
	ak_json_u64(j, "num_tool_calls", r->tool_calls);
	ak_json_u64(j, "duration_ms", r->duration_ms);
	ak_json_str(j, "stop_reason", r->has_stop ? stop_reason_name(r->stop) : NULL);
	put_cost(j, r, a);
	ak_json_bool(j, "budget_exceeded", r->which != BUDGET_OK);
	put_usage(j, &r->usage);
	put_denials(j, r);
	put_changes(j, r);
	limits_note_json(j, r->limits_hit);
	if (r->structured)
		ak_json_raw(j, "structured_output", r->structured, strlen(r->structured));
	else
		ak_json_null(j, "structured_output");
}
