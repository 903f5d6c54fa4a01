/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the event stream parser. */
#include "agent/sse.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* Events as text: "name|data\n", with "$" for the LF inside data and "!" behind those that came at the end */
static int note(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	struct ak_buf *b = ctx;

	(void)err;
	ak_buf_add(b, ev->name, ev->name_len);
	ak_buf_str(b, "|");
	for (size_t i = 0; i < ev->data_len; i++)
		ak_buf_add(b, ev->data[i] == '\n' ? "$" : &ev->data[i], 1);
	ak_buf_str(b, ev->at_end ? "!\n" : "\n");
	return 0;
}

/* Each piece lies in a block of its own size, so that a read behind it is noticed by valgrind and ASan */
static int feed(struct sse *s, const char *p, size_t n, struct ak_err *err)
{
	char *copy = malloc(n ? n : 1);
	int rc;

	memcpy(copy, p, n);
	rc = sse_feed(s, copy, n, err);
	free(copy);
	return rc;
}

static void events(const char *text, size_t len, size_t piece, size_t first, struct ak_buf *out)
{
	struct sse s;
	size_t n = first ? first : piece;

	out->len = 0;
	ak_buf_str(out, "");
	sse_init(&s, 0, note, out);
	for (size_t at = 0; at < len; at += n, n = piece)
		ck_assert_int_eq(feed(&s, text + at, n < len - at ? n : len - at, NULL), 0);
	ck_assert_int_eq(sse_end(&s, NULL), 0);
	sse_release(&s);
}

static const char *const streams[][2] = {
	{"", ""},
	{"data: a\n\n", "|a\n"},
	{"data:a\n\n", "|a\n"},
	{"data:  a \n\n", "| a \n"},
	{"data\n\n", "|\n"},
	{"data:\n\n", "|\n"},
	{"data: \n\n", "|\n"},
	{"data\ndata\n\n", "|$\n"},
	{"data: a\ndata: b\ndata:\n\n", "|a$b$\n"},
	{"event: e\ndata: a\n\n", "e|a\n"},
	{"data: a\nevent: e\n\n", "e|a\n"},
	{"event: x\nevent:e\ndata: a\n\n", "e|a\n"},
	{"event: x\nevent\ndata: a\n\n", "|a\n"},
	{"event: e\n\ndata: a\n\n", "|a\n"}, /* an event without data is dropped, with its name */
	{"data: a\r\n\r\n", "|a\n"},
	{"data: a\r\r", "|a\n"},
	{"data: a\rdata: b\r\ndata: c\n\n", "|a$b$c\n"},
	{"data: a\n\r\ndata: b\r\n\n", "|a\n|b\n"},
	{"data: a\n\n\n\n\r\n\r\rdata: b\n\n", "|a\n|b\n"},
	{": ping\n\ndata: a\n: ping\n\n:\n", "|a\n"},
	{": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: a\n\n", "|a\n"},
	{":data: no\n\n", ""},
	{" data: no\n\n", ""},
	{"Data: no\nDATA: no\n\n", ""},
	{"dat: no\ndatax: no\ndata : no\n\n", ""},
	{"id: 1\nretry: 10\nfoo: bar\nfoo\ndata: a\n\n", "|a\n"},
	{"data: a: b:c\n\n", "|a: b:c\n"},
	{"\xef\xbb\xbf"
	 "data: a\n\n",
	 "|a\n"},
	{"\xef\xbb\xbf\xef\xbb\xbf"
	 "data: a\n\n",
	 ""}, /* one mark only: the second belongs to the field's name */
	{"\xef\xbb"
	 "data: a\n\ndata: b\n\n",
	 "|b\n"},
	{"\n\xef\xbb\xbf"
	 "data: a\n\n",
	 ""},
	{"data: \xf0\x9f\x98\x80\n\n", "|\xf0\x9f\x98\x80\n"},
	/* the end without a blank line */
	{"data: [DONE]", "|[DONE]!\n"},
	{"data: [DONE]\n", "|[DONE]!\n"},
	{"data: [DONE]\r", "|[DONE]!\n"},
	{"data: [DONE]\n\n", "|[DONE]\n"},
	{"data: [DONE]\r\r", "|[DONE]\n"},
	{"event: e", ""},
	{"event: e\ndata: a", "e|a!\n"},
	{"data: a\n\nevent: e\n", "|a\n"},
	{": c", ""},
};

START_TEST(every_stream_gives_its_events_at_every_chunking)
{
	const char *text = streams[_i][0];
	size_t len = strlen(text);
	struct ak_buf b = {0};

	for (size_t piece = 1; piece <= len + 1; piece++) {
		for (size_t first = 0; first < piece; first++) {
			events(text, len, piece, first, &b);
			ck_assert_msg(strcmp(b.data, streams[_i][1]) == 0, "pieces of %zu: %s", piece, b.data);
		}
	}
	ak_buf_release(&b);
}
END_TEST

