/* SPDX-License-Identifier: Apache-2.0 */
/* What a call used, in one form for every provider. Pure. Agent process, no privilege. */
#ifndef AK_AGENT_USAGE_H
#define AK_AGENT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct ak_json;
struct cJSON;

enum cost_source {
	COST_NONE,	/* no price known: the cost is unknown, not 0 */
	COST_PROVIDER,	/* the provider said what the call cost */
	COST_TABLE,	/* tokens x price table */
};

/** cost_source_name() - "none", "provider", "table" */
const char *cost_source_name(enum cost_source s);

/**
 * struct usage - tokens and money of one call, or a sum of calls
 * The four input counts exclude each other; output contains reasoning. One token is in one count only.
 * @prompt_total:	the sum of the four: what price tiers and --max-input-tokens go by
 * @estimated:		the provider said nothing: counted from bytes
 * @cost_picousd:	10^-12 US dollars; 0 with COST_NONE
 */
struct usage {
	uint64_t input_uncached;
	uint64_t cache_read;
	uint64_t cache_write_5m;
	uint64_t cache_write_1h;
	uint64_t output;
	uint64_t reasoning;
	uint64_t prompt_total;
	bool estimated;
	enum cost_source cost_source;
	uint64_t cost_picousd;
};

/**
 * usage_add() - add one call to a sum
 * A sum has COST_NONE as soon as a call that used tokens has it; its money then counts the other calls only.
 */
void usage_add(struct usage *sum, const struct usage *call);

/*
 * Readers of the three wire formats. @u keeps what the object does not say (null, absent), so that cumulative reports
 * may be fed one after the other: the last value of each field wins, nothing is added up. A field of another type or
 * out of range is taken as absent.
 */

/** usage_anthropic() - input_tokens is uncached only; cache_creation's parts by lifetime, if given. Source: PROTOCOLS 1.4 */
void usage_anthropic(const struct cJSON *obj, struct usage *u);
/** usage_chat() - prompt_tokens includes cached ones; reads DeepSeek's, Gemini's and OpenRouter's fields, too */
void usage_chat(const struct cJSON *obj, struct usage *u);
/** usage_responses() - input_tokens includes cached ones */
void usage_responses(const struct cJSON *obj, struct usage *u);

/** usage_estimate() - of a reply that came without: bytes / 3, marked as estimated */
void usage_estimate(uint64_t prompt_bytes, uint64_t output_bytes, struct usage *u);

/** usage_json() - the members of an object, in the words of ak-result/1, and the cost. The caller opened the object. */
void usage_json(struct ak_json *j, const struct usage *u);

#endif
