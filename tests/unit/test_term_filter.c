/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a hostile output reaches a terminal: a table of sequences, and laws that hold for all of them
 * however they are cut.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "executor/term_filter.h"
#include "tests/unit/term_law.h"
#include "tests/unit/term_sequences.h"

struct row {
	const char *name;
	const char *in;
	size_t len;
	const char *strict, *interactive;	/* NULL: the input itself */
	size_t strict_len, interactive_len;
	bool open;
};

#define LIT(s) s, sizeof(s) - 1
#define DROP(name, in) { name, LIT(in), "", "", 0, 0, false },
#define TTY(name, in) { name, LIT(in), "", in, 0, sizeof(in) - 1, false },
#define PASS(name, in) { name, LIT(in), in, in, sizeof(in) - 1, sizeof(in) - 1, false },
#define ROW(name, in, s, i) { name, LIT(in), s, i, sizeof(s) - 1, sizeof(i) - 1, false },
#define OPEN(name, in) { name, LIT(in), "", "", 0, 0, true },

static const struct row rows[] = { TERM_SEQUENCES(DROP, TTY, PASS, ROW, OPEN) };

#define NROWS (sizeof(rows) / sizeof(rows[0]))
#define IN_MAX 4096

struct text {
	size_t n;
	uint8_t b[4 * IN_MAX + TERM_SEQ_MAX + 16 + TERM_END_MAX];
};

static struct text feed(const struct row *r)
{
	struct text t = { .n = r->len + (r->open ? 1 : 2) };

	ck_assert_uint_le(t.n, IN_MAX);
	t.b[0] = 'A';
	memcpy(t.b + 1, r->in, r->len);
	if (!r->open)
		t.b[t.n - 1] = 'Z';
	return t;
}

static void run(struct term_filter *f, const uint8_t *in, size_t n, struct text *out)
{
	out->n += term_filter_run(f, in, n, out->b + out->n);
	out->b[out->n] = '\0';
}

static void expect_row(const struct row *r, enum term_policy policy)
{
	bool inter = policy == TERM_INTERACTIVE;
	const char *want = inter ? r->interactive : r->strict;
	size_t len = inter ? r->interactive_len : r->strict_len;
	struct text in = feed(r), out = { 0 };
	struct term_filter f;

	term_filter_init(&f, policy);
	run(&f, in.b, in.n, &out);
	ck_assert_msg(out.n == len + (r->open ? 1 : 2) && out.b[0] == 'A' && memcmp(out.b + 1, want, len) == 0,
		      "%s (%s): %zu bytes, not %zu", r->name, inter ? "interactive" : "strict", out.n - 1, len);
	ck_assert_msg(r->open || out.b[out.n - 1] == 'Z', "%s: text behind it is gone", r->name);
}

START_TEST(each_sequence_is_passed_or_dropped_as_the_table_says)
{
	ck_assert_uint_ge(NROWS, 400);
	for (size_t i = 0; i < NROWS; i++) {
		expect_row(&rows[i], TERM_STRICT);
		expect_row(&rows[i], TERM_INTERACTIVE);
	}
}
END_TEST

static void finish(struct term_filter *f, struct text *out, const char *name)
{
	size_t n = term_filter_end(f, out->b + out->n);

	ck_assert_uint_le(n, TERM_END_MAX);
	out->n += n;
	out->b[out->n] = '\0';
	ck_assert_msg(law_holds(out->b, out->n, f->policy == TERM_INTERACTIVE), "%s: the law is broken", name);
}

START_TEST(output_is_the_same_however_the_input_is_cut)
{
	enum term_policy policy = _i ? TERM_INTERACTIVE : TERM_STRICT;

	for (size_t i = 0; i < NROWS; i++) {
		struct text in = feed(&rows[i]), whole = { 0 }, bytes = { 0 };
		struct term_filter f;

		term_filter_init(&f, policy);
		run(&f, in.b, in.n, &whole);
		finish(&f, &whole, rows[i].name);
		for (size_t k = 0; k < in.n; k++)
			run(&f, in.b + k, 1, &bytes);
		finish(&f, &bytes, rows[i].name);
		ck_assert_msg(whole.n == bytes.n && memcmp(whole.b, bytes.b, whole.n) == 0, "%s, byte by byte", rows[i].name);
		for (size_t k = 1; k < in.n; k++) {
			struct text two = { 0 };

			run(&f, in.b, k, &two);
			run(&f, in.b + k, in.n - k, &two);
			finish(&f, &two, rows[i].name);
			ck_assert_msg(whole.n == two.n && memcmp(whole.b, two.b, whole.n) == 0, "%s, cut at %zu", rows[i].name, k);
		}
	}
}
END_TEST

START_TEST(no_truncation_breaks_the_law)
{
	enum term_policy policy = _i ? TERM_INTERACTIVE : TERM_STRICT;

	for (size_t i = 0; i < NROWS; i++) {
		struct text in = feed(&rows[i]);

		for (size_t k = 0; k <= in.n; k++) {
			struct text out = { 0 };
			struct term_filter f;

			term_filter_init(&f, policy);
			run(&f, in.b, k, &out);
			finish(&f, &out, rows[i].name);
		}
	}
}
END_TEST

