/* SPDX-License-Identifier: Apache-2.0 */
/* Which providers there are, and which one a model's name means. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROVIDER_REGISTRY_H
#define AK_AGENT_PROVIDER_REGISTRY_H

#include <stdbool.h>

#include "agent/keys.h"
#include "agent/msg.h"

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

/** provider_info_find() - Return: NULL for a name nobody knows */
const struct provider_info *provider_info_find(const char *name);
/** provider_info_next() - the table, row by row: NULL gives the first. Return: NULL at the end. */
const struct provider_info *provider_info_next(const struct provider_info *prev);

/* What the user said, as CLI.md has it; NULL: not said */
struct provider_wish {
	const char *model;	/* [PROVIDER/]MODEL */
	const char *base_url;
	const char *api;	/* --api */
};

/* Where to ask. All strings but info's are owned; provider_target_release(). */
struct provider_target {
	const struct provider_info *info; /* with --base-url: whose keys are used */
	char *name;	/* for messages: "anthropic", or the host of --base-url */
	char *model;
	char *base_url;	/* without slash at the end */
	enum wire_api api;
	bool custom;	/* another base than the provider's own: a key is not a must */
};

/**
 * provider_resolve() - from what the user said to where to ask
 * @env:	the environment, for PROVIDER_BASE_URL
 *
 * The first segment of the model is a provider only if it is known and no base URL is given. A model without one is
 * placed by its name (claude-, gpt-, gemini-, deepseek-), else it is an error.
 * Wire format: --api; else Responses where the host is api.openai.com, Chat Completions for other OpenAI-like bases.
 * Return: 0; -EINVAL (@err, with a hint: usage, exit 2); -ENOMEM.
 */
int provider_resolve(const struct provider_wish *w, char *const env[], struct provider_target *ret, struct ak_err *err);
/** provider_target_release() - free what it owns; empty afterwards */
void provider_target_release(struct provider_target *t);

#endif
