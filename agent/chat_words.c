/* SPDX-License-Identifier: Apache-2.0 */
/* What a line typed into `ak chat` is. Pure. Process: agent. Privilege: none. */
#include "agent/chat_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/show.h"
#include "executor/shared/ak_buf.h"

static const struct chat_row rows[] = {
	{ "/clear", CHAT_CLEAR, NULL, "forget the conversation; the workspace stays as it is" },
	{ "/cost", CHAT_COST, NULL, "tokens, money and time of this chat" },
	{ "/diff", CHAT_DIFF, NULL, "what was changed in the copy of the workspace" },
	{ "/exit", CHAT_EXIT, NULL, "end the chat (also /quit, Ctrl-D)" },
	{ "/help", CHAT_HELP, NULL, "this list" },
	{ "/quit", CHAT_EXIT, NULL, "as /exit" },
	{ "/rollback", CHAT_ROLLBACK, "[TURN]", "undo all changes of this chat, or those since the turn of that number" },
	{ "/tools", CHAT_TOOLS, NULL, "what the model can call" },
};

const struct chat_row *chat_row_at(size_t i)
{
	return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool chat_blank(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && is_blank(text[i]))
		i++;
	return i == len;
}

static char *copy_arg(const char *text)
{
	size_t n = strlen(text);

	while (n > 0 && is_blank(*text)) {
		text++;
		n--;
	}
	while (n > 0 && is_blank(text[n - 1]))
		n--;
	return strndup(text, n);
}

enum chat_command chat_parse(const char *line, char **ret_arg, size_t *ret_word)
{
	size_t n = 1;

	*ret_arg = NULL;
	*ret_word = 0;
	if (line[0] != '/' || strchr(line, '\n'))
		return CHAT_MESSAGE;
	while (isalpha((unsigned char)line[n]) || line[n] == '-' || line[n] == '_')
		n++;
	if (line[n] != '\0' && !is_blank(line[n]))
		return CHAT_MESSAGE;
	*ret_word = n;
	*ret_arg = copy_arg(line + n);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == n && strncmp(line, rows[i].name, n) == 0)
			return rows[i].command;
	return CHAT_UNKNOWN;
}

bool chat_goes_on(const char *line, size_t len)
{
	size_t n = 0;

	while (n < len && line[len - 1 - n] == '\\')
		n++;
	return n % 2 == 1;
}

/* ---- pastes ---- */

void chat_pastes_release(struct chat_pastes *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].text);
	p->n = 0;
}

size_t chat_paste_clean(char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\r') {
			text[n++] = '\n';
			i += i + 1 < len && text[i + 1] == '\n';
		} else if (text[i] != '\0') {
			text[n++] = text[i];
		}
	}
	text[n] = '\0';
	return n;
}

bool chat_paste_plain(const char *text, size_t len)
{
	struct show_facts f;

	if (len > 0 && text[len - 1] == '\n')
		len--;
	if (len > CHAT_PASTE_PLAIN)
		return false;
	show_facts(text, len, &f);
	return f.lines == 1 && !memchr(text, '\t', len) && f.controls + f.bidi + f.invisible + f.blanks + f.bad_bytes == 0;
}

const char *chat_paste_keep(struct chat_pastes *p, const char *text, size_t len)
{
	size_t lines = 1;
	char *copy;

	if (p->n == CHAT_PASTES_MAX)
		return NULL;
	copy = strndup(text, len);
	if (!copy)
		return NULL;
	for (size_t i = 0; i + 1 < len; i++)
		lines += text[i] == '\n';
	(void)snprintf(p->v[p->n].mark, sizeof(p->v[p->n].mark), "[paste %zu: %zu line%s, %zu bytes]", p->n + 1, lines, lines == 1 ? "" : "s", len);
	p->v[p->n].text = copy;
	p->v[p->n].len = len;
	return p->v[p->n++].mark;
}

void chat_paste_expand(const struct chat_pastes *p, const char *line, struct ak_buf *out)
{
	bool used[CHAT_PASTES_MAX] = { false };

	while (*line) {
		const char *open = strchr(line, '[');
		size_t i = 0;

		ak_buf_add(out, line, open ? (size_t)(open - line) : strlen(line));
		if (!open)
			break;
		while (i < p->n && (used[i] || strncmp(open, p->v[i].mark, strlen(p->v[i].mark)) != 0))
			i++;
		if (i < p->n) {
			used[i] = true;
			ak_buf_add(out, p->v[i].text, p->v[i].len);
			line = open + strlen(p->v[i].mark);
		} else {
			ak_buf_str(out, "[");
			line = open + 1;
		}
	}
}
