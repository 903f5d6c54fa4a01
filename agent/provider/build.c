/* SPDX-License-Identifier: Apache-2.0 */
/* Request builders: what the three formats share. Pure: equal requests give equal bytes. Process: agent. Privilege: none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/provider/build_int.h"
#include "executor/shared/ak_err.h"

static bool tool_name_ok(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

	return n > 0 && n <= TOOL_NAME_MAX && name[n] == '\0';
}

int build_check(const struct provider_req *rq, struct ak_err *err)
{
	if (!rq->model || !*rq->model)
		return ak_err_set(err, EINVAL, "no model given");
	if (rq->max_tokens == 0)
		return ak_err_set(err, EINVAL, "a reply of 0 tokens cannot be asked for");
	if (rq->nmsgs == 0)
		return ak_err_set(err, EINVAL, "there is no message to send");
	for (size_t i = 0; i < rq->ntools; i++)
		if (!tool_name_ok(rq->tools[i].name))
			return ak_err_set(err, EINVAL, "\"%s\" cannot be the name of a tool", rq->tools[i].name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct tool_def *const *x = a;
	const struct tool_def *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

int build_tool_order(const struct provider_req *rq, const struct tool_def ***ret, struct ak_err *err)
{
	const struct tool_def **v = rq->ntools ? calloc(rq->ntools, sizeof(const struct tool_def *)) : NULL;

	if (rq->ntools && !v)
		return ak_err_set(err, ENOMEM, "no memory for the request");
	for (size_t i = 0; i < rq->ntools; i++)
		v[i] = &rq->tools[i];
	if (v)
		qsort(v, rq->ntools, sizeof(const struct tool_def *), by_name);
	for (size_t i = 1; i < rq->ntools; i++) {
		if (strcmp(v[i - 1]->name, v[i]->name) == 0) {
			(void)ak_err_set(err, EINVAL, "two tools are called \"%s\"", v[i]->name);
			free(v);
			return -EINVAL;
		}
	}
	*ret = v;
	return 0;
}

void build_text(struct ak_json *j, const char *key, const char *text, size_t n)
{
	struct cJSON *s;

	if (n == 0 || !memchr(text, '\0', n)) {
		ak_json_strn(j, key, text, n);
		return;
	}
	s = json_new_str(text, n);
	j->out->failed |= !s;
	json_put(j, key, s);
	json_free(s);
}

void build_data_url(struct ak_json *j, const char *key, const struct msg_image *image)
{
	struct ak_span v[] = {
		{ "data:", 5 },
		{ image->media_type, strlen(image->media_type) },
		{ ";base64,", 8 },
		{ image->base64, strlen(image->base64) },
	};

	ak_json_strv(j, key, v, sizeof(v) / sizeof(v[0]));
}

bool build_has_text(const struct msg *m)
{
	return m->text && !acc_blank(m->text, m->text_len);
}

int build_end(const struct ak_buf *out, struct ak_err *err)
{
	return out->failed ? ak_err_set(err, ENOMEM, "the request is too large for the memory there is") : 0;
}
