/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of budgets: what is exceeded, what a next call may cost, what is said. Case ids are those of the case list. */
#include "agent/budget.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/money.h"
#include "agent/prices.h"
#include "executor/shared/ak_err.h"

#define DAY "2026-11-30"
#define CENT (MONEY_USD / 100)

/* 3 dollars per million tokens in, 15 out, 0.30 for reading the cache, 3.75 for writing it */
static char model_id[] = "m";
static char local_id[] = "local";
static const struct price sonnet = {
	.id = model_id,
	.rates = { .v = { 3000000, 15000000, 300000, 3750000, 6000000 }, .has = 0x1f },
};
static const struct price free_model = { .id = local_id, .rates = { .has = 0x1f } };

static struct budget begin(const struct budget_limits *l)
{
	struct budget b;

	budget_start(&b, l, 1000);
	return b;
}

static struct budget_limits none(void)
{
	struct budget_limits l;

	budget_limits_init(&l);
	return l;
}

static struct usage tokens(uint64_t in, uint64_t out)
{
	return (struct usage){ .input_uncached = in, .prompt_total = in, .output = out, .cost_source = COST_TABLE };
}

static void book(struct budget *b, uint64_t in, uint64_t out, uint64_t cost)
{
	struct usage u = tokens(in, out);

	u.cost_picousd = cost;
	budget_add(b, &u);
}

#define EXCEEDED(b, want, text) do { \
	char reason_[BUDGET_REASON]; \
	ck_assert_int_eq(budget_exceeded((b), 1000, reason_), (want)); \
	ck_assert_str_eq(reason_, (text)); \
} while (0)

static struct budget_call a_call(uint64_t prompt, uint64_t max)
{
	return (struct budget_call){ .price = &sonnet, .today = DAY, .model = "m", .prompt_tokens = prompt, .max_tokens = max,
				     .is_turn = true };
}

static enum budget_which before(const struct budget *b, const struct budget_call *c, uint64_t *max, char *reason)
{
	*max = 77;
	return budget_before_call(b, c, 1000, max, reason);
}

/* --- exceeded --- */

START_TEST(no_limits_are_never_exceeded)
{
	struct budget_limits l = none();
	struct budget b = begin(&l);

	book(&b, UINT64_MAX, UINT64_MAX, MONEY_MAX);
	book(&b, 1, 1, 1);
	EXCEEDED(&b, BUDGET_OK, "");
}
END_TEST

START_TEST(default_is_25_turns_and_nothing_else)
{
	struct budget_limits l = none();

	ck_assert_uint_eq(l.turns, 25);
	ck_assert_uint_eq(l.cost_picousd, BUDGET_UNLIMITED);
	ck_assert_uint_eq(l.input_tokens, BUDGET_UNLIMITED);
	ck_assert_uint_eq(l.output_tokens, BUDGET_UNLIMITED);
	ck_assert_uint_eq(l.tool_calls, BUDGET_UNLIMITED);
	ck_assert_uint_eq(l.time_ms, BUDGET_UNLIMITED);
	ck_assert(!l.unknown_price_ok);
}
END_TEST

START_TEST(input_equal_to_the_limit_is_not_exceeded)
{
	struct budget_limits l = none();

	l.input_tokens = 1000;
	struct budget b = begin(&l);

	book(&b, 1000, 5, 0);
	EXCEEDED(&b, BUDGET_OK, "");
	book(&b, 1, 0, 0);
	EXCEEDED(&b, BUDGET_INPUT, "input_tokens 1001 > limit 1000");
}
END_TEST

START_TEST(input_counts_cached_parts_too)
{
	struct budget_limits l = none();
	struct usage u = { .input_uncached = 10, .cache_read = 80, .cache_write_5m = 20, .prompt_total = 110, .cost_source = COST_TABLE };

	l.input_tokens = 100;
	struct budget b = begin(&l);

	budget_add(&b, &u);
	EXCEEDED(&b, BUDGET_INPUT, "input_tokens 110 > limit 100");
}
END_TEST

START_TEST(output_equal_to_the_limit_is_not_exceeded)
{
	struct budget_limits l = none();

	l.output_tokens = 50;
	struct budget b = begin(&l);

	book(&b, 0, 50, 0);
	EXCEEDED(&b, BUDGET_OK, "");
	book(&b, 0, 1, 0);
	EXCEEDED(&b, BUDGET_OUTPUT, "output_tokens 51 > limit 50");
}
END_TEST

