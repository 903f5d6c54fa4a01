/* SPDX-License-Identifier: Apache-2.0 */
/* Parts the words of `ak run`: what shapes the sandbox is the executor's, the rest the agent's. Process: executor. Privilege: none. */
#ifndef AK_RUN_WORDS_H
#define AK_RUN_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;

/* One option of the agent's */
struct run_word {
	const char *option;	/* "--max-cost"; static */
	const char *value;	/* borrowed; NULL: it takes none */
	const char *said;	/* for messages: --yes is --approval auto; static */
};

/* -o, --output, --json */
enum run_words_output { RUN_OUTPUT_TEXT, RUN_OUTPUT_JSON, RUN_OUTPUT_STREAM };

struct run_words {
	char **shape;		/* for args_parse(ARGS_AGENT): options with their values; entries borrowed */
	int nshape;
	char **agent;		/* for ak-agent, in their order; behind "--" all of them are prompt; NULL-terminated; entries borrowed */
	int nagent;
	struct run_word *options;	/* of @agent; owned */
	size_t noptions;
	bool quiet;		/* --quiet, a word of the agent's */
	enum run_words_output output;	/* the form of the result, words of the agent's; TEXT for what it does not know */
	const char *config;	/* --config; borrowed; NULL: not given */
	bool bare;		/* --bare: @shape ends with --config /dev/null */
};

/**
 * run_words_split() - look at each word once
 * @argv:	behind `ak run`; borrowed as long as @ret is used
 *
 * What an option's value means is not looked at here, only whether it has one. The agent reads its own words once more.
 * Return: 0; -EINVAL (unknown option, value missing or not wanted; @ret is filled as far as possible, so that the agent can
 * tell the error in the form that was asked for); -ENOMEM. run_words_release() in every case.
 */
int run_words_split(int argc, char *const argv[], struct run_words *ret, struct ak_err *err);
/** run_words_option() - option @i that is known, with its dashes. Return: NULL behind the last one. */
const char *run_words_option(size_t i);
void run_words_release(struct run_words *w);

#endif
