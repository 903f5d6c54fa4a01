/* SPDX-License-Identifier: Apache-2.0 */
/* What a run may use, what it has used, and what the next call may cost. Pure. Process: agent. Privilege: none. */
#include "agent/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/json_scaled.h"
#include "agent/money.h"
#include "agent/prices.h"
#include "executor/shared/ak_err.h"

#define MICRO_USD (MONEY_USD / 1000000)

void budget_limits_init(struct budget_limits *l)
{
	*l = (struct budget_limits){
		.cost_picousd = BUDGET_UNLIMITED,
		.input_tokens = BUDGET_UNLIMITED,
		.output_tokens = BUDGET_UNLIMITED,
		.turns = BUDGET_TURNS,
		.tool_calls = BUDGET_UNLIMITED,
		.time_ms = BUDGET_UNLIMITED,
	};
}

int budget_parse_usd(const char *text, uint64_t *ret, struct ak_err *err)
{
	size_t len = strlen(text);
	size_t digits = 0;
	size_t points = 0;
	uint64_t v;
	int rc;

	for (size_t i = 0; i < len; i++) {
		digits += text[i] >= '0' && text[i] <= '9';
		points += text[i] == '.';
	}
	if (digits == 0 || points > 1 || digits + points != len)
		return ak_err_set(err, EINVAL, "\"%s\" is no amount of dollars, such as 2 or 0.50", text);
	rc = json_scale(text, 12, true, &v);
	if (rc == -EBADMSG)
		return ak_err_set(err, EINVAL, "\"%s\" has more than 12 decimals", text);
	if (rc < 0 || v == BUDGET_UNLIMITED)
		return ak_err_set(err, ERANGE, "\"%s\" is more than 18 million dollars", text);
	*ret = v;
	return 0;
}

int budget_exit_code(enum budget_which w)
{
	static const int codes[] = {
		[BUDGET_OK] = 0,    [BUDGET_INPUT] = 11, [BUDGET_OUTPUT] = 11, [BUDGET_COST] = 10,
		[BUDGET_TURN] = 12, [BUDGET_TOOL] = 12,	 [BUDGET_TIME] = 13,
	};

	return codes[w];
}

const char *budget_subtype(enum budget_which w)
{
	static const char *const names[] = {
		[BUDGET_OK] = "success",
		[BUDGET_INPUT] = "error_max_tokens",
		[BUDGET_OUTPUT] = "error_max_tokens",
		[BUDGET_COST] = "error_max_cost",
		[BUDGET_TURN] = "error_max_turns",
		[BUDGET_TOOL] = "error_max_tool_calls",
		[BUDGET_TIME] = "error_timeout",
	};

	return names[w];
}

void budget_start(struct budget *b, const struct budget_limits *limits, uint64_t now_ms)
{
	*b = (struct budget){ .limits = *limits, .start_ms = now_ms };
}

int budget_need_price(const struct budget_limits *l, const struct price *p, const char *model, struct ak_err *err)
{
	if (l->cost_picousd == BUDGET_UNLIMITED || l->unknown_price_ok)
		return 0;
	return price_need(p, model, err);
}

void budget_add(struct budget *b, const struct usage *call)
{
	if (call->cost_source == COST_NONE && (call->prompt_total > 0 || call->output > 0))
		b->unpriced = true;
	usage_add(&b->total, call);
}

void budget_turn(struct budget *b)
{
	b->turns = money_add(b->turns, 1);
}

void budget_tools(struct budget *b, uint64_t n)
{
	b->tool_calls = money_add(b->tool_calls, n);
}

/* --- texts --- */

__attribute__((format(printf, 3, 4))) static enum budget_which stop(char *reason, enum budget_which w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(reason, BUDGET_REASON, fmt, ap);
	va_end(ap);
	return w;
}

static enum budget_which go(char *reason)
{
	reason[0] = '\0';
	return BUDGET_OK;
}

/* As money_format() shows it with six decimals */
static uint64_t rounded(uint64_t picousd)
{
	uint64_t rest = picousd % MICRO_USD;

	return rest >= MICRO_USD / 2 ? money_add(picousd - rest, MICRO_USD) : picousd - rest;
}

/* Six decimals, or all where six would not show what the sentence says */
static const char *dollars(uint64_t picousd, bool exact, char *buf)
{
	return exact ? money_format_exact(picousd, buf) : money_format(picousd, 6, buf);
}

/* Milliseconds as seconds without needless zeros: "60", "61.5" */
static const char *seconds(uint64_t ms, char *buf)
{
	size_t len = (size_t)snprintf(buf, MONEY_TEXT, "%" PRIu64 ".%03u", ms / 1000, (unsigned)(ms % 1000));

	while (buf[len - 1] == '0')
		buf[--len] = '\0';
	if (buf[len - 1] == '.')
		buf[--len] = '\0';
	return buf;
}

