/* SPDX-License-Identifier: Apache-2.0 */
/* Rules: how they are read, what a GLOB matches, holes. */
#include "agent/rules.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

START_TEST(rules_that_are_read)
{
	static const struct {
		const char *text, *tool, *glob;
		bool exact;
	} rows[] = {
		{ "bash", "bash", NULL, false },
		{ "bash(git status*)", "bash", "git status*", false },
		{ "bash(make test)", "bash", "make test", true },
		{ "bash(a \\* b)", "bash", "a \\* b", true },
		{ "bash(f (x))", "bash", "f (x)", true },
		{ "bash(a?)", "bash", "a?", false },
		{ "write_file(src/*)", "write_file", "src/*", false },
		{ "read_file(/etc/*)", "read_file", "/etc/*", false },
		{ "job(kill *)", "job", "kill *", false },
		{ "rollback", "rollback", NULL, false },
	};
	struct rules r = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(rules_add(&r, i & 1, rows[i].text, NULL), 0);
		ck_assert_str_eq(r.items[i].tool, rows[i].tool);
		ck_assert_str_eq(r.items[i].text, rows[i].text);
		if (rows[i].glob)
			ck_assert_str_eq(r.items[i].glob, rows[i].glob);
		else
			ck_assert_ptr_null(r.items[i].glob);
		ck_assert_int_eq(r.items[i].exact, rows[i].exact);
		ck_assert_int_eq(r.items[i].deny, i & 1);
	}
	rules_release(&r);
	ck_assert_uint_eq(r.n, 0);
}
END_TEST

START_TEST(rules_that_are_refused)
{
	static const char *const bad[] = {
		"",		 "(x)",		     "shell(x)",	   "Bash",	       "bash(",		  "bash(x",   "bash()",	    "bash(x)y",
		"bash(a\\)",	 "bash(a\nb)",	     "bash(a\x1b)",	   "write_file(./a)",  "write_file(../a)", "bash (x)", "*",	    "write_file(a//b)",
		"write_file(~/x)", "read_file(a/../b)", "list_dir(a/./b)", "edit_file(..)",
	};
	struct rules r = { 0 };
	struct ak_err err = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(rules_add(&r, false, bad[i], &err) == -EINVAL, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(err.hint, "TOOL(GLOB)"));
		ck_assert_uint_eq(r.n, 0);
	}
	rules_release(&r);
}
END_TEST

START_TEST(limits_of_rules)
{
	char *text = malloc(RULE_BYTES_MAX + 2);
	struct rules r = { 0 };

	memset(text, 'a', RULE_BYTES_MAX + 1);
	memcpy(text, "bash(", 5);
	text[RULE_BYTES_MAX] = ')';
	text[RULE_BYTES_MAX + 1] = '\0';
	ck_assert_int_eq(rules_add(&r, false, text, NULL), -E2BIG);
	text[RULE_BYTES_MAX - 1] = ')';
	text[RULE_BYTES_MAX] = '\0';
	ck_assert_int_eq(rules_add(&r, false, text, NULL), 0);
	while (r.n < RULES_MAX)
		ck_assert_int_eq(rules_add(&r, false, "bash", NULL), 0);
	ck_assert_int_eq(rules_add(&r, false, "bash", NULL), -E2BIG);
	rules_release(&r);
	free(text);
}
END_TEST

