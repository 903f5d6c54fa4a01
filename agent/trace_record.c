/* SPDX-License-Identifier: Apache-2.0 */
/* One record of a trace as a line of JSON. Pure. Process: agent. Privilege: none. */
#include "agent/trace.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/money.h"
#include "agent/redact.h"
#include "agent/trace_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_json_out.h"

#define NAME_MAX_BYTES 256u

static void put_time(struct ak_json *j, uint64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm = { 0 };
	char day[40];
	char text[48];

	(void)gmtime_r(&s, &tm);
	(void)strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(text, sizeof(text), "%s.%03uZ", day, (unsigned)(ms % 1000));
	ak_json_str(j, "ts", text);
}

/* Names that a model makes up have no maximum of their own */
static void put_name(struct ak_json *j, const char *key, const char *name)
{
	size_t len = name ? strnlen(name, NAME_MAX_BYTES) : 0;

	if (!name)
		ak_json_null(j, key);
	else
		ak_json_strn(j, key, name, len - (name[len] ? ak_utf8_partial(name, len) : 0));
}

static void put_redacted(struct ak_json *j, const char *key, const char *p, size_t n)
{
	struct ak_buf b = { 0 };

	(void)redact_text(p, n, &b);
	if (b.failed)
		ak_json_null(j, key);
	else
		ak_json_strn(j, key, b.data ? b.data : "", b.len);
	ak_buf_release(&b);
}

static void put_usage(struct ak_json *j, const struct usage *u)
{
	char text[MONEY_TEXT];

	ak_json_u64(j, "input_tokens", u->input_uncached);
	ak_json_u64(j, "output_tokens", u->output);
	ak_json_u64(j, "cache_read_tokens", u->cache_read);
	ak_json_u64(j, "cache_write_tokens", money_add(u->cache_write_5m, u->cache_write_1h));
	if (u->cost_source == COST_NONE && (u->prompt_total > 0 || u->output > 0)) {
		ak_json_null(j, "estimated_cost_usd");
		return;
	}
	(void)money_format_exact(u->cost_picousd, text);
	ak_json_raw(j, "estimated_cost_usd", text, strlen(text));
}

static void put_call(struct ak_json *j, const struct trace_call *c, bool verbose)
{
	struct ak_buf args = { 0 };
	char sha[TRACE_SHA];

	trace_args_text(c->args ? c->args : "", c->args ? c->args_len : 0, &args);
	trace_sha_hex(args.data ? args.data : "", args.len, sha);
	ak_json_obj(j, NULL);
	put_name(j, "name", c->name);
	if (c->approved == TRACE_NOT_GATED)
		ak_json_null(j, "approved");
	else
		ak_json_bool(j, "approved", c->approved == TRACE_APPROVED);
	ak_json_bool(j, "is_error", c->is_error);
	ak_json_str(j, "args_sha256", sha);
	ak_json_u64(j, "args_len", args.len);
	if (c->exit_code >= 0)
		ak_json_i64(j, "exit_code", c->exit_code);
	if (c->duration_ms > 0)
		ak_json_u64(j, "duration_ms", c->duration_ms);
	if (verbose) {
		put_redacted(j, "args", args.data ? args.data : "", args.len);
		put_redacted(j, "result", c->result ? c->result : "", c->result ? c->result_len : 0);
	}
	ak_json_obj_end(j);
	ak_buf_release(&args);
}

static void put_count(struct ak_json *j, const char *key, int64_t n)
{
	if (n < 0)
		ak_json_null(j, key);
	else
		ak_json_i64(j, key, n);
}

static void put_sandbox(struct ak_json *j, const struct trace_sandbox *s)
{
	if (!s) {
		ak_json_null(j, "sandbox");
		return;
	}
	ak_json_obj(j, "sandbox");
	ak_json_str(j, "backend", s->backend);
	ak_json_str(j, "network", s->network);
	ak_json_str(j, "workspace", s->workspace);
	ak_json_str(j, "seccomp", s->seccomp);
	ak_json_u64(j, "landlock_abi", s->landlock_abi);
	put_count(j, "denied_syscalls", s->denied_syscalls);
	put_count(j, "denied_hosts", s->denied_hosts);
	ak_json_arr(j, "limits_hit");
	for (size_t i = 0; i < s->nlimits; i++)
		ak_json_str(j, NULL, s->limits_hit[i]);
	ak_json_arr_end(j);
	ak_json_obj_end(j);
}

void trace_record(const struct trace *t, const struct trace_turn *turn, uint64_t now_ms, bool verbose, struct ak_buf *out)
{
	static const struct usage nothing = { 0 };
	struct ak_json j;

	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	put_time(&j, now_ms);
	ak_json_str(&j, "session_id", t->session_id);
	ak_json_u64(&j, "iteration", turn->iteration);
	put_name(&j, "model", turn->model);
	put_usage(&j, turn->usage ? turn->usage : &nothing);
	ak_json_arr(&j, "tool_calls");
	for (size_t i = 0; i < turn->ncalls; i++)
		put_call(&j, &turn->calls[i], verbose);
	ak_json_arr_end(&j);
	put_name(&j, "stop_reason", turn->stop);
	if (turn->compacted) {
		ak_json_obj(&j, "compaction");
		ak_json_u64(&j, "turns_collapsed", turn->turns_collapsed);
		ak_json_u64(&j, "tokens_before", turn->tokens_before);
		ak_json_u64(&j, "tokens_after", turn->tokens_after);
		ak_json_obj_end(&j);
	} else {
		ak_json_null(&j, "compaction");
	}
	put_name(&j, "kind", turn->kind ? turn->kind : "turn");
	put_name(&j, "provider", turn->provider);
	ak_json_str(&j, "cost_source", cost_source_name(turn->usage ? turn->usage->cost_source : COST_NONE));
	ak_json_u64(&j, "attempts", turn->attempts);
	ak_json_u64(&j, "request_ms", turn->request_ms);
	put_name(&j, "request_id", turn->request_id);
	put_sandbox(&j, turn->sandbox);
	if (verbose)
		put_redacted(&j, "text", turn->text ? turn->text : "", turn->text ? turn->text_len : 0);
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
}
