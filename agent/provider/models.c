/* SPDX-License-Identifier: Apache-2.0 */
/* What a provider offers: its list of models. Process: agent. Privilege: none. */
#include "agent/provider/models.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/http.h"
#include "agent/json.h"
#include "agent/provider/call_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

void models_release(struct models *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].id);
	free(m->v);
	*m = (struct models){ 0 };
}

/* The first of some members that is a count above 0 */
static uint64_t first_count(const struct cJSON *row, const char *const *paths)
{
	uint64_t v;

	for (; *paths; paths++)
		if (json_need_u64(row, *paths, &v, NULL) == 0 && v > 0)
			return v;
	return 0;
}

static void read_model(const struct cJSON *row, const char *id, struct model *m)
{
	static const char *const contexts[] = { "max_input_tokens", "context_length", "max_model_len", "meta.n_ctx",
						"meta.n_ctx_train", "context_window", "inputTokenLimit", NULL };
	static const char *const outputs[] = { "max_tokens", "top_provider.max_completion_tokens", "max_completion_tokens",
					       "outputTokenLimit", NULL };

	*m = (struct model){
		.id = strdup(id),
		.context = first_count(row, contexts),
		.max_output = first_count(row, outputs),
	};
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct model *)a)->id, ((const struct model *)b)->id);
}

static int read_list(const struct cJSON *list, struct models *m, struct ak_err *err)
{
	size_t n = json_count(list);

	if (n > MODELS_MAX)
		return ak_err_set(err, E2BIG, "over %u models", MODELS_MAX);
	m->v = calloc(n ? n : 1, sizeof(*m->v));
	if (!m->v)
		return ak_err_set(err, ENOMEM, "no memory for the list of models");
	for (const struct cJSON *row = json_first(list); row; row = json_next(row)) {
		const char *id = json_str(json_get(row, "id"));

		if (!id)
			return ak_err_set(err, EBADMSG, "a model without an id");
		read_model(row, id, &m->v[m->n]);
		if (!m->v[m->n++].id) {
			m->n--;
			return ak_err_set(err, ENOMEM, "no memory for the list of models");
		}
	}
	if (m->n > 1)
		qsort(m->v, m->n, sizeof(*m->v), by_id);
	return 0;
}

int models_parse(const char *text, size_t len, struct models *ret, struct ak_err *err)
{
	struct models m = { 0 };
	struct cJSON *doc = NULL;
	const struct cJSON *list;
	int rc = json_parse(text, len, JSON_REPAIR, NULL, &doc, err);

	if (rc < 0)
		return rc == -ENOMEM ? rc : -EBADMSG;
	list = json_kind(doc) == JSON_ARRAY ? doc : json_get(doc, "data");
	if (json_kind(list) == JSON_ARRAY)
		rc = read_list(list, &m, err);
	else
		rc = ak_err_set(err, EBADMSG, "not a list of models");
	json_free(doc);
	if (rc < 0) {
		models_release(&m);
		return rc;
	}
	*ret = m;
	return 0;
}

static int failed(const struct provider *p, const struct provider_fault *f, const char *why, enum fault *ret_fault,
		  struct ak_err *err)
{
	*ret_fault = f->fault;
	attempt_final(p, f, why, err);
	return -EIO;
}

static int take(struct provider *p, enum http_end end, const struct http_reply *reply, const struct ak_err *why,
		struct models *ret, enum fault *ret_fault, struct ak_err *err)
{
	struct provider_fault f = { .fault = fault_of_end(end), .status = reply->status };
	const char *body = reply->body.data ? reply->body.data : "";
	char excerpt[HTTP_EXCERPT_MAX];
	struct ak_err line = { 0 };
	struct ak_err bad = { 0 };

	if (end != HTTP_DONE)
		return failed(p, &f, why->msg, ret_fault, err);
	if (reply->status < 200 || reply->status > 299) {
		provider_fault_body(reply->status, body, reply->body.len, &f);
		(void)ak_err_set(&line, EIO, "HTTP %d%s%s", reply->status, *f.message ? ": " : "", f.message);
		return failed(p, &f, line.msg, ret_fault, err);
	}
	if (models_parse(body, reply->body.len, ret, &bad) == 0)
		return 0;
	f.fault = FAULT_PROTOCOL;
	http_excerpt(body, reply->body.len, excerpt);
	(void)ak_err_set(&line, EIO, "HTTP %d, but %s%s%s", reply->status, reply->body.len ? bad.msg : "an empty answer",
			 *excerpt ? ": " : "", excerpt);
	return failed(p, &f, line.msg, ret_fault, err);
}

int models_fetch(struct provider *p, struct models *ret, enum fault *ret_fault, struct ak_err *err)
{
	struct http_header headers[PROVIDER_HEADERS_MAX];
	char key_text[PROVIDER_KEY_TEXT];
	struct http_reply reply = { 0 };
	struct ak_err why = { 0 };
	char *url = provider_url(p, p->target.api == WIRE_ANTHROPIC ? "/v1/models?limit=1000" : "/models");
	int rc;

	if (!url) {
		*ret_fault = FAULT_INTERNAL;
		return ak_err_set(err, ENOMEM, "no memory for the request");
	}

	struct http_request rq = {
		.method = "GET",
		.url = url,
		.headers = headers,
		.nheaders = provider_headers(p, false, key_text, headers),
		.plain_ok = p->plain_ok,
		.ca_file = p->ca_file,
		.cancel_fd = p->cancel_fd,
		.connect_ms = p->connect_ms,
		.head_ms = p->head_ms,
		.idle_ms = p->idle_ms,
	};
	enum http_end end = http_do(p->http, &rq, &reply, &why);

	explicit_bzero(key_text, sizeof(key_text));
	rc = take(p, end, &reply, &why, ret, ret_fault, err);
	http_reply_release(&reply);
	free(url);
	return rc;
}
