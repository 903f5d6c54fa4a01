/* SPDX-License-Identifier: Apache-2.0 */
/* Which providers there are, and which one a model's name means. Pure. Process: agent. Privilege: none. */
#include "agent/provider/registry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/env.h"
#include "executor/shared/ak_err.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct key_var anthropic_keys[] = {
	{ "ANTHROPIC_API_KEY", KEY_API }, { "ANTHROPIC_AUTH_TOKEN", KEY_BEARER }, { NULL, KEY_API }
};
static const struct key_var openai_keys[] = { { "OPENAI_API_KEY", KEY_API }, { NULL, KEY_API } };
static const struct key_var openrouter_keys[] = { { "OPENROUTER_API_KEY", KEY_API }, { NULL, KEY_API } };
static const struct key_var deepseek_keys[] = { { "DEEPSEEK_API_KEY", KEY_API }, { NULL, KEY_API } };
static const struct key_var gemini_keys[] = { { "GEMINI_API_KEY", KEY_API }, { NULL, KEY_API } };
static const struct key_var ollama_keys[] = { { "OLLAMA_API_KEY", KEY_API }, { NULL, KEY_API } };

static const struct provider_info infos[] = {
	{ "anthropic", "https://api.anthropic.com", "ANTHROPIC_BASE_URL", WIRE_ANTHROPIC, anthropic_keys, true },
	{ "openai", "https://api.openai.com/v1", "OPENAI_BASE_URL", WIRE_RESPONSES, openai_keys, true },
	{ "openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_BASE_URL", WIRE_CHAT, openrouter_keys, true },
	{ "deepseek", "https://api.deepseek.com", "DEEPSEEK_BASE_URL", WIRE_CHAT, deepseek_keys, true },
	{ "gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_BASE_URL", WIRE_CHAT, gemini_keys,
	  true },
	/* no key of its own; a proxy in front of it may want one */
	{ "ollama", "http://127.0.0.1:11434/v1", "OLLAMA_BASE_URL", WIRE_CHAT, ollama_keys, false },
};

/* Beginnings of names that one provider alone gives */
static const struct {
	const char *head;
	const char *provider;
} families[] = {
	{ "claude-", "anthropic" }, { "gpt-", "openai" },	 { "chatgpt-", "openai" }, { "o1", "openai" },
	{ "o3", "openai" },	    { "o4", "openai" },	 { "codex-", "openai" },   { "gemini-", "gemini" },
	{ "deepseek-", "deepseek" },
};

const struct provider_info *provider_info_next(const struct provider_info *prev)
{
	const struct provider_info *next = prev ? prev + 1 : infos;

	return next < infos + LEN(infos) ? next : NULL;
}

static const struct provider_info *find(const char *name, size_t len)
{
	for (size_t i = 0; i < LEN(infos); i++)
		if (strncmp(infos[i].name, name, len) == 0 && infos[i].name[len] == '\0')
			return &infos[i];
	return NULL;
}

const struct provider_info *provider_info_find(const char *name)
{
	return find(name, strlen(name));
}

static const struct provider_info *of_family(const char *model)
{
	for (size_t i = 0; i < LEN(families); i++)
		if (strncmp(model, families[i].head, strlen(families[i].head)) == 0)
			return provider_info_find(families[i].provider);
	return NULL;
}

/* Host of a URL, as far as it has one; http_check_url() is what judges it */
static const char *host_of(const char *url, size_t *len)
{
	const char *from = url ? url : "";
	const char *p = strstr(from, "://");

	p = p ? p + 3 : from;
	*len = strcspn(p, "/?#");
	return p;
}

static bool host_is(const char *url, const char *host)
{
	size_t len;
	const char *p = host_of(url, &len);

	return len == strlen(host) && strncasecmp(p, host, len) == 0;
}

static const struct provider_own *find_own(const struct providers *p, const char *name, size_t len)
{
	for (size_t i = 0; p && i < p->n; i++)
		if (strncmp(p->v[i]->name, name, len) == 0 && p->v[i]->name[len] == '\0')
			return p->v[i];
	return NULL;
}

const struct provider_own *providers_find(const struct providers *p, const char *name)
{
	return find_own(p, name, strlen(name));
}

/* of files, or known */
static const struct provider_info *place_named(const struct provider_wish *w, const char *name, size_t len)
{
	const struct provider_own *own = find_own(w->own, name, len);

	return own ? &own->info : find(name, len);
}

static enum wire_api default_api(const struct provider_info *info, const char *url)
{
	if (host_is(url, "api.anthropic.com"))
		return WIRE_ANTHROPIC;
	if (host_is(url, "api.openai.com"))
		return WIRE_RESPONSES;
	return info && info->api == WIRE_ANTHROPIC ? WIRE_ANTHROPIC : WIRE_CHAT;
}

static char *without_slashes(const char *url)
{
	size_t n = strlen(url);

	while (n > 0 && url[n - 1] == '/')
		n--;
	return strndup(url, n);
}

