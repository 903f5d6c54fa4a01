/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a tool call may run: policies, rules, plan mode, remembered approvals. Process: agent. Privilege: none.
 *
 * Order, the first that says something decides: a tool that is not gated runs unless a deny rule matches; a deny rule that
 * matches; deny-mutations; plan mode while no plan is approved; an allow rule that covers the whole call; an approval
 * remembered for exactly this call; the policy. What would have to be asked is denied when there is nobody to ask, and so is
 * a call that a deny rule may match (a part of it is not known) unless a person allows it. Calls are judged one after the
 * other: an approver is used by one thread.
 *
 * For bash the line is parsed (agent/shell/shell.h). A deny rule matches if it matches any simple command of the line, under its
 * own spelling, by the last part of its path, or inside a program that runs programs (env, xargs, sh -c ...). Allow rules have
 * to match every simple command; and none is allowed by a rule that has assignments in front, words that are not known, a
 * program that runs others or changes the shell, or that writes a file by an option, unless the rule is exact (no * and ?). A
 * redirection that writes needs a write_file rule for its target, except for /dev/null.
 */
#ifndef AK_AGENT_APPROVE_H
#define AK_AGENT_APPROVE_H

#include <stdbool.h>
#include <stddef.h>

struct ak_buf;
struct ak_err;
struct approver;
struct cJSON;

#define APPROVE_DENIED "Denied by user."
#define APPROVE_NOBODY "Denied: no approver."
#define APPROVE_PLAN_DENIED "Plan denied by user."

#define APPROVE_REMEMBERED_MAX 1000u
#define APPROVE_JUDGE_BYTES_MAX 8192u /* a longer call is asked, not judged */
#define APPROVE_FOLD_LINES 40u	      /* more lines are folded until the person opens them */

enum approve_policy {
	APPROVE_ALWAYS_ASK,
	APPROVE_AUTO_ALLOW,
	APPROVE_DENY_MUTATIONS,
	APPROVE_SMART,
};

/** approve_policy_parse() - names of CLI.md and of the seed: ask, always_ask, auto, auto_allow, deny-mutations, deny_mutations, smart */
bool approve_policy_parse(const char *name, enum approve_policy *ret);
/** approve_policy_name() - Return: a static string, the name of CLI.md */
const char *approve_policy_name(enum approve_policy policy);

enum approve_verdict {
	APPROVE_ALLOW,
	APPROVE_DENY,
};

/* What decided */
enum approve_by {
	APPROVE_BY_UNGATED,  /* the tool changes nothing */
	APPROVE_BY_RULE,     /* an --allow or --deny rule */
	APPROVE_BY_POLICY,   /* auto, deny-mutations */
	APPROVE_BY_PERSON,
	APPROVE_BY_MEMORY,   /* a person, earlier in this session, for exactly this call in this folder */
	APPROVE_BY_JUDGE,
	APPROVE_BY_NOBODY,   /* would have been asked, nobody is there, or has answered */
	APPROVE_BY_PLAN,     /* the plan was refused */
};

/** approve_by_name() - "rule", "policy", ... for trace and progress. Return: a static string */
const char *approve_by_name(enum approve_by by);

#define APPROVE_REASON_MAX 256

/**
 * struct approve_answer - what to do with a call
 * @text:	APPROVE_DENY: the text of the tool result, one of the constants above; static. NULL for APPROVE_ALLOW.
 * @reason:	one line for people and the trace: which rule, what was not understood; safe to print
 * @gated:	the call counts as gated: `approved` of the trace is true or false, null where it is not gated
 */
struct approve_answer {
	enum approve_verdict verdict;
	enum approve_by by;
	const char *text;
	char reason[APPROVE_REASON_MAX];
	bool gated;
};

/**
 * struct approve_question - what a person is asked; all of it borrowed for the call
 * @tool:	name of the tool; "plan" for a plan
 * @folder:	the folder the call runs in, as show_text() shows it
 * @shown:	the call, whole, in a frame (show_frame()); for bash the command, else one "name: value" per argument
 * @brief:	the same folded to APPROVE_FOLD_LINES lines; equal to @shown when @hidden_bytes is 0
 * @hidden_bytes: left out of @brief: a yes counts only if the person was shown @shown (see approve_person)
 * @why:	why it is asked, one line
 * @notes:	what the reader must know: "3 control characters", "writes /etc/h", "runs rm"; each one line, safe to print
 * @may_remember: APPROVE_YES_SESSION may be offered
 */
