/* SPDX-License-Identifier: Apache-2.0 */
/* One word of a command line: quotes, and everything that makes its value unknown. Pure. Process: agent. Privilege: none. */
#include "agent/shell/shell_int.h"

#include <stdlib.h>
#include <string.h>

/**
 * struct word_state - what has to be remembered while a word is read
 * @name:	the bytes so far are unquoted and may be the NAME of NAME=VALUE
 * @assign:	NAME= or NAME+= was read
 * @brace:	an unquoted { was read, and @brace_at is its place in the text
 * @bracket:	nothing but one [ was read
 */
struct word_state {
	struct part part;
	bool name;
	bool assign;
	bool brace;
	bool bracket;
	size_t brace_at;
	int last; /* the byte before, END_OF_TEXT at the start, '\'' for anything quoted */
};

void shell_put(struct part *p, char c)
{
	if (!p->swallow)
		ak_buf_add(&p->text, &c, 1);
}

/* A part nobody knows; several in a row are one */
void shell_hole(struct part *p, unsigned why)
{
	p->why |= why;
	if (!p->swallow && (p->text.len == 0 || p->text.data[p->text.len - 1] != SHELL_HOLE))
		ak_buf_add(&p->text, "", 1);
}

static bool name_byte(int c, bool first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (!first && c >= '0' && c <= '9');
}

static void single_quotes(struct reader *r, struct part *p)
{
	const char *from = r->text + r->pos + 1;
	const char *end = memchr(from, '\'', r->len - r->pos - 1);

	if (!end) {
		shell_fail(r, "a single quote without its end");
		return;
	}
	p->quoted = true;
	for (const char *c = from; c < end; c++)
		shell_put(p, *c);
	r->pos = (size_t)(end - r->text) + 1;
}

static void escaped(struct reader *r, struct part *p)
{
	shell_step(r);
	if (r->pos >= r->len) {
		shell_fail(r, "a backslash at the end");
		return;
	}
	p->quoted = true;
	shell_put(p, r->text[r->pos]);
	shell_step(r);
}

/* {a,b} and {1..3}: from the brace on nothing is known */
static void brace_expands(struct word_state *w)
{
	struct part *p = &w->part;

	if (!p->swallow) {
		p->text.len = w->brace_at < p->text.len ? w->brace_at : p->text.len;
		shell_hole(p, SHELL_W_BRACE);
	}
	p->why |= SHELL_W_BRACE;
	p->swallow = true;
}

/* Bytes that are themselves, or an expansion without a sign in front */
static void ordinary(struct reader *r, struct word_state *w, int c)
{
	struct part *p = &w->part;
	int next = shell_after(r, 1);

	if (c == '*' || c == '?' || c == '[') {
		w->bracket = c == '[' && w->last == END_OF_TEXT;
		shell_hole(p, SHELL_W_GLOB);
		p->swallow = p->swallow || c == '[';
		return;
	}
	if (c == '~' && (w->last == END_OF_TEXT || w->last == '=' || w->last == ':')) {
		shell_hole(p, SHELL_W_TILDE);
		p->swallow = true;
		return;
	}
	if (c == '#' && w->last == '\'')
		shell_fail(r, "# behind a quote"); /* a part of the word; but not everybody agrees */
	if (c == '!' && next != '=' && !shell_ends_word(next))
		p->why |= SHELL_W_HISTORY;
	if (c == '{' && !w->brace) {
		w->brace = true;
		w->brace_at = p->text.len;
	}
	if (w->brace && (c == ',' || (c == '.' && w->last == '.'))) {
		brace_expands(w);
		return;
	}
	shell_put(p, (char)c);
}