START_TEST(cost_equal_to_the_limit_is_not_exceeded)
{
	struct budget_limits l = none();

	l.cost_picousd = MONEY_USD;
	struct budget b = begin(&l);

	book(&b, 1, 1, MONEY_USD);
	EXCEEDED(&b, BUDGET_OK, "");
	book(&b, 1, 1, 20 * CENT);
	EXCEEDED(&b, BUDGET_COST, "cost $1.200000 > limit $1.00");
}
END_TEST

START_TEST(one_picodollar_over_is_over_and_the_text_shows_it)
{
	struct budget_limits l = none();

	l.cost_picousd = MONEY_USD;
	struct budget b = begin(&l);

	book(&b, 1, 1, MONEY_USD + 1);
	EXCEEDED(&b, BUDGET_COST, "cost $1.000000000001 > limit $1.00");
}
END_TEST

START_TEST(small_limits_show_their_decimals)
{
	struct budget_limits l = none();

	l.cost_picousd = MONEY_USD / 1000;
	struct budget b = begin(&l);

	book(&b, 1, 1, MONEY_USD / 500);
	EXCEEDED(&b, BUDGET_COST, "cost $0.002000 > limit $0.001");
	l.cost_picousd = 5;
	b = begin(&l);
	book(&b, 1, 1, 6);
	EXCEEDED(&b, BUDGET_COST, "cost $0.000000000006 > limit $0.000000000005");
}
END_TEST

START_TEST(a_limit_of_0_is_no_money_at_all)
{
	struct budget_limits l = none();

	l.cost_picousd = 0;
	struct budget b = begin(&l);

	EXCEEDED(&b, BUDGET_OK, "");
	book(&b, 1, 1, 400000);
	EXCEEDED(&b, BUDGET_COST, "cost $0.0000004 > limit $0.00");
}
END_TEST

START_TEST(tokens_are_named_before_cost_as_the_seed_does)
{
	struct budget_limits l = none();

	l.cost_picousd = 1;
	l.input_tokens = 1;
	l.time_ms = 0;
	struct budget b = begin(&l);

	book(&b, 2, 2, MONEY_USD);
	EXCEEDED(&b, BUDGET_INPUT, "input_tokens 2 > limit 1");
}
END_TEST

START_TEST(a_new_run_starts_from_nothing)
{
	struct budget_limits l = none();

	l.input_tokens = 10;
	struct budget b = begin(&l);

	book(&b, 11, 1, 1);
	budget_turn(&b);
	budget_tools(&b, 3);
	EXCEEDED(&b, BUDGET_INPUT, "input_tokens 11 > limit 10");
	b = begin(&l);
	EXCEEDED(&b, BUDGET_OK, "");
	ck_assert_uint_eq(b.turns, 0);
	ck_assert_uint_eq(b.tool_calls, 0);
	ck_assert_uint_eq(b.total.cost_picousd, 0);
}
END_TEST

START_TEST(BUD_09_a_million_small_bookings_make_exactly_a_dollar)
{
	struct budget_limits l = none();

	l.cost_picousd = MONEY_USD;
	struct budget b = begin(&l);

	for (unsigned i = 0; i < 1000000; i++)
		book(&b, 1, 1, 1000000);
	ck_assert_uint_eq(b.total.cost_picousd, MONEY_USD);
	EXCEEDED(&b, BUDGET_OK, "");
	book(&b, 0, 0, 1);
	EXCEEDED(&b, BUDGET_COST, "cost $1.000000000001 > limit $1.00");
}
END_TEST

START_TEST(BUD_09_the_upper_tier_is_of_the_whole_request)
{
	struct budget_limits l = none();
	struct price p = sonnet;
	struct budget_call c = a_call(200000, 1000000);
	char reason[BUDGET_REASON];
	uint64_t max;

	p.ntiers = 1;
	p.tiers[0] = (struct price_tier){ .above = 200000, .rates = { .v = { 6000000, 30000000, 600000, 7500000, 12000000 }, .has = 0x1f } };
	c.price = &p;
	l.cost_picousd = 10 * MONEY_USD;
	struct budget b = begin(&l);

	/* 200,000 x 6 (writing the cache for an hour) = 1.20; 8.80 / 15 */
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 586666);
	/* 200,001 x 12 = 2.400012; 7.599988 / 30 */
	c.prompt_tokens = 200001;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 253332);
	struct usage u = { .input_uncached = 200001, .prompt_total = 200001 };
	price_charge(&p, DAY, &u);
	budget_add(&b, &u);
	ck_assert_uint_eq(b.total.cost_picousd, UINT64_C(200001) * 6000000);
}
END_TEST

