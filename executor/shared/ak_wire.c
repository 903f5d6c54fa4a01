/* SPDX-License-Identifier: Apache-2.0 */
/* Typed writer and latching reader for bytes between our own processes. Any process, no privilege, allocates
 * nothing. */
#include "executor/shared/ak_wire.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* ---- writer ---- */

void ak_wr_init(struct ak_wr *w, void *buf, size_t cap)
{
	*w = (struct ak_wr){ .buf = buf, .cap = cap };
}

/* Room for the next @n bytes, or NULL; the first refusal latches, so that nothing is written after a gap */
static uint8_t *wr_take(struct ak_wr *w, size_t n)
{
	uint8_t *p;

	if (w->failed || n > w->cap - w->len) {
		w->failed = true;
		return NULL;
	}
	p = w->buf + w->len;
	w->len += n;
	return p;
}

static void wr_le(struct ak_wr *w, uint64_t v, size_t width)
{
	uint8_t *p = wr_take(w, width);

	for (size_t i = 0; p && i < width; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

void ak_wr_u8(struct ak_wr *w, uint8_t v)
{
	wr_le(w, v, 1);
}

void ak_wr_u32(struct ak_wr *w, uint32_t v)
{
	wr_le(w, v, 4);
}

void ak_wr_u64(struct ak_wr *w, uint64_t v)
{
	wr_le(w, v, 8);
}

void ak_wr_bytes(struct ak_wr *w, const void *p, size_t n)
{
	uint8_t *to;

	if (n > UINT32_MAX) {
		w->failed = true;
		return;
	}
	ak_wr_u32(w, (uint32_t)n);
	to = wr_take(w, n);
	if (to && n > 0)
		memcpy(to, p, n);
}

void ak_wr_str(struct ak_wr *w, const char *s)
{
	ak_wr_bytes(w, s, s ? strlen(s) + 1 : 0);
}

long ak_wr_done(const struct ak_wr *w)
{
	return w->failed || w->len > LONG_MAX ? -ENOBUFS : (long)w->len;
}

/* ---- reader ---- */

void ak_rd_init(struct ak_rd *r, const void *buf, size_t len)
{
	*r = (struct ak_rd){ .buf = buf, .len = len };
}

/* The next @n bytes, or NULL; the first refusal latches */
static const uint8_t *rd_take(struct ak_rd *r, size_t n)
{
	const uint8_t *p;

	if (r->failed || n > r->len - r->pos) {
		r->failed = true;
		return NULL;
	}
	p = r->buf + r->pos;
	r->pos += n;
	return p;
}

static uint64_t rd_le(struct ak_rd *r, size_t width)
{
	const uint8_t *p = rd_take(r, width);
	uint64_t v = 0;

	for (size_t i = 0; p && i < width; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint8_t ak_rd_u8(struct ak_rd *r)
{
	return (uint8_t)rd_le(r, 1);
}

uint32_t ak_rd_u32(struct ak_rd *r)
{
	return (uint32_t)rd_le(r, 4);
}

uint64_t ak_rd_u64(struct ak_rd *r)
{
	return rd_le(r, 8);
}

const void *ak_rd_bytes(struct ak_rd *r, size_t *ret_len)
{
	size_t n = ak_rd_u32(r);
	const void *p = rd_take(r, n);

	*ret_len = p ? n : 0;
	return p;
}

const char *ak_rd_str(struct ak_rd *r)
{
	size_t n;
	const char *s = ak_rd_bytes(r, &n);

	if (!s || n == 0)
		return NULL;
	/* exactly one NUL, and it is the last byte */
	if (memchr(s, 0, n) != s + n - 1) {
		r->failed = true;
		return NULL;
	}
	return s;
}

int ak_rd_done(const struct ak_rd *r)
{
	return r->failed || r->pos != r->len ? -EBADMSG : 0;
}
