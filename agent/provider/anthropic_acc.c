/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anthropic Messages, replies: events or one body to a reply. Pure. Process: agent. Privilege: none.
 * Source: https://platform.claude.com/docs/en/build-with-claude/streaming; the official SDK's MessageStream.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/provider/anthropic.h"

struct event_row {
	const char *type;
	int (*take)(struct acc *a, const struct cJSON *ev, struct ak_err *err);
};

static int64_t index_of(const struct cJSON *ev)
{
	uint64_t index;

	return json_need_u64(ev, "index", &index, NULL) == 0 && index <= INT32_MAX ? (int64_t)index : -1;
}

static enum acc_kind kind_of(const struct cJSON *block)
{
	static const struct {
		const char *type;
		enum acc_kind kind;
	} kinds[] = {
		{ "text", ACC_TEXT },		    { "thinking", ACC_THINKING },
		{ "tool_use", ACC_CALL },	    { "server_tool_use", ACC_INPUT },
		{ "mcp_tool_use", ACC_INPUT },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (json_is_str(json_get(block, "type"), kinds[i].type))
			return kinds[i].kind;
	return ACC_OTHER;
}

static int take_usage(struct acc *a, const struct cJSON *usage)
{
	if (json_kind(usage) == JSON_OBJECT) {
		a->has_usage = true;
		usage_anthropic(usage, &a->usage);
	}
	return 0;
}

static int take_message_start(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	const struct cJSON *m = json_get(ev, "message");

	if (a->started)
		return acc_bad(a, err, "a second message_start");
	if (json_kind(m) != JSON_OBJECT)
		return acc_bad(a, err, "message_start without a message");
	a->started = true;
	if (acc_keep_str(&a->id, json_str(json_get(m, "id"))) < 0 ||
	    acc_keep_str(&a->model, json_str(json_get(m, "model"))) < 0)
		return -ENOMEM;
	return take_usage(a, json_get(m, "usage"));
}

static void add_thinking(struct acc *a, struct acc_block *b, const char *text)
{
	acc_delta(a, &b->buf, DELTA_REASONING, text);
	json_text_add(&a->reasoning, text ? text : "");
}

/* A block as it starts, or as a whole; what it holds already counts as its first piece */
static int add_block(struct acc *a, int64_t index, const struct cJSON *block, struct ak_err *err)
{
	struct acc_block *b;
	int rc = acc_add_block(&a->blocks, index, kind_of(block), json_dup(block), &b, err);

	if (rc < 0)
		return rc;
	if (b->kind == ACC_TEXT)
		acc_delta(a, &b->buf, DELTA_TEXT, json_str(json_get(block, "text")));
	if (b->kind == ACC_THINKING)
		add_thinking(a, b, json_str(json_get(block, "thinking")));
	return 0;
}

static int take_block_start(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	const struct cJSON *block = json_get(ev, "content_block");
	int64_t index = index_of(ev);

	if (!a->started || index < 0 || json_kind(block) != JSON_OBJECT)
		return acc_bad(a, err, "content_block_start without a message, an index or a block");
	if (acc_find(&a->blocks, index))
		return acc_bad(a, err, "two blocks with one index");
	return add_block(a, index, block, err);
}

static int set_signature(struct acc_block *b, const struct cJSON *signature)
{
	if (json_kind(signature) == JSON_ABSENT)
		return 0;
	return json_set(b->head, "signature", json_dup(signature));
}

static int add_citation(struct acc_block *b, const struct cJSON *citation)
{
	struct cJSON *list = json_get(b->head, "citations");

	if (json_kind(citation) == JSON_ABSENT)
		return 0;
	if (json_kind(list) != JSON_ARRAY) {
		if (json_set(b->head, "citations", json_new_arr()) < 0)
			return -ENOMEM;
		list = json_get(b->head, "citations");
	}
	return json_add(list, json_dup(citation));
}

/* A delta that does not fit its block, or of a kind nobody knows, is dropped: the format grows that way */
static int take_block_delta(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	const struct cJSON *d = json_get(ev, "delta");
	const struct cJSON *type = json_get(d, "type");
	struct acc_block *b = acc_find(&a->blocks, index_of(ev));

	(void)err;
	if (!b)
		return 0;
	if (json_is_str(type, "text_delta") && b->kind == ACC_TEXT)
		acc_delta(a, &b->buf, DELTA_TEXT, json_str(json_get(d, "text")));
	else if (json_is_str(type, "input_json_delta") && (b->kind == ACC_CALL || b->kind == ACC_INPUT))
		acc_args(a, b, json_str(json_get(d, "partial_json")));
	else if (json_is_str(type, "thinking_delta") && b->kind == ACC_THINKING)
		add_thinking(a, b, json_str(json_get(d, "thinking")));
	else if (json_is_str(type, "signature_delta") && b->kind == ACC_THINKING)
		return set_signature(b, json_get(d, "signature"));
	else if (json_is_str(type, "citations_delta") && b->kind == ACC_TEXT)
		return add_citation(b, json_get(d, "citation"));
	return b->buf.failed ? -ENOMEM : 0;
}

static int take_block_stop(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	struct acc_block *b = acc_find(&a->blocks, index_of(ev));

	(void)err;
	if (b)
		b->closed = true;
	return 0;
}

/* Why it refused, in one line; "" when it does not say */
static void refusal_text(const struct cJSON *details, char *buf, size_t size)
{
	const char *category = json_str(json_get(details, "category"));
	const char *why = json_str(json_get(details, "explanation"));

	(void)snprintf(buf, size, "%s%s%s", category ? category : "", category && why ? ": " : "", why ? why : "");
}

static int take_stop(struct acc *a, const struct cJSON *from)
{
	const char *word = json_str(json_get(from, "stop_reason"));
	char detail[512] = "";

	if (!word)
		return 0;

	enum stop_reason stop = stop_reason_parse(word);

	if (stop == STOP_REFUSAL)
		refusal_text(json_get(from, "stop_details"), detail, sizeof(detail));
	return acc_set_stop(a, stop, stop == STOP_UNKNOWN ? word : detail);
}

static int take_message_delta(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	if (!a->started)
		return acc_bad(a, err, "message_delta without a message");
	if (take_stop(a, json_get(ev, "delta")) < 0)
		return -ENOMEM;
	return take_usage(a, json_get(ev, "usage"));
}

static int take_message_stop(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	(void)ev;
	if (!a->started)
		return acc_bad(a, err, "message_stop without a message");
	a->done = true;
	return 0;
}

static int take_error(struct acc *a, const struct cJSON *ev, struct ak_err *err)
{
	(void)err;
	a->started = true;
	acc_set_fault(a, 200, ev);
	return 0;
}

static const struct event_row rows[] = {
	{ "message_start", take_message_start },
	{ "content_block_start", take_block_start },
	{ "content_block_delta", take_block_delta },
	{ "content_block_stop", take_block_stop },
	{ "message_delta", take_message_delta },
	{ "message_stop", take_message_stop },
	{ "error", take_error },
};

/* ping and what nobody knows yet is passed over: documented as the format's way to grow */
int anthropic_event(struct acc *a, const char *type, const struct cJSON *ev, struct ak_err *err)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(type, rows[i].type) == 0)
			return rows[i].take(a, ev, err);
	if (*type == '\0' && json_kind(json_get(ev, "error")) != JSON_ABSENT)
		return take_error(a, ev, err);
	return 0;
}

