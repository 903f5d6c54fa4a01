/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder of JSON strings, and text that comes in deltas. Process: agent. Privilege: none. */
#include "agent/json_string.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "agent/json.h"
#include "agent/json_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_json_out.h"

#define REPLACEMENT 0xfffdu

struct decoder {
	const unsigned char *p;
	const unsigned char *end; /* the closing quote */
	bool repair;
	char *out; /* NULL: the text is not kept */
	const char *what;
};

size_t json_encode(unsigned cp, char ret[4])
{
	if (cp < 0x80) {
		ret[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		ret[0] = (char)(0xc0 | cp >> 6);
		ret[1] = (char)(0x80 | (cp & 0x3f));
		return 2;
	}
	if (cp < 0x10000) {
		ret[0] = (char)(0xe0 | cp >> 12);
		ret[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		ret[2] = (char)(0x80 | (cp & 0x3f));
		return 3;
	}
	ret[0] = (char)(0xf0 | cp >> 18);
	ret[1] = (char)(0x80 | (cp >> 12 & 0x3f));
	ret[2] = (char)(0x80 | (cp >> 6 & 0x3f));
	ret[3] = (char)(0x80 | (cp & 0x3f));
	return 4;
}

/* The closing quote of the string whose content starts at @p; NULL when there is none */
static const unsigned char *closing_quote(const unsigned char *p, const unsigned char *end)
{
	while (p < end && *p != '"')
		p += *p == '\\' && end - p > 1 ? 2 : 1;
	return p < end ? p : NULL;
}

static void put(struct decoder *d, const void *p, size_t n)
{
	if (!d->out)
		return;
	if (d->out != p)
		memmove(d->out, p, n);
	d->out += n;
}

static int hex4(const unsigned char *p, const unsigned char *end, unsigned *ret)
{
	unsigned v = 0;

	if (end - p < 4)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		unsigned char c = p[i];

		if (c >= '0' && c <= '9')
			v = v << 4 | (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v << 4 | (unsigned)((c | 0x20) - 'a' + 10);
		else
			return -1;
	}
	*ret = v;
	return 0;
}

/* At the four digits behind \u; takes the other half of a pair with it */
static int take_u(struct decoder *d)
{
	char text[4];
	unsigned cp;
	unsigned second;

	if (hex4(d->p, d->end, &cp) < 0) {
		d->what = "bad \\u escape";
		return -EBADMSG;
	}
	if (cp >= 0xd800 && cp < 0xdc00 && d->end - d->p >= 10 && d->p[4] == '\\' && d->p[5] == 'u' &&
	    hex4(d->p + 6, d->end, &second) == 0 && second >= 0xdc00 && second < 0xe000) {
		cp = 0x10000 + ((cp - 0xd800) << 10) + (second - 0xdc00);
		d->p += 6;
	} else if (!d->repair && cp >= 0xd800 && cp < 0xe000) {
		d->what = "half of a surrogate pair";
		return -EILSEQ;
	} else if (cp == 0 && !d->repair) {
		d->what = "NUL in a string";
		return -EILSEQ;
	} else if (cp == 0) {
		cp = REPLACEMENT;
	}
	d->p += 4;
	put(d, text, json_encode(cp, text));
	return 0;
}

/* At the character behind a backslash; closing_quote() has made sure that there is one */
static int take_escape(struct decoder *d)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *hit;

	if (*d->p == 'u') {
		d->p++;
		return take_u(d);
	}
	hit = *d->p ? strchr(from, *d->p) : NULL;
	if (!hit) {
		d->what = "unknown escape in a string";
		return -EBADMSG;
	}
	d->p++;
	put(d, to + (hit - from), 1);
	return 0;
}

static int take_char(struct decoder *d)
{
	size_t n;

	if (*d->p == '\\') {
		d->p++;
		return take_escape(d);
	}
	if (*d->p < 0x20) {
		d->what = "control character in a string";
		return -EBADMSG;
	}
	n = ak_utf8_seq(d->p, (size_t)(d->end - d->p));
	if (n == 0) {
		d->what = "text that is not UTF-8";
		return -EILSEQ;
	}
	put(d, d->p, n);
	d->p += n;
	return 0;
}

static int decode(struct decoder *d)
{
	while (d->p < d->end) {
		const unsigned char *from = d->p;
		int rc;

		/* plain ASCII, which is most of it */
		while (d->p < d->end && *d->p >= 0x20 && *d->p < 0x80 && *d->p != '\\')
			d->p++;
		put(d, from, (size_t)(d->p - from));
		if (d->p == d->end)
			break;
		rc = take_char(d);
		if (rc < 0)
			return rc;
	}
	if (d->out)
		*d->out = '\0';
	return 0;
}

int json_string_take(const unsigned char **pos, const unsigned char *end, bool repair, enum json_place place,
		     char **ret, const char **ret_what)
{
	static const char none[1] = "";
	struct decoder d = {.p = *pos + 1, .repair = repair};
	char *text = place == JSON_PLACE_SAME ? (char *)d.p : (char *)none;
	int rc;

	d.end = closing_quote(d.p, end);
	if (!d.end) {
		*ret_what = "a string has no end";
		return -EBADMSG;
	}
	if (place == JSON_PLACE_NEW)
		text = cJSON_malloc((size_t)(d.end - d.p) + 1);
	if (!text) {
		*ret_what = "out of memory";
		return -ENOMEM;
	}
	d.out = place == JSON_PLACE_NONE ? NULL : text;
	rc = decode(&d);
	if (rc < 0) {
		*pos = d.p;
		*ret_what = d.what;
		if (place == JSON_PLACE_NEW)
			cJSON_free(text);
		return rc;
	}
	*pos = d.end + 1;
	*ret = text;
	return 0;
}

void json_text_add(struct ak_buf *b, const char *text)
{
	size_t n = strlen(text);
	const unsigned char *tail = b->len >= 3 ? (const unsigned char *)b->data + b->len - 3 : NULL;
	const unsigned char *head = (const unsigned char *)text;

	if (!b->failed && b->len >= 3 && JSON_FIRST_HALF(tail, 3) && JSON_SECOND_HALF(head, n)) {
		unsigned first = (unsigned)(tail[1] & 0x0f) << 6 | (tail[2] & 0x3f);
		unsigned second = (unsigned)(head[1] & 0x0f) << 6 | (head[2] & 0x3f);
		char whole[4];
		size_t len = json_encode(0x10000 + (first << 10) + second, whole);

		b->len -= 3;
		ak_buf_add(b, whole, len);
		text += 3;
		n -= 3;
	}
	ak_buf_add(b, text, n);
}

size_t json_text_end(struct ak_buf *b)
{
	static const unsigned char replacement[] = {0xef, 0xbf, 0xbd};
	unsigned char *p = (unsigned char *)b->data;
	size_t count = 0;

	for (size_t i = 0; i + 3 <= b->len; i++) {
		if (!JSON_ANY_HALF(p + i, b->len - i))
			continue;
		memcpy(p + i, replacement, sizeof(replacement));
		i += 2;
		count++;
	}
	return count;
}
