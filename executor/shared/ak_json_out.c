/* SPDX-License-Identifier: Apache-2.0 */
/* JSON writer and UTF-8 checks. Any process, no privilege. */
#include "executor/shared/ak_json_out.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "executor/shared/ak_buf.h"

size_t ak_utf8_need(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

/*
 * Is @c possible as second byte after @lead? This is where overlong forms, surrogates and values over
 * U+10FFFF show. Source: Unicode standard, table 3-7 (well-formed UTF-8 byte sequences).
 */
static bool second_ok(unsigned char lead, unsigned char c)
{
	switch (lead) {
	case 0xe0:
		return c >= 0xa0 && c <= 0xbf;
	case 0xed:
		return c >= 0x80 && c <= 0x9f;
	case 0xf0:
		return c >= 0x90 && c <= 0xbf;
	case 0xf4:
		return c >= 0x80 && c <= 0x8f;
	default:
		return c >= 0x80 && c <= 0xbf;
	}
}

/* Are the @n bytes at @p the start of a well-formed character, as far as they go? */
static bool starts_well(const unsigned char *p, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (i == 1 ? !second_ok(p[0], p[1]) : (p[i] & 0xc0) != 0x80)
			return false;
	}
	return true;
}

size_t ak_utf8_seq(const void *p, size_t n)
{
	const unsigned char *s = p;
	size_t need = n > 0 ? ak_utf8_need(s[0]) : 0;

	return need <= n && starts_well(s, need) ? need : 0;
}

size_t ak_utf8_partial(const void *p, size_t n)
{
	const unsigned char *s = p;

	for (size_t k = 1; k <= 3 && k <= n; k++) {
		if (ak_utf8_need(s[n - k]) > k && starts_well(s + n - k, k))
			return k;
	}
	return 0;
}

bool ak_utf8_valid(const void *p, size_t n)
{
	const unsigned char *s = p;

	while (n > 0) {
		size_t len = ak_utf8_seq(s, n);

		if (len == 0 || s[0] == 0)
			return false;
		s += len;
		n -= len;
	}
	return true;
}

/* One character as an escape, when JSON or a terminal's safety asks for it; "" otherwise. @n as from
 * ak_utf8_seq(). */
static void escape_of(const unsigned char *s, size_t n, char ret[8])
{
	static const char hex[] = "0123456789abcdef";
	unsigned v = n == 2 && s[0] == 0xc2 ? s[1] : s[0];

	ret[0] = '\0';
	if (n == 0) {
		memcpy(ret, "\\ufffd", 7);
	} else if (s[0] == '"' || s[0] == '\\') {
		memcpy(ret, (char[]){'\\', (char)s[0], '\0'}, 3);
	} else if (s[0] == '\n') {
		memcpy(ret, "\\n", 3);
	} else if (s[0] == '\t') {
		memcpy(ret, "\\t", 3);
	} else if (s[0] == '\r') {
		memcpy(ret, "\\r", 3);
	} else if (n <= 2 && (v < 0x20 || (v >= 0x7f && v < 0xa0))) {
		/* DEL and C1 need no escape in JSON, but the object may be looked at on a terminal */
		memcpy(ret, (char[]){'\\', 'u', '0', '0', hex[v >> 4], hex[v & 15], '\0'}, 7);
	}
}

/* Without quotes. Runs of plain characters are added in one piece. */
static void put_escaped(struct ak_buf *out, const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t plain = 0;

	while (plain < n) {
		size_t len;
		char esc[8];

		if (s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\') {
			plain++;
			continue;
		}
		len = ak_utf8_seq(s + plain, n - plain);
		escape_of(s + plain, len, esc);
		if (esc[0] == '\0') {
			plain += len;
			continue;
		}
		ak_buf_add(out, s, plain);
		ak_buf_str(out, esc);
		len = len ? len : 1;
		s += plain + len;
		n -= plain + len;
		plain = 0;
	}
	ak_buf_add(out, s, plain);
}

/* Comma if one is due, then the key; afterwards a value follows */
static void begin_value(struct ak_json *j, const char *key)
{
	if (j->comma)
		ak_buf_str(j->out, ",");
	j->comma = true;
	if (!key)
		return;
	ak_buf_str(j->out, "\"");
	put_escaped(j->out, key, strlen(key));
	ak_buf_str(j->out, "\":");
}

