/* SPDX-License-Identifier: Apache-2.0 */
/* Compound commands and functions. Pure. Process: agent. Privilege: none. */
#include "agent/shell/shell_int.h"

#include <string.h>

/* Takes the reserved word @word, or fails */
static bool expect(struct reader *r, const char *word)
{
	char buf[16];
	size_t end;

	if (shell_stopped(r))
		return false;
	end = shell_plain(r, buf, sizeof(buf));
	if (!end || strcmp(buf, word) != 0) {
		shell_fail(r, "a compound command that does not go on as it has to");
		return false;
	}
	r->pos = end;
	return true;
}

static bool ahead(struct reader *r, const char *word)
{
	char buf[16];

	return !shell_stopped(r) && shell_plain(r, buf, sizeof(buf)) && strcmp(buf, word) == 0;
}

/* A list that has to hold at least one command */
static void some_list(struct reader *r)
{
	size_t before = r->line->n_cmds;
	size_t items = r->items;

	shell_list(r);
	if (!shell_stopped(r) && before == r->line->n_cmds && items == r->items)
		shell_fail(r, "a list without a command");
}

static void do_group(struct reader *r)
{
	shell_linebreak(r);
	if (!expect(r, "do"))
		return;
	some_list(r);
	expect(r, "done");
}

static void if_clause(struct reader *r)
{
	r->line->forms |= SHELL_F_IF;
	for (;;) {
		some_list(r);
		if (!expect(r, "then"))
			return;
		some_list(r);
		if (!ahead(r, "elif"))
			break;
		expect(r, "elif");
	}
	if (ahead(r, "else")) {
		expect(r, "else");
		some_list(r);
	}
	expect(r, "fi");
}

static void loop(struct reader *r)
{
	r->line->forms |= SHELL_F_LOOP;
	some_list(r);
	do_group(r);
}

/* Reads a word whose value nobody needs: only what is inside of it counts */
static bool pass_word(struct reader *r, struct shell_word *ret)
{
	struct shell_word w = { 0 };
	bool unused;

	shell_blanks(r);
	if (!shell_read_word(r, WORD_PLAIN, &w, &unused))
		return false;
	(void)shell_item(r);
	if (ret)
		*ret = w;
	else
		shell_word_release(&w);
	return !shell_stopped(r);
}

static void for_clause(struct reader *r)
{
	struct shell_word name = { 0 };

	r->line->forms |= SHELL_F_FOR;
	shell_blanks(r);
	if (!pass_word(r, &name) || name.why || name.quoted || !shell_is_name(name.text, name.len))
		shell_fail(r, "for without a name");
	else
		shell_add_set(r, name.text, name.len);
	shell_word_release(&name);
	shell_linebreak(r);
	if (ahead(r, "in")) {
		expect(r, "in");
		while (pass_word(r, NULL))
			continue;
		if (!shell_stopped(r) && shell_cur(r) != ';' && shell_cur(r) != '\n')
			shell_fail(r, "for with something that is no word");
	}
	if (!shell_stopped(r) && shell_cur(r) == ';')
		shell_step(r);
	do_group(r);
}

/* (PATTERN | PATTERN) LIST ;; */
static void case_item(struct reader *r)
{
	if (shell_cur(r) == '(')
		shell_step(r);
	while (!shell_stopped(r)) {
		if (!pass_word(r, NULL)) {
			shell_fail(r, "case without a pattern");
			return;
		}
		shell_blanks(r);
		if (shell_cur(r) != '|')
			break;
		shell_step(r);
	}
	if (shell_stopped(r))
		return;
	if (shell_cur(r) != ')') {
		shell_fail(r, "a pattern without its end");
		return;
	}
	shell_step(r);
	shell_list(r);
	if (shell_stopped(r) || ahead(r, "esac"))
		return;
	if (shell_op(r, ";;&") || shell_op(r, ";&"))
		r->line->forms |= SHELL_F_BASH;
	else if (!shell_op(r, ";;"))
		shell_fail(r, "case without ;;");
}

static void case_clause(struct reader *r)
{
	r->line->forms |= SHELL_F_CASE;
	if (!pass_word(r, NULL)) {
		shell_fail(r, "case without a word");
		return;
	}
	shell_linebreak(r);
	if (!expect(r, "in"))
		return;
	shell_linebreak(r);
	while (!shell_stopped(r) && !ahead(r, "esac")) {
		case_item(r);
		shell_linebreak(r);
	}
	expect(r, "esac");
}

