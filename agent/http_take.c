/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the answer as libcurl hands it out: header lines, then the body. Process: agent. Privilege: none. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"

#define REFUSE SIZE_MAX /* a number that libcurl never gave us: it ends the transfer */

static void alive(struct transfer *t)
{
	t->last_ms = ak_now_ns() / 1000000;
	if (!t->answered)
		t->reply->ttfb_ms = t->last_ms - t->start_ms;
	t->answered = true;
}

static void drop_headers(struct http_reply *reply)
{
	for (size_t i = 0; i < reply->nheaders; i++) {
		free((char *)reply->headers[i].name);
		free((char *)reply->headers[i].value);
	}
	reply->nheaders = 0;
}

static char *copy_lower(const char *p, size_t n)
{
	char *s = strndup(p, n);

	for (char *c = s; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return s;
}

/* "Name: value" without its line end; what has no colon is ignored */
static size_t take_header(struct transfer *t, const char *p, size_t n)
{
	struct http_reply *reply = t->reply;
	const char *colon = memchr(p, ':', n);
	size_t name_len = colon ? (size_t)(colon - p) : 0;
	char *name;
	char *value;

	if (name_len == 0)
		return 0;
	if (reply->nheaders == HTTP_HEADERS_MAX) {
		t->end = http_end_set(t, HTTP_TOO_LARGE, EMSGSIZE, "more than %u headers", HTTP_HEADERS_MAX);
		return REFUSE;
	}
	n -= name_len + 1;
	p = colon + 1;
	while (n > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		n--;
	}
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	name = copy_lower(colon - name_len, name_len);
	value = strndup(p, n);
	if (!name || !value) {
		free(name);
		free(value);
		t->end = http_end_set(t, HTTP_INTERNAL, EIO, "out of memory");
		return REFUSE;
	}
	ak_text_clean(name);
	ak_text_clean(value);
	reply->headers[reply->nheaders++] = (struct http_header){.name = name, .value = value};
	return 0;
}

/* "HTTP/1.1 200 OK" */
static void take_status(struct transfer *t, const char *p, size_t n)
{
	const char *space = memchr(p, ' ', n);
	size_t left = space ? n - (size_t)(space + 1 - p) : 0;
	int status = 0;

	for (size_t i = 0; i < 3 && i < left && space[1 + i] >= '0' && space[1 + i] <= '9'; i++)
		status = status * 10 + (space[1 + i] - '0');
	t->reply->status = status;
	drop_headers(t->reply);
}

/* The blank line behind the headers */
static size_t head_end(struct transfer *t)
{
	const struct http_request *rq = t->rq;
	int use;

	if (t->reply->status >= 100 && t->reply->status < 200)
		return 0; /* "100 Continue" and the like: the answer comes behind it */
	t->head_done = true;
	t->use = HTTP_COLLECT;
	if (http_is_error(t->reply->status))
		return 0;
	if (!rq->on_head) {
		t->use = rq->on_body ? HTTP_STREAM : HTTP_COLLECT;
		return 0;
	}
	use = rq->on_head(rq->ctx, t->reply, t->err);
	if (use < 0) {
		t->end = HTTP_STOPPED;
		return REFUSE;
	}
	t->use = (enum http_body_use)use;
	return 0;
}

static size_t head_line(struct transfer *t, const char *p, size_t n)
{
	size_t max = t->rq->head_max ? t->rq->head_max : HTTP_HEAD_MAX;

	t->head_bytes += n;
	if (t->head_bytes > max) {
		t->end = http_end_set(t, HTTP_TOO_LARGE, EMSGSIZE, "more than %zu bytes of headers", max);
		return REFUSE;
	}
	while (n > 0 && (p[n - 1] == '\n' || p[n - 1] == '\r'))
		n--;
	if (t->head_done)
		return 0; /* trailers behind the body */
	if (n == 0)
		return head_end(t);
	if (n >= 5 && memcmp(p, "HTTP/", 5) == 0) {
		take_status(t, p, n);
		return 0;
	}
	return take_header(t, p, n);
}

size_t http_on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;

	alive(t);
	if (head_line(t, p, size * n) == REFUSE) {
		t->ended = true;
		return REFUSE;
	}
	return size * n;
}

/* Of an error: what fits, and then no more is needed */
static size_t collect_error(struct transfer *t, const char *p, size_t n)
{
	struct http_reply *reply = t->reply;
	size_t room = HTTP_ERROR_MAX - reply->body.len;

	ak_buf_add(&reply->body, p, n < room ? n : room);
	if (n <= room)
		return 0;
	reply->body_cut = true;
	t->enough = true;
	return REFUSE;
}

static size_t collect(struct transfer *t, const char *p, size_t n)
{
	struct http_reply *reply = t->reply;
	size_t max = t->rq->collect_max ? t->rq->collect_max : HTTP_COLLECT_MAX;

	if (n > max || reply->body.len > max - n) {
		reply->body_cut = true;
		t->end = http_end_set(t, HTTP_TOO_LARGE, EMSGSIZE, "the answer is over %zu bytes", max);
		return REFUSE;
	}
	ak_buf_add(&reply->body, p, n);
	if (!reply->body.failed)
		return 0;
	t->end = http_end_set(t, HTTP_INTERNAL, EIO, "out of memory");
	return REFUSE;
}

static size_t stream(struct transfer *t, const char *p, size_t n)
{
	uint64_t max = t->rq->body_max ? t->rq->body_max : HTTP_BODY_MAX;

	if (t->reply->body_bytes > max) {
		t->end = http_end_set(t, HTTP_TOO_LARGE, EMSGSIZE, "the answer is over %" PRIu64 " bytes", max);
		return REFUSE;
	}
	if (!t->rq->on_body || t->rq->on_body(t->rq->ctx, p, n, t->err) == 0)
		return 0;
	t->end = HTTP_STOPPED;
	return REFUSE;
}

size_t http_on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	size_t rc;

	n *= size;
	alive(t);
	t->reply->body_bytes += n;
	if (http_is_error(t->reply->status))
		rc = collect_error(t, p, n);
	else if (t->use == HTTP_COLLECT)
		rc = collect(t, p, n);
	else
		rc = stream(t, p, n);
	if (rc != REFUSE)
		return n;
	t->ended = !t->enough;
	return REFUSE;
}
