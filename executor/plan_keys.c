/* SPDX-License-Identifier: Apache-2.0 */
/* Which variables hold keys; see plan_keys.h. Process: executor. Privilege: none. */
#include "executor/plan_keys.h"

#include <string.h>

#include "executor/opts.h"

#define ANY_KEY "_API_KEY" /* of a provider of the user's own settings */

/* agent/provider/registry.c reads these */
static const char *const names[] = {
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
	"DEEPSEEK_API_KEY",  "GEMINI_API_KEY",	     "OLLAMA_API_KEY",
};

/* NAME_2: several keys of one provider, which the agent takes in turn */
static size_t without_number(const char *name, size_t len)
{
	size_t n = len;

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n > 1 && n < len && name[n - 1] == '_' ? n - 1 : len;
}

bool plan_key(const char *name, size_t len)
{
	len = without_number(name, len);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return true;
	}
	return false;
}

static bool asked_for(const struct exec_opts *o, const char *name, size_t len)
{
	for (size_t i = 0; o && i < o->nenv; i++) {
		if (strlen(o->env[i].name) == len && memcmp(o->env[i].name, name, len) == 0)
			return true;
	}
	return false;
}

void plan_keys_forget(char *const env[], const struct exec_opts *o)
{
	const size_t tail = sizeof(ANY_KEY) - 1;

	for (; env && *env; env++) {
		char *value = strchr(*env, '=');
		size_t len = value ? (size_t)(value - *env) : 0;
		size_t n = without_number(*env, len);

		if (value && (plan_key(*env, len) || (n > tail && memcmp(*env + n - tail, ANY_KEY, tail) == 0)) && !asked_for(o, *env, len))
			explicit_bzero(value + 1, strlen(value + 1));
	}
}
