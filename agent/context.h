/* SPDX-License-Identifier: Apache-2.0 */
/* How large a conversation is, and whether it leaves room for a reply in the model's context. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CONTEXT_H
#define AK_AGENT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history;
struct price;
struct tool_def;

#define CONTEXT_UNKNOWN 32768u /* tokens, for a model of which nobody says */

/**
 * struct context - the window of a model
 * @window:	tokens of prompt and reply together; 0: none (a script has no window)
 * @guessed:	CONTEXT_UNKNOWN: worth compacting for, not worth refusing a prompt
 */
struct context {
	uint64_t window;
	bool guessed;
};

/**
 * context_init() - the user's word (--context), else the price file's, else CONTEXT_UNKNOWN
 * @wish:	tokens; 0: not given
 * @price:	NULL: unknown
 * @script:	the provider is a script: no window unless @wish says one
 */
void context_init(struct context *c, uint64_t wish, const struct price *price, bool script);
/** context_learn() - what the server said when it refused a prompt; 0 teaches nothing, nor does what is no smaller than known */
void context_learn(struct context *c, uint64_t window);

/** context_images() - of a conversation: what tokens they are does not go by their bytes */
uint64_t context_images(const struct history *h);
/** context_bytes() - of a request, as far as tokens go by it */
uint64_t context_bytes(const char *system, const struct tool_def *tools, size_t ntools, const struct history *h);

/**
 * context_fits() - does a prompt leave room for the reply?
 * @prompt:	tokens, an upper bound
 * @max_tokens:	of the reply as wished; of a small window a quarter is enough
 */
bool context_fits(const struct context *c, uint64_t prompt, uint64_t max_tokens);
/** context_hopeless() - a prompt of so many bytes is larger than a window that is not guessed, however few tokens they are */
bool context_hopeless(const struct context *c, uint64_t bytes);
/** context_reply() - @max_tokens, lowered to what a window that is not guessed leaves; at least a quarter of it, or @max_tokens */
uint64_t context_reply(const struct context *c, uint64_t prompt, uint64_t max_tokens);

#endif
