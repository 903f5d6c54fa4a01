/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the price table: formats, merging, finding, what calls cost, bounds. */
#include "agent/prices.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/money.h"
#include "agent/usage.h"
#include "executor/shared/ak_err.h"

#define TODAY "2026-11-30"

static struct prices t;
static struct ak_err err;

static void set_up(void)
{
	char *env[] = { NULL };

	t = (struct prices){ 0 };
	ck_assert_msg(prices_load(&t, env, &err) == 0, "%s", err.msg);
}

static void tear_down(void)
{
	prices_release(&t);
}

static int add(const char *text)
{
	return prices_add(&t, text, strlen(text), "test", &err);
}

static uint64_t cost(const char *model, struct usage u)
{
	u.prompt_total = u.input_uncached + u.cache_read + u.cache_write_5m + u.cache_write_1h;
	price_charge(prices_find(&t, NULL, model), TODAY, &u);
	ck_assert_int_eq(u.cost_source, COST_TABLE);
	return u.cost_picousd;
}

START_TEST(built_in_table_is_whole)
{
	ck_assert_uint_ge(t.n, 29);
	ck_assert_str_eq(t.as_of, "2026-11-30");
	for (size_t i = 0; i < t.n; i++) {
		ck_assert_msg(price_known(&t.v[i]), "%s", t.v[i].id);
		ck_assert_msg(*t.v[i].verified, "%s", t.v[i].id);
		ck_assert_str_eq(t.v[i].source, "built-in");
	}
}
END_TEST

/* input 4, cache_read 2455, output 23 of claude-sonnet-5-5: 4 x 2 + 2455 x 0.1 + 23 x 10 dollars per million */
START_TEST(BUD_01_cache_reads_cost_their_own_rate)
{
	struct usage u = { .input_uncached = 4, .cache_read = 2455, .output = 23 };

	ck_assert_uint_eq(cost("claude-sonnet-5-5", u), 4 * 2000000 + 2455 * 100000 + 23 * 10000000);
}
END_TEST

START_TEST(cache_writes_cost_by_their_life)
{
	struct usage u = { .cache_write_5m = 10, .cache_write_1h = 100 };

	ck_assert_uint_eq(cost("claude-sonnet-5-5", u), 10 * 2500000 + 100 * 4000000);
}
END_TEST

START_TEST(BUD_09_the_upper_tier_is_for_the_whole_request)
{
	struct usage at = { .input_uncached = 200000, .output = 10 };
	struct usage above = { .input_uncached = 200000, .cache_read = 1, .output = 10 };

	ck_assert_uint_eq(cost("gemini-3.1-pro-preview", at), UINT64_C(200000) * 2000000 + 10 * 12000000);
	ck_assert_uint_eq(cost("gemini-3.1-pro-preview", above), UINT64_C(200000) * 4000000 + 400000 + 10 * 18000000);
}
END_TEST

START_TEST(the_providers_own_figure_stays)
{
	struct usage u = { .input_uncached = 4, .cost_source = COST_PROVIDER, .cost_picousd = 7 };

	price_charge(prices_find(&t, NULL, "claude-sonnet-5-5"), TODAY, &u);
	ck_assert_uint_eq(u.cost_picousd, 7);
	ck_assert_int_eq(u.cost_source, COST_PROVIDER);
}
END_TEST

START_TEST(BUD_05_an_unknown_price_is_not_zero)
{
	struct usage u = { .input_uncached = 4, .cost_picousd = 9 };

	ck_assert_ptr_null(prices_find(&t, NULL, "no-such"));
	price_charge(NULL, TODAY, &u);
	ck_assert_int_eq(u.cost_source, COST_NONE);
	ck_assert_uint_eq(price_bound(NULL, TODAY, 1, 1), MONEY_MAX);
	ck_assert(!price_known(NULL));
	ck_assert_int_eq(add("{\"schema\":\"ak-prices/1\",\"models\":{\"half\":{\"input\":1}}}"), 0);
	ck_assert(!price_known(prices_find(&t, NULL, "half")));
	ck_assert_int_eq(add("{\"schema\":\"ak-prices/1\",\"models\":{\"local\":{\"input\":0,\"output\":0}}}"), 0);
	ck_assert(price_known(prices_find(&t, NULL, "local")));
}
END_TEST

