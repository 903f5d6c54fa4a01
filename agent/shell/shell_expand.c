/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands behind $ and `, and between double quotes: how far it reaches, and the commands inside. Nothing is expanded.
 * Pure. Process: agent. Privilege: none.
 */
#include "agent/shell/shell_int.h"

#include <string.h>

#define SUBSCRIPT_MAX 256u /* bytes of a subscript that is read */

static bool name_start(int c)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool digit(int c)
{
	return c >= '0' && c <= '9';
}

static void name(struct reader *r)
{
	int c = shell_cur(r);

	while (name_start(c) || digit(c)) {
		shell_step(r);
		c = shell_cur(r);
	}
}

/*
 * $((...)): only with bytes that mean arithmetic whatever is in front; all else might be a subshell inside of a substitution, or
 * run a command by itself.
 */
static void arithmetic(struct reader *r, struct part *p)
{
	unsigned open = 2;

	shell_step(r);
	shell_step(r);
	shell_hole(p, SHELL_W_ARITH);
	while (!shell_stopped(r)) {
		int c = shell_cur(r);

		if (c == END_OF_TEXT || (!name_start(c) && !digit(c) && !strchr(" \t+-*/%<>=!&|^~?:,()$", c)) ||
		    (c == '$' && shell_after(r, 1) == '(')) {
			shell_fail(r, "arithmetic that may be a command");
			return;
		}
		shell_step(r);
		open += c == '(';
		if (c != ')')
			continue;
		open--;
		if (open == 1 && shell_cur(r) != ')') {
			shell_fail(r, "arithmetic that may be a command");
			return;
		}
		if (open == 0)
			return;
	}
}

static void command_substitution(struct reader *r, struct part *p)
{
	shell_hole(p, SHELL_W_SUBST);
	shell_substitution(r);
}

/* Behind the name in ${...}: up to the closing brace, with what may run inside of it */
static void parameter_word(struct reader *r, struct part *p, bool in_quotes)
{
	struct part inner = { .text.max = SHELL_BYTES_MAX };

	while (!shell_stopped(r)) {
		int c = shell_cur(r);

		if (c == END_OF_TEXT) {
			shell_fail(r, "${ without its end");
		} else if (c == '}') {
			shell_step(r);
			break;
		} else if (c == '$') {
			shell_dollar(r, &inner, in_quotes);
		} else if (c == '`') {
			shell_backtick(r, &inner, in_quotes);
		} else if (c == '"' && !in_quotes) {
			shell_double_quotes(r, &inner);
		} else if (strchr("'\"\\<>(){\n", c)) {
			shell_fail(r, "a parameter expansion that shells read differently");
		} else {
			shell_step(r);
		}
	}
	p->why |= inner.why;
	r->no_memory = r->no_memory || (inner.text.failed && !shell_stopped(r));
	ak_buf_release(&inner.text);
}

/* How many bytes the subscript has that starts here. Return: 0 when it is long, or does not end within these braces */
static unsigned subscript(const struct reader *r)
{
	unsigned depth = 0;

	for (unsigned n = 1; n < SUBSCRIPT_MAX && r->pos + n < r->len; n++) {
		char c = r->text[r->pos + n];

		if (c == '\\' || (c == '}' && depth == 0))
			return 0;
		if (c == ']' && depth == 0)
			return n + 1;
		depth += c == '{';
		depth -= c == '}';
	}
	return 0;
}

/* ${v:1:2}, whose : is @at bytes on: numbers and names only. What else arithmetic may be, shells read differently */
static bool plain_range(const struct reader *r, unsigned at)
{
	size_t i = r->pos + at + 1;

	for (; i + 1 < r->len && r->text[i] != '}'; i++) {
		char c = r->text[i];

		if (c == '$' ? !name_start(r->text[i + 1]) : !name_start(c) && !digit(c) && c != ' ' && c != ':')
			return false;
	}
	return i < r->len && r->text[i] == '}';
}

/* Behind the name that stands at @from: = or := gives it a value, @P runs what it holds */
static void operator(struct reader *r, size_t from, bool indirect)
{
	size_t end = r->pos;
	int c = shell_cur(r);
	unsigned n = c == '[' ? subscript(r) : 0;
	int next = shell_after(r, n + 1);

	if (c == '[') {
		c = n ? shell_after(r, n) : END_OF_TEXT;
		if (c == '[' || c == '*')
			c = END_OF_TEXT;
	}
	if (c == '=' || (c == ':' && next == '='))
		shell_add_set(r, indirect ? NULL : r->text + from, end - from);
	if (c == '@' && next == 'P')
		shell_fail(r, "a value that is expanded as a prompt");
	if (c == ':' && (next == END_OF_TEXT || !strchr("-=?+", next)) && !plain_range(r, n))
		c = END_OF_TEXT;
	if (c == END_OF_TEXT || !strchr("}:-+=?#%/^,@[*", c))
		shell_fail(r, "${ with an unknown operator");
}

static void braced_parameter(struct reader *r, struct part *p, bool in_quotes)
{
	bool indirect = false;
	size_t from;
	int c, next;

	shell_step(r);
	shell_hole(p, SHELL_W_PARAM);
	c = shell_cur(r);
	next = shell_after(r, 1);
	if ((c == '#' || c == '!') && (name_start(next) || digit(next))) {
		indirect = c == '!';
		shell_step(r);
		c = shell_cur(r);
	}
	from = r->pos;
	if (name_start(c)) {
		name(r);
	} else if (digit(c)) {
		while (digit(shell_cur(r)))
			shell_step(r);
	} else if (c != END_OF_TEXT && strchr("@*#?-$!", c)) {
		shell_step(r);
	} else {
		shell_fail(r, "${ without a name");
		return;
	}
	operator(r, from, indirect);
	if (shell_stopped(r))
		return;
	if (shell_enter(r))
		parameter_word(r, p, in_quotes);
	r->depth--;
}

