/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes secrets out of a stream of text. Pure. Process: agent. Privilege: none.
 *
 * Bytes are kept in a window until every rule has said no to them. A rule says yes, no, or that it needs more; it looks at a
 * bounded number of bytes from its own first byte on, so that what it says does not depend on how the text was cut. Once it
 * has said yes, the mark is written and a state drops what else belongs to the secret, however long it is.
 */
#include "agent/redact.h"

#include <errno.h>
#include <string.h>

#include "agent/redact_int.h"
#include "executor/shared/ak_buf.h"

void redact_init(struct redact *r, struct ak_buf *out)
{
	/* all but the window, which is large */
	memset(r, 0, offsetof(struct redact, hold));
	r->out = out;
}

int redact_known(struct redact *r, const char *value, size_t len)
{
	if (len < 8 || len > REDACT_KNOWN_LEN)
		return -EINVAL;
	if (r->nknown == REDACT_KNOWN_MAX)
		return -ENOSPC;
	r->known[r->nknown++] = (struct redact_known){ value, len };
	return 0;
}

static void put(struct redact *r, const char *p, size_t n)
{
	size_t keep = n < REDACT_TAIL ? n : REDACT_TAIL;
	size_t old = r->tail_len < REDACT_TAIL - keep ? r->tail_len : REDACT_TAIL - keep;

	if (n == 0)
		return;
	ak_buf_add(r->out, p, n);
	memmove(r->tail, r->tail + r->tail_len - old, old);
	memcpy(r->tail + old, p + n - keep, keep);
	r->tail_len = old + keep;
}

/* --- what is dropped --- */

static bool goes_on(struct redact *r, unsigned char c)
{
	switch ((enum redact_state)r->state) {
	case REDACT_WORD:
		return redact_word(c);
	case REDACT_DASHED:
		return redact_word(c) || c == '-';
	case REDACT_CAPITAL:
		return redact_upper(c) || redact_digit(c);
	case REDACT_PLAIN:
		return c > ' ' && c != 0x7f && !redact_quote(c) && !strchr(",;(){}[]<>|&\\", c);
	case REDACT_SPACE:
		return c > ' ' && !redact_quote(c);
	case REDACT_BASE64:
		return redact_alnum(c) || c == '+' || c == '/' || c == '=';
	case REDACT_LINE:
		return c != '\n' && c != '\r' && c != '\\' && !redact_quote(c);
	case REDACT_QUOTED:
		return c != '\n' && c != (r->escaped ? '\\' : r->quote);
	default:
		return false;
	}
}

/* Drops from @i on. Return: where text begins again */
static size_t drop(struct redact *r, size_t i)
{
	for (; i < r->len; i++) {
		if (!goes_on(r, (unsigned char)r->hold[i])) {
			r->state = REDACT_TEXT;
			break;
		}
	}
	return i;
}

/* Drops lines of a key from @i on. Return: where text begins again, or where more is needed: *@ret_more */
static size_t drop_key(struct redact *r, size_t i, bool last, bool *ret_more)
{
	while (r->state == REDACT_PEM) {
		struct redact_view v = { .p = (unsigned char *)r->hold, .n = r->len, .i = i, .start = i, .last = last };
		bool end;
		size_t n;

		*ret_more = redact_pem_line(&v, &n, &end) == REDACT_MORE;
		if (*ret_more)
			return i;
		i += n;
		if (n == 0 || end)
			r->state = REDACT_TEXT;
	}
	return i;
}

/* --- what is looked for --- */

static enum redact_verdict known(const struct redact *r, const struct redact_view *v, struct redact_hit *ret)
{
	size_t there = v->n - v->i;
	enum redact_verdict verdict = REDACT_NO;

	for (size_t k = 0; k < r->nknown; k++) {
		size_t n = r->known[k].len < there ? r->known[k].len : there;

		if (memcmp(v->p + v->i, r->known[k].text, n) != 0)
			continue;
		if (n == r->known[k].len) {
			*ret = (struct redact_hit){ .drop = n };
			return REDACT_YES;
		}
		if (!v->last)
			verdict = REDACT_MORE;
	}
	return verdict;
}

static enum redact_verdict look(const struct redact *r, const struct redact_view *v, struct redact_hit *ret)
{
	enum redact_verdict verdict = REDACT_NO;

	switch (v->p[v->i]) {
	case 's':
	case 'g':
	case 'x':
	case 'A':
	case 'h':
	case 'r':
		verdict = redact_shape(v, ret);
		break;
	case '=':
	case ':':
		verdict = redact_label(v, ret);
		break;
	case '-':
		verdict = redact_pem_begin(v, ret);
		break;
	case 'M':
	case 'b':
		verdict = r->body.other ? REDACT_NO : redact_body_start(v, ret);
		break;
	default:
		break;
	}
	if (verdict == REDACT_NO && r->nknown > 0)
		verdict = known(r, v, ret);
	return verdict;
}

