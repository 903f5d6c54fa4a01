/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenAI Responses, requests: stateless, the whole conversation each time, nothing stored at the provider. Pure. Process:
 * agent. Privilege: none.
 * Source: https://platform.openai.com/docs/api-reference/responses/create
 */
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/build_int.h"
#include "agent/provider/responses.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

/* strict is said to be false: it is true where it is not said, and wants schemas of a special form */
static void put_tools(struct ak_json *j, const struct provider_req *rq, const struct tool_def **tools)
{
	if (!tools)
		return;
	ak_json_arr(j, "tools");
	for (size_t i = 0; i < rq->ntools; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "function");
		ak_json_str(j, "name", tools[i]->name);
		ak_json_str(j, "description", tools[i]->description);
		ak_json_raw(j, "parameters", tools[i]->schema, strlen(tools[i]->schema));
		ak_json_bool(j, "strict", false);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_user(struct ak_json *j, const struct msg *m)
{
	for (size_t i = 0; i < m->nresults; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "function_call_output");
		ak_json_str(j, "call_id", m->results[i].call_id);
		build_text(j, "output", m->results[i].text, m->results[i].text_len);
		ak_json_obj_end(j);
	}
	if (!build_has_text(m) && m->nimages == 0)
		return;
	ak_json_obj(j, NULL);
	ak_json_str(j, "role", "user");
	ak_json_arr(j, "content");
	if (build_has_text(m)) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "input_text");
		build_text(j, "text", m->text, m->text_len);
		ak_json_obj_end(j);
	}
	for (size_t i = 0; i < m->nimages; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "input_image");
		build_data_url(j, "image_url", &m->images[i]);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
	ak_json_obj_end(j);
}

/* A turn of another wire format, from what is known of it */
static void put_known(struct ak_json *j, const struct msg *m)
{
	if (build_has_text(m)) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "message");
		ak_json_str(j, "role", "assistant");
		ak_json_arr(j, "content");
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "output_text");
		build_text(j, "text", m->text, m->text_len);
		ak_json_obj_end(j);
		ak_json_arr_end(j);
		ak_json_obj_end(j);
	}
	for (size_t i = 0; i < m->ncalls; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", "function_call");
		ak_json_str(j, "call_id", m->calls[i].id);
		ak_json_str(j, "name", m->calls[i].name);
		ak_json_strn(j, "arguments", m->calls[i].args, m->calls[i].args_len);
		ak_json_obj_end(j);
	}
}

static void put_input(struct ak_json *j, const struct provider_req *rq)
{
	ak_json_arr(j, "input");
	for (size_t i = 0; i < rq->nmsgs; i++) {
		const struct msg *m = &rq->msgs[i];

		if (m->role == MSG_USER)
			put_user(j, m);
		else if (m->raw && m->raw_api == WIRE_RESPONSES && m->raw_len > 2)
			ak_json_raw(j, NULL, m->raw + 1, m->raw_len - 2); /* the items of the array, as they came */
		else
			put_known(j, m);
	}
	ak_json_arr_end(j);
}

static void put_options(struct ak_json *j, const struct provider_req *rq)
{
	ak_json_bool(j, "store", false);
	if (!(rq->quirks & QUIRK_NO_ENCRYPTED)) {
		ak_json_arr(j, "include");
		ak_json_str(j, NULL, "reasoning.encrypted_content");
		ak_json_arr_end(j);
	}
	if (rq->effort) {
		ak_json_obj(j, "reasoning");
		ak_json_str(j, "effort", rq->effort);
		ak_json_obj_end(j);
	}
	if (rq->schema) {
		ak_json_obj(j, "text");
		ak_json_obj(j, "format");
		ak_json_str(j, "type", "json_schema");
		ak_json_str(j, "name", "result");
		ak_json_raw(j, "schema", rq->schema, strlen(rq->schema));
		ak_json_bool(j, "strict", false);
		ak_json_obj_end(j);
		ak_json_obj_end(j);
	}
	ak_json_u64(j, "max_output_tokens", rq->max_tokens);
	if (rq->cache_key && !(rq->quirks & QUIRK_NO_CACHE_KEY))
		ak_json_str(j, "prompt_cache_key", rq->cache_key);
	if (rq->stream)
		ak_json_bool(j, "stream", true);
}

int responses_build(const struct provider_req *rq, struct ak_buf *out, struct ak_err *err)
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
	if (rq->system && *rq->system)
		build_text(&j, "instructions", rq->system, strlen(rq->system));
	put_input(&j, rq);
	put_options(&j, rq);
	ak_json_obj_end(&j);
	return build_end(out, err);
}
