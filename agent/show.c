/* SPDX-License-Identifier: Apache-2.0 */
/* Text of others made visible, and back. Pure. Process: agent. Privilege: none. */
#include "agent/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "executor/shared/ak_buf.h"

enum kind {
	KIND_TEXT,
	KIND_FOREIGN, /* shown as it is, and counted */
	KIND_CONTROL,
	KIND_BIDI,
	KIND_INVISIBLE,
	KIND_BLANK,
	KIND_BAD,
};

static bool is_bidi(utf8proc_int32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x061c;
}

/* Letters that are drawn as nothing; the tables call them letters. Source: Unicode, Default_Ignorable_Code_Point */
static bool is_filler(utf8proc_int32_t c)
{
	return c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0;
}

static enum kind kind_of(utf8proc_int32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0))
		return KIND_CONTROL;
	if (c < 0x7f)
		return KIND_TEXT;
	if (is_bidi(c))
		return KIND_BIDI;
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_ZS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return KIND_BLANK;
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CN:
		return KIND_INVISIBLE;
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
		return is_filler(c) || utf8proc_charwidth(c) <= 0 ? KIND_INVISIBLE : KIND_FOREIGN;
	default:
		break;
	}
	if (c == 0x2800)
		return KIND_BLANK;
	return utf8proc_charwidth(c) <= 0 ? KIND_INVISIBLE : KIND_TEXT;
}

/* The character at @text. Return: its bytes; 1 and KIND_BAD for a byte that is not UTF-8 */
static size_t character(const char *text, size_t len, utf8proc_int32_t *ret_c, enum kind *ret_kind)
{
	utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text, len > 4 ? 4 : (utf8proc_ssize_t)len, ret_c);

	if (n <= 0) {
		*ret_c = (unsigned char)*text;
		*ret_kind = KIND_BAD;
		return 1;
	}
	*ret_kind = kind_of(*ret_c);
	return (size_t)n;
}

static size_t run_of(const char *text, size_t len, char c)
{
	size_t n = 0;

	while (n < len && text[n] == c)
		n++;
	return n;
}

static void count(struct show_facts *f, enum kind kind, utf8proc_int32_t c)
{
	f->lines += c == '\n';
	f->controls += kind == KIND_CONTROL && c != '\n' && c != '\t';
	f->bidi += kind == KIND_BIDI;
	f->invisible += kind == KIND_INVISIBLE;
	f->blanks += kind == KIND_BLANK;
	f->bad_bytes += kind == KIND_BAD;
	f->foreign += kind == KIND_FOREIGN;
}

/* A `<` that starts what could be taken for one of our marks */
static bool looks_like_mark(const char *text, size_t len)
{
	if (len < 2 || text[0] != '<')
		return false;
	return text[1] == 'U' || (text[1] >= '0' && text[1] <= '9');
}

/* What scripts, emoji and indented code are written with */
static bool is_prose(utf8proc_int32_t c, enum kind kind)
{
	if (kind == KIND_TEXT || kind == KIND_FOREIGN || c == '\t' || c == '\n' || c == 0xa0 || c == 0x3000)
		return true;
	if (c == 0x200c || c == 0x200d || c == 0xfe0e || c == 0xfe0f)
		return true;
	if (kind != KIND_INVISIBLE || (c >= 0xe0100 && c <= 0xe01ef) || (c >= 0xfe00 && c <= 0xfe0d))
		return false;
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_ME:
		return c != 0x034f; /* joins nothing that is seen */
	default:
		return false;
	}
}

static void show_prose(const char *text, size_t len, struct ak_buf *out)
{
	for (size_t i = 0; i < len;) {
		utf8proc_int32_t c = 0;
		enum kind kind = KIND_TEXT;
		size_t n = character(text + i, len - i, &c, &kind);

		if (kind == KIND_BAD)
			ak_buf_printf(out, "<0x%02X>", (unsigned)c);
		else if (is_prose(c, kind))
			ak_buf_add(out, text + i, n);
		else
			ak_buf_printf(out, "<U+%04X>", (unsigned)c);
		i += n;
	}
	ak_buf_add(out, "", 0);
}

/* Runs of spaces and of newlines. Return: bytes taken, 0 when nothing has to be counted here */
static size_t show_run(const char *text, size_t len, unsigned flags, struct ak_buf *out)
{
	size_t spaces = run_of(text, len, ' ');
	size_t newlines = flags & SHOW_LINE ? 0 : run_of(text, len, '\n');

	if (spaces > SHOW_SPACES_MAX) {
		ak_buf_printf(out, "<%zu spaces>", spaces);
		return spaces;
	}
	if (newlines > SHOW_NEWLINES_MAX) {
		ak_buf_printf(out, "<%zu newlines>", newlines);
		return newlines;
	}
	if (spaces || newlines)
		ak_buf_add(out, text, spaces + newlines);
	return spaces + newlines;
}

void show_text(const char *text, size_t len, unsigned flags, struct ak_buf *out, struct show_facts *facts)
{
	if (facts)
		show_facts(text, len, facts);
	if (flags & SHOW_PROSE) {
		show_prose(text, len, out);
		return;
	}
	for (size_t i = 0; i < len;) {
		size_t run = show_run(text + i, len - i, flags, out);
		utf8proc_int32_t c = 0;
		enum kind kind = KIND_TEXT;

		if (run > 0) {
			i += run;
			continue;
		}

		size_t n = character(text + i, len - i, &c, &kind);

		if (kind == KIND_BAD)
			ak_buf_printf(out, "<0x%02X>", (unsigned)c);
		else if ((kind != KIND_TEXT && kind != KIND_FOREIGN) || looks_like_mark(text + i, len - i))
			ak_buf_printf(out, "<U+%04X>", (unsigned)c);
		else
			ak_buf_add(out, text + i, n);
		i += n;
	}
	ak_buf_add(out, "", 0);
}

