/* SPDX-License-Identifier: Apache-2.0 */
/* Marks in the standard error of `docker exec`: found however the stream is cut, and nothing else is touched. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "executor/docker/docker_marks.h"

#define MARK "ak-0123456789abcdef0123456789abcdef"
#define START "\001" MARK ":s\n"
#define END(code) "\001" MARK ":e" code "\n"

static struct docker_marks m;
static char out[65536];
static size_t len;

static void feed(const char *in, size_t n, size_t step)
{
	uint8_t buf[4096];

	m = (struct docker_marks){.mark = MARK};
	len = 0;
	for (size_t at = 0; at < n; at += step) {
		size_t k = n - at < step ? n - at : step;
		size_t made;

		ck_assert_uint_le(k + DOCKER_HELD_MAX, sizeof(buf));
		made = docker_marks_feed(&m, (const uint8_t *)in + at, k, buf);
		ck_assert_uint_le(made, k + DOCKER_HELD_MAX);
		memcpy(out + len, buf, made);
		len += made;
	}
	len += docker_marks_end(&m, (uint8_t *)out + len);
	out[len] = '\0';
}

static void expect(const char *in, const char *before, const char *command, bool started, bool ended, unsigned code)
{
	for (size_t step = 1; step <= strlen(in) + 1; step++) {
		feed(in, strlen(in), step);
		ck_assert_str_eq(m.before, before);
		ck_assert_str_eq(out, command);
		ck_assert_int_eq(m.started, started);
		ck_assert_int_eq(m.ended, ended);
		if (ended)
			ck_assert_uint_eq(m.code, code);
	}
}

START_TEST(marks_cut_the_stream_in_three)
{
	expect("notice\n" START "err\n" END("0") "late\n", "notice\n", "err\n", true, true, 0);
	expect(START END("127"), "", "", true, true, 127);
	expect(START "no newline" END("255"), "", "no newline", true, true, 255);
}
END_TEST

START_TEST(without_marks_all_is_dockers)
{
	expect("Error: no such container\n", "Error: no such container\n", "", false, false, 0);
	expect("", "", "", false, false, 0);
	expect(END("0") "x", END("0") "x", "", false, false, 0);
}
END_TEST

START_TEST(without_an_end_the_command_was_cut_off)
{
	expect(START "half\001" MARK ":e1", "", "half\001" MARK ":e1", true, false, 0);
	expect(START "x\001", "", "x\001", true, false, 0);
}
END_TEST

START_TEST(what_only_looks_like_a_mark_is_output)
{
	static const char *const rows[] = {
		"\001", "\001\001", "\001\001\001a", "\001" MARK, "\001" MARK ":", "\001" MARK ":x\n", "\001" MARK ":e\n",
		"\001" MARK ":e256\n", "\001" MARK ":e1234\n", "\001" MARK ":e-1\n", "\001" MARK ":s ", "\001ak-0\n", MARK ":e0\n",
		"\001\001" MARK "x", START,
	};
	char in[256];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(in, sizeof(in), START "%s|" END("3"), rows[i]);
		for (size_t step = 1; step < 60; step++) {
			char want[256];

			(void)snprintf(want, sizeof(want), "%s|", rows[i]);
			feed(in, strlen(in), step);
			ck_assert_str_eq(out, want);
			ck_assert(m.ended && m.code == 3);
		}
	}
}
END_TEST

START_TEST(a_byte_before_a_mark_may_be_the_same_as_its_first)
{
	expect(START "a\001" END("9"), "", "a\001", true, true, 9);
}
END_TEST

START_TEST(every_byte_passes)
{
	char in[600], want[257];
	size_t n = strlen(START);

	memcpy(in, START, n);
	for (int i = 0; i < 256; i++)
		in[n + (size_t)i] = want[i] = (char)i;
	memcpy(in + n + 256, END("0"), strlen(END("0")) + 1);
	for (size_t step = 1; step < 50; step++) {
		feed(in, n + 256 + strlen(END("0")), step);
		ck_assert_uint_eq(len, 256);
		ck_assert_mem_eq(out, want, 256);
	}
}
END_TEST

START_TEST(of_dockers_words_the_last_are_kept)
{
	static char in[40000];

	memset(in, 'a', sizeof(in));
	memcpy(in + sizeof(in) - 5, "last\n", 5);
	feed(in, sizeof(in), 4000);
	ck_assert_uint_le(m.nbefore, DOCKER_BEFORE_MAX);
	ck_assert_uint_ge(m.nbefore, DOCKER_BEFORE_MAX / 2);
	ck_assert_str_eq(m.before + m.nbefore - 5, "last\n");
}
END_TEST

START_TEST(each_mark_is_new)
{
	struct docker_marks a, b;

	ck_assert_int_eq(docker_marks_make(&a, NULL), 0);
	ck_assert_int_eq(docker_marks_make(&b, NULL), 0);
	ck_assert_uint_eq(strlen(a.mark), DOCKER_MARK_BYTES - 1);
	ck_assert_str_ne(a.mark, b.mark);
	ck_assert_uint_eq(strspn(a.mark + 3, "0123456789abcdef"), 32);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("docker_marks");
	TCase *t = tcase_create("docker_marks");
	SRunner *sr;
	int failed;

	tcase_add_test(t, marks_cut_the_stream_in_three);
	tcase_add_test(t, without_marks_all_is_dockers);
	tcase_add_test(t, without_an_end_the_command_was_cut_off);
	tcase_add_test(t, what_only_looks_like_a_mark_is_output);
	tcase_add_test(t, a_byte_before_a_mark_may_be_the_same_as_its_first);
	tcase_add_test(t, every_byte_passes);
	tcase_add_test(t, of_dockers_words_the_last_are_kept);
	tcase_add_test(t, each_mark_is_new);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
