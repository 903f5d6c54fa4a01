/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a simple command that rules are compared with: its words, one space between them. Pure. Process: agent. Privilege:
 * none.
 *
 * With quotes no two commands have the same text: a word that holds a blank, a quote or what a shell would act on, or nothing at
 * all, stands in single quotes. So `rm 'a b'` is not covered by a rule for `rm a b`. Deny rules are compared without, too.
 */
#include "agent/approve_int.h"

#include <string.h>

#include "executor/shared/ak_buf.h"

static bool needs_quotes(const struct shell_word *w)
{
	return w->len == 0 || strcspn(w->text, " \t\n\r'\"\\$`;&|()<>") < strlen(w->text);
}

static void add_quoted(const char *text, size_t len, struct ak_buf *out)
{
	ak_buf_str(out, "'");
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\'')
			ak_buf_str(out, "'\\''");
		else
			ak_buf_add(out, text + i, 1);
	}
	ak_buf_str(out, "'");
}

void join_words(const struct shell_word *words, size_t n, bool quoted, bool by_last_part, struct ak_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct shell_word *w = &words[i];
		const char *text = w->text;
		size_t len = w->len;

		if (i == 0 && by_last_part)
			text = last_part(text, len, &len);
		/* a word that is only a hole may be no word at all: then the space in front is not there either */
		if (i > 0 && !(w->why && w->len == 1 && !w->quoted))
			ak_buf_str(out, " ");
		if (quoted && !w->why && needs_quotes(w))
			add_quoted(text, len, out);
		else
			ak_buf_add(out, text, len);
	}
	ak_buf_add(out, "", 0);
}