/*
 * $'...' has escapes in bash and is $ before plain quotes in an older sh: where both end at the same quote the value is
 * unknown, else the line is
 */
static void ansi_quotes(struct reader *r, struct part *p)
{
	shell_step(r);
	shell_hole(p, SHELL_W_ANSI);
	p->swallow = true;
	r->line->forms |= SHELL_F_BASH;
	while (r->pos < r->len && r->text[r->pos] != '\'') {
		if (r->text[r->pos] == '\\' && r->pos + 1 < r->len) {
			shell_step(r);
			if (r->text[r->pos] == '\'')
				break;
		}
		shell_step(r);
	}
	if (r->pos >= r->len || r->text[r->pos - 1] == '\\')
		shell_fail(r, "$' with an end that shells read differently");
	p->quoted = true;
	shell_step(r);
}

/* At a $ */
void shell_dollar(struct reader *r, struct part *p, bool in_quotes)
{
	int c = shell_after(r, 1);

	shell_step(r);
	(void)shell_cur(r);
	if (c == '(' && shell_after(r, 1) == '(') {
		if (r->text[r->pos + 1] != '(')
			shell_fail(r, "$( and ( cut by a line end");
		else
			arithmetic(r, p);
	} else if (c == '(') {
		command_substitution(r, p);
	} else if (c == '{') {
		braced_parameter(r, p, in_quotes);
	} else if (c == '[') {
		shell_fail(r, "$[");
	} else if (c == '\'' && !in_quotes) {
		ansi_quotes(r, p);
	} else if (c == '"' && !in_quotes) {
		shell_hole(p, SHELL_W_ANSI);
		r->line->forms |= SHELL_F_BASH;
		shell_double_quotes(r, p);
	} else if (name_start(c)) {
		shell_hole(p, SHELL_W_PARAM);
		name(r);
	} else if (c != END_OF_TEXT && strchr("0123456789@*#?-$!", c)) {
		shell_hole(p, SHELL_W_PARAM);
		shell_step(r);
	} else {
		shell_put(p, '$');
	}
}

/* At a `: up to the next one without a backslash; the text inside loses one layer of backslashes and is read on its own */
void shell_backtick(struct reader *r, struct part *p, bool in_quotes)
{
	struct ak_buf inner = { .max = SHELL_BYTES_MAX };
	bool ended = false;

	shell_step(r);
	shell_hole(p, SHELL_W_SUBST);
	while (r->pos < r->len && !ended) {
		char c = r->text[r->pos];

		if (c == '\\' && r->pos + 1 < r->len) {
			char next = r->text[r->pos + 1];

			if (next == '`' || next == '\\' || next == '$' || (in_quotes && next == '"'))
				r->pos++;
			else
				ak_buf_add(&inner, "\\", 1), r->pos++;
			c = r->text[r->pos];
		} else if (c == '`') {
			ended = true;
		}
		r->pos++;
		if (!ended)
			ak_buf_add(&inner, &c, 1);
	}
	if (!ended)
		shell_fail(r, "a backtick without its end");
	else if (in_quotes && inner.len && memchr(inner.data, '"', inner.len))
		shell_fail(r, "quotes inside of backticks inside of quotes");
	else if (inner.failed)
		r->no_memory = true;
	else
		shell_read_nested(r, inner.data ? inner.data : "", inner.len, SHELL_P_SUBST, shell_list);
	r->line->forms |= SHELL_F_SUBST;
	ak_buf_release(&inner);
}

/* A backslash between double quotes: an escape before some bytes, itself before the others */
static void quoted_escape(struct reader *r, struct part *p)
{
	int c = r->pos + 1 < r->len ? (unsigned char)r->text[r->pos + 1] : END_OF_TEXT;

	shell_step(r);
	if (c == '$' || c == '`' || c == '"' || c == '\\') {
		shell_put(p, (char)c);
		shell_step(r);
	} else {
		shell_put(p, '\\');
	}
}

/* At a " */
void shell_double_quotes(struct reader *r, struct part *p)
{
	p->quoted = true;
	shell_step(r);
	if (!shell_enter(r)) {
		r->depth--;
		return;
	}
	while (!shell_stopped(r)) {
		int c = shell_cur(r);

		if (c == END_OF_TEXT) {
			shell_fail(r, "a double quote without its end");
		} else if (c == '"') {
			shell_step(r);
			break;
		} else if (c == '\\') {
			quoted_escape(r, p);
		} else if (c == '$') {
			shell_dollar(r, p, true);
		} else if (c == '`') {
			shell_backtick(r, p, true);
		} else {
			int next = shell_after(r, 1);

			if (c == '!' && next != '=' && next != '"' && !shell_ends_word(next))
				p->why |= SHELL_W_HISTORY;
			shell_put(p, (char)c);
			shell_step(r);
		}
	}
	r->depth--;
}

/* At <( or >( */
void shell_process(struct reader *r, struct part *p)
{
	shell_step(r);
	if (r->pos < r->len && r->text[r->pos] != '(')
		shell_fail(r, "an operator cut by a line end");
	(void)shell_cur(r);
	shell_hole(p, SHELL_W_PROC);
	r->line->forms |= SHELL_F_BASH;
	shell_substitution(r);
}
