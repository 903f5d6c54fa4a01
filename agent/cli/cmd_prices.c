/* SPDX-License-Identifier: Apache-2.0 */
/* ak prices list | show MODEL: the price table, and where each row comes from. Process: agent. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/cli_opt.h"
#include "agent/cli/commands.h"
#include "agent/money.h"
#include "agent/prices.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"

static const char usage[] = "usage: ak prices list [--json]\n"
			    "       ak prices show MODEL [--json]\n";

/* Micro-dollars per million tokens as dollars per million tokens */
static char *dollars(uint64_t microusd, char *buf)
{
	return money_format_exact(money_mul(microusd, 1000000), buf);
}

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

static void put_rates(struct ak_json *j, const struct rates *r)
{
	static const char *const names[RATE_COUNT] = { "input", "output", "cache_read", "cache_write", "cache_write_1h" };
	char text[MONEY_TEXT];

	for (unsigned i = 0; i < RATE_COUNT; i++) {
		const char *s = dollars(r->v[i], text);

		ak_json_raw(j, names[i], s, strlen(s));
	}
}

static void put_json(struct ak_json *j, const struct price *p, const char *today)
{
	char warning[256];
	struct rates r;

	ak_json_obj(j, NULL);
	ak_json_str(j, "model", p->id);
	ak_json_str(j, "provider", p->provider);
	price_rates(p, 0, today, &r);
	put_rates(j, &r);
	ak_json_arr(j, "tiers");
	for (size_t i = 0; i < p->ntiers; i++) {
		price_rates(p, p->tiers[i].above + 1, today, &r);
		ak_json_obj(j, NULL);
		ak_json_u64(j, "above", p->tiers[i].above);
		put_rates(j, &r);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
	if (p->context)
		ak_json_u64(j, "context", p->context);
	else
		ak_json_null(j, "context");
	if (p->max_output)
		ak_json_u64(j, "max_output", p->max_output);
	else
		ak_json_null(j, "max_output");
	ak_json_str(j, "verified", *p->verified ? p->verified : NULL);
	ak_json_str(j, "valid_until", *p->valid_until ? p->valid_until : NULL);
	ak_json_str(j, "note", p->note);
	ak_json_str(j, "source", p->source);
	ak_json_str(j, "warning", *price_warning(p, today, warning, sizeof(warning)) ? warning : NULL);
	ak_json_obj_end(j);
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct price *)a)->id, ((const struct price *)b)->id);
}

static int list(struct prices *t, bool json, const char *today)
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	qsort(t->v, t->n, sizeof(*t->v), by_id);
	ak_json_init(&j, &b);
	if (json) {
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "schema", "ak-prices/1");
		ak_json_str(&j, "unit", "usd_per_mtok");
		ak_json_str(&j, "as_of", t->as_of);
		ak_json_u64(&j, "skipped", t->skipped);
		ak_json_arr(&j, "models");
	} else {
		ak_buf_printf(&b, "Built-in table of %s. Dollars per million tokens; \"+\": more for long prompts.\n\n", t->as_of);
		ak_buf_printf(&b, "%-34s %9s %9s %9s %9s  %-10s  %s\n", "MODEL", "IN", "OUT", "READ", "WRITE", "VERIFIED", "SOURCE");
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct price *p = &t->v[i];
		char text[RATE_COUNT][MONEY_TEXT];
		struct rates r;

		if (!price_known(p))
			continue;
		if (json) {
			put_json(&j, p, today);
			continue;
		}
		price_rates(p, 0, today, &r);
		for (unsigned k = 0; k < RATE_COUNT; k++)
			(void)dollars(r.v[k], text[k]);
		ak_buf_printf(&b, "%-33s%s %9s %9s %9s %9s  %-10s  %s\n", p->id, p->ntiers ? "+" : " ", text[RATE_INPUT],
			      text[RATE_OUTPUT], text[RATE_CACHE_READ], text[RATE_CACHE_WRITE],
			      *p->verified ? p->verified : "-", p->source);
	}
	if (json) {
		ak_json_arr_end(&j);
		ak_json_obj_end(&j);
		ak_buf_str(&b, "\n");
	}
	return flush(&b);
}

