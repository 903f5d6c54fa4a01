/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled schema, as its files share it. Process: agent. Privilege: none. */
#ifndef AK_AGENT_SCHEMA_INT_H
#define AK_AGENT_SCHEMA_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/decimal.h"

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

/** schema_equal() - JSON's equality: numbers by value, objects in any order. *@work is counted down; 0: given up, false */
bool schema_equal(const struct cJSON *a, const struct cJSON *b, uint64_t *work);
/** schema_hash() - equal values have equal hashes */
uint64_t schema_hash(const struct cJSON *item, uint64_t *work);
/** schema_is_unique() - no two elements are equal. *@work as above; *@ret_i, *@ret_k: two that are */
bool schema_is_unique(const struct cJSON *array, uint64_t *work, size_t *ret_i, size_t *ret_k);

#endif