START_TEST(BUD_01_cached_tokens_cost_what_cached_tokens_cost)
{
	static const char text[] = "{\"input_tokens\":4,\"cache_read_input_tokens\":2455,\"cache_creation_input_tokens\":0,\"output_tokens\":23}";
	struct budget_limits l = none();
	struct usage u = { 0 };
	struct cJSON *doc;

	ck_assert_int_eq(json_parse(text, sizeof(text) - 1, 0, NULL, &doc, NULL), 0);
	usage_anthropic(doc, &u);
	json_free(doc);
	price_charge(&sonnet, DAY, &u);
	/* 4 x 3 + 2455 x 0.30 + 23 x 15 = 12 + 736.5 + 345 micro-dollars */
	l.cost_picousd = 1093500000;
	struct budget b = begin(&l);

	budget_add(&b, &u);
	ck_assert_uint_eq(b.total.cost_picousd, 1093500000);
	EXCEEDED(&b, BUDGET_OK, "");
	book(&b, 0, 0, 1);
	EXCEEDED(&b, BUDGET_COST, "cost $0.001094 > limit $0.0010935");
}
END_TEST

START_TEST(BUD_03_cumulative_reports_are_not_added_up)
{
	static const char *const events[] = { "{\"input_tokens\":9,\"output_tokens\":1}", "{\"output_tokens\":10}", "{\"output_tokens\":25}" };
	struct budget_limits l = none();
	struct usage u = { 0 };

	for (size_t i = 0; i < 3; i++) {
		struct cJSON *doc;

		ck_assert_int_eq(json_parse(events[i], strlen(events[i]), 0, NULL, &doc, NULL), 0);
		usage_anthropic(doc, &u);
		json_free(doc);
	}
	l.output_tokens = 25;
	struct budget b = begin(&l);

	budget_add(&b, &u);
	ck_assert_uint_eq(b.total.output, 25);
	ck_assert_uint_eq(b.total.prompt_total, 9);
	EXCEEDED(&b, BUDGET_OK, "");
}
END_TEST

START_TEST(lost_attempts_are_booked)
{
	struct budget_limits l = none();
	struct usage lost = tokens(100, 0);

	l.cost_picousd = CENT;
	struct budget b = begin(&l);

	lost.cost_picousd = CENT;
	book(&b, 1, 1, 1);
	budget_add(&b, &lost);
	EXCEEDED(&b, BUDGET_COST, "cost $0.010000000001 > limit $0.01");
	ck_assert_uint_eq(b.total.prompt_total, 101);
}
END_TEST

/* --- unknown price --- */

START_TEST(BUD_05_no_price_and_a_limit_of_money_is_refused_at_the_start)
{
	struct budget_limits l = none();
	struct ak_err err = { 0 };

	l.cost_picousd = CENT;
	ck_assert_int_eq(budget_need_price(&l, NULL, "no-such", &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "no-such"));
	ck_assert_str_ne(err.hint, "");
	ck_assert_int_eq(budget_need_price(&l, &sonnet, "m", &err), 0);
	ck_assert_int_eq(budget_need_price(&l, &free_model, "local", &err), 0);
}
END_TEST

START_TEST(BUD_05_no_price_is_allowed_without_such_a_limit_or_when_asked_for)
{
	struct budget_limits l = none();

	l.input_tokens = 10;
	ck_assert_int_eq(budget_need_price(&l, NULL, "no-such", NULL), 0);
	l.cost_picousd = CENT;
	l.unknown_price_ok = true;
	ck_assert_int_eq(budget_need_price(&l, NULL, "no-such", NULL), 0);
}
END_TEST

START_TEST(BUD_05_a_token_limit_holds_without_a_price)
{
	struct budget_limits l = none();
	struct usage u = { .input_uncached = 11, .prompt_total = 11, .cost_source = COST_NONE };

	l.input_tokens = 10;
	struct budget b = begin(&l);

	budget_add(&b, &u);
	EXCEEDED(&b, BUDGET_INPUT, "input_tokens 11 > limit 10");
}
END_TEST

START_TEST(BUD_05_a_second_model_without_a_price_is_not_called)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 2000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.cost_picousd = CENT;
	c.price = NULL;
	c.model = "judge-1";
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_COST);
	ck_assert_str_eq(reason, "next call: price of judge-1 is unknown, limit $0.01");
	ck_assert_uint_eq(max, 77);
	b.limits.unknown_price_ok = true;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 2000);
}
END_TEST

