/* SPDX-License-Identifier: Apache-2.0 */
/* Price files: ak-prices/1, and which format a file has. Process: agent. Privilege: none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/prices_int.h"
#include "executor/shared/ak_err.h"

#define DOLLARS 6u /* places from dollars to micro-dollars */

/* Rates of one object; names that are absent stay as they are */
static int read_rates(const struct cJSON *obj, struct rates *ret, struct ak_err *err)
{
	for (unsigned r = 0; r < RATE_COUNT; r++) {
		const char *name = rates_name((enum rate)r);
		int rc;

		if (json_kind(json_get(obj, name)) == JSON_ABSENT || json_kind(json_get(obj, name)) == JSON_NULL)
			continue;
		rc = json_need_scaled(obj, name, DOLLARS, &ret->v[r], err);
		if (rc < 0)
			return rc;
		ret->has |= 1u << r;
	}
	if (!rates_sane(ret))
		return ak_err_set(err, EBADMSG, "reading the cache costs more than input");
	return 0;
}

static int read_date(const struct cJSON *obj, const char *name, char ret[11], struct ak_err *err)
{
	const char *text = NULL;
	int rc = json_opt_str(obj, name, &text, err);

	if (rc < 0 || !text)
		return rc;
	if (!date_ok(text))
		return ak_err_set(err, EBADMSG, "%s: \"%s\" is no date (YYYY-MM-DD)", name, text);
	memcpy(ret, text, 11);
	return 0;
}

static int read_tiers(const struct cJSON *obj, struct price *p, struct ak_err *err)
{
	const struct cJSON *list = NULL;
	int rc = json_opt_arr(obj, "tiers", &list, err);

	if (rc < 0)
		return rc;
	for (const struct cJSON *t = json_first(list); t; t = json_next(t)) {
		struct price_tier *tier = &p->tiers[p->ntiers];

		if (p->ntiers == PRICES_TIERS_MAX)
			return ak_err_set(err, EBADMSG, "over %u tiers", PRICES_TIERS_MAX);
		rc = json_need_u64(t, "above", &tier->above, err);
		if (rc == 0)
			rc = read_rates(t, &tier->rates, err);
		if (rc < 0)
			return rc;
		p->ntiers++;
	}
	return 0;
}

static int read_text(const struct cJSON *obj, const char *name, char **ret, struct ak_err *err)
{
	const char *text = NULL;
	int rc = json_opt_str(obj, name, &text, err);

	if (rc < 0 || !text)
		return rc;
	*ret = strdup(text);
	return *ret ? 0 : ak_err_set(err, ENOMEM, "no memory for the price table");
}

/* A name nobody knows is an error: a rate with a slip in its name must not be dropped in silence */
static int check_names(const struct cJSON *obj, struct ak_err *err)
{
	static const char *const known[] = { "provider", "input", "output", "cache_read", "cache_write", "cache_write_1h",
					     "tiers", "context", "max_output", "verified", "valid_until", "next", "note",
					     "source" };

	for (const struct cJSON *m = json_first(obj); m; m = json_next(m)) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], json_name(m)) != 0)
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return ak_err_set(err, EBADMSG, "\"%s\" is no member of a price", json_name(m));
	}
	return 0;
}

static int read_row(const struct cJSON *obj, struct price *p, struct ak_err *err)
{
	const struct cJSON *next = NULL;
	int rc = json_kind(obj) == JSON_OBJECT ? check_names(obj, err) :
						 ak_err_set(err, EBADMSG, "expected an object");

	if (rc == 0)
		rc = read_rates(obj, &p->rates, err);
	if (rc == 0)
		rc = read_tiers(obj, p, err);
	if (rc == 0)
		rc = json_opt_obj(obj, "next", &next, err);
	if (rc == 0 && next)
		rc = read_rates(next, &p->next, err);
	if (rc == 0)
		rc = json_opt_u64(obj, "context", &p->context, err);
	if (rc == 0)
		rc = json_opt_u64(obj, "max_output", &p->max_output, err);
	if (rc == 0)
		rc = read_date(obj, "verified", p->verified, err);
	if (rc == 0)
		rc = read_date(obj, "valid_until", p->valid_until, err);
	if (rc == 0)
		rc = read_text(obj, "provider", &p->provider, err);
	if (rc == 0)
		rc = read_text(obj, "note", &p->note, err);
	return rc;
}

