/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price files of others: LiteLLM's model_prices_and_context_window.json, models.dev's api.json. Rows without token prices, or with
 * prices that make no sense, are skipped and counted. Process: agent. Privilege: none.
 * Source: https://github.com/BerriAI/litellm (model_prices_and_context_window.json), https://models.dev/api.json
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/prices_int.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define DOLLARS 6u	   /* places from dollars per million to micro-dollars per million */
#define DOLLARS_PER_TOKEN 12u

/* A rate that is a number of 0 or more; anything else is as good as absent, and makes the row doubtful */
static bool rate(const struct cJSON *obj, const char *name, unsigned places, enum rate r, struct rates *ret)
{
	enum json_kind kind = json_kind(json_get(obj, name));

	if (kind == JSON_ABSENT || kind == JSON_NULL)
		return true;
	if (json_need_scaled(obj, name, places, &ret->v[r], NULL) < 0)
		return false;
	ret->has |= 1u << r;
	return true;
}

int prices_take(struct prices *t, const char *id, struct price *p, struct ak_err *err)
{
	struct price *row;
	bool sane = price_known(p) && rates_sane(&p->rates) && *id && strlen(id) < PRICES_ID_MAX;
	int rc = 0;

	for (size_t i = 0; i < p->ntiers; i++)
		sane = sane && rates_sane(&p->tiers[i].rates);
	if (!sane) {
		t->skipped++;
	} else {
		rc = prices_row(t, id, &row, err);
		if (rc == 0)
			price_merge(row, p);
	}
	price_free_fields(p);
	return rc;
}

static void keep_text(char **field, const struct cJSON *v)
{
	if (json_str(v))
		*field = strdup(json_str(v)); /* without it the row is as good */
}

/* --- LiteLLM -------------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum rate rate;
} litellm_rates[] = {
	{ "cache_creation_input_token_cost_above_1hr", RATE_CACHE_WRITE_1H },
	{ "cache_creation_input_token_cost", RATE_CACHE_WRITE },
	{ "cache_read_input_token_cost", RATE_CACHE_READ },
	{ "input_cost_per_token", RATE_INPUT },
	{ "output_cost_per_token", RATE_OUTPUT },
};

static struct price_tier *tier_at(struct price *p, uint64_t above)
{
	for (size_t i = 0; i < p->ntiers; i++)
		if (p->tiers[i].above == above)
			return &p->tiers[i];
	if (p->ntiers == PRICES_TIERS_MAX)
		return NULL;
	p->tiers[p->ntiers] = (struct price_tier){ .above = above };
	return &p->tiers[p->ntiers++];
}

/* "_above_200k_tokens": 200000; 0 for another text */
static uint64_t tier_suffix(const char *s)
{
	static const char head[] = "_above_";
	char digits[16];
	uint64_t k;
	size_t n;

	if (strncmp(s, head, sizeof(head) - 1) != 0)
		return 0;
	s += sizeof(head) - 1;
	n = strspn(s, "0123456789");
	if (n == 0 || n >= sizeof(digits) || strcmp(s + n, "k_tokens") != 0)
		return 0;
	memcpy(digits, s, n);
	digits[n] = '\0';
	return ak_parse_u64(digits, 1, 1000000, &k) == 0 ? k * 1000 : 0;
}

static bool litellm_member(const struct cJSON *row, const struct cJSON *m, struct price *p)
{
	const char *name = json_name(m);

	for (size_t i = 0; i < sizeof(litellm_rates) / sizeof(litellm_rates[0]); i++) {
		size_t n = strlen(litellm_rates[i].name);
		uint64_t above;
		struct price_tier *tier;

		if (strncmp(name, litellm_rates[i].name, n) != 0)
			continue;
		if (name[n] == '\0')
			return rate(row, name, DOLLARS_PER_TOKEN, litellm_rates[i].rate, &p->rates);
		above = tier_suffix(name + n);
		tier = above ? tier_at(p, above) : NULL;
		if (tier)
			return rate(row, name, DOLLARS_PER_TOKEN, litellm_rates[i].rate, &tier->rates);
		if (above)
			return false;
	}
	return true;
}

