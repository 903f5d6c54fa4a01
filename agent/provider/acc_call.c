/* SPDX-License-Identifier: Apache-2.0 */
/* Tool calls of a reply: arguments checked once, at their end; ids that are missing or used twice. Pure. Process: agent. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "executor/shared/ak_json_out.h"

bool acc_runnable(enum stop_reason stop)
{
	return stop != STOP_MAX_TOKENS && stop != STOP_REFUSAL && stop != STOP_CONTEXT;
}

bool acc_blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != ' ' && p[i] != '\t' && p[i] != '\n' && p[i] != '\r')
			return false;
	return true;
}

const char *acc_buf_text(const struct ak_buf *b)
{
	return b->data ? b->data : "";
}

int acc_move_text(struct ak_buf *b, char **ret, size_t *ret_len)
{
	if (b->failed)
		return -ENOMEM;
	(void)json_text_end(b);
	if (b->failed)
		return -ENOMEM;
	if (b->len == 0)
		return 0;
	*ret = b->data;
	if (ret_len)
		*ret_len = b->len;
	*b = (struct ak_buf){ 0 };
	return 0;
}

void acc_put_key(struct ak_buf *out, bool *comma, const char *key)
{
	struct ak_json j;

	if (*comma)
		ak_buf_add(out, ",", 1);
	*comma = true;
	ak_json_init(&j, out);
	ak_json_str(&j, NULL, key);
	ak_buf_add(out, ":", 1);
}

void acc_put_text(struct ak_buf *out, const struct ak_buf *text)
{
	struct ak_json j;

	ak_json_init(&j, out);
	ak_json_strn(&j, NULL, acc_buf_text(text), text->len);
}

void acc_open_object(const struct cJSON *head, const char *but, struct ak_buf *out)
{
	bool comma = false;

	ak_buf_add(out, "{", 1);
	for (const struct cJSON *m = json_first(head); m && strcmp(json_name(m), but) != 0; m = json_next(m)) {
		acc_put_key(out, &comma, json_name(m));
		json_print(m, 0, out);
	}
	acc_put_key(out, &comma, but);
}

void acc_close_object(const struct cJSON *head, const char *but, struct ak_buf *out)
{
	const struct cJSON *at = json_get(head, but);
	bool comma = true;

	for (const struct cJSON *m = at ? json_next(at) : NULL; m; m = json_next(m)) {
		acc_put_key(out, &comma, json_name(m));
		json_print(m, 0, out);
	}
	ak_buf_add(out, "}", 1);
}

/* Why these arguments must not be run; "" when they may */
static void judge(const char *args, size_t len, size_t halves, char *bad, size_t size)
{
	static const struct json_limits limits = { .depth = ACC_ARGS_DEPTH };
	struct ak_err err = { 0 };
	struct cJSON *doc = NULL;

	if (halves > 0) {
		(void)snprintf(bad, size, "arguments are not valid JSON: half of a surrogate pair");
		return;
	}
	if (json_parse(args, len, JSON_NO_TEXT, &limits, &doc, &err) < 0)
		(void)snprintf(bad, size, "arguments are not valid JSON: %s", err.msg);
	else if (json_kind(doc) != JSON_OBJECT)
		(void)snprintf(bad, size, "arguments are not valid: expected an object, got %s",
			       json_kind_name(json_kind(doc)));
	json_free(doc);
}

static bool id_used(const struct msg *m, const char *id)
{
	for (size_t i = 0; i < m->ncalls; i++)
		if (strcmp(m->calls[i].id, id) == 0)
			return true;
	return false;
}

static char *choose_id(const struct msg *m, const char *id)
{
	char minted[32];

	if (id && *id && !id_used(m, id))
		return strdup(id);
	for (size_t n = m->ncalls + 1;; n++) {
		(void)snprintf(minted, sizeof(minted), "call_%zu", n);
		if (!id_used(m, minted))
			return strdup(minted);
	}
}

int acc_move_call(struct completion *c, const char *id, const char *name, struct ak_buf *args,
		  const struct tool_call **ret)
{
	char bad[AK_ERR_MSG_MAX + 64] = "";
	size_t halves = json_text_end(args);
	struct tool_call call = { .id = choose_id(&c->msg, id), .name = strdup(name && *name ? name : "unnamed") };

	if (args->failed)
		goto fail;
	if (acc_blank(acc_buf_text(args), args->len))
		ak_buf_release(args);
	else
		judge(args->data, args->len, halves, bad, sizeof(bad));
	if (args->len == 0 || *bad) {
		ak_buf_release(args);
		ak_buf_str(args, "{}");
	}
	call.bad = *bad ? strdup(bad) : NULL;
	if (args->failed || !call.id || !call.name || (*bad && !call.bad))
		goto fail;
	call.args = realloc(args->data, args->len + 1);
	call.args = call.args ? call.args : args->data;
	call.args_len = args->len;
	*args = (struct ak_buf){ 0 };
	if (msg_take_call(&c->msg, &call) < 0)
		goto fail;
	*ret = &c->msg.calls[c->msg.ncalls - 1];
	return 0;
fail:
	msg_call_release(&call);
	return -ENOMEM;
}
