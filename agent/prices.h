/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tokens cost: a table shipped with the program, overridden by files of the user's. Exact integers, see money.h.
 * Process: agent. Privilege: none.
 */
#ifndef AK_AGENT_PRICES_H
#define AK_AGENT_PRICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;
struct cJSON;
struct usage;

#define PRICES_ROWS_MAX 20000u
#define PRICES_FILE_MAX (16u << 20)
#define PRICES_TIERS_MAX 8u
#define PRICES_ID_MAX 256u
#define PRICES_STALE_DAYS 180u

enum rate {
	RATE_INPUT,
	RATE_OUTPUT,
	RATE_CACHE_READ,
	RATE_CACHE_WRITE,    /* five minutes, or the provider's only rate */
	RATE_CACHE_WRITE_1H,
	RATE_COUNT,
};

/** struct rates - micro-dollars per million tokens; @has: 1 << enum rate for what is known */
struct rates {
	uint64_t v[RATE_COUNT];
	unsigned has;
};

/** struct price_tier - rates of the whole request once its prompt has more than @above tokens */
struct price_tier {
	uint64_t above;
	struct rates rates;
};

/**
 * struct price - one model
 * @rates:	as the files say; price_rates() fills what they do not say
 * @verified:	"YYYY-MM-DD", when somebody last looked; "" unknown
 * @valid_until: "" or the last day of @rates; @next applies then, if it has any
 * @context, @max_output: tokens, 0 unknown
 * @source:	"built-in", or the file it came from, or the last one that changed it; borrowed from the table
 */
struct price {
	char *id;
	char *provider;
	char *note;
	struct rates rates;
	struct rates next;
	struct price_tier tiers[PRICES_TIERS_MAX];
	size_t ntiers;
	uint64_t context;
	uint64_t max_output;
	char verified[11];
	char valid_until[11];
	const char *source;
};

struct prices {
	struct price *v;
	size_t n;
	size_t cap;
	char **sources;
	size_t nsources;
	char as_of[11];	 /* of the built-in table */
	unsigned skipped; /* rows of foreign files that could not be used */
};

/** prices_release() - free the table; empty afterwards */
void prices_release(struct prices *t);

/**
 * prices_load() - the built-in table, then the user's file, then the one AK_PRICES_FILE names, each over what is there
 * @env:	the environment, "NAME=value" rows up to NULL
 * The user's file is ${XDG_CONFIG_HOME:-~/.config}/ak/prices.json, and may be missing; that of AK_PRICES_FILE may not.
 * Return: 0; the errno of reading; as prices_add(). @err names the file.
 */
int prices_load(struct prices *t, char *const env[], struct ak_err *err);

/**
 * prices_add() - a price file over what is in the table, member by member
 * @source:	its name for reports; copied
 * Knows ak-prices/1, LiteLLM's model_prices_and_context_window.json and models.dev's api.json, told apart by their form.
 * In ak-prices/1 every fault is an error; rows of the others that cannot be used are counted in @skipped.
 * Return: 0; -EBADMSG (not JSON, none of the formats, a fault in a row: named); -E2BIG; -ENOMEM. After a failure the
 * table may hold part of the file.
 */
int prices_add(struct prices *t, const char *text, size_t len, const char *source, struct ak_err *err);
/** prices_add_models() - the "models" object of ak-prices/1, as the user's config may hold it. Return: as prices_add(). */
int prices_add_models(struct prices *t, const struct cJSON *models, const char *source, struct ak_err *err);

/**
 * prices_find() - the row of a model
 * @provider:	NULL, or the provider's name: rows PROVIDER/MODEL come first
 * Exact name first; then without "[1m]", ":free", ":beta", a date behind it (-YYYYMMDD, -YYYY-MM-DD), and the part before
 * the first slash, one after the other. Never a model of the same family.
 * Return: NULL when there is none. Borrowed.
 */
const struct price *prices_find(const struct prices *t, const char *provider, const char *model);

/**
 * prices_set() - --price: "in=3,out=15,cache_read=0.3,cache_write=3.75,cache_write_1h=6", dollars per million tokens
 * The row is made when there is none. in and out must be known afterwards.
 * Return: 0; -EINVAL (@err says what is wrong); -ENOMEM.
 */
int prices_set(struct prices *t, const char *model, const char *text, struct ak_err *err);

/** price_known() - are input and output known? Price 0 is a price. NULL is not known. */
bool price_known(const struct price *p);

/**
 * price_need() - the check before a run with a limit of money: without a price the limit could not hold
 * @p:		of prices_find(); NULL: there is none
 * Return: 0; -ENOENT with @err and a hint when the price is not known.
 */
int price_need(const struct price *p, const char *model, struct ak_err *err);

/**
 * price_rates() - every rate, for a prompt of so many tokens
 * @today:	"YYYY-MM-DD"; decides between @rates and @next
 * Not said: reading the cache costs as input; writing as 1.25 x input for Anthropic's models (2 x for an hour), as input
 * for others. Never 0 unless it is said.
 */
void price_rates(const struct price *p, uint64_t prompt_total, const char *today, struct rates *ret);

/** price_charge() - set a call's cost from the table, unless the provider said what it was. Unknown price: COST_NONE. */
void price_charge(const struct price *p, const char *today, struct usage *u);

/**
 * price_bound() - the most a call can cost
 * @prompt_tokens: an estimate; billed at the dearest of the input rates
 * @max_tokens:	of the reply
 * Return: picodollars; MONEY_MAX when the price is not known.
 */
uint64_t price_bound(const struct price *p, const char *today, uint64_t prompt_tokens, uint64_t max_tokens);

/** price_warning() - "" or one line: the row is old, or past its last day. @buf: @size bytes. Return: @buf. */
const char *price_warning(const struct price *p, const char *today, char *buf, size_t size);

/** prices_today() - the local date as "YYYY-MM-DD" into 11 bytes. Return: @buf. */
char *prices_today(char *buf);

#endif
