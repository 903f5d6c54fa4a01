/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run may use: money, tokens, turns, tool calls, time. Pure: no clock of its own. Process: agent. Privilege: none.
 *
 * Exceeded means strictly more than the limit. After every reply a caller does budget_add() and budget_exceeded(): a final
 * answer is returned all the same, since it is paid for; with open tool calls the run stops. Before every call it does
 * budget_before_call(), before a batch of tool calls budget_before_tools(). What the functions write to @reason is "" for BUDGET_OK. The judge's and the summariser's calls are
 * checked and booked like any other, and so is what failed attempts cost.
 */
#ifndef AK_AGENT_BUDGET_H
#define AK_AGENT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/usage.h"

struct ak_err;
struct price;

#define BUDGET_UNLIMITED UINT64_MAX
#define BUDGET_TURNS 25u	/* without --max-turns */
#define BUDGET_OUTPUT_MIN 1024u /* a reply of fewer tokens is not worth asking for */
#define BUDGET_REASON 200u

/**
 * struct budget_limits - BUDGET_UNLIMITED: no limit; 0: none allowed
 * All zeros allow nothing; budget_limits_init() is where a caller starts.
 * @input_tokens:	whole prompts, cached parts too, of all calls of the run
 * @output_tokens:	of all calls of the run
 * @unknown_price_ok:	--unknown-price allow: calls without a known price are made, and count as nothing against @cost_picousd
 */
struct budget_limits {
	uint64_t cost_picousd;
	uint64_t input_tokens;
	uint64_t output_tokens;
	uint64_t turns;
	uint64_t tool_calls;
	uint64_t time_ms;
	bool unknown_price_ok;
};

/** budget_limits_init() - no limits but BUDGET_TURNS */
void budget_limits_init(struct budget_limits *l);

/**
 * budget_parse_usd() - the value of --max-cost: "2", "0.50", ".5"; exact
 * Return: 0; -EINVAL (no such number, over 12 decimals); -ERANGE (over 18 million). @err says what is expected.
 */
int budget_parse_usd(const char *text, uint64_t *ret_picousd, struct ak_err *err);

enum budget_which {
	BUDGET_OK,
	BUDGET_INPUT,
	BUDGET_OUTPUT,
	BUDGET_COST,
	BUDGET_TURN,
	BUDGET_TOOL,
	BUDGET_TIME,
};

/** budget_exit_code() - 10 cost, 11 tokens, 12 turns and tool calls, 13 time; 0 for BUDGET_OK */
int budget_exit_code(enum budget_which w);
/**
 * budget_subtype() - of ak-result/1: "error_max_cost", "error_max_tokens", "error_max_turns", "error_max_tool_calls", "error_timeout";
 * "success" for BUDGET_OK
 */
const char *budget_subtype(enum budget_which w);

/**
 * struct budget - what a run has used so far; private but for reading
 * @total:	as usage_add() counts: cost_source is COST_NONE once a call without a price used tokens
 */
struct budget {
	struct budget_limits limits;
	struct usage total;
	uint64_t turns;
	uint64_t tool_calls;
	uint64_t start_ms;
	bool unpriced; /* tokens were used whose cost nobody knows */
};

/** budget_start() - begin a run (or a chat message): nothing used yet. @limits is copied. @now_ms: monotonic */
void budget_start(struct budget *b, const struct budget_limits *limits, uint64_t now_ms);

/**
 * budget_need_price() - the check before a run: a limit of money needs the price of every model it uses
 * Return: 0 (no limit of money, price known, or unknown_price_ok); -ENOENT with @err and a hint: refused, exit 2.
 */
int budget_need_price(const struct budget_limits *limits, const struct price *p, const char *model, struct ak_err *err);

/**
 * budget_add() - book the usage and cost of one call, or of failed attempts (call_report.lost)
 * @call:	priced already, see price_charge(); borrowed
 */
void budget_add(struct budget *b, const struct usage *call);
/** budget_turn() - one reply of the model came: counts as a turn */
void budget_turn(struct budget *b);
/** budget_tools() - book @n tool calls */
void budget_tools(struct budget *b, uint64_t n);

