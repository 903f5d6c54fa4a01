/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of error objects: every form a server sends them in gives its fault and one safe line. */
#include "agent/provider/provider.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	int status;
	const char *body;
	enum fault fault;
	const char *type, *message;
} rows[] = {
	{ 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"x\"},\"request_id\":\"req_1\"}", FAULT_REQUEST,
	  "invalid_request_error", "x" },
	{ 400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 > 8\"}}", FAULT_CONTEXT,
	  "invalid_request_error", "prompt is too long: 9 > 8" },
	{ 401, "{\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\",\"code\":\"invalid_api_key\"}}", FAULT_AUTH, "invalid_api_key", "no" },
	{ 402, "{\"error\":{\"message\":\"no credit\",\"code\":402}}", FAULT_BILLING, "402", "no credit" },
	{ 429, "{\"error\":{\"message\":\"slow\",\"type\":\"rate_limit_error\"}}", FAULT_RATE, "rate_limit_error", "slow" },
	{ 429, "{\"error\":{\"message\":\"q\",\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}", FAULT_BILLING,
	  "insufficient_quota", "q" },
	{ 429, "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"m\",\"details\":{\"error_code\":\"enforced_spend_limit_reached\"}}}",
	  FAULT_BILLING, "enforced_spend_limit_reached", "m" },
	{ 400, "[{\"error\":{\"code\":400,\"message\":\"bad\",\"status\":\"INVALID_ARGUMENT\"}}]", FAULT_REQUEST, "INVALID_ARGUMENT", "bad" },
	{ 400, "{\"object\":\"error\",\"message\":\"v\",\"type\":\"BadRequestError\",\"code\":400}", FAULT_REQUEST, "BadRequestError", "v" },
	{ 404, "{\"error\":\"model not found\"}", FAULT_REQUEST, "", "model not found" },
	{ 422, "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\"}]}", FAULT_REQUEST, "", "field required" },
	{ 422, "{\"detail\":\"plain\"}", FAULT_REQUEST, "", "plain" },
	{ 503, "{\"error\":{\"code\":503,\"message\":\"Loading model\",\"type\":\"unavailable_error\"}}", FAULT_OVERLOADED, "unavailable_error",
	  "Loading model" },
	{ 400, "{\"error\":{\"code\":400,\"message\":\"too big\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9000,\"n_ctx\":4096}}",
	  FAULT_CONTEXT, "exceed_context_size_error", "too big" },
	{ 502, "{\"error\":{\"message\":\"Provider returned error\",\"code\":502,\"metadata\":{\"raw\":\"upstream died\"}}}", FAULT_SERVER, "502",
	  "upstream died" },
	{ 529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}", FAULT_OVERLOADED, "overloaded_error",
	  "Overloaded" },
	{ 502, "<html><head><title>502 Bad Gateway</title></head></html>", FAULT_SERVER, "", "502 Bad Gateway" },
	{ 500, "", FAULT_SERVER, "", "" },
	{ 500, "null", FAULT_SERVER, "", "null" },
	{ 500, "{}", FAULT_SERVER, "", "" },
	{ 400, "{\"error\":{\"message\":\"a\\u001b[31m\\nb\\u0000c\"}}", FAULT_REQUEST, "", "a?[31m b\xef\xbf\xbd" "c" },
	{ 413, "x", FAULT_TOO_LARGE, "", "x" },
};

START_TEST(bodies)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_fault f;

		provider_fault_body(rows[i].status, rows[i].body, strlen(rows[i].body), &f);
		ck_assert_msg(f.fault == rows[i].fault, "%s: %s", rows[i].body, fault_info(f.fault)->name);
		ck_assert_int_eq(f.status, rows[i].status);
		ck_assert_str_eq(f.type, rows[i].type);
		ck_assert_str_eq(f.message, rows[i].message);
	}
}
END_TEST

START_TEST(what_else_a_body_says)
{
	struct provider_fault f;

	provider_fault_body(400, rows[0].body, strlen(rows[0].body), &f);
	ck_assert_str_eq(f.request_id, "req_1");
	provider_fault_body(400, rows[13].body, strlen(rows[13].body), &f);
	ck_assert_uint_eq(f.context, 4096);
}
END_TEST

START_TEST(long_messages_are_cut_at_a_character)
{
	char body[2000] = "{\"error\":{\"message\":\"";
	size_t n = strlen(body);
	struct provider_fault f;

	while (n < 1500) {
		memcpy(body + n, "\xc3\xa4", 2);
		n += 2;
	}
	memcpy(body + n, "\"}}", 4);
	provider_fault_body(400, body, strlen(body), &f);
	ck_assert_uint_lt(strlen(f.message), sizeof(f.message));
	ck_assert_uint_eq(strlen(f.message) % 2, 0);
	ck_assert_ptr_null(strchr(f.message, '?'));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("provider_errors");
	TCase *c = tcase_create("provider_errors");
	SRunner *r;
	int failed;

	tcase_add_test(c, bodies);
	tcase_add_test(c, what_else_a_body_says);
	tcase_add_test(c, long_messages_are_cut_at_a_character);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
