/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles a JSON Schema: every keyword is known, or named as unsupported. Pure. Process: agent. Privilege: none.
 *
 * A subschema is compiled once: its place in the document leads to its node, which is there before its parts are, so that a
 * $ref may lead back into what is being compiled.
 */
#include "agent/schema.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/json_scaled.h"
#include "agent/pattern.h"
#include "agent/schema_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

struct seen {
	const struct cJSON *item;
	struct node *node;
};

struct compiler {
	struct schema *s;
	struct seen *seen; /* open addressing; a power of two */
	size_t cap;
	unsigned depth;
	bool old;	/* draft-07 or 2019-09: $ref hides its siblings there */
	struct ak_buf at; /* where we are: "#/properties/a" */
	struct ak_err *err;
};

static int compile(struct compiler *c, const struct cJSON *item, struct node **ret);

__attribute__((format(printf, 3, 4))) static int fault(struct compiler *c, int code, const char *fmt, ...)
{
	va_list ap;
	char text[300];

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ak_err_set(c->err, code, "schema %.200s: %s", c->at.len > 0 ? c->at.data : "#", text);
}

/* --- places: a step down, and back --- */

static size_t down(struct compiler *c, const char *name)
{
	size_t len = c->at.len;

	ak_buf_printf(&c->at, "/%.64s", name);
	return len;
}

static size_t down_index(struct compiler *c, size_t i)
{
	size_t len = c->at.len;

	ak_buf_printf(&c->at, "/%zu", i);
	return len;
}

static void back(struct compiler *c, size_t len)
{
	c->at.len = len;
	if (c->at.data)
		c->at.data[len] = '\0';
}

static int compile_at(struct compiler *c, const char *name, const struct cJSON *item, struct node **ret)
{
	size_t len = down(c, name);
	int rc = compile(c, item, ret);

	back(c, len);
	return rc;
}

/* --- nodes that are there --- */

static size_t slot_of(const struct seen *v, size_t cap, const struct cJSON *item)
{
	size_t i = ((uintptr_t)item >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (cap - 1);

	while (v[i].item && v[i].item != item)
		i = (i + 1) & (cap - 1);
	return i;
}

static int grow_seen(struct compiler *c)
{
	size_t cap = c->cap ? c->cap * 2 : 64;
	struct seen *v = calloc(cap, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->cap; i++) {
		if (c->seen[i].item)
			v[slot_of(v, cap, c->seen[i].item)] = c->seen[i];
	}
	free(c->seen);
	c->seen = v;
	c->cap = cap;
	return 0;
}

static struct node *new_node(struct compiler *c, const struct cJSON *item)
{
	struct schema *s = c->s;
	struct node *n;

	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 32;
		struct node **v = realloc(s->nodes, cap * sizeof(struct node *));

		if (!v)
			return NULL;
		s->nodes = v;
		s->cap = cap;
	}
	if ((s->n + 1) * 2 > c->cap && grow_seen(c) < 0)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->length.max = n->items_count.max = n->properties_count.max = n->contains_count.max = UINT64_MAX;
	n->contains_count.min = 1;
	s->nodes[s->n++] = n;
	c->seen[slot_of(c->seen, c->cap, item)] = (struct seen){ item, n };
	return n;
}

/* --- values of keywords --- */

typedef int keyword_fn(struct compiler *c, const struct cJSON *v, const char *name, struct node *n);

static int k_none(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	(void)c, (void)v, (void)name, (void)n;
	return 0;
}

static int k_schema(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	static const struct {
		const char *uri;
		bool old;
	} known[] = {
		{ "https://json-schema.org/draft/2020-12/schema", false }, { "https://json-schema.org/draft/2020-12/schema#", false },
		{ "https://json-schema.org/draft/2019-09/schema", true },  { "https://json-schema.org/draft/2019-09/schema#", true },
		{ "http://json-schema.org/draft-07/schema#", true },	   { "http://json-schema.org/draft-07/schema", true },
	};

	(void)n;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (json_is_str(v, known[i].uri)) {
			c->old = known[i].old;
			return 0;
		}
	}
	return fault(c, EOPNOTSUPP, "this %s is not supported; use https://json-schema.org/draft/2020-12/schema", name);
}

/* $id of the whole: every $ref within is local, so it has no effect. Elsewhere it changes what $ref means. */
static int k_id(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	(void)n;
	if (c->at.len > 1 || json_kind(v) != JSON_STRING)
		return fault(c, EOPNOTSUPP, "keyword \"%s\" is not supported within a schema", name);
	return 0;
}