/* _ stands for a hole */
static const struct {
	const char *glob, *text;
	enum rule_match want;
} rows[] = {
	{ "abc", "abc", RULE_YES },	  { "abc", "abcd", RULE_NO },	    { "abc", "ab", RULE_NO },	      { "abc*", "abc", RULE_YES },
	{ "abc*", "abcd/e f", RULE_YES }, { "*", "", RULE_YES },	    { "*", "a/b c", RULE_YES },	      { "a*c", "abbc", RULE_YES },
	{ "a*c", "abb", RULE_NO },	  { "a?c", "abc", RULE_YES },	    { "a?c", "ac", RULE_NO },	      { "*a*b*", "xxaxxbxx", RULE_YES },
	{ "*a*b*", "xxbxxaxx", RULE_NO }, { "a\\*b", "a*b", RULE_YES },	    { "a\\*b", "axb", RULE_NO },      { "a\\?", "a?", RULE_YES },
	{ "a\\?", "ab", RULE_NO },	  { "\\\\", "\\", RULE_YES },	    { "[a]", "[a]", RULE_YES },	      { "[a]", "a", RULE_NO },
	{ "**", "x", RULE_YES },	  { "a**b", "ab", RULE_YES },	    { "", "", RULE_YES },	      { "", "a", RULE_NO },
	{ "rm*", "rm_", RULE_YES },	  { "rm *", "rm _", RULE_YES },	    { "rm", "rm_", RULE_MAYBE },      { "rm x", "rm_", RULE_MAYBE },
	{ "rm*", "_", RULE_MAYBE },	  { "rm*", "_ x", RULE_MAYBE },	    { "rm*", "ls_", RULE_NO },	      { "rm*", "r_m x", RULE_MAYBE },
	{ "a?c", "a_c", RULE_MAYBE },	  { "*", "_", RULE_YES },	    { "a\\*b", "a_", RULE_MAYBE },    { "abc", "_d", RULE_NO },
	{ "abc", "_b_", RULE_MAYBE },	  { "abc", "_c_b", RULE_NO },	    { "*push*", "git _", RULE_MAYBE }, { "a*z", "a_y", RULE_NO },
};

START_TEST(globs)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%s", rows[_i].text);
	for (char *c = text; *c; c++)
		*c = *c == '_' ? RULE_HOLE : *c;
	ck_assert_msg(rule_glob(rows[_i].glob, text, strlen(rows[_i].text)) == rows[_i].want, "%s %s: %d", rows[_i].glob, rows[_i].text,
		      (int)rule_glob(rows[_i].glob, text, strlen(rows[_i].text)));
}
END_TEST

/* For small alphabets: MAYBE exactly when some filling of the hole matches, YES only if every one does */
START_TEST(holes_stand_for_every_text)
{
	static const char *const short_ones[] = { "ab", "a*", "*b", "a?", "*a*b*", "b", "", "?", "??", "a*b" };
	static const char *const fills[] = { "", "a", "b", "aa", "ab", "ba", "bb", "aab", "abb", "bab" };
	static const char *const heads[] = { "", "a", "b", "ab" };

	for (size_t g = 0; g < sizeof(short_ones) / sizeof(short_ones[0]); g++) {
		for (size_t h = 0; h < 16; h++) {
			char text[32], filled[32];
			size_t len;
			unsigned matches = 0;
			enum rule_match m;

			len = (size_t)snprintf(text, sizeof(text), "%s%c%s", heads[h / 4], 1, heads[h % 4]);
			*strchr(text, 1) = RULE_HOLE;
			m = rule_glob(short_ones[g], text, len);
			for (size_t f = 0; f < 10; f++) {
				int n = snprintf(filled, sizeof(filled), "%s%s%s", heads[h / 4], fills[f], heads[h % 4]);

				matches += rule_glob(short_ones[g], filled, (size_t)n) == RULE_YES;
			}
			if (matches > 0)
				ck_assert_int_ne(m, RULE_NO);
			else
				ck_assert_int_eq(m, RULE_NO);
			if (m == RULE_YES)
				ck_assert_uint_eq(matches, 10);
		}
	}
}
END_TEST

START_TEST(too_much_work_is_a_doubt)
{
	char *text = calloc(1, 100000);
	char *glob = malloc(4001);

	memset(text, 'a', 100000);
	memset(glob, '*', 4000);
	glob[4000] = '\0';
	ck_assert_int_eq(rule_glob(glob, text, 100000), RULE_MAYBE);
	free(text);
	free(glob);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rules");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, rules_that_are_read);
	tcase_add_test(tc, rules_that_are_refused);
	tcase_add_test(tc, limits_of_rules);
	tcase_add_loop_test(tc, globs, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(tc, holes_stand_for_every_text);
	tcase_add_test(tc, too_much_work_is_a_doubt);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
