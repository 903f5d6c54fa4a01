/* SPDX-License-Identifier: Apache-2.0 */
/* The model of a session that goes on. Pure. Process: agent. Privilege: none. */
#include "agent/session_model.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/provider/registry.h"
#include "agent/transcript.h"
#include "executor/shared/ak_err.h"

static bool is_replay(const char *api)
{
	return api && wire_api_parse(api) == WIRE_REPLAY;
}

int session_model_wish(const struct transcript_head *h, struct provider_wish *w, struct ak_err *err)
{
	bool replay = is_replay(h->api);

	if (w->model || !h->provider || (w->api && is_replay(w->api) != replay) || (w->base_url && replay))
		return 0;
	if (!w->base_url && h->base_url && !*h->base_url) {
		(void)ak_err_set(err, EINVAL, "its --base-url has a part behind \"?\", which is not kept");
		ak_err_hint(err, "give --base-url again, or another model with --model PROVIDER/MODEL");
		return -EINVAL;
	}
	w->model = h->model;
	if (w->base_url)
		return 1;
	w->base_url = h->base_url;
	w->provider = h->base_url || replay ? NULL : h->provider;
	w->api = w->api ? w->api : h->api;
	return 1;
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool copy(const char *text, char **ret)
{
	*ret = text ? strdup(text) : NULL;
	return !text || *ret;
}

int session_model_keep(struct transcript_head *h, const struct provider_wish *w, const struct provider_target *t)
{
	const char *url = w->base_url && strchr(w->base_url, '?') ? "" : w->base_url;
	struct transcript_head now = { 0 };

	if (same(h->model, t->model) && same(h->provider, t->name) && same(h->api, w->api) && same(h->base_url, url))
		return 0;
	if (!copy(t->model, &now.model) || !copy(t->name, &now.provider) || !copy(w->api, &now.api) || !copy(url, &now.base_url)) {
		transcript_head_release(&now);
		return -ENOMEM;
	}
	transcript_head_used(h, &now);
	return 1;
}