START_TEST(usage_nobody_can_price_ends_a_run_with_a_limit_of_money)
{
	struct budget_limits l = none();
	struct usage u = { .output = 3, .cost_source = COST_NONE };

	l.cost_picousd = CENT;
	struct budget b = begin(&l);

	budget_add(&b, &(struct usage){ 0 });
	EXCEEDED(&b, BUDGET_OK, "");
	budget_add(&b, &u);
	EXCEEDED(&b, BUDGET_COST, "cost unknown, limit $0.01");
	l.unknown_price_ok = true;
	b = begin(&l);
	budget_add(&b, &u);
	EXCEEDED(&b, BUDGET_OK, "");
	book(&b, 1, 1, 2 * CENT);
	EXCEEDED(&b, BUDGET_COST, "cost $0.020000 > limit $0.01");
}
END_TEST

/* --- before a call --- */

START_TEST(without_limits_a_call_gets_what_it_wishes)
{
	struct budget_limits l = none();
	struct budget b = begin(&l);
	struct budget_call c = a_call(1000000, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	c.price = NULL;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_str_eq(reason, "");
	ck_assert_uint_eq(max, 32000);
}
END_TEST

START_TEST(max_tokens_is_lowered_to_what_fits_the_money)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(1000, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.cost_picousd = 10 * CENT;
	struct budget b = begin(&l);

	/* 1000 x 6 = 0.006; (0.10 - 0.006) / 15 per million = 6266.6 */
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 6266);
	book(&b, 1, 1, 5 * CENT);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 2933);
}
END_TEST

START_TEST(what_fits_never_goes_over_and_one_token_more_would)
{
	struct budget_limits l = none();
	char reason[BUDGET_REASON];
	uint64_t max;

	for (uint64_t limit = 2 * CENT; limit < 30 * CENT; limit += 12345678901) {
		l.cost_picousd = limit;
		struct budget b = begin(&l);
		struct budget_call c = a_call(137, 1000000);

		book(&b, 1, 1, 123456789);
		ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
		ck_assert_uint_le(123456789 + price_bound(&sonnet, DAY, 137, max), limit);
		ck_assert_uint_gt(123456789 + price_bound(&sonnet, DAY, 137, max + 1), limit);
	}
}
END_TEST

START_TEST(at_least_1024_tokens_of_reply_must_fit)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(1000, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	/* 0.006 + 1024 x 15 = 0.02136 */
	l.cost_picousd = 21360000000;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 1024);
	b.limits.cost_picousd--;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_COST);
	ck_assert_str_eq(reason, "next call: cost $0.000000 + up to $0.021360 > limit $0.021359999999");
	ck_assert_uint_eq(max, 77);
	/* where rounded figures would not say so, all decimals are shown */
	b.limits.cost_picousd++;
	book(&b, 0, 0, 1);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_COST);
	ck_assert_str_eq(reason, "next call: cost $0.000000000001 + up to $0.02136 > limit $0.02136");
}
END_TEST

START_TEST(the_text_of_the_check_before_a_call)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(100000, 32000);
	char reason[BUDGET_REASON];
	char text[BUDGET_STOP_TEXT];
	uint64_t max;

	l.cost_picousd = MONEY_USD;
	struct budget b = begin(&l);

	book(&b, 1, 1, MONEY_USD / 2);
	/* 100,000 x 6 = 0.60, 1024 x 15 = 0.01536 */
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_COST);
	ck_assert_str_eq(reason, "next call: cost $0.500000 + up to $0.615360 > limit $1.00");
	ck_assert_str_eq(budget_stop_text(BUDGET_COST, reason, text),
			 "Stopped: budget exceeded (next call: cost $0.500000 + up to $0.615360 > limit $1.00).");
}
END_TEST

START_TEST(a_wish_for_fewer_than_1024_tokens_needs_no_more)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(1000, 100);
	char reason[BUDGET_REASON];
	uint64_t max;

	/* 0.006 + 100 x 15 = 0.0075 */
	l.cost_picousd = 7500000000;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 100);
	b.limits.cost_picousd--;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_COST);
}
END_TEST

START_TEST(BUD_07_a_prompt_that_is_too_dear_is_not_sent)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(1000000, 2000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.cost_picousd = 5 * MONEY_USD;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_COST);
	ck_assert_str_eq(reason, "next call: cost $0.000000 + up to $6.015360 > limit $5.00");
}
END_TEST

