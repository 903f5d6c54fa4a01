/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of ak_json_out: form, escapes, base64, UTF-8. */
#include "executor/shared/ak_json_out.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

#include "executor/shared/ak_buf.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(commas_and_nesting)
{
	struct ak_buf b = {0};
	struct ak_json j;

	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	ak_json_arr(&j, "a");
	ak_json_arr_end(&j);
	ak_json_arr(&j, "b");
	ak_json_u64(&j, NULL, UINT64_MAX);
	ak_json_i64(&j, NULL, INT64_MIN);
	ak_json_obj(&j, NULL);
	ak_json_obj_end(&j);
	ak_json_null(&j, NULL);
	ak_json_arr_end(&j);
	ak_json_bool(&j, "t", true);
	ak_json_bool(&j, "f", false);
	ak_json_str(&j, "n", NULL);
	ak_json_str(&j, "k\"", "v");
	ak_json_obj_end(&j);
	ck_assert_str_eq(b.data,
			 "{\"a\":[],\"b\":[18446744073709551615,-9223372036854775808,{},null],\"t\":true,"
			 "\"f\":false,\"n\":null,\"k\\\"\":\"v\"}");
	ck_assert_uint_eq(j.depth, 0);
	ak_buf_release(&b);
}
END_TEST

START_TEST(thousandths_are_decimal_numbers)
{
	static const struct {
		uint64_t v;
		const char *text;
	} rows[] = {{0, "0.0"},	     {1, "0.001"},
		    {10, "0.01"},    {100, "0.1"},
		    {1500, "1.5"},   {2000, "2.0"},
		    {12400, "12.4"}, {12345, "12.345"},
		    {1010, "1.01"},  {UINT64_MAX, "18446744073709551.615"}};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct ak_buf b = {0};
		struct ak_json j;

		ak_json_init(&j, &b);
		ak_json_milli(&j, NULL, rows[i].v);
		ck_assert_str_eq(b.data, rows[i].text);
		ak_buf_release(&b);
	}
}
END_TEST

static void check_str(const char *in, size_t n, const char *out)
{
	struct ak_buf b = {0};
	struct ak_json j;

	ak_json_init(&j, &b);
	ak_json_strn(&j, NULL, in, n);
	ck_assert_str_eq(b.data, out);
	ak_buf_release(&b);
}

START_TEST(strings_are_escaped)
{
	check_str("", 0, "\"\"");
	check_str("plain", 5, "\"plain\"");
	check_str("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
	check_str("\n\t\r", 3, "\"\\n\\t\\r\"");
	check_str("\0\x01\x1b\x1f", 4, "\"\\u0000\\u0001\\u001b\\u001f\"");
	check_str("\x7f\xc2\x9b\xc2\xa0", 5, "\"\\u007f\\u009b\xc2\xa0\"");
	check_str("\xe2\x82\xac\xf0\x9f\x98\x80", 7, "\"\xe2\x82\xac\xf0\x9f\x98\x80\"");
}
END_TEST

START_TEST(bytes_that_are_not_utf8_become_fffd)
{
	check_str("a\xff"
		  "b",
		  3, "\"a\\ufffdb\"");
	check_str("\xe2\x82", 2, "\"\\ufffd\\ufffd\"");
	check_str("\xc0\x80", 2, "\"\\ufffd\\ufffd\"");
	check_str("\xe2\x82x", 3, "\"\\ufffd\\ufffdx\"");
}
END_TEST

START_TEST(base64_of_every_remainder)
{
	static const struct {
		const char *in, *out;
	} rows[] = {{"", "\"\""},
		    {"f", "\"Zg==\""},
		    {"fo", "\"Zm8=\""},
		    {"foo", "\"Zm9v\""},
		    {"foob", "\"Zm9vYg==\""},
		    {"fooba", "\"Zm9vYmE=\""},
		    {"foobar", "\"Zm9vYmFy\""},
		    {"\xff\xfe\xfb", "\"//77\""}};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct ak_buf b = {0};
		struct ak_json j;

		ak_json_init(&j, &b);
		ak_json_base64(&j, NULL, rows[i].in, strlen(rows[i].in));
		ck_assert_str_eq(b.data, rows[i].out);
		ak_buf_release(&b);
	}
}
END_TEST

