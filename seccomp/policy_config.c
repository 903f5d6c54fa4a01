/* SPDX-License-Identifier: Apache-2.0 */
/* Config files: JSON into settings. Process: ak-policy. Privilege: none. */
#include "seccomp/policy_config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const section_names[AK_CFG_SECTIONS] = { "exec", "run" };

struct reader {
	const struct json_doc *doc;
	enum ak_cfg_layer layer;
	struct policy_config *out;
	struct json_error *err;
	enum ak_cfg_section section;
	const char *profile;	/* NULL: outside of profiles */
	uint32_t profile_id;	/* as in struct ak_cfg_item */
};

static int __attribute__((format(printf, 4, 5))) bad(struct reader *r, const struct json_node *n, int code, const char *fmt, ...)
{
	va_list ap;

	r->err->line = n->line;
	r->err->col = n->col;
	va_start(ap, fmt);
	(void)vsnprintf(r->err->text, sizeof(r->err->text), fmt, ap);
	va_end(ap);
	return code;
}

/* the same, with the key's full name in front */
static int bad_key(struct reader *r, const struct json_node *n, const char *key, const char *text)
{
	return bad(r, n, -EINVAL, "%s%s%s%s.%.64s: %s", r->profile ? "profiles." : "", r->profile ? r->profile : "",
		   r->profile ? "." : "", section_names[r->section], key, text);
}

static int add(struct reader *r, const struct ak_cfg_key *key, const struct json_node *n, enum ak_cfg_op op, const char *value)
{
	struct ak_cfg_file *f = &r->out->f;

	if (f->n_items == AK_CFG_ITEMS_MAX)
		return bad(r, n, -E2BIG, "more than %u settings", AK_CFG_ITEMS_MAX);
	f->items[f->n_items++] = (struct ak_cfg_item){ .key = key, .section = r->section, .op = op, .value = value, .profile = r->profile_id,
						       .line = n->line, .col = n->col };
	return 0;
}

/* what the kinds of values are called, and whether a number may stand for one */
static const struct { const char *wanted; bool number; } kinds[] = {
	[AK_CFG_BOOL] = { "true or false is expected", false },
	[AK_CFG_CHOICE] = { "a text is expected", false },
	[AK_CFG_SIZE] = { "a size is expected: a text such as \"512m\", or bytes", true },
	[AK_CFG_COUNT] = { "a number is expected, or a text", true },
	[AK_CFG_CPUS] = { "a number is expected, or a text", true },
	[AK_CFG_USD] = { "an amount of dollars is expected: a number, or a text", true },
	[AK_CFG_DUR] = { "a duration is expected: a text such as \"5m\", or seconds", true },
	[AK_CFG_ID] = { "a number is expected, or a text such as \"1000:1000\"", true },
	[AK_CFG_TEXT] = { "a text is expected", false },
	[AK_CFG_PATH] = { "a text is expected", false },
	[AK_CFG_NAMES] = { "an array of texts is expected", false },
	[AK_CFG_BINDS] = { "an array of texts is expected, each SRC or SRC:DST", false },
	[AK_CFG_FILES] = { "an array of texts is expected", false },
	[AK_CFG_PLACES] = { "an array of texts is expected", false },
	[AK_CFG_PROVIDERS] = { "an object is expected", false },
	[AK_CFG_ENV] = { "an array of texts is expected, each K=V or K, or an object of texts", false },
};

/* Return: the text of a value, NULL when it is none */
static const char *text_of(const struct ak_cfg_key *key, const struct json_node *n)
{
	if (key->kind == AK_CFG_BOOL)
		return NULL;
	return n->kind == JSON_STRING || (n->kind == JSON_NUMBER && kinds[key->kind].number) ? n->text : NULL;
}

/* a text of our own. Return: NULL: the arena is full. It is as large as all texts of the document with
 * their ends, and has room for the name of a provider before each of its texts */
static char *__attribute__((format(printf, 3, 4))) keep(struct policy_config *c, size_t need, const char *fmt, ...)
{
	char *at = c->arena + c->used;
	va_list ap;

	if (c->cap - c->used < need)
		return NULL;
	c->used += need;
	va_start(ap, fmt);
	(void)vsnprintf(at, need, fmt, ap);
	va_end(ap);
	return at;
}

