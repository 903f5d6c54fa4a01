/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's half of the command line of `ak run`, over settings. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/run_opts.h"
#include "executor/shared/ak_err.h"

static struct run_opts o;
static struct ak_err err;

static int read_all(const char *const settings[], const char *const words[])
{
	size_t n = 0;
	int argc = 0, rc;

	while (settings[n])
		n++;
	while (words[argc])
		argc++;
	err = (struct ak_err){0};
	run_opts_init(&o);
	rc = run_opts_settings((char *const *)(uintptr_t)settings, n, &o, &err);
	return rc < 0 ? rc : run_opts_parse(argc, (char **)(uintptr_t)words, &o, &err);
}

#define LIST(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

START_TEST(words_count_more_than_settings)
{
	ck_assert_int_eq(read_all(LIST("AK_MODEL", "--model=x/y", "U:1:2: run.max_turns", "--max-turns=7",
				       "U:1:3: run.max_cost", "--max-cost=0.5", "U:1:4: run.plan", "--plan",
				       "U:1:5: run.deny", "--deny=bash"),
				  LIST("--max-turns", "9", "--deny", "job", "fix it")),
			 0);
	ck_assert_str_eq(o.model, "x/y");
	ck_assert_uint_eq(o.limits.turns, 9);
	ck_assert_uint_eq(o.limits.cost_picousd, UINT64_C(500000000000));
	ck_assert(o.plan);
	ck_assert_uint_eq(o.deny.n, 2);
	ck_assert_str_eq(o.deny.v[0], "bash");
	ck_assert_str_eq(o.deny.v[1], "job");
	ck_assert_str_eq(o.prompt, "fix it");
}
END_TEST

static const struct {
	const char *word, *why;
} bad[] = {
	{"--max-turns=many", "F:3:5: run.x: \"many\" is not a number"},
	{"--max-cost=1e3", "F:3:5: run.x: \"1e3\" is no amount of dollars, such as 2 or 0.50"},
	{"--tool-timeout=5ms", "F:3:5: run.x: \"5ms\" is not a second or more"},
	{"--timeout=soon", "F:3:5: run.x: \"soon\" is not a duration such as 90, 500ms, 30s, 5m, 1h"},
	{"--approval=yes", "F:3:5: run.x: \"yes\" is not ask, auto, deny-mutations or smart"},
	{"--apply=maybe", "F:3:5: run.x: \"maybe\" is not always, ask or never"},
	{"--unknown-price=x", "F:3:5: run.x: \"x\" is not refuse or allow"},
	{"--nope=1",
	 "F:3:5: run.x: ak-agent does not know it: do ak and ak-agent belong to the same version?"},
	{"--plan=1",
	 "F:3:5: run.x: ak-agent does not know it: do ak and ak-agent belong to the same version?"},
};

START_TEST(a_bad_setting_is_named_by_its_place)
{
	ck_assert_int_eq(read_all(LIST("F:3:5: run.x", bad[_i].word), LIST("p")), -EINVAL);
	ck_assert_str_eq(err.msg, bad[_i].why);
	/* the same on the command line has the option's name */
	ck_assert_int_eq(read_all(LIST(), LIST("--max-turns", "many")), -EINVAL);
	ck_assert_str_eq(err.msg, "run: --max-turns: \"many\" is not a number");
}
END_TEST

START_TEST(a_prompt_of_settings_is_for_new_sessions)
{
	ck_assert_int_eq(
		read_all(LIST("S", "--system-prompt-file=/f", "A", "--append-system-prompt=more"), LIST("p")),
		0);
	ck_assert_str_eq(o.system_prompt_file, "/f");
	ck_assert_str_eq(o.append_system_prompt, "more");
	ck_assert_int_eq(read_all(LIST("S", "--system-prompt-file=/f", "A", "--append-system-prompt=more"),
				  LIST("--system-prompt", "x")),
			 0);
	ck_assert_str_eq(o.system_prompt, "x");
	ck_assert_ptr_null(o.system_prompt_file);
	ck_assert_int_eq(read_all(LIST("S", "--system-prompt-file=/f", "A", "--append-system-prompt=more"),
				  LIST("--continue")),
			 0);
	ck_assert_ptr_null(o.system_prompt_file);
	ck_assert_ptr_null(o.append_system_prompt);
	ck_assert_int_eq(read_all(LIST("S", "--system-prompt=a", "F:1:1: run.system_prompt_file",
				       "--system-prompt-file=/f"),
				  LIST("p")),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "exclude each other"));
}
END_TEST

/* a lower ceiling takes the default along; a wish over it is a mistake */
START_TEST(the_default_of_tool_timeout_follows_its_ceiling)
{
	ck_assert_int_eq(read_all(LIST("M", "--max-tool-timeout=30s"), LIST("p")), 0);
	ck_assert_uint_eq(o.tool_timeout_ms, 30000);
	ck_assert_int_eq(read_all(LIST("M", "--max-tool-timeout=30s"), LIST("--tool-timeout", "40s")),
			 -EINVAL);
	ck_assert_int_eq(read_all(LIST(), LIST("p")), 0);
	ck_assert_uint_eq(o.tool_timeout_ms, 60000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("run_opts");
	TCase *tc = tcase_create("run_opts");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, words_count_more_than_settings);
	tcase_add_loop_test(tc, a_bad_setting_is_named_by_its_place, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tc, a_prompt_of_settings_is_for_new_sessions);
	tcase_add_test(tc, the_default_of_tool_timeout_follows_its_ceiling);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