void show_facts(const char *text, size_t len, struct show_facts *ret)
{
	struct show_facts f = { .lines = 1 };

	for (size_t i = 0; i < len;) {
		utf8proc_int32_t c = 0;
		enum kind kind = KIND_TEXT;

		i += character(text + i, len - i, &c, &kind);
		count(&f, kind, c);
	}
	*ret = f;
}

/* The text of the mark @mark, which has to be spelt as show_text() spells it. Return: how often @ret_bytes is meant, 0 for no mark */
static size_t mark_means(const char *mark, char ret_bytes[4], size_t *ret_len)
{
	char again[40] = "";
	unsigned long times = 1;

	*ret_len = 1;
	if (strncmp(mark, "<U+", 3) == 0) {
		utf8proc_int32_t c = (utf8proc_int32_t)(strtoul(mark + 3, NULL, 16) & 0x1fffff);
		utf8proc_ssize_t n = utf8proc_encode_char(c, (utf8proc_uint8_t *)ret_bytes);

		*ret_len = n > 0 ? (size_t)n : 0;
		(void)snprintf(again, sizeof(again), "<U+%04X>", (unsigned)c);
	} else if (strncmp(mark, "<0x", 3) == 0) {
		ret_bytes[0] = (char)strtoul(mark + 3, NULL, 16);
		(void)snprintf(again, sizeof(again), "<0x%02X>", (unsigned)(unsigned char)ret_bytes[0]);
	} else {
		times = strtoul(mark + 1, NULL, 10);
		ret_bytes[0] = strstr(mark, " newlines>") ? '\n' : ' ';
		(void)snprintf(again, sizeof(again), "<%lu %s>", times, ret_bytes[0] == ' ' ? "spaces" : "newlines");
	}
	return *ret_len > 0 && times <= AK_BUF_MAX && strcmp(again, mark) == 0 ? times : 0;
}

/* A mark of ours at @s. Return: its bytes, 0 for none; a malformed one is none too */
static size_t mark_back(const char *s, size_t len, struct ak_buf *out)
{
	char mark[40];
	char bytes[4] = "";
	size_t n, size, times;
	const char *close = memchr(s, '>', len < sizeof(mark) ? len : sizeof(mark) - 1);

	if (!close)
		return 0;
	n = (size_t)(close - s) + 1;
	memcpy(mark, s, n);
	mark[n] = '\0';
	times = mark_means(mark, bytes, &size);
	for (size_t i = 0; i < times; i++)
		ak_buf_add(out, bytes, size);
	return times ? n : 0;
}

int show_back(const char *shown, size_t len, struct ak_buf *out)
{
	for (size_t i = 0; i < len;) {
		if (looks_like_mark(shown + i, len - i)) {
			size_t n = mark_back(shown + i, len - i, out);

			if (n == 0)
				return -EBADMSG;
			i += n;
			continue;
		}
		ak_buf_add(out, shown + i, 1);
		i++;
	}
	return 0;
}

size_t show_columns(const char *shown, size_t len)
{
	size_t columns = 0;

	for (size_t i = 0; i < len;) {
		utf8proc_int32_t c = 0;
		enum kind kind;

		i += character(shown + i, len - i, &c, &kind);
		columns += kind == KIND_BAD || utf8proc_charwidth(c) < 1 ? 1 : (size_t)utf8proc_charwidth(c);
	}
	return columns;
}

/* How many bytes of @line fit in @width columns; at least one character */
static size_t fitting(const char *line, size_t len, size_t width)
{
	size_t columns = 0;
	size_t i = 0;

	while (i < len) {
		utf8proc_int32_t c = 0;
		enum kind kind;
		size_t n = character(line + i, len - i, &c, &kind);

		columns += show_columns(line + i, n);
		if (columns > width && i > 0)
			break;
		i += n;
	}
	return i;
}

size_t show_frame(const char *shown, size_t len, unsigned width, struct ak_buf *out)
{
	size_t room = (width < SHOW_WIDTH_MIN ? SHOW_WIDTH_MIN : width) - 3; /* the mark, and the last column */
	size_t lines = 0;
	size_t i = 0;

	do {
		const char *end = memchr(shown + i, '\n', len - i);
		size_t n = end ? (size_t)(end - shown) - i : len - i;
		const char *mark = "| ";

		do {
			size_t part = fitting(shown + i, n, room);

			ak_buf_str(out, mark);
			ak_buf_add(out, shown + i, part);
			ak_buf_str(out, "\n");
			lines++;
			i += part;
			n -= part;
			mark = "+ ";
		} while (n > 0);
		if (!end)
			break;
		i++;
	} while (i <= len);
	return lines;
}

/* Where the @n-th line from the start ends */
static size_t lines_from_start(const char *text, size_t len, size_t n)
{
	size_t i = 0;

	while (n-- > 0 && i < len) {
		const char *end = memchr(text + i, '\n', len - i);

		i = end ? (size_t)(end - text) + 1 : len;
	}
	return i;
}

size_t show_fold(const char *framed, size_t len, size_t max_lines, struct ak_buf *out)
{
	size_t lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += framed[i] == '\n';
	if (lines <= max_lines || max_lines < 3) {
		ak_buf_add(out, framed, len);
		return 0;
	}

	size_t head = lines_from_start(framed, len, max_lines / 2);
	size_t tail = lines_from_start(framed, len, lines - (max_lines - max_lines / 2 - 1));

	ak_buf_add(out, framed, head);
	ak_buf_printf(out, "... %zu more bytes ...\n", tail - head);
	ak_buf_add(out, framed + tail, len - tail);
	return tail - head;
}
