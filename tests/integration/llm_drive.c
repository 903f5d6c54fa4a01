/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A conversation with a provider from the command line, for the suites "llm" and tests/peers: says each PROMPT, answers
 * each tool call with a text made from it, prints one JSON object for each call. Exit code: that of the fault.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/cli_opt.h"
#include "agent/interrupt.h"
#include "agent/prices.h"
#include "agent/provider/call.h"
#include "agent/provider/replay.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"

#define PROMPTS_MAX 32u
#define TURNS_MAX 50u

extern char **environ;

struct drive {
	const char *model, *base_url, *api, *replay, *record, *system, *price, *ca, *effort, *schema;
	const char *tries, *base_ms, *connect_ms, *head_ms, *idle_ms, *budget_ms, *max_cost, *deadline_ms;
	bool no_stream, plain, no_tools, deltas;
	struct provider p;
	struct prices prices;
	struct history h;
	unsigned turn;
	struct ak_buf shown;
};

static const struct tool_def tools[] = {
	{ "read_file", "Read a file.", "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}" },
	{ "bash", "Run a command.", "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\"}},\"required\":[\"command\"]}" },
	{ "list_dir", "List a folder.", "{\"type\":\"object\",\"properties\":{}}" },
};

static int number(const char *text, uint64_t max, uint64_t *ret)
{
	return text ? ak_parse_u64(text, 0, max, ret) : 0;
}

static void on_delta(void *ctx, enum delta_kind kind, const char *text)
{
	struct drive *d = ctx;

	if (kind == DELTA_TEXT)
		ak_buf_str(&d->shown, text);
}

static void on_retry(void *ctx, const struct provider_fault *f, unsigned attempt, uint64_t wait_ms, const char *why)
{
	struct drive *d = ctx;

	ak_buf_release(&d->shown);
	(void)fprintf(stderr, "retry: attempt %u failed with %s (%s), waiting %llu ms\n", attempt, fault_info(f->fault)->name,
		      why, (unsigned long long)wait_ms);
}

static void put_calls(struct ak_json *j, const struct msg *m)
{
	ak_json_arr(j, "calls");
	for (size_t i = 0; i < m->ncalls; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "id", m->calls[i].id);
		ak_json_str(j, "name", m->calls[i].name);
		ak_json_raw(j, "args", m->calls[i].args, m->calls[i].args_len);
		ak_json_str(j, "bad", m->calls[i].bad);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static int print(struct drive *d, int rc, const struct completion *c, const struct call_report *rep)
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	ak_json_u64(&j, "turn", d->turn);
	ak_json_str(&j, "api", wire_api_name(rep->api));
	ak_json_u64(&j, "attempts", rep->attempts);
	ak_json_u64(&j, "waited_ms", rep->waited_ms);
	ak_json_u64(&j, "total_ms", rep->total_ms);
	ak_json_str(&j, "fault", fault_info(rep->fault.fault)->name);
	ak_json_u64(&j, "lost_output", rep->lost.output);
	ak_json_bool(&j, "prompt_cut", rep->prompt_cut);
	if (rc == 0) {
		ak_json_str(&j, "stop", stop_reason_name(c->stop));
		ak_json_str(&j, "stop_detail", c->stop_detail);
		ak_json_str(&j, "text", c->msg.text);
		ak_json_bool(&j, "shown", !d->deltas || (c->msg.text ? d->shown.data && strcmp(d->shown.data, c->msg.text) == 0 :
									 d->shown.len == 0));
		ak_json_str(&j, "reasoning", c->reasoning);
		put_calls(&j, &c->msg);
		ak_json_obj(&j, "usage");
		usage_json(&j, &c->usage);
		ak_json_obj_end(&j);
	}
	ak_json_obj_end(&j);
	ak_buf_str(&b, "\n");
	rc = b.failed ? -ENOMEM : ak_write_all(STDOUT_FILENO, b.data, b.len);
	ak_buf_release(&b);
	return rc;
}

/* The results a loop would give: one for each call, an error for what must not be run */
static int answer(struct drive *d)
{
	const struct msg *m = &d->h.v[d->h.n - 1];
	struct msg reply = { .role = MSG_USER };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < m->ncalls; i++) {
		char text[512];

		if (m->calls[i].bad)
			(void)snprintf(text, sizeof(text), "Invalid arguments for '%s': %s", m->calls[i].name, m->calls[i].bad);
		else
			(void)snprintf(text, sizeof(text), "ran %s with %.300s", m->calls[i].name, m->calls[i].args);
		rc = msg_add_result(&reply, m->calls[i].id, text, strlen(text), m->calls[i].bad != NULL);
	}
	if (rc == 0)
		rc = history_take(&d->h, &reply);
	msg_release(&reply);
	return rc;
}