static int type_of(const char *word)
{
	static const char *const names[] = { "null", "boolean", "number", "integer", "string", "array", "object" };

	for (unsigned i = 0; word && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(word, names[i]) == 0)
			return 1 << i;
	}
	return 0;
}

static int k_type(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	bool list = json_kind(v) == JSON_ARRAY;

	for (const struct cJSON *e = list ? json_first(v) : v; e; e = list ? json_next(e) : NULL) {
		int bit = type_of(json_str(e));

		if (!bit)
			return fault(c, EBADMSG, "\"%s\" names no type", name);
		n->types |= (unsigned)bit;
	}
	return n->types ? 0 : fault(c, EBADMSG, "\"%s\" is empty", name);
}

static int k_enum(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	if (json_kind(v) != JSON_ARRAY)
		return fault(c, EBADMSG, "\"%s\" is no array", name);
	n->enums = v;
	return 0;
}

static int k_const(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	(void)c, (void)name;
	n->constant = v;
	return 0;
}

static int k_number(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct bound *b = *name == 'm' ? (name[1] == 'u' ? &n->multiple_of : name[1] == 'a' ? &n->maximum : &n->minimum) :
			  strcmp(name, "exclusiveMaximum") == 0 ? &n->exclusive_maximum :
								  &n->exclusive_minimum;

	if (json_kind(v) != JSON_NUMBER)
		return fault(c, EBADMSG, "\"%s\" is no number", name);
	*b = (struct bound){ .set = true, .text = json_num(v) };
	decimal_read(b->text, &b->d);
	if (b != &n->multiple_of)
		return 0;
	if (b->d.digits == 0 || b->d.negative)
		return fault(c, EBADMSG, "\"%s\" is not above 0", name);
	return decimal_divisor_ok(&b->d) ? 0 : fault(c, EOPNOTSUPP, "\"%s\" of more than 18 digits is not supported", name);
}

/* A count may be written 2.0, and be larger than any that can be reached */
static int k_count(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct range *r = strcmp(name + 3, "Length") == 0     ? &n->length :
			  strcmp(name + 3, "Items") == 0      ? &n->items_count :
			  strcmp(name + 3, "Properties") == 0 ? &n->properties_count :
								&n->contains_count;
	uint64_t *to = name[1] == 'a' ? &r->max : &r->min;
	struct decimal d;

	if (json_kind(v) != JSON_NUMBER)
		return fault(c, EBADMSG, "\"%s\" is no number", name);
	decimal_read(json_num(v), &d);
	if (d.negative || !decimal_is_whole(&d))
		return fault(c, EBADMSG, "\"%s\" is no count", name);
	if (json_scale(json_num(v), 0, true, to) < 0)
		*to = UINT64_MAX;
	return 0;
}

static int k_pattern(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct ak_err err = { 0 };
	int rc;

	if (json_kind(v) != JSON_STRING)
		return fault(c, EBADMSG, "\"%s\" is no string", name);
	rc = pattern_new(json_str(v), &n->pattern, &err);
	return rc < 0 ? fault(c, -rc, "%s", err.msg) : 0;
}

static int k_unique(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	if (json_kind(v) != JSON_BOOL)
		return fault(c, EBADMSG, "\"%s\" is no boolean", name);
	n->unique = json_true(v);
	return 0;
}

static int k_sub(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	static const struct {
		const char *name;
		size_t at;
	} rows[] = {
		{ "items", offsetof(struct node, items) },		{ "contains", offsetof(struct node, contains) },
		{ "additionalProperties", offsetof(struct node, additional) }, { "propertyNames", offsetof(struct node, names) },
		{ "not", offsetof(struct node, not_node) },		{ "if", offsetof(struct node, if_node) },
		{ "then", offsetof(struct node, then_node) },		{ "else", offsetof(struct node, else_node) },
	};

	if (json_kind(v) == JSON_ARRAY && strcmp(name, "items") == 0)
		return fault(c, EOPNOTSUPP, "\"items\" as an array is not supported; use \"prefixItems\"");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name, rows[i].name) == 0)
			return compile_at(c, name, v, (struct node **)(void *)((char *)n + rows[i].at));
	}
	return 0;
}

static int new_branches(struct compiler *c, const struct cJSON *v, struct branches *b)
{
	size_t n = json_count(v);

	b->v = calloc(n + 1, sizeof(*b->v));
	return b->v ? 0 : fault(c, ENOMEM, "no memory");
}