static int add_litellm_row(struct prices *t, const struct cJSON *row, const char *source, struct ak_err *err)
{
	struct price p = { .source = source };
	bool good = true;

	for (const struct cJSON *m = json_first(row); m && good; m = json_next(m))
		good = litellm_member(row, m, &p);
	(void)json_opt_u64(row, "max_input_tokens", &p.context, NULL);
	(void)json_opt_u64(row, "max_output_tokens", &p.max_output, NULL);
	keep_text(&p.provider, json_get(row, "litellm_provider"));
	if (!good)
		p.rates.has = 0;
	return prices_take(t, json_name(row), &p, err);
}

int prices_add_litellm(struct prices *t, const struct cJSON *doc, const char *source, struct ak_err *err)
{
	const char *name = prices_source(t, source);

	if (!name)
		return ak_err_set(err, ENOMEM, "no memory for the price table");
	for (const struct cJSON *row = json_first(doc); row; row = json_next(row)) {
		int rc = 0;

		if (strcmp(json_name(row), "sample_spec") == 0)
			continue;
		if (json_kind(row) == JSON_OBJECT)
			rc = add_litellm_row(t, row, name, err);
		else
			t->skipped++;
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- models.dev ----------------------------------------------------------------------------------------------------------- */

static bool dev_rates(const struct cJSON *cost, struct rates *r)
{
	return rate(cost, "input", DOLLARS, RATE_INPUT, r) && rate(cost, "output", DOLLARS, RATE_OUTPUT, r) &&
	       rate(cost, "cache_read", DOLLARS, RATE_CACHE_READ, r) &&
	       rate(cost, "cache_write", DOLLARS, RATE_CACHE_WRITE, r);
}

static bool dev_tier(struct price *p, uint64_t above, const struct cJSON *cost)
{
	struct price_tier *tier = tier_at(p, above);

	return tier && dev_rates(cost, &tier->rates);
}

/* tiers: [{"tier":{"type":"context","size":272000},"input":..}], or {"above":..}; older: "context_over_200k": {..} */
static bool dev_tiers(const struct cJSON *cost, struct price *p)
{
	const struct cJSON *over = json_get(cost, "context_over_200k");

	for (const struct cJSON *t = json_first(json_get(cost, "tiers")); t; t = json_next(t)) {
		uint64_t above;

		if (json_need_u64(t, "tier.size", &above, NULL) < 0 && json_need_u64(t, "above", &above, NULL) < 0)
			return false;
		if (!dev_tier(p, above, t))
			return false;
	}
	return json_kind(over) != JSON_OBJECT || p->ntiers > 0 || dev_tier(p, 200000, over);
}

static int add_dev_row(struct prices *t, const struct cJSON *provider, const struct cJSON *m, const char *source,
		       struct ak_err *err)
{
	const struct cJSON *cost = json_get(m, "cost");
	struct price p = { .source = source };
	char id[PRICES_ID_MAX * 2];

	(void)snprintf(id, sizeof(id), "%.*s/%.*s", (int)PRICES_ID_MAX, json_name(provider), (int)PRICES_ID_MAX - 2,
		       json_name(m));
	if (!dev_rates(cost, &p.rates) || !dev_tiers(cost, &p))
		p.rates.has = 0;
	(void)json_opt_u64(m, "limit.context", &p.context, NULL);
	(void)json_opt_u64(m, "limit.output", &p.max_output, NULL);
	p.provider = strdup(json_name(provider));
	return prices_take(t, id, &p, err);
}

int prices_add_models_dev(struct prices *t, const struct cJSON *doc, const char *source, struct ak_err *err)
{
	const char *name = prices_source(t, source);

	if (!name)
		return ak_err_set(err, ENOMEM, "no memory for the price table");
	for (const struct cJSON *prov = json_first(doc); prov; prov = json_next(prov)) {
		const struct cJSON *models = json_get(prov, "models");

		for (const struct cJSON *m = json_first(models); m; m = json_next(m)) {
			int rc = add_dev_row(t, prov, m, name, err);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}
