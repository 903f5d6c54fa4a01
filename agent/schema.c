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

int schema_fault(struct schema_compiler *c, int code, const char *fmt, ...)
{
	va_list ap;
	char text[300];

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return ak_err_set(c->err, code, "schema %.200s: %s", c->at.len > 0 ? c->at.data : "#", text);
}

/* --- places: a step down, and back --- */

size_t schema_down(struct schema_compiler *c, const char *name)
{
	size_t len = c->at.len;

	ak_buf_printf(&c->at, "/%.64s", name);
	return len;
}

size_t schema_down_index(struct schema_compiler *c, size_t i)
{
	size_t len = c->at.len;

	ak_buf_printf(&c->at, "/%zu", i);
	return len;
}

void schema_back(struct schema_compiler *c, size_t len)
{
	c->at.len = len;
	if (c->at.data)
		c->at.data[len] = '\0';
}

int schema_node_at(struct schema_compiler *c, const char *name, const struct cJSON *item, struct node **ret)
{
	size_t len = schema_down(c, name);
	int rc = schema_node(c, item, ret);

	schema_back(c, len);
	return rc;
}

/* --- nodes that are there --- */

static size_t slot_of(const struct schema_seen *v, size_t cap, const struct cJSON *item)
{
	size_t i = ((uintptr_t)item >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (cap - 1);

	while (v[i].item && v[i].item != item)
		i = (i + 1) & (cap - 1);
	return i;
}

static int grow_seen(struct schema_compiler *c)
{
	size_t cap = c->cap ? c->cap * 2 : 64;
	struct schema_seen *v = calloc(cap, sizeof(*v));

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

static struct node *new_node(struct schema_compiler *c, const struct cJSON *item)
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
	c->seen[slot_of(c->seen, c->cap, item)] = (struct schema_seen){ item, n };
	return n;
}

static int fill(struct schema_compiler *c, const struct cJSON *item, struct node *n)
{
	int rc;

	if (json_kind(item) == JSON_BOOL) {
		n->never = !json_true(item);
		return 0;
	}
	/* says how the others are to be read */
	if (c->s->n == 1 && json_get(item, "$schema")) {
		rc = schema_k_schema(c, json_get(item, "$schema"), "$schema", n);
		if (rc < 0)
			return rc;
	}
	if (c->old && json_get(item, "$ref") && json_count(item) > 1 + (json_get(item, "$schema") != NULL))
		return schema_fault(c, EOPNOTSUPP, "keywords beside $ref are not supported with this $schema, which ignores them");
	for (const struct cJSON *v = json_first(item); v; v = json_next(v)) {
		rc = schema_keyword(c, v, n);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int schema_node(struct schema_compiler *c, const struct cJSON *item, struct node **ret)
{
	struct node *n = c->cap ? c->seen[slot_of(c->seen, c->cap, item)].node : NULL;
	int rc;

	if (n) {
		*ret = n;
		return 0;
	}
	if (json_kind(item) != JSON_OBJECT && json_kind(item) != JSON_BOOL)
		return schema_fault(c, EBADMSG, "expected a schema, got %s", json_kind_name(json_kind(item)));
	if (c->s->n == SCHEMA_NODES_MAX || c->depth == SCHEMA_DEPTH_MAX)
		return schema_fault(c, E2BIG, "too many schemas, or too deep");
	n = new_node(c, item);
	if (!n)
		return schema_fault(c, ENOMEM, "no memory");
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
	struct schema_compiler c = { .s = s, .err = err };
	int rc;

	if (s)
		s->doc = json_dup(doc);
	if (!s || !s->doc) {
		schema_free(s);
		return ak_err_set(err, ENOMEM, "no memory for a schema");
	}
	ak_buf_str(&c.at, "#");
	rc = schema_node(&c, s->doc, &s->top);
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
