/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of retries: what a failure means, what headers ask for, when the next attempt is. No clock, no waiting. */
#include "agent/retry.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/retry_time.h"
#include "executor/shared/ak_err.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define NOW 1764504000000u /* 2025-11-30T12:00:00Z */

static const struct {
	int status;
	const char *type;
	const char *message;
	enum fault fault;
} statuses[] = {
	{200, NULL, NULL, FAULT_NONE},
	{204, "", "", FAULT_NONE},
	{200, "overloaded_error", "Overloaded", FAULT_OVERLOADED},
	{200, "whatever", "", FAULT_SERVER},
	{100, NULL, NULL, FAULT_PROTOCOL},
	{301, NULL, NULL, FAULT_REDIRECT},
	{307, "api_error", NULL, FAULT_REDIRECT},
	{400, "invalid_request_error", "messages: bad", FAULT_REQUEST},
	{400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", FAULT_CONTEXT},
	{400, "invalid_request_error", "Prompt Is Too Long", FAULT_CONTEXT},
	{400, "invalid_request_error", "Your credit balance is too low to access", FAULT_BILLING},
	{400, "invalid_request_error", "You have reached your specified API usage limits.", FAULT_BILLING},
	{400, "context_length_exceeded", NULL, FAULT_CONTEXT},
	{400, "exceed_context_size_error", NULL, FAULT_CONTEXT},
	{400, "BadRequestError", "This model's maximum context length is 8192 tokens.", FAULT_CONTEXT},
	{400, "INVALID_ARGUMENT", "API key not valid", FAULT_REQUEST},
	{400, "content_filter", NULL, FAULT_REFUSAL},
	{400, "rate_limit_exceeded", NULL, FAULT_REQUEST}, /* the status says it is permanent */
	{401, "authentication_error", "invalid x-api-key", FAULT_AUTH},
	{401, NULL, NULL, FAULT_AUTH},
	{402, "billing_error", NULL, FAULT_BILLING},
	{403, "permission_error", NULL, FAULT_AUTH},
	{403, "insufficient_quota", NULL, FAULT_BILLING},
	{404, "not_found_error", "model: nope", FAULT_REQUEST},
	{405, NULL, NULL, FAULT_REQUEST},
	{408, NULL, NULL, FAULT_CONFLICT},
	{409, "conflict_error", NULL, FAULT_CONFLICT},
	{413, "request_too_large", NULL, FAULT_TOO_LARGE},
	{413, NULL, "prompt is too long", FAULT_CONTEXT},
	{422, NULL, NULL, FAULT_REQUEST},
	{429, "rate_limit_error", "slow", FAULT_RATE},
	{429, "rate_limit_exceeded", NULL, FAULT_RATE},
	{429, NULL, NULL, FAULT_RATE},
	{429, "insufficient_quota", NULL, FAULT_BILLING},
	{429, "enforced_spend_limit_reached", NULL, FAULT_BILLING},
	{429, "x", "You exceeded your current quota, please check your plan", FAULT_BILLING},
	{500, "api_error", NULL, FAULT_SERVER},
	{500, "invalid_request_error", "prompt is too long", FAULT_SERVER},
	{502, NULL, NULL, FAULT_SERVER},
	{503, NULL, "Loading model", FAULT_OVERLOADED},
	{504, "timeout_error", NULL, FAULT_SERVER},
	{529, "overloaded_error", NULL, FAULT_OVERLOADED},
	{599, NULL, NULL, FAULT_SERVER},
};

START_TEST(a_status_and_its_words_mean_one_fault)
{
	enum fault f = fault_of_status(statuses[_i].status, statuses[_i].type, statuses[_i].message);

	ck_assert_msg(f == statuses[_i].fault, "%d %s %s: %s", statuses[_i].status, statuses[_i].type,
		      statuses[_i].message, fault_info(f)->name);
}
END_TEST

START_TEST(an_error_inside_a_stream_means_one_fault)
{
	static const struct {
		const char *type, *message;
		enum fault fault;
	} rows[] = {
		{"overloaded_error", "Overloaded", FAULT_OVERLOADED},
		{"api_error", NULL, FAULT_SERVER},
		{"rate_limit_error", NULL, FAULT_RATE},
		{"rate_limit_exceeded", NULL, FAULT_RATE},
		{"server_error", NULL, FAULT_SERVER},
		{"insufficient_quota", NULL, FAULT_BILLING},
		{"context_length_exceeded", NULL, FAULT_CONTEXT},
		{"invalid_request_error", "prompt is too long: 5 > 4", FAULT_CONTEXT},
		{"invalid_request_error", "bad", FAULT_REQUEST},
		{"authentication_error", NULL, FAULT_AUTH},
		{"new_kind_of_error", "?", FAULT_SERVER},
		{"", NULL, FAULT_SERVER},
		{NULL, NULL, FAULT_SERVER},
	};

	for (size_t i = 0; i < N(rows); i++)
		ck_assert_msg(fault_of_stream(rows[i].type, rows[i].message) == rows[i].fault, "%s", rows[i].type);
}
END_TEST

START_TEST(every_end_of_a_transfer_is_a_fault_with_a_row)
{
	for (int e = 0; e < HTTP_END_COUNT; e++) {
		enum fault f = fault_of_end((enum http_end)e);

		ck_assert((f == FAULT_NONE) == (e == HTTP_DONE));
		ck_assert(strlen(http_end_text((enum http_end)e)) > 0);
	}
	for (int f = 0; f < FAULT_COUNT; f++) {
		const struct fault_info *info = fault_info((enum fault)f);

		ck_assert_ptr_nonnull(info->name);
		ck_assert((info->exit_code == 0) == (f == FAULT_NONE));
		for (int g = 0; g < f; g++)
			ck_assert_str_ne(info->name, fault_info((enum fault)g)->name);
	}
	ck_assert_int_eq(fault_of_end(HTTP_STALLED_HEAD), FAULT_STALLED);
	ck_assert_int_eq(fault_of_end(HTTP_CUT), FAULT_CUT);
	ck_assert_int_eq(fault_of_end(HTTP_TLS), FAULT_TLS);
	ck_assert_int_eq(fault_of_end(HTTP_CANCELLED), FAULT_CANCELLED);
	ck_assert_int_eq(fault_info(FAULT_AUTH)->exit_code, 3);
	ck_assert_int_eq(fault_info(FAULT_STALLED)->exit_code, 4);
	ck_assert_int_eq(fault_info(FAULT_OVERTIME)->exit_code, 13);
	ck_assert_int_eq(fault_info(FAULT_REFUSAL)->exit_code, 14);
	ck_assert_int_eq(fault_info(FAULT_CONTEXT)->exit_code, 15);
}
END_TEST

/* Headers as "name", "value", ... up to NULL */
static struct retry_hint hint_of(int status, const char *const *pairs)
{
	struct http_header list[8];
	struct http_reply reply = {.status = status, .headers = list};
	struct retry_hint hint;

	for (size_t i = 0; pairs[2 * i]; i++)
		list[reply.nheaders++] = (struct http_header){.name = pairs[2 * i], .value = pairs[2 * i + 1]};
	retry_hint_from(&reply, NOW, &hint);
	return hint;
}

#define NONE UINT64_MAX

static const struct {
	int status;
	const char *pairs[9];
	uint64_t wait;
	int should;
} hints[] = {
	{429, {NULL}, NONE, -1},
	{429, {"retry-after", "7"}, 7000, -1},
	{429, {"retry-after", "0"}, 0, -1},
	{429, {"retry-after", "1.5"}, 1500, -1},
	{429, {"retry-after", "0.0001"}, 1, -1},
	{529, {"retry-after", "3"}, 3000, -1},
	{429, {"retry-after-ms", "250", "retry-after", "9"}, 250, -1},
	{429, {"retry-after-ms", "250.5"}, 251, -1},
	{429, {"retry-after-ms", "soon", "retry-after", "9"}, 9000, -1},
	{429, {"retry-after", "Sun, 30 Nov 2025 12:00:05 GMT"}, 5000, -1},
	{429, {"retry-after", "Sunday, 30-Nov-25 12:01:00 GMT"}, 60000, -1},
	{429, {"retry-after", "Sun Nov 30 12:00:01 2025"}, 1000, -1},
	{429, {"retry-after", "Sun, 30 Nov 2025 11:00:00 GMT"}, 0, -1},
	{429, {"retry-after", "-1"}, NONE, -1},
	{429, {"retry-after", "1 "}, NONE, -1},
	{429, {"retry-after", ""}, NONE, -1},
	{429, {"retry-after", "Infinity"}, NONE, -1},
	{429, {"retry-after", "99999999999999999999999999"}, NONE, -1},
	{429, {"retry-after", "1e9"}, NONE, -1},
	{429, {"retry-after", "999999999"}, RETRY_WAIT_MAX_MS, -1},
	{429, {"x-should-retry", "true"}, NONE, 1},
	{429, {"x-should-retry", "False"}, NONE, 0},
	{429, {"x-should-retry", "maybe"}, NONE, -1},
	/* rate limit headers: groups that have nothing left, the longest */
	{429, {"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1s"}, 1000, -1},
	{429, {"x-ratelimit-remaining-requests", "3", "x-ratelimit-reset-requests", "1s"}, NONE, -1},
	{429, {"x-ratelimit-reset-requests", "1s"}, NONE, -1},
	{429,
	 {"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "20ms", "x-ratelimit-remaining-tokens", "0",
	  "x-ratelimit-reset-tokens", "6m0s"},
	 360000,
	 -1},
	{429,
	 {"x-ratelimit-remaining-requests", "9", "x-ratelimit-reset-requests", "1h", "x-ratelimit-remaining-tokens", "0",
	  "x-ratelimit-reset-tokens", "1m1.5s"},
	 61500,
	 -1},
	{429,
	 {"anthropic-ratelimit-input-tokens-remaining", "0", "anthropic-ratelimit-input-tokens-reset",
	  "2025-11-30T12:00:10Z"},
	 10000,
	 -1},
	{429, {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1764504012000"}, 12000, -1},
	{429, {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "1764504012"}, 12000, -1},
	{429, {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "12"}, 12000, -1},
	{503, {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "12"}, 12000, -1},
	{500, {"x-ratelimit-remaining", "0", "x-ratelimit-reset", "12"}, NONE, -1},
	{429, {"retry-after", "2", "x-ratelimit-remaining", "0", "x-ratelimit-reset", "12"}, 2000, -1},
};

START_TEST(headers_ask_for_a_wait_in_every_form)
{
	struct retry_hint h = hint_of(hints[_i].status, hints[_i].pairs);

	ck_assert_msg(h.has_wait == (hints[_i].wait != NONE), "row %d: %d", _i, h.has_wait);
	ck_assert_msg(!h.has_wait || h.wait_ms == hints[_i].wait, "row %d: %llu", _i, (unsigned long long)h.wait_ms);
	ck_assert_int_eq(h.should_retry, hints[_i].should);
}
END_TEST

START_TEST(dates_that_do_not_exist_are_refused)
{
	static const char *const good[] = {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
					   "Sun Nov  6 08:49:37 1994"};
	static const char *const bad[] = {
		"",
		"Sun",
		"Sun, ",
		"Sun, 6 Nov 1994 08:49:37 GMT",
		"Sun, 31 Feb 1994 08:49:37 GMT",
		"Sun, 06 Nix 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:49:37 GMT",
		"Sun, 06 Nov 1994 08:49:37 CET",
		"Sun, 06 Nov 1994 08:49:37 GMT ",
		"Sun, 06 Nov 1894 08:49:37 GMT",
		"Sun, 29 Feb 2023 08:49:37 GMT",
		"Sun Nov 6 08:49:37 1994",
		"06 Nov 1994 08:49:37 GMT",
		"Sun,06 Nov 1994 08:49:37 GMT",
	};
	uint64_t ms = 5;

	for (size_t i = 0; i < N(good); i++) {
		ck_assert_msg(retry_parse_date(good[i], &ms) == 0, "%s", good[i]);
		ck_assert_uint_eq(ms, 784111777000u);
	}
	ms = 5;
	for (size_t i = 0; i < N(bad); i++) {
		ck_assert_msg(retry_parse_date(bad[i], &ms) == -EINVAL, "%s", bad[i]);
		ck_assert_uint_eq(ms, 5);
	}
	ck_assert_int_eq(retry_parse_date("Thu, 29 Feb 2024 00:00:00 GMT", &ms), 0);
	ck_assert_uint_eq(ms, 1709164800000u);
}
END_TEST

START_TEST(moments_and_spans)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} moments[] = {
		{"2025-11-30T12:00:00Z", NOW},	       {"2025-11-30T12:00:00.5Z", NOW + 500},
		{"2025-11-30t12:00:00.0001z", NOW + 1}, {"2025-11-30T13:00:00+01:00", NOW},
		{"2025-11-30 10:30:00-01:30", NOW},     {"1970-01-01T00:00:00Z", 0},
		{"2025-11-30T12:00:00", NONE},	       {"2025-11-30", NONE},
		{"2025-13-30T12:00:00Z", NONE},	       {"2025-11-30T12:00:00Z+", NONE},
		{"2025-11-30T12:00:00+1:00", NONE},     {"1970-01-01T00:00:00+01:00", NONE},
		{"", NONE},
	};
	static const struct {
		const char *text;
		uint64_t ms;
	} spans[] = {
		{"1s", 1000},  {"6m0s", 360000}, {"20ms", 20},	  {"1h2m3.5s", 3723500}, {"1d", 86400000},
		{"7", 7000},   {"0", 0},	 {"0.25s", 250}, {"1.0001ms", 2},	 {"1m1ms", 60001},
		{"", NONE},    {"s", NONE},	 {"1x", NONE},	  {"1s ", NONE},	 {"-1s", NONE},
		{"1.s", NONE}, {"1s2", NONE},	 {"1 s", NONE},  {"99999999999999999999s", NONE},
	};
	uint64_t ms;

	for (size_t i = 0; i < N(moments); i++) {
		ms = NONE;
		ck_assert_msg(retry_parse_rfc3339(moments[i].text, &ms) == (moments[i].ms == NONE ? -EINVAL : 0), "%s",
			      moments[i].text);
		ck_assert_msg(ms == moments[i].ms, "%s: %llu", moments[i].text, (unsigned long long)ms);
	}
	for (size_t i = 0; i < N(spans); i++) {
		ms = NONE;
		ck_assert_msg(retry_parse_span(spans[i].text, &ms) == (spans[i].ms == NONE ? -EINVAL : 0), "%s",
			      spans[i].text);
		ck_assert_msg(ms == spans[i].ms, "%s: %llu", spans[i].text, (unsigned long long)ms);
	}
}
END_TEST

START_TEST(waits_double_up_to_the_cap_less_a_quarter_at_most)
{
	const struct retry_policy policy = {.tries = 12, .base_ms = 500, .cap_ms = 8000, .budget_ms = 10000000};
	const uint64_t want[] = {500, 1000, 2000, 4000, 8000, 8000, 8000, 8000, 8000, 8000, 8000};
	bool differ = false;
	uint64_t first = 0;

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct retry r;
		uint64_t wait = 0;

		retry_init(&r, &policy, seed);
		for (size_t i = 0; i < N(want); i++) {
			ck_assert(retry_next(&r, FAULT_SERVER, NULL, 0, false, &wait, NULL));
			ck_assert_msg(wait <= want[i] && wait >= want[i] - want[i] / 4, "%zu: %llu", i,
				      (unsigned long long)wait);
			if (i == 0 && seed == 0)
				first = wait;
			differ = differ || (i == 0 && wait != first);
		}
		wait = 77;
		ck_assert(!retry_next(&r, FAULT_SERVER, NULL, 0, false, &wait, NULL));
		ck_assert_uint_eq(wait, 77);
	}
	ck_assert(differ);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_waits)
{
	struct retry a;
	struct retry b;
	uint64_t x = 0;
	uint64_t y = 1;

	retry_init(&a, NULL, 42);
	retry_init(&b, NULL, 42);
	for (unsigned i = 1; i < RETRY_TRIES; i++) {
		ck_assert(retry_next(&a, FAULT_CUT, NULL, 0, false, &x, NULL));
		ck_assert(retry_next(&b, FAULT_CUT, NULL, 0, false, &y, NULL));
		ck_assert_uint_eq(x, y);
	}
}
END_TEST

