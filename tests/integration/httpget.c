/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One or more requests through agent/http, for the suite "http": prints how each ended as "name=value" words, the error
 * line on standard error. The key comes from the variable HTTPGET_KEY.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/http.h"
#include "agent/interrupt.h"
#include "agent/keys.h"
#include "agent/retry.h"
#include "agent/sse.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

struct state {
	struct sse sse;
	bool use_sse;
	bool stop;
	size_t events;
};

static int on_event(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	struct state *s = ctx;

	(void)ev;
	(void)err;
	s->events++;
	return 0;
}

static int on_head(void *ctx, const struct http_reply *reply, struct ak_err *err)
{
	const struct state *s = ctx;

	if (s->stop)
		return ak_err_set(err, EPROTO, "stopped by the caller");
	return s->use_sse && !http_type_is(reply, "text/event-stream") ? HTTP_COLLECT : HTTP_STREAM;
}

static int on_body(void *ctx, const void *p, size_t n, struct ak_err *err)
{
	struct state *s = ctx;

	return s->use_sse ? sse_feed(&s->sse, p, n, err) : 0;
}

/* The key, turned over so that this copy is not found */
struct hidden {
	unsigned char byte[256];
	size_t len;
};

static void hide(struct hidden *h, const char *key)
{
	for (h->len = 0; key[h->len] && h->len < sizeof(h->byte); h->len++)
		h->byte[h->len] = (unsigned char)(255 - (unsigned char)key[h->len]);
}

static bool is_here(const struct hidden *h, const unsigned char *p)
{
	for (size_t i = 0; i < h->len; i++) {
		if (p[i] + h->byte[i] != 255)
			return false;
	}
	return true;
}

/* How often the key stands in this process's writable memory */
static size_t scan(const struct hidden *h)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	size_t found = 0;

	while (maps && fgets(line, sizeof(line), maps)) {
		char *rest;
		unsigned long from = strtoul(line, &rest, 16);
		unsigned long to = strtoul(rest + 1, &rest, 16);

		if (strncmp(rest, " rw", 3) != 0 || strstr(line, "[v"))
			continue;
		for (const unsigned char *p = (const unsigned char *)from; p + h->len <= (const unsigned char *)to; p++)
			found += is_here(h, p);
	}
	if (maps)
		(void)fclose(maps);
	return found;
}

static uint64_t number(const char *s)
{
	return strtoull(s, NULL, 10);
}

/* Return: false for an unknown option */
static bool option(struct http_request *rq, struct state *s, const char *name, const char *value)
{
	if (strcmp(name, "--connect") == 0)
		rq->connect_ms = (uint32_t)number(value);
	else if (strcmp(name, "--head") == 0)
		rq->head_ms = (uint32_t)number(value);
	else if (strcmp(name, "--idle") == 0)
		rq->idle_ms = (uint32_t)number(value);
	else if (strcmp(name, "--total") == 0)
		rq->total_ms = number(value);
	else if (strcmp(name, "--body-max") == 0)
		rq->body_max = rq->collect_max = number(value);
	else if (strcmp(name, "--ca") == 0)
		rq->ca_file = value;
	else if (strcmp(name, "--plain-ok") == 0)
		rq->plain_ok = value[0] == '1';
	else if (strcmp(name, "--sse") == 0)
		s->use_sse = value[0] == '1';
	else if (strcmp(name, "--stop") == 0)
		s->stop = value[0] == '1';
	else
		return false;
	return true;
}