int prices_add_models(struct prices *t, const struct cJSON *models, const char *source, struct ak_err *err)
{
	const char *name = prices_source(t, source);

	if (!name)
		return ak_err_set(err, ENOMEM, "no memory for the price table");
	for (const struct cJSON *m = json_first(models); m; m = json_next(m)) {
		const char *id = json_name(m);
		struct price p = { .source = name };
		struct price *row = NULL;
		int rc;

		if (!*id || strlen(id) >= PRICES_ID_MAX)
			return ak_err_set(err, EBADMSG, "a model without a name, or with one of over %u bytes",
					  PRICES_ID_MAX - 1);
		rc = read_row(m, &p, err);
		if (rc < 0)
			(void)ak_err_wrap(err, "models.%s", id);
		else
			rc = prices_row(t, id, &row, err);
		if (rc == 0) {
			price_merge(row, &p);
			if (!rates_sane(&row->rates))
				rc = ak_err_set(err, EBADMSG, "models.%s: reading the cache costs more than input", id);
		}
		price_free_fields(&p);
		if (rc < 0)
			return rc == -ENOMEM || rc == -E2BIG ? rc : -EBADMSG;
	}
	return 0;
}

static int add_own(struct prices *t, const struct cJSON *doc, const char *source, struct ak_err *err)
{
	const struct cJSON *models = NULL;
	const char *unit = NULL;
	char as_of[11] = "";
	int rc = json_need_obj(doc, "models", &models, err);

	if (rc == 0)
		rc = json_opt_str(doc, "unit", &unit, err);
	if (rc == 0 && unit && strcmp(unit, "usd_per_mtok") != 0)
		rc = ak_err_set(err, EBADMSG, "unit: expected \"usd_per_mtok\", got \"%s\"", unit);
	if (rc == 0)
		rc = read_date(doc, "as_of", as_of, err);
	if (rc == 0)
		rc = prices_add_models(t, models, source, err);
	if (rc == 0 && !*t->as_of)
		memcpy(t->as_of, as_of, sizeof(t->as_of));
	return rc == 0 || rc == -ENOMEM || rc == -E2BIG ? rc : -EBADMSG;
}

enum format {
	FORMAT_UNKNOWN,
	FORMAT_OWN,
	FORMAT_LITELLM,
	FORMAT_MODELS_DEV,
};

static enum format sniff(const struct cJSON *doc)
{
	if (json_is_str(json_get(doc, "schema"), "ak-prices/1"))
		return FORMAT_OWN;
	for (const struct cJSON *m = json_first(doc); m; m = json_next(m)) {
		if (json_kind(m) != JSON_OBJECT)
			return FORMAT_UNKNOWN;
		if (json_kind(json_get(m, "models")) == JSON_OBJECT)
			return FORMAT_MODELS_DEV;
		if (json_kind(json_get(m, "litellm_provider")) == JSON_STRING ||
		    json_kind(json_get(m, "input_cost_per_token")) == JSON_NUMBER)
			return FORMAT_LITELLM;
	}
	return FORMAT_UNKNOWN;
}

int prices_add(struct prices *t, const char *text, size_t len, const char *source, struct ak_err *err)
{
	static const struct json_limits limits = { .bytes = PRICES_FILE_MAX, .depth = 16 };
	struct cJSON *doc = NULL;
	int rc = json_parse(text, len, 0, &limits, &doc, err);

	if (rc < 0)
		return rc == -ENOMEM || rc == -E2BIG ? rc : -EBADMSG;
	switch (json_kind(doc) == JSON_OBJECT ? sniff(doc) : FORMAT_UNKNOWN) {
	case FORMAT_OWN:
		rc = add_own(t, doc, source, err);
		break;
	case FORMAT_LITELLM:
		rc = prices_add_litellm(t, doc, source, err);
		break;
	case FORMAT_MODELS_DEV:
		rc = prices_add_models_dev(t, doc, source, err);
		break;
	default:
		rc = ak_err_set(err, EBADMSG, "not a price file: neither ak-prices/1, nor LiteLLM's, nor models.dev's format");
	}
	json_free(doc);
	return rc;
}
