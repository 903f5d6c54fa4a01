/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deny rules over a command line: whatever can be seen of it, also inside of programs that run programs, and of lines that are not
 * understood. What cannot be seen is a doubt, never a "no". Process: agent. Privilege: none.
 */
#include "agent/approve_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/show.h"
#include "executor/shared/ak_buf.h"

#define INSIDE_MAX 4u	/* programs that run programs inside each other */
#define SUFFIXES_MAX 64u /* arguments that are looked at as the start of a command */
#define FUEL (1u << 20) /* bytes of commands that are compared, in all */

struct denier {
	const struct approver *a;
	struct view *v;
	size_t fuel;
	char input[2]; /* the text of the word that stands for what xargs adds */
};

static void look_at_line(struct denier *d, const struct shell_line *line, enum rule_match most, unsigned depth);

bool deny_rules_for(const struct approver *a, const char *tool)
{
	for (size_t i = 0; i < a->rules.n; i++) {
		if (a->rules.items[i].deny && strcmp(a->rules.items[i].tool, tool) == 0)
			return true;
	}
	return false;
}

/* Something a deny rule may match; the first doubt is the one that is told */
void deny_doubt(struct view *v, const char *why)
{
	if (v->deny != RULE_NO)
		return;
	v->deny = RULE_MAYBE;
	(void)snprintf(v->why, sizeof(v->why), "a deny rule may match: %s", why);
}

static void matched(struct view *v, enum rule_match m, const struct rule *rule)
{
	if (m == RULE_YES && v->deny != RULE_YES) {
		v->deny = RULE_YES;
		v->rule = rule;
		(void)snprintf(v->why, sizeof(v->why), "denied by the rule %.200s", rule->text);
	} else if (m == RULE_MAYBE && v->deny == RULE_NO) {
		v->deny = RULE_MAYBE;
		v->rule = rule;
		(void)snprintf(v->why, sizeof(v->why), "the deny rule %.180s may match", rule->text);
	}
}

/* One command under each of its spellings */
static void compare(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most)
{
	for (unsigned spelling = 0; spelling < 4; spelling++) {
		struct ak_buf text = { .max = 8 * SHELL_BYTES_MAX };

		join_words(words, n, spelling & 1, spelling & 2, &text);
		for (size_t i = 0; i < d->a->rules.n; i++) {
			const struct rule *r = &d->a->rules.items[i];
			enum rule_match m;

			if (!r->deny || strcmp(r->tool, "bash") != 0)
				continue;
			m = text.failed ? RULE_MAYBE : !r->glob ? RULE_YES : rule_glob(r->glob, text.data, text.len);
			matched(d->v, m > most ? most : m, r);
		}
		ak_buf_release(&text);
	}
}

/* A text that a shell will read */
static void look_at_text(struct denier *d, const char *text, size_t len, enum rule_match most, unsigned depth)
{
	struct shell_line *line;

	if (shell_parse(text, len, &line, NULL) < 0) {
		deny_doubt(d->v, "no memory to look inside");
		return;
	}
	look_at_line(d, line, most, depth);
	shell_line_free(line);
}

/* Options, numbers, assignments: what stands in front of the command in the arguments of env, nice, timeout */
static bool in_front(const struct shell_word *w)
{
	return w->text[0] == '-' || strspn(w->text, "0123456789.smhd") == w->len || strchr(w->text, '=') != NULL;
}

/* sh -c TEXT; else a script, or commands that come through its input */
static void look_at_shell(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth)
{
	size_t i = 1;
	bool command = false;

	while (i < n && !words[i].why && (words[i].text[0] == '-' || words[i].text[0] == '+')) {
		if (words[i].text[1] != '-' && strchr(words[i].text, 'c'))
			command = true;
		if (words[i].text[1] != '-' && strpbrk(words[i].text, "Hk"))
			deny_doubt(d->v, "a shell that makes other words of what is there"); /* as set -H and set -k */
		i++;
	}
	if (i == n || words[i].why || (!command && (i > 1 || is_input(words[i].text)))) {
		deny_doubt(d->v, "a shell whose commands are not to be seen");
		return;
	}
	if (command)
		look_at_text(d, words[i].text, words[i].len, most, depth);
}

/* trap: of its arguments only the first is a command, the others are signals */
static void look_at_trap(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth)
{
	size_t i = 1;

	while (i < n && words[i].text[0] == '-' && words[i].len > 1)
		i++;
	if (i < n)
		look_at_text(d, words[i].text, words[i].len, most, depth);
}

