/* SPDX-License-Identifier: Apache-2.0 */
/* ak models [PROVIDER]: the known providers, or what one of them offers. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/cli_opt.h"
#include "agent/cli/commands.h"
#include "agent/env.h"
#include "agent/interrupt.h"
#include "agent/money.h"
#include "agent/prices.h"
#include "agent/provider/call.h"
#include "agent/provider/models.h"
#include "agent/show.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"

#define CONNECT_MS 10000u
#define ANSWER_MS 30000u
#define ID_SHOWN 159u /* bytes of a model's name */

static const char usage[] = "usage: ak models [--json]              the known providers, and those of your config file\n"
			    "       ak models PROVIDER [--json]     what a provider offers, with context and price\n"
			    "       ak models --base-url URL [--api anthropic|chat|responses] [--plain-http] [--json]\n";

struct options {
	const char *base_url;
	const char *api;
	bool json;
	bool plain;
	bool help;
	struct providers own;	/* of config files */
};

static int flush(struct ak_buf *b)
{
	int rc = b->failed ? -ENOMEM : ak_write_all(STDOUT_FILENO, b->data, b->len);
	struct ak_err err = { 0 };

	ak_buf_release(b);
	if (rc == 0)
		return 0;
	(void)ak_err_sys(&err, -rc, "standard output");
	return cli_fail(&err, 1);
}

static bool has_key(const struct provider_info *info, char *const env[])
{
	for (const struct key_var *v = info->keys; v->name; v++) {
		const char *value = env_get(env, v->name);

		if (value && *value)
			return true;
	}
	return false;
}

/* Is there one in a variable, or is a file named? */
static bool is_set(const struct provider_info *i, const struct provider_own *own, char *const env[])
{
	return has_key(i, env) || (own && own->key_file);
}

static void put_provider(const struct provider_info *i, const struct provider_own *own, bool json, char *const env[], struct ak_buf *b,
			 struct ak_json *j)
{
	const char *base = env_get(env, i->base_env);
	bool key = is_set(i, own, env);

	base = base && *base ? base : i->base_url;
	if (!json) {
		ak_buf_printf(b, "%-12s %-10s %-6s %s\n", i->name, wire_api_name(i->api), key ? "set" : i->key_needed ? "unset" : "none",
			      base ? base : "-");
		return;
	}
	ak_json_obj(j, NULL);
	ak_json_str(j, "provider", i->name);
	ak_json_str(j, "api", wire_api_name(i->api));
	ak_json_str(j, "base_url", base);
	ak_json_str(j, "key", i->keys[0].name);
	ak_json_bool(j, "key_set", key);
	ak_json_obj_end(j);
}

static int list_providers(const struct options *o, char *const env[])
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	ak_json_init(&j, &b);
	if (o->json)
		ak_json_arr(&j, NULL);
	else
		ak_buf_printf(&b, "%-12s %-10s %-6s %s\n", "PROVIDER", "API", "KEY", "BASE URL");
	for (const struct provider_info *i = provider_info_next(NULL); i; i = provider_info_next(i)) {
		const struct provider_own *own = providers_find(&o->own, i->name);

		put_provider(own ? &own->info : i, own, o->json, env, &b, &j);
	}
	for (size_t i = 0; i < o->own.n; i++)
		if (!provider_info_find(o->own.v[i]->name))
			put_provider(&o->own.v[i]->info, o->own.v[i], o->json, env, &b, &j);
	if (o->json) {
		ak_json_arr_end(&j);
		ak_buf_str(&b, "\n");
	}
	return flush(&b);
}

static void count_text(uint64_t v, char *buf, size_t size)
{
	if (v)
		(void)snprintf(buf, size, "%" PRIu64, v);
	else
		(void)snprintf(buf, size, "-");
}

static void put_row(struct ak_buf *b, const struct model *m, const struct price *p, const char *today)
{
	uint64_t context = m->context ? m->context : p ? p->context : 0;
	uint64_t output = m->max_output ? m->max_output : p ? p->max_output : 0;
	char text[2][MONEY_TEXT];
	char in[MONEY_TEXT] = "-";
	char out[MONEY_TEXT] = "-";
	struct ak_buf id = { 0 };
	struct rates r;

	show_text(m->id, strnlen(m->id, ID_SHOWN), SHOW_LINE, &id, NULL);
	count_text(context, text[0], sizeof(text[0]));
	count_text(output, text[1], sizeof(text[1]));
	if (price_known(p)) {
		price_rates(p, 0, today, &r);
		(void)money_format_exact(money_mul(r.v[RATE_INPUT], 1000000), in);
		(void)money_format_exact(money_mul(r.v[RATE_OUTPUT], 1000000), out);
	}
	ak_buf_printf(b, "%-44s %9s %9s %9s %9s\n", id.data ? id.data : "", text[0], text[1], in, out);
	ak_buf_release(&id);
}

static void put_count(struct ak_json *j, const char *key, uint64_t v)
{
	if (v)
		ak_json_u64(j, key, v);
	else
		ak_json_null(j, key);
}

