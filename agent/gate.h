/* SPDX-License-Identifier: Apache-2.0 */
/* The approver of a run: made from its options, with whoever can be asked. Process: agent. Privilege: none. */
#ifndef AK_AGENT_GATE_H
#define AK_AGENT_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/approve.h"
#include "agent/loop.h"

struct ak_err;
struct budget;
struct cancel;
struct cJSON;
struct exec_client;
struct msg;
struct provider;
struct run_opts;
struct tool_env;

#define GATE_JUDGE_TOKENS 1024u
#define GATE_RESOLVE_MS 5000u

/**
 * struct gate - gate_close()
 * @approver:	owned
 * @xc, @provider, @budget, @cancel: borrowed
 * @env:	borrowed; is the sandbox alive?
 * @moved:	a command has run: the shell may be anywhere
 * @person:	there is a terminal to ask on; else what would have to be asked is denied
 * @allows, @denies: there are rules of --allow, of --deny; @plan: of --plan
 */
struct gate {
	enum approve_policy policy;
	struct approver *approver;
	struct exec_client *xc;
	struct provider *provider;
	struct budget *budget;
	struct cancel *cancel;
	struct tool_env *env;
	bool moved;
	bool person;
	bool allows;
	bool denies;
	bool plan;
};

/** gate_check() - are the rules rules? Before anything is made. Return: 0; -EINVAL. */
int gate_check(const struct run_opts *o, struct ak_err *err);

/**
 * gate_open() - @g: all borrowed members are set
 * @harmless:	nothing of the host's changes at once: then the default policy is auto, else ask
 * Return: 0; -EINVAL, -ENOMEM as approver_new() and approver_rule().
 */
int gate_open(struct gate *g, const struct run_opts *o, const char *session, bool harmless, struct ak_err *err);
void gate_close(struct gate *g);
/** gate_resized() - the terminal may have another size than when the gate was opened */
void gate_resized(struct gate *g);
/** gate_name() - the policy in force */
const char *gate_name(const struct gate *g);

/** gate_plan() - before the calls of a turn: plan mode asks for its plan here. @ctx: struct gate. Return: 0; -ENOMEM. */
int gate_plan(void *ctx, const struct msg *turn);
/** gate_call() - as approve_call(); @ctx: struct gate */
int gate_call(void *ctx, const char *tool, const struct cJSON *args, struct approve_answer *ret);
/**
 * gate_order() - when a call is judged and started; @ctx: struct gate
 * Where a link leads is changed by calls: what is judged by rules or by a person waits for the calls before it, and those behind it
 * wait for it. Without rules policy auto judges nothing by files.
 */
enum loop_order gate_order(void *ctx, const char *tool, const struct cJSON *args);

/**
 * gate_folder() - before a call is judged: where is the shell that commands run in? Told to the approver
 * Without a person to ask it is not looked for, and counts as not known once a command has run. Return: 0; -ENOMEM.
 */
int gate_folder(struct gate *g);
/**
 * gate_output() - the whole output of a command in the sandbox, without its last newline
 * @kind:	AK_EXEC_ARGV: it has to succeed; AK_EXEC_SESSION: a text, which has to kill its shell
 * Return: 0; -EIO (it failed, or has said more than can be one name); as ak_exec()
 */
int gate_output(struct gate *g, unsigned kind, const char *const argv[], struct ak_buf *ret);

/**
 * gate_yes() - ask the person on the terminal something that is answered with y or n
 * @question:	shown as it is: safe to print
 * Return: false for everything but yes; when interrupted, too.
 */
bool gate_yes(const struct cancel *cancel, const char *question);
/** gate_terminal() - is there a person? Standard input and standard error are terminals. */
bool gate_terminal(void);

#endif
