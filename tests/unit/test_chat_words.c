/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of lines typed into `ak chat`: commands, lines that go on, pastes; and of the one line in which a call is shown. */
#include "agent/chat_words.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/chat_view.h"
#include "agent/show.h"
#include "executor/shared/ak_buf.h"

static const struct {
	const char *line;
	enum chat_command command;
	const char *arg;
	size_t word;
} lines[] = {
	{ "/clear", CHAT_CLEAR, "", 6 },
	{ "/cost", CHAT_COST, "", 5 },
	{ "/diff", CHAT_DIFF, "", 5 },
	{ "/exit", CHAT_EXIT, "", 5 },
	{ "/quit", CHAT_EXIT, "", 5 },
	{ "/help", CHAT_HELP, "", 5 },
	{ "/tools", CHAT_TOOLS, "", 6 },
	{ "/rollback", CHAT_ROLLBACK, "", 9 },
	{ "/rollback  3 ", CHAT_ROLLBACK, "3", 9 },
	{ "/rollback\t3\t", CHAT_ROLLBACK, "3", 9 },
	{ "/exit\n", CHAT_MESSAGE, NULL, 0 },
	{ "/exit\nrm -rf x", CHAT_MESSAGE, NULL, 0 },
	{ "/clear all of it", CHAT_CLEAR, "all of it", 6 },
	{ "/cos", CHAT_UNKNOWN, "", 4 },
	{ "/costs", CHAT_UNKNOWN, "", 6 },
	{ "/CLEAR", CHAT_UNKNOWN, "", 6 },
	{ "/no-such_thing x", CHAT_UNKNOWN, "x", 14 },
	{ "/", CHAT_UNKNOWN, "", 1 },
	{ "/ clear", CHAT_UNKNOWN, "clear", 1 },
	{ "/etc/passwd is odd", CHAT_MESSAGE, NULL, 0 },
	{ "/clear.txt", CHAT_MESSAGE, NULL, 0 },
	{ "/clear\xc3\xa9", CHAT_MESSAGE, NULL, 0 },
	{ "//clear", CHAT_MESSAGE, NULL, 0 },
	{ " /clear", CHAT_MESSAGE, NULL, 0 },
	{ "clear", CHAT_MESSAGE, NULL, 0 },
	{ "what does /clear do?", CHAT_MESSAGE, NULL, 0 },
	{ "", CHAT_MESSAGE, NULL, 0 },
};

START_TEST(a_line_is_a_command_or_a_message)
{
	char *arg = NULL;
	size_t word = 99;

	ck_assert_int_eq(chat_parse(lines[_i].line, &arg, &word), lines[_i].command);
	ck_assert_uint_eq(word, lines[_i].word);
	if (lines[_i].arg)
		ck_assert_str_eq(arg, lines[_i].arg);
	else
		ck_assert_ptr_null(arg);
	free(arg);
}
END_TEST

START_TEST(every_row_is_found_by_its_name)
{
	const struct chat_row *r, *last = NULL;

	for (size_t i = 0; (r = chat_row_at(i)) != NULL; i++) {
		char *arg = NULL;
		size_t word;

		ck_assert_int_eq(chat_parse(r->name, &arg, &word), r->command);
		ck_assert(!last || strcmp(last->name, r->name) < 0);
		last = r;
		free(arg);
	}
	ck_assert_ptr_nonnull(last);
}
END_TEST

START_TEST(an_odd_number_of_backslashes_goes_on)
{
	ck_assert(!chat_goes_on("", 0));
	ck_assert(chat_goes_on("\\", 1));
	ck_assert(!chat_goes_on("\\\\", 2));
	ck_assert(chat_goes_on("a\\\\\\", 4));
	ck_assert(chat_goes_on("a\\", 2));
	ck_assert(!chat_goes_on("\\a", 2));
	ck_assert(!chat_goes_on("a\\ ", 3));
}
END_TEST

START_TEST(blank_is_white_space_only)
{
	ck_assert(chat_blank("", 0));
	ck_assert(chat_blank(" \t\r\n", 4));
	ck_assert(!chat_blank(" x", 2));
	ck_assert(!chat_blank("\xc2\xa0", 2));
}
END_TEST

START_TEST(a_paste_has_newlines_and_no_nul)
{
	char text[] = "a\r\nb\rc\n\0d\r";
	size_t n = chat_paste_clean(text, sizeof(text) - 1);

	ck_assert_uint_eq(n, 8);
	ck_assert_str_eq(text, "a\nb\nc\nd\n");
}
END_TEST