START_TEST(BUD_07_at_0_40_a_turn_and_1_00_in_all_there_are_at_most_3_requests)
{
	struct budget_limits l = none();
	char reason[BUDGET_REASON];
	unsigned requests = 0;
	uint64_t max;

	l.cost_picousd = MONEY_USD;
	struct budget b = begin(&l);

	for (; requests < 10; requests++) {
		struct budget_call c = a_call(5000, 32000);

		if (before(&b, &c, &max, reason) != BUDGET_OK)
			break;
		ck_assert_uint_le(b.total.cost_picousd + price_bound(&sonnet, DAY, 5000, max), MONEY_USD);
		book(&b, 5000, 100, 40 * CENT);
		budget_turn(&b);
	}
	ck_assert_uint_eq(requests, 3);
	ck_assert_str_eq(reason, "cost $1.200000 > limit $1.00");
}
END_TEST

START_TEST(BUD_07_replies_within_max_tokens_never_go_over)
{
	struct budget_limits l = none();
	char reason[BUDGET_REASON];
	unsigned seed = 7;
	uint64_t max;

	for (unsigned round = 0; round < 200; round++) {
		l.cost_picousd = CENT * (1 + (seed = seed * 1103515245u + 12345u) / 65536 % 300);
		struct budget b = begin(&l);

		for (unsigned i = 0; i < 100; i++) {
			uint64_t prompt = 100 + (seed = seed * 1103515245u + 12345u) / 65536 % 20000;
			struct budget_call c = a_call(prompt, 32000);
			struct usage u = tokens(prompt, 0);

			if (before(&b, &c, &max, reason) != BUDGET_OK)
				break;
			u.output = i % 3 ? max : max / 2;
			u.cost_source = COST_NONE;
			price_charge(&sonnet, DAY, &u);
			budget_add(&b, &u);
			EXCEEDED(&b, BUDGET_OK, "");
			b.turns = 0;
		}
		ck_assert_uint_le(b.total.cost_picousd, l.cost_picousd);
	}
}
END_TEST

START_TEST(no_money_means_no_call)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.cost_picousd = 0;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_COST);
	ck_assert_str_eq(reason, "next call: cost $0.000000 + up to $0.015420 > limit $0.00");
	/* what costs nothing needs none */
	c.price = &free_model;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 32000);
}
END_TEST

START_TEST(no_input_tokens_means_no_call)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.input_tokens = 0;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_INPUT);
	ck_assert_str_eq(reason, "next call: input_tokens 0 + at least 1 > limit 0");
}
END_TEST

START_TEST(a_small_limit_of_input_is_known_to_be_exceeded_only_afterwards)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(5000, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.input_tokens = 5;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	book(&b, 5, 1, 0);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	book(&b, 5, 1, 0);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_INPUT);
	ck_assert_str_eq(reason, "input_tokens 10 > limit 5");
}
END_TEST

START_TEST(no_output_tokens_means_no_call)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.output_tokens = 0;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OUTPUT);
	ck_assert_str_eq(reason, "next call: output_tokens 0 + up to 1024 > limit 0");
}
END_TEST

START_TEST(a_cut_answer_names_the_limit_that_cut_it)
{
	char reason[BUDGET_REASON];

	struct budget b = { .limits = { .output_tokens = 100, .cost_picousd = BUDGET_UNLIMITED } };

	ck_assert_int_eq(budget_cut_by(&b, 100), BUDGET_OUTPUT);
	ck_assert_int_eq(budget_cut_by(&b, 99), BUDGET_COST);
	b.total.output = 30;
	ck_assert_int_eq(budget_cut_by(&b, 70), BUDGET_OUTPUT);
	b.limits.output_tokens = BUDGET_UNLIMITED;
	ck_assert_int_eq(budget_cut_by(&b, 70), BUDGET_COST);
	b.limits = (struct budget_limits){ .output_tokens = 100, .cost_picousd = 2000000000000 };
	b.total.output = 100;
	b.total.cost_picousd = 1500000000000;
	budget_cut_text(&b, BUDGET_OUTPUT, reason);
	ck_assert_str_eq(reason, "the answer was cut: output_tokens 100, limit 100");
	budget_cut_text(&b, BUDGET_COST, reason);
	ck_assert_str_eq(reason, "the answer was cut: cost $1.500000, limit $2.00");
}
END_TEST

START_TEST(max_tokens_is_lowered_to_the_output_tokens_left)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.output_tokens = 5000;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 5000);
	book(&b, 10, 3976, 0);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 1024);
	book(&b, 10, 1, 0);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OUTPUT);
	ck_assert_str_eq(reason, "next call: output_tokens 3977 + up to 1024 > limit 5000");
}
END_TEST

