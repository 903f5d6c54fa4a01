/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAI Chat Completions and its many servers, requests. Pure. Process: agent. Privilege: none.
 * As few fields as will do: strict servers refuse what they do not know. Tools, then the system message, come first.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/build_int.h"
#include "agent/provider/chat.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

/* Members of an assistant message that a server may refuse; see QUIRK_NO_REASONING_ECHO */
static const char *const reasoning_members[] = { "reasoning", "reasoning_content", "reasoning_details" };

static void put_tools(struct ak_json *j, const struct provider_req *rq, const struct tool_def **tools)
{
	if (!tools)
		return;
	ak_json_arr(j, "tools");
	for (size_t i = 0; i < rq->ntools; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "function");
		ak_json_obj(j, "function");
		ak_json_str(j, "name", tools[i]->name);
		ak_json_str(j, "description", tools[i]->description);
		ak_json_raw(j, "parameters", tools[i]->schema, strlen(tools[i]->schema));
		ak_json_obj_end(j);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_parts(struct ak_json *j, const struct msg *m)
{
	ak_json_arr(j, "content");
	if (build_has_text(m)) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "text");
		build_text(j, "text", m->text, m->text_len);
		ak_json_obj_end(j);
	}
	for (size_t i = 0; i < m->nimages; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "image_url");
		ak_json_obj(j, "image_url");
		build_data_url(j, "url", &m->images[i]);
		ak_json_obj_end(j);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

/* One message for each result, directly behind the calls; text and images follow as a message of the user's */
static void put_user(struct ak_json *j, const struct msg *m)
{
	for (size_t i = 0; i < m->nresults; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "role", "tool");
		ak_json_str(j, "tool_call_id", m->results[i].call_id);
		build_text(j, "content", m->results[i].text, m->results[i].text_len);
		ak_json_obj_end(j);
	}
	if (!build_has_text(m) && m->nimages == 0)
		return;
	ak_json_obj(j, NULL);
	ak_json_str(j, "role", "user");
	if (m->nimages > 0)
		put_parts(j, m);
	else
		build_text(j, "content", m->text, m->text_len);
	ak_json_obj_end(j);
}

/* A turn of another wire format, from what is known of it */
static void put_known(struct ak_json *j, const struct msg *m)
{
	if (!build_has_text(m) && m->ncalls == 0)
		return;
	ak_json_obj(j, NULL);
	ak_json_str(j, "role", "assistant");
	if (build_has_text(m))
		build_text(j, "content", m->text, m->text_len);
	else
		ak_json_null(j, "content");
	if (m->ncalls > 0) {
		ak_json_arr(j, "tool_calls");
		for (size_t i = 0; i < m->ncalls; i++) {
			ak_json_obj(j, NULL);
			ak_json_str(j, "id", m->calls[i].id);
			ak_json_str(j, "type", "function");
			ak_json_obj(j, "function");
			ak_json_str(j, "name", m->calls[i].name);
			ak_json_strn(j, "arguments", m->calls[i].args, m->calls[i].args_len);
			ak_json_obj_end(j);
			ak_json_obj_end(j);
		}
		ak_json_arr_end(j);
	}
	ak_json_obj_end(j);
}

static void put_without_reasoning(struct ak_json *j, const struct msg *m)
{
	struct cJSON *doc = NULL;

	if (json_parse(m->raw, m->raw_len, JSON_REPAIR, NULL, &doc, NULL) < 0) {
		put_known(j, m);
		return;
	}
	for (size_t i = 0; i < sizeof(reasoning_members) / sizeof(reasoning_members[0]); i++)
		json_drop(doc, reasoning_members[i]);
	json_put(j, NULL, doc);
	json_free(doc);
}

/* A turn without text and calls has nothing to say; some servers refuse it */
static void put_assistant(struct ak_json *j, const struct msg *m, unsigned quirks)
{
	if (!m->raw || m->raw_api != WIRE_CHAT)
		put_known(j, m);
	else if (!m->text && m->ncalls == 0)
		return;
	else if (quirks & QUIRK_NO_REASONING_ECHO)
		put_without_reasoning(j, m);
	else
		ak_json_raw(j, NULL, m->raw, m->raw_len);
}

static void put_messages(struct ak_json *j, const struct provider_req *rq)
{
	ak_json_arr(j, "messages");
	if (rq->system && *rq->system) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "role", "system");
		build_text(j, "content", rq->system, strlen(rq->system));
		ak_json_obj_end(j);
	}
	for (size_t i = 0; i < rq->nmsgs; i++) {
		if (rq->msgs[i].role == MSG_USER)
			put_user(j, &rq->msgs[i]);
		else
			put_assistant(j, &rq->msgs[i], rq->quirks);
	}
	ak_json_arr_end(j);
}

static void put_options(struct ak_json *j, const struct provider_req *rq)
{
	ak_json_u64(j, rq->quirks & QUIRK_MAX_COMPLETION ? "max_completion_tokens" : "max_tokens", rq->max_tokens);
	if (rq->effort)
		ak_json_str(j, "reasoning_effort", rq->effort);
	if (rq->schema) {
		ak_json_obj(j, "response_format");
		ak_json_str(j, "type", "json_schema");
		ak_json_obj(j, "json_schema");
		ak_json_str(j, "name", "result");
		ak_json_raw(j, "schema", rq->schema, strlen(rq->schema));
		ak_json_obj_end(j);
		ak_json_obj_end(j);
	}
	if (!rq->stream)
		return;
	ak_json_bool(j, "stream", true);
	if (rq->quirks & QUIRK_NO_STREAM_OPTIONS)
		return;
	ak_json_obj(j, "stream_options");
	ak_json_bool(j, "include_usage", true);
	ak_json_obj_end(j);
}

int chat_build(const struct provider_req *rq, struct ak_buf *out, struct ak_err *err)
{
	const struct tool_def **tools = NULL;
	struct ak_json j;
	int rc = build_check(rq, err);

	if (rc == 0)
		rc = build_tool_order(rq, &tools, err);
	if (rc < 0)
		return rc;
	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "model", rq->model);
	put_tools(&j, rq, tools);
	free(tools);
	put_messages(&j, rq);
	put_options(&j, rq);
	ak_json_obj_end(&j);
	return build_end(out, err);
}
