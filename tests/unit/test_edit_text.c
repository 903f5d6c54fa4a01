/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/edit_text.h"
#include "executor/shared/ak_buf.h"

static struct edit_found found;

/* the new text as a string of its own, NULL after a failure; *@ret_rc what edit_text() gave */
static char *edit(const char *text, const char *old, const char *new, bool all, int *ret_rc)
{
	struct ak_buf out = { 0 };
	char *s = NULL;

	*ret_rc = edit_text(text, strlen(text), old, new, all, &out, &found);
	if (*ret_rc == 0)
		s = strdup(out.data ? out.data : "");
	else
		ck_assert_uint_eq(out.len, 0);
	ak_buf_release(&out);
	return s;
}

static void gives(const char *text, const char *old, const char *new, bool all, const char *want, size_t count)
{
	int rc;
	char *got = edit(text, old, new, all, &rc);

	ck_assert_int_eq(rc, 0);
	ck_assert_str_eq(got, want);
	ck_assert_uint_eq(found.count, count);
	free(got);
}

static void refuses(const char *text, const char *old, const char *new, bool all, int want)
{
	int rc;

	ck_assert_ptr_null(edit(text, old, new, all, &rc));
	ck_assert_int_eq(rc, want);
}

START_TEST(one_place_is_replaced_and_nothing_else)
{
	gives("a b c", "b", "x", false, "a x c", 1);
	gives("a b c", "b ", "", false, "a c", 1);
	gives("\xef\xbb\xbf" "a\n", "a", "b", false, "\xef\xbb\xbf" "b\n", 1);
	gives("no newline", "newline", "end", false, "no end", 1);
	gives("\xff\xfe z", "z", "y", false, "\xff\xfe y", 1);
}
END_TEST

START_TEST(several_places_need_all)
{
	refuses("a a a", "a", "b", false, -ENOTUNIQ);
	ck_assert_uint_eq(found.count, 3);
	gives("a a a", "a", "b", true, "b b b", 3);
	gives("aaaa", "aa", "b", true, "bb", 2);
}
END_TEST

START_TEST(what_is_not_there_is_not_guessed)
{
	refuses("a b\n", "a  b", "x", false, -ENOENT);
	ck_assert_uint_eq(found.near_line, 1);
	refuses("one\ntwo\n\tthree\n", "two\nthree", "x", false, -ENOENT);
	ck_assert_uint_eq(found.near_line, 2);
	refuses("abc", "xyz", "x", false, -ENOENT);
	ck_assert_uint_eq(found.near_line, 0);
	refuses("", "x", "y", false, -ENOENT);
}
END_TEST

START_TEST(empty_and_equal_are_refused)
{
	refuses("abc", "", "x", false, -EINVAL);
	refuses("abc", "a", "a", true, -EINVAL);
}
END_TEST

START_TEST(lines_keep_their_ends)
{
	gives("1\r\n2\r\n3\r\n", "1\n2", "a\nb\nc", false, "a\r\nb\r\nc\r\n3\r\n", 1);
	gives("1\r\n2\r\n", "1\r\n2", "x", false, "x\r\n", 1);
	/* a file of both kinds: as it is written */
	gives("1\r\n2\n3\n", "2\n3", "x\ny", false, "1\r\nx\ny\n", 1);
	refuses("1\r\n2\n", "1\n2", "x", false, -ENOENT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("edit_text");
	TCase *tc = tcase_create("edit_text");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, one_place_is_replaced_and_nothing_else);
	tcase_add_test(tc, several_places_need_all);
	tcase_add_test(tc, what_is_not_there_is_not_guessed);
	tcase_add_test(tc, empty_and_equal_are_refused);
	tcase_add_test(tc, lines_keep_their_ends);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
