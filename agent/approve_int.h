/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the approver. Process: agent. Privilege: none. */
#ifndef AK_AGENT_APPROVE_INT_H
#define AK_AGENT_APPROVE_INT_H

#include "agent/approve.h"
#include "agent/rules.h"
#include "agent/shell/shell.h"

struct ak_buf;

struct approver {
	struct approve_options o; /* strings are copies */
	struct rules rules;
	char *folder;
	bool plan_pending;
	bool plan_refused;
	char **remembered;
	size_t *remembered_len;
	size_t n_remembered;
};

/**
 * struct view - what the rules say about one call
 * @deny:	the strongest answer of a deny rule
 * @allow:	allow rules cover the whole call
 * @rule:	the rule behind @deny or @allow, NULL for none; borrowed
 * @why:	one line: why it is not allowed by a rule, or what a deny rule may match
 */
struct view {
	enum rule_match deny;
	bool allow;
	const struct rule *rule;
	char why[APPROVE_REASON_MAX];
};

/* approve_bash.c, approve_deny.c */
void view_bash(const struct approver *a, const char *command, struct view *ret);
void deny_line(const struct approver *a, const struct shell_line *line, struct view *v);
void deny_doubt(struct view *v, const char *why);
bool deny_rules_for(const struct approver *a, const char *tool);

/* approve_paths.c */
void view_path(const struct approver *a, const char *tool, const char *path, struct view *ret);
void view_text(const struct approver *a, const char *tool, const char *text, size_t len, struct view *ret);
enum rule_match path_denied(const struct approver *a, const char *tool, const char *path, const struct rule **ret_rule);
bool path_write_allowed(const struct approver *a, const char *path);

/* approve_programs.c */
enum program_flags {
	PROGRAM_RUNS = 1 << 0,	/* runs programs or code it is given by arguments or files */
	PROGRAM_STATE = 1 << 1, /* a builtin that changes what later commands mean */
	PROGRAM_SHELL = 1 << 2, /* -c TEXT, else a script or its input */
	PROGRAM_EVAL = 1 << 3,	/* its arguments together are a command line */
	PROGRAM_CODE = 1 << 4,	/* code of another language in an argument behind -c, -e and the like */
	PROGRAM_OPAQUE = 1 << 5, /* what it runs is not to be seen */
	PROGRAM_PURE = 1 << 6,	/* makes no links and no files by itself */
	PROGRAM_WRAPS = 1 << 7,	/* arguments may be a command */
	PROGRAM_CHDIR = 1 << 8,
	PROGRAM_MAY_WRAP = 1 << 9, /* some of its commands run what stands in its arguments */
};
unsigned program_flags(const struct shell_word *command);
bool program_option_acts(const struct shell_word *words, size_t n);
const char *last_part(const char *path, size_t len, size_t *ret_len);
bool program_takes_code(const struct shell_word *words, size_t n);
/* @names: separated by blanks. program_named() takes a prefix up to a - and a version off, too */
bool name_listed(const char *names, const char *name, size_t len);
bool program_named(const char *names, const char *name, size_t len);
bool option_long(const struct shell_word *word, const char *longs);
bool option_short(const struct shell_word *word, const char *letters);

/* approve_doubt.c. doubt_command(): NULL, or what of it may start a program; static */
const char *doubt_command(const struct shell_word *words, size_t n);
bool doubt_variable(const struct shell_word *w);
bool is_input(const char *value);
bool doubt_subscript(const struct shell_word *w, bool evaluated);

/* approve_sed.c. words[0] is sed */
bool sed_runs(const struct shell_word *words, size_t n);

/* approve_text.c */
void join_words(const struct shell_word *words, size_t n, bool quoted, bool by_last_part, struct ak_buf *out);

/* approve_ask.c */
enum approve_reply approve_ask(struct approver *a, const char *tool, const struct cJSON *args, const char *why, bool may_remember);
enum approve_reply approve_ask_plan(struct approver *a, const char *text, size_t len);
bool approve_is_remembered(const struct approver *a, const char *tool, const struct cJSON *args);
bool approve_remember(struct approver *a, const char *tool, const struct cJSON *args);

/* approve_judge.c */
bool approve_judge(struct approver *a, const char *tool, const struct cJSON *args, char *ret_why);
bool approve_judge_reply(const char *reply, size_t len, const char *id);

#endif
