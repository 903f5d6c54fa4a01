/* SPDX-License-Identifier: Apache-2.0 */
/* Lists, pipelines, simple commands and redirections. Pure. Process: agent. Privilege: none. */
#include "agent/shell/shell_int.h"

#include <stdlib.h>
#include <string.h>

/* At a newline */
void shell_newline(struct reader *r)
{
	shell_step(r);
	if (r->n_pending > 0)
		shell_heredoc_bodies(r);
}

void shell_linebreak(struct reader *r)
{
	shell_blanks(r);
	while (!shell_stopped(r) && shell_cur(r) == '\n') {
		shell_newline(r);
		shell_blanks(r);
	}
}

/* At the ( of $( or <( or >(: a list and the closing parenthesis */
void shell_substitution(struct reader *r)
{
	unsigned place = r->place;
	size_t outer = r->n_pending;

	r->line->forms |= SHELL_F_SUBST;
	if (outer > 0) {
		shell_fail(r, "a substitution behind the start of a here-document");
		return;
	}
	shell_step(r);
	r->place |= SHELL_P_SUBST;
	if (shell_enter(r)) {
		shell_list(r);
		if (!shell_stopped(r) && r->n_pending > 0)
			shell_fail(r, "a here-document without its end");
		else if (!shell_stopped(r) && shell_cur(r) != ')')
			shell_fail(r, "a substitution without its end");
		else if (!shell_stopped(r))
			shell_step(r);
	}
	r->depth--;
	r->place = place;
}

static const struct {
	const char *op;
	enum shell_redir_kind kind;
	bool bash;
} redir_ops[] = {
	/* longer ones first */
	{ "<<<", SHELL_HERESTR, true },	     { "<<-", SHELL_HEREDOC_TAB, false }, { "<<", SHELL_HEREDOC, false },
	{ "<&", SHELL_DUP_IN, false },	     { "<>", SHELL_RDWR, false },	  { "<", SHELL_IN, false },
	{ "&>>", SHELL_BOTH_APPEND, true },  { "&>", SHELL_BOTH, true },	  { ">>", SHELL_APPEND, false },
	{ ">&", SHELL_DUP_OUT, false },	     { ">|", SHELL_CLOBBER, false },	  { ">", SHELL_OUT, false },
};

/* Is it a descriptor, - or both, as behind >& ? */
static bool names_descriptor(const struct shell_word *w)
{
	size_t digits = strspn(w->text, "0123456789");

	return w->why == 0 && !w->quoted && w->len > 0 && w->len < 6 &&
	       (digits == w->len || (digits == w->len - 1 && w->text[digits] == '-'));
}

static void check_duplicate(struct reader *r, struct shell_redir *redir)
{
	if (redir->kind == SHELL_DUP_IN && !names_descriptor(&redir->target))
		shell_fail(r, "<& with something that is no descriptor");
	if (redir->kind == SHELL_DUP_OUT && !names_descriptor(&redir->target)) {
		if (redir->fd >= 0)
			shell_fail(r, ">& with something that is no descriptor");
		redir->kind = SHELL_BOTH;
		r->line->forms |= SHELL_F_BASH;
	}
}

/* The number in front of < or >. Return: -1 when there is none; nothing is taken then */
static int descriptor(struct reader *r)
{
	size_t from = r->pos;
	int fd = 0;
	unsigned digits = 0;

	for (int c = shell_cur(r); c >= '0' && c <= '9' && digits < 9; c = shell_cur(r), digits++) {
		fd = fd * 10 + (c - '0');
		shell_step(r);
	}
	if (digits > 0 && (shell_cur(r) == '<' || shell_cur(r) == '>')) {
		if (digits > 3 || shell_after(r, 1) == '(')
			shell_fail(r, "a descriptor that shells read differently");
		return fd;
	}
	r->pos = from;
	return -1;
}

