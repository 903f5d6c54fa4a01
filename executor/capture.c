/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Head and tail of a stream in bounded memory: the head fills first, the tail is a ring.
 * Process: executor. Privilege: none.
 */
#include "executor/capture.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "executor/relay.h"

#define CAPTURE_FIRST_BYTES 4096u

void capture_init(struct capture_buf *c, uint64_t max)
{
	if (max == UINT64_MAX)
		max = CAPTURE_DEFAULT_BYTES;
	if (max > SIZE_MAX / 4)
		max = SIZE_MAX / 4;
	*c = (struct capture_buf){ .head_max = (size_t)(max - max / 2), .tail_max = (size_t)(max / 2) };
}

/* Room for @want bytes, but for @max at most; false when there is no memory */
static bool grow(uint8_t **buf, size_t *cap, size_t want, size_t max)
{
	size_t n = *cap ? *cap : CAPTURE_FIRST_BYTES;
	uint8_t *p;

	if (want > max)
		want = max;
	if (want <= *cap)
		return true;
	while (n < want)
		n *= 2;
	if (n > max)
		n = max;
	p = realloc(*buf, n);
	if (!p)
		return false;
	*buf = p;
	*cap = n;
	return true;
}

static size_t add_head(struct capture_buf *c, const uint8_t *p, size_t n)
{
	size_t room;

	if (!grow(&c->head, &c->head_cap, c->head_len + n, c->head_max))
		c->head_max = c->head_cap;
	room = (c->head_max < c->head_cap ? c->head_max : c->head_cap) - c->head_len;
	if (n > room)
		n = room;
	if (n)
		memcpy(c->head + c->head_len, p, n);
	c->head_len += n;
	return n;
}

/* Writes into the ring at its oldest byte */
static void add_ring(struct capture_buf *c, const uint8_t *p, size_t n)
{
	size_t first;

	if (n > c->tail_max) {
		p += n - c->tail_max;
		n = c->tail_max;
	}
	if (n == 0)
		return;
	first = c->tail_max - c->tail_pos;
	if (first > n)
		first = n;
	memcpy(c->tail + c->tail_pos, p, first);
	memcpy(c->tail, p + first, n - first);
	c->tail_pos = (c->tail_pos + n) % c->tail_max;
}

static void add_tail(struct capture_buf *c, const uint8_t *p, size_t n)
{
	size_t room;

	if (!grow(&c->tail, &c->tail_cap, c->tail_len + n, c->tail_max))
		c->tail_max = c->tail_cap;
	room = c->tail_max - c->tail_len;
	if (room > n)
		room = n;
	if (room)
		memcpy(c->tail + c->tail_len, p, room);
	c->tail_len += room;
	add_ring(c, p + room, n - room);
}

void capture_add(struct capture_buf *c, const uint8_t *p, size_t n)
{
	size_t used = 0;

	c->total += n;
	if (c->head_len < c->head_max)
		used = add_head(c, p, n);
	if (used < n)
		add_tail(c, p + used, n - used);
}

void capture_hold(struct capture_buf *c)
{
	if (c->head_max > c->head_cap)
		c->head_max = c->head_cap;
	if (c->tail_max > c->tail_cap)
		c->tail_max = c->tail_cap;
}

size_t capture_bytes(const struct capture_buf *c)
{
	return c->head_cap + c->tail_cap;
}

size_t capture_read(const struct capture_buf *c, uint64_t offset, uint8_t *buf, size_t cap, uint64_t *ret_at)
{
	uint64_t tail_from = c->total - c->tail_len;	/* equal to head_len while nothing was dropped */
	size_t n, at;

	*ret_at = offset;
	if (offset < c->head_len) {
		n = c->head_len - (size_t)offset;
		n = n < cap ? n : cap;
		memcpy(buf, c->head + offset, n);
		return n;
	}
	if (offset < tail_from)
		*ret_at = offset = tail_from;
	if (offset >= c->total)
		return 0;
	n = (size_t)(c->total - offset);
	n = n < cap ? n : cap;
	at = (size_t)(offset - tail_from);
	if (c->tail_len == c->tail_max)	/* a ring: the oldest byte is at tail_pos */
		at = (at + c->tail_pos) % c->tail_max;
	for (size_t done = 0; done < n;) {
		size_t part = c->tail_len - at < n - done ? c->tail_len - at : n - done;

		memcpy(buf + done, c->tail + at, part);
		done += part;
		at = 0;
	}
	return n;
}

static void reverse(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		uint8_t t = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = t;
	}
}

/* Bytes a character has by its first byte; 0 for a byte that is none */
static size_t utf8_size(uint8_t b)
{
	return b >= 0xf0 && b < 0xf5 ? 4 : b >= 0xe0 ? (b < 0xf0 ? 3 : 0) : b >= 0xc2 ? 2 : b < 0x80 ? 1 : 0;
}

/* Length of @p without a character that is begun at its end and not finished */
static size_t trim_end(const uint8_t *p, size_t n)
{
	size_t k = 0;

	while (k < 3 && k < n && (p[n - 1 - k] & 0xc0) == 0x80)
		k++;
	if (k < n && utf8_size(p[n - 1 - k]) > k + 1)
		return n - 1 - k;
	return n;
}

/* Bytes at the start of @p that can only be the rest of a character */
static size_t trim_start(const uint8_t *p, size_t n)
{
	size_t k = 0;

	while (k < 3 && k < n && (p[k] & 0xc0) == 0x80)
		k++;
	return k;
}

void capture_finish(struct capture_buf *c, struct capture *ret)
{
	size_t cut = 0;

	if (c->tail_pos) {
		reverse(c->tail, c->tail_pos);
		reverse(c->tail + c->tail_pos, c->tail_len - c->tail_pos);
		reverse(c->tail, c->tail_len);
	}
	if (c->head_len + c->tail_len < c->total) {
		c->head_len = trim_end(c->head, c->head_len);
		cut = trim_start(c->tail, c->tail_len);
		if (cut)
			memmove(c->tail, c->tail + cut, c->tail_len - cut);
	}
	*ret = (struct capture){
		.head = c->head, .head_len = c->head_len,
		.tail = c->tail, .tail_len = c->tail_len - cut,
		.total = c->total, .dropped = c->total - c->head_len - (c->tail_len - cut),
	};
	*c = (struct capture_buf){ 0 };
}

void capture_release(struct capture_buf *c)
{
	free(c->head);
	free(c->tail);
	*c = (struct capture_buf){ 0 };
}
