/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allow rules over a command line: every simple command of it has to be covered, and nothing in it may be unknown. The first thing
 * that is not covered is told. Process: agent. Privilege: none.
 */
#include "agent/approve_int.h"

#include <stdio.h>
#include <string.h>

#include "executor/shared/ak_buf.h"

/* Forms in which each simple command can be judged by itself; every other form is asked for */
#define FORMS                                                                                                                           \
	(SHELL_F_SEQ | SHELL_F_AND_OR | SHELL_F_PIPE | SHELL_F_BG | SHELL_F_NOT | SHELL_F_SUBSHELL | SHELL_F_GROUP | SHELL_F_IF |        \
	 SHELL_F_LOOP | SHELL_F_HEREDOC | SHELL_F_COMMENT | SHELL_F_CONTINUED)

static const struct {
	unsigned form;
	const char *what;
} forms[] = {
	{ SHELL_F_NUL, "it holds a NUL byte" },
	{ SHELL_F_CONTROL, "it holds control characters" },
	{ SHELL_F_BIDI, "it holds invisible or direction-changing characters" },
	{ SHELL_F_BAD_UTF8, "it holds bytes that are not UTF-8" },
	{ SHELL_F_SUBST, "it holds a command substitution" },
	{ SHELL_F_FOR, "it holds a for loop" },
	{ SHELL_F_CASE, "it holds case" },
	{ SHELL_F_FUNCTION, "it defines a function" },
	{ SHELL_F_COND, "it holds [[" },
	{ SHELL_F_TIME, "it holds time" },
	{ SHELL_F_BASH, "it holds a form that shells read differently" },
};

static bool refused(struct view *v, const char *why)
{
	(void)snprintf(v->why, sizeof(v->why), "no rule allows it: %s", why);
	return false;
}

static bool form_allowed(const struct shell_line *line, struct view *v)
{
	if (line->forms & SHELL_F_UNKNOWN) {
		(void)snprintf(v->why, sizeof(v->why), "the command line is not understood: %.120s (byte %zu)",
			       line->problem ? line->problem : "", line->problem_at);
		return false;
	}
	if (line->n_cmds == 0)
		return refused(v, "it holds no command");
	if (!(line->forms & ~(unsigned)FORMS))
		return true;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (line->forms & forms[i].form)
			return refused(v, forms[i].what);
	}
	return refused(v, "a form no rule covers");
}

static bool redir_allowed(const struct approver *a, const struct shell_redir *r, bool pure, bool moved, struct view *v)
{
	const char *to = r->target.text;

	if (r->kind == SHELL_HEREDOC || r->kind == SHELL_HEREDOC_TAB || r->kind == SHELL_DUP_IN || r->kind == SHELL_DUP_OUT)
		return true;
	if (r->target.why)
		return refused(v, "a redirection to a name that is not known");
	if (strncmp(to, "/dev/tcp", 8) == 0 || strncmp(to, "/dev/udp", 8) == 0)
		return refused(v, "a redirection that opens a connection");
	if (!shell_redir_writes(r) || strcmp(to, "/dev/null") == 0)
		return true;
	if (!pure)
		return refused(v, "a redirection that writes, next to commands that may make links");
	if (moved && to[0] != '/')
		return refused(v, "a redirection that writes, behind cd");
	return path_write_allowed(a, to) || refused(v, "it writes a file, and no write_file rule covers that");
}

/* Is the command covered by a rule that is exact, or by one with * and nothing that makes * dangerous? */
static const struct rule *covering(const struct approver *a, const struct ak_buf *text, bool exact_only)
{
	for (size_t i = 0; i < a->rules.n; i++) {
		const struct rule *r = &a->rules.items[i];

		if (r->deny || strcmp(r->tool, "bash") != 0 || !r->glob || (exact_only && !r->exact))
			continue;
		if (rule_glob(r->glob, text->data, text->len) == RULE_YES)
			return r;
	}
	return NULL;
}

/* Why a rule with * does not reach this command; NULL when it may */
static const char *exact_wanted(const struct shell_cmd *c, bool moved)
{
	unsigned flags;

	if (c->n_assigns > 0 || c->n_words == 0)
		return "it sets variables, which only an exact rule covers";
	flags = program_flags(&c->words[0]);
	if (flags & PROGRAM_RUNS)
		return "it is a program that runs programs, which only an exact rule covers";
	if (flags & PROGRAM_STATE)
		return "it changes the shell, which only an exact rule covers";
	if (program_option_acts(c->words, c->n_words))
		return "an argument runs a program or writes a file, which only an exact rule covers";
	if (moved && strchr(c->words[0].text, '/') && c->words[0].text[0] != '/')
		return "it names a program by a relative path behind cd";
	return NULL;
}