/* Takes a redirection, if one stands here. Return: false when none does */
bool shell_redirection(struct reader *r, struct shell_cmd *c)
{
	struct shell_redir redir = { .fd = descriptor(r) };
	bool unused;
	size_t i;

	if (shell_stopped(r))
		return false;
	if (redir.fd < 0 && (shell_at_op(r, "<(") || shell_at_op(r, ">(")))
		return false;
	for (i = 0; i < sizeof(redir_ops) / sizeof(redir_ops[0]); i++) {
		if (shell_op(r, redir_ops[i].op))
			break;
	}
	if (i == sizeof(redir_ops) / sizeof(redir_ops[0]))
		return false;
	redir.kind = redir_ops[i].kind;
	if (redir_ops[i].bash)
		r->line->forms |= SHELL_F_BASH;
	shell_blanks(r);
	if (!shell_read_word(r, WORD_PLAIN, &redir.target, &unused)) {
		shell_fail(r, "a redirection without a target");
		return false;
	}
	if ((shell_cur(r) == '<' || shell_cur(r) == '>') && strspn(redir.target.text, "0123456789") == redir.target.len)
		shell_fail(r, "a number between two redirections");
	check_duplicate(r, &redir);
	if (redir.kind == SHELL_HEREDOC || redir.kind == SHELL_HEREDOC_TAB)
		shell_heredoc_want(r, &redir.target, redir.kind == SHELL_HEREDOC_TAB);
	shell_add_redir(r, c, &redir);
	return true;
}

/* NAME behind which ( stands: a function. Return: false when it is none, and nobody knows what it is */
static bool function_definition(struct reader *r, struct shell_cmd *c)
{
	const struct shell_word *w = c->words;

	if (c->n_words != 1 || c->n_assigns || c->n_redirs || w->why || w->quoted || shell_is_reserved(w->text) ||
	    !shell_is_name(w->text, w->len)) {
		shell_fail(r, "a parenthesis that does not belong here");
		return false;
	}
	shell_step(r);
	shell_blanks(r);
	if (shell_cur(r) != ')') {
		shell_fail(r, "a parenthesis that does not belong here");
		return false;
	}
	shell_step(r);
	shell_function_body(r);
	return true;
}

/* A word of a simple command: NAME=VALUE in front, else command word or argument */
static bool command_word(struct reader *r, struct shell_cmd *c)
{
	struct shell_word w = { 0 };
	size_t from = r->pos;
	bool assign;

	if (!shell_read_word(r, c->n_words == 0 ? WORD_ASSIGN : WORD_PLAIN, &w, &assign))
		return false;
	if (assign && c->n_words == 0) {
		shell_add_word(r, &c->assigns, &c->n_assigns, &w);
		return true;
	}
	if (c->n_words == 0 && c->n_assigns && (c->assigns[c->n_assigns - 1].why & SHELL_W_ARRAY))
		shell_fail(r, "a word behind an array");
	if (c->n_words == 0 && !w.why && !w.quoted && shell_is_reserved(w.text))
		shell_fail(r, "a reserved word where a command has to stand");
	if (c->n_words == 0 && r->text[from] == '}')
		shell_fail(r, "a brace where a command has to stand");
	if (r->text[from] == '{' && r->text[r->pos - 1] == '}' && r->pos - from > 2 && (shell_cur(r) == '<' || shell_cur(r) == '>'))
		shell_fail(r, "a variable for a descriptor");

	/* what was read of it is seen by deny rules in any case */
	bool stopped = shell_stopped(r);
	unsigned forms = r->line->forms;

	r->line->forms &= ~(unsigned)SHELL_F_UNKNOWN;
	shell_add_word(r, &c->words, &c->n_words, &w);
	r->line->forms |= forms;
	return !stopped;
}

static void simple_command(struct reader *r)
{
	struct shell_cmd c = { .place = r->place };
	bool definition = false;
	size_t both = 0; /* words in front of the first &> */

	shell_blanks(r);
	c.at = r->nested ? 0 : r->pos;
	while (!shell_stopped(r)) {
		shell_blanks(r);
		if (shell_redirection(r, &c)) {
			if (!both && c.n_redirs && c.redirs[c.n_redirs - 1].kind >= SHELL_BOTH &&
			    c.redirs[c.n_redirs - 1].kind <= SHELL_BOTH_APPEND)
				both = c.n_words + 1;
			continue;
		}
		if (shell_stopped(r))
			break;
		if (shell_cur(r) == '(' && c.n_words + c.n_assigns + c.n_redirs > 0) {
			definition = true;
			break;
		}
		if (!command_word(r, &c))
			break;
	}
	/* for sh `a &>b c` are the commands a and c */
	if (both && c.n_words + 1 > both)
		shell_fail(r, "words behind &> or >&");
	if (definition && function_definition(r, &c)) {
		shell_cmd_release(&c);
		return;
	}
	if (c.n_words + c.n_assigns + c.n_redirs == 0) {
		if (!shell_stopped(r))
			shell_fail(r, "no command where one has to stand");
		shell_cmd_release(&c);
		return;
	}
	shell_add_cmd(r, &c);
}

