/* SPDX-License-Identifier: Apache-2.0 */
/* The keywords of JSON Schema: what each may hold, and what it puts into its node. Pure. Process: agent. Privilege: none. */
#include "agent/schema.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/json_scaled.h"
#include "agent/pattern.h"
#include "agent/schema_int.h"
#include "executor/shared/ak_err.h"

typedef int keyword_fn(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n);

static int k_none(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	(void)c, (void)v, (void)name, (void)n;
	return 0;
}

int schema_k_schema(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
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
	return schema_fault(c, EOPNOTSUPP, "this %s is not supported; use https://json-schema.org/draft/2020-12/schema", name);
}

/* $id of the whole: every $ref within is local, so it has no effect. Elsewhere it changes what $ref means. */
static int k_id(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	(void)n;
	if (c->at.len > 1 || json_kind(v) != JSON_STRING)
		return schema_fault(c, EOPNOTSUPP, "keyword \"%s\" is not supported within a schema", name);
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

static int k_type(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	bool list = json_kind(v) == JSON_ARRAY;

	for (const struct cJSON *e = list ? json_first(v) : v; e; e = list ? json_next(e) : NULL) {
		int bit = type_of(json_str(e));

		if (!bit)
			return schema_fault(c, EBADMSG, "\"%s\" names no type", name);
		n->types |= (unsigned)bit;
	}
	return n->types ? 0 : schema_fault(c, EBADMSG, "\"%s\" is empty", name);
}

static int k_enum(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	if (json_kind(v) != JSON_ARRAY)
		return schema_fault(c, EBADMSG, "\"%s\" is no array", name);
	n->enums = v;
	return 0;
}

static int k_const(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	(void)c, (void)name;
	n->constant = v;
	return 0;
}

static int k_number(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct bound *b = *name == 'm' ? (name[1] == 'u' ? &n->multiple_of : name[1] == 'a' ? &n->maximum : &n->minimum) :
			  strcmp(name, "exclusiveMaximum") == 0 ? &n->exclusive_maximum :
								  &n->exclusive_minimum;

	if (json_kind(v) != JSON_NUMBER)
		return schema_fault(c, EBADMSG, "\"%s\" is no number", name);
	*b = (struct bound){ .set = true, .text = json_num(v) };
	decimal_read(b->text, &b->d);
	if (b != &n->multiple_of)
		return 0;
	if (b->d.digits == 0 || b->d.negative)
		return schema_fault(c, EBADMSG, "\"%s\" is not above 0", name);
	return decimal_divisor_ok(&b->d) ? 0 : schema_fault(c, EOPNOTSUPP, "\"%s\" of more than 18 digits is not supported", name);
}

/* A count may be written 2.0, and be larger than any that can be reached */
static int k_count(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct range *r = strcmp(name + 3, "Length") == 0     ? &n->length :
			  strcmp(name + 3, "Items") == 0      ? &n->items_count :
			  strcmp(name + 3, "Properties") == 0 ? &n->properties_count :
								&n->contains_count;
	uint64_t *to = name[1] == 'a' ? &r->max : &r->min;
	struct decimal d;

	if (json_kind(v) != JSON_NUMBER)
		return schema_fault(c, EBADMSG, "\"%s\" is no number", name);
	decimal_read(json_num(v), &d);
	if (d.negative || !decimal_is_whole(&d))
		return schema_fault(c, EBADMSG, "\"%s\" is no count", name);
	if (json_scale(json_num(v), 0, true, to) < 0)
		*to = UINT64_MAX;
	return 0;
}

static int k_pattern(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct ak_err err = { 0 };
	int rc;

	if (json_kind(v) != JSON_STRING)
		return schema_fault(c, EBADMSG, "\"%s\" is no string", name);
	rc = pattern_new(json_str(v), &n->pattern, &err);
	return rc < 0 ? schema_fault(c, -rc, "%s", err.msg) : 0;
}

static int k_unique(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	if (json_kind(v) != JSON_BOOL)
		return schema_fault(c, EBADMSG, "\"%s\" is no boolean", name);
	n->unique = json_true(v);
	return 0;
}

static int k_sub(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
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
		return schema_fault(c, EOPNOTSUPP, "\"items\" as an array is not supported; use \"prefixItems\"");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name, rows[i].name) == 0)
			return schema_node_at(c, name, v, (struct node **)(void *)((char *)n + rows[i].at));
	}
	return 0;
}

static int new_branches(struct schema_compiler *c, const struct cJSON *v, struct branches *b)
{
	size_t n = json_count(v);

	b->v = calloc(n + 1, sizeof(*b->v));
	return b->v ? 0 : schema_fault(c, ENOMEM, "no memory");
}

static int k_list(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	struct branches *b = *name == 'p' ? &n->prefix : name[1] == 'l' ? &n->all : name[1] == 'n' && *name == 'a' ? &n->any : &n->one;
	size_t len = schema_down(c, name);
	int rc = json_kind(v) == JSON_ARRAY && json_first(v) ? new_branches(c, v, b) :
							       schema_fault(c, EBADMSG, "is no array with schemas in it");

	for (const struct cJSON *e = rc < 0 ? NULL : json_first(v); e && rc == 0; e = json_next(e)) {
		size_t here = schema_down_index(c, b->n);

		rc = schema_node(c, e, &b->v[b->n].node);
		schema_back(c, here);
		b->n++;
	}
	schema_back(c, len);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct branch *)a)->name, ((const struct branch *)b)->name);
}

static int k_map(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	bool patterns = strcmp(name, "patternProperties") == 0;
	struct branches *b = patterns ? &n->patterns : *name == 'p' ? &n->properties : &n->dependents;
	size_t len = schema_down(c, name);
	int rc = json_kind(v) == JSON_OBJECT ? new_branches(c, v, b) : schema_fault(c, EBADMSG, "is no object");

	for (const struct cJSON *e = rc < 0 ? NULL : json_first(v); e && rc == 0; e = json_next(e)) {
		struct branch *to = &b->v[b->n++];
		struct ak_err err = { 0 };

		to->name = json_name(e);
		if (patterns)
			rc = pattern_new(to->name, &to->pattern, &err);
		rc = rc < 0 ? schema_fault(c, -rc, "%s", err.msg) : schema_node_at(c, to->name, e, &to->node);
	}
	if (rc == 0 && !patterns)
		qsort(b->v, b->n, sizeof(*b->v), by_name);
	schema_back(c, len);
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

static int k_required(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	n->required = v;
	return all_strings(v) ? 0 : schema_fault(c, EBADMSG, "\"%s\" is no array of names", name);
}

static int k_dependent(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n)
{
	n->dependent_required = v;
	for (const struct cJSON *e = json_first(v); e; e = json_next(e)) {
		if (!all_strings(e))
			return schema_fault(c, EBADMSG, "\"%s\" holds what is no array of names", name);
	}
	return json_kind(v) == JSON_OBJECT ? 0 : schema_fault(c, EBADMSG, "\"%s\" is no object", name);
}

/* --- keywords --- */

static const struct {
	const char *name;
	keyword_fn *fn;
} keywords[] = {
	{ "$schema", schema_k_schema },
	{ "$id", k_id },
	{ "$ref", schema_k_ref },
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

int schema_keyword(struct schema_compiler *c, const struct cJSON *v, struct node *n)
{
	const char *name = json_name(v);

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (strcmp(name, keywords[i].name) == 0)
			return keywords[i].fn(c, v, name, n);
	}
	return schema_fault(c, EOPNOTSUPP, "keyword \"%.64s\" is not supported", name);
}