/* {"K": "V"} as K=V */
static int add_variable(struct reader *r, const struct ak_cfg_key *key, const struct json_node *n)
{
	const char *text;

	if (n->kind != JSON_STRING)
		return bad_key(r, n, key->name, "the value of a variable is a text");
	if (!*n->key || strchr(n->key, '='))
		return bad_key(r, n, key->name, "no variable's name");
	text = keep(r->out, strlen(n->key) + strlen(n->text) + 2, "%s=%s", n->key, n->text);
	return text ? add(r, key, n, AK_CFG_IS, text) : bad(r, n, -E2BIG, "too many texts");
}

static int read_list(struct reader *r, const struct ak_cfg_key *key, const struct json_node *n)
{
	bool object = n->kind == JSON_OBJECT && key->kind == AK_CFG_ENV;
	int rc = 0;

	if (n->kind == JSON_STRING)
		return add(r, key, n, AK_CFG_IS, n->text);
	if (n->kind != JSON_ARRAY && !object)
		return bad_key(r, n, key->name, kinds[key->kind].wanted);
	if (n->count == 0)
		return add(r, key, n, AK_CFG_IS_EMPTY, NULL);
	for (const struct json_node *e = json_first(r->doc, n); e && rc == 0; e = json_next(r->doc, e)) {
		if (object)
			rc = add_variable(r, key, e);
		else if (e->kind != JSON_STRING)
			rc = bad_key(r, e, key->name, kinds[key->kind].wanted);
		else
			rc = add(r, key, e, AK_CFG_IS, e->text);
	}
	return rc;
}

static const char *who_may_not(enum ak_cfg_layer layer)
{
	return layer == AK_CFG_WORKSPACE ? "not for a workspace's file: it may lower limits, make write, apply, net and approval stricter, and add hide and deny"
					 : "not for the policy: there is nothing in it to be strict about";
}

/* options that a file cannot set, and why */
static const char *why_unknown(enum ak_cfg_section section, const char *name)
{
	static const char *const once[] = { "attach", "bare", "config", "continue", "json", "output", "output_last_message", "output_schema",
					    "price", "profile", "replay", "resume", "workspace", "yes" };

	for (size_t i = 0; section == AK_CFG_RUN && i < sizeof(once) / sizeof(once[0]); i++)
		if (strcmp(once[i], name) == 0)
			return "unknown key: this option is for one command line";
	return "unknown key";
}

static int read_option(struct reader *r, const struct json_node *n)
{
	const struct ak_cfg_key *key = ak_cfg_find(r->section, n->key);
	const char *text;

	if (!key || key->kind == AK_CFG_PROVIDERS)
		return bad_key(r, n, n->key, key ? "unknown key: providers is a section of its own, beside run" : why_unknown(r->section, n->key));
	if (!ak_cfg_may(key, r->layer))
		return bad_key(r, n, n->key, who_may_not(r->layer));
	if (ak_cfg_is_list(key))
		return read_list(r, key, n);
	if (key->kind == AK_CFG_BOOL && (n->kind == JSON_TRUE || n->kind == JSON_FALSE))
		return add(r, key, n, n->kind == JSON_TRUE ? AK_CFG_IS_TRUE : AK_CFG_IS_FALSE, NULL);
	text = text_of(key, n);
	if (!text)
		return bad_key(r, n, n->key, kinds[key->kind].wanted);
	return add(r, key, n, AK_CFG_IS, text);
}

/* the second name of an option beside the first would leave open which counts */
static int no_second_name(struct reader *r, const struct json_node *all, const struct json_node *n)
{
	const struct ak_cfg_key *key = ak_cfg_find(r->section, n->key);
	char text[96];

	if (!key || strcmp(key->name, n->key) == 0 || !json_get(r->doc, all, key->name))
		return 0;
	(void)snprintf(text, sizeof(text), "the same as %s, which is set too", key->name);
	return bad_key(r, n, n->key, text);
}

static int read_section(struct reader *r, const struct json_node *all, enum ak_cfg_section section)
{
	int rc = 0;

	if (all->kind != JSON_OBJECT)
		return bad(r, all, -EINVAL, "%s: an object is expected", section_names[section]);
	r->section = section;
	for (const struct json_node *n = json_first(r->doc, all); n && rc == 0; n = json_next(r->doc, n)) {
		rc = no_second_name(r, all, n);
		if (rc == 0)
			rc = read_option(r, n);
	}
	return rc;
}

/* Return: 1 when @n is no section of settings */
static int try_section(struct reader *r, const struct json_node *n)
{
	for (unsigned i = 0; i < AK_CFG_SECTIONS; i++)
		if (strcmp(n->key, section_names[i]) == 0)
			return read_section(r, n, (enum ak_cfg_section)i);
	return 1;
}