/* The shape that a provider sends, with comments and line ends of each kind at every place */
START_TEST(comments_and_line_ends_do_not_matter)
{
	static const char *const lines[] = {"event: message_start", "data: {\"type\":\"message_start\"}", "",
					    "event: ping",	    "data: {\"type\":\"ping\"}",	  "",
					    "data: [DONE]",	    ""};
	static const char *const ends[] = {"\n", "\r\n", "\r"};
	struct ak_buf b = {0};

	for (size_t e = 0; e < N(ends); e++) {
		for (size_t at = 0; at <= N(lines); at++) {
			struct ak_buf text = {0};

			for (size_t i = 0; i < N(lines); i++) {
				if (i == at)
					ak_buf_printf(&text, ": keep-alive%s:%s", ends[e], ends[e]);
				ak_buf_printf(&text, "%s%s", lines[i], ends[e]);
			}
			for (size_t piece = 1; piece < 9; piece++) {
				events(text.data, text.len, piece, 0, &b);
				ck_assert_str_eq(b.data, "message_start|{\"type\":\"message_start\"}\n"
							 "ping|{\"type\":\"ping\"}\n|[DONE]\n");
			}
			ak_buf_release(&text);
		}
	}
	ak_buf_release(&b);
}
END_TEST

START_TEST(comments_are_counted_as_life)
{
	struct ak_buf b = {0};
	struct sse s;

	sse_init(&s, 0, note, &b);
	ck_assert_int_eq(sse_feed(&s, ": a\n:\n\ndata: x\n", 15, NULL), 0);
	ck_assert_uint_eq(s.comments, 2);
	ck_assert_uint_eq(s.events, 0);
	ck_assert_int_eq(sse_feed(&s, "\n", 1, NULL), 0);
	ck_assert_uint_eq(s.events, 1);
	ck_assert_int_eq(sse_feed(&s, NULL, 0, NULL), 0);
	sse_release(&s);
	ak_buf_release(&b);
}
END_TEST

/* A line of @n bytes in pieces of @piece; its result */
static int long_line(const char *head, size_t n, size_t piece, const char *tail, size_t max)
{
	struct ak_buf out = {0};
	struct ak_buf text = {0};
	struct ak_err err = {0};
	struct sse s;
	int rc = 0;

	ak_buf_str(&text, head);
	while (text.len < n)
		ak_buf_str(&text, "x");
	ak_buf_str(&text, tail);
	sse_init(&s, max, note, &out);
	for (size_t at = 0; at < text.len && rc == 0; at += piece)
		rc = feed(&s, text.data + at, piece < text.len - at ? piece : text.len - at, &err);
	if (rc == 0)
		rc = sse_end(&s, &err);
	if (rc < 0) {
		ck_assert_int_eq(err.code, -rc);
		ck_assert_int_eq(sse_feed(&s, "data: a\n\n", 9, NULL), rc);
		ck_assert_int_eq(sse_end(&s, NULL), rc);
		ck_assert_uint_eq(s.events, 0);
	}
	sse_release(&s);
	ak_buf_release(&out);
	ak_buf_release(&text);
	return rc;
}

START_TEST(lines_events_and_names_have_a_maximum)
{
	static const size_t pieces[] = {1, 7, 64, 5000};

	for (size_t i = 0; i < N(pieces); i++) {
		size_t p = pieces[i];

		ck_assert_int_eq(long_line("data: ", 100, p, "\n\n", 100), 0);
		ck_assert_int_eq(long_line("data: ", 101, p, "\n\n", 100), -EMSGSIZE);
		ck_assert_int_eq(long_line("data: ", 101, p, "", 100), -EMSGSIZE); /* no end in sight */
		ck_assert_int_eq(long_line(": ", 101, p, "\n\n", 100), -EMSGSIZE); /* comments, too */
		ck_assert_int_eq(long_line("data: ", 60, p, "\ndata: 0123456789\ndata: 0123456789\n\n", 76), 0);
		ck_assert_int_eq(long_line("data: ", 61, p, "\ndata: 0123456789\ndata: 0123456789\n\n", 76),
				 -EMSGSIZE);
		ck_assert_int_eq(long_line("event: ", 7 + SSE_NAME_MAX, p, "\ndata: a\n\n", 0), 0);
		ck_assert_int_eq(long_line("event: ", 8 + SSE_NAME_MAX, p, "\ndata: a\n\n", 0), -EMSGSIZE);
	}
	ck_assert_int_eq(long_line("data: ", SSE_EVENT_MAX, 1 << 20, "\n\n", SIZE_MAX), 0);
	ck_assert_int_eq(long_line("data: ", SSE_EVENT_MAX + 1, 1 << 20, "\n\n", SIZE_MAX), -EMSGSIZE);
}
END_TEST