static void show_rates(struct ak_buf *b, const struct rates *r)
{
	static const char *const names[RATE_COUNT] = { "input", "output", "cache read", "cache write", "cache write 1h" };
	char text[MONEY_TEXT];

	for (unsigned i = 0; i < RATE_COUNT; i++)
		ak_buf_printf(b, "  %-15s %12s\n", names[i], dollars(r->v[i], text));
}

static void show_text(struct ak_buf *b, const struct price *p, const char *today)
{
	char warning[256];
	struct rates r;

	ak_buf_printf(b, "%s%s%s%s\n", p->id, p->provider ? " (" : "", p->provider ? p->provider : "",
		      p->provider ? ")" : "");
	ak_buf_str(b, "dollars per million tokens:\n");
	price_rates(p, 0, today, &r);
	show_rates(b, &r);
	for (size_t i = 0; i < p->ntiers; i++) {
		ak_buf_printf(b, "whole request, prompt over %" PRIu64 " tokens:\n", p->tiers[i].above);
		price_rates(p, p->tiers[i].above + 1, today, &r);
		show_rates(b, &r);
	}
	if (p->context)
		ak_buf_printf(b, "context:    %" PRIu64 " tokens\n", p->context);
	if (p->max_output)
		ak_buf_printf(b, "max output: %" PRIu64 " tokens\n", p->max_output);
	if (*p->valid_until)
		ak_buf_printf(b, "valid until %s\n", p->valid_until);
	ak_buf_printf(b, "verified:   %s\nsource:     %s\n", *p->verified ? p->verified : "unknown", p->source);
	if (p->note)
		ak_buf_printf(b, "note:       %s\n", p->note);
	if (*price_warning(p, today, warning, sizeof(warning)))
		ak_buf_printf(b, "warning:    %s\n", warning);
}

static int show(const struct prices *t, const char *model, bool json, const char *today)
{
	const struct price *p = prices_find(t, NULL, model);
	struct ak_buf b = { 0 };
	struct ak_err err = { 0 };
	struct ak_json j;

	if (!price_known(p)) {
		(void)ak_err_set(&err, ENOENT, "no price is known for \"%s\"", model);
		ak_err_hint(&err, "give one with --price in=..,out=.., or in ~/.config/ak/prices.json; ak prices list shows all");
		return cli_fail(&err, 1);
	}
	ak_json_init(&j, &b);
	if (json) {
		put_json(&j, p, today);
		ak_buf_str(&b, "\n");
	} else {
		show_text(&b, p, today);
	}
	return flush(&b);
}

int cmd_prices(int argc, char *argv[], char *envp[])
{
	bool json = false;
	bool help = false;
	const struct cli_opt opts[] = { { "json", 0, NULL, &json }, { "help", 'h', NULL, &help }, { NULL, 0, NULL, NULL } };
	const char *args[2];
	size_t n = 0;
	struct prices t = { 0 };
	struct ak_err err = { 0 };
	char today[11];
	bool listing;
	int rc;

	if (cli_opts(argc, argv, "prices", opts, args, 2, &n, &err) < 0)
		return cli_fail(&err, 2);
	if (help)
		return ak_write_all(STDOUT_FILENO, usage, sizeof(usage) - 1) < 0 ? 1 : 0;
	listing = n == 1 && strcmp(args[0], "list") == 0;
	if (!listing && (n != 2 || strcmp(args[0], "show") != 0)) {
		(void)ak_err_set(&err, EINVAL, "prices: expected \"list\" or \"show MODEL\" (see ak prices --help)");
		return cli_fail(&err, 2);
	}
	if (prices_load(&t, envp, &err) < 0) {
		prices_release(&t);
		return cli_fail(&err, 1);
	}
	(void)prices_today(today);
	rc = listing ? list(&t, json, today) : show(&t, args[1], json, today);
	prices_release(&t);
	return rc;
}