START_TEST(pieces_make_one_value)
{
	const struct ak_span v[] = {{"f", 1}, {NULL, 0}, {"oob", 3}, {"ar", 2}};
	struct ak_buf b = {0};
	struct ak_json j;

	ak_json_init(&j, &b);
	ak_json_arr(&j, NULL);
	ak_json_strv(&j, NULL, v, LEN(v));
	ak_json_base64v(&j, NULL, v, LEN(v));
	ak_json_strv(&j, NULL, NULL, 0);
	ak_json_arr_end(&j);
	ck_assert_str_eq(b.data, "[\"foobar\",\"Zm9vYmFy\",\"\"]");
	ak_buf_release(&b);
}
END_TEST

START_TEST(utf8_is_strict)
{
	static const char *const good[] = {"",
					   "a",
					   "\x7f",
					   "\xc2\x80",
					   "\xdf\xbf",
					   "\xe0\xa0\x80",
					   "\xed\x9f\xbf",
					   "\xee\x80\x80",
					   "\xef\xbf\xbf",
					   "\xf0\x90\x80\x80",
					   "\xf4\x8f\xbf\xbf"};
	static const char *const bad[] = {"\x80",
					  "\xbf",
					  "\xc0\xaf",
					  "\xc1\xbf",
					  "\xc2",
					  "\xc2\x41",
					  "\xe0\x9f\xbf",
					  "\xe0\x80\x80",
					  "\xed\xa0\x80",
					  "\xed\xbf\xbf",
					  "\xe2\x82",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xff",
					  "a\xf0\x9f\x98",
					  "\xc2\xc2\x80"};

	for (size_t i = 0; i < LEN(good); i++)
		ck_assert_msg(ak_utf8_valid(good[i], strlen(good[i])), "good %zu", i);
	for (size_t i = 0; i < LEN(bad); i++)
		ck_assert_msg(!ak_utf8_valid(bad[i], strlen(bad[i])), "bad %zu", i);
	ck_assert(!ak_utf8_valid("a\0b", 3));
	ck_assert(ak_utf8_valid(NULL, 0));
}
END_TEST

START_TEST(characters_and_their_beginnings)
{
	ck_assert_uint_eq(ak_utf8_seq("\0", 1), 1);
	ck_assert_uint_eq(ak_utf8_seq("", 0), 0);
	ck_assert_uint_eq(ak_utf8_seq("\xe2\x82\xac", 3), 3);
	ck_assert_uint_eq(ak_utf8_seq("\xe2\x82\xac", 2), 0);
	ck_assert_uint_eq(ak_utf8_partial("\xe2\x82\xac", 0), 0);
	ck_assert_uint_eq(ak_utf8_partial("\xe2\x82\xac", 1), 1);
	ck_assert_uint_eq(ak_utf8_partial("\xe2\x82\xac", 2), 2);
	ck_assert_uint_eq(ak_utf8_partial("\xe2\x82\xac", 3), 0);
	ck_assert_uint_eq(ak_utf8_partial("x\xf0\x9f\x98", 4), 3);
	ck_assert_uint_eq(ak_utf8_partial("x\xe0\x80", 3), 0);
	ck_assert_uint_eq(ak_utf8_partial("\x82\x82\x82", 3), 0);
	ck_assert_uint_eq(ak_utf8_partial("abc", 3), 0);
	ck_assert_uint_eq(ak_utf8_need('a'), 1);
	ck_assert_uint_eq(ak_utf8_need(0xc1), 0);
	ck_assert_uint_eq(ak_utf8_need(0xc2), 2);
	ck_assert_uint_eq(ak_utf8_need(0xef), 3);
	ck_assert_uint_eq(ak_utf8_need(0xf4), 4);
	ck_assert_uint_eq(ak_utf8_need(0xf5), 0);
	ck_assert_uint_eq(ak_utf8_need(0x80), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json");
	TCase *t = tcase_create("json");

	tcase_add_test(t, commas_and_nesting);
	tcase_add_test(t, thousandths_are_decimal_numbers);
	tcase_add_test(t, strings_are_escaped);
	tcase_add_test(t, bytes_that_are_not_utf8_become_fffd);
	tcase_add_test(t, base64_of_every_remainder);
	tcase_add_test(t, pieces_make_one_value);
	tcase_add_test(t, utf8_is_strict);
	tcase_add_test(t, characters_and_their_beginnings);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