START_TEST(rates_that_are_not_said_are_never_zero)
{
	struct rates r;

	ck_assert_int_eq(add("{\"schema\":\"ak-prices/1\",\"models\":{\"claude-x\":{\"input\":2,\"output\":1},"
			     "\"other\":{\"input\":2,\"output\":1,\"tiers\":[{\"above\":5,\"input\":4}]}}}"), 0);
	price_rates(prices_find(&t, NULL, "claude-x"), 0, TODAY, &r);
	ck_assert_uint_eq(r.v[RATE_CACHE_READ], 2000000);
	ck_assert_uint_eq(r.v[RATE_CACHE_WRITE], 2500000);
	ck_assert_uint_eq(r.v[RATE_CACHE_WRITE_1H], 4000000);
	price_rates(prices_find(&t, NULL, "other"), 5, TODAY, &r);
	ck_assert_uint_eq(r.v[RATE_CACHE_WRITE_1H], 2000000);
	price_rates(prices_find(&t, NULL, "other"), 6, TODAY, &r);
	ck_assert_uint_eq(r.v[RATE_INPUT], 4000000);
	ck_assert_uint_eq(r.v[RATE_OUTPUT], 1000000);
	ck_assert_uint_eq(r.v[RATE_CACHE_READ], 4000000);
}
END_TEST

START_TEST(the_next_price_holds_after_the_last_day)
{
	const struct price *p = prices_find(&t, "gemini", "gemini-3.8-flash");
	struct rates r;
	char text[128];

	price_rates(p, 0, "2026-12-31", &r);
	ck_assert_uint_eq(r.v[RATE_INPUT], 750000);
	price_rates(p, 0, "2027-01-01", &r);
	ck_assert_uint_eq(r.v[RATE_INPUT], 1500000);
	ck_assert_uint_eq(r.v[RATE_OUTPUT], 7500000);
	ck_assert_str_eq(price_warning(p, TODAY, text, sizeof(text)), "");
	ck_assert_ptr_nonnull(strstr(price_warning(p, "2027-06-01", text, sizeof(text)), "over 180 days"));
}
END_TEST

START_TEST(finding_strips_and_never_guesses)
{
	static const struct {
		const char *provider, *ask, *want;
	} rows[] = {
		{ NULL, "claude-sonnet-5-5", "claude-sonnet-5-5" },
		{ NULL, "claude-sonnet-5-5-20261009", "claude-sonnet-5-5" },
		{ NULL, "gpt-5-mini-2026-01-31", "gpt-5-mini" },
		{ NULL, "anthropic/claude-sonnet-5-5:beta", "claude-sonnet-5-5" },
		{ NULL, "a/b/gpt-4.1", "gpt-4.1" },
		{ NULL, "claude-opus-5[1m]", "claude-opus-5" },
		{ "openai", "gpt-5", NULL },
		{ NULL, "gpt-5-mini-x", NULL },
		{ NULL, "GPT-4.1", NULL },
		{ NULL, "claude-sonnet-5-5-2026", NULL },
		{ NULL, "claude-sonnet", NULL },
		{ NULL, "", NULL },
		{ NULL, "/", NULL },
		{ "openrouter", "x/special", "openrouter/x/special" },
	};

	ck_assert_int_eq(add("{\"openrouter\":{\"models\":{\"x/special\":{\"cost\":{\"input\":1,\"output\":2}}}}}"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct price *p = prices_find(&t, rows[i].provider, rows[i].ask);

		ck_assert_msg((!p && !rows[i].want) || (p && rows[i].want && strcmp(p->id, rows[i].want) == 0), "%s: %s",
			      rows[i].ask, p ? p->id : "none");
	}
}
END_TEST

START_TEST(litellm_rows_are_exact)
{
	const struct price *p;
	struct rates r;

	ck_assert_int_eq(
		add("{\"sample_spec\":{\"max_tokens\":\"text\",\"input_cost_per_token\":0.0},"
		    "\"m\":{\"input_cost_per_token\":2.5e-06,\"output_cost_per_token\":0.00001,"
		    "\"cache_read_input_token_cost\":2.5e-07,\"cache_creation_input_token_cost\":3.125e-06,"
		    "\"cache_creation_input_token_cost_above_1hr\":5e-06,"
		    "\"input_cost_per_token_above_200k_tokens\":5e-06,\"output_cost_per_token_above_200k_tokens\":1.5e-05,"
		    "\"max_input_tokens\":1000000,\"max_output_tokens\":64000,\"litellm_provider\":\"anthropic\",\"mode\":\"chat\"},"
		    "\"image\":{\"litellm_provider\":\"x\",\"output_cost_per_image\":0.04},"
		    "\"odd\":{\"litellm_provider\":\"x\",\"input_cost_per_token\":1e-06,\"output_cost_per_token\":-1},"
		    "\"dear\":{\"litellm_provider\":\"x\",\"input_cost_per_token\":1e-06,\"output_cost_per_token\":1e-06,"
		    "\"cache_read_input_token_cost\":2e-06}}"),
		0);
	p = prices_find(&t, NULL, "m");
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->rates.v[RATE_INPUT], 2500000);
	ck_assert_uint_eq(p->rates.v[RATE_OUTPUT], 10000000);
	ck_assert_uint_eq(p->rates.v[RATE_CACHE_READ], 250000);
	ck_assert_uint_eq(p->rates.v[RATE_CACHE_WRITE], 3125000);
	ck_assert_uint_eq(p->rates.v[RATE_CACHE_WRITE_1H], 5000000);
	ck_assert_uint_eq(p->context, 1000000);
	ck_assert_uint_eq(p->max_output, 64000);
	price_rates(p, 200001, TODAY, &r);
	ck_assert_uint_eq(r.v[RATE_INPUT], 5000000);
	ck_assert_uint_eq(r.v[RATE_OUTPUT], 15000000);
	ck_assert_ptr_null(prices_find(&t, NULL, "image"));
	ck_assert_ptr_null(prices_find(&t, NULL, "odd"));
	ck_assert_ptr_null(prices_find(&t, NULL, "dear"));
	ck_assert_uint_eq(t.skipped, 3);
}
END_TEST

