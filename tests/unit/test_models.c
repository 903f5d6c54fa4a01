/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of lists of models: the places where servers put the context, order, faults. */
#include "agent/provider/models.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

START_TEST(the_context_is_found_wherever_it_is)
{
	static const char text[] = "{\"object\":\"list\",\"data\":["
				   "{\"id\":\"z\",\"max_model_len\":32768},"
				   "{\"id\":\"a\",\"max_input_tokens\":200000,\"max_tokens\":64000},"
				   "{\"id\":\"l\",\"meta\":{\"n_ctx_train\":8192,\"n_ctx\":4096}},"
				   "{\"id\":\"o\",\"context_length\":1000,\"top_provider\":{\"max_completion_tokens\":500}},"
				   "{\"id\":\"n\",\"context_length\":null}]}";
	struct models m = { 0 };
	struct ak_err err;

	ck_assert_int_eq(models_parse(text, strlen(text), &m, &err), 0);
	ck_assert_uint_eq(m.n, 5);
	ck_assert_str_eq(m.v[0].id, "a");
	ck_assert_uint_eq(m.v[0].context, 200000);
	ck_assert_uint_eq(m.v[0].max_output, 64000);
	ck_assert_uint_eq(m.v[1].context, 4096);
	ck_assert_uint_eq(m.v[2].context, 0);
	ck_assert_uint_eq(m.v[3].max_output, 500);
	ck_assert_uint_eq(m.v[4].context, 32768);
	models_release(&m);
	ck_assert_int_eq(models_parse("[]", 2, &m, &err), 0);
	ck_assert_uint_eq(m.n, 0);
	models_release(&m);
}
END_TEST

START_TEST(what_is_no_list_is_refused)
{
	static const char *const bad[] = { "", "{", "{}", "{\"data\":{}}", "{\"data\":[1]}", "{\"data\":[{\"id\":1}]}", "<html>", "\"x\"" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct models m = { .n = 7 };
		struct ak_err err = { 0 };

		ck_assert_msg(models_parse(bad[i], strlen(bad[i]), &m, &err) == -EBADMSG, "%s", bad[i]);
		ck_assert_uint_eq(m.n, 7);
		ck_assert_int_ne(err.msg[0], 0);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("models");
	TCase *c = tcase_create("models");
	SRunner *r;
	int failed;

	tcase_add_test(c, the_context_is_found_wherever_it_is);
	tcase_add_test(c, what_is_no_list_is_refused);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
