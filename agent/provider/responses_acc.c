/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAI Responses, replies: events or one body to a reply. Pure. Process: agent. Privilege: none.
 * An item's own done event has it whole; the final event's list fills what had none, and deltas what neither had.
 * Source: https://platform.openai.com/docs/api-reference/responses-streaming; the official SDK's ResponseAccumulator.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/provider/responses.h"

struct event_row {
	const char *type;
	int (*take)(struct acc *a, const struct cJSON *ev, struct ak_err *err);
};

static int64_t index_of(const struct cJSON *ev)
{
	uint64_t index;

	return json_need_u64(ev, "output_index", &index, NULL) == 0 && index <= INT32_MAX ? (int64_t)index : -1;
}

static enum acc_kind kind_of(const struct cJSON *item)
{
	const struct cJSON *type = json_get(item, "type");

	if (json_is_str(type, "message"))
		return ACC_TEXT;
	if (json_is_str(type, "reasoning"))
		return ACC_THINKING;
	return json_is_str(type, "function_call") ? ACC_CALL : ACC_OTHER;
}

static int take_response(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	const struct cJSON *r = json_get(ev, "response");

	if (json_kind(r) != JSON_OBJECT)
		return acc_bad(a, err, "an event without its response");
	a->started = true;
	if (acc_keep_str(&a->id, json_str(json_get(r, "id"))) < 0 ||
	    acc_keep_str(&a->model, json_str(json_get(r, "model"))) < 0)
		return -ENOMEM;
	return 0;
}

static int take_item_added(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	const struct cJSON *item = json_get(ev, "item");
	int64_t index = index_of(ev);
	struct acc_block *b;

	if (index < 0 || json_kind(item) != JSON_OBJECT)
		return acc_bad(a, err, "an item without an index or an object");
	if (acc_find(&a->blocks, index))
		return acc_bad(a, err, "two items with one index");
	a->started = true;
	return acc_add_block(&a->blocks, index, kind_of(item), json_dup(item), &b, err);
}

/* A text that came in pieces comes again as a whole, and may be large: it is only copied where it differs */
static void settle_args(struct acc_block *b, const char *whole)
{
	size_t n = strlen(whole);

	if (n == b->buf.len && memcmp(acc_buf_text(&b->buf), whole, n) == 0)
		return;
	ak_buf_release(&b->buf);
	ak_buf_add(&b->buf, whole, n);
}

/* The whole item, of which the block had pieces, or nothing yet. Of @item the arguments are taken. */
static int settle_item(struct acc_block *b, struct cJSON *item)
{
	const char *args = json_str(json_get(item, "arguments"));

	b->kind = kind_of(item);
	b->closed = true;
	acc_drop_head(b);
	if (b->kind == ACC_CALL && args && *args) {
		settle_args(b, args);
		/* written from there at the end; the member keeps its place */
		if (json_set(item, "arguments", json_new_str("", 0)) < 0)
			return -ENOMEM;
	} else {
		ak_buf_release(&b->buf);
	}
	b->head = json_dup(item);
	return b->head && !b->buf.failed ? 0 : -ENOMEM;
}

static int take_item_done(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	struct cJSON *item = json_get(ev, "item");
	int64_t index = index_of(ev);
	struct acc_block *b = acc_find(&a->blocks, index);

	if (index < 0 || json_kind(item) != JSON_OBJECT)
		return acc_bad(a, err, "an item without an index or an object");
	if (b && b->closed)
		return acc_bad(a, err, "an item that is done twice");
	a->started = true;
	if (!b) {
		int rc = acc_add_block(&a->blocks, index, ACC_OTHER, json_new_obj(), &b, err);

		if (rc < 0)
			return rc;
	}
	return settle_item(b, item);
}

static int take_text(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	struct acc_block *b = acc_find(&a->blocks, index_of(ev));

	(void)err;
	if (b && !b->closed && b->kind == ACC_TEXT) {
		b->deltas = true;
		acc_delta(a, &b->buf, DELTA_TEXT, json_str(json_get(ev, "delta")));
	}
	return b && b->buf.failed ? -ENOMEM : 0;
}

static int take_reasoning(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	(void)err;
	acc_delta(a, &a->reasoning, DELTA_REASONING, json_str(json_get(ev, "delta")));
	return a->reasoning.failed ? -ENOMEM : 0;
}

static int take_args(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	struct acc_block *b = acc_find(&a->blocks, index_of(ev));

	(void)err;
	if (b && !b->closed && b->kind == ACC_CALL)
		acc_args(a, b, json_str(json_get(ev, "delta")));
	return b && b->buf.failed ? -ENOMEM : 0;
}

static int take_fault(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	const struct cJSON *error = json_at(ev, "response.error");

	(void)err;
	a->started = true;
	acc_set_fault(a, 200, json_kind(error) == JSON_OBJECT ? error : ev);
	return 0;
}