struct approve_question {
	const char *tool;
	const char *folder;
	const char *shown;
	size_t shown_len;
	const char *brief;
	size_t brief_len;
	size_t hidden_bytes;
	const char *why;
	const char *const *notes;
	size_t n_notes;
	bool may_remember;
};

enum approve_reply {
	APPROVE_NO, /* also: end of input */
	APPROVE_YES,
	APPROVE_YES_SESSION, /* yes, and for exactly the same call in the same folder until the session ends */
	APPROVE_NO_ANSWER,   /* the question could not be shown, or was interrupted: not run, and nobody has denied it */
};

/**
 * struct approve_person - somebody to ask; @ask NULL: headless
 * @ask:	waits for the answer. Sets *@ret_opened when @shown was shown whole; without it a yes to a folded question is
 *		taken for a no.
 */
struct approve_person {
	enum approve_reply (*ask)(void *ctx, const struct approve_question *q, bool *ret_opened);
	void *ctx;
};

/**
 * struct approve_judge - the model call of the smart policy; @ask NULL: smart asks for everything
 * @ask:	one request without tools; appends the reply's text. Every failure is a doubt, and a doubt asks. The caller books
 *		its usage in the budget.
 */
struct approve_judge {
	int (*ask)(void *ctx, const char *system, const char *user, struct ak_buf *ret_reply, struct ak_err *err);
	void *ctx;
};

/**
 * struct approve_files - where a path of the sandbox leads; @resolve NULL: no redirection is allowed by a rule
 * @resolve:	the absolute path with every link followed, as far as it exists, the rest appended; @path is absolute and
 *		normalised. Any failure: no rule allows it.
 */
struct approve_files {
	int (*resolve)(void *ctx, const char *path, struct ak_buf *ret_real);
	void *ctx;
};

/**
 * struct approve_options - how an approver is made; strings are copied
 * @plan:	plan mode: nothing gated runs before approve_plan() said yes
 * @workspace:	absolute, as seen inside the sandbox
 * @session:	the session's id; remembered approvals are bound to it
 * @width:	columns of the terminal, 0: 80
 */
struct approve_options {
	enum approve_policy policy;
	bool plan;
	const char *workspace;
	const char *session;
	unsigned width;
	struct approve_person person;
	struct approve_judge judge;
	struct approve_files files;
};

/**
 * approver_new() - an approver without rules, in the folder @workspace
 * Return: 0; -EINVAL (workspace not absolute or session missing); -ENOMEM. *@ret is untouched then.
 */
int approver_new(const struct approve_options *o, struct approver **ret, struct ak_err *err);
/** approver_free() - NULL does nothing */
void approver_free(struct approver *a);

/** approver_width() - the terminal's columns have changed; 0: 80 */
void approver_width(struct approver *a, unsigned width);
/** approver_rule() - add an --allow or --deny rule. Return: as rules_add() */
int approver_rule(struct approver *a, bool deny, const char *text, struct ak_err *err);

/**
 * approver_folder() - the folder commands run in from now on (it carries over from one bash call to the next)
 * @folder:	absolute and normalised; NULL: not known, then nothing is remembered and no redirection to a relative name is
 *		allowed by a rule
 * Return: 0; -ENOMEM (the folder counts as not known).
 */
int approver_folder(struct approver *a, const char *folder);

/**
 * approve_gated() - does the call change anything: bash, job (every action but list, logs, status and wait), write_file, edit_file,
 * rollback, and every tool nobody knows
 */
bool approve_gated(const char *tool, const struct cJSON *args);

/**
 * approve_plan() - plan mode: show the plan and ask for it, once
 * @text:	the assistant's text and the calls it wants, for people
 * Return: 0 with *@ret filled (APPROVE_ALLOW at once where there is no plan mode or the plan is approved); -ENOMEM.
 */
int approve_plan(struct approver *a, const char *text, size_t len, struct approve_answer *ret);

/** approve_plan_pending() - is a plan still to be approved? */
bool approve_plan_pending(const struct approver *a);

/**
 * approve_call() - may this call run? May wait for a person or the judge.
 * @tool:	the name
 * @args:	the arguments, already checked against the tool's schema; the caller runs exactly these
 * @ret:	always filled, also on failure (then APPROVE_DENY)
 * Return: 0; -ENOMEM.
 */
int approve_call(struct approver *a, const char *tool, const struct cJSON *args, struct approve_answer *ret);

#endif
