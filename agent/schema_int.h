/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled schema, as its files share it. Process: agent. Privilege: none. */
#ifndef AK_AGENT_SCHEMA_INT_H
#define AK_AGENT_SCHEMA_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/decimal.h"
#include "executor/shared/ak_buf.h"

struct ak_err;
struct cJSON;
struct node;
struct pattern;

enum schema_type {
	SCHEMA_NULL = 1 << 0,
	SCHEMA_BOOL = 1 << 1,
	SCHEMA_NUMBER = 1 << 2,
	SCHEMA_INTEGER = 1 << 3,
	SCHEMA_STRING = 1 << 4,
	SCHEMA_ARRAY = 1 << 5,
	SCHEMA_OBJECT = 1 << 6,
};

/* A list of subschemas; with a name each (properties, dependentSchemas: in byte order), or a pattern */
struct branch {
	const char *name;
	struct pattern *pattern;
	struct node *node;
};

struct branches {
	struct branch *v;
	size_t n;
};

struct bound {
	bool set;
	struct decimal d;
	const char *text;
};

/* Counts that have a least and a most */
struct range {
	uint64_t min;
	uint64_t max;
};

/**
 * struct node - one subschema. Pointers into the schema's own copy of the document; NULL and zero: no such keyword.
 * @types:	enum schema_type; 0: every type
 */
struct node {
	bool never;
	unsigned types;
	const struct cJSON *enums;
	const struct cJSON *constant;
	struct bound multiple_of, maximum, exclusive_maximum, minimum, exclusive_minimum;
	struct range length, items_count, properties_count, contains_count;
	struct pattern *pattern;
	bool unique;
	struct node *items, *contains, *additional, *names;
	struct node *not_node, *if_node, *then_node, *else_node, *ref;
	struct branches prefix, properties, patterns, dependents, all, any, one;
	const struct cJSON *required;
	const struct cJSON *dependent_required;
};

struct schema {
	struct cJSON *doc;
	struct node **nodes; /* owned */
	size_t n, cap;
	struct node *top;
};

struct schema_seen {
	const struct cJSON *item;
	struct node *node;
};

struct schema_compiler {
	struct schema *s;
	struct schema_seen *seen; /* open addressing; a power of two */
	size_t cap;
	unsigned depth;
	bool old;	/* draft-07 or 2019-09: $ref hides its siblings there */
	struct ak_buf at; /* where we are: "#/properties/a" */
	struct ak_err *err;
};

/** schema_fault() - an error at the place where the compiler is. Return: -@code. */
int schema_fault(struct schema_compiler *c, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/** schema_down() - a step down. Return: for schema_back(). */
size_t schema_down(struct schema_compiler *c, const char *name);
size_t schema_down_index(struct schema_compiler *c, size_t i);
void schema_back(struct schema_compiler *c, size_t len);
/** schema_node() - the node of a subschema, compiled if it was not yet; borrowed */
int schema_node(struct schema_compiler *c, const struct cJSON *item, struct node **ret);
/** schema_node_at() - the same, one step down */
int schema_node_at(struct schema_compiler *c, const char *name, const struct cJSON *item, struct node **ret);
/** schema_keyword() - one member of a schema object into its node */
int schema_keyword(struct schema_compiler *c, const struct cJSON *v, struct node *n);
/* Two keywords: $schema, which is read before the others, and $ref. As schema_keyword(); @name: theirs */
int schema_k_schema(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n);
int schema_k_ref(struct schema_compiler *c, const struct cJSON *v, const char *name, struct node *n);

/** schema_equal() - JSON's equality: numbers by value, objects in any order. *@work is counted down; 0: given up, false */
bool schema_equal(const struct cJSON *a, const struct cJSON *b, uint64_t *work);
/** schema_hash() - equal values have equal hashes */
uint64_t schema_hash(const struct cJSON *item, uint64_t *work);
/** schema_is_unique() - no two elements are equal. *@work as above; *@ret_i, *@ret_k: two that are */
bool schema_is_unique(const struct cJSON *array, uint64_t *work, size_t *ret_i, size_t *ret_k);

#endif
