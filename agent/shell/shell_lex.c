/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes, blanks, operators and reserved words of a command line. Pure. Process: agent. Privilege: none. */
#include "agent/shell/shell_int.h"

#include <string.h>

/* Where the byte at or behind @pos is, once every backslash newline is gone */
static size_t skip_continued(const struct reader *r, size_t pos)
{
	while (pos + 1 < r->len && r->text[pos] == '\\' && r->text[pos + 1] == '\n')
		pos += 2;
	return pos;
}

int shell_cur(struct reader *r)
{
	size_t pos = skip_continued(r, r->pos);

	if (pos != r->pos)
		r->line->forms |= SHELL_F_CONTINUED;
	r->pos = pos;
	return pos < r->len ? (unsigned char)r->text[pos] : END_OF_TEXT;
}

/* The @n-th byte behind the current one */
int shell_after(const struct reader *r, unsigned n)
{
	size_t pos = skip_continued(r, r->pos);

	while (n-- > 0 && pos < r->len)
		pos = skip_continued(r, pos + 1);
	return pos < r->len ? (unsigned char)r->text[pos] : END_OF_TEXT;
}

void shell_step(struct reader *r)
{
	if (r->pos < r->len)
		r->pos++;
}

bool shell_at_op(const struct reader *r, const char *op)
{
	for (unsigned i = 0; op[i]; i++) {
		if (shell_after(r, i) != (unsigned char)op[i])
			return false;
	}
	return true;
}

/* Takes the operator. One that is cut by a line end is read differently by others, so nobody has to rely on it. */
bool shell_op(struct reader *r, const char *op)
{
	size_t len = strlen(op);

	if (!shell_at_op(r, op))
		return false;
	(void)shell_cur(r);
	if (r->len - r->pos < len || memcmp(r->text + r->pos, op, len) != 0)
		shell_fail(r, "an operator cut by a line end");
	for (; *op; op++) {
		(void)shell_cur(r);
		shell_step(r);
	}
	return true;
}

/* Spaces, tabs and a comment; the newline behind a comment stays */
void shell_blanks(struct reader *r)
{
	int c = shell_cur(r);

	while (c == ' ' || c == '\t') {
		shell_step(r);
		c = shell_cur(r);
	}
	if (c != '#')
		return;
	r->line->forms |= SHELL_F_COMMENT;

	const char *end = memchr(r->text + r->pos, '\n', r->len - r->pos);

	r->pos = end ? (size_t)(end - r->text) : r->len;
}

bool shell_ends_word(int c)
{
	return c == END_OF_TEXT || strchr(" \t\n;&|()<>", c) != NULL;
}

/*
 * The word at the current byte, if it is short and has no quotes and no expansion; nothing is taken.
 * Return: where it ends; 0 for another word.
 */
size_t shell_plain(struct reader *r, char *buf, size_t size)
{
	size_t pos = skip_continued(r, r->pos);
	size_t n = 0;

	while (pos < r->len && !shell_ends_word((unsigned char)r->text[pos])) {
		if (n + 1 >= size || strchr("\\\"'$`", r->text[pos]))
			return 0;
		buf[n++] = r->text[pos];
		pos = skip_continued(r, pos + 1);
	}
	buf[n] = '\0';
	return n ? pos : 0;
}

bool shell_is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return len > 0;
}

bool shell_is_reserved(const char *word)
{
	static const char *const words[] = {
		"!",	"{",	"}",  "[[",    "]]",	"case", "coproc", "do",	  "done", "elif",  "else", "esac",
		"fi",	"for",	"if", "in",    "function", "select", "then", "time", "until", "while",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i], word) == 0)
			return true;
	}
	return false;
}
