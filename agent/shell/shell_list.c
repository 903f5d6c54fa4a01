/* SPDX-License-Identifier: Apache-2.0 */
/* The lists a command line is made of: growing, freeing, limits. Pure. Process: agent. Privilege: none. */
#include "agent/shell/shell_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/show.h"
#include "executor/shared/ak_err.h"

void shell_fail(struct reader *r, const char *problem)
{
	struct shell_line *l = r->line;

	l->forms |= SHELL_F_UNKNOWN;
	if (!l->problem) {
		l->problem = problem;
		l->problem_at = r->nested ? 0 : r->pos;
	}
}

bool shell_stopped(const struct reader *r)
{
	return r->no_memory || (r->line->forms & SHELL_F_UNKNOWN);
}

/* One level deeper; the caller takes it back with r->depth-- whatever the answer is */
bool shell_enter(struct reader *r)
{
	if (++r->depth > SHELL_DEPTH_MAX)
		shell_fail(r, "nested too deeply");
	return !shell_stopped(r);
}

bool shell_item(struct reader *r)
{
	if (++r->items > SHELL_ITEMS_MAX)
		shell_fail(r, "too many words");
	return !shell_stopped(r);
}

void shell_word_release(struct shell_word *w)
{
	free(w->text);
	*w = (struct shell_word){ 0 };
}

void shell_cmd_release(struct shell_cmd *c)
{
	for (size_t i = 0; i < c->n_assigns; i++)
		shell_word_release(&c->assigns[i]);
	for (size_t i = 0; i < c->n_words; i++)
		shell_word_release(&c->words[i]);
	for (size_t i = 0; i < c->n_redirs; i++)
		shell_word_release(&c->redirs[i].target);
	free(c->assigns);
	free(c->words);
	free(c->redirs);
	*c = (struct shell_cmd){ 0 };
}

/* Room for one more item in a list of @n that grows when @n is a power of two. Return: false without memory */
static bool grow(struct reader *r, void **list, size_t n, size_t size)
{
	if (n & (n - 1))
		return true;

	void *bigger = reallocarray(*list, n ? 2 * n : 1, size);

	if (!bigger) {
		r->no_memory = true;
		return false;
	}
	*list = bigger;
	return true;
}

void shell_add_word(struct reader *r, struct shell_word **list, size_t *n, struct shell_word *taken)
{
	void *p = *list;

	if (!shell_item(r) || !grow(r, &p, *n, sizeof(**list))) {
		shell_word_release(taken);
		return;
	}
	*list = p;
	(*list)[(*n)++] = *taken;
	*taken = (struct shell_word){ 0 };
}

void shell_add_redir(struct reader *r, struct shell_cmd *c, struct shell_redir *taken)
{
	void *p = c->redirs;

	if (!shell_item(r) || !grow(r, &p, c->n_redirs, sizeof(*c->redirs))) {
		shell_word_release(&taken->target);
		return;
	}
	c->redirs = p;
	c->redirs[c->n_redirs++] = *taken;
	taken->target = (struct shell_word){ 0 };
}

/* Also for a line that failed meanwhile: what was seen of a command stays, for deny rules */
void shell_add_cmd(struct reader *r, struct shell_cmd *taken)
{
	void *p = r->line->cmds;

	r->items++;
	if (r->no_memory || !grow(r, &p, r->line->n_cmds, sizeof(*r->line->cmds))) {
		shell_cmd_release(taken);
		return;
	}
	r->line->cmds = p;
	r->line->cmds[r->line->n_cmds++] = *taken;
	*taken = (struct shell_cmd){ 0 };
}

/* @name: of a variable that gets a value, as it stands in the text; copied. NULL: another variable holds it */
void shell_add_set(struct reader *r, const char *name, size_t len)
{
	struct shell_word w = { .text = calloc(1, (name ? len : 1) + 1) };

	if (!w.text) {
		r->no_memory = true;
		return;
	}
	/* a line end behind a backslash may stand in it */
	for (size_t i = 0; name && i < len; i++) {
		if (name[i] != '\\' && name[i] != '\n')
			w.text[w.len++] = name[i];
	}
	if (!name) {
		w.len = 1; /* a hole */
		w.why = SHELL_W_PARAM;
	}
	shell_add_word(r, &r->line->sets, &r->line->n_sets, &w);
}

void shell_line_free(struct shell_line *line)
{
	if (!line)
		return;
	for (size_t i = 0; i < line->n_sets; i++)
		shell_word_release(&line->sets[i]);
	free(line->sets);
	for (size_t i = 0; i < line->n_cmds; i++)
		shell_cmd_release(&line->cmds[i]);
	free(line->cmds);
	free(line);
}

/* What the bytes are, whatever they mean to a shell */
static unsigned byte_forms(const char *text, size_t len)
{
	struct show_facts facts;
	unsigned forms = 0;

	show_facts(text, len, &facts);
	if (facts.controls)
		forms |= SHELL_F_CONTROL;
	if (facts.bidi || facts.invisible || facts.blanks)
		forms |= SHELL_F_BIDI;
	if (facts.bad_bytes)
		forms |= SHELL_F_BAD_UTF8;
	if (memchr(text, '\r', len))
		forms |= SHELL_F_CR;
	return forms;
}

int shell_parse(const char *text, size_t len, struct shell_line **ret, struct ak_err *err)
{
	struct shell_line *line = calloc(1, sizeof(*line));
	struct reader r = { .text = text, .len = len, .line = line, .budget = SHELL_NESTED_MAX };

	if (!line)
		return ak_err_set(err, ENOMEM, "no memory for a command line");

	const char *nul = memchr(text, '\0', len);

	if (nul) {
		line->forms |= SHELL_F_NUL | SHELL_F_UNKNOWN;
		line->problem = "a NUL byte";
		line->problem_at = (size_t)(nul - text);
	} else if (len >= SHELL_BYTES_MAX) {
		shell_fail(&r, "longer than a shell can be given");
	} else {
		line->forms |= byte_forms(text, len);
		shell_list(&r);
		if (!shell_stopped(&r) && r.pos < r.len)
			shell_fail(&r, "something that does not belong here");
		if (!shell_stopped(&r) && r.n_pending > 0)
			shell_heredoc_bodies(&r);
		for (size_t i = 0; i < r.n_pending; i++)
			free(r.pending[i].delimiter);
	}
	if (r.no_memory) {
		shell_line_free(line);
		return ak_err_set(err, ENOMEM, "no memory for a command line");
	}
	*ret = line;
	return 0;
}

bool shell_redir_writes(const struct shell_redir *r)
{
	switch (r->kind) {
	case SHELL_OUT:
	case SHELL_APPEND:
	case SHELL_CLOBBER:
	case SHELL_RDWR:
	case SHELL_BOTH:
	case SHELL_BOTH_APPEND:
		return true;
	case SHELL_IN:
	case SHELL_DUP_IN:
	case SHELL_DUP_OUT:
	case SHELL_HEREDOC:
	case SHELL_HEREDOC_TAB:
	case SHELL_HERESTR:
		break;
	}
	return false;
}

bool shell_word_is(const struct shell_word *w, const char *text)
{
	return w->why == 0 && strcmp(w->text, text) == 0;
}
