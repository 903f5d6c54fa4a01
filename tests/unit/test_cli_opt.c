/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the agent's options: both forms, no abbreviation, "--", what is wrong is named. */
#include "agent/cli/cli_opt.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

static const char *value;
static bool flag;
static const char *args[2];
static size_t n;
static struct ak_err err;

static int parse(int argc, const char *const *argv)
{
	const struct cli_opt opts[] = { { "base-url", 'b', &value, NULL }, { "json", 0, NULL, &flag }, { NULL, 0, NULL, NULL } };

	value = NULL;
	flag = false;
	n = 99;
	return cli_opts(argc, (char **)argv, "cmd", opts, args, 2, &n, &err);
}
#define PARSE(...) parse((int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)), (const char *const[]){ __VA_ARGS__ })

START_TEST(forms)
{
	ck_assert_int_eq(PARSE("a", "--base-url", "u", "--json", "-"), 0);
	ck_assert_str_eq(value, "u");
	ck_assert(flag && n == 2);
	ck_assert_str_eq(args[1], "-");
	ck_assert_int_eq(PARSE("--base-url=x=y", "-b", "z"), 0);
	ck_assert_str_eq(value, "z");
	ck_assert_int_eq(PARSE("--base-url="), 0);
	ck_assert_str_eq(value, "");
	ck_assert_int_eq(PARSE("--", "--json", "--base-url"), 0);
	ck_assert(!flag && n == 2);
}
END_TEST

START_TEST(faults)
{
	ck_assert_int_eq(PARSE("--jso"), -EINVAL);
	ck_assert_str_eq(err.msg, "cmd: unknown option \"--jso\"");
	ck_assert_int_eq(PARSE("--json=1"), -EINVAL);
	ck_assert_int_eq(PARSE("--base-url"), -EINVAL);
	ck_assert_str_eq(err.msg, "cmd: --base-url needs a value");
	ck_assert_int_eq(PARSE("a", "b", "c"), -EINVAL);
	ck_assert_str_eq(err.msg, "cmd: unexpected argument \"c\"");
	ck_assert_int_eq(PARSE("-j"), -EINVAL);
	ck_assert_int_eq(PARSE("-base-url"), -EINVAL);
	ck_assert_uint_eq(n, 99);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cli_opt");
	TCase *c = tcase_create("cli_opt");
	SRunner *r;
	int failed;

	tcase_add_test(c, forms);
	tcase_add_test(c, faults);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
