/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables hold keys, and that they are overwritten where they lie. */
#include "executor/plan_keys.h"

#include <check.h>
#include <string.h>

#include "executor/opts.h"

START_TEST(keys_of_providers_are_known_also_with_a_number)
{
	static const char *const yes[] = { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY_2", "GEMINI_API_KEY_32" };
	static const char *const no[] = { "", "_", "1", "_1", "OPENAI_API_KEYS", "OPENAI_API_KEY_", "OPENAI_API_KEY2", "XOPENAI_API_KEY", "PATH" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(plan_key(yes[i], strlen(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!plan_key(no[i], strlen(no[i])), "%s", no[i]);
}
END_TEST

START_TEST(values_are_overwritten_and_names_and_the_rest_stay)
{
	char own[] = "OPENAI_API_KEY=abc", numbered[] = "OPENAI_API_KEY_3=abc", token[] = "ANTHROPIC_AUTH_TOKEN=abc", any[] = "MY_API_KEY=a=c",
	     any_numbered[] = "MY_API_KEY_1=abc", asked[] = "ASKED_API_KEY=abc", other[] = "X=OPENAI_API_KEY=abc", bare[] = "MY_API_KEY",
	     lone[] = "_API_KEY=abc", none[] = "=abc";
	char *env[] = { own, numbered, token, any, any_numbered, asked, other, bare, lone, none, NULL };
	struct env_opt named[] = { { .name = (char *)"ASKED_API_KEY" }, { .name = (char *)"X", .value = (char *)"y" } };
	struct exec_opts o = { .env = named, .nenv = 2 };

	plan_keys_forget(env, &o);
	ck_assert_mem_eq(own, "OPENAI_API_KEY=\0\0\0", sizeof(own));
	ck_assert_mem_eq(numbered, "OPENAI_API_KEY_3=\0\0\0", sizeof(numbered));
	ck_assert_mem_eq(token, "ANTHROPIC_AUTH_TOKEN=\0\0\0", sizeof(token));
	ck_assert_mem_eq(any, "MY_API_KEY=\0\0\0", sizeof(any));
	ck_assert_mem_eq(any_numbered, "MY_API_KEY_1=\0\0\0", sizeof(any_numbered));
	ck_assert_str_eq(asked, "ASKED_API_KEY=abc");
	ck_assert_str_eq(other, "X=OPENAI_API_KEY=abc");
	ck_assert_str_eq(bare, "MY_API_KEY");
	ck_assert_str_eq(lone, "_API_KEY=abc");
	ck_assert_str_eq(none, "=abc");
	plan_keys_forget(env, NULL);
	ck_assert_str_eq(asked, "ASKED_API_KEY=");
	plan_keys_forget(NULL, NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan_keys");
	TCase *t = tcase_create("plan_keys");
	SRunner *r;
	int failed;

	tcase_add_test(t, keys_of_providers_are_known_also_with_a_number);
	tcase_add_test(t, values_are_overwritten_and_names_and_the_rest_stay);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
