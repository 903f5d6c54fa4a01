/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events: bytes in, events out. Pure. Process: agent. Privilege: none. */
#include "agent/sse.h"

#include <errno.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "executor/shared/ak_err.h"

#define BOM_DONE 3u

static const unsigned char bom_bytes[] = {0xef, 0xbb, 0xbf};

void sse_init(struct sse *s, size_t max, sse_fn *on_event, void *ctx)
{
	if (max == 0 || max > SSE_EVENT_MAX)
		max = SSE_EVENT_MAX;
	*s = (struct sse){.on_event = on_event, .ctx = ctx, .max = max, .name = ""};
	s->line.max = max;
	s->data.max = max + 1; /* the LF behind the last line is not counted */
}

void sse_release(struct sse *s)
{
	ak_buf_release(&s->line);
	ak_buf_release(&s->data);
}

static int too_large(struct sse *s, const char *what, size_t max, struct ak_err *err)
{
	s->failed = ak_err_set(err, EMSGSIZE, "event stream: %s of more than %zu bytes", what, max);
	return s->failed;
}

/* Additions are checked against the maximum before, so a failed buffer means memory */
static int append(struct sse *s, struct ak_buf *b, const void *p, size_t n, const char *what, struct ak_err *err)
{
	if (n > s->max || b->len > s->max - n)
		return too_large(s, what, s->max, err);
	ak_buf_add(b, p, n);
	if (b->failed)
		s->failed = ak_err_set(err, ENOMEM, "event stream: out of memory");
	return s->failed;
}

static int dispatch(struct sse *s, const char *data, size_t len, bool own, bool at_end, struct ak_err *err)
{
	const struct sse_event ev = {.name = s->name,
				     .name_len = s->name_len,
				     .data = data,
				     .data_len = len,
				     .scratch = own ? (char *)data : NULL,
				     .at_end = at_end};

	s->events++;
	s->failed = s->on_event(s->ctx, &ev, err);
	return s->failed;
}

static void swap_buffers(struct sse *s)
{
	const struct ak_buf line = s->line;

	s->line = s->data;
	s->line.max = line.max;
	s->data = line;
	s->data.max = s->max + 1;
}

/* The blank line behind an event; both buffers are empty then */
static int event_end(struct sse *s, bool at_end, struct ak_err *err)
{
	int rc = 0;

	if (s->only)
		rc = dispatch(s, s->only, s->only_len, s->only_held, at_end, err);
	else if (s->has_data)
		rc = dispatch(s, s->data.data, s->data.len, true, at_end, err);
	s->only = NULL;
	s->has_data = false;
	s->data.len = 0;
	if (s->data.cap > s->line.cap) /* the next long line has its room already */
		swap_buffers(s);
	s->name = "";
	s->name_len = 0;
	return rc;
}

/* The data line that was only pointed at is kept, since what it lies in is about to change */
static int keep_only(struct sse *s, struct ak_err *err)
{
	const char *only = s->only;

	if (!only)
		return 0;
	s->only = NULL;
	if (!s->only_held || s->data.len > 0)
		return append(s, &s->data, only, s->only_len, "an event", err);
	/* the buffers change places, so that a line of many megabytes is not copied, and not held twice */
	swap_buffers(s);
	memmove(s->data.data, only, s->only_len);
	s->data.len = s->only_len;
	return 0;
}

/* The same for the name */
static void keep_name(struct sse *s)
{
	if (s->name_len > 0 && s->name != s->name_copy) {
		memcpy(s->name_copy, s->name, s->name_len);
		s->name = s->name_copy;
	}
}

static int data_line(struct sse *s, const char *value, size_t n, struct ak_err *err)
{
	int rc;

	if (!s->has_data) {
		s->has_data = true;
		s->only = value;
		s->only_len = n;
		s->only_held = s->held;
		return 0;
	}
	rc = keep_only(s, err);
	if (rc == 0)
		rc = append(s, &s->data, "\n", 1, "an event", err);
	return rc < 0 ? rc : append(s, &s->data, value, n, "an event", err);
}

static int name_line(struct sse *s, const char *value, size_t n, struct ak_err *err)
{
	if (n > SSE_NAME_MAX)
		return too_large(s, "an event's name", SSE_NAME_MAX, err);
	s->name = value;
	s->name_len = n;
	return 0;
}

/* Does the field's name end behind @len bytes? Then where the value starts: behind the colon and one space; else 0. */
static inline size_t value_at(const char *line, size_t n, size_t len)
{
	if (n == len)
		return len;
	if (line[len] != ':')
		return 0;
	len++;
	return n > len && line[len] == ' ' ? len + 1 : len;
}