static int k_list(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct branches *b = *name == 'p' ? &n->prefix : name[1] == 'l' ? &n->all : name[1] == 'n' && *name == 'a' ? &n->any : &n->one;
	size_t len = down(c, name);
	int rc = json_kind(v) == JSON_ARRAY && json_first(v) ? new_branches(c, v, b) :
							       fault(c, EBADMSG, "is no array with schemas in it");

	for (const struct cJSON *e = rc < 0 ? NULL : json_first(v); e && rc == 0; e = json_next(e)) {
		size_t here = down_index(c, b->n);

		rc = compile(c, e, &b->v[b->n].node);
		back(c, here);
		b->n++;
	}
	back(c, len);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct branch *)a)->name, ((const struct branch *)b)->name);
}

static int k_map(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	bool patterns = strcmp(name, "patternProperties") == 0;
	struct branches *b = patterns ? &n->patterns : *name == 'p' ? &n->properties : &n->dependents;
	size_t len = down(c, name);
	int rc = json_kind(v) == JSON_OBJECT ? new_branches(c, v, b) : fault(c, EBADMSG, "is no object");

	for (const struct cJSON *e = rc < 0 ? NULL : json_first(v); e && rc == 0; e = json_next(e)) {
		struct branch *to = &b->v[b->n++];
		struct ak_err err = { 0 };

		to->name = json_name(e);
		if (patterns)
			rc = pattern_new(to->name, &to->pattern, &err);
		rc = rc < 0 ? fault(c, -rc, "%s", err.msg) : compile_at(c, to->name, e, &to->node);
	}
	if (rc == 0 && !patterns)
		qsort(b->v, b->n, sizeof(*b->v), by_name);
	back(c, len);
	return rc;
}

static bool all_strings(const struct cJSON *v)
{
	for (const struct cJSON *e = json_first(v); e; e = json_next(e)) {
		if (json_kind(e) != JSON_STRING)
			return false;
	}
	return json_kind(v) == JSON_ARRAY;
}

static int k_required(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	n->required = v;
	return all_strings(v) ? 0 : fault(c, EBADMSG, "\"%s\" is no array of names", name);
}

static int k_dependent(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	n->dependent_required = v;
	for (const struct cJSON *e = json_first(v); e; e = json_next(e)) {
		if (!all_strings(e))
			return fault(c, EBADMSG, "\"%s\" holds what is no array of names", name);
	}
	return json_kind(v) == JSON_OBJECT ? 0 : fault(c, EBADMSG, "\"%s\" is no object", name);
}

/* --- $ref --- */

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

static int k_ref(struct compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	const char *text = json_str(v);
	const struct cJSON *to = c->s->doc;
	size_t len = c->at.len;
	char step[256];
	int rc;

	if (!text)
		return fault(c, EBADMSG, "\"%s\" is no string", name);
	if (*text != '#' || (text[1] && text[1] != '/'))
		return fault(c, EOPNOTSUPP, "%s \"%.80s\" is not supported; only \"#\" and \"#/...\" are", name, text);
	for (const char *p = text + 1; to && *p == '/';) {
		p++;
		if (unescape(&p, step, sizeof(step)) < 0)
			return fault(c, EBADMSG, "%s \"%.80s\" is no JSON pointer", name, text);
		to = json_kind(to) == JSON_ARRAY ? element(to, step) : json_get(to, step);
	}
	if (!to)
		return fault(c, EBADMSG, "%s \"%.80s\" leads nowhere", name, text);
	ak_buf_printf(&c->at, " -> %.80s", text);
	rc = compile(c, to, &n->ref);
	back(c, len);
	return rc;
}

/* --- keywords --- */

