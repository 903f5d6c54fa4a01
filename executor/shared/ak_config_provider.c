/* SPDX-License-Identifier: Apache-2.0 */
/* Providers of models in config files: names and entries. Any process, no privilege, allocates nothing. */
#include <stdio.h>
#include <string.h>

#include "executor/shared/ak_config_keys.h"

static const char *const fields[AK_CFG_PROVIDER_FIELDS] = {
	[AK_CFG_PROVIDER_BASE_URL] = "base_url",
	[AK_CFG_PROVIDER_API] = "api",
	[AK_CFG_PROVIDER_KEY_FILE] = "api_key_file",
};

const char *ak_cfg_provider_field_name(enum ak_cfg_provider_field f)
{
	return fields[f];
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

/* no underscore: what becomes of - in a variable's name must not be what becomes of something else */
static bool name_ok(const char *name, size_t len)
{
	if (len < 1 || len > AK_CFG_PROVIDER_NAME_MAX || !is_lower(name[0]))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!is_lower(name[i]) && (name[i] < '0' || name[i] > '9') && name[i] != '-')
			return false;
	return true;
}

bool ak_cfg_provider_name_ok(const char *name)
{
	return name_ok(name, strlen(name));
}

const char *ak_cfg_provider_split(const char *text, char ret_name[AK_CFG_PROVIDER_NAME_MAX + 1], enum ak_cfg_provider_field *ret)
{
	size_t n = strcspn(text, ".");
	const char *field = text + n + 1;
	size_t len;

	if (text[n] != '.' || !name_ok(text, n))
		return NULL;
	len = strcspn(field, "=");
	if (field[len] != '=' || !field[len + 1])
		return NULL;
	for (unsigned i = 0; i < AK_CFG_PROVIDER_FIELDS; i++) {
		if (strlen(fields[i]) != len || memcmp(fields[i], field, len) != 0)
			continue;
		memcpy(ret_name, text, n);
		ret_name[n] = '\0';
		*ret = (enum ak_cfg_provider_field)i;
		return field + len + 1;
	}
	return NULL;
}

void ak_cfg_provider_variable(const char *name, const char *tail, char ret[AK_CFG_PROVIDER_NAME_MAX + 17])
{
	(void)snprintf(ret, AK_CFG_PROVIDER_NAME_MAX + 17, "%s%s", name, tail);
	for (size_t i = 0; name[i]; i++)
		ret[i] = name[i] == '-' ? '_' : is_lower(name[i]) ? (char)(name[i] - 'a' + 'A') : name[i];
}