static void expect_end(enum term_policy policy, const char *in, const char *end)
{
	struct text out = { 0 };
	struct term_filter f;

	term_filter_init(&f, policy);
	run(&f, (const uint8_t *)in, strlen(in), &out);
	out.n = term_filter_end(&f, out.b);
	out.b[out.n] = '\0';
	ck_assert_str_eq((char *)out.b, end);
	ck_assert_uint_eq(term_filter_end(&f, out.b), 0);
}

START_TEST(end_undoes_what_is_still_on)
{
	expect_end(TERM_STRICT, "text", "");
	expect_end(TERM_STRICT, "\033[31mred\033[0m", "");
	expect_end(TERM_STRICT, "\033[31mred\033[m", "");
	expect_end(TERM_STRICT, "\033[8mhidden", "\033[0m");
	expect_end(TERM_STRICT, "\033[38;5;0mblack", "\033[0m");
	expect_end(TERM_STRICT, "\033[?1049h\033[?25l\016", "");
	expect_end(TERM_INTERACTIVE, "\033[?1049h\033[?25l\033[?1002;1006h", "\033[?25h\033[?1002l\033[?1006l\033[?1049l");
	expect_end(TERM_INTERACTIVE, "\033[?1049h\033[?25l\033[?25h\033[?1049l", "");
	expect_end(TERM_INTERACTIVE, "\033[?7l\033[4h", "\033[4l\033[?7h");
	expect_end(TERM_INTERACTIVE, "\033(0\016", "\033(B\017");
	expect_end(TERM_INTERACTIVE, "\033(0\016\017\033(B", "");
}
END_TEST

START_TEST(end_with_everything_on_fits)
{
	static const char *const on = "\033[4h\033[?1;5;6;9;12;47;66;1000;1002;1003;1004;1005;1006;1007;1015;1047;1048;1049;2004;2026h"
				      "\033[?7;25l\033(0\016\033[1m\xe2\x82";
	struct text out = { 0 };
	struct term_filter f;

	term_filter_init(&f, TERM_INTERACTIVE);
	run(&f, (const uint8_t *)on, strlen(on), &out);
	out.n = term_filter_end(&f, out.b);
	ck_assert_uint_gt(out.n, 150);
	ck_assert_uint_le(out.n, TERM_END_MAX);
}
END_TEST

static size_t shown_after(const char *start, size_t filler, enum term_policy policy)
{
	static uint8_t block[4096], out[4 * 4096 + TERM_SEQ_MAX + 16];
	struct term_filter f;
	size_t n;

	memset(block, 'x', sizeof(block));
	term_filter_init(&f, policy);
	n = term_filter_run(&f, (const uint8_t *)start, strlen(start), out);
	for (; filler >= sizeof(block); filler -= sizeof(block))
		n += term_filter_run(&f, block, sizeof(block), out);
	return n + term_filter_run(&f, (const uint8_t *)"end", 3, out);
}

START_TEST(control_string_without_end_hides_a_bounded_part)
{
	static const char *const starts[] = { "\033]0;", "\033]52;c;", "\033P", "\033_G", "\033^", "\033X", "\033k" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		ck_assert_uint_eq(shown_after(starts[i], 64 << 10, _i), 0);
		ck_assert_uint_ge(shown_after(starts[i], TERM_STRING_MAX + 8192, _i), 3);
	}
}
END_TEST

/* the worst growth: each byte makes a replacement character; each two a mode of their own */
START_TEST(output_fits_the_promised_room)
{
	static uint8_t in[4096], out[4 * 4096 + TERM_SEQ_MAX + 16];
	static const char *const units[] = { "\xff", "\xe2", "\xf0\x9f\x98", "4;", "\033[4;4;4;4;4;4;4;4;4;4;4;4;4;4h", "\033[?1;1;1;1;1;1;1;1;1;1;1;1;1;1h" };

	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		for (size_t block = 1; block <= sizeof(in); block = block * 2 + 1) {
			struct term_filter f;

			for (size_t i = 0; i < sizeof(in); i++)
				in[i] = (uint8_t)units[u][i % strlen(units[u])];
			term_filter_init(&f, TERM_INTERACTIVE);
			for (size_t at = 0; at + block <= sizeof(in); at += block)
				ck_assert_uint_le(term_filter_run(&f, in + at, block, out), 4 * block + TERM_SEQ_MAX + 16);
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("term_filter");
	TCase *t = tcase_create("term_filter");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_test(t, each_sequence_is_passed_or_dropped_as_the_table_says);
	tcase_add_loop_test(t, output_is_the_same_however_the_input_is_cut, 0, 2);
	tcase_add_loop_test(t, no_truncation_breaks_the_law, 0, 2);
	tcase_add_test(t, end_undoes_what_is_still_on);
	tcase_add_test(t, end_with_everything_on_fits);
	tcase_add_loop_test(t, control_string_without_end_hides_a_bounded_part, 0, 2);
	tcase_add_test(t, output_fits_the_promised_room);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