START_TEST(only_a_short_printable_line_is_plain)
{
	char longest[CHAT_PASTE_PLAIN + 2];

	memset(longest, 'x', sizeof(longest));
	ck_assert(chat_paste_plain("ls -l", 5));
	ck_assert(chat_paste_plain("ls -l\n", 6));
	ck_assert(chat_paste_plain("gr\xc3\xbc\xc3\x9f", 6));
	ck_assert(chat_paste_plain(longest, CHAT_PASTE_PLAIN));
	ck_assert(!chat_paste_plain(longest, CHAT_PASTE_PLAIN + 1));
	ck_assert(!chat_paste_plain("a\nb", 3));
	ck_assert(!chat_paste_plain("a\n\n", 3));
	ck_assert(!chat_paste_plain("a\tb", 3));
	ck_assert(!chat_paste_plain("a\033[2Jb", 6));
	ck_assert(!chat_paste_plain("a\xe2\x80\xae" "b", 5));
	ck_assert(!chat_paste_plain("a\xe2\x80\x8b" "b", 5));
	ck_assert(!chat_paste_plain("a\xff", 2));
}
END_TEST

static void expands(const struct chat_pastes *p, const char *line, const char *want)
{
	struct ak_buf out = { 0 };

	chat_paste_expand(p, line, &out);
	ck_assert_str_eq(out.data ? out.data : "", want);
	ak_buf_release(&out);
}

START_TEST(a_mark_stands_for_its_paste_once)
{
	struct chat_pastes p = { 0 };
	char line[200];
	const char *one = chat_paste_keep(&p, "x\ny\n", 4), *two;

	ck_assert_str_eq(one, "[paste 1: 2 lines, 4 bytes]");
	two = chat_paste_keep(&p, "[paste 1: 2 lines, 4 bytes]\tz", 29);
	ck_assert_str_eq(two, "[paste 2: 1 line, 29 bytes]");
	expands(&p, "", "");
	expands(&p, "a [b] [paste 3] [", "a [b] [paste 3] [");
	(void)snprintf(line, sizeof(line), "see %s!", one);
	expands(&p, line, "see x\ny\n!");
	/* what a paste holds is not looked at again */
	(void)snprintf(line, sizeof(line), "%s%s%s", two, one, one);
	expands(&p, line, "[paste 1: 2 lines, 4 bytes]\tzx\ny\n[paste 1: 2 lines, 4 bytes]");
	/* one that was edited is text */
	expands(&p, "[paste 1: 2 lines, 4 byte]", "[paste 1: 2 lines, 4 byte]");
	chat_pastes_release(&p);
	ck_assert_uint_eq(p.n, 0);
}
END_TEST

START_TEST(there_are_so_many_pastes_and_no_more)
{
	struct chat_pastes p = { 0 };

	for (size_t i = 0; i < CHAT_PASTES_MAX; i++)
		ck_assert_ptr_nonnull(chat_paste_keep(&p, "x", 1));
	ck_assert_ptr_null(chat_paste_keep(&p, "x", 1));
	chat_pastes_release(&p);
}
END_TEST

static const struct {
	const char *text;
	size_t columns;
	const char *want;
} cuts[] = {
	{ "ls", 20, "ls" },
	{ "12345678901234567890", 20, "12345678901234567890" },
	{ "123456789012345678901", 20, "12345678901234567..." },
	{ "1234567890123456789012345", 25, "1234567890123456789012345" },
	{ "123456789012345678901", 0, "12345678901234567..." },
	{ "echo ok\r\033[2Krm -rf x; echo", 80, "echo ok<U+000D><U+001B>[2Krm -rf x; echo" },
	{ "a\nb", 80, "a<U+000A>b" },
	/* two columns each: the eighth would be the sixteenth and seventeenth */
	{ "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 20,
	  "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad..." },
};

START_TEST(one_line_is_no_wider_than_the_terminal)
{
	struct ak_buf out = { 0 };

	chat_view_cut(cuts[_i].text, strlen(cuts[_i].text), cuts[_i].columns, &out);
	ck_assert_str_eq(out.data, cuts[_i].want);
	ak_buf_release(&out);
}
END_TEST

START_TEST(a_long_text_is_cut_whatever_is_in_it)
{
	struct ak_buf out = { 0 };
	char *text = malloc(1u << 20);

	memset(text, 0x1b, 1u << 20);
	chat_view_cut(text, 1u << 20, 40, &out);
	ck_assert_uint_le(show_columns(out.data, out.len), 40);
	ck_assert_str_eq(out.data + out.len - 3, "...");
	ak_buf_release(&out);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("chat_words");
	TCase *tc = tcase_create("all");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_loop_test(tc, a_line_is_a_command_or_a_message, 0, (int)(sizeof(lines) / sizeof(lines[0])));
	tcase_add_test(tc, every_row_is_found_by_its_name);
	tcase_add_test(tc, an_odd_number_of_backslashes_goes_on);
	tcase_add_test(tc, blank_is_white_space_only);
	tcase_add_test(tc, a_paste_has_newlines_and_no_nul);
	tcase_add_test(tc, only_a_short_printable_line_is_plain);
	tcase_add_test(tc, a_mark_stands_for_its_paste_once);
	tcase_add_test(tc, there_are_so_many_pastes_and_no_more);
	tcase_add_loop_test(tc, one_line_is_no_wider_than_the_terminal, 0, (int)(sizeof(cuts) / sizeof(cuts[0])));
	tcase_add_test(tc, a_long_text_is_cut_whatever_is_in_it);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
