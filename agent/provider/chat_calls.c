/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chat Completions: which fragment belongs to which tool call. Pure. Process: agent. Privilege: none.
 *
 * Servers differ: every call with index 0, no index at all, no ids, arguments as an object, whole calls in one chunk,
 * the name again in every fragment. A fragment belongs to the newest call with its index unless it has another id, or
 * has a name where that call's arguments are whole already.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/provider/chat.h"
#include "executor/shared/ak_json_out.h"

#define NO_INDEX (-1)

struct fragment {
	int64_t index;
	const char *id;	  /* NULL: none */
	const char *name; /* NULL: none */
	const struct cJSON *args;
};

static const char *non_empty(const char *s)
{
	return s && *s ? s : NULL;
}

static void read_fragment(const struct cJSON *t, struct fragment *f)
{
	uint64_t index;

	*f = (struct fragment){
		.index = NO_INDEX,
		.id = non_empty(json_str(json_get(t, "id"))),
		.name = non_empty(json_str(json_at(t, "function.name"))),
		.args = json_at(t, "function.arguments"),
	};
	if (json_need_u64(t, "index", &index, NULL) == 0 && index <= INT32_MAX)
		f->index = (int64_t)index;
}

static struct acc_block *by_id(struct acc *a, const char *id)
{
	for (size_t i = a->blocks.n; i-- > 0;)
		if (a->blocks.v[i].id && strcmp(a->blocks.v[i].id, id) == 0)
			return &a->blocks.v[i];
	return NULL;
}

/* The call a fragment goes on with; NULL: it starts a new one */
static struct acc_block *find_call(struct acc *a, const struct fragment *f)
{
	struct acc_block *b = NULL;

	if (f->index != NO_INDEX)
		b = acc_find(&a->blocks, f->index);
	else if (f->id)
		b = by_id(a, f->id);
	else
		b = acc_last(&a->blocks);
	if (!b)
		return NULL;
	if (f->id && b->id && strcmp(f->id, b->id) != 0)
		return NULL;
	if (!f->id && f->name && b->balance.complete && json_kind(f->args) != JSON_NULL)
		return NULL;
	return b;
}

/* Members nobody here knows stay with the call: signatures of Gemini are among them */
static int keep_members(struct acc_block *b, const struct cJSON *t)
{
	for (const struct cJSON *m = json_first(t); m; m = json_next(m)) {
		const char *name = json_name(m);

		if (strcmp(name, "index") == 0 || strcmp(name, "id") == 0 || strcmp(name, "function") == 0 ||
		    json_kind(m) == JSON_NULL)
			continue;
		if (json_set(b->head, name, json_dup(m)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_args(struct acc *a, struct acc_block *b, const struct cJSON *args)
{
	struct ak_buf text = { 0 };

	if (json_kind(args) == JSON_STRING)
		acc_args(a, b, json_str(args));
	if ((json_kind(args) == JSON_OBJECT || json_kind(args) == JSON_ARRAY) && b->buf.len == 0) {
		json_print(args, 0, &text);
		if (!text.failed)
			acc_args(a, b, text.data);
		b->buf.failed |= text.failed;
		ak_buf_release(&text);
	}
	return b->buf.failed ? -ENOMEM : 0;
}

static int take_fragment(struct acc *a, const struct cJSON *t, struct ak_err *err)
{
	struct fragment f;
	struct acc_block *b;

	if (json_kind(t) != JSON_OBJECT)
		return acc_bad(a, err, "a tool call that is no object");
	read_fragment(t, &f);
	b = find_call(a, &f);
	if (!b) {
		int rc = acc_add_block(&a->blocks, f.index, ACC_CALL, json_new_obj(), &b, err);

		if (rc < 0)
			return rc;
	}
	if (acc_keep_str(&b->id, f.id) < 0 || acc_keep_str(&b->name, f.name) < 0 || keep_members(b, t) < 0)
		return -ENOMEM;
	return add_args(a, b, f.args);
}

int chat_take_calls(struct acc *a, const struct cJSON *list, struct ak_err *err)
{
	for (const struct cJSON *t = json_first(list); t; t = json_next(t)) {
		int rc = take_fragment(a, t, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void put_call(const struct acc_block *b, const struct tool_call *call, struct ak_buf *out)
{
	bool comma = false;
	struct ak_json j;

	ak_buf_add(out, "{", 1);
	acc_put_key(out, &comma, "id");
	ak_json_init(&j, out);
	ak_json_str(&j, NULL, call->id);
	if (json_kind(json_get(b->head, "type")) == JSON_ABSENT) {
		acc_put_key(out, &comma, "type");
		ak_buf_str(out, "\"function\"");
	}
	for (const struct cJSON *m = json_first(b->head); m; m = json_next(m)) {
		acc_put_key(out, &comma, json_name(m));
		json_print(m, 0, out);
	}
	acc_put_key(out, &comma, "function");
	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "name", call->name);
	ak_json_strn(&j, "arguments", call->args, call->args_len);
	ak_json_obj_end(&j);
	ak_buf_add(out, "}", 1);
}

int chat_put_calls(struct acc *a, struct completion *c, bool *comma, struct ak_buf *out)
{
	acc_put_key(out, comma, "tool_calls");
	ak_buf_add(out, "[", 1);
	for (size_t i = 0; i < a->blocks.n; i++) {
		struct acc_block *b = &a->blocks.v[i];
		const struct tool_call *call;

		if (acc_move_call(c, b->id, b->name, &b->buf, &call) < 0)
			return -ENOMEM;
		if (i > 0)
			ak_buf_add(out, ",", 1);
		put_call(b, call, out);
		acc_drop_head(b);
	}
	ak_buf_add(out, "]", 1);
	return out->failed ? -ENOMEM : 0;
}