static const struct {
	const char *name;
	keyword_fn *fn;
} keywords[] = {
	{ "$schema", k_schema },
	{ "$id", k_id },
	{ "$ref", k_ref },
	{ "$defs", k_none },
	{ "definitions", k_none },
	{ "type", k_type },
	{ "enum", k_enum },
	{ "const", k_const },
	{ "multipleOf", k_number },
	{ "maximum", k_number },
	{ "exclusiveMaximum", k_number },
	{ "minimum", k_number },
	{ "exclusiveMinimum", k_number },
	{ "maxLength", k_count },
	{ "minLength", k_count },
	{ "maxItems", k_count },
	{ "minItems", k_count },
	{ "maxProperties", k_count },
	{ "minProperties", k_count },
	{ "maxContains", k_count },
	{ "minContains", k_count },
	{ "pattern", k_pattern },
	{ "uniqueItems", k_unique },
	{ "items", k_sub },
	{ "contains", k_sub },
	{ "additionalProperties", k_sub },
	{ "propertyNames", k_sub },
	{ "not", k_sub },
	{ "if", k_sub },
	{ "then", k_sub },
	{ "else", k_sub },
	{ "prefixItems", k_list },
	{ "allOf", k_list },
	{ "anyOf", k_list },
	{ "oneOf", k_list },
	{ "properties", k_map },
	{ "patternProperties", k_map },
	{ "dependentSchemas", k_map },
	{ "required", k_required },
	{ "dependentRequired", k_dependent },
	/* annotations: they say something about a value and refuse none */
	{ "$comment", k_none },
	{ "title", k_none },
	{ "description", k_none },
	{ "default", k_none },
	{ "examples", k_none },
	{ "deprecated", k_none },
	{ "readOnly", k_none },
	{ "writeOnly", k_none },
	{ "format", k_none },
	{ "contentEncoding", k_none },
	{ "contentMediaType", k_none },
	{ "contentSchema", k_none },
};

static int keyword(struct compiler *c, const struct cJSON *v, struct node *n)
{
	const char *name = json_name(v);

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (strcmp(name, keywords[i].name) == 0)
			return keywords[i].fn(c, v, name, n);
	}
	return fault(c, EOPNOTSUPP, "keyword \"%.64s\" is not supported", name);
}

static int fill(struct compiler *c, const struct cJSON *item, struct node *n)
{
	int rc;

	if (json_kind(item) == JSON_BOOL) {
		n->never = !json_true(item);
		return 0;
	}
	/* says how the others are to be read */
	if (c->s->n == 1 && json_get(item, "$schema")) {
		rc = k_schema(c, json_get(item, "$schema"), "$schema", n);
		if (rc < 0)
			return rc;
	}
	if (c->old && json_get(item, "$ref") && json_count(item) > 1 + (json_get(item, "$schema") != NULL))
		return fault(c, EOPNOTSUPP, "keywords beside $ref are not supported with this $schema, which ignores them");
	for (const struct cJSON *v = json_first(item); v; v = json_next(v)) {
		rc = keyword(c, v, n);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int compile(struct compiler *c, const struct cJSON *item, struct node **ret)
{
	struct node *n = c->cap ? c->seen[slot_of(c->seen, c->cap, item)].node : NULL;
	int rc;

	if (n) {
		*ret = n;
		return 0;
	}
	if (json_kind(item) != JSON_OBJECT && json_kind(item) != JSON_BOOL)
		return fault(c, EBADMSG, "expected a schema, got %s", json_kind_name(json_kind(item)));
	if (c->s->n == SCHEMA_NODES_MAX || c->depth == SCHEMA_DEPTH_MAX)
		return fault(c, E2BIG, "too many schemas, or too deep");
	n = new_node(c, item);
	if (!n)
		return fault(c, ENOMEM, "no memory");
	c->depth++;
	rc = fill(c, item, n);
	c->depth--;
	if (rc == 0)
		*ret = n;
	return rc;
}

static void free_branches(struct branches *b)
{
	for (size_t i = 0; i < b->n; i++)
		pattern_free(b->v[i].pattern);
	free(b->v);
}

void schema_free(struct schema *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		struct node *n = s->nodes[i];
		struct branches *all[] = { &n->prefix, &n->properties, &n->patterns, &n->dependents, &n->all, &n->any, &n->one };

		for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
			free_branches(all[k]);
		pattern_free(n->pattern);
		free(n);
	}
	free(s->nodes);
	json_free(s->doc);
	free(s);
}

int schema_compile(const struct cJSON *doc, struct schema **ret, struct ak_err *err)
{
	struct schema *s = calloc(1, sizeof(*s));
	struct compiler c = { .s = s, .err = err };
	int rc;

	if (s)
		s->doc = json_dup(doc);
	if (!s || !s->doc) {
		schema_free(s);
		return ak_err_set(err, ENOMEM, "no memory for a schema");
	}
	ak_buf_str(&c.at, "#");
	rc = compile(&c, s->doc, &s->top);
	free(c.seen);
	ak_buf_release(&c.at);
	if (rc < 0) {
		schema_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

int schema_parse(const char *text, size_t len, struct schema **ret, struct ak_err *err)
{
	struct cJSON *doc = NULL;
	int rc = json_parse(text, len, 0, NULL, &doc, err);

	if (rc < 0)
		return rc;
	rc = schema_compile(doc, ret, err);
	json_free(doc);
	return rc;
}
