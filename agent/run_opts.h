/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's half of the command line of `ak run`. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_RUN_OPTS_H
#define AK_AGENT_RUN_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/approve.h"
#include "agent/budget.h"

struct ak_err;

#define RUN_LIST_MAX 256u
#define RUN_TOOL_TIMEOUT_S 60u
#define RUN_MAX_TOOL_TIMEOUT_S 600u

enum run_apply { RUN_APPLY_DEFAULT, RUN_APPLY_ALWAYS, RUN_APPLY_ASK, RUN_APPLY_NEVER };
enum run_format { RUN_TEXT, RUN_JSON, RUN_STREAM_JSON };

/* Values of an option that may be repeated; borrowed */
struct run_list {
	const char *v[RUN_LIST_MAX];
	size_t n;
};

/**
 * struct run_opts - strings are borrowed from argv; NULL and 0: not given
 * @policy_given: --approval or -y; else it depends on the sandbox
 * @prompt:	NULL: standard input
 */
struct run_opts {
	const char *model;
	const char *api;
	const char *base_url;
	const char *replay;
	const char *effort;
	const char *ca_file;
	const char *price;
	const char *output_last_message;
	const char *output_schema;
	const char *resume;
	const char *system_prompt;
	const char *system_prompt_file;
	const char *append_system_prompt;
	const char *prompt;
	uint64_t max_response_tokens;
	uint64_t context;
	struct budget_limits limits;
	uint64_t tool_timeout_ms;
	uint64_t max_tool_timeout_ms;
	enum run_format format;
	enum run_apply apply;
	enum approve_policy policy;
	bool policy_given;
	bool plan;
	bool plain_http;
	bool go_on; /* --continue */
	bool ephemeral;
	bool no_instructions;
	bool bare;
	bool fail_on_denied;
	bool verbose_trace;
	bool quiet;
	bool help;
	bool tool_timeout_given;
	const char *said; /* while a setting is read: what it is called in messages; else NULL */
	struct run_list attach;
	struct run_list allow;
	struct run_list deny;
	struct run_list providers; /* of config files only: pairs of a place and a text, as providers_add() takes them */
};

/** run_opts_init() - the defaults */
void run_opts_init(struct run_opts *o);

/**
 * run_opts_settings() - read what files and variables say, before the words, which count more
 * @v:	pairs, borrowed as long as @o is used: a name for messages ("FILE:1:2: run.max_cost", "AK_MAX_COST"), and a word of the
 *	command line with its value ("--max-cost=5", "--plan")
 * @n:	of texts
 * Return: 0; -EINVAL with @err, which starts with the name.
 */
int run_opts_settings(char *const v[], size_t n, struct run_opts *o, struct ak_err *err);

/**
 * run_opts_parse() - read the words
 * @ret:	filled as far as the parse came; its format is right even after a failure, wherever it stands in @argv
 * Return: 0; -EINVAL with @err (unknown option, value that does not parse, two prompts).
 */
int run_opts_parse(int argc, char *argv[], struct run_opts *ret, struct ak_err *err);

/** run_opts_help() - text of `ak run --help`; static */
const char *run_opts_help(void);

#endif