static int check_wish(const struct provider_wish *w, enum wire_api *ret_api, struct ak_err *err)
{
	*ret_api = w->api ? wire_api_parse(w->api) : WIRE_NONE;
	if (w->api && *ret_api == WIRE_NONE)
		return ak_err_set(err, EINVAL, "--api: \"%s\" is not anthropic, chat, responses or replay", w->api);
	if (w->base_url && !*w->base_url)
		return ak_err_set(err, EINVAL, "--base-url: empty");
	if (*ret_api == WIRE_REPLAY)
		return 0;
	if (!w->model || !*w->model) {
		(void)ak_err_set(err, EINVAL, "no model given");
		ak_err_hint(err, "name one with --model PROVIDER/MODEL, such as --model anthropic/claude-sonnet-5-5");
		return -EINVAL;
	}
	return 0;
}

static int place_said(const struct provider_wish *w, const struct provider_info **ret, struct ak_err *err)
{
	*ret = place_named(w, w->provider, strlen(w->provider));
	if (*ret)
		return 0;
	(void)ak_err_set(err, EINVAL, "there is no provider \"%s\"", w->provider);
	ak_err_hint(err, "name another model with --model PROVIDER/MODEL, or give providers.%s.base_url in your config file", w->provider);
	return -EINVAL;
}

/* The provider's own base, or the one its variable names. *@model loses the provider's segment. */
static int place_known(const struct provider_wish *w, const char **model, enum wire_api api, const struct provider_info **ret,
		       struct ak_err *err)
{
	const char *slash = w->provider ? NULL : strchr(*model, '/');
	const struct provider_info *info = slash ? place_named(w, *model, (size_t)(slash - *model)) : NULL;

	if (w->provider)
		return place_said(w, ret, err);
	if (info)
		*model = slash + 1;
	else if (api == WIRE_ANTHROPIC)
		info = provider_info_find("anthropic");
	else
		info = of_family(*model);
	if (!info) {
		(void)ak_err_set(err, EINVAL, "--model: \"%s\" names no provider", *model);
		ak_err_hint(err, "write PROVIDER/%s with anthropic, openai, openrouter, deepseek, gemini, ollama or one of your config "
				 "file's providers, or give --base-url", *model);
		return -EINVAL;
	}
	info = place_named(w, info->name, strlen(info->name));
	if (!**model)
		return ak_err_set(err, EINVAL, "--model: no model behind \"%s/\"", info->name);
	*ret = info;
	return 0;
}

static int fill(struct provider_target *t, const char *name, size_t name_len, const char *model, const char *url,
		struct ak_err *err)
{
	t->name = strndup(name, name_len);
	t->model = strdup(model);
	t->base_url = without_slashes(url);
	if (t->name && t->model && t->base_url)
		return 0;
	provider_target_release(t);
	return ak_err_set(err, ENOMEM, "no memory");
}

/* where the provider is asked, and how: its variable, its file, its own base */
static int place_base(const struct provider_wish *w, char *const env[], struct provider_target *t, const char **ret, struct ak_err *err)
{
	const char *url = env_get(env, t->info->base_env);
	bool said = url && *url;

	t->own = providers_find(w->own, t->info->name);
	t->base_place = !said && t->own ? t->own->base_place : NULL;
	t->custom = said || t->base_place;
	url = said ? url : t->info->base_url;
	if (!url && t->own) {
		(void)ak_err_set(err, EINVAL, "%s.%s: it has no base_url, and nobody knows where it is", t->own->place, t->info->name);
		ak_err_hint(err, "give providers.%s.base_url there, or set %s", t->info->name, t->info->base_env);
		return -EINVAL;
	}
	if (t->api == WIRE_NONE)
		t->api = t->own && t->own->api_said ? t->info->api : default_api(t->info, url);
	*ret = url;
	return 0;
}

int provider_resolve(const struct provider_wish *w, char *const env[], struct provider_target *ret, struct ak_err *err)
{
	struct provider_target t = { 0 };
	const char *model = w->model;
	const char *url = w->base_url;
	const char *name;
	size_t name_len;
	int rc = check_wish(w, &t.api, err);

	if (rc < 0)
		return rc;
	if (t.api == WIRE_REPLAY) {
		rc = fill(&t, "replay", 6, model && *model ? model : "replay", "replay", err);
		if (rc == 0)
			*ret = t;
		return rc;
	}
	if (url) {
		name = host_of(url, &name_len);
		t.api = t.api != WIRE_NONE ? t.api : default_api(NULL, url);
		t.info = provider_info_find(t.api == WIRE_ANTHROPIC ? "anthropic" : "openai");
		t.custom = true;
	} else {
		rc = place_known(w, &model, t.api, &t.info, err);
		if (rc < 0 || !t.info)
			return rc;
		rc = place_base(w, env, &t, &url, err);
		if (rc < 0)
			return rc;
		name = t.info->name;
		name_len = strlen(name);
	}
	rc = fill(&t, name, name_len, model, url, err);
	if (rc == 0)
		*ret = t;
	return rc;
}

void provider_target_release(struct provider_target *t)
{
	free(t->name);
	free(t->model);
	free(t->base_url);
	*t = (struct provider_target){ 0 };
}
