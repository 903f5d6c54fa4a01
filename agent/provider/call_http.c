/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt over HTTP: headers, stream or body, accumulator, fault. Process: agent. Privilege: none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/http.h"
#include "agent/keys.h"
#include "agent/provider/call_int.h"
#include "agent/sse.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define HEAD_KEPT 512u /* first bytes of a stream, for a message when it turns out to be none */

struct transfer {
	struct acc *acc;
	struct sse sse;
	char head[HEAD_KEPT];
	size_t head_len;
	bool stream; /* asked for */
};

char *provider_url(const struct provider *p, const char *path)
{
	const char *base = p->target.base_url;
	size_t n = strlen(base);
	char *url;

	if (strncmp(path, "/v1/", 4) == 0 && n > 3 && strcmp(base + n - 3, "/v1") == 0)
		n -= 3;
	return asprintf(&url, "%.*s%s", (int)n, base, path) < 0 ? NULL : url;
}

size_t provider_headers(const struct provider *p, bool stream, char *key_text, struct http_header *ret)
{
	bool anthropic = p->target.api == WIRE_ANTHROPIC;
	struct key key;
	size_t n = 0;

	ret[n++] = (struct http_header){ .name = "content-type", .value = "application/json" };
	ret[n++] = (struct http_header){ .name = "accept", .value = stream ? "text/event-stream" : "application/json" };
	ret[n++] = (struct http_header){ .name = "user-agent", .value = "ak/" AK_VERSION };
	if (anthropic)
		ret[n++] = (struct http_header){ .name = "anthropic-version", .value = "2023-06-01" };
	if (!p->keys || !keys_current(p->keys, &key))
		return n;
	if (anthropic && key.scheme == KEY_API) {
		(void)snprintf(key_text, PROVIDER_KEY_TEXT, "%s", key.value);
		ret[n++] = (struct http_header){ .name = "x-api-key", .value = key_text, .secret = true };
	} else {
		(void)snprintf(key_text, PROVIDER_KEY_TEXT, "Bearer %s", key.value);
		ret[n++] = (struct http_header){ .name = "authorization", .value = key_text, .secret = true };
	}
	return n;
}

static int on_event(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	return acc_event(ctx, ev, err);
}

/* A stream is read as it comes, JSON and pages as a whole, whatever was asked for; what says nothing may be a stream */
static int on_head(void *ctx, const struct http_reply *reply, struct ak_err *err)
{
	const struct transfer *t = ctx;

	(void)err;
	if (http_type_is(reply, "text/event-stream"))
		return HTTP_STREAM;
	if (http_type_is(reply, "application/json") || http_type_is(reply, "text/html") || !t->stream)
		return HTTP_COLLECT;
	return HTTP_STREAM;
}

static int on_body(void *ctx, const void *data, size_t n, struct ak_err *err)
{
	struct transfer *t = ctx;
	size_t kept = n < HEAD_KEPT - t->head_len ? n : HEAD_KEPT - t->head_len;

	memcpy(t->head + t->head_len, data, kept);
	t->head_len += kept;
	return sse_feed(&t->sse, data, n, err);
}

static uint64_t wall_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void keep_id(const struct http_reply *reply, struct provider_fault *f)
{
	const char *id = http_header_get(reply, "request-id");

	if (!id)
		id = http_header_get(reply, "x-request-id");
	if (id && !*f->request_id) {
		(void)snprintf(f->request_id, sizeof(f->request_id), "%s", id);
		ak_text_clean(f->request_id);
	}
}

/* An error status: its body says why */
static void take_status(const struct http_reply *reply, struct attempt *at)
{
	struct provider_fault *f = &at->fault;
	const char *to = http_header_get(reply, "location");

	provider_fault_body(reply->status, reply->body.data ? reply->body.data : "", reply->body.len, f);
	if (f->fault == FAULT_REDIRECT)
		(void)ak_err_set(&at->err, EIO, "HTTP %d: a redirect to %.200s, which is not followed", reply->status,
				 to ? to : "nowhere");
	else
		(void)ak_err_set(&at->err, EIO, "HTTP %d%s%s%s%s%s", reply->status, *f->message ? ": " : "", f->message,
				 *f->type ? " (" : "", f->type, *f->type ? ")" : "");
}

static bool looks_like_stream(const struct ak_buf *body)
{
	return body->len > 6 && (*body->data == ':' || strncmp(body->data, "data:", 5) == 0 ||
				 strncmp(body->data, "event:", 6) == 0);
}

