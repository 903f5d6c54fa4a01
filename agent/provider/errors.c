/* SPDX-License-Identifier: Apache-2.0 */
/* Error objects of model servers, in the many forms they come in. Pure. Process: agent. Privilege: none. */
#include <stdio.h>
#include <string.h>

#include "agent/http.h"
#include "agent/json.h"
#include "agent/provider/provider.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

/* One line, cut at the edge of a character, nothing a terminal would act on */
static void put_line(char *buf, size_t size, const char *text)
{
	size_t n = strnlen(text, size - 1);

	memcpy(buf, text, n);
	buf[n - ak_utf8_partial(buf, n)] = '\0';
	for (char *p = buf; *p; p++)
		if (*p == '\n' || *p == '\r' || *p == '\t')
			*p = ' ';
	ak_text_clean(buf);
}

/* Codes are strings or numbers ("code": 502 is OpenRouter's) */
static const char *word(const struct cJSON *obj, const char *name)
{
	const struct cJSON *v = json_get(obj, name);
	const char *s = json_str(v) ? json_str(v) : json_num(v);

	return s ? s : "";
}

static int status_in(const struct cJSON *obj)
{
	uint64_t code;

	if (json_need_u64(obj, "code", &code, NULL) < 0 && json_need_u64(obj, "status", &code, NULL) < 0)
		return 0;
	return code >= 400 && code < 600 ? (int)code : 0;
}

/* OpenRouter puts what the model's own provider said into metadata.raw, which says more than "Provider returned error" */
static const char *message_of(const struct cJSON *obj)
{
	const char *raw = json_str(json_at(obj, "metadata.raw"));
	const char *m = json_str(json_get(obj, "message"));

	if (raw && *raw && m && strcmp(m, "Provider returned error") == 0)
		return raw;
	if (m)
		return m;
	m = json_str(json_get(obj, "detail"));
	if (!m)
		m = json_str(json_at(json_first(json_get(obj, "detail")), "msg")); /* FastAPI's list */
	if (!m)
		m = json_str(json_get(obj, "error"));
	return m ? m : "";
}

/* The more telling of the two: codes are finer than types, but for numbers and for Anthropic's error_code beside its type */
static void choose_type(const struct cJSON *obj, struct provider_fault *ret)
{
	const char *code = json_str(json_at(obj, "details.error_code"));
	const char *type = word(obj, "type");

	if (!code)
		code = json_str(json_get(obj, "code"));
	if (!code || !*code)
		code = strcmp(type, "error") != 0 && *type ? type : word(obj, "status");
	put_line(ret->type, sizeof(ret->type), *code ? code : word(obj, "code"));
}

static enum fault judge(int status, const struct cJSON *obj, const struct provider_fault *f)
{
	const char *type = json_str(json_get(obj, "type"));
	int inner = status_in(obj);
	enum fault fault;

	if (status != 200)
		return fault_of_status(status, f->type, f->message);
	if (inner > 0)
		return fault_of_status(inner, f->type, f->message);
	fault = fault_of_stream(f->type, f->message);
	/* a code nobody knows beside a type that is known: the type decides */
	if (fault == FAULT_SERVER && type && strcmp(type, f->type) != 0 && strcmp(type, "error") != 0)
		fault = fault_of_stream(type, f->message);
	return fault;
}

void provider_fault_obj(int status, const struct cJSON *obj, struct provider_fault *ret)
{
	const struct cJSON *inner = json_get(obj, "error");
	const char *id = json_str(json_get(obj, "request_id"));

	if (json_kind(inner) == JSON_OBJECT)
		obj = inner;
	*ret = (struct provider_fault){ .status = status };
	choose_type(obj, ret);
	put_line(ret->message, sizeof(ret->message), message_of(obj));
	if (id)
		put_line(ret->request_id, sizeof(ret->request_id), id);
	(void)json_opt_u64(obj, "n_ctx", &ret->context, NULL);
	ret->fault = judge(status, obj, ret);
}

void provider_fault_body(int status, const char *body, size_t len, struct provider_fault *ret)
{
	struct cJSON *doc = NULL;
	const struct cJSON *obj;

	if (json_parse(body, len, JSON_REPAIR, NULL, &doc, NULL) == 0) {
		obj = json_kind(doc) == JSON_ARRAY ? json_first(doc) : doc; /* Gemini's endpoint: [{"error":{..}}] */
		if (json_kind(obj) == JSON_OBJECT) {
			provider_fault_obj(status, obj, ret);
			json_free(doc);
			return;
		}
	}
	json_free(doc);

	char excerpt[HTTP_EXCERPT_MAX];

	http_excerpt(body, len, excerpt);
	*ret = (struct provider_fault){ .status = status };
	put_line(ret->message, sizeof(ret->message), excerpt);
	ret->fault = fault_of_status(status, "", ret->message);
}
