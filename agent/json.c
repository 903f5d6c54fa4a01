/* SPDX-License-Identifier: Apache-2.0 */
/* Strict JSON parser that builds cJSON's tree: arrays, objects, numbers. Process: agent. Privilege: none. */
#include "agent/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json_int.h"
#include "agent/json_string.h"
#include "executor/shared/ak_err.h"

#define FEW_NAMES 8u /* so many are compared one by one */

struct parser {
	const unsigned char *start;
	const unsigned char *p;
	const unsigned char *end;
	unsigned flags;
	enum json_place place; /* of strings that are values */
	unsigned depth; /* open arrays and objects */
	unsigned depth_max;
	size_t items;
	size_t items_max;
	int code; /* negative errno of the failure */
	struct ak_err *err;
};

static struct cJSON *parse_value(struct parser *ps);

static struct cJSON *fail(struct parser *ps, int code, const char *what)
{
	ps->code = ak_err_set(ps->err, code, "JSON, byte %zu: %s", (size_t)(ps->p - ps->start), what);
	return NULL;
}

static void skip_space(struct parser *ps)
{
	while (ps->p < ps->end && (*ps->p == ' ' || *ps->p == '\n' || *ps->p == '\t' || *ps->p == '\r'))
		ps->p++;
}

/* Is @c next? Then it is taken. */
static bool take(struct parser *ps, unsigned char c)
{
	if (ps->p == ps->end || *ps->p != c)
		return false;
	ps->p++;
	return true;
}

static struct cJSON *new_item(struct parser *ps, int type)
{
	struct cJSON *item;

	if (++ps->items > ps->items_max)
		return fail(ps, E2BIG, "too many values");
	item = cJSON_CreateNull();
	if (!item)
		return fail(ps, ENOMEM, "out of memory");
	item->type = type;
	return item;
}

static char *parse_text(struct parser *ps, enum json_place place)
{
	char *text = NULL;
	const char *what;
	int rc = json_string_take(&ps->p, ps->end, (ps->flags & JSON_REPAIR) != 0, place, &text, &what);

	if (rc < 0)
		(void)fail(ps, -rc, what);
	return text;
}

static struct cJSON *parse_string(struct parser *ps)
{
	struct cJSON *item = new_item(ps, cJSON_String);

	if (!item)
		return NULL;
	item->valuestring = parse_text(ps, ps->place);
	if (!item->valuestring) {
		cJSON_Delete(item);
		return NULL;
	}
	if (ps->place != JSON_PLACE_NEW)
		item->type |= cJSON_IsReference; /* not its own, so not to be freed with it */
	return item;
}

