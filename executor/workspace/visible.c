/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text for people. Pure; any process, no privilege. */
#include "executor/workspace/visible.h"

#include <stdint.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_json_out.h"

/* sorted; what changes how text looks without being seen. Source: Unicode Character Database, Default_Ignorable and Bidi_Control */
static const struct {
	uint32_t from, to;
} hidden[] = {
	{ 0x80, 0x9f },	    { 0xad, 0xad },	{ 0x34f, 0x34f },   { 0x61c, 0x61c },	  { 0x115f, 0x1160 },
	{ 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200c }, { 0x200e, 0x200f },	  { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 },	  { 0xfff0, 0xfffb },
	{ 0xe0000, 0xe0fff },
};

static bool is_hidden(uint32_t c)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]) && c >= hidden[i].from; i++)
		if (c <= hidden[i].to)
			return true;
	return false;
}

static uint32_t code_point(const char *s, size_t n)
{
	static const unsigned char lead[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)s[0] & lead[n];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

/* one character; Return: its bytes */
static size_t put_one(struct ak_buf *out, const char *p, size_t left, bool quoted)
{
	size_t n = ak_utf8_seq(p, left);
	unsigned char b = (unsigned char)*p;

	if (n > 1) {
		uint32_t c = code_point(p, n);

		if (is_hidden(c))
			ak_buf_printf(out, "<U+%04X>", c);
		else
			ak_buf_add(out, p, n);
		return n;
	}
	if (n == 0 || b == 0x7f || (b < 0x20 && (quoted || (b != '\n' && b != '\t'))))
		ak_buf_printf(out, "\\x%02x", b);
	else if (quoted && (b == '"' || b == '\\'))
		ak_buf_printf(out, "\\%c", b);
	else
		ak_buf_add(out, p, 1);
	return 1;
}

size_t visible_text(struct ak_buf *out, const char *p, size_t n, bool last)
{
	size_t end = last ? n : n - ak_utf8_partial(p, n), pos = 0;

	while (pos < end)
		pos += put_one(out, p + pos, end - pos, false);
	return pos;
}

void visible_quote(struct ak_buf *out, const char *s)
{
	size_t left = strlen(s);

	ak_buf_str(out, "\"");
	while (left > 0) {
		size_t n = put_one(out, s, left, true);

		s += n;
		left -= n;
	}
	ak_buf_str(out, "\"");
}

bool visible_plain(const char *s)
{
	size_t left = strlen(s);

	while (left > 0) {
		size_t n = ak_utf8_seq(s, left);

		if (n == 0 || (unsigned char)*s <= 0x20 || *s == 0x7f || *s == '"' || *s == '\\' ||
		    (n > 1 && is_hidden(code_point(s, n))))
			return false;
		s += n;
		left -= n;
	}
	return true;
}