/* ---- providers ---- */

/* http://USER:PASSWORD@HOST: a key by another name */
static bool has_user(const char *url)
{
	const char *host = strstr(url, "://") + 3;

	return memchr(host, '@', strcspn(host, "/?#")) != NULL;
}

/* what stands in a text that goes into a URL or a path, and into messages. Return: NULL when it is good */
static const char *provider_text_bad(enum ak_cfg_provider_field f, const char *text)
{
	static const char *const apis[] = { "anthropic", "chat", "responses" };

	if (!*text)
		return "empty";
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || (f == AK_CFG_PROVIDER_BASE_URL && *p == ' '))
			return "a text with a control character or a space is none";
	if (f == AK_CFG_PROVIDER_BASE_URL && strncmp(text, "https://", 8) != 0 && strncmp(text, "http://", 7) != 0)
		return "a URL that starts with https:// is expected, or with http:// for this machine's own";
	if (f == AK_CFG_PROVIDER_BASE_URL && has_user(text))
		return "a URL without a user and a password is expected: name a file with the key with api_key_file";
	if (f == AK_CFG_PROVIDER_KEY_FILE && text[0] != '/' && strncmp(text, "~/", 2) != 0)
		return "a path that starts with / or ~/ is expected (never the key itself)";
	for (size_t i = 0; f == AK_CFG_PROVIDER_API && i < sizeof(apis) / sizeof(apis[0]); i++)
		if (strcmp(text, apis[i]) == 0)
			return NULL;
	return f == AK_CFG_PROVIDER_API ? "anthropic, chat or responses is expected" : NULL;
}

static int read_provider_field(struct reader *r, const char *name, const struct json_node *n)
{
	const struct ak_cfg_key *key = ak_cfg_find(AK_CFG_RUN, "providers");
	unsigned f = 0;
	const char *text, *why;

	while (f < AK_CFG_PROVIDER_FIELDS && strcmp(n->key, ak_cfg_provider_field_name((enum ak_cfg_provider_field)f)) != 0)
		f++;
	if (f == AK_CFG_PROVIDER_FIELDS && (strcmp(n->key, "api_key") == 0 || strcmp(n->key, "key") == 0))
		return bad(r, n, -EINVAL, "providers.%s.%s: a key is not for a config file: put it into a file and name that with api_key_file",
			   name, n->key);
	if (f == AK_CFG_PROVIDER_FIELDS)
		return bad(r, n, -EINVAL, "providers.%s.%.64s: unknown key: base_url, api and api_key_file are known", name, n->key);
	if (n->kind != JSON_STRING)
		return bad(r, n, -EINVAL, "providers.%s.%s: a text is expected", name, n->key);
	why = provider_text_bad((enum ak_cfg_provider_field)f, n->text);
	if (why)
		return bad(r, n, -EINVAL, "providers.%s.%s: %s", name, n->key, why);
	text = keep(r->out, strlen(name) + strlen(n->key) + strlen(n->text) + 3, "%s.%s=%s", name, n->key, n->text);
	return text ? add(r, key, n, AK_CFG_IS, text) : bad(r, n, -E2BIG, "too many texts");
}

static int read_provider(struct reader *r, const struct json_node *p)
{
	int rc = 0;

	if (!ak_cfg_provider_name_ok(p->key))
		return bad(r, p, -EINVAL, "providers: \"%.64s\" is no name: lower case letters, digits and -, a letter first, at most %u", p->key,
			   AK_CFG_PROVIDER_NAME_MAX);
	if (p->kind != JSON_OBJECT || !json_first(r->doc, p))
		return bad(r, p, -EINVAL, "providers.%s: an object with base_url, api or api_key_file is expected", p->key);
	for (const struct json_node *n = json_first(r->doc, p); n && rc == 0; n = json_next(r->doc, n))
		rc = read_provider_field(r, p->key, n);
	return rc;
}