/* --- after a call --- */

static bool over(uint64_t used, uint64_t limit)
{
	return limit != BUDGET_UNLIMITED && used > limit;
}

static uint64_t elapsed(const struct budget *b, uint64_t now_ms)
{
	return now_ms > b->start_ms ? now_ms - b->start_ms : 0;
}

static enum budget_which over_cost(const struct budget *b, char *reason)
{
	uint64_t limit = b->limits.cost_picousd;
	uint64_t cost = b->total.cost_picousd;
	char text[2][MONEY_TEXT];

	if (over(cost, limit))
		return stop(reason, BUDGET_COST, "cost $%s > limit $%s", dollars(cost, rounded(cost) <= limit, text[0]),
			    money_format_exact(limit, text[1]));
	if (b->unpriced && limit != BUDGET_UNLIMITED && !b->limits.unknown_price_ok)
		return stop(reason, BUDGET_COST, "cost unknown, limit $%s", money_format_exact(limit, text[1]));
	return go(reason);
}

enum budget_which budget_exceeded(const struct budget *b, uint64_t now_ms, char *reason)
{
	const struct budget_limits *l = &b->limits;
	const struct usage *u = &b->total;
	uint64_t ms = elapsed(b, now_ms);
	char text[2][MONEY_TEXT];
	enum budget_which w;

	if (over(u->prompt_total, l->input_tokens))
		return stop(reason, BUDGET_INPUT, "input_tokens %" PRIu64 " > limit %" PRIu64, u->prompt_total, l->input_tokens);
	if (over(u->output, l->output_tokens))
		return stop(reason, BUDGET_OUTPUT, "output_tokens %" PRIu64 " > limit %" PRIu64, u->output, l->output_tokens);
	w = over_cost(b, reason);
	if (w != BUDGET_OK)
		return w;
	if (over(ms, l->time_ms))
		return stop(reason, BUDGET_TIME, "time %ss > limit %ss", seconds(ms, text[0]), seconds(l->time_ms, text[1]));
	return go(reason);
}

/* --- before a call --- */

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Lowers *@max to what the limit of output tokens leaves */
static enum budget_which fit_output(const struct budget *b, uint64_t *max, char *reason)
{
	uint64_t limit = b->limits.output_tokens;
	uint64_t used = b->total.output;
	uint64_t need = least(BUDGET_OUTPUT_MIN, *max);

	if (limit == BUDGET_UNLIMITED)
		return go(reason);
	if (limit > 0)
		need = least(need, limit);
	if (used > limit || limit - used < need)
		return stop(reason, BUDGET_OUTPUT, "next call: output_tokens %" PRIu64 " + up to %" PRIu64 " > limit %" PRIu64,
			    used, need, limit);
	*max = least(*max, limit - used);
	return go(reason);
}

static enum budget_which no_money(const struct budget *b, uint64_t bound, char *reason)
{
	uint64_t limit = b->limits.cost_picousd;
	uint64_t cost = b->total.cost_picousd;
	bool exact = money_add(rounded(cost), rounded(bound)) <= limit;
	char text[3][MONEY_TEXT];

	return stop(reason, BUDGET_COST, "next call: cost $%s + up to $%s > limit $%s", dollars(cost, exact, text[0]),
		    dollars(bound, exact, text[1]), money_format_exact(limit, text[2]));
}

/* Lowers *@max to what the money left pays for, prompt included */
static enum budget_which fit_cost(const struct budget *b, const struct budget_call *c, uint64_t *max, char *reason)
{
	uint64_t limit = b->limits.cost_picousd;
	uint64_t cost = b->total.cost_picousd;
	uint64_t need = least(BUDGET_OUTPUT_MIN, *max);
	uint64_t prompt, rate, bound;
	char text[MONEY_TEXT];

	if (limit == BUDGET_UNLIMITED || (!price_known(c->price) && b->limits.unknown_price_ok))
		return go(reason);
	if (!price_known(c->price))
		return stop(reason, BUDGET_COST, "next call: price of %.64s is unknown, limit $%s", c->model,
			    money_format_exact(limit, text));
	prompt = price_bound(c->price, c->today, c->prompt_tokens, 0);
	rate = price_bound(c->price, c->today, c->prompt_tokens, 1) - prompt;
	bound = money_add(prompt, money_mul(need, rate));
	if (money_add(cost, bound) > limit)
		return no_money(b, bound, reason);
	if (rate > 0)
		*max = least(*max, (limit - cost - prompt) / rate);
	return go(reason);
}

