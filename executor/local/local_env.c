/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves out of an environment what looks like a secret. Pure. Process: executor. Privilege: none. */
#include "executor/local/local_env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_weaken.h"

/* A name that holds one of these is a secret's */
static const char *const markers[] = {"API_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"};

bool local_env_secret(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
		size_t n = strlen(markers[i]);

		for (size_t at = 0; at + n <= len; at++)
			if (strncasecmp(name + at, markers[i], n) == 0)
				return true;
	}
	return false;
}

static const char *value_of(char *const env[], const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* a later one of the same name replaces an earlier */
static int put(char **list, size_t *n, const char *name, const char *value)
{
	char *row = NULL;
	size_t len = strlen(name);

	if (asprintf(&row, "%s=%s", name, value) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < *n; i++) {
		if (strncmp(list[i], name, len) == 0 && list[i][len] == '=') {
			free(list[i]);
			list[i] = row;
			return 0;
		}
	}
	list[(*n)++] = row;
	return 0;
}

static int copy_rest(char *const env[], char **list, size_t *n)
{
	for (; env && *env; env++) {
		size_t len = strcspn(*env, "=");

		if (local_env_secret(*env, len) && !AK_WEAK(ak_weaken_mask(), AK_WEAK_ENV))
			continue;
		list[*n] = strdup(*env);
		if (!list[*n])
			return -ENOMEM;
		(*n)++;
	}
	return 0;
}

/* keys that ak itself logs in with are called so */
static bool own_key(const char *name)
{
	size_t n = strlen(name);

	return n > 8 && strcmp(name + n - 8, "_API_KEY") == 0;
}

static int add_asked(char *const env[], const struct env_opt *e, char **list, size_t *n, struct ak_err *err)
{
	const char *value = e->value ? e->value : value_of(env, e->name);

	if (!e->value && own_key(e->name)) {
		(void)ak_err_set(err, EPERM, "--env %s: keys of providers are never passed through", e->name);
		ak_err_hint(err, "give a value meant for the command: --env %s=VALUE", e->name);
		return -EPERM;
	}
	if (!value || put(list, n, e->name, value) == 0)
		return 0;
	return ak_err_set(err, ENOMEM, "not enough memory for the environment");
}

int local_env(char *const env[], const struct env_opt *asked, size_t nasked, char ***ret, struct ak_err *err)
{
	size_t count = 0, n = 0;
	char **list;
	int r = 0;

	while (env && env[count])
		count++;
	list = calloc(count + nasked + 1, sizeof(*list));
	if (!list)
		return ak_err_set(err, ENOMEM, "not enough memory for the environment");
	if (copy_rest(env, list, &n) < 0)
		r = ak_err_set(err, ENOMEM, "not enough memory for the environment");
	for (size_t i = 0; r == 0 && i < nasked; i++)
		r = add_asked(env, &asked[i], list, &n, err);
	if (r < 0) {
		local_env_free(list);
		return r;
	}
	*ret = list;
	return 0;
}

void local_env_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free(env);
}
