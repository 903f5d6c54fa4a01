/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict JSON on cJSON's tree: parser, access by path, printer, edits. Process: agent. Privilege: none.
 *
 * cJSON gives the nodes, their memory and the joints; its parser and printer are not used, since they cut strings at
 * \u0000, print 9007199254740993 as 9.00719925474099e+15 and 1e400 as null, look names up in any case, keep duplicate
 * names, and take bytes that are not UTF-8 and text behind the end. scripts/check-boundary.sh keeps the rest of the
 * agent on the functions below. In a tree made here a number keeps its text, a string never holds NUL, and names are
 * unique within an object.
 */
#ifndef AK_AGENT_JSON_H
#define AK_AGENT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_buf;
struct ak_err;
struct ak_json;
struct cJSON;

#define JSON_BYTES_MAX (64u << 20)
#define JSON_DEPTH_MAX 128u
#define JSON_ITEMS_MAX 500000u
#define JSON_NUMBER_MAX 1024u /* bytes of one number's text */

enum json_flags {
	/*
	 * For what a server sends: \u0000 becomes U+FFFD, and half of a surrogate pair is kept as the three bytes of its
	 * code point (not valid UTF-8), so that json_text_add() can join it with its other half in the next delta and
	 * json_print() can write it as the escape it was. Without the flag both are errors.
	 */
	JSON_REPAIR = 1 << 0,
	/* For json_parse(): strings of the tree are "", names are not. For a look whether a large text is valid. */
	JSON_NO_TEXT = 1 << 2,
	/* For json_print(): names of objects in byte order, so that equal values give equal bytes */
	JSON_SORTED = 1 << 1,
};

/* What a text may cost; 0 stands for the maximum above. Values over the maximum are cut to it. */
struct json_limits {
	size_t bytes;
	unsigned depth;	/* arrays and objects inside each other */
	size_t items;	/* values of every kind */
};

