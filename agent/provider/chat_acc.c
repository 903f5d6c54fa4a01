/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAI Chat Completions and its many servers, replies: chunks or one body to a reply. Pure. Process: agent. Privilege: none.
 * A message's known members are joined; members nobody here knows are kept as they last came, and sent back.
 */
#include <errno.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/provider/chat.h"

struct finish_row {
	const char *word;
	enum stop_reason stop;
};

/* "" and null are not here: some servers send them while the reply goes on, and [DONE] ends it */
static const struct finish_row finish_rows[] = {
	{ "stop", STOP_END_TURN },
	{ "eos", STOP_END_TURN },
	{ "end_turn", STOP_END_TURN },
	{ "tool_calls", STOP_TOOL_USE },
	{ "tool_use", STOP_TOOL_USE },
	{ "function_call", STOP_TOOL_USE },
	{ "length", STOP_MAX_TOKENS },
	{ "max_tokens", STOP_MAX_TOKENS },
	{ "model_length", STOP_MAX_TOKENS }, /* Mistral */
	{ "stop_sequence", STOP_SEQUENCE },
	{ "content_filter", STOP_REFUSAL },
	{ "refusal", STOP_REFUSAL },
};

/* Reasons that mean the attempt failed, and as what */
static int take_finish(struct acc *a, const char *word)
{
	if (!word || !*word)
		return 0;
	if (strcmp(word, "error") == 0 || strcmp(word, "insufficient_system_resource") == 0) {
		if (a->fault.fault == FAULT_NONE)
			a->fault = (struct provider_fault){
				.fault = *word == 'e' ? FAULT_SERVER : FAULT_OVERLOADED,
				.status = 200,
				.message = "the server ended the reply with an error it does not name",
			};
		return 0;
	}
	a->done = true;
	for (size_t i = 0; i < sizeof(finish_rows) / sizeof(finish_rows[0]); i++)
		if (strcmp(word, finish_rows[i].word) == 0)
			return acc_set_stop(a, finish_rows[i].stop, NULL);
	return acc_set_stop(a, STOP_UNKNOWN, word);
}

/* Mistral's form: a list of parts; thinking is a list of its own inside */
static void take_parts(struct acc *a, const struct cJSON *list)
{
	for (const struct cJSON *p = json_first(list); p; p = json_next(p)) {
		if (json_is_str(json_get(p, "type"), "text"))
			acc_delta(a, &a->text, DELTA_TEXT, json_str(json_get(p, "text")));
		for (const struct cJSON *t = json_first(json_get(p, "thinking")); t; t = json_next(t))
			acc_delta(a, &a->reasoning, DELTA_REASONING, json_str(json_get(t, "text")));
	}
}

static int keep_member(struct acc *a, const struct cJSON *m)
{
	if (!a->extra)
		a->extra = json_new_obj();
	if (!a->extra)
		return -ENOMEM;
	return json_set(a->extra, json_name(m), json_dup(m));
}

static int take_member(struct acc *a, const struct cJSON *m, struct ak_err *err)
{
	const char *name = json_name(m);
	const char *text = json_str(m);

	if (strcmp(name, "role") == 0 || json_kind(m) == JSON_NULL)
		return 0;
	if (strcmp(name, "content") == 0 && json_kind(m) == JSON_ARRAY)
		take_parts(a, m);
	else if (strcmp(name, "content") == 0)
		acc_delta(a, &a->text, DELTA_TEXT, text);
	else if (strcmp(name, "refusal") == 0)
		acc_delta(a, &a->refusal, DELTA_TEXT, text);
	else if (strcmp(name, "reasoning") == 0 && text)
		acc_delta(a, &a->reasoning, DELTA_REASONING, text);
	else if (strcmp(name, "reasoning_content") == 0 && text)
		acc_delta(a, &a->reasoning_content, DELTA_REASONING, text);
	else if (strcmp(name, "reasoning_details") == 0 && json_kind(m) == JSON_ARRAY)
		return chat_take_details(a, m, err);
	else if (strcmp(name, "tool_calls") == 0)
		return chat_take_calls(a, m, err);
	else if (strcmp(name, "function_call") != 0) /* the old form of calls, which nobody is asked to use */
		return keep_member(a, m);
	return 0;
}

static int take_choice(struct acc *a, const struct cJSON *choice, struct ak_err *err)
{
	const struct cJSON *delta = json_get(choice, "delta");
	uint64_t index = 0;

	(void)json_opt_u64(choice, "index", &index, NULL);
	if (index != 0) /* one answer was asked for */
		return 0;
	if (json_kind(delta) != JSON_OBJECT)
		delta = json_get(choice, "message");
	for (const struct cJSON *m = json_first(delta); m; m = json_next(m)) {
		int rc = take_member(a, m, err);

		if (rc < 0)
			return rc;
	}
	return take_finish(a, json_str(json_get(choice, "finish_reason")));
}