static int show_models(const struct options *o, const struct provider *p, const struct models *m, const struct prices *t)
{
	struct ak_buf b = { 0 };
	struct ak_json j;
	char today[11];

	(void)prices_today(today);
	ak_json_init(&j, &b);
	if (o->json)
		ak_json_arr(&j, NULL);
	else
		ak_buf_printf(&b, "%-44s %9s %9s %9s %9s\n", "MODEL", "CONTEXT", "MAX OUT", "$/M IN", "$/M OUT");
	for (size_t i = 0; i < m->n; i++) {
		const struct price *row = prices_find(t, p->target.name, m->v[i].id);

		if (!o->json) {
			put_row(&b, &m->v[i], row, today);
			continue;
		}
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "model", m->v[i].id);
		put_count(&j, "context", m->v[i].context ? m->v[i].context : row ? row->context : 0);
		put_count(&j, "max_output", m->v[i].max_output ? m->v[i].max_output : row ? row->max_output : 0);
		ak_json_bool(&j, "price_known", price_known(row));
		ak_json_obj_end(&j);
	}
	if (o->json) {
		ak_json_arr_end(&j);
		ak_buf_str(&b, "\n");
	}
	return flush(&b);
}

static int ask(const struct options *o, struct provider_target *target, char *envp[])
{
	struct provider p = { 0 };
	struct prices t = { 0 };
	struct models m = { 0 };
	enum fault fault = FAULT_NONE;
	struct ak_err err = { 0 };
	int rc = provider_open(&p, target, envp, NULL, o->plain, &err);

	if (rc < 0)
		return cli_fail(&err, rc == -EACCES ? FAULT_EXIT_AUTH : FAULT_EXIT_USAGE);
	provider_wipe_env(envp);
	p.cancel_fd = interrupt_open(NULL);
	p.connect_ms = CONNECT_MS;
	p.head_ms = ANSWER_MS;
	p.idle_ms = ANSWER_MS;
	rc = prices_load(&t, envp, &err);
	if (rc < 0)
		rc = cli_fail(&err, 1);
	else if (models_fetch(&p, &m, &fault, &err) < 0)
		rc = cli_fail(&err, fault_info(fault)->exit_code);
	else
		rc = show_models(o, &p, &m, &t);
	if (fault == FAULT_CANCELLED)
		rc = 128 + interrupt_taken(p.cancel_fd);
	ak_fd_close(&p.cancel_fd);
	models_release(&m);
	prices_release(&t);
	provider_close(&p);
	return rc;
}

static int models(struct options *o, int argc, char *argv[], char *envp[])
{
	const struct cli_opt opts[] = {
		{ "base-url", 0, &o->base_url, NULL }, { "api", 0, &o->api, NULL },    { "json", 0, NULL, &o->json },
		{ "plain-http", 0, NULL, &o->plain },  { "help", 'h', NULL, &o->help }, { NULL, 0, NULL, NULL },
	};
	const char *args[1] = { NULL };
	size_t n = 0;
	struct provider_target target = { 0 };
	char model[128] = "any";
	struct ak_err err = { 0 };

	if (cli_opts(argc, argv, "models", opts, args, 1, &n, &err) < 0)
		return cli_fail(&err, FAULT_EXIT_USAGE);
	if (o->help)
		return ak_write_all(STDOUT_FILENO, usage, sizeof(usage) - 1) < 0 ? 1 : 0;
	if (n == 0 && !o->base_url && !o->api)
		return list_providers(o, envp);
	if (n == 1 && o->base_url) {
		(void)ak_err_set(&err, EINVAL, "models: a provider and --base-url exclude each other");
		return cli_fail(&err, FAULT_EXIT_USAGE);
	}
	if (n == 1 && !provider_info_find(args[0]) && !providers_find(&o->own, args[0])) {
		(void)ak_err_set(&err, EINVAL, "models: no provider is called \"%s\"", args[0]);
		ak_err_hint(&err, "ak models lists them; for another server give --base-url");
		return cli_fail(&err, FAULT_EXIT_USAGE);
	}
	if (n == 1)
		(void)snprintf(model, sizeof(model), "%s/any", args[0]);

	struct provider_wish wish = { .model = model, .base_url = o->base_url, .api = o->api, .own = &o->own };

	if (provider_resolve(&wish, envp, &target, &err) < 0)
		return cli_fail(&err, FAULT_EXIT_USAGE);
	if (target.api == WIRE_REPLAY) {
		provider_target_release(&target);
		(void)ak_err_set(&err, EINVAL, "models: a replay has no list of models");
		return cli_fail(&err, FAULT_EXIT_USAGE);
	}
	return ask(o, &target, envp);
}

int cmd_models(int argc, char *argv[], char *envp[])
{
	struct options o = { 0 };

	return models(&o, argc, argv, envp);
}

int cmd_models_of(int argc, char *argv[], char *envp[])
{
	struct options o = { 0 };
	struct ak_err err = { 0 };
	uint64_t n = 0;
	int rc = argc < 1 || ak_parse_u64(argv[0], 0, (uint64_t)argc - 1, &n) < 0 ? ak_err_set(&err, EINVAL, "models: ak-agent is started by ak") : 0;

	for (size_t i = 1; i + 1 <= n && rc == 0; i += 2) {
		const char *text = strchr(argv[i + 1], '=');	/* --providers=NAME.FIELD=TEXT */

		rc = text ? providers_add(&o.own, text + 1, argv[i], &err) : ak_err_set(&err, EINVAL, "models: ak-agent is started by ak");
	}
	rc = rc < 0 ? cli_fail(&err, FAULT_EXIT_USAGE) : models(&o, argc - 1 - (int)n, argv + 1 + n, envp);
	providers_release(&o.own);
	return rc;
}