/*
 * [[ ... ]]: no commands in it. A shell that does not know it would run the words behind && and ||, so each part is kept as a
 * command for deny rules.
 */
static void condition(struct reader *r)
{
	struct shell_cmd part = { .place = r->place | SHELL_P_COND };
	bool closed = false;

	r->line->forms |= SHELL_F_COND | SHELL_F_BASH;
	while (!shell_stopped(r) && !closed) {
		struct shell_word w = { 0 };

		shell_linebreak(r);
		if (shell_op(r, "&&") || shell_op(r, "||")) {
			shell_add_cmd(r, &part);
			part = (struct shell_cmd){ .place = r->place | SHELL_P_COND | SHELL_P_TEST };
		} else if ((shell_cur(r) == '<' || shell_cur(r) == '>') && shell_after(r, 1) == '(') {
			shell_fail(r, "a process substitution inside of [[");
		} else if (shell_cur(r) == '(' || shell_cur(r) == ')' || shell_cur(r) == '<' || shell_cur(r) == '>') {
			shell_step(r);
		} else if (!pass_word(r, &w)) {
			shell_fail(r, "[[ without ]]");
		} else {
			closed = shell_word_is(&w, "]]") && !w.quoted;
			if (!closed && w.text[0] == '=' && (w.why & SHELL_W_TILDE))
				shell_fail(r, "=~");
			if (!closed)
				shell_add_word(r, &part.words, &part.n_words, &w);
		}
		shell_word_release(&w);
	}
	shell_add_cmd(r, &part);
}

static void group(struct reader *r)
{
	r->line->forms |= SHELL_F_GROUP;
	some_list(r);
	expect(r, "}");
}

static void subshell(struct reader *r)
{
	r->line->forms |= SHELL_F_SUBSHELL;
	shell_step(r);
	some_list(r);
	if (!shell_stopped(r) && shell_cur(r) != ')')
		shell_fail(r, "a subshell without its end");
	shell_step(r);
}

/* `function NAME`: the parentheses are a matter of taste there */
static void function_word(struct reader *r)
{
	struct shell_word name = { 0 };

	r->line->forms |= SHELL_F_BASH;
	if (!pass_word(r, &name) || name.why || name.quoted)
		shell_fail(r, "function without a name");
	shell_word_release(&name);
	shell_blanks(r);
	if (!shell_stopped(r) && shell_cur(r) == '(') {
		shell_step(r);
		shell_blanks(r);
		if (shell_cur(r) != ')')
			shell_fail(r, "a parenthesis that does not belong here");
		shell_step(r);
	}
	shell_function_body(r);
}

void shell_function_body(struct reader *r)
{
	unsigned place = r->place;

	r->line->forms |= SHELL_F_FUNCTION;
	shell_linebreak(r);
	r->place |= SHELL_P_FUNCTION;
	if (!shell_stopped(r) && !shell_compound(r) && !shell_stopped(r))
		shell_fail(r, "a function whose body is no compound command");
	r->place = place;
}

static const struct {
	const char *word;
	void (*read)(struct reader *r);
} compounds[] = {
	{ "{", group },	       { "if", if_clause },	{ "while", loop },	  { "until", loop },
	{ "for", for_clause }, { "case", case_clause }, { "[[", condition }, { "function", function_word },
};

/* Takes the compound command that stands here with the redirections behind it. Return: false when none does */
bool shell_compound(struct reader *r)
{
	struct shell_cmd behind = { .place = r->place | SHELL_P_COMPOUND };
	void (*read)(struct reader *) = NULL;
	char word[16];
	size_t end;

	shell_blanks(r);
	if (shell_cur(r) == '(') {
		if (shell_after(r, 1) == '(')
			shell_fail(r, "((");
		read = subshell;
	}
	end = read ? 0 : shell_plain(r, word, sizeof(word));
	for (size_t i = 0; end && i < sizeof(compounds) / sizeof(compounds[0]); i++) {
		if (strcmp(compounds[i].word, word) == 0)
			read = compounds[i].read;
	}
	if (!read || shell_stopped(r))
		return false;
	if (end)
		r->pos = end;
	if (shell_enter(r))
		read(r);
	r->depth--;
	shell_blanks(r);
	while (shell_redirection(r, &behind))
		shell_blanks(r);
	if (behind.n_redirs)
		shell_add_cmd(r, &behind);
	else
		shell_cmd_release(&behind);
	if (!shell_stopped(r) && !shell_ends_word(shell_cur(r)))
		shell_fail(r, "a word behind a compound command");
	return true;
}
