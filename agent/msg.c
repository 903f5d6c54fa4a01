/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical messages. Agent process, no privilege. */
#include "agent/msg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const char *const api_names[] = {
	[WIRE_NONE] = "none",		[WIRE_ANTHROPIC] = "anthropic", [WIRE_CHAT] = "chat",
	[WIRE_RESPONSES] = "responses", [WIRE_REPLAY] = "replay",
};

static const char *const stop_names[] = {
	[STOP_END_TURN] = "end_turn",	[STOP_TOOL_USE] = "tool_use",
	[STOP_MAX_TOKENS] = "max_tokens", [STOP_SEQUENCE] = "stop_sequence",
	[STOP_PAUSE] = "pause_turn",	[STOP_REFUSAL] = "refusal",
	[STOP_CONTEXT] = "model_context_window_exceeded", [STOP_UNKNOWN] = "unknown",
};

const char *wire_api_name(enum wire_api api)
{
	return (size_t)api < LEN(api_names) ? api_names[api] : api_names[WIRE_NONE];
}

enum wire_api wire_api_parse(const char *name)
{
	for (size_t i = WIRE_ANTHROPIC; i < LEN(api_names); i++)
		if (strcmp(name, api_names[i]) == 0)
			return (enum wire_api)i;
	return WIRE_NONE;
}

const char *stop_reason_name(enum stop_reason stop)
{
	return (size_t)stop < LEN(stop_names) ? stop_names[stop] : stop_names[STOP_UNKNOWN];
}

enum stop_reason stop_reason_parse(const char *name)
{
	for (size_t i = 0; i < LEN(stop_names); i++)
		if (strcmp(name, stop_names[i]) == 0)
			return (enum stop_reason)i;
	return STOP_UNKNOWN;
}

static char *copy_bytes(const char *p, size_t n)
{
	char *s = malloc(n + 1);

	if (!s)
		return NULL;
	if (n > 0)
		memcpy(s, p, n);
	s[n] = '\0';
	return s;
}

void msg_call_release(struct tool_call *c)
{
	free(c->id);
	free(c->name);
	free(c->args);
	free(c->bad);
	*c = (struct tool_call){ 0 };
}

static void result_release(struct tool_result *r)
{
	free(r->call_id);
	free(r->text);
}

static void image_release(struct msg_image *i)
{
	free(i->media_type);
	free(i->base64);
}

void msg_release(struct msg *m)
{
	for (size_t i = 0; i < m->ncalls; i++)
		msg_call_release(&m->calls[i]);
	for (size_t i = 0; i < m->nresults; i++)
		result_release(&m->results[i]);
	for (size_t i = 0; i < m->nimages; i++)
		image_release(&m->images[i]);
	free(m->calls);
	free(m->results);
	free(m->images);
	free(m->text);
	free(m->raw);
	*m = (struct msg){ 0 };
}

int msg_set_text(struct msg *m, const char *text, size_t n)
{
	char *s = text ? copy_bytes(text, n) : NULL;

	if (text && !s)
		return -ENOMEM;
	free(m->text);
	m->text = s;
	m->text_len = text ? n : 0;
	return 0;
}

/* Room for one more: lists of turns are short, calls per turn few */
static void *grown(void *v, size_t n, size_t size)
{
	return reallocarray(v, n + 1, size);
}

int msg_add_result(struct msg *m, const char *call_id, const char *text, size_t n, bool is_error)
{
	struct tool_result r = {
		.call_id = strdup(call_id), .text = copy_bytes(text, n), .text_len = n, .is_error = is_error
	};
	struct tool_result *v = grown(m->results, m->nresults, sizeof(*v));

	if (v)
		m->results = v;
	if (!v || !r.call_id || !r.text) {
		result_release(&r);
		return -ENOMEM;
	}
	v[m->nresults++] = r;
	return 0;
}

int msg_add_image(struct msg *m, const char *media_type, const char *base64)
{
	struct msg_image i = { .media_type = strdup(media_type), .base64 = strdup(base64) };
	struct msg_image *v = grown(m->images, m->nimages, sizeof(*v));

	if (v)
		m->images = v;
	if (!v || !i.media_type || !i.base64) {
		image_release(&i);
		return -ENOMEM;
	}
	v[m->nimages++] = i;
	return 0;
}

int msg_take_call(struct msg *m, struct tool_call *c)
{
	struct tool_call *v = grown(m->calls, m->ncalls, sizeof(*v));

	if (!v)
		return -ENOMEM;
	m->calls = v;
	v[m->ncalls++] = *c;
	*c = (struct tool_call){ 0 };
	return 0;
}

void history_release(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		msg_release(&h->v[i]);
	free(h->v);
	*h = (struct history){ 0 };
}

int history_take(struct history *h, struct msg *m)
{
	if (h->n == h->cap) {
		size_t cap = h->cap ? h->cap * 2 : 16;
		struct msg *v = reallocarray(h->v, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		h->v = v;
		h->cap = cap;
	}
	h->v[h->n++] = *m;
	*m = (struct msg){ 0 };
	return 0;
}

int history_add_user(struct history *h, const char *text)
{
	struct msg m = { .role = MSG_USER };
	int rc = msg_set_text(&m, text, strlen(text));

	if (rc == 0)
		rc = history_take(h, &m);
	msg_release(&m);
	return rc;
}

static size_t results_for(const struct msg *m, const char *id)
{
	size_t n = 0;

	for (size_t i = 0; m && i < m->nresults; i++)
		n += strcmp(m->results[i].call_id, id) == 0;
	return n;
}

static size_t calls_for(const struct msg *m, const char *id)
{
	size_t n = 0;

	for (size_t i = 0; m && i < m->ncalls; i++)
		n += strcmp(m->calls[i].id, id) == 0;
	return n;
}

/* @prev and @next are NULL at the ends */
static int turn_check(const struct msg *prev, const struct msg *m, const struct msg *next, size_t at, struct ak_err *err)
{
	if (m->role == MSG_USER && prev && prev->role == MSG_USER)
		return ak_err_set(err, EINVAL, "turn %zu: two user turns in a row", at);
	for (size_t i = 0; i < m->ncalls; i++) {
		size_t n = results_for(next, m->calls[i].id);

		if (n != 1)
			return ak_err_set(err, EINVAL, "turn %zu: call %s has %zu results in the next turn", at,
					  m->calls[i].id, n);
	}
	for (size_t i = 0; i < m->nresults; i++)
		if (calls_for(prev, m->results[i].call_id) != 1)
			return ak_err_set(err, EINVAL, "turn %zu: result for %s, which the turn before did not call",
					  at, m->results[i].call_id);
	return 0;
}

int history_check(const struct history *h, struct ak_err *err)
{
	if (h->n == 0 || h->v[0].role != MSG_USER)
		return ak_err_set(err, EINVAL, "the conversation does not start with a user turn");
	for (size_t i = 0; i < h->n; i++) {
		int rc = turn_check(i ? &h->v[i - 1] : NULL, &h->v[i], i + 1 < h->n ? &h->v[i + 1] : NULL, i, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}
