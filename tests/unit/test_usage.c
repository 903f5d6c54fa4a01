/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of usage: one form for every provider, the last value of each field, sums that know what they do not know. */
#include "agent/usage.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"

static void feed(void (*read)(const struct cJSON *, struct usage *), struct usage *u, const char *text)
{
	struct cJSON *doc = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), 0, NULL, &doc, NULL), 0);
	read(doc, u);
	json_free(doc);
}

START_TEST(BUD_03_the_last_cumulative_value_wins)
{
	struct usage u = { 0 };

	feed(usage_anthropic, &u, "{\"input_tokens\":5,\"output_tokens\":1}");
	feed(usage_anthropic, &u, "{\"output_tokens\":10,\"input_tokens\":null}");
	feed(usage_anthropic, &u, "{\"output_tokens\":25}");
	ck_assert_uint_eq(u.output, 25);
	ck_assert_uint_eq(u.prompt_total, 5);
}
END_TEST

START_TEST(cache_writes_are_split_by_their_life)
{
	struct usage u = { 0 };

	feed(usage_anthropic, &u, "{\"cache_creation_input_tokens\":100,\"cache_creation\":{\"ephemeral_5m_input_tokens\":40,\"ephemeral_1h_input_tokens\":60}}");
	ck_assert_uint_eq(u.cache_write_5m, 40);
	ck_assert_uint_eq(u.cache_write_1h, 60);
	/* again, without the parts */
	feed(usage_anthropic, &u, "{\"cache_creation_input_tokens\":100}");
	ck_assert_uint_eq(u.cache_write_5m + u.cache_write_1h, 100);
	ck_assert_uint_eq(u.cache_write_1h, 60);
	feed(usage_anthropic, &u, "{\"cache_creation_input_tokens\":50}");
	ck_assert_uint_eq(u.cache_write_5m, 0);
	ck_assert_uint_eq(u.cache_write_1h, 50);
}
END_TEST

START_TEST(what_is_no_count_is_absent)
{
	struct usage u = { .input_uncached = 3, .output = 4 };

	feed(usage_anthropic, &u, "{\"input_tokens\":-1,\"output_tokens\":\"9\",\"cache_read_input_tokens\":1.5}");
	feed(usage_anthropic, &u, "{\"output_tokens\":99999999999999999999}");
	feed(usage_anthropic, &u, "[]");
	ck_assert_uint_eq(u.input_uncached, 3);
	ck_assert_uint_eq(u.output, 4);
	ck_assert_uint_eq(u.cache_read, 0);
}
END_TEST

START_TEST(inclusive_counts_never_go_below_zero)
{
	struct usage u = { 0 };

	feed(usage_chat, &u, "{\"prompt_tokens\":10,\"prompt_tokens_details\":{\"cached_tokens\":40,\"cache_write_tokens\":5}}");
	ck_assert_uint_eq(u.prompt_total, 10);
	ck_assert_uint_eq(u.cache_read, 10);
	ck_assert_uint_eq(u.input_uncached + u.cache_write_5m, 0);
	u = (struct usage){ 0 };
	feed(usage_responses, &u, "{\"input_tokens\":10,\"input_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":9}}");
	ck_assert_uint_eq(u.cache_write_5m, 6);
	ck_assert_uint_eq(u.input_uncached, 0);
}
END_TEST

START_TEST(cost_of_the_provider_is_exact)
{
	struct usage u = { 0 };

	feed(usage_chat, &u, "{\"prompt_tokens\":1,\"completion_tokens\":1,\"cost\":1.23e-05}");
	ck_assert_int_eq(u.cost_source, COST_PROVIDER);
	ck_assert_uint_eq(u.cost_picousd, 12300000);
	u = (struct usage){ 0 };
	feed(usage_chat, &u, "{\"cost\":null}");
	ck_assert_int_eq(u.cost_source, COST_NONE);
	feed(usage_chat, &u, "{\"cost\":-1}");
	ck_assert_int_eq(u.cost_source, COST_NONE);
}
END_TEST

START_TEST(a_sum_with_an_unknown_part_is_unknown)
{
	struct usage sum = { 0 };
	struct usage known = { .prompt_total = 1, .output = 1, .cost_source = COST_TABLE, .cost_picousd = 5 };
	struct usage paid = { .prompt_total = 1, .cost_source = COST_PROVIDER, .cost_picousd = 7 };
	struct usage unknown = { .prompt_total = 1, .output = 1 };

	usage_add(&sum, &paid);
	ck_assert_int_eq(sum.cost_source, COST_PROVIDER);
	usage_add(&sum, &known);
	ck_assert_int_eq(sum.cost_source, COST_TABLE);
	ck_assert_uint_eq(sum.cost_picousd, 12);
	usage_add(&sum, &unknown);
	ck_assert_int_eq(sum.cost_source, COST_NONE);
	usage_add(&sum, &known);
	ck_assert_int_eq(sum.cost_source, COST_NONE);
	ck_assert_uint_eq(sum.output, 3);
}
END_TEST

START_TEST(estimates_are_marked)
{
	struct usage u;

	usage_estimate(10, 1, &u);
	ck_assert(u.estimated);
	ck_assert_uint_eq(u.prompt_total, 4);
	ck_assert_uint_eq(u.output, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("usage");
	TCase *c = tcase_create("usage");
	SRunner *r;
	int failed;

	tcase_add_test(c, BUD_03_the_last_cumulative_value_wins);
	tcase_add_test(c, cache_writes_are_split_by_their_life);
	tcase_add_test(c, what_is_no_count_is_absent);
	tcase_add_test(c, inclusive_counts_never_go_below_zero);
	tcase_add_test(c, cost_of_the_provider_is_exact);
	tcase_add_test(c, a_sum_with_an_unknown_part_is_unknown);
	tcase_add_test(c, estimates_are_marked);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
