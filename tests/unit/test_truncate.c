/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of cutting tool results: what stays, the mark between, characters whole, memory bounded. */
#include "agent/truncate.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_json_out.h"

#define MARK(n) "\n\xe2\x80\xa6 [truncated " n " bytes; use a narrower query] \xe2\x80\xa6\n"
#define EURO "\xe2\x82\xac"

static char *cut(const char *text, size_t n, size_t limit, size_t piece, const char *spool, uint64_t *dropped)
{
	struct ak_buf out = { 0 };
	struct truncate t;

	truncate_init(&t, limit);
	for (size_t at = 0; at < n; at += piece)
		truncate_feed(&t, text + at, n - at < piece ? n - at : piece);
	*dropped = truncate_finish(&t, spool, &out);
	ck_assert(!out.failed);
	ck_assert_ptr_null(t.head.data);
	ak_buf_add(&out, "", 0);
	return out.data;
}

static void check_cut(const char *text, size_t limit, const char *want, uint64_t want_dropped)
{
	size_t n = strlen(text);

	for (size_t piece = 1; piece <= n + 1; piece++) {
		uint64_t dropped;
		char *got = cut(text, n, limit, piece, NULL, &dropped);

		ck_assert_str_eq(got, want);
		ck_assert_uint_eq(dropped, want_dropped);
		free(got);
	}
}

START_TEST(the_limit_of_a_tool_result_is_4096_tokens_of_4_characters)
{
	ck_assert_uint_eq(TRUNCATE_CHARS, 16384);
}
END_TEST

START_TEST(what_fits_is_left_alone)
{
	check_cut("abcdef", 6, "abcdef", 0);
	check_cut("a", 6, "a", 0);
	check_cut(EURO EURO EURO, 3, EURO EURO EURO, 0);
}
END_TEST

START_TEST(half_head_and_half_tail_stay_around_the_mark)
{
	check_cut("abcdefg", 6, "abc" MARK("1") "efg", 1);
	check_cut("0123456789", 4, "01" MARK("6") "89", 6);
	check_cut("0123456789", 5, "012" MARK("5") "89", 5);
	check_cut("0123456789", 0, "0" MARK("8") "9", 8);
}
END_TEST

START_TEST(characters_are_counted_and_never_cut)
{
	check_cut("a" EURO "b" EURO "c" EURO "d", 4, "a" EURO MARK("5") EURO "d", 5);
	check_cut(EURO EURO EURO EURO EURO, 2, EURO MARK("9") EURO, 9);
	check_cut("\xf0\x9f\x98\x80" "x" "\xf0\x9f\x98\x80" "y", 2, "\xf0\x9f\x98\x80" MARK("5") "y", 5);
}
END_TEST

START_TEST(bytes_that_are_no_characters_count_as_one_each)
{
	check_cut("\xff\xfe\xe2\x82" "a" "\xe2\x82", 4, "\xff\xfe" MARK("3") "\xe2\x82", 3);
	check_cut("abc\xf0\x9f", 3, "ab" MARK("2") "\x9f", 2);
	check_cut("abc\xf0\x9f", 5, "abc\xf0\x9f", 0);
}
END_TEST

START_TEST(a_spool_is_named_only_if_something_is_missing)
{
	uint64_t dropped;
	char *got = cut("0123456789", 10, 4, 3, "spool/000001.txt", &dropped);

	ck_assert_str_eq(got, "01" MARK("6") "89\n[full text: spool/000001.txt]");
	free(got);
	got = cut("0123", 4, 4, 3, "spool/000001.txt", &dropped);
	ck_assert_str_eq(got, "0123");
	free(got);
}
END_TEST

START_TEST(nothing_is_nothing)
{
	uint64_t dropped = 9;
	char *got = cut("", 0, 4, 1, "x", &dropped);

	ck_assert_str_eq(got, "");
	ck_assert_uint_eq(dropped, 0);
	free(got);
}
END_TEST

START_TEST(a_gigabyte_needs_little_memory)
{
	size_t n = 1 << 20;
	char *piece = malloc(n);
	struct ak_buf out = { 0 };
	struct truncate t;
	uint64_t dropped;

	ck_assert_ptr_nonnull(piece);
	for (size_t i = 0; i < n; i++)
		piece[i] = "abcdefghi \xe2\x82\xac\n"[i % 14];
	truncate_init(&t, TRUNCATE_CHARS);
	for (unsigned i = 0; i < 64; i++)
		truncate_feed(&t, piece, n);
	ck_assert(truncate_is_cut(&t));
	ck_assert_uint_lt(t.head.cap + t.rest.cap, 512u << 10);
	dropped = truncate_finish(&t, NULL, &out);
	ck_assert_uint_gt(dropped, 67000000);
	ck_assert_uint_lt(out.len, 40000);
	ck_assert(ak_utf8_valid(out.data, out.len));
	ak_buf_release(&out);
	free(piece);
}
END_TEST

START_TEST(one_call_does_the_same)
{
	struct ak_buf out = { 0 };

	ck_assert_uint_eq(truncate_result("0123456789", 10, 4, NULL, &out), 6);
	ck_assert_str_eq(out.data, "01" MARK("6") "89");
	ak_buf_release(&out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("truncate");
	TCase *t = tcase_create("truncate");
	SRunner *r;
	int failed;

	tcase_add_test(t, the_limit_of_a_tool_result_is_4096_tokens_of_4_characters);
	tcase_add_test(t, what_fits_is_left_alone);
	tcase_add_test(t, half_head_and_half_tail_stay_around_the_mark);
	tcase_add_test(t, characters_are_counted_and_never_cut);
	tcase_add_test(t, bytes_that_are_no_characters_count_as_one_each);
	tcase_add_test(t, a_spool_is_named_only_if_something_is_missing);
	tcase_add_test(t, nothing_is_nothing);
	tcase_add_test(t, a_gigabyte_needs_little_memory);
	tcase_add_test(t, one_call_does_the_same);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