/* What stands in the way of any call, whatever it costs */
static enum budget_which no_more_calls(const struct budget *b, const struct budget_call *c, uint64_t now_ms, char *reason)
{
	const struct budget_limits *l = &b->limits;
	enum budget_which w = budget_exceeded(b, now_ms, reason);
	char text[2][MONEY_TEXT];

	if (w != BUDGET_OK)
		return w;
	if (c->is_turn && b->turns >= l->turns)
		return stop(reason, BUDGET_TURN, "turns %" PRIu64 " of %" PRIu64 " used", b->turns, l->turns);
	if (l->input_tokens == 0)
		return stop(reason, BUDGET_INPUT, "next call: input_tokens 0 + at least 1 > limit 0");
	if (elapsed(b, now_ms) >= l->time_ms)
		return stop(reason, BUDGET_TIME, "next call: time %ss of %ss used", seconds(elapsed(b, now_ms), text[0]),
			    seconds(l->time_ms, text[1]));
	return BUDGET_OK;
}

enum budget_which budget_before_call(const struct budget *b, const struct budget_call *c, uint64_t now_ms,
				     uint64_t *ret_max_tokens, char *reason)
{
	uint64_t max = c->max_tokens;
	enum budget_which w = no_more_calls(b, c, now_ms, reason);

	if (w == BUDGET_OK)
		w = fit_output(b, &max, reason);
	if (w == BUDGET_OK)
		w = fit_cost(b, c, &max, reason);
	if (w == BUDGET_OK)
		*ret_max_tokens = max;
	return w;
}

enum budget_which budget_cut_by(const struct budget *b, uint64_t max_tokens)
{
	uint64_t limit = b->limits.output_tokens;

	return limit != BUDGET_UNLIMITED && limit >= b->total.output && limit - b->total.output == max_tokens ? BUDGET_OUTPUT : BUDGET_COST;
}

void budget_cut_text(const struct budget *b, enum budget_which w, char *reason)
{
	char text[2][MONEY_TEXT];

	if (w == BUDGET_OUTPUT)
		(void)stop(reason, w, "the answer was cut: output_tokens %" PRIu64 ", limit %" PRIu64, b->total.output, b->limits.output_tokens);
	else
		(void)stop(reason, w, "the answer was cut: cost $%s, limit $%s", dollars(b->total.cost_picousd, false, text[0]),
			   money_format_exact(b->limits.cost_picousd, text[1]));
}

enum budget_which budget_before_tools(const struct budget *b, uint64_t n, uint64_t now_ms, char *reason)
{
	uint64_t limit = b->limits.tool_calls;
	uint64_t used = money_add(b->tool_calls, n);
	enum budget_which w = budget_exceeded(b, now_ms, reason);

	if (w == BUDGET_OK && over(used, limit))
		return stop(reason, BUDGET_TOOL, "tool_calls %" PRIu64 " > limit %" PRIu64, used, limit);
	return w;
}

uint64_t budget_deadline_ms(const struct budget *b)
{
	uint64_t end;

	if (b->limits.time_ms == BUDGET_UNLIMITED || __builtin_add_overflow(b->start_ms, b->limits.time_ms, &end))
		return 0;
	return end > 0 ? end : 1;
}

char *budget_stop_text(enum budget_which w, const char *reason, char *buf)
{
	if (w == BUDGET_TURN)
		(void)snprintf(buf, BUDGET_STOP_TEXT, "Stopped: reached max iterations without a final answer.");
	else
		(void)snprintf(buf, BUDGET_STOP_TEXT, "Stopped: budget exceeded (%s).", reason);
	return buf;
}

/* --- size of a prompt --- */

#define DENSE_BYTES_PER_TOKEN 2u

static uint64_t dense(uint64_t bytes, uint64_t images)
{
	return money_add(bytes / DENSE_BYTES_PER_TOKEN + bytes % DENSE_BYTES_PER_TOKEN, money_mul(images, PROMPT_IMAGE_TOKENS));
}

uint64_t prompt_meter_bound(const struct prompt_meter *m, uint64_t bytes, uint64_t images)
{
	uint64_t whole = dense(bytes, images);

	if (m->tokens == 0)
		return whole;
	if (bytes >= m->bytes && images >= m->images)
		return money_add(m->tokens, dense(bytes - m->bytes, images - m->images));
	/* another, shorter prompt, after compaction: the rate that was seen says little about what is left of it */
	return bytes <= m->bytes && images <= m->images ? least(whole, m->tokens) : whole;
}

void prompt_meter_learn(struct prompt_meter *m, uint64_t bytes, uint64_t images, const struct usage *u)
{
	if (u->estimated || u->prompt_total == 0)
		return;
	*m = (struct prompt_meter){ .bytes = bytes, .images = images, .tokens = u->prompt_total };
}
