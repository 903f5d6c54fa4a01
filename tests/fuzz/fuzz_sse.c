/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event stream parser. Laws: a reader that looks at one byte after the other, written for this test, sees the same
 * events; so does the parser itself however the bytes are cut. The first byte of the input chooses the cuts.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sse.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)
#define MAX_BYTES 300u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Events behind each other, with lengths, so that different ones never look the same */
static void put(struct ak_buf *b, const char *name, size_t name_len, const char *data, size_t len, bool at_end)
{
	ak_buf_printf(b, "%zu:", name_len);
	ak_buf_add(b, name, name_len);
	ak_buf_printf(b, "%zu:", len);
	ak_buf_add(b, data, len);
	ak_buf_str(b, at_end ? "!" : ".");
}

static int note(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	(void)err;
	put(ctx, ev->name, ev->name_len, ev->data, ev->data_len, ev->at_end);
	LAW(!ev->scratch || ev->scratch == ev->data);
	if (ev->scratch && ev->data_len > 0)
		memset(ev->scratch, 'Z', ev->data_len);
	return 0;
}

/* The plain reader */
struct plain {
	struct ak_buf line, data, name, out;
	bool has_data, failed;
};

static void plain_event(struct plain *r, bool at_end)
{
	if (r->has_data)
		put(&r->out, r->name.data ? r->name.data : "", r->name.len, r->data.data ? r->data.data : "",
		    r->data.len, at_end);
	r->data.len = r->name.len = 0;
	r->has_data = false;
}

static void plain_line(struct plain *r)
{
	const char *line = r->line.data ? r->line.data : "";
	size_t n = r->line.len;
	const char *colon = memchr(line, ':', n);
	size_t name_len = colon ? (size_t)(colon - line) : n;
	const char *value = colon ? colon + 1 : line + n;
	size_t len = (size_t)(line + n - value);

	if (len > 0 && *value == ' ') {
		value++;
		len--;
	}
	if (n == 0) {
		plain_event(r, false);
	} else if (name_len == 4 && memcmp(line, "data", 4) == 0) {
		if (r->data.len + len + r->has_data > MAX_BYTES)
			r->failed = true;
		if (r->has_data)
			ak_buf_str(&r->data, "\n");
		ak_buf_add(&r->data, value, len);
		r->has_data = true;
	} else if (name_len == 5 && memcmp(line, "event", 5) == 0) {
		if (len > SSE_NAME_MAX)
			r->failed = true;
		r->name.len = 0;
		ak_buf_add(&r->name, value, len);
	}
	r->line.len = 0;
}

static void plain_read(struct plain *r, const uint8_t *p, size_t n)
{
	size_t i = n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	for (; i < n && !r->failed; i++) {
		if (p[i] == '\n' && i > 0 && p[i - 1] == '\r')
			continue;
		if (p[i] == '\n' || p[i] == '\r') {
			plain_line(r);
			continue;
		}
		ak_buf_add(&r->line, &p[i], 1);
		r->failed = r->line.len > MAX_BYTES;
	}
	if (r->failed)
		return;
	if (r->line.len > 0)
		plain_line(r);
	if (!r->failed)
		plain_event(r, true);
}

/* The parser, with pieces whose length the state @cut decides: 0: all at once */
static int read_cut(const uint8_t *p, size_t n, uint32_t cut, struct ak_buf *out)
{
	struct ak_err err = {0};
	struct sse s;
	int rc = 0;

	sse_init(&s, MAX_BYTES, note, out);
	for (size_t at = 0; at < n && rc == 0;) {
		size_t len = cut ? 1 + (cut >> 16) % 7 : n;
		uint8_t *copy;

		len = len < n - at ? len : n - at;
		copy = malloc(len);
		LAW(copy);
		memcpy(copy, p + at, len);
		rc = sse_feed(&s, copy, len, &err);
		free(copy);
		at += len;
		cut = cut ? cut * 1103515245u + 12345u + (cut == 0) : 0;
	}
	if (rc == 0)
		rc = sse_end(&s, &err);
	LAW(rc == 0 || (rc == -EMSGSIZE && err.code == EMSGSIZE && sse_feed(&s, "x", 1, NULL) == rc));
	sse_release(&s);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plain r = {0};
	struct ak_buf whole = {0};
	struct ak_buf cut = {0};
	uint32_t seed = size > 0 ? (data[0] + 1u) * 2654435761u : 1;
	int rc;

	if (size > 0) {
		data++;
		size--;
	}
	plain_read(&r, data, size);
	rc = read_cut(data, size, 0, &whole);
	LAW(read_cut(data, size, seed | 1u, &cut) == rc);
	LAW((rc < 0) == r.failed);
	LAW(whole.len == cut.len && (whole.len == 0 || memcmp(whole.data, cut.data, whole.len) == 0));
	LAW(whole.len == r.out.len && (whole.len == 0 || memcmp(whole.data, r.out.data, whole.len) == 0));
	ak_buf_release(&whole);
	ak_buf_release(&cut);
	ak_buf_release(&r.line);
	ak_buf_release(&r.data);
	ak_buf_release(&r.name);
	ak_buf_release(&r.out);
	return 0;
}