static int read_providers(struct reader *r, const struct json_node *all)
{
	int rc = 0;

	if (r->profile)
		return bad(r, all, -EINVAL, "profiles.%s.providers: providers are for all profiles: a section beside profiles", r->profile);
	if (r->layer == AK_CFG_WORKSPACE) {
		const struct json_node *first = all->kind == JSON_OBJECT ? json_first(r->doc, all) : NULL;

		return bad(r, first ? first : all, -EINVAL,
			   "providers%s%.64s: not for a workspace's file: where models are asked, and with which key, is the user's own word",
			   first ? "." : "", first ? first->key : "");
	}
	if (all->kind != JSON_OBJECT)
		return bad(r, all, -EINVAL, "providers: an object is expected");
	r->section = AK_CFG_RUN;
	if (!json_first(r->doc, all))
		return add(r, ak_cfg_find(AK_CFG_RUN, "providers"), all, AK_CFG_IS_EMPTY, NULL);
	for (const struct json_node *p = json_first(r->doc, all); p && rc == 0; p = json_next(r->doc, p))
		rc = read_provider(r, p);
	return rc;
}

/* prices have a file of their own, which has three forms and is read by the agent: nobody would obey them here */
static int no_prices(struct reader *r, const struct json_node *n)
{
	return bad(r, n, -EINVAL, "%s%s%sprices: not in this file: prices belong into ~/.config/ak/prices.json, or where AK_PRICES_FILE says",
		   r->profile ? "profiles." : "", r->profile ? r->profile : "", r->profile ? "." : "");
}

/* the sections that are no options. Return: 1 when @n is none of them */
static int try_other(struct reader *r, const struct json_node *n)
{
	if (strcmp(n->key, "providers") == 0)
		return read_providers(r, n);
	return strcmp(n->key, "prices") == 0 ? no_prices(r, n) : 1;
}

static int read_profile(struct reader *r, const struct json_node *p)
{
	struct ak_cfg_file *f = &r->out->f;
	int rc = 0;

	if (!ak_cfg_profile_name_ok(p->key))
		return bad(r, p, -EINVAL, "profiles: \"%.64s\" is no name: letters, digits and . _ -, at most 64", p->key);
	if (p->kind != JSON_OBJECT)
		return bad(r, p, -EINVAL, "profiles.%s: an object with the sections exec and run is expected", p->key);
	if (f->n_profiles == AK_CFG_PROFILES_MAX)
		return bad(r, p, -E2BIG, "more than %u profiles", AK_CFG_PROFILES_MAX);
	f->profiles[f->n_profiles++] = p->key;
	r->profile = p->key;
	r->profile_id = f->n_profiles;
	for (const struct json_node *n = json_first(r->doc, p); n && rc == 0; n = json_next(r->doc, n)) {
		rc = try_section(r, n);
		if (rc > 0)
			rc = try_other(r, n);
		if (rc > 0)
			rc = bad(r, n, -EINVAL, "profiles.%s.%.64s: unknown key", p->key, n->key);
	}
	r->profile = NULL;
	r->profile_id = 0;
	return rc;
}

static int read_profiles(struct reader *r, const struct json_node *all)
{
	int rc = 0;

	if (r->layer != AK_CFG_USER)
		return bad(r, all, -EINVAL, "profiles: only the user's own file has profiles");
	if (all->kind != JSON_OBJECT)
		return bad(r, all, -EINVAL, "profiles: an object is expected");
	for (const struct json_node *p = json_first(r->doc, all); p && rc == 0; p = json_next(r->doc, p))
		rc = read_profile(r, p);
	return rc;
}

int policy_config_read(const struct json_doc *doc, enum ak_cfg_layer layer, struct policy_config *ret, struct json_error *ret_err)
{
	struct reader r = { .doc = doc, .layer = layer, .out = ret, .err = ret_err };
	const struct json_node *root = doc->nodes;
	int rc = 0;

	*ret = (struct policy_config){ .f = { .maker = AK_VERSION, .layer = layer }, .cap = doc->used + 1 + AK_CFG_ITEMS_MAX * (AK_CFG_PROVIDER_NAME_MAX + 1) };
	*ret_err = (struct json_error){ 0 };
	ret->arena = malloc(ret->cap);
	if (!ret->arena)
		return bad(&r, root, -ENOMEM, "out of memory");
	if (root->kind != JSON_OBJECT)
		return bad(&r, root, -EINVAL, "an object is expected");
	for (const struct json_node *n = json_first(doc, root); n && rc == 0; n = json_next(doc, n)) {
		rc = try_section(&r, n);
		if (rc > 0 && strcmp(n->key, "profiles") == 0)
			rc = read_profiles(&r, n);
		else if (rc > 0)
			rc = try_other(&r, n);
		if (rc > 0)
			rc = bad(&r, n, -EINVAL, "%.64s: unknown key (the sections are exec, run, providers and profiles)", n->key);
	}
	return rc;
}

void policy_config_release(struct policy_config *c)
{
	free(c->arena);
	c->arena = NULL;
}