static int take_incomplete(struct acc *a, const struct cJSON *r)
{
	const char *reason = json_str(json_at(r, "incomplete_details.reason"));

	if (!json_is_str(json_get(r, "status"), "incomplete") && !reason)
		return 0;
	if (reason && strcmp(reason, "max_output_tokens") == 0)
		return acc_set_stop(a, STOP_MAX_TOKENS, NULL);
	if (reason && strcmp(reason, "content_filter") == 0)
		return acc_set_stop(a, STOP_REFUSAL, "content_filter");
	return acc_set_stop(a, STOP_UNKNOWN, reason ? reason : "incomplete");
}

/* Items of the final list whose own done event did not come */
static int take_output(struct acc *a, const struct cJSON *output, struct ak_err *err)
{
	int64_t index = 0;

	for (struct cJSON *item = json_first(output); item; item = json_next(item), index++) {
		struct acc_block *b = acc_find(&a->blocks, index);
		int rc = 0;

		if (json_kind(item) != JSON_OBJECT)
			return acc_bad(a, err, "an item that is no object");
		if (b && b->closed)
			continue;
		if (!b)
			rc = acc_add_block(&a->blocks, index, ACC_OTHER, json_new_obj(), &b, err);
		if (rc == 0)
			rc = settle_item(b, item);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int take_end(struct acc *a, const struct cJSON *r, struct ak_err *err)
{
	const struct cJSON *usage = json_get(r, "usage");

	if (json_kind(usage) == JSON_OBJECT) {
		a->has_usage = true;
		usage_responses(usage, &a->usage);
	}
	a->done = true;
	if (take_incomplete(a, r) < 0)
		return -ENOMEM;
	return take_output(a, json_get(r, "output"), err);
}

static int take_final(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	int rc = take_response(a, ev, err);

	return rc < 0 ? rc : take_end(a, json_get(ev, "response"), err);
}

static const struct event_row rows[] = {
	{ "response.created", take_response },
	{ "response.in_progress", take_response },
	{ "response.output_item.added", take_item_added },
	{ "response.output_item.done", take_item_done },
	{ "response.output_text.delta", take_text },
	{ "response.reasoning_summary_text.delta", take_reasoning },
	{ "response.reasoning_text.delta", take_reasoning },
	{ "response.function_call_arguments.delta", take_args },
	{ "response.completed", take_final },
	{ "response.incomplete", take_final },
	{ "response.failed", take_fault },
	{ "error", take_fault },
};

int responses_event(struct acc *a, const char *type, const struct cJSON *ev, struct ak_err *err)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(type, rows[i].type) == 0)
			return rows[i].take(a, ev, err);
	if (*type == '\0' && json_kind(json_get(ev, "error")) == JSON_OBJECT)
		return take_fault(a, ev, err);
	return 0;
}

int responses_body(struct acc *a, const struct cJSON *doc, struct ak_err *err)
{
	if (json_kind(json_get(doc, "error")) == JSON_OBJECT || json_is_str(json_get(doc, "status"), "failed")) {
		a->started = true;
		acc_set_fault(a, 200, doc);
		return 0;
	}
	if (json_kind(json_get(doc, "output")) != JSON_ARRAY)
		return acc_bad(a, err, "no output");
	a->started = true;
	if (acc_keep_str(&a->id, json_str(json_get(doc, "id"))) < 0 ||
	    acc_keep_str(&a->model, json_str(json_get(doc, "model"))) < 0)
		return -ENOMEM;
	return take_end(a, doc, err);
}

/* --- the end: items to a turn ----------------------------------------------------------------------------------------- */

/* What came whole and not in deltas is shown at the end */
static void add_text(struct acc *a, const struct acc_block *b, const char *text)
{
	json_text_add(&a->text, text);
	if (b->deltas)
		return;
	a->output_bytes += strlen(text);
	if (a->on_delta)
		a->on_delta(a->ctx, DELTA_TEXT, text);
}

static void fill_reasoning(struct acc *a, const struct acc_block *b)
{
	for (const struct cJSON *p = json_first(json_get(b->head, "summary")); p; p = json_next(p))
		acc_delta(a, &a->reasoning, DELTA_REASONING, json_str(json_get(p, "text")));
}

