/* SPDX-License-Identifier: Apache-2.0 */
/* Half head, half tail of a text that is too long, in memory that does not grow with it. Pure. Process: agent. */
#include "agent/truncate.h"

#include <inttypes.h>
#include <string.h>

#include "executor/shared/ak_json_out.h"

#define COMPACT (64u << 10) /* dropped bytes at the start of the tail before it is moved */

void truncate_init(struct truncate *t, size_t limit_chars)
{
	limit_chars = limit_chars < 2 ? 2 : limit_chars > TRUNCATE_CHARS_MAX ? TRUNCATE_CHARS_MAX : limit_chars;
	*t = (struct truncate){ .head_chars = limit_chars - limit_chars / 2, .tail_chars = limit_chars / 2 };
}

void truncate_release(struct truncate *t)
{
	ak_buf_release(&t->head);
	ak_buf_release(&t->rest);
	*t = (struct truncate){ 0 };
}

/* Bytes of the character at @p: one for what is no character */
static size_t character(const char *p, size_t n)
{
	size_t len = ak_utf8_seq(p, n);

	return len > 0 ? len : 1;
}

/* The tail keeps the last characters: the first one goes */
static void forget_one(struct truncate *t)
{
	size_t len = character(t->rest.data + t->rest_off, t->rest.len - t->rest_off);

	t->rest_off += len;
	t->dropped += len;
	t->rest_n--;
	if (t->rest_off < COMPACT)
		return;
	memmove(t->rest.data, t->rest.data + t->rest_off, t->rest.len - t->rest_off + 1);
	t->rest.len -= t->rest_off;
	t->rest_off = 0;
}

static void take_one(struct truncate *t, const char *p, size_t len)
{
	if (t->head_n < t->head_chars) {
		ak_buf_add(&t->head, p, len);
		t->head_n++;
		return;
	}
	ak_buf_add(&t->rest, p, len);
	t->rest_n++;
	if (t->rest_n > t->tail_chars && !t->rest.failed)
		forget_one(t);
}

/* Characters of one byte each */
static void take_run(struct truncate *t, const char *p, size_t n)
{
	size_t head = t->head_chars - t->head_n < n ? t->head_chars - t->head_n : n;

	ak_buf_add(&t->head, p, head);
	t->head_n += head;
	p += head;
	n -= head;
	if (n >= t->tail_chars) {
		/* nothing of the tail so far stays */
		t->dropped += t->rest.len - t->rest_off + n - t->tail_chars;
		t->rest.len = 0;
		t->rest_off = 0;
		t->rest_n = 0;
		p += n - t->tail_chars;
		n = t->tail_chars;
	}
	ak_buf_add(&t->rest, p, n);
	t->rest_n += n;
	while (t->rest_n > t->tail_chars && !t->rest.failed)
		forget_one(t);
}

/* A character that began in the piece before; at the end of a text it is bytes that belong to none */
static size_t take_part(struct truncate *t, const char *p, size_t n, bool last)
{
	char buf[4];
	size_t had = t->part_n;
	size_t took = 0;

	memcpy(buf, t->part, had);
	while (took < n && had + took < 4 && (ak_utf8_partial(buf, had + took) == had + took || had + took == 0)) {
		buf[had + took] = p[took];
		took++;
	}
	if (!last && had + took < 4 && ak_utf8_partial(buf, had + took) == had + took) {
		memcpy(t->part, buf, had + took);
		t->part_n = had + took;
		return took;
	}
	t->part_n = 0;
	for (size_t at = 0; at < had;) {
		size_t len = character(buf + at, had + took - at);

		take_one(t, buf + at, len);
		at += len;
		if (at > had)
			return at - had;
	}
	return 0;
}

void truncate_feed(struct truncate *t, const char *p, size_t n)
{
	size_t at = t->part_n > 0 && n > 0 ? take_part(t, p, n, false) : 0;
	size_t part;

	if (t->part_n > 0 || n == 0)
		return;
	part = ak_utf8_partial(p + at, n - at);
	n -= part;
	while (at < n) {
		size_t len = 0;

		while (at + len < n && (unsigned char)p[at + len] < 0x80)
			len++;
		if (len > 0) {
			take_run(t, p + at, len);
		} else {
			len = character(p + at, n - at);
			take_one(t, p + at, len);
		}
		at += len;
	}
	memcpy(t->part, p + n, part);
	t->part_n = part;
}

bool truncate_is_cut(const struct truncate *t)
{
	return t->dropped > 0;
}

uint64_t truncate_finish(struct truncate *t, const char *spool, struct ak_buf *out)
{
	uint64_t dropped;

	if (t->part_n > 0)
		(void)take_part(t, NULL, 0, true);
	dropped = t->dropped;
	ak_buf_add(out, t->head.data, t->head.len);
	if (dropped > 0)
		ak_buf_printf(out, "\n\xe2\x80\xa6 [truncated %" PRIu64 " bytes; use a narrower query] \xe2\x80\xa6\n", dropped);
	if (t->rest.len > t->rest_off)
		ak_buf_add(out, t->rest.data + t->rest_off, t->rest.len - t->rest_off);
	if (dropped > 0 && spool)
		ak_buf_printf(out, "\n[full text: %s]", spool);
	out->failed = out->failed || t->head.failed || t->rest.failed;
	truncate_release(t);
	return dropped;
}

uint64_t truncate_result(const char *text, size_t len, size_t limit_chars, const char *spool, struct ak_buf *out)
{
	struct truncate t;

	truncate_init(&t, limit_chars);
	truncate_feed(&t, text, len);
	return truncate_finish(&t, spool, out);
}