START_TEST(models_dev_rows)
{
	const struct price *p;
	struct rates r;

	ck_assert_int_eq(
		add("{\"anthropic\":{\"id\":\"anthropic\",\"models\":{\"c\":{\"cost\":{\"input\":3,\"output\":15,\"cache_read\":0.3,"
		    "\"cache_write\":3.75,\"context_over_200k\":{\"input\":6,\"output\":22.5}},"
		    "\"limit\":{\"context\":1000000,\"output\":64000}},\"free\":{}}}}"),
		0);
	p = prices_find(&t, "anthropic", "c");
	ck_assert_ptr_nonnull(p);
	ck_assert_str_eq(p->id, "anthropic/c");
	ck_assert_uint_eq(p->rates.v[RATE_CACHE_WRITE], 3750000);
	price_rates(p, 200001, TODAY, &r);
	ck_assert_uint_eq(r.v[RATE_INPUT], 6000000);
	ck_assert_uint_eq(r.v[RATE_CACHE_WRITE_1H], 12000000);
	ck_assert_uint_eq(t.skipped, 1);
	ck_assert_ptr_null(prices_find(&t, "openai", "c"));
}
END_TEST

START_TEST(files_lie_over_each_other_member_by_member)
{
	const struct price *p;

	ck_assert_int_eq(add("{\"schema\":\"ak-prices/1\",\"models\":{\"claude-opus-5\":{\"input\":7,\"verified\":\"2026-12-01\"}}}"), 0);
	p = prices_find(&t, NULL, "claude-opus-5");
	ck_assert_uint_eq(p->rates.v[RATE_INPUT], 7000000);
	ck_assert_uint_eq(p->rates.v[RATE_OUTPUT], 25000000);
	ck_assert_str_eq(p->source, "test");
	ck_assert_str_eq(p->verified, "2026-12-01");
	ck_assert_uint_eq(p->context, 1000000);
}
END_TEST