static int fill_message(struct acc *a, struct acc_block *b)
{
	struct cJSON *part;

	if (!b->closed) { /* from deltas */
		(void)json_text_end(&b->buf);
		part = json_new_obj();
		if (!part || json_set(part, "type", json_new_str("output_text", 11)) < 0 ||
		    json_set(part, "text", json_new_str(acc_buf_text(&b->buf), b->buf.len)) < 0 ||
		    json_set(b->head, "content", json_new_arr()) < 0) {
			json_free(part);
			return -ENOMEM;
		}
		if (json_add(json_get(b->head, "content"), part) < 0 ||
		    json_set(b->head, "status", json_new_str("completed", 9)) < 0)
			return -ENOMEM;
	}
	for (const struct cJSON *p = json_first(json_get(b->head, "content")); p; p = json_next(p)) {
		const char *text = json_str(json_get(p, "text"));
		const char *no = json_str(json_get(p, "refusal"));

		if (json_is_str(json_get(p, "type"), "output_text") && text)
			add_text(a, b, text);
		if (json_is_str(json_get(p, "type"), "refusal") && no)
			json_text_add(&a->refusal, no);
	}
	return a->text.failed || a->refusal.failed ? -ENOMEM : 0;
}

static int fill_call(struct acc_block *b, struct completion *c, struct ak_buf *out)
{
	const char *given = json_str(json_get(b->head, "arguments"));
	const char *id = json_str(json_get(b->head, "call_id"));
	const struct tool_call *call;

	if (given && *given) {
		ak_buf_release(&b->buf);
		json_text_add(&b->buf, given);
		/* written from the checked copy; its place stays */
		if (json_set(b->head, "arguments", json_new_str("", 0)) < 0)
			return -ENOMEM;
	}
	if (acc_move_call(c, id, json_str(json_get(b->head, "name")), &b->buf, &call) < 0)
		return -ENOMEM;
	if ((!id || strcmp(id, call->id) != 0) &&
	    json_set(b->head, "call_id", json_new_str(call->id, strlen(call->id))) < 0)
		return -ENOMEM;
	if (!b->closed && json_set(b->head, "status", json_new_str("completed", 9)) < 0)
		return -ENOMEM;

	struct ak_buf args = { .data = call->args, .len = call->args_len };

	acc_open_object(b->head, "arguments", out);
	acc_put_text(out, &args);
	acc_close_object(b->head, "arguments", out);
	return 0;
}

static int by_index(const void *a, const void *b)
{
	int64_t x = ((const struct acc_block *)a)->index;
	int64_t y = ((const struct acc_block *)b)->index;

	return (x > y) - (x < y);
}

static int fill_items(struct acc *a, struct completion *c, struct ak_buf *out)
{
	bool runnable = acc_runnable(c->stop);
	bool thought = a->reasoning.len > 0;

	for (size_t i = 0; i < a->blocks.n; i++) {
		struct acc_block *b = &a->blocks.v[i];

		if (b->kind == ACC_THINKING && !thought)
			fill_reasoning(a, b);
		if ((b->kind == ACC_CALL && !runnable) || (b->kind != ACC_CALL && b->kind != ACC_TEXT && !b->closed))
			continue;
		if (b->kind == ACC_TEXT && fill_message(a, b) < 0)
			return -ENOMEM;
		if (out->len > 1)
			ak_buf_add(out, ",", 1);
		if (b->kind == ACC_CALL && fill_call(b, c, out) < 0)
			return -ENOMEM;
		if (b->kind != ACC_CALL)
			json_print(b->head, 0, out);
		acc_drop_head(b);
	}
	return 0;
}

/* A refusal among the items ends the turn, and no call of it may be run */
static bool has_refusal(const struct acc *a)
{
	for (size_t i = 0; i < a->blocks.n; i++)
		for (const struct cJSON *p = json_first(json_get(a->blocks.v[i].head, "content")); p; p = json_next(p))
			if (json_is_str(json_get(p, "type"), "refusal"))
				return true;
	return false;
}

int responses_fill(struct acc *a, struct completion *c, struct ak_err *err)
{
	struct ak_buf out = { 0 };

	(void)err;
	if (a->blocks.n > 1)
		qsort(a->blocks.v, a->blocks.n, sizeof(*a->blocks.v), by_index);
	if (has_refusal(a) && c->stop == STOP_END_TURN)
		c->stop = STOP_REFUSAL;
	ak_buf_add(&out, "[", 1);
	if (fill_items(a, c, &out) < 0)
		out.failed = true;
	ak_buf_add(&out, "]", 1);
	if (!out.failed && a->refusal.len > 0) {
		(void)json_text_end(&a->refusal);
		out.failed |= a->refusal.failed || acc_set_stop(a, c->stop, a->refusal.data) < 0;
	}
	if (out.failed || acc_move_text(&a->text, &c->msg.text, &c->msg.text_len) < 0) {
		ak_buf_release(&out);
		return -ENOMEM;
	}
	if (out.len == 2) {
		ak_buf_release(&out);
		return 0;
	}
	c->msg.raw = out.data;
	c->msg.raw_len = out.len;
	return 0;
}

const struct provider_ops provider_responses = {
	.api = WIRE_RESPONSES,
	.path = "/responses",
	.build = responses_build,
	.event = responses_event,
	.body = responses_body,
	.fill = responses_fill,
};