/* Does a line start here? A mark may stand in a string, with \n for its end */
static bool starts_line(const struct redact_view *v)
{
	unsigned char before = redact_back(v, 1);

	return before == '\n' || (before == 'n' && redact_back(v, 2) == '\\') || (v->i == v->start && v->tail_len == 0);
}

static void see_ahead(struct redact *r, unsigned long long here, const struct redact_hit *hit)
{
	r->ahead = (struct redact_ahead){ .on = true, .next = (unsigned char)hit->next, .quote = hit->quote, .escaped = hit->escaped,
					  .at = here + hit->keep, .drop = hit->drop };
}

/* The secret that was seen ahead starts here, or did in what was dropped meanwhile */
static void take_ahead(struct redact *r, unsigned long long here, struct redact_hit *ret)
{
	unsigned long long gone = here - r->ahead.at;

	*ret = (struct redact_hit){ .drop = gone < r->ahead.drop ? r->ahead.drop - (size_t)gone : 0, .quote = r->ahead.quote,
				    .next = (enum redact_state)r->ahead.next, .escaped = r->ahead.escaped };
	r->ahead.on = false;
}

/* Once for a line: what is at its first byte may have to wait, and come again */
static enum redact_verdict look_at_line(struct redact *r, const struct redact_view *v)
{
	unsigned long long here = r->base + v->i;
	struct redact_hit hit = { .next = REDACT_PEM };
	enum redact_verdict verdict = redact_body_line(v, &r->body, &hit.keep);

	if (verdict == REDACT_MORE)
		return verdict;
	r->body.judged = here + 1;
	if (verdict == REDACT_YES)
		see_ahead(r, here, &hit);
	return REDACT_NO;
}

static enum redact_verdict judge(struct redact *r, const struct redact_view *v, struct redact_hit *ret)
{
	unsigned long long here = r->base + v->i;
	enum redact_verdict verdict = REDACT_NO;

	if (!r->ahead.on && r->body.judged <= here && starts_line(v))
		verdict = look_at_line(r, v);
	if (verdict == REDACT_NO && r->ahead.on && here >= r->ahead.at) {
		take_ahead(r, here, ret);
		return REDACT_YES;
	}
	if (verdict == REDACT_NO)
		verdict = look(r, v, ret);
	if (verdict == REDACT_YES && ret->keep > 0) {
		if (!r->ahead.on)
			see_ahead(r, here, ret);
		return REDACT_NO;
	}
	return verdict;
}

/* One pass over the window: what is clear is written, what is not stays at its start */
static void scan(struct redact *r, bool last)
{
	struct redact_view v = { .p = (unsigned char *)r->hold, .n = r->len, .tail = r->tail, .last = last };
	bool more = false;

	while (v.i < r->len && !more) {
		struct redact_hit hit;
		enum redact_verdict verdict;

		if (r->state != REDACT_TEXT) {
			v.i = r->state == REDACT_PEM ? drop_key(r, v.i, last, &more) : drop(r, v.i);
			v.start = v.i;
			continue;
		}
		v.tail_len = r->tail_len;
		verdict = judge(r, &v, &hit);
		if (verdict == REDACT_NO) {
			v.i++;
			continue;
		}
		more = verdict == REDACT_MORE;
		put(r, r->hold + v.start, v.i - v.start);
		v.start = v.i;
		if (more)
			continue;
		put(r, REDACT_MARK, sizeof(REDACT_MARK) - 1);
		r->count++;
		r->state = (unsigned char)hit.next;
		r->quote = hit.quote;
		r->escaped = hit.escaped;
		r->body.full = r->body.other = false;
		v.i += hit.drop;
		v.start = v.i;
	}
	put(r, r->hold + v.start, v.i - v.start);
	r->len -= v.i;
	r->base += v.i;
	memmove(r->hold, r->hold + v.i, r->len);
	/* a window that had to wait is looked at again when there is half as much again: else many small pieces cost much */
	r->want = r->len + r->len / 2;
}

void redact_feed(struct redact *r, const char *p, size_t n)
{
	while (n > 0) {
		size_t part = REDACT_HOLD - r->len < n ? REDACT_HOLD - r->len : n;

		memcpy(r->hold + r->len, p, part);
		r->len += part;
		p += part;
		n -= part;
		if (r->len > r->want || r->len == REDACT_HOLD)
			scan(r, false);
	}
}

void redact_finish(struct redact *r)
{
	scan(r, true);
	r->len = 0;
	r->state = REDACT_TEXT;
	r->want = 0;
	r->body = (struct redact_body){ 0 };
	r->ahead.on = false;
	r->tail_len = 0;
}

unsigned long redact_text(const char *p, size_t n, struct ak_buf *out)
{
	struct redact r;

	redact_init(&r, out);
	redact_feed(&r, p, n);
	redact_finish(&r);
	return r.count;
}
