/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds for every accumulator, whatever bytes come: the outcome does not depend on how they are cut; a reply's turn is
 * JSON, its calls are objects that parse strictly, and it can be sent back; a reply that was cut has no calls.
 */
#ifndef AK_TESTS_FUZZ_ACC_LAW_H
#define AK_TESTS_FUZZ_ACC_LAW_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/provider.h"
#include "agent/sse.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define LAW(x)                                                                                               \
	do {                                                                                                 \
		if (!(x))                                                                                    \
			abort();                                                                             \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct law_outcome {
	int rc;
	struct completion c;
	struct provider_fault f;
};

static inline int law_event(void *ctx, const struct sse_event *ev, struct ak_err *err)
{
	return acc_event(ctx, ev, err);
}

static inline void law_play(const struct provider_ops *ops, const uint8_t *data, size_t size, size_t piece, struct law_outcome *o)
{
	struct ak_err err = { 0 };
	struct acc *a = NULL;
	struct sse sse;
	int rc = 0;

	*o = (struct law_outcome){ 0 };
	LAW(acc_new(ops, 0, NULL, NULL, &a) == 0);
	sse_init(&sse, 0, law_event, a);
	for (size_t at = 0; at < size && rc == 0; at += piece)
		rc = sse_feed(&sse, data + at, piece < size - at ? piece : size - at, &err);
	if (rc == 0)
		rc = sse_end(&sse, &err);
	o->rc = acc_finish(a, &o->c, &o->f, &err);
	LAW(o->rc == 0 || (o->rc == -EIO && o->f.fault != FAULT_NONE && err.msg[0] != '\0'));
	sse_release(&sse);
	acc_free(a);
}

static inline int law_same_str(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static inline void law_same(const struct law_outcome *a, const struct law_outcome *b)
{
	LAW(a->rc == b->rc && a->f.fault == b->f.fault);
	LAW(law_same_str(a->c.msg.raw, b->c.msg.raw) && law_same_str(a->c.msg.text, b->c.msg.text));
	LAW(a->c.stop == b->c.stop && a->c.msg.ncalls == b->c.msg.ncalls && a->c.usage.output == b->c.usage.output);
}

static inline void law_calls(const struct msg *m)
{
	for (size_t i = 0; i < m->ncalls; i++) {
		const struct tool_call *c = &m->calls[i];
		struct cJSON *doc = NULL;

		LAW(*c->id && *c->name && strlen(c->args) == c->args_len);
		LAW(json_parse(c->args, c->args_len, 0, NULL, &doc, NULL) == 0 && json_kind(doc) == JSON_OBJECT);
		LAW(!c->bad || strcmp(c->args, "{}") == 0);
		json_free(doc);
	}
}

static inline void law_echo(const struct provider_ops *ops, const struct completion *c)
{
	struct msg turns[3] = { { .role = MSG_USER }, c->msg, { .role = MSG_USER } };
	struct provider_req rq = { .model = "m", .max_tokens = 1, .msgs = turns, .nmsgs = 3 };
	struct history h = { .v = turns, .n = 3 };
	struct ak_buf out = { 0 };
	struct cJSON *doc = NULL;

	LAW(msg_set_text(&turns[0], "x", 1) == 0 && msg_set_text(&turns[2], "x", 1) == 0);
	for (size_t i = 0; i < c->msg.ncalls; i++)
		LAW(msg_add_result(&turns[2], c->msg.calls[i].id, "y", 1, false) == 0);
	LAW(history_check(&h, NULL) == 0);
	LAW(ops->build(&rq, &out, NULL) == 0);
	LAW(json_parse(out.data, out.len, JSON_REPAIR, NULL, &doc, NULL) == 0);
	json_free(doc);
	ak_buf_release(&out);
	msg_release(&turns[0]);
	msg_release(&turns[2]);
}

static inline void law_all(const struct provider_ops *ops, const uint8_t *data, size_t size)
{
	struct law_outcome whole;
	struct law_outcome cut;

	law_play(ops, data, size, size ? size : 1, &whole);
	law_play(ops, data, size, 1 + size % 7, &cut);
	law_same(&whole, &cut);
	if (whole.rc == 0) {
		law_calls(&whole.c.msg);
		LAW(whole.c.msg.ncalls == 0 || whole.c.stop == STOP_TOOL_USE || whole.c.stop == STOP_PAUSE);
		law_echo(ops, &whole.c);
	}
	completion_release(&whole.c);
	completion_release(&cut.c);
}

#endif
