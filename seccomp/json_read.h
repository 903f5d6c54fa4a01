/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict reader of JSON text: what people write by hand and a machine must not misread. Unlike a general library it keeps
 * where each value stands, numbers as they are written, and refuses duplicate keys. Process: ak-policy, never the executor.
 * Privilege: none. Source: RFC 8259.
 */
#ifndef AK_SECCOMP_JSON_READ_H
#define AK_SECCOMP_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_BYTES_MAX (1u << 20)
#define JSON_DEPTH_MAX 8u
#define JSON_NODES_MAX 65536u
#define JSON_KEYS_MAX 1024u	/* of one object */

enum json_kind { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

enum json_flags {
	JSON_RELAXED = 1u << 0,	/* comments (// and slash-star) and a comma after the last element, as in config files */
};

/* One value. Nodes live in one array and refer to each other by index; 0 is the root, so 0 also means "none". */
struct json_node {
	enum json_kind kind;
	uint32_t line, col;	/* of its first byte, from 1; columns count bytes */
	const char *key;	/* in an object; NUL-terminated, in the document's memory */
	const char *text;	/* STRING: decoded, NUL-terminated, holds no other NUL; NUMBER: as written */
	uint32_t first, next;	/* first element; next sibling */
	uint32_t count;		/* elements */
};

struct json_doc {
	struct json_node *nodes;	/* owned */
	uint32_t n;
	char *arena;			/* owned: keys and texts */
	size_t used;
};

struct json_error {
	uint32_t line, col;
	char text[160];
};

/**
 * json_read() - one document, to its last byte
 * @text:	not NUL-terminated; borrowed during the call
 * @flags:	enum json_flags
 * @ret:	release with json_release() also after a failure
 * @ret_err:	where and what, filled on failure
 *
 * Refuses: invalid UTF-8, a byte order mark, control bytes and NUL in strings, lone surrogates, duplicate keys, anything after
 * the value, more than JSON_DEPTH_MAX levels, JSON_NODES_MAX values, JSON_KEYS_MAX keys in an object or JSON_BYTES_MAX bytes.
 * Return: 0, -EINVAL, -E2BIG (a maximum), -ENOMEM.
 */
int json_read(const char *text, size_t len, unsigned flags, struct json_doc *ret, struct json_error *ret_err);
void json_release(struct json_doc *d);

/** json_get() - member of an object; Return: NULL when there is none or @n is no object. */
const struct json_node *json_get(const struct json_doc *d, const struct json_node *n, const char *key);
/** json_first(), json_next() - elements of an array or object in order; Return: NULL at the end. */
const struct json_node *json_first(const struct json_doc *d, const struct json_node *n);
const struct json_node *json_next(const struct json_doc *d, const struct json_node *n);
/**
 * json_version() - the two leading numbers of a text such as "6.1" or "6.1.0-57-amd64"
 * @whole:	nothing may follow them
 * Return: 0 or -EINVAL (not that, or a number over 9999).
 */
int json_version(const char *s, bool whole, unsigned *ret_major, unsigned *ret_minor);

/**
 * json_u64() - a whole number that is not negative
 * Return: 0; -EINVAL (another kind, a fraction, an exponent, a sign), -ERANGE (over 2^64 - 1).
 */
int json_u64(const struct json_node *n, uint64_t *ret);

#endif