START_TEST(a_limit_of_output_under_1024_allows_one_call)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.output_tokens = 500;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 500);
	book(&b, 10, 1, 0);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OUTPUT);
	ck_assert_str_eq(reason, "next call: output_tokens 1 + up to 500 > limit 500");
}
END_TEST

START_TEST(the_tighter_of_two_limits_decides_max_tokens)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(1000, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.cost_picousd = 10 * CENT;
	l.output_tokens = 6000;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 6000);
	b.limits.output_tokens = 7000;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
	ck_assert_uint_eq(max, 6266);
}
END_TEST

/* --- turns, tool calls, time --- */

START_TEST(turns_are_counted_and_none_follows_the_last)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	char text[BUDGET_STOP_TEXT];
	uint64_t max;

	l.turns = 2;
	struct budget b = begin(&l);

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
		budget_turn(&b);
	}
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_TURN);
	ck_assert_str_eq(reason, "turns 2 of 2 used");
	ck_assert_str_eq(budget_stop_text(BUDGET_TURN, reason, text), "Stopped: reached max iterations without a final answer.");
	/* the judge's call is no turn */
	c.is_turn = false;
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_OK);
}
END_TEST

START_TEST(no_turns_means_no_call)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.turns = 0;
	struct budget b = begin(&l);

	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_TURN);
}
END_TEST

START_TEST(a_batch_of_tool_calls_fits_whole_or_not)
{
	struct budget_limits l = none();
	char reason[BUDGET_REASON];

	l.tool_calls = 5;
	struct budget b = begin(&l);

	budget_tools(&b, 3);
	ck_assert_int_eq(budget_before_tools(&b, 2, 1000, reason), BUDGET_OK);
	ck_assert_str_eq(reason, "");
	ck_assert_int_eq(budget_before_tools(&b, 3, 1000, reason), BUDGET_TOOL);
	ck_assert_str_eq(reason, "tool_calls 6 > limit 5");
}
END_TEST

START_TEST(no_tool_calls_means_none)
{
	struct budget_limits l = none();
	char reason[BUDGET_REASON];

	l.tool_calls = 0;
	struct budget b = begin(&l);

	ck_assert_int_eq(budget_before_tools(&b, 0, 1000, reason), BUDGET_OK);
	ck_assert_int_eq(budget_before_tools(&b, 1, 1000, reason), BUDGET_TOOL);
	ck_assert_str_eq(reason, "tool_calls 1 > limit 0");
}
END_TEST

START_TEST(BUD_07_tools_are_not_run_once_money_or_tokens_are_exceeded)
{
	struct budget_limits l = none();
	char reason[BUDGET_REASON];

	l.cost_picousd = CENT;
	struct budget b = begin(&l);

	book(&b, 1, 1, 2 * CENT);
	ck_assert_int_eq(budget_before_tools(&b, 1, 1000, reason), BUDGET_COST);
	ck_assert_str_eq(reason, "cost $0.020000 > limit $0.01");
}
END_TEST

START_TEST(time_equal_to_the_limit_is_not_exceeded_but_leaves_no_call)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;

	l.time_ms = 60000;
	struct budget b = begin(&l);

	ck_assert_uint_eq(budget_deadline_ms(&b), 61000);
	ck_assert_int_eq(budget_exceeded(&b, 61000, reason), BUDGET_OK);
	ck_assert_int_eq(budget_before_call(&b, &c, 60999, &max, reason), BUDGET_OK);
	ck_assert_int_eq(budget_before_call(&b, &c, 61000, &max, reason), BUDGET_TIME);
	ck_assert_str_eq(reason, "next call: time 60s of 60s used");
	ck_assert_int_eq(budget_exceeded(&b, 62500, reason), BUDGET_TIME);
	ck_assert_str_eq(reason, "time 61.5s > limit 60s");
	ck_assert_int_eq(budget_before_tools(&b, 1, 62500, reason), BUDGET_TIME);
	/* a clock that goes back is no reason to stop */
	ck_assert_int_eq(budget_exceeded(&b, 0, reason), BUDGET_OK);
}
END_TEST

