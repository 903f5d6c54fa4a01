/* SPDX-License-Identifier: Apache-2.0 */
/* Which providers there are, and which one a model's name means. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_REGISTRY_H
#define AK_AGENT_PROVIDER_REGISTRY_H

#include <stdbool.h>

#include "agent/keys.h"
#include "agent/msg.h"
#include "executor/shared/ak_config_keys.h"

struct ak_err;

/**
 * struct provider_info - one known provider
 * @base_url:	used unless the variable @base_env or --base-url says another
 * @keys:	variables with its keys, NULL-terminated table
 * @key_needed:	at @base_url nothing works without one
 */
struct provider_info {
	const char *name;
	const char *base_url;
	const char *base_env;
	enum wire_api api;
	const struct key_var *keys;
	bool key_needed;
};

/* One provider that a config file names: a new one, or another word on a known one */
struct provider_own {
	struct provider_info info;	/* its texts are in here, or a known one's; base_url is NULL where none is known */
	const char *key_file;		/* NULL: none; borrowed */
	const char *base_place;		/* where base_url is said, for messages; NULL: it is not; borrowed */
	const char *key_place;
	const char *place;		/* of the first word on it */
	bool api_said;
	char name[AK_CFG_PROVIDER_NAME_MAX + 1];
	char base_env[AK_CFG_PROVIDER_NAME_MAX + 17];
	char key_env[AK_CFG_PROVIDER_NAME_MAX + 17];
	struct key_var keys[2];
};

#define PROVIDERS_OWN_MAX 64u

/* In the order of the files; providers_release() */
struct providers {
	struct provider_own *v[PROVIDERS_OWN_MAX];
	size_t n;
};

/**
 * providers_add() - take one setting; a later one of the same provider and field replaces it
 * @text:	"NAME.FIELD=TEXT", as ak_cfg_provider_split() reads it; borrowed as long as @p is used
 * @place:	what it is called in messages: "FILE:1:2: providers"; borrowed
 * Return: 0; -EINVAL (none, or not one of the wire formats); -E2BIG; -ENOMEM.
 */
int providers_add(struct providers *p, const char *text, const char *place, struct ak_err *err);
/** providers_find() - Return: NULL: no file names it; also for a NULL @p */
const struct provider_own *providers_find(const struct providers *p, const char *name);
/** providers_release() - free them; empty afterwards */
void providers_release(struct providers *p);

/** provider_info_find() - Return: NULL for a name nobody knows */
const struct provider_info *provider_info_find(const char *name);
/** provider_info_next() - the table, row by row: NULL gives the first. Return: NULL at the end. */
const struct provider_info *provider_info_next(const struct provider_info *prev);

/* What the user said, as CLI.md has it; NULL: not said */
struct provider_wish {
	const char *model;	/* [PROVIDER/]MODEL */
	const char *base_url;
	const char *api;	/* --api */
	const struct providers *own;	/* of config files; NULL: none; borrowed as long as the target is used */
	const char *provider;	/* known from elsewhere, and no base URL: all of @model is the model */
};

/* Where to ask. All strings but info's are owned; provider_target_release(). */
struct provider_target {
	const struct provider_info *info; /* with --base-url: whose keys are used */
	char *name;	/* for messages: "anthropic", or the host of --base-url */
	char *model;
	char *base_url;	/* without slash at the end */
	enum wire_api api;
	bool custom;	/* another base than the provider's own: a key is not a must */
	const struct provider_own *own; /* what a config file says of it; NULL: nothing */
	const char *base_place;	/* the base URL is this setting's; NULL: it is not from a file; borrowed */
};

/**
 * provider_resolve() - from what the user said to where to ask
 * @env:	the environment, for PROVIDER_BASE_URL
 *
 * The first segment of the model is a provider only if it is known and no base URL is given. A model without one is
 * placed by its name (claude-, gpt-, gemini-, deepseek-), else it is an error.
 * What a config file says of a provider counts more than what is known of it, PROVIDER_BASE_URL more than a file.
 * Wire format: --api; else what a file says; else Responses where the host is api.openai.com, Chat Completions for other OpenAI-like bases.
 * Return: 0; -EINVAL (@err, with a hint: usage, exit 2); -ENOMEM.
 */
int provider_resolve(const struct provider_wish *w, char *const env[], struct provider_target *ret, struct ak_err *err);
/** provider_target_release() - free what it owns; empty afterwards */
void provider_target_release(struct provider_target *t);

#endif