static bool command_allowed(const struct approver *a, const struct shell_cmd *c, bool moved, struct view *v)
{
	struct ak_buf text = { .max = 8 * SHELL_BYTES_MAX };
	const char *why;
	const struct rule *rule = NULL;

	for (size_t i = 0; i < c->n_assigns; i++) {
		if (c->assigns[i].why)
			return refused(v, "it sets a variable to something that is not known");
	}
	for (size_t i = 0; i < c->n_words; i++) {
		if (c->words[i].why)
			return refused(v, i ? "an argument is not plain text" : "the command word is not plain text");
	}
	why = exact_wanted(c, moved);
	join_words(c->assigns, c->n_assigns, true, false, &text);
	if (c->n_assigns && c->n_words)
		ak_buf_str(&text, " ");
	join_words(c->words, c->n_words, true, false, &text);
	if (!text.failed && text.data)
		rule = covering(a, &text, why != NULL);
	ak_buf_release(&text);
	if (rule) {
		v->rule = rule;
		return true;
	}
	if (why)
		return refused(v, why);
	(void)snprintf(v->why, sizeof(v->why), "no rule allows it");
	return false;
}

static bool every(const struct shell_line *line, unsigned flag)
{
	for (size_t i = 0; i < line->n_cmds; i++) {
		const struct shell_cmd *c = &line->cmds[i];

		if (c->n_words && (c->words[0].why || !(program_flags(&c->words[0]) & flag)))
			return false;
	}
	return true;
}

static bool any(const struct shell_line *line, unsigned flag)
{
	for (size_t i = 0; i < line->n_cmds; i++) {
		const struct shell_cmd *c = &line->cmds[i];

		if (c->n_words && (program_flags(&c->words[0]) & flag))
			return true;
	}
	return false;
}

static bool line_allowed(const struct approver *a, const struct shell_line *line, struct view *v)
{
	bool pure = every(line, PROGRAM_PURE);
	bool moved = any(line, PROGRAM_CHDIR);

	if (!form_allowed(line, v))
		return false;
	for (size_t i = 0; i < line->n_cmds; i++) {
		const struct shell_cmd *c = &line->cmds[i];

		for (size_t k = 0; k < c->n_redirs; k++) {
			if (!redir_allowed(a, &c->redirs[k], pure, moved, v))
				return false;
		}
		if (c->n_words + c->n_assigns == 0)
			continue; /* only redirections */
		if (!command_allowed(a, c, moved, v))
			return false;
	}
	if (v->rule)
		(void)snprintf(v->why, sizeof(v->why), "allowed by the rule %.200s", v->rule->text);
	else
		(void)snprintf(v->why, sizeof(v->why), "allowed by rules");
	return true;
}

static const struct rule *whole_tool(const struct approver *a, bool deny)
{
	for (size_t i = 0; i < a->rules.n; i++) {
		const struct rule *r = &a->rules.items[i];

		if (r->deny == deny && !r->glob && strcmp(r->tool, "bash") == 0)
			return r;
	}
	return NULL;
}

void view_bash(const struct approver *a, const char *command, struct view *ret)
{
	struct view v = { .rule = whole_tool(a, true) };
	struct shell_line *line = NULL;

	if (v.rule) {
		v.deny = RULE_YES;
		(void)snprintf(v.why, sizeof(v.why), "denied by the rule %.200s", v.rule->text);
	} else if (shell_parse(command, strlen(command), &line, NULL) < 0) {
		v.deny = a->rules.n ? RULE_MAYBE : RULE_NO;
		(void)snprintf(v.why, sizeof(v.why), "no memory to read the command line");
	} else {
		deny_line(a, line, &v);
	}
	if (line && v.deny == RULE_NO) {
		v.rule = whole_tool(a, false);
		v.allow = v.rule || line_allowed(a, line, &v);
		if (v.allow && !v.why[0])
			(void)snprintf(v.why, sizeof(v.why), "allowed by the rule %.200s", v.rule->text);
	}
	shell_line_free(line);
	*ret = v;
}