static void take_usage(struct acc *a, const struct cJSON *usage)
{
	if (json_kind(usage) == JSON_OBJECT) {
		a->has_usage = true;
		usage_chat(usage, &a->usage);
	}
}

static bool is_error(const struct cJSON *doc)
{
	enum json_kind kind = json_kind(json_get(doc, "error"));

	return kind == JSON_OBJECT || kind == JSON_STRING || json_is_str(json_get(doc, "object"), "error");
}

int chat_event(struct acc *a, const char *type, const struct cJSON *ev, struct ak_err *err)
{
	const struct cJSON *choices = json_get(ev, "choices");

	(void)type;
	if (is_error(ev)) {
		a->started = true;
		acc_set_fault(a, 200, ev);
		return 0;
	}
	if (json_kind(choices) != JSON_ARRAY) /* some servers send chunks of their own */
		return 0;
	a->started = true;
	if (acc_keep_str(&a->id, json_str(json_get(ev, "id"))) < 0 ||
	    acc_keep_str(&a->model, json_str(json_get(ev, "model"))) < 0)
		return -ENOMEM;
	for (const struct cJSON *c = json_first(choices); c; c = json_next(c)) {
		int rc = take_choice(a, c, err);

		if (rc < 0)
			return rc;
		take_usage(a, json_get(c, "usage"));
	}
	take_usage(a, json_get(ev, "usage"));
	return a->text.failed || a->reasoning.failed || a->reasoning_content.failed || a->refusal.failed ? -ENOMEM : 0;
}

int chat_body(struct acc *a, const struct cJSON *doc, struct ak_err *err)
{
	int rc;

	if (!is_error(doc) && !json_first(json_get(doc, "choices")))
		return acc_bad(a, err, "no choices");
	rc = chat_event(a, "", doc, err);
	a->done = true; /* a whole body: its end is the end, whatever finish_reason says */
	return rc;
}

/* --- the end: members to a message ----------------------------------------------------------------------------------- */

static void put_text(struct ak_buf *out, bool *comma, const char *key, const struct ak_buf *text)
{
	acc_put_key(out, comma, key);
	acc_put_text(out, text);
}

/* Text that is nothing is null beside calls, which some servers insist on; alone it must be a string */
static void put_content(struct acc *a, bool calls, bool *comma, struct ak_buf *out)
{
	if (a->text.len == 0 && calls) {
		acc_put_key(out, comma, "content");
		ak_buf_str(out, "null");
	} else {
		put_text(out, comma, "content", &a->text);
	}
}

static int put_message(struct acc *a, struct completion *c, struct ak_buf *out)
{
	bool calls = a->blocks.n > 0 && acc_runnable(c->stop);
	bool comma = true;

	ak_buf_str(out, "{\"role\":\"assistant\"");
	put_content(a, calls, &comma, out);
	if (a->refusal.len > 0)
		put_text(out, &comma, "refusal", &a->refusal);
	if (a->reasoning_content.len > 0)
		put_text(out, &comma, "reasoning_content", &a->reasoning_content);
	if (a->reasoning.len > 0)
		put_text(out, &comma, "reasoning", &a->reasoning);
	for (const struct cJSON *m = json_first(a->extra); m; m = json_next(m)) {
		acc_put_key(out, &comma, json_name(m));
		json_print(m, 0, out);
	}
	chat_put_details(a, &comma, out);
	if (calls && chat_put_calls(a, c, &comma, out) < 0)
		return -ENOMEM;
	ak_buf_add(out, "}", 1);
	return out->failed ? -ENOMEM : 0;
}

int chat_fill(struct acc *a, struct completion *c, struct ak_err *err)
{
	struct ak_buf out = { 0 };

	(void)err;
	(void)json_text_end(&a->text);
	(void)json_text_end(&a->refusal);
	(void)json_text_end(&a->reasoning);
	(void)json_text_end(&a->reasoning_content);
	if (a->refusal.len > 0 && c->stop != STOP_MAX_TOKENS) {
		c->stop = STOP_REFUSAL;
		if (acc_set_stop(a, STOP_REFUSAL, a->refusal.data) < 0)
			return -ENOMEM;
	}
	if (put_message(a, c, &out) < 0) {
		ak_buf_release(&out);
		return -ENOMEM;
	}
	c->msg.raw = out.data;
	c->msg.raw_len = out.len;
	if (a->reasoning.len == 0) {
		ak_buf_release(&a->reasoning);
		a->reasoning = a->reasoning_content;
		a->reasoning_content = (struct ak_buf){ 0 };
	}
	return acc_move_text(&a->text, &c->msg.text, &c->msg.text_len);
}

const struct provider_ops provider_chat = {
	.api = WIRE_CHAT,
	.path = "/chat/completions",
	.build = chat_build,
	.event = chat_event,
	.body = chat_body,
	.fill = chat_fill,
};
