/* SPDX-License-Identifier: Apache-2.0 */
/* Accumulators: events in, one reply out; the part that no wire format differs in. Pure. Process: agent. Privilege: none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/sse.h"

const struct provider_ops *provider_ops_of(enum wire_api api)
{
	switch (api) {
	case WIRE_ANTHROPIC:
		return &provider_anthropic;
	case WIRE_CHAT:
		return &provider_chat;
	case WIRE_RESPONSES:
		return &provider_responses;
	default:
		return NULL;
	}
}

void completion_release(struct completion *c)
{
	msg_release(&c->msg);
	free(c->stop_detail);
	free(c->reasoning);
	free(c->id);
	free(c->model);
	*c = (struct completion){ 0 };
}

int acc_new(const struct provider_ops *ops, size_t prompt_bytes, delta_fn *on_delta, void *ctx, struct acc **ret)
{
	struct acc *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->ops = ops;
	a->prompt_bytes = prompt_bytes;
	a->on_delta = on_delta;
	a->ctx = ctx;
	*ret = a;
	return 0;
}

void acc_drop_head(struct acc_block *b)
{
	json_free(b->head);
	b->head = NULL;
}

static void release_blocks(struct acc_blocks *l)
{
	for (size_t i = 0; i < l->n; i++) {
		acc_drop_head(&l->v[i]);
		ak_buf_release(&l->v[i].buf);
		free(l->v[i].id);
		free(l->v[i].name);
	}
	free(l->v);
}

void acc_free(struct acc *a)
{
	if (!a)
		return;
	release_blocks(&a->blocks);
	release_blocks(&a->details);
	json_free(a->extra);
	ak_buf_release(&a->text);
	ak_buf_release(&a->refusal);
	ak_buf_release(&a->reasoning);
	ak_buf_release(&a->reasoning_content);
	free(a->stop_detail);
	free(a->id);
	free(a->model);
	free(a);
}

int acc_add_block(struct acc_blocks *l, int64_t index, enum acc_kind kind, struct cJSON *head, struct acc_block **ret,
		  struct ak_err *err)
{
	if (!head)
		return ak_err_set(err, ENOMEM, "no memory for the reply");
	if (l->n == ACC_BLOCKS_MAX) {
		json_free(head);
		return ak_err_set(err, E2BIG, "the reply has over %u blocks", ACC_BLOCKS_MAX);
	}
	if (l->n == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 8;
		struct acc_block *v = reallocarray(l->v, cap, sizeof(*v));

		if (!v) {
			json_free(head);
			return ak_err_set(err, ENOMEM, "no memory for the reply");
		}
		l->v = v;
		l->cap = cap;
	}
	l->v[l->n] = (struct acc_block){ .index = index, .kind = kind, .head = head };
	*ret = &l->v[l->n++];
	return 0;
}

struct acc_block *acc_find(const struct acc_blocks *l, int64_t index)
{
	for (size_t i = l->n; i-- > 0;)
		if (l->v[i].index == index)
			return &l->v[i];
	return NULL;
}

struct acc_block *acc_last(const struct acc_blocks *l)
{
	return l->n > 0 ? &l->v[l->n - 1] : NULL;
}

void acc_delta(struct acc *a, struct ak_buf *buf, enum delta_kind kind, const char *text)
{
	if (!text || !*text)
		return;
	a->output_bytes += strlen(text);
	json_text_add(buf, text);
	if (a->on_delta)
		a->on_delta(a->ctx, kind, text);
}

static void balance_add(struct acc_balance *b, const char *p)
{
	for (; *p; p++) {
		if (b->escaped)
			b->escaped = false;
		else if (b->in_string && *p == '\\')
			b->escaped = true;
		else if (*p == '"')
			b->in_string = !b->in_string;
		else if (!b->in_string && (*p == '{' || *p == '['))
			b->depth++;
		else if (!b->in_string && (*p == '}' || *p == ']') && b->depth > 0 && --b->depth == 0)
			b->complete = true;
	}
}

void acc_args(struct acc *a, struct acc_block *b, const char *text)
{
	if (!text)
		return;
	a->output_bytes += strlen(text);
	b->deltas = true;
	json_text_add(&b->buf, text);
	balance_add(&b->balance, text);
}

int acc_keep_str(char **field, const char *text)
{
	if (*field || !text || !*text)
		return 0;
	*field = strdup(text);
	return *field ? 0 : -ENOMEM;
}

int acc_set_stop(struct acc *a, enum stop_reason stop, const char *detail)
{
	char *copy = detail && *detail ? strdup(detail) : NULL;

	if (detail && *detail && !copy)
		return -ENOMEM;
	free(a->stop_detail);
	a->stop_detail = copy;
	a->stop = stop;
	a->has_stop = true;
	return 0;
}

void acc_set_fault(struct acc *a, int status, const struct cJSON *obj)
{
	if (a->fault.fault == FAULT_NONE)
		provider_fault_obj(status, obj, &a->fault);
}

int acc_bad(const struct acc *a, struct ak_err *err, const char *text)
{
	return ak_err_set(err, EBADMSG, "not a reply of the %s format: %s", wire_api_name(a->ops->api), text);
}

/* What failed is kept: a later event must not make a whole reply of a broken one */
static int latch(struct acc *a, int rc, struct ak_err *err)
{
	if (rc < 0) {
		a->failed = rc;
		if (err)
			*err = a->err;
	}
	return rc;
}

static int take_event(struct acc *a, const struct sse_event *ev, struct cJSON *doc)
{
	const char *type = json_str(json_get(doc, "type"));
	char name[64] = "";

	if (!type && ev->name_len < sizeof(name)) {
		if (ev->name_len > 0)
			memcpy(name, ev->name, ev->name_len);
		name[ev->name_len] = '\0';
	}
	if (json_kind(doc) != JSON_OBJECT)
		return acc_bad(a, &a->err, "an event that is no object");
	return a->ops->event(a, type ? type : name, doc, &a->err);
}