/* eval and trap: the arguments together */
static void look_at_eval(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth)
{
	struct ak_buf text = { .max = SHELL_BYTES_MAX };

	for (size_t i = 1; i < n; i++) {
		if (words[i].why) {
			deny_doubt(d->v, "eval of something that is not known");
			ak_buf_release(&text);
			return;
		}
		ak_buf_str(&text, words[i].text);
		ak_buf_str(&text, " ");
	}
	if (text.failed)
		deny_doubt(d->v, "eval of a long text");
	else if (text.data)
		look_at_text(d, text.data, text.len, most, depth);
	ak_buf_release(&text);
	if (shell_word_is(&words[0], "trap"))
		look_at_trap(d, words, n, most, depth);
}

static void look_at_command(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth);

/* xargs and parallel: behind the last argument stand more, which come through the input */
static bool goes_on(const struct shell_word *command)
{
	size_t len;
	const char *name = last_part(command->text, command->len, &len);

	return !command->why && name_listed("xargs parallel sem", name, len);
}

static void look_at_arguments(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth);

/* @n words and room for one more, free(); NULL: that is a doubt */
static struct shell_word *copy_words(struct denier *d, const struct shell_word *words, size_t n)
{
	struct shell_word *copy = n <= SUFFIXES_MAX ? calloc(n + 1, sizeof(*copy)) : NULL;

	if (copy)
		memcpy(copy, words, n * sizeof(*copy));
	else
		deny_doubt(d->v, "a program that runs others, with many arguments");
	return copy;
}

/* the same arguments, and a hole for what the input adds */
static void look_at_more(struct denier *d, const struct shell_word *words, size_t n, unsigned depth)
{
	struct shell_word *more = copy_words(d, words, n);

	if (!more)
		return;
	more[n] = (struct shell_word){ .text = d->input, .len = 1, .why = SHELL_W_SUBST };
	look_at_arguments(d, more, n + 1, RULE_MAYBE, depth);
	free(more);
}

/* find -exec: up to ; or {} +, with holes for what is found */
static void look_at_exec(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth)
{
	struct shell_word *copy;
	size_t end = 0;

	while (end < n && !shell_word_is(&words[end], ";") &&
	       !(end > 0 && shell_word_is(&words[end], "+") && shell_word_is(&words[end - 1], "{}")))
		end++;
	copy = copy_words(d, words, end);
	for (size_t i = 0; copy && i < end; i++) {
		if (!copy[i].why && strstr(copy[i].text, "{}"))
			copy[i] = (struct shell_word){ .text = d->input, .len = 1, .why = SHELL_W_SUBST };
	}
	if (copy)
		look_at_command(d, copy, end, most, depth);
	free(copy);
}

static bool starts_command(const struct shell_word *w)
{
	return shell_word_is(w, "-exec") || shell_word_is(w, "-execdir") || shell_word_is(w, "-ok") || shell_word_is(w, "-okdir");
}

/* Every argument may be where the command inside begins; for the first that is no option it is as good as certain */
static void look_at_arguments(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth)
{
	size_t len;
	const char *name = last_part(words[0].text, words[0].len, &len);
	bool certain = true, find = name_listed("find", name, len);

	if (shell_word_is(&words[0], "command") && n > 1 && (shell_word_is(&words[1], "-v") || shell_word_is(&words[1], "-V")))
		return;
	for (size_t i = 1; i < n; i++) {
		bool here = starts_command(&words[i - 1]) || (certain && !in_front(&words[i]));

		/* what xargs adds begins a command only where nothing else does; what find looks in, and the end of its command, is none */
		if ((words[i].text == d->input && !here) || (find && shell_word_is(&words[i], ".")) || shell_word_is(&words[i], ";"))
			continue;
		if (i > SUFFIXES_MAX) {
			deny_doubt(d->v, "a program that runs others, with many arguments");
			return;
		}
		if (shell_word_is(&words[0], "xargs") && (strncmp(words[i].text, "-I", 2) == 0 || strncmp(words[i].text, "-i", 2) == 0 ||
							  strncmp(words[i].text, "--rep", 5) == 0))
			deny_doubt(d->v, "xargs that puts its input into the command");
		if (starts_command(&words[i - 1]))
			look_at_exec(d, words + i, n - i, most, depth);
		look_at_command(d, words + i, n - i, here ? most : RULE_MAYBE, depth);
		const char *value = words[i].why ? NULL : strchr(words[i].text, '=');

		if (value && value[1])
			look_at_text(d, value + 1, strlen(value + 1), RULE_MAYBE, depth);
		if (!words[i].why && strpbrk(words[i].text, " \t\n;&|"))
			look_at_text(d, words[i].text, words[i].len, RULE_MAYBE, depth);
		certain = certain && in_front(&words[i]);
	}
}

static size_t bytes_of(const struct shell_word *words, size_t n)
{
	size_t bytes = 16;

	for (size_t i = 0; i < n; i++)
		bytes += words[i].len + 1;
	return bytes;
}