int anthropic_body(struct acc *a, const struct cJSON *doc, struct ak_err *err)
{
	const struct cJSON *content = json_get(doc, "content");
	int64_t index = 0;

	if (json_is_str(json_get(doc, "type"), "error") || json_kind(json_get(doc, "error")) == JSON_OBJECT)
		return take_error(a, doc, err);
	if (json_kind(content) != JSON_ARRAY)
		return acc_bad(a, err, "no content");
	a->started = true;
	for (const struct cJSON *b = json_first(content); b; b = json_next(b)) {
		int rc = json_kind(b) == JSON_OBJECT ? add_block(a, index++, b, err) :
						       acc_bad(a, err, "a block that is no object");

		if (rc < 0)
			return rc;
		acc_last(&a->blocks)->closed = true;
	}
	if (acc_keep_str(&a->id, json_str(json_get(doc, "id"))) < 0 ||
	    acc_keep_str(&a->model, json_str(json_get(doc, "model"))) < 0 || take_stop(a, doc) < 0)
		return -ENOMEM;
	a->done = true;
	return take_usage(a, json_get(doc, "usage"));
}

/* --- the end: blocks to a turn -------------------------------------------------------------------------------------- */

static void put_block(const struct acc_block *b, const char *but, const char *json, size_t n, struct ak_buf *out)
{
	acc_open_object(b->head, but, out);
	ak_buf_add(out, json, n);
	acc_close_object(b->head, but, out);
}

