/* SPDX-License-Identifier: Apache-2.0 */
/* Providers of config files: what of them is for the executor to see to. Process: executor. Privilege: the caller's. */
#include "executor/args_int.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args_agent.h"
#include "executor/config.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"

/* NAME_API_KEY, also with a number behind it */
static bool is_key_of(const char *provider, const char *name, size_t len)
{
	char want[AK_CFG_PROVIDER_NAME_MAX + 17];
	size_t n;

	ak_cfg_provider_variable(provider, "_API_KEY", want);
	n = strlen(want);
	if (len < n || memcmp(want, name, n) != 0)
		return false;
	if (len == n)
		return true;
	if (name[n] != '_' || len == n + 1)
		return false;
	for (size_t i = n + 1; i < len; i++)
		if (name[i] < '0' || name[i] > '9')
			return false;
	return true;
}

bool args_providers_key(const struct config *c, const char *name, size_t len)
{
	char provider[AK_CFG_PROVIDER_NAME_MAX + 1];
	enum ak_cfg_provider_field field;

	for (size_t s = 0; c && s < CONFIG_FILES; s++) {
		const struct ak_cfg_file *f = c->source[s].file;

		for (uint32_t i = 0; f && i < f->n_items; i++)
			if (f->items[i].key->kind == AK_CFG_PROVIDERS && f->items[i].value &&
			    ak_cfg_provider_split(f->items[i].value, provider, &field) && is_key_of(provider, name, len))
				return true;
	}
	return false;
}

/* the variable counts more than a file, but not more than the policy */
static int check_base(const struct config *c, const struct config_value *v, const char *provider, const char *base, struct ak_err *err)
{
	char name[AK_CFG_PROVIDER_NAME_MAX + 17];
	const char *said;

	ak_cfg_provider_variable(provider, "_BASE_URL", name);
	said = v->layer == AK_CFG_POLICY ? config_getenv(c->env, name) : NULL;
	if (!said || strcmp(said, base) == 0)
		return 0;
	(void)ak_err_set(err, EPERM, "%s: \"%.80s\" is not allowed by %.200s:%u:%u", name, said, v->where, v->line, v->col);
	ak_err_hint(err, "the policy of this machine has %s at %.200s: unset %s", provider, base, name);
	return -EPERM;
}

/* what a sandbox shows is no place for a key */
static int check_key_file(const struct config *c, const struct config_value *v, const char *provider, const char *path, struct ak_err *err)
{
	char file[PATH_MAX] AK_UNINIT, workspace[PATH_MAX] AK_UNINIT;
	size_t n;

	if (!realpath(path, file) || !realpath(c->workspace ? c->workspace : ".", workspace))
		return 0;	/* whoever opens it says what is wrong */
	n = strcmp(workspace, "/") == 0 ? 0 : strlen(workspace);
	if (strncmp(file, workspace, n) != 0 || file[n] != '/')
		return 0;
	(void)ak_err_set(err, EPERM, "%.200s:%u:%u: providers.%s.api_key_file: %.200s lies in the workspace, where the sandbox would see it",
			 v->where, v->line, v->col, provider, file);
	ak_err_hint(err, "move it out of the workspace and name its new place");
	return -EPERM;
}

int args_providers_check(struct config *c, struct ak_err *err)
{
	struct args a = { .err = err, .config = c };
	int rc = 0;

	for (size_t i = 0; i < c->n_entries && rc == 0; i++) {
		const struct config_entry *e = &c->entries[i];
		char provider[AK_CFG_PROVIDER_NAME_MAX + 1], *text = NULL;
		enum ak_cfg_provider_field field;
		const char *value;

		if (e->key->kind != AK_CFG_PROVIDERS)
			continue;
		rc = args_config_expand(&a, e->key, &e->v, &text);
		value = rc == 0 ? ak_cfg_provider_split(text ? text : e->v.text, provider, &field) : NULL;
		if (value && field == AK_CFG_PROVIDER_BASE_URL)
			rc = check_base(c, &e->v, provider, value, err);
		else if (value && field == AK_CFG_PROVIDER_KEY_FILE && !c->in)
			rc = check_key_file(c, &e->v, provider, value, err);
		free(text);
	}
	return rc;
}

int args_providers_load(char *const env[], struct args_settings *ret, struct ak_err *err)
{
	/* as if the sandbox were there: no workspace, and nothing of one */
	const struct config_scan scan = { .section = AK_CFG_RUN, .in = true };
	struct config *c = NULL;
	struct args a = { .err = err };
	int rc = config_load(&scan, env, false, &c, err);

	if (rc < 0 || !c)
		return rc;
	a.config = c;
	rc = args_config_apply_kind(&a, AK_CFG_PROVIDERS);
	if (rc == 0)
		rc = args_providers_check(c, err);
	for (size_t i = 0; i < c->n_entries && rc == 0; i++)
		rc = args_settings_add(&a, c->entries[i].key, &c->entries[i].v, ret);
	config_free(c);
	return rc;
}