static void look_at_command(struct denier *d, const struct shell_word *words, size_t n, enum rule_match most, unsigned depth)
{
	unsigned flags;

	if (n == 0 || d->v->deny == RULE_YES || !deny_rules_for(d->a, "bash"))
		return;
	if (depth > INSIDE_MAX || d->fuel < bytes_of(words, n)) {
		deny_doubt(d->v, "too many programs that run programs");
		return;
	}
	d->fuel -= bytes_of(words, n);
	compare(d, words, n, most);
	if (words[0].why)
		return;
	flags = program_flags(&words[0]);
	if (flags & PROGRAM_OPAQUE)
		deny_doubt(d->v, "a program whose arguments are code");
	if ((flags & PROGRAM_CODE) && program_takes_code(words, n))
		deny_doubt(d->v, "code in an argument");
	if (flags & PROGRAM_SHELL)
		look_at_shell(d, words, n, most, depth + 1);
	if (flags & PROGRAM_EVAL)
		look_at_eval(d, words, n, most, depth + 1);
	if (flags & PROGRAM_WRAPS)
		look_at_arguments(d, words, n, most, depth + 1);
	if (goes_on(&words[0]) && words[n - 1].text != d->input)
		look_at_more(d, words, n, depth + 1);
	if ((flags & (PROGRAM_WRAPS | PROGRAM_MAY_WRAP)) == PROGRAM_MAY_WRAP)
		look_at_arguments(d, words, n, RULE_MAYBE, depth + 1);
	const char *why = doubt_command(words, n);

	if (why)
		deny_doubt(d->v, why);
}

static void look_at_target(struct denier *d, const char *path)
{
	const struct rule *rule = NULL;
	enum rule_match m = path_denied(d->a, "write_file", path, &rule);

	matched(d->v, m, rule);
}

/* Values that run something later: variables that name programs, subscripts with a command inside */
static void look_for_values(struct denier *d, const struct shell_cmd *c)
{
	bool found = false;

	for (size_t i = 0; i < c->n_assigns; i++) {
		if (doubt_variable(&c->assigns[i]))
			deny_doubt(d->v, "a variable that names a program");
		found = found || doubt_subscript(&c->assigns[i], false);
	}
	for (size_t i = 0; i < c->n_words; i++)
		found = found || doubt_subscript(&c->words[i], (c->place & SHELL_P_COND) != 0);
	for (size_t i = 0; i < c->n_redirs; i++)
		found = found || doubt_subscript(&c->redirs[i].target, false);
	if (found)
		deny_doubt(d->v, "a subscript that holds a command");
	for (size_t i = 0; i < c->n_redirs; i++) {
		if ((c->redirs[i].kind == SHELL_HEREDOC || c->redirs[i].kind == SHELL_HEREDOC_TAB) && c->n_words &&
		    (shell_word_is(&c->words[0], "read") || shell_word_is(&c->words[0], "mapfile") || shell_word_is(&c->words[0], "readarray")))
			deny_doubt(d->v, "variables set to a here-document");
	}
}

static void look_at_line(struct denier *d, const struct shell_line *line, enum rule_match most, unsigned depth)
{
	for (size_t i = 0; i < line->n_sets && deny_rules_for(d->a, "bash"); i++) {
		if (line->sets[i].why || doubt_variable(&line->sets[i]))
			deny_doubt(d->v, "a variable that names a program");
	}
	for (size_t i = 0; i < line->n_cmds; i++) {
		const struct shell_cmd *c = &line->cmds[i];

		if (deny_rules_for(d->a, "bash"))
			look_for_values(d, c);
		if ((c->place & SHELL_P_COND) && !(c->place & SHELL_P_TEST))
			continue;
		look_at_command(d, c->words, c->n_words, c->place & SHELL_P_COND ? RULE_MAYBE : most, depth);
		for (size_t k = 0; k < c->n_redirs; k++) {
			const struct shell_redir *r = &c->redirs[k];

			if (!shell_redir_writes(r))
				continue;
			if (r->target.why && deny_rules_for(d->a, "write_file"))
				deny_doubt(d->v, "it writes a file whose name is not known");
			else if (!r->target.why)
				look_at_target(d, r->target.text);
		}
	}
	if ((line->forms & SHELL_F_UNKNOWN) && deny_rules_for(d->a, "bash"))
		deny_doubt(d->v, line->problem);
}

void deny_line(const struct approver *a, const struct shell_line *line, struct view *v)
{
	struct denier d = { .a = a, .v = v, .fuel = FUEL, .input = { SHELL_HOLE } };

	if (deny_rules_for(a, "bash") || deny_rules_for(a, "write_file"))
		look_at_line(&d, line, RULE_YES, 0);
}