START_TEST(no_time_means_no_call_and_no_limit_means_no_end)
{
	struct budget_limits l = none();
	struct budget_call c = a_call(10, 32000);
	char reason[BUDGET_REASON];
	uint64_t max;
	struct budget b = begin(&l);

	ck_assert_uint_eq(budget_deadline_ms(&b), 0);
	l.time_ms = 0;
	b = begin(&l);
	ck_assert_uint_eq(budget_deadline_ms(&b), 1000);
	ck_assert_int_eq(before(&b, &c, &max, reason), BUDGET_TIME);
	ck_assert_str_eq(reason, "next call: time 0s of 0s used");
}
END_TEST

START_TEST(every_limit_has_its_exit_code_and_word)
{
	static const struct {
		enum budget_which w;
		int code;
		const char *word;
	} rows[] = {
		{ BUDGET_OK, 0, "success" },
		{ BUDGET_COST, 10, "error_max_cost" },
		{ BUDGET_INPUT, 11, "error_max_tokens" },
		{ BUDGET_OUTPUT, 11, "error_max_tokens" },
		{ BUDGET_TURN, 12, "error_max_turns" },
		{ BUDGET_TOOL, 12, "error_max_tool_calls" },
		{ BUDGET_TIME, 13, "error_timeout" },
	};
	char text[BUDGET_STOP_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(budget_exit_code(rows[i].w), rows[i].code);
		ck_assert_str_eq(budget_subtype(rows[i].w), rows[i].word);
	}
	ck_assert_str_eq(budget_stop_text(BUDGET_INPUT, "input_tokens 2 > limit 1", text),
			 "Stopped: budget exceeded (input_tokens 2 > limit 1).");
}
END_TEST

/* --- amounts, sizes --- */

START_TEST(amounts_are_read_exactly)
{
	static const struct {
		const char *text;
		uint64_t want;
	} rows[] = {
		{ "0", 0 }, { "0.00", 0 }, { "2", 2 * MONEY_USD }, { "0.50", MONEY_USD / 2 }, { ".5", MONEY_USD / 2 },
		{ "1.", MONEY_USD }, { "0.000000000001", 1 }, { "0.10000000000000", MONEY_USD / 10 }, { "007", 7 * MONEY_USD },
		{ "18446744", 18446744 * MONEY_USD },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t v = 99;

		ck_assert_int_eq(budget_parse_usd(rows[i].text, &v, NULL), 0);
		ck_assert_uint_eq(v, rows[i].want);
	}
}
END_TEST

START_TEST(what_is_no_amount_is_refused_and_touches_nothing)
{
	static const char *const bad[] = { "", ".", "-1", "+1", "1e3", "$2", "1,5", "1.2.3", "nan", "inf", " 1", "1 ", "0x10" };
	uint64_t v = 99;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ak_err err = { 0 };

		ck_assert_int_eq(budget_parse_usd(bad[i], &v, &err), -EINVAL);
		ck_assert_str_ne(err.msg, "");
	}
	ck_assert_int_eq(budget_parse_usd("0.0000000000001", &v, NULL), -EINVAL);
	ck_assert_int_eq(budget_parse_usd("18446745", &v, NULL), -ERANGE);
	ck_assert_int_eq(budget_parse_usd("18446744.073709551615", &v, NULL), -ERANGE);
	ck_assert_uint_eq(v, 99);
}
END_TEST

START_TEST(a_prompt_is_bounded_by_two_bytes_a_token_until_one_was_counted)
{
	struct prompt_meter m = { 0 };
	struct usage u = tokens(2500, 1);

	ck_assert_uint_eq(prompt_meter_bound(&m, 10001, 0), 5001);
	ck_assert_uint_eq(prompt_meter_bound(&m, 0, 2), 10000);
	prompt_meter_learn(&m, 10000, 0, &u);
	ck_assert_uint_eq(prompt_meter_bound(&m, 10000, 0), 2500);
	ck_assert_uint_eq(prompt_meter_bound(&m, 10600, 1), 2500 + 300 + PROMPT_IMAGE_TOKENS);
	/* after compaction */
	ck_assert_uint_eq(prompt_meter_bound(&m, 9000, 0), 2500);
	ck_assert_uint_eq(prompt_meter_bound(&m, 1000, 0), 500);
	ck_assert_uint_eq(prompt_meter_bound(&m, 9000, 1), 4500 + PROMPT_IMAGE_TOKENS);
}
END_TEST

