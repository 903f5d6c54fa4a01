/* SPDX-License-Identifier: Apache-2.0 */
/* Providers of config files. Pure. Process: agent. Privilege: none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/provider/registry.h"
#include "executor/shared/ak_err.h"

/* a known one keeps its variables, and what is known of it */
static struct provider_own *make(const char *name)
{
	const struct provider_info *known = provider_info_find(name);
	struct provider_own *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	memcpy(o->name, name, strlen(name) + 1);
	ak_cfg_provider_variable(name, "_BASE_URL", o->base_env);
	ak_cfg_provider_variable(name, "_API_KEY", o->key_env);
	o->keys[0] = (struct key_var){ o->key_env, KEY_API };
	/* whether a new one wants a key is not known: many servers of one's own want none */
	o->info = known ? *known : (struct provider_info){ .name = o->name, .base_env = o->base_env, .api = WIRE_CHAT, .keys = o->keys };
	return o;
}

static int at(struct providers *p, const char *name, struct provider_own **ret, struct ak_err *err)
{
	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->v[i]->name, name) == 0) {
			*ret = p->v[i];
			return 0;
		}
	}
	if (p->n == PROVIDERS_OWN_MAX)
		return ak_err_set(err, E2BIG, "more than %u providers", PROVIDERS_OWN_MAX);
	*ret = make(name);
	if (!*ret)
		return ak_err_set(err, ENOMEM, "no memory for a provider");
	p->v[p->n++] = *ret;
	return 0;
}

int providers_add(struct providers *p, const char *text, const char *place, struct ak_err *err)
{
	char name[AK_CFG_PROVIDER_NAME_MAX + 1];
	enum ak_cfg_provider_field field;
	const char *value = ak_cfg_provider_split(text, name, &field);
	struct provider_own *o = NULL;
	int rc = value ? at(p, name, &o, err) : ak_err_set(err, EINVAL, "\"%.60s\" is nothing that can be said of a provider", text);

	if (rc < 0 || !o)
		return rc;
	o->place = o->place ? o->place : place;
	switch (field) {
	case AK_CFG_PROVIDER_BASE_URL:
		o->info.base_url = value;
		o->base_place = place;
		return 0;
	case AK_CFG_PROVIDER_KEY_FILE:
		o->key_file = value;
		o->key_place = place;
		return 0;
	default:
		o->info.api = wire_api_parse(value);
		o->api_said = true;
		if (o->info.api == WIRE_NONE || o->info.api == WIRE_REPLAY)
			return ak_err_set(err, EINVAL, "%s.api: \"%.60s\" is not anthropic, chat or responses", name, value);
		return 0;
	}
}

void providers_release(struct providers *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i]);
	*p = (struct providers){ 0 };
}
