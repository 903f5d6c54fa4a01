/* SPDX-License-Identifier: Apache-2.0 */
/* What a call used, in one form for every provider. Pure. Agent process, no privilege. */
#include "agent/usage.h"

#include <stddef.h>

#include "agent/json.h"
#include "agent/money.h"
#include "executor/shared/ak_json_out.h"

#define BYTES_PER_TOKEN 3u
#define TOKENS_MAX (UINT64_C(1) << 40) /* of one count of one call; more is no token count */

const char *cost_source_name(enum cost_source s)
{
	static const char *const names[] = {
		[COST_NONE] = "none", [COST_PROVIDER] = "provider", [COST_TABLE] = "table"
	};

	return names[s];
}

static bool used_tokens(const struct usage *u)
{
	return u->prompt_total > 0 || u->output > 0;
}

void usage_add(struct usage *sum, const struct usage *call)
{
	bool first = !used_tokens(sum) && sum->cost_picousd == 0 && sum->cost_source == COST_NONE;

	if (first)
		sum->cost_source = call->cost_source;
	else if (used_tokens(call) && call->cost_source == COST_NONE)
		sum->cost_source = COST_NONE;
	else if (sum->cost_source == COST_PROVIDER && call->cost_source == COST_TABLE)
		sum->cost_source = COST_TABLE;
	sum->input_uncached = money_add(sum->input_uncached, call->input_uncached);
	sum->cache_read = money_add(sum->cache_read, call->cache_read);
	sum->cache_write_5m = money_add(sum->cache_write_5m, call->cache_write_5m);
	sum->cache_write_1h = money_add(sum->cache_write_1h, call->cache_write_1h);
	sum->output = money_add(sum->output, call->output);
	sum->reasoning = money_add(sum->reasoning, call->reasoning);
	sum->prompt_total = money_add(sum->prompt_total, call->prompt_total);
	sum->cost_picousd = money_add(sum->cost_picousd, call->cost_picousd);
	sum->estimated |= call->estimated;
}

/* A count that is there; what is no count of tokens is as good as absent */
static bool count(const struct cJSON *obj, const char *path, uint64_t *ret)
{
	uint64_t v;

	if (json_need_u64(obj, path, &v, NULL) < 0 || v > TOKENS_MAX)
		return false;
	*ret = v;
	return true;
}

static void sum_prompt(struct usage *u)
{
	u->prompt_total = u->input_uncached + u->cache_read + u->cache_write_5m + u->cache_write_1h;
}

void usage_anthropic(const struct cJSON *obj, struct usage *u)
{
	uint64_t write = u->cache_write_5m + u->cache_write_1h;
	uint64_t hour = u->cache_write_1h;

	(void)count(obj, "input_tokens", &u->input_uncached);
	(void)count(obj, "cache_read_input_tokens", &u->cache_read);
	(void)count(obj, "output_tokens", &u->output);
	(void)count(obj, "output_tokens_details.thinking_tokens", &u->reasoning);
	(void)count(obj, "cache_creation.ephemeral_1h_input_tokens", &hour);
	if (!count(obj, "cache_creation_input_tokens", &write)) {
		uint64_t five;

		if (count(obj, "cache_creation.ephemeral_5m_input_tokens", &five))
			write = five + hour;
	}
	/* the parts are of the whole; where they do not fit, the whole is right */
	u->cache_write_1h = hour < write ? hour : write;
	u->cache_write_5m = write - u->cache_write_1h;
	sum_prompt(u);
}

/* Inclusive counts: cached and written tokens are part of @prompt */
static void split_prompt(struct usage *u, uint64_t prompt, uint64_t cached, uint64_t written)
{
	u->cache_read = cached < prompt ? cached : prompt;
	prompt -= u->cache_read;
	u->cache_write_5m = written < prompt ? written : prompt;
	u->cache_write_1h = 0;
	u->input_uncached = prompt - u->cache_write_5m;
	sum_prompt(u);
}

void usage_chat(const struct cJSON *obj, struct usage *u)
{
	uint64_t prompt = u->prompt_total;
	uint64_t cached = u->cache_read;
	uint64_t written = u->cache_write_5m;
	uint64_t total;

	(void)count(obj, "prompt_tokens", &prompt);
	if (!count(obj, "prompt_tokens_details.cached_tokens", &cached))
		(void)count(obj, "prompt_cache_hit_tokens", &cached);
	(void)count(obj, "prompt_tokens_details.cache_write_tokens", &written);
	split_prompt(u, prompt, cached, written);
	(void)count(obj, "completion_tokens", &u->output);
	/* Gemini counts thinking in the total, and not always in completion_tokens */
	if (count(obj, "total_tokens", &total) && total > prompt && total - prompt > u->output)
		u->output = total - prompt;
	(void)count(obj, "completion_tokens_details.reasoning_tokens", &u->reasoning);
	if (json_need_scaled(obj, "cost", 12, &u->cost_picousd, NULL) == 0)
		u->cost_source = COST_PROVIDER;
}

void usage_responses(const struct cJSON *obj, struct usage *u)
{
	uint64_t prompt = u->prompt_total;
	uint64_t cached = u->cache_read;
	uint64_t written = u->cache_write_5m;

	(void)count(obj, "input_tokens", &prompt);
	(void)count(obj, "input_tokens_details.cached_tokens", &cached);
	(void)count(obj, "input_tokens_details.cache_write_tokens", &written);
	split_prompt(u, prompt, cached, written);
	(void)count(obj, "output_tokens", &u->output);
	(void)count(obj, "output_tokens_details.reasoning_tokens", &u->reasoning);
	if (json_need_scaled(obj, "cost", 12, &u->cost_picousd, NULL) == 0)
		u->cost_source = COST_PROVIDER;
}

void usage_estimate(uint64_t prompt_bytes, uint64_t output_bytes, struct usage *u)
{
	*u = (struct usage){
		.input_uncached = (prompt_bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN,
		.output = (output_bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN,
		.estimated = true,
	};
	sum_prompt(u);
}

void usage_json(struct ak_json *j, const struct usage *u)
{
	char text[MONEY_TEXT];

	ak_json_u64(j, "input_tokens", u->input_uncached);
	ak_json_u64(j, "cache_creation_input_tokens", u->cache_write_5m + u->cache_write_1h);
	ak_json_u64(j, "cache_read_input_tokens", u->cache_read);
	ak_json_u64(j, "output_tokens", u->output);
	ak_json_u64(j, "reasoning_tokens", u->reasoning);
	if (u->estimated)
		ak_json_bool(j, "usage_estimated", true);
	ak_json_str(j, "cost_usd", u->cost_source == COST_NONE ? NULL : money_format_exact(u->cost_picousd, text));
	ak_json_str(j, "cost_source", cost_source_name(u->cost_source));
}