/* One attempt has failed. Return: the wait, or NONE; the reason in @err. */
static uint64_t once(enum fault f, const struct retry_hint *hint, uint64_t elapsed, bool free_key, struct ak_err *err)
{
	struct retry r;
	uint64_t wait = NONE;

	retry_init(&r, NULL, 1);
	(void)retry_next(&r, f, hint, elapsed, free_key, &wait, err);
	return wait;
}

START_TEST(what_is_final_is_never_tried_again)
{
	static const enum fault final[] = {FAULT_AUTH,	  FAULT_BILLING,  FAULT_REQUEST,   FAULT_CONTEXT,
					   FAULT_TLS,	  FAULT_REFUSAL,  FAULT_CANCELLED, FAULT_OVERTIME,
					   FAULT_INTERNAL, FAULT_REDIRECT, FAULT_TOO_LARGE, FAULT_NONE};
	static const enum fault again[] = {FAULT_CONFLICT, FAULT_RATE,	   FAULT_OVERLOADED, FAULT_SERVER,
					   FAULT_NETWORK,  FAULT_STALLED, FAULT_CUT};
	const struct retry_hint yes = {.should_retry = 1, .has_wait = true, .wait_ms = 5};
	const struct retry_hint no = {.should_retry = 0};
	struct ak_err err = {.code = 1, .msg = "old"};

	for (size_t i = 0; i < N(final); i++) {
		ck_assert_uint_eq(once(final[i], NULL, 0, false, &err), NONE);
		ck_assert_str_eq(err.msg, "");
		ck_assert_uint_eq(once(final[i], &yes, 0, false, NULL), NONE);
	}
	for (size_t i = 0; i < N(again); i++) {
		ck_assert_uint_ne(once(again[i], NULL, 0, false, NULL), NONE);
		ck_assert_uint_eq(once(again[i], &yes, 0, false, NULL), 5);
		ck_assert_uint_eq(once(again[i], &no, 0, false, &err), NONE);
		ck_assert_str_eq(err.msg, "the provider asks not to try again");
	}
	ck_assert_uint_eq(once(FAULT_PROTOCOL, NULL, 0, false, NULL), NONE);
	ck_assert_uint_eq(once(FAULT_PROTOCOL, &yes, 0, false, NULL), 5);
}
END_TEST

