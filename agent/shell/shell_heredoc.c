/* SPDX-License-Identifier: Apache-2.0 */
/* Here-documents, and texts that are read on their own. Pure. Process: agent. Privilege: none. */
#include "agent/shell/shell_int.h"

#include <stdlib.h>
#include <string.h>

/* Reads another text into the same line: what is inside of backticks or of a here-document */
void shell_read_nested(struct reader *r, const char *text, size_t len, unsigned place, void (*read)(struct reader *))
{
	if (len > r->budget) {
		shell_fail(r, "too much text inside of backticks");
		return;
	}

	struct reader sub = {
		.text = text,
		.len = len,
		.line = r->line,
		.nested = true,
		.depth = r->depth,
		.place = r->place | place,
		.items = r->items,
		.budget = r->budget - len,
	};

	if (shell_enter(&sub)) {
		read(&sub);
		if (!shell_stopped(&sub) && sub.pos < sub.len)
			shell_fail(&sub, "something that does not belong here");
		if (!shell_stopped(&sub) && sub.n_pending > 0)
			shell_fail(&sub, "a here-document without its end");
	}
	for (size_t i = 0; i < sub.n_pending; i++)
		free(sub.pending[i].delimiter);
	r->items = sub.items;
	r->budget = sub.budget;
	r->no_memory = r->no_memory || sub.no_memory;
}

void shell_heredoc_want(struct reader *r, const struct shell_word *delimiter, bool tabs)
{
	struct pending p = { .len = delimiter->len, .tabs = tabs, .quoted = delimiter->quoted };

	if (delimiter->why & ~(unsigned)SHELL_W_HISTORY || memchr(delimiter->text, '\n', delimiter->len)) {
		shell_fail(r, "a here-document whose delimiter is not plain");
		return;
	}
	if (r->n_pending == PENDING_MAX) {
		shell_fail(r, "too many here-documents");
		return;
	}
	p.delimiter = strdup(delimiter->text);
	if (!p.delimiter) {
		r->no_memory = true;
		return;
	}
	r->pending[r->n_pending++] = p;
	r->line->forms |= SHELL_F_HEREDOC;
}

/* The body of a here-document that is expanded: like double quotes, but quotes are nothing special */
static void expanded_body(struct reader *r)
{
	struct part p = { .text.max = SHELL_BYTES_MAX };

	while (!shell_stopped(r) && r->pos < r->len) {
		char c = r->text[r->pos];

		if (c == '\\')
			r->pos += 2;
		else if (c == '$')
			shell_dollar(r, &p, true);
		else if (c == '`')
			shell_backtick(r, &p, true);
		else
			r->pos++;
	}
	if (r->pos > r->len)
		r->pos = r->len;
	ak_buf_release(&p.text);
}

/* One body: whole lines up to the one that is the delimiter */
static void body(struct reader *r, const struct pending *p)
{
	size_t start = r->pos;

	while (r->pos < r->len) {
		const char *line = r->text + r->pos;
		const char *end = memchr(line, '\n', r->len - r->pos);
		size_t len = end ? (size_t)(end - line) : r->len - r->pos;
		size_t at = r->pos;

		r->pos += len + (end != NULL);
		for (; p->tabs && len && *line == '\t'; len--)
			line++;
		if (len == p->len && memcmp(line, p->delimiter, len) == 0) {
			if (!p->quoted)
				shell_read_nested(r, r->text + start, at - start, SHELL_P_SUBST, expanded_body);
			return;
		}
		if (!p->quoted && len && line[len - 1] == '\\') {
			shell_fail(r, "a here-document with a line that goes on");
			return;
		}
	}
	shell_fail(r, "a here-document without its end");
}

/* Behind the newline */
void shell_heredoc_bodies(struct reader *r)
{
	for (size_t i = 0; i < r->n_pending; i++) {
		if (!shell_stopped(r))
			body(r, &r->pending[i]);
		free(r->pending[i].delimiter);
	}
	r->n_pending = 0;
}
