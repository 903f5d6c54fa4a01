/* SPDX-License-Identifier: Apache-2.0 */
/* What a command without isolation gets of the caller's environment. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "executor/local/local_env.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"

static struct ak_err err;

static const char *get(char **env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; env[i]; i++)
		if (strncmp(env[i], name, n) == 0 && env[i][n] == '=')
			return env[i] + n + 1;
	return NULL;
}

START_TEST(names_of_secrets_are_known_in_either_case)
{
	static const char *const yes[] = {"OPENAI_API_KEY", "api_key", "xApi_Keyx", "GITHUB_TOKEN", "TOKENS", "AWS_SECRET_ACCESS_KEY",
					  "DB_PASSWORD", "PASSWD", "GOOGLE_CREDENTIALS", "credential"};
	static const char *const no[] = {"PATH", "HOME", "KEY", "API", "TOKE", "", "APIKEY", "PASSWOR", "SSH_AUTH_SOCK"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(local_env_secret(yes[i], strlen(yes[i])), "%s", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!local_env_secret(no[i], strlen(no[i])), "%s", no[i]);
	ck_assert(!local_env_secret("TOKEN", 4));	/* only what is in the name */
}
END_TEST

START_TEST(the_rest_is_passed_as_it_is)
{
	char *vars[] = {(char *)"PATH=/bin", (char *)"A_TOKEN=x", (char *)"X=TOKEN", (char *)"EMPTY=", (char *)"L=a\nb",
			(char *)"noequals", NULL};
	char **env = NULL;

	ck_assert_int_eq(local_env(vars, NULL, 0, &env, &err), 0);
	ck_assert_str_eq(get(env, "PATH"), "/bin");
	ck_assert_ptr_null(get(env, "A_TOKEN"));
	ck_assert_str_eq(get(env, "X"), "TOKEN");
	ck_assert_str_eq(get(env, "EMPTY"), "");
	ck_assert_str_eq(get(env, "L"), "a\nb");
	local_env_free(env);
}
END_TEST

START_TEST(what_the_user_names_is_passed)
{
	char *vars[] = {(char *)"MY_TOKEN=x", (char *)"A=1", (char *)"OPENAI_API_KEY=k", NULL};
	struct env_opt asked[] = {{(char *)"A", (char *)"2"}, {(char *)"MY_TOKEN", NULL}, {(char *)"NEW_SECRET", (char *)"s"},
				  {(char *)"MISSING", NULL}, {(char *)"A", (char *)"3"}};
	struct env_opt key = {(char *)"OPENAI_API_KEY", NULL}, own = {(char *)"OPENAI_API_KEY", (char *)"other"};
	char **env = NULL;

	ck_assert_int_eq(local_env(vars, asked, 5, &env, &err), 0);
	ck_assert_str_eq(get(env, "A"), "3");
	ck_assert_str_eq(get(env, "MY_TOKEN"), "x");
	ck_assert_str_eq(get(env, "NEW_SECRET"), "s");
	ck_assert_ptr_null(get(env, "MISSING"));
	local_env_free(env);
	env = NULL;
	ck_assert_int_eq(local_env(vars, &key, 1, &env, &err), -EPERM);
	ck_assert_ptr_null(env);
	ck_assert_int_eq(local_env(vars, &own, 1, &env, &err), 0);
	ck_assert_str_eq(get(env, "OPENAI_API_KEY"), "other");
	local_env_free(env);
}
END_TEST

START_TEST(no_environment_is_an_empty_one)
{
	char **env = NULL;

	ck_assert_int_eq(local_env(NULL, NULL, 0, &env, &err), 0);
	ck_assert_ptr_null(env[0]);
	local_env_free(env);
	local_env_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_env");
	TCase *t = tcase_create("local_env");
	SRunner *sr;
	int failed;

	tcase_add_test(t, names_of_secrets_are_known_in_either_case);
	tcase_add_test(t, the_rest_is_passed_as_it_is);
	tcase_add_test(t, what_the_user_names_is_passed);
	tcase_add_test(t, no_environment_is_an_empty_one);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