static bool is_done_mark(const struct sse_event *ev)
{
	static const char mark[] = "[DONE]";
	const char *p = ev->data;
	size_t n = ev->data_len;

	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\n'))
		n--;
	while (n > 0 && *p == ' ') {
		p++;
		n--;
	}
	return n == sizeof(mark) - 1 && memcmp(p, mark, n) == 0;
}

int acc_event(struct acc *a, const struct sse_event *ev, struct ak_err *err)
{
	struct cJSON *doc = NULL;
	int rc;

	if (a->failed < 0)
		return latch(a, a->failed, err);
	if (a->fault.fault != FAULT_NONE || acc_blank(ev->data, ev->data_len))
		return 0;
	if (is_done_mark(ev)) {
		a->done |= a->ops->api == WIRE_CHAT && a->started;
		return 0;
	}
	/* where it can be, without a copy of what may be a large argument */
	rc = ev->scratch ? json_parse_in_place(ev->scratch, ev->data_len, JSON_REPAIR, NULL, &doc, &a->err) :
			   json_parse(ev->data, ev->data_len, JSON_REPAIR, NULL, &doc, &a->err);
	if (rc < 0 && ev->at_end)
		return 0;
	if (rc < 0) {
		(void)ak_err_wrap(&a->err, "an event of the stream");
		return latch(a, rc == -ENOMEM ? rc : -EBADMSG, err);
	}
	rc = take_event(a, ev, doc);
	json_free(doc);
	return latch(a, rc == -E2BIG ? -EBADMSG : rc, err);
}

int acc_body(struct acc *a, const char *data, size_t len, struct ak_err *err)
{
	struct cJSON *doc = NULL;
	int rc = json_parse(data, len, JSON_REPAIR, NULL, &doc, &a->err);

	if (rc < 0) {
		(void)ak_err_wrap(&a->err, "the reply");
		return latch(a, rc == -ENOMEM ? rc : -EBADMSG, err);
	}
	rc = json_kind(doc) == JSON_OBJECT ? a->ops->body(a, doc, &a->err) :
		json_kind(json_get(json_first(doc), "error")) != JSON_ABSENT ?
					     (acc_set_fault(a, 200, json_first(doc)), 0) :
					     acc_bad(a, &a->err, "the reply is no object");
	json_free(doc);
	return latch(a, rc, err);
}

void acc_usage(const struct acc *a, struct usage *ret)
{
	/* counts that are all 0 are no counts: some servers have the member and nothing to put there */
	if (a->has_usage && a->usage.prompt_total + a->usage.output > 0)
		*ret = a->usage;
	else
		usage_estimate(a->prompt_bytes, a->output_bytes, ret);
}

static int give_up(struct provider_fault *ret, enum fault fault, struct ak_err *err, const char *text)
{
	*ret = (struct provider_fault){ .fault = fault };
	return ak_err_set(err, EIO, "%s", text);
}

static int finish_failed(struct acc *a, struct provider_fault *ret, struct ak_err *err)
{
	if (a->failed == -ENOMEM)
		(void)give_up(ret, FAULT_INTERNAL, err, "no memory for the reply");
	else if (a->failed < 0) /* a reply that began well and then broke is as good as cut */
		(void)give_up(ret, a->started ? FAULT_CUT : FAULT_PROTOCOL, err, a->err.msg);
	else if (a->fault.fault != FAULT_NONE) {
		*ret = a->fault;
		(void)ak_err_set(err, EIO, "%s%s%s", a->fault.type, *a->fault.type ? ": " : "",
				 *a->fault.message ? a->fault.message : "an error without a message");
	} else if (!a->started)
		(void)give_up(ret, FAULT_PROTOCOL, err, "an empty answer");
	else
		(void)give_up(ret, FAULT_CUT, err, "the stream ended before the reply did");
	return a->failed == -ENOMEM ? -ENOMEM : -EIO;
}

/* Calls make it a turn of calls, whatever the server called it; a turn of calls without calls is an answer */
static void settle_stop(struct completion *c)
{
	if (c->msg.ncalls > 0 && (c->stop == STOP_END_TURN || c->stop == STOP_SEQUENCE || c->stop == STOP_UNKNOWN))
		c->stop = STOP_TOOL_USE;
	else if (c->msg.ncalls == 0 && c->stop == STOP_TOOL_USE)
		c->stop = STOP_END_TURN;
}

int acc_finish(struct acc *a, struct completion *ret, struct provider_fault *ret_fault, struct ak_err *err)
{
	struct completion c = { 0 };
	int rc;

	if (a->failed < 0 || a->fault.fault != FAULT_NONE || !a->done)
		return finish_failed(a, ret_fault, err);
	c.msg.role = MSG_ASSISTANT;
	c.msg.raw_api = a->ops->api;
	c.stop = a->has_stop ? a->stop : STOP_END_TURN;
	acc_usage(a, &c.usage);
	rc = a->ops->fill(a, &c, err);
	if (rc == 0)
		rc = acc_move_text(&a->reasoning, &c.reasoning, NULL);
	if (rc < 0) {
		completion_release(&c);
		*ret_fault = (struct provider_fault){ .fault = FAULT_INTERNAL };
		return ak_err_set(err, ENOMEM, "no memory for the reply");
	}
	settle_stop(&c);
	c.stop_detail = a->stop_detail;
	c.id = a->id;
	c.model = a->model;
	a->stop_detail = a->id = a->model = NULL;
	*ret = c;
	return 0;
}