/* A whole line without its end */
static inline int take_line(struct sse *s, const char *line, size_t n, struct ak_err *err)
{
	size_t at;

	if (n == 0)
		return event_end(s, false, err);
	if (n >= 4 && memcmp(line, "data", 4) == 0) {
		at = value_at(line, n, 4);
		return at ? data_line(s, line + at, n - at, err) : 0;
	}
	if (n >= 5 && memcmp(line, "event", 5) == 0) {
		at = value_at(line, n, 5);
		return at ? name_line(s, line + at, n - at, err) : 0;
	}
	s->comments += line[0] == ':';
	return 0;
}

/* The end of a line of which the first part may lie in the buffer */
static int finish_line(struct sse *s, const char *p, size_t n, struct ak_err *err)
{
	int rc;

	s->held = s->line.len > 0;
	if (!s->held)
		return n > s->max ? too_large(s, "a line", s->max, err) : take_line(s, p, n, err);
	rc = append(s, &s->line, p, n, "a line", err);
	n = s->line.len;
	s->line.len = 0; /* the bytes stay until keep_only() */
	return rc < 0 ? rc : take_line(s, s->line.data, n, err);
}

/* Drops a byte order mark at the very start, also one that comes in pieces. Return: bytes used of @p. */
static size_t skip_bom(struct sse *s, const char *p, size_t n, int *rc, struct ak_err *err)
{
	size_t used = 0;

	while (s->bom < BOM_DONE && used < n && (unsigned char)p[used] == bom_bytes[s->bom]) {
		s->bom++;
		used++;
	}
	if (s->bom < BOM_DONE && used < n) {
		/* it was none after all: its bytes begin the first line */
		*rc = append(s, &s->line, bom_bytes, s->bom, "a line", err);
		s->bom = BOM_DONE;
	}
	return used;
}

#define BLOCK 64u

#ifdef __SSE2__
static inline __m128i load_16(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* No byte up to CR, which is the larger of the two: most blocks of long lines */
static inline bool no_ends(__m128i a, __m128i b, __m128i c, __m128i d)
{
	__m128i least = _mm_min_epu8(_mm_min_epu8(a, b), _mm_min_epu8(c, d));

	return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(least, _mm_set1_epi8('\r')), least)) == 0;
}

static inline uint64_t ends_in_16(__m128i v)
{
	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\r'))));
}

/* Where CR and LF are in a block, a bit for each. Lines are short: calls of memchr() would cost more than they find. */
static inline uint64_t ends_in_block(const char *p)
{
	__m128i a = load_16(p);
	__m128i b = load_16(p + 16);
	__m128i c = load_16(p + 32);
	__m128i d = load_16(p + 48);

	if (no_ends(a, b, c, d))
		return 0;
	return ends_in_16(a) | ends_in_16(b) << 16 | ends_in_16(c) << 32 | ends_in_16(d) << 48;
}
#endif

/* The same for the last block, of @n bytes */
static uint64_t ends_in_rest(const char *p, size_t n)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < n; i++)
		hits |= (uint64_t)(p[i] == '\n' || p[i] == '\r') << i;
	return hits;
}

/* Lines of one piece */
static int take_lines(struct sse *s, const char *p, const char *end, struct ak_err *err)
{
	int rc;

	for (const char *at = p; at < end; at += BLOCK) {
		uint64_t hits = end - at >= (ptrdiff_t)BLOCK ? ends_in_block(at) : ends_in_rest(at, (size_t)(end - at));

		for (; hits != 0; hits &= hits - 1) {
			const char *stop = at + __builtin_ctzll(hits);

			if (stop < p) /* the LF of a CR LF */
				continue;
			if (s->line.len == 0 && (size_t)(stop - p) <= s->max) {
				s->held = false;
				rc = take_line(s, p, (size_t)(stop - p), err);
			} else {
				rc = finish_line(s, p, (size_t)(stop - p), err);
			}
			if (rc < 0)
				return rc;
			p = stop + 1;
			if (*stop != '\r')
				continue;
			s->skip_lf = p == end;
			if (p < end && *p == '\n')
				p++;
		}
	}
	keep_name(s);
	rc = keep_only(s, err);
	return rc < 0 || p == end ? rc : append(s, &s->line, p, (size_t)(end - p), "a line", err);
}

int sse_feed(struct sse *s, const void *buf, size_t n, struct ak_err *err)
{
	const char *p = buf;
	const char *end = p + n;
	int rc = 0;

	if (s->failed < 0)
		return ak_err_set(err, -s->failed, "event stream: it has failed before");
	if (n == 0)
		return 0;
	p += skip_bom(s, p, n, &rc, err);
	if (rc < 0)
		return rc;
	if (s->skip_lf && p < end && *p == '\n')
		p++;
	s->skip_lf = false;
	return take_lines(s, p, end, err);
}

int sse_end(struct sse *s, struct ak_err *err)
{
	int rc = 0;

	if (s->failed < 0)
		return ak_err_set(err, -s->failed, "event stream: it has failed before");
	if (s->line.len > 0)
		rc = finish_line(s, "", 0, err);
	return rc < 0 ? rc : event_end(s, true, err);
}
