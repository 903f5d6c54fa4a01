/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into a JSON tree: by exact name, by path, by type. Process: agent. Privilege: none. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "agent/json.h"
#include "agent/json_scaled.h"
#include "executor/shared/ak_err.h"

enum json_kind json_kind(const struct cJSON *item)
{
	switch (item ? item->type & 0xff : cJSON_Invalid) {
	case cJSON_NULL:
		return JSON_NULL;
	case cJSON_False:
	case cJSON_True:
		return JSON_BOOL;
	case cJSON_Number:
		return JSON_NUMBER;
	case cJSON_String:
		return JSON_STRING;
	case cJSON_Array:
		return JSON_ARRAY;
	case cJSON_Object:
		return JSON_OBJECT;
	default:
		return JSON_ABSENT;
	}
}

const char *json_kind_name(enum json_kind kind)
{
	static const char *const names[] = {
		[JSON_ABSENT] = "nothing",    [JSON_NULL] = "null",	   [JSON_BOOL] = "true or false",
		[JSON_NUMBER] = "a number",   [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",
		[JSON_OBJECT] = "an object",
	};

	return names[kind];
}

static struct cJSON *member(const struct cJSON *obj, const char *name, size_t len)
{
	if (json_kind(obj) != JSON_OBJECT)
		return NULL;
	for (struct cJSON *c = obj->child; c; c = c->next) {
		if (strncmp(c->string, name, len) == 0 && c->string[len] == '\0')
			return c;
	}
	return NULL;
}

struct cJSON *json_get(const struct cJSON *obj, const char *name)
{
	return member(obj, name, strlen(name));
}

struct cJSON *json_at(const struct cJSON *from, const char *path)
{
	for (;;) {
		size_t len = strcspn(path, ".");
		struct cJSON *found = member(from, path, len);

		if (!found || path[len] == '\0')
			return found;
		from = found;
		path += len + 1;
	}
}

struct cJSON *json_first(const struct cJSON *item)
{
	enum json_kind kind = json_kind(item);

	return kind == JSON_ARRAY || kind == JSON_OBJECT ? item->child : NULL;
}

struct cJSON *json_next(const struct cJSON *item)
{
	return item ? item->next : NULL;
}

const char *json_name(const struct cJSON *item)
{
	return item ? item->string : NULL;
}

const char *json_str(const struct cJSON *item)
{
	return json_kind(item) == JSON_STRING ? item->valuestring : NULL;
}

const char *json_num(const struct cJSON *item)
{
	return json_kind(item) == JSON_NUMBER ? item->valuestring : NULL;
}

bool json_is_str(const struct cJSON *item, const char *text)
{
	const char *s = json_str(item);

	return s && strcmp(s, text) == 0;
}

bool json_true(const struct cJSON *item)
{
	return item && (item->type & 0xff) == cJSON_True;
}

size_t json_count(const struct cJSON *item)
{
	size_t n = 0;

	for (const struct cJSON *c = json_first(item); c; c = json_next(c))
		n++;
	return n;
}

/*
 * The value at @path, of kind @want. Return: 0 with it in *@ret, or with *@ret untouched when it is absent or null and that
 * is allowed; -ENOENT, -EBADMSG.
 */
static int find(const struct cJSON *from, const char *path, bool need, enum json_kind want,
		const struct cJSON **ret, struct ak_err *err)
{
	const struct cJSON *item = json_at(from, path);
	enum json_kind kind = json_kind(item);

	if (kind == JSON_ABSENT || kind == JSON_NULL) {
		if (!need)
			return 0;
		return ak_err_set(err, ENOENT, "%s: expected %s, got %s", path, json_kind_name(want),
				  json_kind_name(kind));
	}
	if (kind != want)
		return ak_err_set(err, EBADMSG, "%s: expected %s, got %s", path, json_kind_name(want),
				  json_kind_name(kind));
	*ret = item;
	return 0;
}

static int find_str(const struct cJSON *from, const char *path, bool need, const char **ret, struct ak_err *err)
{
	const struct cJSON *item = NULL;
	int rc = find(from, path, need, JSON_STRING, &item, err);

	if (item)
		*ret = item->valuestring;
	return rc;
}

int json_need_str(const struct cJSON *from, const char *path, const char **ret, struct ak_err *err)
{
	return find_str(from, path, true, ret, err);
}

int json_opt_str(const struct cJSON *from, const char *path, const char **ret, struct ak_err *err)
{
	return find_str(from, path, false, ret, err);
}

static int find_bool(const struct cJSON *from, const char *path, bool need, bool *ret, struct ak_err *err)
{
	const struct cJSON *item = NULL;
	int rc = find(from, path, need, JSON_BOOL, &item, err);

	if (item)
		*ret = json_true(item);
	return rc;
}

int json_need_bool(const struct cJSON *from, const char *path, bool *ret, struct ak_err *err)
{
	return find_bool(from, path, true, ret, err);
}

int json_opt_bool(const struct cJSON *from, const char *path, bool *ret, struct ak_err *err)
{
	return find_bool(from, path, false, ret, err);
}

int json_need_arr(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err)
{
	return find(from, path, true, JSON_ARRAY, ret, err);
}

int json_opt_arr(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err)
{
	return find(from, path, false, JSON_ARRAY, ret, err);
}

int json_need_obj(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err)
{
	return find(from, path, true, JSON_OBJECT, ret, err);
}

int json_opt_obj(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err)
{
	return find(from, path, false, JSON_OBJECT, ret, err);
}

static int find_number(const struct cJSON *from, const char *path, bool need, unsigned places, bool whole,
		       uint64_t *ret, struct ak_err *err)
{
	const struct cJSON *item = NULL;
	int rc = find(from, path, need, JSON_NUMBER, &item, err);

	if (!item)
		return rc;
	rc = json_scale(item->valuestring, places, whole, ret);
	if (rc == -EBADMSG)
		return ak_err_set(err, EBADMSG, "%s: expected a whole number", path);
	if (rc < 0)
		return ak_err_set(err, ERANGE, "%s: the number is %s", path,
				  item->valuestring[0] == '-' ? "negative" : "too large");
	return 0;
}

int json_need_u64(const struct cJSON *from, const char *path, uint64_t *ret, struct ak_err *err)
{
	return find_number(from, path, true, 0, true, ret, err);
}

int json_opt_u64(const struct cJSON *from, const char *path, uint64_t *ret, struct ak_err *err)
{
	return find_number(from, path, false, 0, true, ret, err);
}

int json_need_scaled(const struct cJSON *from, const char *path, unsigned places, uint64_t *ret, struct ak_err *err)
{
	return find_number(from, path, true, places, false, ret, err);
}

int json_opt_scaled(const struct cJSON *from, const char *path, unsigned places, uint64_t *ret, struct ak_err *err)
{
	return find_number(from, path, false, places, false, ret, err);
}
