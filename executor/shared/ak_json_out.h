/* SPDX-License-Identifier: Apache-2.0 */
/* JSON writer (never a parser). Commas and escapes are its business; the caller keeps begin and end in balance. */
#ifndef AK_SHARED_AK_JSON_OUT_H
#define AK_SHARED_AK_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_buf;

struct ak_json {
	struct ak_buf *out;	/* borrowed */
	unsigned depth;
	bool comma;
};

void ak_json_init(struct ak_json *j, struct ak_buf *out);
/** key NULL inside arrays and at the top */
void ak_json_obj(struct ak_json *j, const char *key);
void ak_json_obj_end(struct ak_json *j);
void ak_json_arr(struct ak_json *j, const char *key);
void ak_json_arr_end(struct ak_json *j);
void ak_json_null(struct ak_json *j, const char *key);
void ak_json_bool(struct ak_json *j, const char *key, bool v);
void ak_json_u64(struct ak_json *j, const char *key, uint64_t v);
void ak_json_i64(struct ak_json *j, const char *key, int64_t v);
/** ak_json_raw() - a value that is JSON text already; nothing of it is looked at */
void ak_json_raw(struct ak_json *j, const char *key, const char *text, size_t n);
/** ak_json_milli() - thousandths as a decimal number: 1500 -> 1.5, 2000 -> 2.0 */
void ak_json_milli(struct ak_json *j, const char *key, uint64_t thousandths);
/** ak_json_str() - text that may hold anything: bytes that are not valid UTF-8 become \ufffd; NULL is written as null */
void ak_json_str(struct ak_json *j, const char *key, const char *s);
void ak_json_strn(struct ak_json *j, const char *key, const char *s, size_t n);
/** ak_json_base64() - bytes as a base64 string */
void ak_json_base64(struct ak_json *j, const char *key, const void *p, size_t n);

/* A piece of a value that lies in several places */
struct ak_span {
	const void *p;	/* borrowed; may be NULL when n is 0 */
	size_t n;
};

/** ak_json_strv() - one string from pieces; a character may not lie across two of them */
void ak_json_strv(struct ak_json *j, const char *key, const struct ak_span *v, size_t nv);
/** ak_json_base64v() - one base64 string from pieces of any length */
void ak_json_base64v(struct ak_json *j, const char *key, const struct ak_span *v, size_t nv);

/** ak_utf8_valid() - strict UTF-8 (no surrogates, no overlongs, ≤ U+10FFFF) without NUL */
bool ak_utf8_valid(const void *p, size_t n);
/** ak_utf8_seq() - bytes of the well-formed character at @p, 1 to 4; 0 when there is none in @n bytes. NUL counts as one. */
size_t ak_utf8_seq(const void *p, size_t n);
/** ak_utf8_partial() - bytes at the end of @p that begin a character without finishing it: 0 to 3 */
size_t ak_utf8_partial(const void *p, size_t n);
/** ak_utf8_need() - bytes of the character that starts with @lead, 1 to 4; 0 when no character starts so */
size_t ak_utf8_need(unsigned char lead);

#endif
