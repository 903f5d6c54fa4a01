/* SPDX-License-Identifier: Apache-2.0 */
/* Shown text: what is made visible, that it can be turned back, frames and folds. */
#include "agent/show.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"

static char *shown(const char *text, size_t len, unsigned flags)
{
	struct ak_buf out = { 0 };

	show_text(text, len, flags, &out, NULL);
	ck_assert(!out.failed);
	return out.data;
}

static const struct {
	const char *text;
	const char *want;
} rows[] = {
	{ "plain text", "plain text" },
	{ "", "" },
	{ "a\nb", "a\nb" },
	{ "a\tb", "a<U+0009>b" },
	{ "a\rb", "a<U+000D>b" },
	{ "\x1b[2K\x7f", "<U+001B>[2K<U+007F>" },
	{ "\xc2\x9b" "31m", "<U+009B>31m" },
	{ "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c", "<U+202E><U+2066><U+200F><U+061C>" },
	{ "\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf\xe2\x81\xa0", "<U+200B><U+200D><U+FEFF><U+2060>" },
	{ "\xf3\xa0\x81\x81\xf3\xa0\x80\x81", "<U+E0041><U+E0001>" },
	{ "\xef\xb8\x8f\xf3\xa0\x84\x80", "<U+FE0F><U+E0100>" },
	{ "e\xcc\x81", "e<U+0301>" },
	{ "\xc2\xa0\xe2\x80\x83\xe3\x80\x80\xe2\x80\xa8", "<U+00A0><U+2003><U+3000><U+2028>" },
	{ "\xe3\x85\xa4\xe1\x85\x9f\xe2\xa0\x80", "<U+3164><U+115F><U+2800>" },
	{ "\xc2\xad", "<U+00AD>" },
	{ "\xee\x80\x80", "<U+E000>" },
	{ "\xcd\xb8", "<U+0378>" },
	{ "\x80\xff\xc3(\xe2\x82", "<0x80><0xFF><0xC3>(<0xE2><0x82>" },
	{ "\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80", "<0xED><0xA0><0x80><0xC0><0xAF><0xF4><0x90><0x80><0x80>" },
	{ "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xe6\xbc\xa2 \xf0\x9f\x98\x80" },
	{ "a < b <c <", "a < b <c <" },
	{ "<U+202E> <0x41> <9 spaces>", "<U+003C>U+202E> <U+003C>0x41> <U+003C>9 spaces>" },
	{ "1234567890123456                ", "1234567890123456                " },
	{ "a                 b", "a<17 spaces>b" },
	{ "a\n\n\n\nb", "a\n\n\n\nb" },
	{ "a\n\n\n\n\nb", "a<5 newlines>b" },
};

START_TEST(what_is_made_visible)
{
	char *got = shown(rows[_i].text, strlen(rows[_i].text), 0);
	struct ak_buf back = { 0 };

	ck_assert_str_eq(got, rows[_i].want);
	ck_assert_int_eq(show_back(got, strlen(got), &back), 0);
	ak_buf_add(&back, "", 0);
	ck_assert_str_eq(back.data, rows[_i].text);
	ak_buf_release(&back);
	free(got);
}
END_TEST

START_TEST(every_text_comes_back)
{
	unsigned state = 12345;

	for (int round = 0; round < 3000; round++) {
		static const char *const parts[] = { "<", "U+", "0x", "9 spaces>", ">", " ", "                  ", "\n", "\n\n\n\n\n\n", "\r",
						     "\xe2\x80\xae", "\xff", "\xc3", "\xa4", "a", "1", "\x1b", "<U+0041>" };
		char text[400] = "";
		struct ak_buf back = { 0 };
		char *got;

		for (int i = 0; i < 8; i++) {
			state = state * 1103515245u + 12345u;
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
				       parts[(state >> 16) % (sizeof(parts) / sizeof(parts[0]))]);
		}
		got = shown(text, strlen(text), 0);
		for (const char *c = got; *c; c++)
			ck_assert(*c == '\n' || ((unsigned char)*c >= 0x20 && *c != 0x7f));
		ck_assert_int_eq(show_back(got, strlen(got), &back), 0);
		ck_assert_uint_eq(back.len, strlen(text));
		ck_assert_int_eq(memcmp(back.data, text, back.len), 0);
		ak_buf_release(&back);
		free(got);
	}
}
END_TEST

START_TEST(what_was_never_shown_does_not_come_back)
{
	static const char *const bad[] = { "<U+>", "<U+0041", "<U+XYZ>", "<0xZZ>", "<5 blanks>", "<U+110000>", "<9>" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ak_buf back = { 0 };

		ck_assert_int_eq(show_back(bad[i], strlen(bad[i]), &back), -EBADMSG);
		ak_buf_release(&back);
	}
}
END_TEST

START_TEST(one_line_has_no_newlines)
{
	char *got = shown("a\nb\n\n\n\n\n\nc", 10, SHOW_LINE);

	ck_assert_str_eq(got, "a<U+000A>b<U+000A><U+000A><U+000A><U+000A><U+000A><U+000A>c");
	free(got);
}
END_TEST

START_TEST(nul_bytes_are_shown)
{
	char *got = shown("a\0b", 3, 0);

	ck_assert_str_eq(got, "a<U+0000>b");
	free(got);
}
END_TEST