static void put_text_block(const struct acc_block *b, const char *member, struct ak_buf *out)
{
	acc_open_object(b->head, member, out);
	acc_put_text(out, &b->buf);
	acc_close_object(b->head, member, out);
}

/* The arguments of a call or of a server's tool: deltas, else what the block started with */
static void settle_input(struct acc_block *b)
{
	const struct cJSON *input = json_get(b->head, "input");

	if (!b->deltas && json_kind(input) != JSON_ABSENT && json_kind(input) != JSON_NULL)
		json_print(input, 0, &b->buf);
}

static int fill_call(struct acc_block *b, struct completion *c, struct ak_buf *out)
{
	const char *id = json_str(json_get(b->head, "id"));
	const struct tool_call *call;

	settle_input(b);
	if (acc_move_call(c, id, json_str(json_get(b->head, "name")), &b->buf, &call) < 0)
		return -ENOMEM;
	if ((!id || strcmp(id, call->id) != 0) && json_set(b->head, "id", json_new_str(call->id, strlen(call->id))) < 0)
		return -ENOMEM;
	if (json_kind(json_get(b->head, "name")) != JSON_STRING &&
	    json_set(b->head, "name", json_new_str(call->name, strlen(call->name))) < 0)
		return -ENOMEM;
	put_block(b, "input", call->args, call->args_len, out);
	return 0;
}

static void fill_input(struct acc_block *b, struct ak_buf *out)
{
	struct cJSON *doc = NULL;

	settle_input(b);
	(void)json_text_end(&b->buf);
	if (json_parse(acc_buf_text(&b->buf), b->buf.len, JSON_REPAIR | JSON_NO_TEXT, NULL, &doc, NULL) < 0 ||
	    json_kind(doc) != JSON_OBJECT)
		put_block(b, "input", "{}", 2, out);
	else
		put_block(b, "input", b->buf.data, b->buf.len, out);
	json_free(doc);
}

/* Is the block left out of the turn? Empty text is refused in requests; a cut reply keeps no call */
static bool left_out(const struct acc_block *b, bool runnable)
{
	if (b->kind == ACC_TEXT)
		return acc_blank(acc_buf_text(&b->buf), b->buf.len);
	if (b->kind == ACC_CALL)
		return !runnable;
	return !b->closed && !runnable;
}

static int fill_block(struct acc *a, struct acc_block *b, struct completion *c, struct ak_buf *out)
{
	switch (b->kind) {
	case ACC_TEXT:
		ak_buf_add(&a->text, b->buf.data, b->buf.len);
		put_text_block(b, "text", out);
		return 0;
	case ACC_THINKING:
		put_text_block(b, "thinking", out);
		return 0;
	case ACC_CALL:
		return fill_call(b, c, out);
	case ACC_INPUT:
		fill_input(b, out);
		return 0;
	default:
		json_print(b->head, 0, out);
		return 0;
	}
}

int anthropic_fill(struct acc *a, struct completion *c, struct ak_err *err)
{
	struct ak_buf out = { 0 };
	bool runnable = acc_runnable(c->stop);

	(void)err;
	ak_buf_add(&out, "[", 1);
	for (size_t i = 0; i < a->blocks.n; i++) {
		struct acc_block *b = &a->blocks.v[i];

		if (b->kind == ACC_TEXT || b->kind == ACC_THINKING)
			(void)json_text_end(&b->buf);
		if (left_out(b, runnable))
			continue;
		if (out.len > 1)
			ak_buf_add(&out, ",", 1);
		if (b->buf.failed || fill_block(a, b, c, &out) < 0)
			out.failed = true;
		ak_buf_release(&b->buf);
		acc_drop_head(b);
	}
	ak_buf_add(&out, "]", 1);
	if (out.failed || acc_move_text(&a->text, &c->msg.text, &c->msg.text_len) < 0) {
		ak_buf_release(&out);
		return -ENOMEM;
	}
	if (out.len == 2) { /* a turn without blocks cannot be sent back */
		ak_buf_release(&out);
		return 0;
	}
	c->msg.raw = out.data;
	c->msg.raw_len = out.len;
	return 0;
}

const struct provider_ops provider_anthropic = {
	.api = WIRE_ANTHROPIC,
	.path = "/v1/messages",
	.build = anthropic_build,
	.event = anthropic_event,
	.body = anthropic_body,
	.fill = anthropic_fill,
};
