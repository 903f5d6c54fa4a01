/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Schema (draft 2020-12) for tool arguments and --output-schema: what is claimed is exact, what is not claimed is refused by
 * name. Pure. Process: agent. Privilege: none.
 *
 * Claimed: boolean schemas, type, enum, const, multipleOf, maximum, exclusiveMaximum, minimum, exclusiveMinimum, maxLength,
 * minLength, pattern, items, prefixItems, maxItems, minItems, uniqueItems, contains, minContains, maxContains, properties,
 * patternProperties, additionalProperties, propertyNames, required, dependentRequired, dependentSchemas, maxProperties, minProperties, allOf, anyOf, oneOf,
 * not, if, then, else, $defs (also "definitions"), $ref to "#" and "#/...". Without effect, as the specification has it: $schema (2020-12 and draft-07
 * only), $comment, title, description, default, examples, deprecated, readOnly, writeOnly, format, contentEncoding,
 * contentMediaType, contentSchema. Everything else is -EOPNOTSUPP.
 * Numbers are compared by their decimal text, never as doubles: 1.0 is an integer, 9007199254740993 is not 9007199254740992.
 * Source: json-schema.org, draft 2020-12, "Core" and "Validation".
 */
#ifndef AK_AGENT_SCHEMA_H
#define AK_AGENT_SCHEMA_H

#include <stddef.h>

struct ak_err;
struct cJSON;
struct schema;

#define SCHEMA_NODES_MAX 10000u	   /* subschemas */
#define SCHEMA_DEPTH_MAX 64u	   /* of subschemas in each other, and of $ref while checking */
#define SCHEMA_WORK_MAX 5000000u   /* steps of one check */
#define SCHEMA_PATTERN_MAX 1000u   /* bytes of a pattern */

/**
 * schema_compile() - make a schema ready
 * @doc:	an object or a boolean; copied
 * @ret:	free with schema_free()
 * Return: 0; -EOPNOTSUPP (a keyword, $ref or pattern that is not supported: @err names it and where it stands); -EBADMSG (not a valid
 * schema); -E2BIG (over a limit); -ENOMEM. *@ret is untouched then.
 */
int schema_compile(const struct cJSON *doc, struct schema **ret, struct ak_err *err);
/** schema_parse() - schema_compile() from text. Return: also as json_parse(). */
int schema_parse(const char *text, size_t len, struct schema **ret, struct ak_err *err);
/** schema_free() - NULL does nothing */
void schema_free(struct schema *s);

/**
 * schema_check() - does the value match?
 * Return: 0; -EBADMSG (it does not: @err is "PATH: what is wrong", PATH "(top)", or "files[2].name"); -E2BIG (the check takes too
 * many steps or too deep); -ENOMEM.
 */
int schema_check(const struct schema *s, const struct cJSON *value, struct ak_err *err);

#endif