/**
 * budget_exceeded() - is more used than a limit allows? Looks at tokens, then cost, then time.
 * @reason:	BUDGET_REASON bytes: "input_tokens A > limit B", "output_tokens A > limit B", "cost $X.XXXXXX > limit $Y.YY" (more
 *		decimals where fewer would not show it), "time 61.5s > limit 60s"
 * Return: which; BUDGET_OK: none.
 */
enum budget_which budget_exceeded(const struct budget *b, uint64_t now_ms, char *reason);

/**
 * struct budget_call - a call that is about to be made
 * @price:	of its model; NULL: unknown
 * @today:	for @price
 * @prompt_tokens: upper bound, see prompt_meter_bound()
 * @max_tokens:	of the reply as wished; at least 1
 * @is_turn:	a turn of the run; false for judge and summariser
 */
struct budget_call {
	const struct price *price;
	const char *today;
	const char *model;
	uint64_t prompt_tokens;
	uint64_t max_tokens;
	bool is_turn;
};

/**
 * budget_before_call() - may it be made?
 * @ret_max_tokens: max_tokens, lowered to what fits the limits of cost and output tokens; set for BUDGET_OK only
 * @reason:	BUDGET_REASON bytes: as budget_exceeded(), or "next call: cost $A + up to $B > limit $C", "next call: price of M is
 *		unknown, limit $C", "next call: output_tokens A + up to B > limit C", "next call: input_tokens 0 + at least 1 >
 *		limit 0", "next call: time 60s of 60s used", "turns A of B used"
 * A call may be made if the dearest it can get fits what is left of the money, with at least BUDGET_OUTPUT_MIN tokens of reply
 * (or all that were wished, or all that the limit of output tokens allows from the start, if that is fewer).
 * What a prompt counts is exact only afterwards, so for input tokens the call is refused if the limit is exceeded, or 0.
 * Return: which limit forbids it; BUDGET_OK: none.
 */
enum budget_which budget_before_call(const struct budget *b, const struct budget_call *c, uint64_t now_ms,
				     uint64_t *ret_max_tokens, char *reason);

/** budget_cut_by() - after budget_before_call() gave fewer tokens than wished: which limit was it? BUDGET_OUTPUT or BUDGET_COST */
enum budget_which budget_cut_by(const struct budget *b, uint64_t max_tokens);
/** budget_cut_text() - the reason to stop when the reply used those tokens up and was cut; the call is booked */
void budget_cut_text(const struct budget *b, enum budget_which w, char *reason);

/** budget_before_tools() - may @n more tool calls be run? @reason: as budget_exceeded(), or "tool_calls A > limit B", A with these */
enum budget_which budget_before_tools(const struct budget *b, uint64_t n, uint64_t now_ms, char *reason);

/** budget_deadline_ms() - monotonic time at which the run's time is over, for call_hooks and waits; 0: no limit */
uint64_t budget_deadline_ms(const struct budget *b);

/**
 * budget_stop_text() - what the run says when it stops: "Stopped: budget exceeded (REASON).", and for BUDGET_TURN
 * "Stopped: reached max iterations without a final answer."
 * @buf:	BUDGET_REASON + 40 bytes. Return: @buf.
 */
char *budget_stop_text(enum budget_which w, const char *reason, char *buf);
#define BUDGET_STOP_TEXT (BUDGET_REASON + 40u)

/*
 * Tokens of a prompt that was not sent yet. Until a provider has counted one, two bytes are taken for a token: dense text
 * (hex, base64) has that much, prose and code three to four. Afterwards only what is new is taken at that rate.
 */
struct prompt_meter {
	uint64_t bytes;
	uint64_t images;
	uint64_t tokens; /* 0: nothing learnt yet */
};

#define PROMPT_IMAGE_TOKENS 5000u

/** prompt_meter_bound() - upper bound of the tokens of a prompt of so many bytes (without those of its images) */
uint64_t prompt_meter_bound(const struct prompt_meter *m, uint64_t bytes, uint64_t images);
/** prompt_meter_learn() - a provider has counted such a prompt; @u that is estimated or counts nothing teaches nothing */
void prompt_meter_learn(struct prompt_meter *m, uint64_t bytes, uint64_t images, const struct usage *u);

#endif
