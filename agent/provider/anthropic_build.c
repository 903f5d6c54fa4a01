/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anthropic Messages, requests. Pure. Process: agent. Privilege: none.
 *
 * Tools and system come first and never change within a session, so that the provider's cache, which goes by the bytes of
 * tools, system and messages in that order, holds them. Marks: the end of the system text or else of the tools, the end of the last user
 * turn, the end of the one before, where the last request was marked and so is surely found, and one more where the last
 * turn has more blocks than a mark looks back.
 * Nothing is sent that some model refuses: no temperature, no thinking, no tool_choice, no prefill.
 * Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/anthropic.h"
#include "agent/provider/build_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define EXTRA_MARK_DISTANCE 15u /* blocks before the end, where one turn has more than ANTHROPIC_LOOKBACK */
#define NO_TURN SIZE_MAX

/* Where marks go: the last block of two turns, and one block inside the last */
struct marks {
	size_t last;
	size_t previous;
	size_t inside; /* block of @last; NO_TURN: none */
};

static size_t blocks_of(const struct msg *m)
{
	return m->nresults + (build_has_text(m) ? 1 : 0) + m->nimages;
}

static void find_marks(const struct provider_req *rq, struct marks *m)
{
	*m = (struct marks){ .last = NO_TURN, .previous = NO_TURN, .inside = NO_TURN };
	if (rq->quirks & QUIRK_NO_CACHE_CONTROL)
		return;
	for (size_t i = rq->nmsgs; i-- > 0 && m->previous == NO_TURN;) {
		if (rq->msgs[i].role != MSG_USER || blocks_of(&rq->msgs[i]) == 0)
			continue;
		if (m->last == NO_TURN)
			m->last = i;
		else
			m->previous = i;
	}
	if (m->last != NO_TURN && blocks_of(&rq->msgs[m->last]) > ANTHROPIC_LOOKBACK)
		m->inside = blocks_of(&rq->msgs[m->last]) - 1 - EXTRA_MARK_DISTANCE;
}

static void put_mark(struct ak_json *j)
{
	ak_json_obj(j, "cache_control");
	ak_json_str(j, "type", "ephemeral");
	ak_json_obj_end(j);
}

static void put_result(struct ak_json *j, const struct tool_result *r, bool mark)
{
	ak_json_obj(j, NULL);
	ak_json_str(j, "type", "tool_result");
	ak_json_str(j, "tool_use_id", r->call_id);
	build_text(j, "content", r->text, r->text_len);
	if (r->is_error)
		ak_json_bool(j, "is_error", true);
	if (mark)
		put_mark(j);
	ak_json_obj_end(j);
}

static void put_text(struct ak_json *j, const char *text, size_t n, bool mark)
{
	ak_json_obj(j, NULL);
	ak_json_str(j, "type", "text");
	build_text(j, "text", text, n);
	if (mark)
		put_mark(j);
	ak_json_obj_end(j);
}

static void put_image(struct ak_json *j, const struct msg_image *i, bool mark)
{
	ak_json_obj(j, NULL);
	ak_json_str(j, "type", "image");
	ak_json_obj(j, "source");
	ak_json_str(j, "type", "base64");
	ak_json_str(j, "media_type", i->media_type);
	ak_json_str(j, "data", i->base64);
	ak_json_obj_end(j);
	if (mark)
		put_mark(j);
	ak_json_obj_end(j);
}

/* @at: the turn's place. Results come first: the server wants them before any text. */
static void put_user(struct ak_json *j, const struct msg *m, size_t at, const struct marks *marks)
{
	size_t end = at == marks->last || at == marks->previous ? blocks_of(m) - 1 : NO_TURN;
	size_t inside = at == marks->last ? marks->inside : NO_TURN;
	size_t block = 0;

	for (size_t i = 0; i < m->nresults; i++, block++)
		put_result(j, &m->results[i], block == end || block == inside);
	if (build_has_text(m)) {
		put_text(j, m->text, m->text_len, block == end || block == inside);
		block++;
	}
	for (size_t i = 0; i < m->nimages; i++, block++)
		put_image(j, &m->images[i], block == end || block == inside);
}