void ak_json_init(struct ak_json *j, struct ak_buf *out)
{
	*j = (struct ak_json){.out = out};
}

static void open_level(struct ak_json *j, const char *key, const char *bracket)
{
	begin_value(j, key);
	ak_buf_str(j->out, bracket);
	j->comma = false;
	j->depth++;
}

static void close_level(struct ak_json *j, const char *bracket)
{
	assert(j->depth > 0);
	ak_buf_str(j->out, bracket);
	j->comma = true;
	j->depth--;
}

void ak_json_obj(struct ak_json *j, const char *key)
{
	open_level(j, key, "{");
}

void ak_json_obj_end(struct ak_json *j)
{
	close_level(j, "}");
}

void ak_json_arr(struct ak_json *j, const char *key)
{
	open_level(j, key, "[");
}

void ak_json_arr_end(struct ak_json *j)
{
	close_level(j, "]");
}

void ak_json_null(struct ak_json *j, const char *key)
{
	begin_value(j, key);
	ak_buf_str(j->out, "null");
}

void ak_json_bool(struct ak_json *j, const char *key, bool v)
{
	begin_value(j, key);
	ak_buf_str(j->out, v ? "true" : "false");
}

void ak_json_u64(struct ak_json *j, const char *key, uint64_t v)
{
	begin_value(j, key);
	ak_buf_printf(j->out, "%" PRIu64, v);
}

void ak_json_i64(struct ak_json *j, const char *key, int64_t v)
{
	begin_value(j, key);
	ak_buf_printf(j->out, "%" PRId64, v);
}

void ak_json_raw(struct ak_json *j, const char *key, const char *text, size_t n)
{
	begin_value(j, key);
	ak_buf_add(j->out, text, n);
}

void ak_json_milli(struct ak_json *j, const char *key, uint64_t thousandths)
{
	char frac[4] = {(char)('0' + thousandths / 100 % 10), (char)('0' + thousandths / 10 % 10),
			(char)('0' + thousandths % 10), '\0'};

	for (size_t i = 2; i > 0 && frac[i] == '0'; i--)
		frac[i] = '\0';
	begin_value(j, key);
	ak_buf_printf(j->out, "%" PRIu64 ".%s", thousandths / 1000, frac);
}

void ak_json_strv(struct ak_json *j, const char *key, const struct ak_span *v, size_t nv)
{
	begin_value(j, key);
	ak_buf_str(j->out, "\"");
	for (size_t i = 0; i < nv; i++)
		put_escaped(j->out, v[i].p, v[i].n);
	ak_buf_str(j->out, "\"");
}

void ak_json_strn(struct ak_json *j, const char *key, const char *s, size_t n)
{
	ak_json_strv(j, key, &(struct ak_span){s, n}, 1);
}

void ak_json_str(struct ak_json *j, const char *key, const char *s)
{
	if (s)
		ak_json_strn(j, key, s, strlen(s));
	else
		ak_json_null(j, key);
}

/* One to three bytes as four characters */
static void put_base64(struct ak_buf *out, const unsigned char in[3], size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned v = (unsigned)in[0] << 16 | (n > 1 ? (unsigned)in[1] << 8 : 0) | (n > 2 ? in[2] : 0);
	char text[4] = {digits[v >> 18], digits[v >> 12 & 63], n > 1 ? digits[v >> 6 & 63] : '=',
			n > 2 ? digits[v & 63] : '='};

	ak_buf_add(out, text, sizeof(text));
}

void ak_json_base64v(struct ak_json *j, const char *key, const struct ak_span *v, size_t nv)
{
	unsigned char group[3];
	size_t held = 0;

	begin_value(j, key);
	ak_buf_str(j->out, "\"");
	for (size_t i = 0; i < nv; i++) {
		const unsigned char *p = v[i].p;

		for (size_t k = 0; k < v[i].n; k++) {
			group[held++] = p[k];
			if (held < 3)
				continue;
			put_base64(j->out, group, 3);
			held = 0;
		}
	}
	if (held > 0)
		put_base64(j->out, group, held);
	ak_buf_str(j->out, "\"");
}

void ak_json_base64(struct ak_json *j, const char *key, const void *p, size_t n)
{
	ak_json_base64v(j, key, &(struct ak_span){p, n}, 1);
}