static const unsigned char *skip_digits(const unsigned char *p, const unsigned char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* The end of the number at @p by the grammar of RFC 8259, section 6; NULL when there is none */
static const unsigned char *number_end(const unsigned char *p, const unsigned char *end)
{
	const unsigned char *digits;

	if (p < end && *p == '-')
		p++;
	digits = p;
	p = skip_digits(p, end);
	if (p == digits || (*digits == '0' && p - digits > 1))
		return NULL;
	if (p < end && *p == '.') {
		digits = ++p;
		p = skip_digits(p, end);
		if (p == digits)
			return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		digits = p;
		p = skip_digits(p, end);
		if (p == digits)
			return NULL;
	}
	return p;
}

static struct cJSON *parse_number(struct parser *ps)
{
	const unsigned char *stop = number_end(ps->p, ps->end);
	struct cJSON *item;
	size_t len;

	if (!stop)
		return fail(ps, EBADMSG, "bad number");
	len = (size_t)(stop - ps->p);
	if (len > JSON_NUMBER_MAX)
		return fail(ps, ERANGE, "number with too many digits");
	item = new_item(ps, cJSON_Number);
	if (!item)
		return NULL;
	item->valuestring = cJSON_malloc(len + 1);
	if (!item->valuestring) {
		cJSON_Delete(item);
		return fail(ps, ENOMEM, "out of memory");
	}
	memcpy(item->valuestring, ps->p, len);
	item->valuestring[len] = '\0';

	double value = strtod(item->valuestring, NULL);

	if (!isfinite(value)) {
		cJSON_Delete(item);
		return fail(ps, ERANGE, "number out of range");
	}
	(void)cJSON_SetNumberHelper(item, value);
	ps->p = stop;
	return item;
}

static struct cJSON *parse_word(struct parser *ps, const char *word, int type)
{
	size_t len = strlen(word);

	if ((size_t)(ps->end - ps->p) < len || memcmp(ps->p, word, len) != 0)
		return fail(ps, EBADMSG, "expected a value");
	ps->p += len;
	return new_item(ps, type);
}

/* One element or member behind another; @item is taken, also on failure */
static bool append(struct parser *ps, struct cJSON *list, struct cJSON *item)
{
	if (!item)
		return false;
	if (cJSON_AddItemToArray(list, item))
		return true;
	cJSON_Delete(item);
	(void)fail(ps, ENOMEM, "out of memory");
	return false;
}

static bool parse_elements(struct parser *ps, struct cJSON *arr)
{
	skip_space(ps);
	if (take(ps, ']'))
		return true;
	for (;;) {
		if (!append(ps, arr, parse_value(ps)))
			return false;
		skip_space(ps);
		if (take(ps, ']'))
			return true;
		if (!take(ps, ',')) {
			(void)fail(ps, EBADMSG, "expected , or ]");
			return false;
		}
	}
}

static struct cJSON *parse_member(struct parser *ps)
{
	struct cJSON *item;
	char *name;

	skip_space(ps);
	if (ps->p == ps->end || *ps->p != '"')
		return fail(ps, EBADMSG, "expected a name in double quotes");
	name = parse_text(ps, JSON_PLACE_NEW);
	if (!name)
		return NULL;
	skip_space(ps);
	item = take(ps, ':') ? parse_value(ps) : fail(ps, EBADMSG, "expected :");
	if (item)
		item->string = name;
	else
		cJSON_free(name);
	return item;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, so that a great number of names cannot take quadratic time */
static bool names_differ_sorted(struct parser *ps, const struct cJSON *obj, size_t n)
{
	const char **names = malloc(n * sizeof(*names));
	bool differ = true;
	size_t i = 0;

	if (!names) {
		(void)fail(ps, ENOMEM, "out of memory");
		return false;
	}
	for (const struct cJSON *c = obj->child; c; c = c->next)
		names[i++] = c->string;
	qsort(names, n, sizeof(*names), by_name);
	for (i = 1; i < n && differ; i++)
		differ = strcmp(names[i - 1], names[i]) != 0;
	free(names);
	if (!differ)
		(void)fail(ps, EEXIST, "an object ends here that has the same name twice");
	return differ;
}

static bool names_differ(struct parser *ps, const struct cJSON *obj, size_t n)
{
	if (n > FEW_NAMES)
		return names_differ_sorted(ps, obj, n);
	for (const struct cJSON *a = obj->child; a; a = a->next) {
		for (const struct cJSON *b = a->next; b; b = b->next) {
			if (strcmp(a->string, b->string) == 0) {
				(void)fail(ps, EEXIST, "an object ends here that has the same name twice");
				return false;
			}
		}
	}
	return true;
}

static bool parse_members(struct parser *ps, struct cJSON *obj)
{
	size_t n = 0;

	skip_space(ps);
	if (take(ps, '}'))
		return true;
	for (;;) {
		if (!append(ps, obj, parse_member(ps)))
			return false;
		n++;
		skip_space(ps);
		if (take(ps, '}'))
			return names_differ(ps, obj, n);
		if (!take(ps, ',')) {
			(void)fail(ps, EBADMSG, "expected , or }");
			return false;
		}
	}
}

static struct cJSON *parse_list(struct parser *ps, int type)
{
	struct cJSON *list;
	bool good;

	if (ps->depth == ps->depth_max)
		return fail(ps, E2BIG, "too many arrays and objects inside each other");
	list = new_item(ps, type);
	if (!list)
		return NULL;
	ps->p++;
	ps->depth++;
	good = type == cJSON_Array ? parse_elements(ps, list) : parse_members(ps, list);
	ps->depth--;
	if (good)
		return list;
	cJSON_Delete(list);
	return NULL;
}

static struct cJSON *parse_value(struct parser *ps)
{
	skip_space(ps);
	if (ps->p == ps->end)
		return fail(ps, EBADMSG, "the text ends where a value was expected");
	switch (*ps->p) {
	case '{':
		return parse_list(ps, cJSON_Object);
	case '[':
		return parse_list(ps, cJSON_Array);
	case '"':
		return parse_string(ps);
	case 't':
		return parse_word(ps, "true", cJSON_True);
	case 'f':
		return parse_word(ps, "false", cJSON_False);
	case 'n':
		return parse_word(ps, "null", cJSON_NULL);
	default:
		if (*ps->p == '-' || (*ps->p >= '0' && *ps->p <= '9'))
			return parse_number(ps);
		return fail(ps, EBADMSG, *ps->p == 0xef ? "expected a value (a byte order mark is none)" :
							  "expected a value");
	}
}

static size_t limit(size_t wanted, size_t max)
{
	return wanted == 0 || wanted > max ? max : wanted;
}

static int parse(const char *text, size_t len, unsigned flags, enum json_place place, const struct json_limits *limits,
		 struct cJSON **ret, struct ak_err *err)
{
	struct json_limits none = {0};
	struct parser ps = {.flags = flags, .place = place, .err = err};
	struct cJSON *item;

	limits = limits ? limits : &none;
	if (len > limit(limits->bytes, JSON_BYTES_MAX))
		return ak_err_set(err, E2BIG, "JSON of %zu bytes: over the maximum of %zu", len,
				  limit(limits->bytes, JSON_BYTES_MAX));
	ps.start = ps.p = (const unsigned char *)(len > 0 ? text : "");
	ps.end = ps.start + len;
	ps.depth_max = (unsigned)limit(limits->depth, JSON_DEPTH_MAX);
	ps.items_max = limit(limits->items, JSON_ITEMS_MAX);
	item = parse_value(&ps);
	if (!item)
		return ps.code;
	skip_space(&ps);
	if (ps.p != ps.end) {
		(void)fail(&ps, EBADMSG, "text behind the end");
		cJSON_Delete(item);
		return ps.code;
	}
	*ret = item;
	return 0;
}

int json_parse(const char *text, size_t len, unsigned flags, const struct json_limits *limits,
	       struct cJSON **ret, struct ak_err *err)
{
	return parse(text, len, flags, flags & JSON_NO_TEXT ? JSON_PLACE_NONE : JSON_PLACE_NEW, limits, ret, err);
}

int json_parse_in_place(char *text, size_t len, unsigned flags, const struct json_limits *limits,
			struct cJSON **ret, struct ak_err *err)
{
	return parse(text, len, flags, JSON_PLACE_SAME, limits, ret, err);
}

void json_free(struct cJSON *item)
{
	cJSON_Delete(item);
}