/* A body that was collected although a reply was wanted: JSON, a page, a stream under a wrong name */
static void take_collected(struct transfer *t, const struct http_reply *reply, struct attempt *at)
{
	const struct ak_buf *body = &reply->body;
	char excerpt[HTTP_EXCERPT_MAX];

	if (reply->body_cut) {
		at->fault = (struct provider_fault){ .fault = FAULT_PROTOCOL, .status = reply->status };
		(void)ak_err_set(&at->err, EIO, "HTTP %d: an answer of over %zu bytes", reply->status, body->len);
	} else if (body->len == 0) {
		at->fault = (struct provider_fault){ .fault = FAULT_PROTOCOL, .status = reply->status };
		(void)ak_err_set(&at->err, EIO, "HTTP %d: an empty answer", reply->status);
	} else if (looks_like_stream(body)) {
		if (sse_feed(&t->sse, body->data, body->len, NULL) == 0)
			(void)sse_end(&t->sse, NULL);
	} else if (acc_body(t->acc, body->data, body->len, NULL) < 0) {
		http_excerpt(body->data, body->len, excerpt);
		at->fault = (struct provider_fault){ .fault = FAULT_PROTOCOL, .status = reply->status };
		(void)ak_err_set(&at->err, EIO, "HTTP %d, but not a reply of the %s format: %s", reply->status,
				 wire_api_name(at->reply.msg.raw_api), excerpt);
	}
}

/* The reply, or why there is none. @end is the transfer's own opinion, @why its text. */
static void settle(struct transfer *t, enum http_end end, const struct http_reply *reply, const struct ak_err *why,
		   struct attempt *at)
{
	struct provider_fault f = { 0 };
	char excerpt[HTTP_EXCERPT_MAX];
	int rc;

	sse_release(&t->sse); /* may hold the last event, which may be large */
	rc = acc_finish(t->acc, &at->reply, &f, &at->err);
	if (rc == 0) /* whole: how the connection ended afterwards does not matter */
		return;
	acc_usage(t->acc, &at->used);
	at->has_used = !at->used.estimated;
	at->fault = f;
	at->fault.status = reply->status;
	if (end != HTTP_DONE && end != HTTP_STOPPED && (f.fault == FAULT_CUT || f.fault == FAULT_PROTOCOL)) {
		at->fault.fault = fault_of_end(end);
		at->err = *why;
	} else if (f.fault == FAULT_PROTOCOL && t->head_len > 0) {
		http_excerpt(t->head, t->head_len, excerpt);
		(void)ak_err_set(&at->err, EIO, "HTTP %d, but %s: %s", reply->status,
				 strstr(at->err.msg, "empty") ? "not a stream" : at->err.msg, excerpt);
	}
}

static void take_answer(struct transfer *t, enum http_end end, const struct http_reply *reply, const struct ak_err *why,
			struct attempt *at)
{
	at->ttfb_ms = reply->ttfb_ms;
	retry_hint_from(reply, wall_ms(), &at->hint);
	if (end == HTTP_DONE && (reply->status < 200 || reply->status > 299)) {
		take_status(reply, at);
	} else if (end != HTTP_DONE && reply->status != 200) {
		at->fault = (struct provider_fault){ .fault = fault_of_end(end), .status = reply->status };
		at->err = *why;
	} else {
		if (end == HTTP_DONE && (reply->body.len > 0 || t->head_len == 0))
			take_collected(t, reply, at);
		else if (end == HTTP_DONE || end == HTTP_CUT)
			(void)sse_end(&t->sse, NULL);
		if (at->fault.fault == FAULT_NONE)
			settle(t, end, reply, why, at);
	}
	keep_id(reply, &at->fault);
}

static void fail_here(struct attempt *at, const char *text)
{
	at->fault = (struct provider_fault){ .fault = FAULT_INTERNAL };
	(void)ak_err_set(&at->err, ENOMEM, "%s", text);
}

void attempt_http(struct provider *p, const struct provider_ops *ops, const struct ak_buf *body, bool stream,
		  const struct call_hooks *hooks, uint64_t total_ms, struct attempt *at)
{
	struct transfer t = { .stream = stream };
	struct http_header headers[PROVIDER_HEADERS_MAX];
	char key_text[PROVIDER_KEY_TEXT];
	struct http_reply reply = { 0 };
	struct ak_err why = { 0 };
	char *url = provider_url(p, ops->path);

	*at = (struct attempt){ .hint.should_retry = -1 };
	at->reply.msg.raw_api = ops->api;
	if (!url || acc_new(ops, body->len, hooks ? hooks->on_delta : NULL, hooks ? hooks->ctx : NULL, &t.acc) < 0) {
		free(url);
		fail_here(at, "no memory for the request");
		return;
	}
	sse_init(&t.sse, 0, on_event, t.acc);

	struct http_request rq = {
		.method = "POST",
		.url = url,
		.headers = headers,
		.nheaders = provider_headers(p, stream, key_text, headers),
		.body = body->data,
		.body_len = body->len,
		.plain_ok = p->plain_ok,
		.ca_file = p->ca_file,
		.cancel_fd = p->cancel_fd,
		.connect_ms = p->connect_ms,
		.head_ms = p->head_ms,
		.idle_ms = p->idle_ms,
		.total_ms = total_ms,
		.on_head = on_head,
		.on_body = on_body,
		.ctx = &t,
	};
	enum http_end end = http_do(p->http, &rq, &reply, &why);

	explicit_bzero(key_text, sizeof(key_text));
	take_answer(&t, end, &reply, &why, at);
	http_reply_release(&reply);
	sse_release(&t.sse);
	acc_free(t.acc);
	free(url);
}