START_TEST(another_key_is_tried_at_once)
{
	const struct retry_hint wait = {.should_retry = -1, .has_wait = true, .wait_ms = 3600000};

	ck_assert_uint_eq(once(FAULT_RATE, &wait, 0, true, NULL), 0);
	ck_assert_uint_eq(once(FAULT_AUTH, NULL, 0, true, NULL), 0);
	ck_assert_uint_eq(once(FAULT_BILLING, NULL, 0, true, NULL), 0);
	ck_assert_uint_eq(once(FAULT_REQUEST, NULL, 0, true, NULL), NONE);
}
END_TEST

START_TEST(the_budget_of_time_is_never_passed)
{
	const struct retry_hint hour = {.should_retry = -1, .has_wait = true, .wait_ms = 3600000};
	const struct retry_hint edge = {.should_retry = -1, .has_wait = true, .wait_ms = 1000};
	struct ak_err err = {0};

	ck_assert_uint_eq(once(FAULT_RATE, &hour, 60000, false, &err), NONE);
	ck_assert_str_eq(err.msg, "the provider asks to wait 3600 s, and 540 s are left");
	ck_assert_uint_eq(once(FAULT_RATE, &edge, RETRY_BUDGET_MS - 1000, false, &err), 1000);
	ck_assert_uint_eq(once(FAULT_RATE, &edge, RETRY_BUDGET_MS - 999, false, &err), NONE);
	ck_assert_uint_eq(once(FAULT_CUT, NULL, RETRY_BUDGET_MS, false, &err), NONE);
	ck_assert_str_eq(err.msg, "gave up after 1 attempt: the time for retries is over");
	ck_assert_uint_eq(once(FAULT_CUT, NULL, RETRY_BUDGET_MS + 5, true, &err), NONE);
}
END_TEST