/* A turn of another wire format, from what is known of it */
static void put_assistant(struct ak_json *j, const struct msg *m)
{
	if (build_has_text(m))
		put_text(j, m->text, m->text_len, false);
	for (size_t i = 0; i < m->ncalls; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "tool_use");
		ak_json_str(j, "id", m->calls[i].id);
		ak_json_str(j, "name", m->calls[i].name);
		ak_json_raw(j, "input", m->calls[i].args, m->calls[i].args_len);
		ak_json_obj_end(j);
	}
}

static void put_message(struct ak_json *j, const struct msg *m, size_t at, const struct marks *marks)
{
	bool raw = m->role == MSG_ASSISTANT && m->raw && m->raw_api == WIRE_ANTHROPIC;

	/* what has no block cannot be sent; the server joins the turns around it */
	if (!raw && blocks_of(m) + m->ncalls == 0)
		return;
	ak_json_obj(j, NULL);
	ak_json_str(j, "role", m->role == MSG_USER ? "user" : "assistant");
	if (raw) {
		ak_json_raw(j, "content", m->raw, m->raw_len);
	} else {
		ak_json_arr(j, "content");
		if (m->role == MSG_USER)
			put_user(j, m, at, marks);
		else
			put_assistant(j, m);
		ak_json_arr_end(j);
	}
	ak_json_obj_end(j);
}

static void put_tools(struct ak_json *j, const struct provider_req *rq, const struct tool_def **tools, bool mark)
{
	if (!tools)
		return;
	ak_json_arr(j, "tools");
	for (size_t i = 0; i < rq->ntools; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "name", tools[i]->name);
		ak_json_str(j, "description", tools[i]->description);
		ak_json_raw(j, "input_schema", tools[i]->schema, strlen(tools[i]->schema));
		if (mark && i + 1 == rq->ntools)
			put_mark(j);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_output(struct ak_json *j, const struct provider_req *rq)
{
	if (!rq->effort && !rq->schema)
		return;
	ak_json_obj(j, "output_config");
	if (rq->effort)
		ak_json_str(j, "effort", rq->effort);
	if (rq->schema) {
		ak_json_obj(j, "format");
		ak_json_str(j, "type", "json_schema");
		ak_json_raw(j, "schema", rq->schema, strlen(rq->schema));
		ak_json_obj_end(j);
	}
	ak_json_obj_end(j);
}

int anthropic_build(const struct provider_req *rq, struct ak_buf *out, struct ak_err *err)
{
	const struct tool_def **tools = NULL;
	bool system = rq->system && *rq->system;
	bool cache = !(rq->quirks & QUIRK_NO_CACHE_CONTROL);
	struct marks marks;
	struct ak_json j;
	int rc = build_check(rq, err);

	if (rc == 0)
		rc = build_tool_order(rq, &tools, err);
	if (rc < 0)
		return rc;
	find_marks(rq, &marks);
	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "model", rq->model);
	put_tools(&j, rq, tools, cache && !system);
	free(tools);
	if (system) {
		ak_json_arr(&j, "system");
		put_text(&j, rq->system, strlen(rq->system), cache);
		ak_json_arr_end(&j);
	}
	ak_json_arr(&j, "messages");
	for (size_t i = 0; i < rq->nmsgs; i++)
		put_message(&j, &rq->msgs[i], i, &marks);
	ak_json_arr_end(&j);
	ak_json_u64(&j, "max_tokens", rq->max_tokens);
	put_output(&j, rq);
	if (rq->stream)
		ak_json_bool(&j, "stream", true);
	ak_json_obj_end(&j);
	return build_end(out, err);
}
