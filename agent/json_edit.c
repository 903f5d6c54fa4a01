/* SPDX-License-Identifier: Apache-2.0 */
/* Making and changing JSON trees. Process: agent. Privilege: none. */
#include <assert.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/json.h"

struct cJSON *json_new_obj(void)
{
	return cJSON_CreateObject();
}

struct cJSON *json_new_arr(void)
{
	return cJSON_CreateArray();
}

struct cJSON *json_new_bool(bool value)
{
	return cJSON_CreateBool(value);
}

static size_t count_nul(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == '\0';
	return n;
}

/* A string or number whose text is @text; cJSON_CreateString() would cut it */
static struct cJSON *new_text(int type, const char *text, size_t len)
{
	struct cJSON *item = cJSON_CreateNull();
	char *out = item ? cJSON_malloc(len + 2 * count_nul(text, len) + 1) : NULL;

	if (!out) {
		cJSON_Delete(item);
		return NULL;
	}
	item->type = type;
	item->valuestring = out;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\0') {
			memcpy(out, "\xef\xbf\xbd", 3);
			out += 3;
		} else {
			*out++ = text[i];
		}
	}
	*out = '\0';
	return item;
}

struct cJSON *json_new_str(const char *text, size_t len)
{
	return new_text(cJSON_String, text, len);
}

struct cJSON *json_new_u64(uint64_t value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%" PRIu64, value);
	struct cJSON *item = new_text(cJSON_Number, text, (size_t)n);

	if (item)
		(void)cJSON_SetNumberHelper(item, (double)value);
	return item;
}

struct cJSON *json_dup(const struct cJSON *item)
{
	return item ? cJSON_Duplicate(item, 1) : NULL;
}

int json_set(struct cJSON *obj, const char *name, struct cJSON *item)
{
	size_t len = strlen(name);
	struct cJSON *old;
	char *copy;

	assert(json_kind(obj) == JSON_OBJECT);
	if (!item)
		return -ENOMEM;
	copy = cJSON_malloc(len + 1);
	if (!copy) {
		cJSON_Delete(item);
		return -ENOMEM;
	}
	memcpy(copy, name, len + 1);
	cJSON_free(item->string);
	item->string = copy;
	old = json_get(obj, name);
	if (old ? cJSON_ReplaceItemViaPointer(obj, old, item) : cJSON_AddItemToArray(obj, item))
		return 0;
	cJSON_Delete(item);
	return -ENOMEM;
}

int json_add(struct cJSON *arr, struct cJSON *item)
{
	assert(json_kind(arr) == JSON_ARRAY);
	if (!item)
		return -ENOMEM;
	if (cJSON_AddItemToArray(arr, item))
		return 0;
	cJSON_Delete(item);
	return -ENOMEM;
}

void json_drop(struct cJSON *obj, const char *name)
{
	struct cJSON *old = json_get(obj, name);

	if (old)
		cJSON_Delete(cJSON_DetachItemViaPointer(obj, old));
}
