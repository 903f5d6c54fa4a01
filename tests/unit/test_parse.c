/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of ak_parse: numbers, sizes, durations, lines, fields, small files, names. */
#include "executor/shared/ak_parse.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"

#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

struct good {
	const char *text;
	uint64_t value;
};

struct bad {
	const char *text;
	int rc;
};

static void check_all(int (*parse)(const char *, uint64_t *), const struct good *good, size_t ngood,
		      const struct bad *bad, size_t nbad)
{
	for (size_t i = 0; i < ngood; i++) {
		uint64_t v = UNTOUCHED;

		ck_assert_msg(parse(good[i].text, &v) == 0, "\"%s\" refused", good[i].text);
		ck_assert_msg(v == good[i].value, "\"%s\" is %llu", good[i].text, (unsigned long long)v);
	}
	for (size_t i = 0; i < nbad; i++) {
		uint64_t v = UNTOUCHED;
		int rc = parse(bad[i].text, &v);

		ck_assert_msg(rc == bad[i].rc, "\"%s\": %d", bad[i].text, rc);
		ck_assert_msg(v == UNTOUCHED, "\"%s\" touched its output", bad[i].text);
	}
}

START_TEST(u64_edges)
{
	uint64_t v = UNTOUCHED;

	ck_assert_int_eq(ak_parse_u64("5", 5, 7, &v), 0);
	ck_assert_uint_eq(v, 5);
	ck_assert_int_eq(ak_parse_u64("7", 5, 7, &v), 0);
	ck_assert_uint_eq(v, 7);
	ck_assert_int_eq(ak_parse_u64("007", 5, 7, &v), 0);
	v = UNTOUCHED;
	ck_assert_int_eq(ak_parse_u64("4", 5, 7, &v), -ERANGE);
	ck_assert_int_eq(ak_parse_u64("8", 5, 7, &v), -ERANGE);
	ck_assert_uint_eq(v, UNTOUCHED);
	ck_assert_int_eq(ak_parse_u64("18446744073709551615", 0, UINT64_MAX, &v), 0);
	ck_assert_uint_eq(v, UINT64_MAX);
	ck_assert_int_eq(ak_parse_u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	ck_assert_int_eq(ak_parse_u64("99999999999999999999999", 0, UINT64_MAX, &v), -ERANGE);
}
END_TEST

START_TEST(u64_takes_digits_only)
{
	static const char *const bad[] = {"",  "-1",   "+1",  " 1",  "1 ",  "1x",
					  "x", "0x10", "1e9", "1.0", "1\n", "99999999999999999999999x"};

	for (size_t i = 0; i < LEN(bad); i++) {
		uint64_t v = UNTOUCHED;

		ck_assert_msg(ak_parse_u64(bad[i], 0, UINT64_MAX, &v) == -EINVAL, "\"%s\"", bad[i]);
		ck_assert_uint_eq(v, UNTOUCHED);
	}
}
END_TEST

START_TEST(sizes)
{
	static const struct good good[] = {
		{"0", 0},
		{"512", 512},
		{"512B", 512},
		{"64k", 65536},
		{"64K", 65536},
		{"64kB", 65536},
		{"64KiB", 65536},
		{"1G", 1 << 30},
		{"1GiB", 1 << 30},
		{"2MB", 2 << 20},
		{"2mb", 2 << 20},
		{"512m", 512 << 20},
		{"9223372036854775807", INT64_MAX},
		{"9007199254740991k", 9007199254740991ull << 10},
		{"8589934591g", 8589934591ull << 30},
	};
	static const struct bad bad[] = {
		{"", -EINVAL},
		{"k", -EINVAL},
		{"-1", -EINVAL},
		{"+1", -EINVAL},
		{"1e9", -EINVAL},
		{"1.5g", -EINVAL},
		{"10x", -EINVAL},
		{"1t", -EINVAL},
		{"1 k", -EINVAL},
		{" 1k", -EINVAL},
		{"1k ", -EINVAL},
		{"1kk", -EINVAL},
		{"1iB", -EINVAL},
		{"1kiBx", -EINVAL},
		{"1ki", -EINVAL},
		{"1bk", -EINVAL},
		{"0x10", -EINVAL},
		{"max", -EINVAL},
		{"1\v", -EINVAL},
		{"99999999999999999999x", -EINVAL},
		{"9223372036854775808", -ERANGE},
		{"9007199254740992k", -ERANGE},
		{"8589934592g", -ERANGE},
		{"99999999999G", -ERANGE},
		{"18446744073709551617", -ERANGE},
		{"99999999999999999999999999k", -ERANGE},
	};

	check_all(ak_parse_size, good, LEN(good), bad, LEN(bad));
}
END_TEST

START_TEST(durations)
{
	static const struct good good[] = {
		{"0", 0},
		{"0s", 0},
		{"0.000", 0},
		{"90", 90000},
		{"500ms", 500},
		{"30s", 30000},
		{"5m", 300000},
		{"1h", 3600000},
		{"0.5", 500},
		{"1.5m", 90000},
		{"0.25h", 900000},
		{"0.0001", 1},
		{"0.1ms", 1},
		{"1.0001", 1001},
		{"1.5ms", 2},
		{"0.30000000000000004", 301},
		{"0.0000000000000000000000000000001", 1},
		{"0.99999999999999999999999", 1000},
		{"315360000", 315360000000},
		{"87600h", 315360000000},
	};
	static const struct bad bad[] = {
		{"", -EINVAL},
		{"s", -EINVAL},
		{"-1", -EINVAL},
		{"+1", -EINVAL},
		{".5", -EINVAL},
		{"5.", -EINVAL},
		{"5.s", -EINVAL},
		{"1e12", -EINVAL},
		{"1d", -EINVAL},
		{"1 s", -EINVAL},
		{"1S", -EINVAL},
		{"1sx", -EINVAL},
		{"1.2.3", -EINVAL},
		{"inf", -EINVAL},
		{"1m30s", -EINVAL},
		{"315360001", -ERANGE},
		{"315360000.0001", -ERANGE},
		{"87601h", -ERANGE},
		{"99999999999999999999999999", -ERANGE},
	};

	check_all(ak_parse_duration, good, LEN(good), bad, LEN(bad));
}
END_TEST

START_TEST(thousandths)
{
	static const struct good good[] = {
		{"0", 0},
		{"1", 1000},
		{"0.5", 500},
		{"2.25", 2250},
		{"0.001", 1},
		{"1.050", 1050},
		{"18446744073709551.615", UINT64_MAX},
	};
	static const struct bad bad[] = {
		{"", -EINVAL},
		{".5", -EINVAL},
		{"1.", -EINVAL},
		{"1.0000", -EINVAL},
		{"-1", -EINVAL},
		{"1,5", -EINVAL},
		{"1.5x", -EINVAL},
		{"max", -EINVAL},
		{"1e3", -EINVAL},
		{"18446744073709551.616", -ERANGE},
		{"18446744073709552", -ERANGE},
		{"99999999999999999999999", -ERANGE},
	};

	check_all(ak_parse_milli, good, LEN(good), bad, LEN(bad));
}
END_TEST

/* Reads all lines of @text into "a|b|"; returns the final error */
static int join_lines(const char *text, size_t len, size_t max, char *out, size_t size, unsigned *line_no)
{
	struct ak_lines l;
	const char *line;
	size_t n;
	size_t at = 0;

	ak_lines_init(&l, text, len, max);
	while (ak_lines_next(&l, &line, &n))
		at += (size_t)snprintf(out + at, size - at, "%.*s|", (int)n, line);
	out[at] = '\0';
	*line_no = l.line_no;
	ck_assert(!ak_lines_next(&l, &line, &n));
	return l.error;
}

START_TEST(lines_are_cut_at_newlines)
{
	static const struct {
		const char *text, *joined;
		unsigned count;
	} rows[] = {
		{"", "", 0},
		{"a", "a|", 1},
		{"a\n", "a|", 1},
		{"\n", "|", 1},
		{"a\nb", "a|b|", 2},
		{"a\n\nb\n", "a||b|", 3},
		{"a\r\nb\r\n", "a\r|b\r|", 2},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char out[64];
		unsigned line_no;

		ck_assert_int_eq(
			join_lines(rows[i].text, strlen(rows[i].text), 10, out, sizeof(out), &line_no), 0);
		ck_assert_str_eq(out, rows[i].joined);
		ck_assert_uint_eq(line_no, rows[i].count);
	}
}
END_TEST

START_TEST(lines_over_the_maximum_end_the_reading)
{
	char out[64];
	unsigned line_no;

	ck_assert_int_eq(join_lines("ab\nabc\nabcd\nab\n", 15, 3, out, sizeof(out), &line_no), -EMSGSIZE);
	ck_assert_str_eq(out, "ab|abc|");
	ck_assert_uint_eq(line_no, 3);
	ck_assert_int_eq(join_lines("abcd", 4, 3, out, sizeof(out), &line_no), -EMSGSIZE);
	ck_assert_int_eq(join_lines("abc", 3, 3, out, sizeof(out), &line_no), 0);
}
END_TEST

START_TEST(lines_with_nul_end_the_reading)
{
	char out[64];
	unsigned line_no;

	ck_assert_int_eq(join_lines("a\nb\0c\nd\n", 8, 10, out, sizeof(out), &line_no), -EBADMSG);
	ck_assert_str_eq(out, "a|");
	ck_assert_uint_eq(line_no, 2);
}
END_TEST

START_TEST(fields)
{
	static const struct {
		const char *text, *joined;
	} rows[] = {{"", "|"}, {"a", "a|"}, {"a:", "a||"}, {":", "||"}, {"a:b::c", "a|b||c|"}};

	for (size_t i = 0; i < LEN(rows); i++) {
		const char *line = rows[i].text;
		size_t len = strlen(line);
		const char *f;
		size_t n;
		char out[64] = "";
		size_t at = 0;

		while (ak_field(&line, &len, ':', &f, &n))
			at += (size_t)snprintf(out + at, sizeof(out) - at, "%.*s|", (int)n, f);
		ck_assert_str_eq(out, rows[i].joined);
		ck_assert_ptr_null(line);
		ck_assert_uint_eq(len, 0);
	}
}
END_TEST

static void make_file(char path[64], const char *data, size_t len)
{
	(void)snprintf(path, 64, "/tmp/ak-test-parse-XXXXXX");

	AK_AUTO_FD fd = mkostemp(path, O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ak_write_all(fd, data, len), 0);
}

START_TEST(read_file_up_to_and_over_the_maximum)
{
	static const size_t lengths[] = {0, 1, 4094, 4095, 4096, 4097, 20000};
	char *data = calloc(1, 20000);

	memset(data, 'x', 20000);
	for (size_t i = 0; i < LEN(lengths); i++) {
		char path[64];
		char *text = NULL;
		size_t len = 0;

		make_file(path, data, lengths[i]);
		ck_assert_int_eq(ak_read_file(path, lengths[i], &text, &len), 0);
		ck_assert_uint_eq(len, lengths[i]);
		ck_assert_int_eq(memcmp(text, data, len), 0);
		ck_assert_int_eq(text[len], '\0');
		free(text);
		text = NULL;
		if (lengths[i] > 0)
			ck_assert_int_eq(ak_read_file(path, lengths[i] - 1, &text, &len), -EFBIG);
		ck_assert_ptr_null(text);
		unlink(path);
	}
	free(data);
}
END_TEST

START_TEST(read_file_of_proc_and_errors)
{
	char *text = NULL;
	size_t len = 7;

	ck_assert_int_eq(ak_read_file("/nonexistent/x", 10, &text, &len), -ENOENT);
	ck_assert_int_eq(ak_read_file("/", 10, &text, &len), -EISDIR);
	ck_assert_int_eq(ak_read_file("/dev/zero", 100000, &text, &len), -EFBIG);
	ck_assert_ptr_null(text);
	ck_assert_uint_eq(len, 7);
	ck_assert_int_eq(ak_read_file("/proc/self/status", 1 << 20, &text, &len), 0);
	ck_assert_uint_gt(len, 100);
	ck_assert_uint_eq(len, strlen(text));
	free(text);
}
END_TEST

START_TEST(environment_names)
{
	char longest[257];

	memset(longest, 'A', sizeof(longest));
	ck_assert(ak_env_name_ok("A", 1));
	ck_assert(ak_env_name_ok("_", 1));
	ck_assert(ak_env_name_ok("a1_Z9", 5));
	ck_assert(ak_env_name_ok(longest, 255));
	ck_assert(!ak_env_name_ok(longest, 256));
	ck_assert(!ak_env_name_ok("", 0));
	ck_assert(!ak_env_name_ok("1A", 2));
	ck_assert(!ak_env_name_ok("A-B", 3));
	ck_assert(!ak_env_name_ok("A B", 3));
	ck_assert(!ak_env_name_ok("A=B", 3));
	ck_assert(!ak_env_name_ok("A\0B", 3));
	ck_assert(!ak_env_name_ok("\xc3\xa9", 2));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("parse");
	TCase *t = tcase_create("parse");

	tcase_add_test(t, u64_edges);
	tcase_add_test(t, u64_takes_digits_only);
	tcase_add_test(t, sizes);
	tcase_add_test(t, durations);
	tcase_add_test(t, thousandths);
	tcase_add_test(t, lines_are_cut_at_newlines);
	tcase_add_test(t, lines_over_the_maximum_end_the_reading);
	tcase_add_test(t, lines_with_nul_end_the_reading);
	tcase_add_test(t, fields);
	tcase_add_test(t, read_file_up_to_and_over_the_maximum);
	tcase_add_test(t, read_file_of_proc_and_errors);
	tcase_add_test(t, environment_names);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