START_TEST(the_number_of_attempts_is_exact)
{
	const struct retry_policy one = {.tries = 1};
	struct ak_err err = {0};
	struct retry r;
	uint64_t wait = 0;
	unsigned n = 1;

	retry_init(&r, NULL, 7);
	while (retry_next(&r, FAULT_OVERLOADED, NULL, 0, false, &wait, &err))
		n++;
	ck_assert_uint_eq(n, RETRY_TRIES);
	ck_assert_str_eq(err.msg, "gave up after 6 attempts");
	retry_init(&r, &one, 7);
	ck_assert(!retry_next(&r, FAULT_OVERLOADED, NULL, 0, false, &wait, &err));
	ck_assert_str_eq(err.msg, "gave up after 1 attempt");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("retry");
	TCase *t = tcase_create("retry");

	tcase_add_loop_test(t, a_status_and_its_words_mean_one_fault, 0, N(statuses));
	tcase_add_test(t, an_error_inside_a_stream_means_one_fault);
	tcase_add_test(t, every_end_of_a_transfer_is_a_fault_with_a_row);
	tcase_add_loop_test(t, headers_ask_for_a_wait_in_every_form, 0, N(hints));
	tcase_add_test(t, dates_that_do_not_exist_are_refused);
	tcase_add_test(t, moments_and_spans);
	tcase_add_test(t, waits_double_up_to_the_cap_less_a_quarter_at_most);
	tcase_add_test(t, the_same_seed_gives_the_same_waits);
	tcase_add_test(t, what_is_final_is_never_tried_again);
	tcase_add_test(t, another_key_is_tried_at_once);
	tcase_add_test(t, the_budget_of_time_is_never_passed);
	tcase_add_test(t, the_number_of_attempts_is_exact);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