START_TEST(an_estimate_teaches_nothing)
{
	struct prompt_meter m = { 0 };
	struct usage u = tokens(10, 1);

	u.estimated = true;
	prompt_meter_learn(&m, 10000, 0, &u);
	u = tokens(0, 1);
	prompt_meter_learn(&m, 10000, 0, &u);
	ck_assert_uint_eq(prompt_meter_bound(&m, 10000, 0), 5000);
	ck_assert_uint_eq(prompt_meter_bound(&m, UINT64_MAX, UINT64_MAX), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("budget");
	TCase *t = tcase_create("budget");
	SRunner *r;
	int failed;

	tcase_add_test(t, no_limits_are_never_exceeded);
	tcase_add_test(t, default_is_25_turns_and_nothing_else);
	tcase_add_test(t, input_equal_to_the_limit_is_not_exceeded);
	tcase_add_test(t, input_counts_cached_parts_too);
	tcase_add_test(t, output_equal_to_the_limit_is_not_exceeded);
	tcase_add_test(t, cost_equal_to_the_limit_is_not_exceeded);
	tcase_add_test(t, one_picodollar_over_is_over_and_the_text_shows_it);
	tcase_add_test(t, small_limits_show_their_decimals);
	tcase_add_test(t, a_limit_of_0_is_no_money_at_all);
	tcase_add_test(t, tokens_are_named_before_cost_as_the_seed_does);
	tcase_add_test(t, a_new_run_starts_from_nothing);
	tcase_add_test(t, BUD_09_a_million_small_bookings_make_exactly_a_dollar);
	tcase_add_test(t, BUD_09_the_upper_tier_is_of_the_whole_request);
	tcase_add_test(t, BUD_01_cached_tokens_cost_what_cached_tokens_cost);
	tcase_add_test(t, BUD_03_cumulative_reports_are_not_added_up);
	tcase_add_test(t, lost_attempts_are_booked);
	tcase_add_test(t, BUD_05_no_price_and_a_limit_of_money_is_refused_at_the_start);
	tcase_add_test(t, BUD_05_no_price_is_allowed_without_such_a_limit_or_when_asked_for);
	tcase_add_test(t, BUD_05_a_token_limit_holds_without_a_price);
	tcase_add_test(t, BUD_05_a_second_model_without_a_price_is_not_called);
	tcase_add_test(t, usage_nobody_can_price_ends_a_run_with_a_limit_of_money);
	tcase_add_test(t, without_limits_a_call_gets_what_it_wishes);
	tcase_add_test(t, max_tokens_is_lowered_to_what_fits_the_money);
	tcase_add_test(t, what_fits_never_goes_over_and_one_token_more_would);
	tcase_add_test(t, at_least_1024_tokens_of_reply_must_fit);
	tcase_add_test(t, the_text_of_the_check_before_a_call);
	tcase_add_test(t, a_wish_for_fewer_than_1024_tokens_needs_no_more);
	tcase_add_test(t, BUD_07_a_prompt_that_is_too_dear_is_not_sent);
	tcase_add_test(t, BUD_07_at_0_40_a_turn_and_1_00_in_all_there_are_at_most_3_requests);
	tcase_add_test(t, BUD_07_replies_within_max_tokens_never_go_over);
	tcase_add_test(t, no_money_means_no_call);
	tcase_add_test(t, no_input_tokens_means_no_call);
	tcase_add_test(t, a_small_limit_of_input_is_known_to_be_exceeded_only_afterwards);
	tcase_add_test(t, no_output_tokens_means_no_call);
	tcase_add_test(t, max_tokens_is_lowered_to_the_output_tokens_left);
	tcase_add_test(t, a_cut_answer_names_the_limit_that_cut_it);
	tcase_add_test(t, a_limit_of_output_under_1024_allows_one_call);
	tcase_add_test(t, the_tighter_of_two_limits_decides_max_tokens);
	tcase_add_test(t, turns_are_counted_and_none_follows_the_last);
	tcase_add_test(t, no_turns_means_no_call);
	tcase_add_test(t, a_batch_of_tool_calls_fits_whole_or_not);
	tcase_add_test(t, no_tool_calls_means_none);
	tcase_add_test(t, BUD_07_tools_are_not_run_once_money_or_tokens_are_exceeded);
	tcase_add_test(t, time_equal_to_the_limit_is_not_exceeded_but_leaves_no_call);
	tcase_add_test(t, no_time_means_no_call_and_no_limit_means_no_end);
	tcase_add_test(t, every_limit_has_its_exit_code_and_word);
	tcase_add_test(t, amounts_are_read_exactly);
	tcase_add_test(t, what_is_no_amount_is_refused_and_touches_nothing);
	tcase_add_test(t, a_prompt_is_bounded_by_two_bytes_a_token_until_one_was_counted);
	tcase_add_test(t, an_estimate_teaches_nothing);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
