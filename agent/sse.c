/* SPDX-License-Identifier: Apache-2.0 */
/* Server-sent events: bytes in, events out. Pure. Process: agent. Privilege: none. */
#include "agent/sse.h"

#include <errno.h>
#include <string.h>

#include "executor/shared/ak_err.h"

#define BOM_DONE 3u

static const unsigned char bom_bytes[] = {0xef, 0xbb, 0xbf};

void sse_init(struct sse *s, size_t max, sse_fn *on_event, void *ctx)
{
	if (max == 0 || max > SSE_EVENT_MAX)
		max = SSE_EVENT_MAX;
	*s = (struct sse){.on_event = on_event, .ctx = ctx, .max = max};
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

static int dispatch(struct sse *s, const char *data, size_t len, bool at_end, struct ak_err *err)
{
	const struct sse_event ev = {
		.name = s->name, .name_len = s->name_len, .data = data, .data_len = len, .at_end = at_end};

	s->events++;
	s->failed = s->on_event(s->ctx, &ev, err);
	return s->failed;
}

/* The blank line behind an event */
static int event_end(struct sse *s, bool at_end, struct ak_err *err)
{
	int rc = 0;

	if (s->only)
		rc = dispatch(s, s->only, s->only_len, at_end, err);
	else if (s->has_data)
		rc = dispatch(s, s->data.data, s->data.len, at_end, err);
	s->only = NULL;
	s->has_data = false;
	s->data.len = 0;
	s->name_len = 0;
	return rc;
}

/* The data line that was only pointed at is copied, since what it lies in is about to change */
static int keep_only(struct sse *s, struct ak_err *err)
{
	const char *only = s->only;

	if (!only)
		return 0;
	s->only = NULL;
	return append(s, &s->data, only, s->only_len, "an event", err);
}

static int data_line(struct sse *s, const char *value, size_t n, struct ak_err *err)
{
	int rc;

	if (!s->has_data) {
		s->has_data = true;
		s->only = value;
		s->only_len = n;
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
	if (n > 0)
		memcpy(s->name, value, n);
	s->name_len = n;
	return 0;
}

static bool is_field(const char *line, size_t n, const char *field, size_t len)
{
	return n >= len && memcmp(line, field, len) == 0 && (n == len || line[len] == ':');
}

/* What stands behind the colon and its one space; empty without a colon */
static const char *value_of(const char *line, size_t *n, size_t field_len)
{
	size_t skip = field_len;

	if (skip < *n)
		skip++;
	if (skip < *n && line[skip] == ' ')
		skip++;
	*n -= skip;
	return line + skip;
}

/* A whole line without its end */
static int take_line(struct sse *s, const char *line, size_t n, struct ak_err *err)
{
	if (n == 0)
		return event_end(s, false, err);
	if (line[0] == ':') {
		s->comments++;
		return 0;
	}
	if (is_field(line, n, "data", 4)) {
		line = value_of(line, &n, 4);
		return data_line(s, line, n, err);
	}
	if (is_field(line, n, "event", 5)) {
		line = value_of(line, &n, 5);
		return name_line(s, line, n, err);
	}
	return 0;
}

/* The end of a line of which the first part may lie in the buffer */
static int finish_line(struct sse *s, const char *p, size_t n, struct ak_err *err)
{
	int rc;

	if (s->line.len == 0)
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

/*
 * Lines of one piece. @cr is the next CR at or behind @p, or the end: looked for once and not again for each line, so that
 * a stream without any is searched twice and no more.
 */
static int take_lines(struct sse *s, const char *p, const char *end, struct ak_err *err)
{
	const char *cr = memchr(p, '\r', (size_t)(end - p));

	while (p < end) {
		const char *stop = *p == '\n' ? p : memchr(p, '\n', (size_t)((cr ? cr : end) - p));
		int rc;

		if (!stop)
			stop = cr;
		if (!stop)
			break;
		rc = finish_line(s, p, (size_t)(stop - p), err);
		if (rc < 0)
			return rc;
		p = stop + 1;
		if (stop != cr)
			continue;
		s->skip_lf = p == end;
		if (p < end && *p == '\n')
			p++;
		cr = memchr(p, '\r', (size_t)(end - p));
	}

	int rc = keep_only(s, err);

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
