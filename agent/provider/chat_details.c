/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chat Completions: reasoning_details (OpenRouter), which have to be sent back in order and whole. Pieces that follow each
 * other with one index and type are one entry: its text joins, of its other members the last one counts. Pure. Process: agent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/provider/chat.h"

static const char *const joined[] = { "text", "summary", "data" };

/* The member that comes in pieces; NULL when there is none */
static const char *joined_member(const struct cJSON *piece)
{
	for (size_t i = 0; i < sizeof(joined) / sizeof(joined[0]); i++)
		if (json_kind(json_get(piece, joined[i])) == JSON_STRING)
			return joined[i];
	return NULL;
}

static bool goes_on(const struct acc_block *b, int64_t index, const struct cJSON *piece)
{
	const char *type = json_str(json_get(piece, "type"));

	return b && index >= 0 && b->index == index && type && json_is_str(json_get(b->head, "type"), type);
}

static int merge(struct acc_block *b, const struct cJSON *piece)
{
	const char *text = joined_member(piece);

	if (text && acc_keep_str(&b->name, text) < 0)
		return -ENOMEM;
	for (const struct cJSON *m = json_first(piece); m; m = json_next(m)) {
		const char *name = json_name(m);

		if (b->name && strcmp(name, b->name) == 0 && json_kind(m) == JSON_STRING)
			json_text_add(&b->buf, json_str(m));
		else if (json_kind(m) != JSON_NULL && json_set(b->head, name, json_dup(m)) < 0)
			return -ENOMEM;
	}
	return b->buf.failed ? -ENOMEM : 0;
}

int chat_take_details(struct acc *a, const struct cJSON *list, struct ak_err *err)
{
	for (const struct cJSON *p = json_first(list); p; p = json_next(p)) {
		struct acc_block *b = acc_last(&a->details);
		uint64_t index;
		int64_t at = json_need_u64(p, "index", &index, NULL) == 0 && index <= INT32_MAX ? (int64_t)index : -1;
		int rc = 0;

		if (!goes_on(b, at, p))
			rc = acc_add_block(&a->details, at, ACC_OTHER, json_new_obj(), &b, err);
		if (rc == 0)
			rc = merge(b, p);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void chat_put_details(struct acc *a, bool *comma, struct ak_buf *out)
{
	if (a->details.n == 0)
		return;
	acc_put_key(out, comma, "reasoning_details");
	ak_buf_add(out, "[", 1);
	for (size_t i = 0; i < a->details.n; i++) {
		struct acc_block *b = &a->details.v[i];

		if (i > 0)
			ak_buf_add(out, ",", 1);
		if (!b->name) {
			json_print(b->head, 0, out);
			continue;
		}
		(void)json_text_end(&b->buf);
		acc_open_object(b->head, b->name, out);
		acc_put_text(out, &b->buf);
		acc_close_object(b->head, b->name, out);
		out->failed |= b->buf.failed;
	}
	ak_buf_add(out, "]", 1);
}