struct scratched {
	struct ak_buf out;
	size_t own;
	size_t lent;
};

/* A taker that overwrites what it may overwrite, as json_parse_in_place() does */
static int note_and_overwrite(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	struct scratched *c = ctx;
	int rc = note(&c->out, ev, err);

	ck_assert(!ev->scratch || ev->scratch == ev->data);
	if (ev->scratch)
		memset(ev->scratch, 'Z', ev->data_len);
	c->own += ev->scratch != NULL;
	c->lent += ev->scratch == NULL;
	return rc;
}

START_TEST(what_is_the_parsers_own_may_be_overwritten)
{
	static const char text[] = "event: one\ndata: 0123456789abcdef\n\ndata: a\ndata: b\nevent: two\n\ndata: c\nevent: three\n\n"
				   "event: four\nevent: five\ndata: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n\r\n";
	static const char want[] = "one|0123456789abcdef\ntwo|a$b\nthree|c\n"
				   "five|0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n";
	struct scratched c = {0};

	for (size_t one = 0; one <= sizeof(text) - 1; one++) {
		for (size_t two = one; two <= sizeof(text) - 1; two++) {
			struct sse s;

			c.out.len = 0;
			sse_init(&s, 0, note_and_overwrite, &c);
			ck_assert_int_eq(feed(&s, text, one, NULL), 0);
			ck_assert_int_eq(feed(&s, text + one, two - one, NULL), 0);
			ck_assert_int_eq(feed(&s, text + two, sizeof(text) - 1 - two, NULL), 0);
			ck_assert_str_eq(c.out.data, want);
			sse_release(&s);
		}
	}
	ck_assert_uint_gt(c.own, 0);
	ck_assert_uint_gt(c.lent, 0);
	ak_buf_release(&c.out);
}
END_TEST

static int stop_at_two(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	(void)ev;
	return ++*(int *)ctx == 2 ? ak_err_set(err, ECANCELED, "enough") : 0;
}

START_TEST(an_error_of_the_receiver_ends_the_stream)
{
	struct ak_err err = {0};
	struct sse s;
	int n = 0;

	sse_init(&s, 0, stop_at_two, &n);
	ck_assert_int_eq(sse_feed(&s, "data: a\n\ndata: b\n\ndata: c\n\n", 27, &err), -ECANCELED);
	ck_assert_str_eq(err.msg, "enough");
	ck_assert_int_eq(n, 2);
	ck_assert_int_eq(sse_feed(&s, "data: d\n\n", 9, &err), -ECANCELED);
	ck_assert_int_eq(sse_end(&s, &err), -ECANCELED);
	ck_assert_int_eq(n, 2);
	sse_release(&s);

	n = 1;
	sse_init(&s, 0, stop_at_two, &n);
	ck_assert_int_eq(sse_feed(&s, "data: a", 7, &err), 0);
	ck_assert_int_eq(sse_end(&s, &err), -ECANCELED);
	sse_release(&s);
}
END_TEST

static int count_bytes(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	(void)err;
	*(size_t *)ctx += ev->data_len;
	return 0;
}

/* CPU seconds for one field of @size bytes in pieces of 1 KB */
static double field_time(size_t size)
{
	static char piece[1024];
	struct timespec a;
	struct timespec b;
	struct sse s;
	size_t got = 0;

	memset(piece, 'x', sizeof(piece));
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	sse_init(&s, 0, count_bytes, &got);
	ck_assert_int_eq(sse_feed(&s, "data: ", 6, NULL), 0);
	for (size_t n = 0; n < size; n += sizeof(piece))
		ck_assert_int_eq(sse_feed(&s, piece, sizeof(piece), NULL), 0);
	ck_assert_int_eq(sse_feed(&s, "\n\n", 2, NULL), 0);
	sse_release(&s);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ck_assert_uint_eq(got, size);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

/* Ten times the bytes, and far from a hundred times the time (a square would be seconds) */
START_TEST(one_great_field_in_small_pieces_takes_linear_time)
{
	double small = (field_time(1000 << 10) + field_time(1000 << 10) + field_time(1000 << 10)) / 3;
	double large = field_time(10000 << 10);

	ck_assert_msg(large < small * 40 + 0.05, "1 MB: %f s, 10 MB: %f s", small, large);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sse");
	TCase *t = tcase_create("sse");

	tcase_add_loop_test(t, every_stream_gives_its_events_at_every_chunking, 0, N(streams));
	tcase_add_test(t, comments_and_line_ends_do_not_matter);
	tcase_add_test(t, comments_are_counted_as_life);
	tcase_add_test(t, lines_events_and_names_have_a_maximum);
	tcase_add_test(t, what_is_the_parsers_own_may_be_overwritten);
	tcase_add_test(t, an_error_of_the_receiver_ends_the_stream);
	tcase_add_test(t, one_great_field_in_small_pieces_takes_linear_time);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