enum json_kind {
	JSON_ABSENT,	/* no such value (a NULL pointer) */
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/**
 * json_parse() - one JSON value and nothing behind it (RFC 8259, white space around it allowed)
 * @text:	borrowed; need not end with NUL
 * @flags:	JSON_REPAIR, JSON_NO_TEXT
 * @limits:	NULL: all maxima
 * @ret:	the tree; free with json_free()
 *
 * Refused: bytes that are not UTF-8 (a byte order mark too), control characters in strings, duplicate names (compared
 * after unescaping), numbers that do not fit a double, and without JSON_REPAIR NUL escapes and lone surrogates. Takes
 * time linear in @len (names of one object are sorted). @err names the fault and its byte offset, never the text.
 * Return: 0; -EBADMSG (not JSON, or bytes behind it; @len 0 too); -EILSEQ (text that is not Unicode, NUL escape, lone
 * surrogate); -EEXIST (duplicate name); -ERANGE (number); -E2BIG (over a limit); -ENOMEM. *@ret is untouched then.
 */
int json_parse(const char *text, size_t len, unsigned flags, const struct json_limits *limits, struct cJSON **ret,
	       struct ak_err *err);

/**
 * json_parse_in_place() - json_parse() without copies: the strings of the tree lie in @text, which is overwritten (also on
 * failure) and has to live as long as the tree does. json_dup() makes a tree of its own.
 */
int json_parse_in_place(char *text, size_t len, unsigned flags, const struct json_limits *limits, struct cJSON **ret,
			struct ak_err *err);

/** json_free() - free a whole tree; NULL does nothing */
void json_free(struct cJSON *item);

/* --- looking. Every function takes NULL for an absent value; nothing below copies: results live as long as the tree --- */

enum json_kind json_kind(const struct cJSON *item);
/** json_kind_name() - "a string", "an object", ..., "nothing": for messages */
const char *json_kind_name(enum json_kind kind);
/** json_get() - the member called exactly @name; NULL when @obj is no object or has none */
struct cJSON *json_get(const struct cJSON *obj, const char *name);
/** json_at() - json_get() along names joined by dots ("delta.text"); no name with a dot can be reached so */
struct cJSON *json_at(const struct cJSON *from, const char *path);
/** json_first() - first element or member, NULL when there is none; json_next() - the one behind it */
struct cJSON *json_first(const struct cJSON *item);
struct cJSON *json_next(const struct cJSON *item);
/** json_name() - the name of an object's member; NULL for anything else */
const char *json_name(const struct cJSON *item);
/** json_str() - the text of a string, NULL for anything else; json_num() - the text of a number as it was written */
const char *json_str(const struct cJSON *item);
const char *json_num(const struct cJSON *item);
/** json_is_str() - a string equal to @text? */
bool json_is_str(const struct cJSON *item, const char *text);
/** json_true() - is it the value true? */
bool json_true(const struct cJSON *item);
/** json_count() - elements or members; takes time linear in their number */
size_t json_count(const struct cJSON *item);

/*
 * Typed access by path (see json_at()). json_need_*: the value must be there. json_opt_*: absent and null leave *@ret
 * as it is and give 0. Another type is an error in both; @err names the path: `usage.output_tokens: expected a whole
 * number, got a string`.
 * Return: 0; -ENOENT (absent or null, json_need_* only); -EBADMSG (another type); -ERANGE (a number that does not fit).
 * *@ret is untouched on failure.
 */
int json_need_str(const struct cJSON *from, const char *path, const char **ret, struct ak_err *err);
int json_opt_str(const struct cJSON *from, const char *path, const char **ret, struct ak_err *err);
/* Whole numbers in any notation: 12, 12.0 and 1.2e1 are twelve; 12.5 is -EBADMSG, -1 is -ERANGE */
int json_need_u64(const struct cJSON *from, const char *path, uint64_t *ret, struct ak_err *err);
int json_opt_u64(const struct cJSON *from, const char *path, uint64_t *ret, struct ak_err *err);
int json_need_bool(const struct cJSON *from, const char *path, bool *ret, struct ak_err *err);
int json_opt_bool(const struct cJSON *from, const char *path, bool *ret, struct ak_err *err);
int json_need_arr(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err);
int json_opt_arr(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err);
int json_need_obj(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err);
int json_opt_obj(const struct cJSON *from, const char *path, const struct cJSON **ret, struct ak_err *err);
/**
 * json_need_scaled() - a number of 0 or more, times 10 to the power of @places, exact in decimal (no floating point);
 * what is left behind the point is rounded up, so that a price or a cost is never made smaller. 0.000003 with 12 places
 * is 3000000, and so is 3e-06.
 */
int json_need_scaled(const struct cJSON *from, const char *path, unsigned places, uint64_t *ret, struct ak_err *err);
int json_opt_scaled(const struct cJSON *from, const char *path, unsigned places, uint64_t *ret, struct ak_err *err);

/* --- writing: deterministic, compact, members in their order, numbers as they were written ---------------------------- */

/**
 * json_print() - append the text of @item (NULL: null)
 * @flags:	0 or JSON_SORTED
 * Half surrogates are written as escapes, other bytes that are not UTF-8 as \ufffd, so the result is always JSON. A
 * failure latches in @out.
 */
void json_print(const struct cJSON *item, unsigned flags, struct ak_buf *out);
/** json_put() - a whole tree as the next value of a writer */
void json_put(struct ak_json *j, const char *key, const struct cJSON *item);

/* --- edits. A NULL result, or -ENOMEM, means no memory. Strings are copied; @item is taken in every case --------------- */

struct cJSON *json_new_obj(void);
struct cJSON *json_new_arr(void);
/** json_new_str() - @text of @len bytes; NUL bytes become U+FFFD */
struct cJSON *json_new_str(const char *text, size_t len);
struct cJSON *json_new_u64(uint64_t value);
struct cJSON *json_new_bool(bool value);
struct cJSON *json_dup(const struct cJSON *item);
/** json_set() - give @obj the member @name; one of that name is replaced where it stands. NULL @item: -ENOMEM. */
int json_set(struct cJSON *obj, const char *name, struct cJSON *item);
/** json_add() - append to an array, in constant time. NULL @item: -ENOMEM. */
int json_add(struct cJSON *arr, struct cJSON *item);
/** json_drop() - remove and free the member @name, if there is one */
void json_drop(struct cJSON *obj, const char *name);

/* --- text that comes in deltas ----------------------------------------------------------------------------------------- */

/** json_text_add() - append a string that JSON_REPAIR let through; joins a half surrogate at the end with its other half */
void json_text_add(struct ak_buf *b, const char *text);
/**
 * json_text_end() - no more deltas: half surrogates that found no other half become U+FFFD
 * Return: how many there were. For tool arguments more than 0 is an error of the tool call.
 */
size_t json_text_end(struct ak_buf *b);

#endif
