/* SPDX-License-Identifier: Apache-2.0 */
/* Printing a JSON tree: always the same bytes for the same tree. Process: agent. Privilege: none. */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/json_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_json_out.h"

/* One character that cannot stand in a string as it is. Return: its bytes in the text; 0 when it can stand. */
static size_t escape(const unsigned char *p, size_t n, char ret[8])
{
	static const char hex[] = "0123456789abcdef";
	static const char from[] = "\"\\\b\f\n\r\t";
	static const char to[] = "\"\\bfnrt";
	const char *hit = memchr(from, *p, sizeof(from) - 1);
	unsigned cp;

	if (hit) {
		memcpy(ret, (char[]){'\\', to[hit - from], '\0'}, 3);
		return 1;
	}
	if (*p >= 0x20 && ak_utf8_seq(p, n) > 0)
		return 0;
	if (*p < 0x20)
		cp = *p;
	else if (JSON_ANY_HALF(p, n))
		cp = 0xd000u | (unsigned)(p[1] & 0x3f) << 6 | (p[2] & 0x3f);
	else
		cp = 0xfffd;
	memcpy(ret, (char[]){'\\', 'u', hex[cp >> 12], hex[cp >> 8 & 15], hex[cp >> 4 & 15], hex[cp & 15], '\0'}, 7);
	return cp >= 0xd800 && cp < 0xe000 ? 3 : 1;
}

static bool plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void print_string(const char *text, struct ak_buf *out)
{
	const unsigned char *p = (const unsigned char *)text;
	const unsigned char *end = p + strlen(text);
	const unsigned char *from = p;

	ak_buf_str(out, "\"");
	while (p < end) {
		char esc[8];
		size_t n;

		if (plain(*p)) {
			p++;
			continue;
		}
		n = escape(p, (size_t)(end - p), esc);
		if (n == 0) {
			p += ak_utf8_seq(p, (size_t)(end - p));
			continue;
		}
		ak_buf_add(out, from, (size_t)(p - from));
		ak_buf_str(out, esc);
		p += n;
		from = p;
	}
	ak_buf_add(out, from, (size_t)(p - from));
	ak_buf_str(out, "\"");
}

static void print_item(const struct cJSON *item, unsigned flags, struct ak_buf *out);

static void print_member(const struct cJSON *item, bool first, unsigned flags, struct ak_buf *out)
{
	if (!first)
		ak_buf_str(out, ",");
	print_string(item->string, out);
	ak_buf_str(out, ":");
	print_item(item, flags, out);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct cJSON *const *)a)->string, (*(const struct cJSON *const *)b)->string);
}

static void print_sorted(const struct cJSON *obj, unsigned flags, struct ak_buf *out)
{
	size_t n = json_count(obj);
	const struct cJSON **list;
	size_t i = 0;

	if (n == 0)
		return;
	list = calloc(n, sizeof(struct cJSON *));
	if (!list) {
		out->failed = true;
		return;
	}
	for (const struct cJSON *c = obj->child; c; c = c->next)
		list[i++] = c;
	qsort(list, n, sizeof(struct cJSON *), by_name);
	for (i = 0; i < n; i++)
		print_member(list[i], i == 0, flags, out);
	free(list);
}

static void print_object(const struct cJSON *obj, unsigned flags, struct ak_buf *out)
{
	ak_buf_str(out, "{");
	if (flags & JSON_SORTED) {
		print_sorted(obj, flags, out);
	} else {
		for (const struct cJSON *c = obj->child; c; c = c->next)
			print_member(c, c == obj->child, flags, out);
	}
	ak_buf_str(out, "}");
}

static void print_array(const struct cJSON *arr, unsigned flags, struct ak_buf *out)
{
	ak_buf_str(out, "[");
	for (const struct cJSON *c = arr->child; c; c = c->next) {
		if (c != arr->child)
			ak_buf_str(out, ",");
		print_item(c, flags, out);
	}
	ak_buf_str(out, "]");
}

static void print_item(const struct cJSON *item, unsigned flags, struct ak_buf *out)
{
	switch (json_kind(item)) {
	case JSON_BOOL:
		ak_buf_str(out, json_true(item) ? "true" : "false");
		break;
	case JSON_NUMBER:
		ak_buf_str(out, item->valuestring);
		break;
	case JSON_STRING:
		print_string(item->valuestring, out);
		break;
	case JSON_ARRAY:
		print_array(item, flags, out);
		break;
	case JSON_OBJECT:
		print_object(item, flags, out);
		break;
	default:
		ak_buf_str(out, "null");
	}
}

void json_print(const struct cJSON *item, unsigned flags, struct ak_buf *out)
{
	print_item(item, flags, out);
}

void json_put(struct ak_json *j, const char *key, const struct cJSON *item)
{
	ak_json_raw(j, key, "", 0);
	print_item(item, 0, j->out);
}
