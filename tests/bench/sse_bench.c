/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the event stream parser is, beside memchr over the same bytes, interleaved in one run. Usage: sse_bench [ROUNDS] */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/sse.h"
#include "executor/shared/ak_buf.h"

#define TOTAL (10u << 20)
#define PIECE 16384u /* what one read of a socket gives */
#define ROUNDS_MAX 201u

static int count(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	(void)err;
	*(size_t *)ctx += ev->data_len;
	return 0;
}

/* CPU time, so that a busy machine does not count against the longer of the two */
static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double parse(const struct ak_buf *text, size_t piece)
{
	double start = now();
	struct sse s;
	size_t bytes = 0;

	sse_init(&s, 0, count, &bytes);
	for (size_t at = 0; at < text->len; at += piece) {
		if (sse_feed(&s, text->data + at, piece < text->len - at ? piece : text->len - at, NULL) < 0)
			exit(1);
	}
	if (sse_end(&s, NULL) < 0 || bytes == 0)
		exit(1);
	sse_release(&s);
	return now() - start;
}

/* For a byte that is not there: every byte is looked at once */
static double search(const struct ak_buf *text)
{
	double start = now();
	const void *volatile hit = memchr(text->data, 1, text->len);

	if (hit)
		exit(1);
	return now() - start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static void run(const char *what, const struct ak_buf *text, size_t piece, size_t rounds)
{
	double p[ROUNDS_MAX];
	double m[ROUNDS_MAX];

	for (size_t i = 0; i < rounds; i++) {
		m[i] = search(text);
		p[i] = parse(text, piece);
	}

	double mm = median(m, rounds);
	double pm = median(p, rounds);

	(void)printf("%-44s memchr %5.1f GB/s  sse %5.2f GB/s  ratio %.2f\n", what, (double)text->len / mm / 1e9,
		     (double)text->len / pm / 1e9, mm / pm);
}

/* Events of about @size bytes of data, as Anthropic's tool arguments come */
static struct ak_buf stream_of(size_t size)
{
	struct ak_buf b = {.max = 64u << 20};
	char *data = malloc(size + 1);

	if (!data)
		exit(1);
	memset(data, 'x', size);
	data[size] = '\0';
	while (b.len < TOTAL)
		ak_buf_printf(&b,
			      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{"
			      "\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}\n\n",
			      data);
	free(data);
	return b;
}

/* One field of 10 MB, fed in pieces of 1 KB: the memory may be moved, the work may not grow with the square */
static void run_field(size_t rounds)
{
	struct ak_buf b = {.max = 64u << 20};

	ak_buf_str(&b, "data: ");
	while (b.len < TOTAL)
		ak_buf_str(&b, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	ak_buf_str(&b, "\n\n");
	run("one field of 10 MB in pieces of 1 KB", &b, 1024, rounds);
	ak_buf_release(&b);
}

int main(int argc, char *argv[])
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 41;
	static const size_t sizes[] = {4, 20, 100, 1024, 8192};

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ak_buf b = stream_of(sizes[i]);
		char what[64];

		(void)snprintf(what, sizeof(what), "10 MB of events with %zu bytes of text", sizes[i]);
		run(what, &b, PIECE, rounds);
		ak_buf_release(&b);
	}
	run_field(rounds);
	return 0;
}