/* One reply. Return: 0 done, 1 go on, or minus an exit code. */
static int step(struct drive *d)
{
	struct provider_req rq = {
		.system = d->system,
		.tools = tools,
		.ntools = d->no_tools ? 0 : sizeof(tools) / sizeof(tools[0]),
		.msgs = d->h.v,
		.nmsgs = d->h.n,
		.max_tokens = 1024,
		.effort = d->effort,
		.schema = d->schema,
		.cache_key = "drive",
		.stream = !d->no_stream,
	};
	struct call_hooks hooks = { .on_delta = d->deltas ? on_delta : NULL, .on_retry = on_retry, .ctx = d };
	struct completion c = { 0 };
	struct call_report rep;
	struct ak_err err = { 0 };
	enum stop_reason stop;
	uint64_t deadline = 0;
	int rc;

	if (number(d->deadline_ms, 600000, &deadline) < 0)
		return -2;
	hooks.deadline_ms = deadline ? ak_now_ns() / 1000000 + deadline : 0;
	ak_buf_release(&d->shown);
	d->turn++;
	if (history_check(&d->h, &err) < 0)
		return -cli_fail(&err, 1);
	rc = provider_call(&d->p, &rq, &hooks, &c, &rep, &err);
	if (print(d, rc, &c, &rep) < 0)
		return -1;
	if (rc < 0)
		return -cli_fail(&err, rc == -EIO ? fault_info(rep.fault.fault)->exit_code : 1);
	stop = c.stop;
	rc = history_take(&d->h, &c.msg);
	completion_release(&c);
	if (rc == 0 && stop == STOP_TOOL_USE)
		rc = answer(d);
	if (rc < 0)
		return -1;
	return stop == STOP_TOOL_USE || stop == STOP_PAUSE;
}

static int talk(struct drive *d, const char *prompt)
{
	int rc = 1;

	if (history_add_user(&d->h, prompt) < 0)
		return 1;
	for (unsigned i = 0; rc == 1 && i < TURNS_MAX; i++)
		rc = step(d);
	return rc < 0 ? -rc : rc;
}

static int limits(struct drive *d)
{
	uint64_t v[6] = { 0 };

	if (number(d->tries, 100, &v[0]) < 0 || number(d->base_ms, 60000, &v[1]) < 0 ||
	    number(d->connect_ms, 600000, &v[2]) < 0 || number(d->head_ms, 600000, &v[3]) < 0 ||
	    number(d->idle_ms, 600000, &v[4]) < 0 || number(d->budget_ms, 600000, &v[5]) < 0)
		return -EINVAL;
	d->p.policy = (struct retry_policy){ .tries = (unsigned)v[0], .base_ms = v[1], .budget_ms = v[5] };
	d->p.connect_ms = (uint32_t)v[2];
	d->p.head_ms = (uint32_t)v[3];
	d->p.idle_ms = (uint32_t)v[4];
	return 0;
}

static int make_ready(struct drive *d, struct ak_err *err)
{
	struct provider_wish wish = { .model = d->model, .base_url = d->base_url, .api = d->api };
	struct provider_target target = { 0 };
	int rc = provider_resolve(&wish, environ, &target, err);

	if (rc < 0)
		return -cli_fail(err, 2);
	rc = provider_open(&d->p, &target, environ, d->replay, d->plain, err);
	if (rc < 0)
		return -cli_fail(err, rc == -EACCES ? 3 : 2);
	d->p.ca_file = d->ca;
	d->p.cancel_fd = interrupt_open(err);
	(void)prices_today(d->p.today);
	if (limits(d) < 0 || prices_load(&d->prices, environ, err) < 0 ||
	    (d->price && prices_set(&d->prices, d->p.target.model, d->price, err) < 0) ||
	    (d->record && provider_record(&d->p, d->record, err) < 0))
		return -cli_fail(err, 2);
	d->p.price = prices_find(&d->prices, d->p.target.name, d->p.target.model);
	if (d->max_cost && price_need(d->p.price, d->p.target.model, err) < 0)
		return -cli_fail(err, 2);
	return 0;
}

int main(int argc, char *argv[])
{
	struct drive d = { .p.cancel_fd = -1 };
	const struct cli_opt opts[] = {
		{ "model", 'm', &d.model, NULL },	{ "base-url", 0, &d.base_url, NULL },
		{ "api", 0, &d.api, NULL },		{ "replay", 0, &d.replay, NULL },
		{ "record", 0, &d.record, NULL },	{ "system", 0, &d.system, NULL },
		{ "price", 0, &d.price, NULL },		{ "ca", 0, &d.ca, NULL },
		{ "effort", 0, &d.effort, NULL },	{ "schema", 0, &d.schema, NULL },
		{ "tries", 0, &d.tries, NULL },		{ "base-ms", 0, &d.base_ms, NULL },
		{ "connect-ms", 0, &d.connect_ms, NULL }, { "head-ms", 0, &d.head_ms, NULL },
		{ "idle-ms", 0, &d.idle_ms, NULL },	{ "budget-ms", 0, &d.budget_ms, NULL },
		{ "max-cost", 0, &d.max_cost, NULL },	{ "deadline-ms", 0, &d.deadline_ms, NULL },
		{ "no-stream", 0, NULL, &d.no_stream }, { "plain-http", 0, NULL, &d.plain },
		{ "no-tools", 0, NULL, &d.no_tools },	{ "deltas", 0, NULL, &d.deltas },
		{ NULL, 0, NULL, NULL },
	};
	const char *prompts[PROMPTS_MAX];
	size_t n = 0;
	struct ak_err err = { 0 };
	int rc;

	(void)signal(SIGPIPE, SIG_IGN);
	if (cli_opts(argc - 1, argv + 1, "llm_drive", opts, prompts, PROMPTS_MAX, &n, &err) < 0)
		return cli_fail(&err, 2);
	rc = -make_ready(&d, &err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = talk(&d, prompts[i]);
	provider_close(&d.p);
	prices_release(&d.prices);
	history_release(&d.h);
	ak_buf_release(&d.shown);
	return rc;
}