static void report(enum http_end end, const struct http_reply *reply, const struct state *s, const struct ak_err *err)
{
	enum fault f = fault_of_end(end);
	char excerpt[HTTP_EXCERPT_MAX];
	struct retry_hint hint;
	struct timespec at;

	(void)clock_gettime(CLOCK_REALTIME, &at);
	if (f == FAULT_NONE)
		f = fault_of_status(reply->status, NULL, NULL);
	retry_hint_from(reply, 0, &hint);
	http_excerpt(reply->body.data ? reply->body.data : "", reply->body.len, excerpt);
	(void)printf("end=%d status=%d kept=%zu cut=%d bytes=%llu events=%zu fault=%s exit=%d ttfb=%llu total=%llu wait=%lld at=%llu "
		     "end_text='%s' excerpt='%s'\n",
		     (int)end, reply->status, reply->body.len, reply->body_cut, (unsigned long long)reply->body_bytes,
		     s->events, fault_info(f)->name, fault_info(f)->exit_code, (unsigned long long)reply->ttfb_ms,
		     (unsigned long long)reply->total_ms, hint.has_wait ? (long long)hint.wait_ms : -1LL,
		     (unsigned long long)at.tv_sec * 1000 + (unsigned long long)at.tv_nsec / 1000000,
		     http_end_text(end), excerpt);
	if (end != HTTP_DONE)
		(void)fprintf(stderr, "ak: %s%s%s\n", err->msg, err->hint[0] ? "; " : "", err->hint);
}

static enum http_end one(struct http *h, struct http_request *rq, struct state *s)
{
	struct http_reply reply;
	struct ak_err err = {0};
	enum http_end end;

	sse_init(&s->sse, 0, on_event, s);
	s->events = 0;
	end = http_do(h, rq, &reply, &err);
	if (end == HTTP_DONE && s->use_sse && sse_end(&s->sse, &err) < 0)
		end = HTTP_STOPPED;
	report(end, &reply, s, &err);
	http_reply_release(&reply);
	sse_release(&s->sse);
	return end;
}

/* A body of @size bytes for --post */
static char *body_of(size_t size)
{
	char *p = malloc(size ? size : 1);

	if (p)
		memset(p, 'b', size);
	return p;
}

int main(int argc, char *argv[], char *envp[])
{
	static const struct key_var vars[] = {{"HTTPGET_KEY", KEY_API}, {NULL, KEY_API}};
	struct state s = {0};
	struct http_request rq = {.method = "GET", .on_head = on_head, .on_body = on_body, .ctx = &s};
	struct keys *keys = NULL;
	struct http *h = NULL;
	struct ak_err err = {0};
	struct http_header headers[2] = {{.name = "content-type", .value = "application/json"}};
	struct key key;
	enum http_end end = HTTP_DONE;
	struct hidden hidden = {.len = 0};
	size_t before = 0;
	char *body = NULL;
	int i = 1;

	if (keys_new(&keys, &err) < 0 || keys_add_env(keys, vars, envp, &err) < 0 || http_new(&h, &err) < 0) {
		(void)fprintf(stderr, "ak: %s\n", err.msg);
		return 2;
	}
	keys_wipe_env(vars, envp);
	rq.headers = headers;
	rq.nheaders = 1;
	if (keys_current(keys, &key)) {
		hide(&hidden, key.value);
		headers[rq.nheaders++] = (struct http_header){.name = "x-api-key", .value = key.value, .secret = true};
	}
	rq.cancel_fd = interrupt_open(&err);
	for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (strcmp(argv[i], "--post") == 0) {
			rq.method = "POST";
			rq.body_len = number(argv[i + 1]);
			rq.body = body = body_of(rq.body_len);
		} else if (!option(&rq, &s, argv[i], argv[i + 1])) {
			return 2;
		}
	}
	for (; i < argc; i++) {
		rq.url = argv[i];
		end = one(h, &rq, &s);
	}

	int sig = interrupt_taken(rq.cancel_fd);

	if (hidden.len > 0)
		before = scan(&hidden);
	http_free(h);
	keys_free(keys);
	if (hidden.len > 0)
		(void)printf("key_before=%zu key_after=%zu\n", before, scan(&hidden));
	ak_fd_close(&rq.cancel_fd);
	free(body);
	return sig ? 128 + sig : (int)end;
}