START_TEST(faults_in_a_price_file_are_named)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "" },
		{ "[]", "not a price file" },
		{ "{}", "not a price file" },
		{ "{\"a\":1}", "not a price file" },
		{ "{\"schema\":\"ak-prices/2\",\"models\":{}}", "not a price file" },
		{ "{\"schema\":\"ak-prices/1\"}", "models" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":[]}", "models" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":1}}", "models.m: expected an object" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{\"input\":-1,\"output\":1}}}", "models.m: input" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{\"input\":\"1\",\"output\":1}}}", "models.m: input" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{\"input\":1e99,\"output\":1}}}", "models.m: input" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{\"input\":1,\"output\":1,\"cache_read\":2}}}", "cache" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{\"input\":1,\"outptu\":1}}}", "\"outptu\"" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{\"verified\":\"2026-13-01\"}}}", "no date" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{\"tiers\":[{\"input\":1}]}}}", "above" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"\":{}}}", "without a name" },
		{ "{\"schema\":\"ak-prices/1\",\"unit\":\"eur\",\"models\":{}}", "usd_per_mtok" },
		{ "{\"schema\":\"ak-prices/1\",\"models\":{\"m\":{},\"m\":{}}}", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_msg(add(rows[i].text) == -EBADMSG, "%s", rows[i].text);
		ck_assert_msg(strstr(err.msg, rows[i].says), "%s: %s", rows[i].text, err.msg);
	}
}
END_TEST

START_TEST(price_option)
{
	const struct price *p;

	ck_assert_int_eq(prices_set(&t, "mine", "in=0.15,out=0.6,cache_read=0.075,cache_write=0.2,cache_write_1h=0.3", &err), 0);
	p = prices_find(&t, NULL, "mine");
	ck_assert_uint_eq(p->rates.v[RATE_INPUT], 150000);
	ck_assert_uint_eq(p->rates.v[RATE_CACHE_WRITE_1H], 300000);
	ck_assert_str_eq(p->source, "--price");
	ck_assert_int_eq(prices_set(&t, "gemini-2.5-pro", "in=1", &err), 0);
	ck_assert_uint_eq(prices_find(&t, NULL, "gemini-2.5-pro")->ntiers, 0);
	ck_assert_int_eq(prices_set(&t, "new", "in=1", &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "both needed"));
	static const char *const bad[] = { "", "in", "in=", "in=x", "in=-1", "in=1,in=2", "inn=1", "in=1,,out=2",
					   "in=1 ,out=2x", "in=1}", "in=1e400,out=1", "in=1,out=1,cache_read=2" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(prices_set(&t, "claude-opus-5", bad[i], &err) == -EINVAL, "%s", bad[i]);
}
END_TEST

START_TEST(the_bound_is_never_below_the_cost)
{
	const struct price *p = prices_find(&t, NULL, "claude-sonnet-5-5");
	struct usage u = { .cache_write_1h = 1000, .output = 50, .prompt_total = 1000 };

	price_charge(p, TODAY, &u);
	ck_assert_uint_eq(price_bound(p, TODAY, 1000, 50), u.cost_picousd);
	ck_assert_uint_eq(price_bound(p, TODAY, UINT64_MAX, 1), MONEY_MAX);
}
END_TEST

START_TEST(environment_names_a_file)
{
	char path[] = "/tmp/ak-prices-XXXXXX";
	int fd = mkstemp(path);
	char var[64];
	char *env[] = { var, NULL };
	static const char text[] = "{\"schema\":\"ak-prices/1\",\"models\":{\"e\":{\"input\":1,\"output\":1}}}";
	FILE *f = fdopen(fd, "w");

	ck_assert_int_eq(fputs(text, f) >= 0 && fclose(f) == 0, 1);
	(void)snprintf(var, sizeof(var), "AK_PRICES_FILE=%s", path);
	prices_release(&t);
	ck_assert_int_eq(prices_load(&t, env, &err), 0);
	ck_assert_str_eq(prices_find(&t, NULL, "e")->source, path);
	ck_assert_int_eq(remove(path), 0);
	prices_release(&t);
	ck_assert_int_eq(prices_load(&t, env, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prices");
	TCase *c = tcase_create("prices");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, built_in_table_is_whole);
	tcase_add_test(c, BUD_01_cache_reads_cost_their_own_rate);
	tcase_add_test(c, cache_writes_cost_by_their_life);
	tcase_add_test(c, BUD_09_the_upper_tier_is_for_the_whole_request);
	tcase_add_test(c, the_providers_own_figure_stays);
	tcase_add_test(c, BUD_05_an_unknown_price_is_not_zero);
	tcase_add_test(c, rates_that_are_not_said_are_never_zero);
	tcase_add_test(c, the_next_price_holds_after_the_last_day);
	tcase_add_test(c, finding_strips_and_never_guesses);
	tcase_add_test(c, litellm_rows_are_exact);
	tcase_add_test(c, models_dev_rows);
	tcase_add_test(c, files_lie_over_each_other_member_by_member);
	tcase_add_test(c, faults_in_a_price_file_are_named);
	tcase_add_test(c, price_option);
	tcase_add_test(c, the_bound_is_never_below_the_cost);
	tcase_add_test(c, environment_names_a_file);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