/* NAME= and NAME+= are told from other words; a subscript is not understood. Return: false when @c was taken */
static bool assignment(struct reader *r, struct word_state *w, int c, bool allowed)
{
	bool named = w->name && w->last != END_OF_TEXT;

	if (named && allowed && c == '[') {
		shell_fail(r, "a subscript");
		return false;
	}
	if (named && (c == '=' || (c == '+' && shell_after(r, 1) == '=')) && !w->assign) {
		w->assign = true;
		w->name = false;
		if (c == '+') {
			shell_put(&w->part, '+');
			shell_step(r);
			(void)shell_cur(r);
		}
		shell_put(&w->part, '=');
		shell_step(r);
		w->last = '=';
		return false;
	}
	w->name = w->name && name_byte(c, w->last == END_OF_TEXT);
	return true;
}

/* NAME=(WORD...): the words are read for what is inside of them */
static void array(struct reader *r, struct part *p)
{
	shell_step(r);
	r->line->forms |= SHELL_F_BASH;
	shell_hole(p, SHELL_W_ARRAY);
	p->swallow = true;
	if (!shell_enter(r))
		return;
	while (!shell_stopped(r)) {
		struct shell_word word = { 0 };
		bool unused;

		shell_linebreak(r);
		if (shell_cur(r) == ')' || !shell_read_word(r, WORD_PLAIN, &word, &unused) || !shell_item(r)) {
			shell_word_release(&word);
			break;
		}
		shell_word_release(&word);
	}
	r->depth--;
	if (!shell_stopped(r) && shell_cur(r) != ')')
		shell_fail(r, "an array without its end");
	shell_step(r);
}

/* One step of a word. Return: false at its end */
static bool word_step(struct reader *r, struct word_state *w, enum word_mode mode)
{
	int c = shell_cur(r);

	if (c == '(' && w->assign && w->last == '=' && mode == WORD_ASSIGN) {
		array(r, &w->part);
		return false;
	}
	if ((c == '<' || c == '>') && shell_after(r, 1) == '(') {
		if (w->last != END_OF_TEXT) {
			shell_fail(r, "a process substitution inside a word");
			return false;
		}
		shell_process(r, &w->part);
		w->last = '\'';
		w->name = false;
		return true;
	}
	if (shell_ends_word(c))
		return false;
	if (!assignment(r, w, c, mode == WORD_ASSIGN))
		return true;
	switch (c) {
	case '\\':
		escaped(r, &w->part);
		break;
	case '\'':
		single_quotes(r, &w->part);
		break;
	case '"':
		shell_double_quotes(r, &w->part);
		break;
	case '$':
		shell_dollar(r, &w->part, false);
		break;
	case '`':
		shell_backtick(r, &w->part, false);
		break;
	default:
		ordinary(r, w, c);
		shell_step(r);
		w->last = c;
		return true;
	}
	w->last = '\'';
	w->bracket = false;
	return true;
}

/*
 * Reads one word; @ret has no text when there is none. What was read of a word in which the line stopped being understood is
 * given too. Return: false when no word stands here or there is no memory.
 */
bool shell_read_word(struct reader *r, enum word_mode mode, struct shell_word *ret, bool *ret_assign)
{
	struct word_state w = { .name = true, .last = END_OF_TEXT, .part.text.max = SHELL_BYTES_MAX };
	int c = shell_cur(r);
	size_t at = r->pos;

	*ret_assign = false;
	if (shell_ends_word(c) && !((c == '<' || c == '>') && shell_after(r, 1) == '('))
		return false;
	while (!shell_stopped(r) && word_step(r, &w, mode))
		continue;
	if (w.bracket && w.part.why == SHELL_W_GLOB && r->pos == at + 1) {
		w.part.why = 0;
		w.part.text.data[0] = '[';
	}
	ak_buf_add(&w.part.text, "", 1);
	if (w.part.text.failed) {
		r->no_memory = true;
		ak_buf_release(&w.part.text);
		return false;
	}
	*ret = (struct shell_word){ .text = w.part.text.data, .len = w.part.text.len - 1, .why = w.part.why, .quoted = w.part.quoted };
	if (!r->nested) {
		ret->at = at;
		ret->end = r->pos;
	}
	*ret_assign = w.assign;
	return true;
}
