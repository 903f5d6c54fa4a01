/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of ak_path. */
#include "executor/shared/ak_path.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(normalises)
{
	static const struct {
		const char *base, *path, *result;
	} rows[] = {
		{NULL, "/", "/"},
		{NULL, "//", "/"},
		{NULL, "/.", "/"},
		{NULL, "/..", "/"},
		{NULL, "/../../a", "/a"},
		{NULL, "/a/", "/a"},
		{NULL, "//a//b/./c/.", "/a/b/c"},
		{NULL, "/a/b/../c", "/a/c"},
		{NULL, "/a/..", "/"},
		{NULL, "/a/b/../../..", "/"},
		{NULL, "/...", "/..."},
		{NULL, "/.a/..b", "/.a/..b"},
		{"/x/y", "a", "/x/y/a"},
		{"/x/y/", "./a", "/x/y/a"},
		{"/x/y", ".", "/x/y"},
		{"/x/y", "..", "/x"},
		{"/x/y", "../../..", "/"},
		{"/", "a", "/a"},
		{"/x", "/a", "/a"},
		{"rel", "/a", "/a"},
		{"/x/../y", "a b\n:,", "/y/a b\n:,"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char *p = ak_path_normalize(rows[i].base, rows[i].path);

		ck_assert_ptr_nonnull(p);
		ck_assert_str_eq(p, rows[i].result);

		char *again = ak_path_normalize(NULL, p);

		ck_assert_str_eq(again, p);
		free(again);
		free(p);
	}
}
END_TEST

START_TEST(refuses_what_has_no_meaning)
{
	static const struct {
		const char *base, *path;
	} rows[] = {{NULL, ""}, {"/x", ""}, {NULL, "a"}, {"rel", "a"}, {"", "a"}};

	for (size_t i = 0; i < LEN(rows); i++) {
		errno = 0;
		ck_assert_ptr_null(ak_path_normalize(rows[i].base, rows[i].path));
		ck_assert_int_eq(errno, EINVAL);
	}
}
END_TEST

START_TEST(length_is_that_of_the_result)
{
	char text[9000];

	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[4095] = '\0';

	char *p = ak_path_normalize(NULL, text);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(strlen(p), 4095);
	free(p);
	text[4095] = 'a';
	text[4096] = '\0';
	errno = 0;
	ck_assert_ptr_null(ak_path_normalize(NULL, text));
	ck_assert_int_eq(errno, ENAMETOOLONG);

	memset(text, '/', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	p = ak_path_normalize("/x", text);
	ck_assert_str_eq(p, "/");
	free(p);
}
END_TEST

START_TEST(below_knows_components)
{
	ck_assert(ak_path_below("/a/b", "/a"));
	ck_assert(ak_path_below("/a", "/a"));
	ck_assert(ak_path_below("/a", "/"));
	ck_assert(ak_path_below("/", "/"));
	ck_assert(!ak_path_below("/ab", "/a"));
	ck_assert(!ak_path_below("/a", "/a/b"));
	ck_assert(!ak_path_below("/", "/a"));
	ck_assert(!ak_path_below("/b/a", "/a"));
}
END_TEST

START_TEST(depth_counts_components)
{
	ck_assert_uint_eq(ak_path_depth("/"), 0);
	ck_assert_uint_eq(ak_path_depth("/a"), 1);
	ck_assert_uint_eq(ak_path_depth("/a/bc/d"), 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("path");
	TCase *t = tcase_create("path");

	tcase_add_test(t, normalises);
	tcase_add_test(t, refuses_what_has_no_meaning);
	tcase_add_test(t, length_is_that_of_the_result);
	tcase_add_test(t, below_knows_components);
	tcase_add_test(t, depth_counts_components);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