START_TEST(facts)
{
	struct show_facts f;
	const char *text = "a\r\t\n\xe2\x80\xae\xe2\x80\x8b\xc2\xa0\xff\xd0\xb0\x1b";

	show_facts(text, strlen(text), &f);
	ck_assert_uint_eq(f.controls, 2);
	ck_assert_uint_eq(f.bidi, 1);
	ck_assert_uint_eq(f.invisible, 1);
	ck_assert_uint_eq(f.blanks, 1);
	ck_assert_uint_eq(f.bad_bytes, 1);
	ck_assert_uint_eq(f.foreign, 1);
	ck_assert_uint_eq(f.lines, 2);
}
END_TEST

START_TEST(frames)
{
	static const struct {
		const char *text;
		unsigned width;
		const char *want;
	} f[] = {
		{ "a", 80, "| a\n" },
		{ "", 80, "| \n" },
		{ "a\nb\n", 80, "| a\n| b\n| \n" },
		{ "12345678901234567890", 20, "| 12345678901234567\n+ 890\n" },
		{ "12345678901234567", 20, "| 12345678901234567\n" },
		{ "12345678901234567\nx", 1, "| 12345678901234567\n| x\n" },
		/* two columns each */
		{ "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 20,
		  "| \xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\n+ \xe6\xbc\xa2\n" },
	};

	for (size_t i = 0; i < sizeof(f) / sizeof(f[0]); i++) {
		struct ak_buf out = { 0 };
		size_t lines = show_frame(f[i].text, strlen(f[i].text), f[i].width, &out);
		size_t want = 0;

		ck_assert_str_eq(out.data, f[i].want);
		for (const char *c = f[i].want; *c; c++)
			want += *c == '\n';
		ck_assert_uint_eq(lines, want);
		ak_buf_release(&out);
	}
}
END_TEST

static const struct {
	const char *text;
	const char *shown;
} prose[] = {
	{ "a\tb\n\n\n\n\n\n\nc                      d", "a\tb\n\n\n\n\n\n\nc                      d" },
	{ "if (a <U+202E && b <0x41)", "if (a <U+202E && b <0x41)" },
	{ "\xe2\x9c\x85\xef\xb8\x8f \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb", "\xe2\x9c\x85\xef\xb8\x8f \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb" },
	{ "\xe0\xa4\x95\xe0\xa4\xbf e\xcc\x81", "\xe0\xa4\x95\xe0\xa4\xbf e\xcc\x81" },
	{ "\033]52;c;QUJD\007\r\b\x7f", "<U+001B>]52;c;QUJD<U+0007><U+000D><U+0008><U+007F>" },
	{ "\xc2\x9b" "31m", "<U+009B>31m" },
	{ "\x9b" "31m\xff", "<0x9B>31m<0xFF>" },
	{ "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9c", "<U+202E><U+2066><U+200F><U+061C>" },
	{ "\xe2\x80\x8b\xe2\x80\xa8\xf3\xa0\x81\x81\xef\xb8\x80\xf3\xa0\x84\x80\xef\xbb\xbf", "<U+200B><U+2028><U+E0041><U+FE00><U+E0100><U+FEFF>" },
	{ "\xee\x80\x80\xe3\x85\xa4", "<U+E000><U+3164>" },
};

START_TEST(prose_is_read_and_not_obeyed)
{
	struct ak_buf out = { 0 };

	show_text(prose[_i].text, strlen(prose[_i].text), SHOW_PROSE, &out, NULL);
	ck_assert_str_eq(out.data, prose[_i].shown);
	ak_buf_release(&out);
}
END_TEST

/* every pair of bytes, and what a terminal would obey: none of it comes through */
START_TEST(prose_has_no_controls)
{
	struct ak_buf out = { 0 };
	size_t bad = 0;

	for (unsigned a = 0; a < 256; a++) {
		for (unsigned b = 0; b < 256; b++) {
			char text[3] = { (char)a, (char)b, 'x' };

			show_text(text, 3, SHOW_PROSE, &out, NULL);
		}
	}
	for (size_t i = 0; i < out.len; i++) {
		unsigned char c = (unsigned char)out.data[i];

		bad += c < 0x20 ? c != '\n' && c != '\t' : c == 0x7f;
		bad += c == 0xc2 && (unsigned char)out.data[i + 1] < 0xa0;
	}
	ck_assert_uint_eq(bad, 0);
	ak_buf_release(&out);
}
END_TEST

START_TEST(folds)
{
	struct ak_buf out = { 0 };
	const char *text = "| 1\n| 2\n| 3\n| 4\n| 5\n| 6\n| 7\n";

	ck_assert_uint_eq(show_fold(text, strlen(text), 7, &out), 0);
	ck_assert_str_eq(out.data, text);
	ak_buf_release(&out);
	ck_assert_uint_eq(show_fold(text, strlen(text), 5, &out), 12);
	ck_assert_str_eq(out.data, "| 1\n| 2\n... 12 more bytes ...\n| 6\n| 7\n");
	ak_buf_release(&out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("show");
	TCase *tc = tcase_create("all");
	SRunner *sr;
	int failed;

	tcase_add_loop_test(tc, what_is_made_visible, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(tc, every_text_comes_back);
	tcase_add_test(tc, what_was_never_shown_does_not_come_back);
	tcase_add_test(tc, one_line_has_no_newlines);
	tcase_add_test(tc, nul_bytes_are_shown);
	tcase_add_test(tc, facts);
	tcase_add_test(tc, frames);
	tcase_add_test(tc, folds);
	tcase_add_loop_test(tc, prose_is_read_and_not_obeyed, 0, (int)(sizeof(prose) / sizeof(prose[0])));
	tcase_add_test(tc, prose_has_no_controls);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