/* ! and time */
static void pipeline_prefix(struct reader *r)
{
	char word[8];
	size_t end = shell_plain(r, word, sizeof(word));

	if (end && strcmp(word, "time") == 0) {
		r->pos = end;
		r->line->forms |= SHELL_F_TIME | SHELL_F_BASH;
		shell_blanks(r);
		if (shell_cur(r) == '-' || shell_ends_word(shell_cur(r)))
			shell_fail(r, "time with an option, or with no command");
		end = shell_plain(r, word, sizeof(word));
	}
	if (end && strcmp(word, "!") == 0) {
		r->pos = end;
		r->line->forms |= SHELL_F_NOT;
		if (shell_cur(r) == '(')
			shell_fail(r, "!(");
		shell_blanks(r);
		end = shell_plain(r, word, sizeof(word));
		if (end && (strcmp(word, "!") == 0 || strcmp(word, "time") == 0))
			shell_fail(r, "! before ! or time");
	}
}

static void pipeline(struct reader *r)
{
	pipeline_prefix(r);
	while (!shell_stopped(r)) {
		if (!shell_compound(r) && !shell_stopped(r))
			simple_command(r);
		shell_blanks(r);
		if (shell_stopped(r) || shell_cur(r) != '|' || shell_after(r, 1) == '|')
			return;
		r->line->forms |= SHELL_F_PIPE;
		if (shell_op(r, "|&"))
			r->line->forms |= SHELL_F_BASH;
		else
			shell_step(r);
		shell_linebreak(r);
	}
}

static void and_or(struct reader *r)
{
	pipeline(r);
	shell_blanks(r);
	while (!shell_stopped(r) && (shell_op(r, "&&") || shell_op(r, "||"))) {
		r->line->forms |= SHELL_F_AND_OR;
		shell_linebreak(r);
		pipeline(r);
		shell_blanks(r);
	}
}

/* Where a list ends: at the end of the text, before ) and ;; and before a word that closes a compound command */
static bool list_ends(struct reader *r)
{
	static const char *const closers[] = { "then", "do", "done", "fi", "else", "elif", "esac", "}" };
	char word[8];
	int c = shell_cur(r);

	if (c == END_OF_TEXT || c == ')' || (c == ';' && (shell_after(r, 1) == ';' || shell_after(r, 1) == '&')))
		return true;
	if (!shell_plain(r, word, sizeof(word)))
		return false;
	for (size_t i = 0; i < sizeof(closers) / sizeof(closers[0]); i++) {
		if (strcmp(word, closers[i]) == 0)
			return true;
	}
	return false;
}

/* What may stand between two commands of a list. Return: false when nothing does */
static bool separator(struct reader *r)
{
	int c = shell_cur(r);

	if (c == '\n') {
		shell_newline(r);
		return true;
	}
	if (c == '&' && shell_after(r, 1) != '&') {
		r->line->forms |= SHELL_F_BG;
		shell_step(r);
		return true;
	}
	if (c == ';' && shell_after(r, 1) != ';' && shell_after(r, 1) != '&') {
		shell_step(r);
		return true;
	}
	return false;
}

void shell_list(struct reader *r)
{
	bool first = true;

	while (!shell_stopped(r)) {
		shell_linebreak(r);
		if (shell_stopped(r) || list_ends(r))
			return;
		if (!first)
			r->line->forms |= SHELL_F_SEQ;
		first = false;
		and_or(r);
		shell_blanks(r);
		if (shell_stopped(r) || !separator(r))
			return;
	}
}
