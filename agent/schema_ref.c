/* SPDX-License-Identifier: Apache-2.0 */
/* $ref: JSON pointers within the document. Pure. Process: agent. Privilege: none. Source: RFC 6901 section 6. */
#include "agent/schema_int.h"

#include <errno.h>

#include "agent/json.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_parse.h"

/* One step of a JSON pointer in a URI fragment: %XX, then ~1 and ~0. Return: -EBADMSG, or 0 with *@p behind it */
static int unescape(const char **p, char *to, size_t size)
{
	size_t n = 0;

	for (; **p && **p != '/'; ++*p) {
		unsigned v = 0;
		char ch = **p;

		if (n + 1 == size)
			return -EBADMSG;
		if (ch == '%') {
			for (unsigned i = 1; i <= 2; i++) {
				char h = (*p)[i];

				if (!((h >= '0' && h <= '9') || ((h | 32) >= 'a' && (h | 32) <= 'f')))
					return -EBADMSG;
				v = v * 16 + (unsigned)(h <= '9' ? h - '0' : (h | 32) - 'a' + 10);
			}
			*p += 2;
			ch = (char)v;
		}
		to[n++] = ch;
	}
	to[n] = '\0';
	n = 0;
	for (size_t i = 0; to[i]; i++) {
		bool tilde = to[i] == '~' && (to[i + 1] == '0' || to[i + 1] == '1');

		to[n++] = tilde ? (to[++i] == '0' ? '~' : '/') : to[i];
	}
	to[n] = '\0';
	return 0;
}

static const struct cJSON *element(const struct cJSON *array, const char *text)
{
	uint64_t i;

	if (ak_parse_u64(text, 0, JSON_ITEMS_MAX, &i) < 0)
		return NULL;
	array = json_first(array);
	while (array && i-- > 0)
		array = json_next(array);
	return array;
}

int schema_k_ref(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	const char *text = json_str(v);
	const struct cJSON *to = c->s->doc;
	size_t len = c->at.len;
	char step[256];
	int rc;

	if (!text)
		return schema_fault(c, EBADMSG, "\"%s\" is no string", name);
	if (*text != '#' || (text[1] && text[1] != '/'))
		return schema_fault(c, EOPNOTSUPP, "%s \"%.80s\" is not supported; only \"#\" and \"#/...\" are", name, text);
	for (const char *p = text + 1; to && *p == '/';) {
		p++;
		if (unescape(&p, step, sizeof(step)) < 0)
			return schema_fault(c, EBADMSG, "%s \"%.80s\" is no JSON pointer", name, text);
		to = json_kind(to) == JSON_ARRAY ? element(to, step) : json_get(to, step);
	}
	if (!to)
		return schema_fault(c, EBADMSG, "%s \"%.80s\" leads nowhere", name, text);
	ak_buf_printf(&c->at, " -> %.80s", text);
	rc = schema_node(c, to, &n->ref);
	schema_back(c, len);
	return rc;
}

