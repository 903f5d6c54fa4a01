/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of sums over traces: what counts, where, and what is no record. */
#include "agent/tally.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/money.h"
#include "agent/trace.h"
#include "agent/trace_int.h"
#include "executor/shared/ak_buf.h"

#define DAY_MS UINT64_C(86400000)
#define NOW UINT64_C(1796079541123) /* 2026-11-30 */

static int add_turn(struct tally *t, const struct trace_turn *turn, uint64_t ms)
{
	const struct trace tr = { .session_id = "s" };
	struct ak_buf b = { 0 };
	int rc;

	trace_record(&tr, turn, ms, false, &b);
	rc = tally_line(t, b.data, b.len - 1);
	ak_buf_release(&b);
	return rc;
}

static struct usage cost(uint64_t picousd)
{
	return (struct usage){ .input_uncached = 10, .cache_read = 5, .cache_write_5m = 1, .output = 3, .prompt_total = 16,
			       .cost_source = COST_TABLE, .cost_picousd = picousd };
}

START_TEST(records_count_for_their_day_model_and_tools)
{
	const struct trace_call calls[] = { { .name = "bash", .approved = TRACE_APPROVED }, { .name = "bash", .approved = TRACE_DENIED, .is_error = true },
					    { .name = "read_file" } };
	struct usage u = cost(1000000);
	struct trace_turn turn = { .model = "a", .usage = &u, .calls = calls, .ncalls = 3 };
	struct tally t = { 0 };

	ck_assert_int_eq(add_turn(&t, &turn, NOW), 1);
	ck_assert_int_eq(add_turn(&t, &turn, NOW - DAY_MS), 1);
	turn.model = "b";
	turn.ncalls = 0;
	turn.kind = "judge";
	u = cost(5000000);
	ck_assert_int_eq(add_turn(&t, &turn, NOW), 1);
	u.cost_source = COST_NONE;
	ck_assert_int_eq(add_turn(&t, &turn, NOW), 1);
	tally_sort(&t);
	ck_assert_uint_eq(t.all.turns, 2);
	ck_assert_uint_eq(t.all.input, 40);
	ck_assert_uint_eq(t.all.cached, 24);
	ck_assert_uint_eq(t.all.output, 12);
	ck_assert_uint_eq(t.all.cost_picousd, 7000000);
	ck_assert_uint_eq(t.all.unpriced, 1);
	ck_assert_uint_eq(t.all.calls, 6);
	ck_assert_uint_eq(t.days.n, 2);
	ck_assert_str_eq(t.days.v[0].name, "2026-11-30");
	ck_assert_str_eq(t.days.v[1].name, "2026-11-29");
	ck_assert_uint_eq(t.days.v[1].cost_picousd, 1000000);
	ck_assert_uint_eq(t.models.n, 2);
	ck_assert_str_eq(t.models.v[0].name, "b");
	ck_assert_uint_eq(t.models.v[0].turns, 0);
	ck_assert_uint_eq(t.tools.n, 2);
	ck_assert_str_eq(t.tools.v[0].name, "bash");
	ck_assert_uint_eq(t.tools.v[0].calls, 4);
	ck_assert_uint_eq(t.tools.v[0].errors, 2);
	ck_assert_uint_eq(t.tools.v[0].denied, 2);
	ck_assert_uint_eq(t.tools.v[1].denied, 0);
	tally_release(&t);
	ck_assert_uint_eq(t.all.turns, 0);
}
END_TEST

START_TEST(days_before_since_do_not_count)
{
	struct usage u = cost(1);
	struct trace_turn turn = { .model = "a", .usage = &u };
	struct tally t = { .since = "2026-11-30" };

	ck_assert_int_eq(add_turn(&t, &turn, NOW - DAY_MS), 0);
	ck_assert_int_eq(add_turn(&t, &turn, NOW), 1);
	ck_assert_uint_eq(t.skipped, 0);
	ck_assert_uint_eq(t.all.turns, 1);
	tally_release(&t);
}
END_TEST

START_TEST(what_is_no_record_is_skipped_and_counted)
{
	static const char *const bad[] = {
		"x", "{", "[]", "{}", "7", "{\"ts\":\"yesterday\",\"session_id\":\"s\"}", "{\"ts\":\"2026-11-30T00:00:00Z\"}",
		"{\"ts\":\"2026-11-30T00:00:00Z\",\"session_id\":\"s\",\"input_tokens\":-1}",
		"{\"ts\":\"2026-11-30T00:00:00Z\",\"session_id\":\"s\",\"estimated_cost_usd\":\"1\"}",
		"{\"ts\":\"2026-11-30\",\"session_id\":\"s\"}",
	};
	size_t n = sizeof(bad) / sizeof(bad[0]);
	struct tally t = { 0 };

	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(tally_line(&t, bad[i], strlen(bad[i])), 0);
	ck_assert_int_eq(tally_line(&t, "", 0), 0);
	ck_assert_uint_eq(t.skipped, n);
	ck_assert_uint_eq(t.days.n, 0);
	ck_assert_uint_eq(t.all.input, 0);
	tally_release(&t);
}
END_TEST

START_TEST(the_seeds_records_count_too)
{
	static const char line[] = "{\"ts\":\"2026-11-30T10:00:00+00:00\",\"session_id\":\"s\",\"iteration\":1,\"model\":\"m\",\"input_tokens\":100,"
				   "\"output_tokens\":20,\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"estimated_cost_usd\":0.0006,"
				   "\"tool_calls\":[],\"stop_reason\":\"end_turn\",\"compaction\":null}";
	struct tally t = { 0 };

	ck_assert_int_eq(tally_line(&t, line, sizeof(line) - 1), 1);
	ck_assert_uint_eq(t.all.turns, 1);
	ck_assert_uint_eq(t.all.cost_picousd, 600000000);
	tally_release(&t);
}
END_TEST

START_TEST(rows_are_bounded_and_their_names_clean)
{
	struct tally t = { 0 };
	char line[300];

	for (unsigned i = 0; i < TALLY_ROWS_MAX + 50; i++) {
		int n = snprintf(line, sizeof(line), "{\"ts\":\"2026-11-30T1\",\"session_id\":\"s\",\"model\":\"m%u\\u001b[2J\"}", i);

		ck_assert_int_eq(tally_line(&t, line, (size_t)n), 1);
	}
	ck_assert_uint_eq(t.models.n, TALLY_ROWS_MAX);
	ck_assert_str_eq(t.models.v[0].name, "m0?[2J");
	ck_assert_str_eq(t.models.v[TALLY_ROWS_MAX - 1].name, "(others)");
	ck_assert_uint_eq(t.models.v[TALLY_ROWS_MAX - 1].turns, 51);
	ck_assert_uint_eq(t.all.turns, TALLY_ROWS_MAX + 50);
	tally_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tally");
	TCase *t = tcase_create("tally");
	SRunner *r;
	int failed;

	tcase_add_test(t, records_count_for_their_day_model_and_tools);
	tcase_add_test(t, days_before_since_do_not_count);
	tcase_add_test(t, what_is_no_record_is_skipped_and_counted);
	tcase_add_test(t, the_seeds_records_count_too);
	tcase_add_test(t, rows_are_bounded_and_their_names_clean);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
