/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/run_words.h"
#include "executor/shared/ak_err.h"

static struct run_words w;
static struct ak_err err;

static int split(int argc, const char *const argv[])
{
	err = (struct ak_err){ 0 };
	return run_words_split(argc, (char *const *)(uintptr_t)argv, &w, &err);
}
#define SPLIT(...) split((int)(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)), (const char *[]){ __VA_ARGS__ })

static void is(char **list, int n, const char *want)
{
	char got[512] = "";

	size_t at = 0;

	for (int i = 0; i < n; i++)
		at += (size_t)snprintf(got + at, sizeof(got) - at, "%s|", list[i]);
	ck_assert_str_eq(got, want);
}

START_TEST(each_word_goes_to_one_side_with_its_value)
{
	ck_assert_int_eq(SPLIT("-C", "d", "-m", "x/y", "--memory=1g", "fix it", "--net", "none", "-y", "-o", "json"), 0);
	is(w.shape, w.nshape, "-C|d|--memory=1g|--net|none|");
	is(w.agent, w.nagent, "-m|x/y|fix it|-y|-o|json|");
	run_words_release(&w);
}
END_TEST

START_TEST(a_value_is_never_taken_for_an_option)
{
	ck_assert_int_eq(SPLIT("--system-prompt", "--net=host", "--env", "--yes", "p"), 0);
	is(w.shape, w.nshape, "--env|--yes|");
	is(w.agent, w.nagent, "--system-prompt|--net=host|p|");
	run_words_release(&w);
}
END_TEST

START_TEST(behind_two_dashes_all_is_the_agents)
{
	ck_assert_int_eq(SPLIT("--write", "none", "--", "--net=host"), 0);
	is(w.shape, w.nshape, "--write|none|");
	is(w.agent, w.nagent, "--|--net=host|");
	run_words_release(&w);
}
END_TEST

START_TEST(the_form_of_the_result_is_the_last_that_was_said)
{
	ck_assert_int_eq(SPLIT("p"), 0);
	ck_assert_int_eq(w.output, RUN_OUTPUT_TEXT);
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("--json", "p"), 0);
	ck_assert_int_eq(w.output, RUN_OUTPUT_JSON);
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("-o", "json", "--output=stream-json", "p"), 0);
	ck_assert_int_eq(w.output, RUN_OUTPUT_STREAM);
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("--json", "--output", "text", "p"), 0);
	ck_assert_int_eq(w.output, RUN_OUTPUT_TEXT);
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("p", "--", "--json"), 0);
	ck_assert_int_eq(w.output, RUN_OUTPUT_TEXT);
	run_words_release(&w);
	/* a word that is wrong is told in the form that was asked for */
	ck_assert_int_eq(SPLIT("--nope", "-o", "json"), -EINVAL);
	ck_assert_int_eq(w.output, RUN_OUTPUT_JSON);
	run_words_release(&w);
}
END_TEST

START_TEST(errors_name_the_option_and_the_rest_is_parted_all_the_same)
{
	ck_assert_int_eq(SPLIT("--nope", "-o", "json", "--memory"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "unknown option --nope"));
	is(w.agent, w.nagent, "-o|json|");
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("--memory"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "--memory: a value is missing"));
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("--plan=x"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "--plan takes no value"));
	run_words_release(&w);
	/* never abbreviated, no bundles; names that exec has beside them are not taken */
	ck_assert_int_eq(SPLIT("--mem", "1g"), -EINVAL);
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("-yq"), -EINVAL);
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("--network", "host"), -EINVAL);
	run_words_release(&w);
}
END_TEST

START_TEST(bare_leaves_the_users_config_out_once)
{
	ck_assert_int_eq(SPLIT("--bare", "p", "--bare", "--net", "none"), 0);
	is(w.shape, w.nshape, "--net|none|--config|/dev/null|");
	is(w.agent, w.nagent, "--bare|p|--bare|");
	run_words_release(&w);
	ck_assert_int_eq(SPLIT("--config", "f", "--bare"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "exclude each other"));
	run_words_release(&w);
}
END_TEST

/* what settings are measured against */
START_TEST(the_agents_options_are_listed_with_their_values)
{
	ck_assert_int_eq(SPLIT("--max-cost=2", "--memory", "1g", "-y", "--deny", "bash", "--plan", "p"), 0);
	ck_assert_uint_eq(w.noptions, 4);
	ck_assert_str_eq(w.options[0].option, "--max-cost");
	ck_assert_str_eq(w.options[0].value, "2");
	ck_assert_str_eq(w.options[1].option, "--approval");
	ck_assert_str_eq(w.options[1].value, "auto");
	ck_assert_str_eq(w.options[1].said, "--yes");
	ck_assert_str_eq(w.options[2].value, "bash");
	ck_assert_str_eq(w.options[3].option, "--plan");
	ck_assert_ptr_null(w.options[3].value);
	run_words_release(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("run_words");
	TCase *tc = tcase_create("run_words");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, each_word_goes_to_one_side_with_its_value);
	tcase_add_test(tc, a_value_is_never_taken_for_an_option);
	tcase_add_test(tc, behind_two_dashes_all_is_the_agents);
	tcase_add_test(tc, the_form_of_the_result_is_the_last_that_was_said);
	tcase_add_test(tc, errors_name_the_option_and_the_rest_is_parted_all_the_same);
	tcase_add_test(tc, the_agents_options_are_listed_with_their_values);
	tcase_add_test(tc, bare_leaves_the_users_config_out_once);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
