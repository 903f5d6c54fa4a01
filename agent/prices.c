/* SPDX-License-Identifier: Apache-2.0 */
/* The price table: rows, finding one, what a call costs. Process: agent. Privilege: none. */
#include "agent/prices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/money.h"
#include "agent/prices_int.h"
#include "agent/usage.h"
#include "executor/shared/ak_err.h"

const char *rates_name(enum rate r)
{
	static const char *const names[RATE_COUNT] = {
		[RATE_INPUT] = "input",
		[RATE_OUTPUT] = "output",
		[RATE_CACHE_READ] = "cache_read",
		[RATE_CACHE_WRITE] = "cache_write",
		[RATE_CACHE_WRITE_1H] = "cache_write_1h",
	};

	return names[r];
}

void price_free_fields(struct price *p)
{
	free(p->id);
	free(p->provider);
	free(p->note);
	*p = (struct price){ 0 };
}

void prices_release(struct prices *t)
{
	for (size_t i = 0; i < t->n; i++)
		price_free_fields(&t->v[i]);
	for (size_t i = 0; i < t->nsources; i++)
		free(t->sources[i]);
	free(t->v);
	free(t->sources);
	*t = (struct prices){ 0 };
}

const char *prices_source(struct prices *t, const char *name)
{
	char *copy = strdup(name);
	char **v = reallocarray(t->sources, t->nsources + 1, sizeof(*v));

	if (v)
		t->sources = v;
	if (!v || !copy) {
		free(copy);
		return NULL;
	}
	v[t->nsources++] = copy;
	return copy;
}

static struct price *row_called(const struct prices *t, const char *id, size_t len)
{
	for (size_t i = 0; i < t->n; i++)
		if (strncmp(t->v[i].id, id, len) == 0 && t->v[i].id[len] == '\0')
			return &t->v[i];
	return NULL;
}

int prices_row(struct prices *t, const char *id, struct price **ret, struct ak_err *err)
{
	struct price *p = row_called(t, id, strlen(id));

	if (p) {
		*ret = p;
		return 0;
	}
	if (t->n == PRICES_ROWS_MAX)
		return ak_err_set(err, E2BIG, "over %u models", PRICES_ROWS_MAX);
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		struct price *v = reallocarray(t->v, cap, sizeof(*v));

		if (!v)
			return ak_err_set(err, ENOMEM, "no memory for the price table");
		t->v = v;
		t->cap = cap;
	}
	p = &t->v[t->n];
	*p = (struct price){ .id = strdup(id) };
	if (!p->id)
		return ak_err_set(err, ENOMEM, "no memory for the price table");
	t->n++;
	*ret = p;
	return 0;
}

static void rates_merge(struct rates *to, const struct rates *from)
{
	for (unsigned r = 0; r < RATE_COUNT; r++)
		if (from->has & 1u << r)
			to->v[r] = from->v[r];
	to->has |= from->has;
}

static void move_str(char **to, char **from)
{
	if (!*from)
		return;
	free(*to);
	*to = *from;
	*from = NULL;
}

void price_merge(struct price *to, struct price *from)
{
	bool rated = from->rates.has != 0;

	rates_merge(&to->rates, &from->rates);
	move_str(&to->provider, &from->provider);
	move_str(&to->note, &from->note);
	/* what was said of the old rates' date and future does not hold for new ones */
	if (rated) {
		to->next = from->next;
		memcpy(to->valid_until, from->valid_until, sizeof(to->valid_until));
		memcpy(to->verified, from->verified, sizeof(to->verified));
	}
	if (from->ntiers > 0) {
		memcpy(to->tiers, from->tiers, sizeof(to->tiers));
		to->ntiers = from->ntiers;
	}
	if (from->context)
		to->context = from->context;
	if (from->max_output)
		to->max_output = from->max_output;
	to->source = from->source;
}

/* @n decimal digits as a number */
static bool digits(const char *s, size_t n, int *ret)
{
	int v = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		v = v * 10 + (s[i] - '0');
	}
	*ret = v;
	return true;
}

static bool cut_date(const char *s, int *y, int *m, int *d)
{
	return strlen(s) == 10 && digits(s, 4, y) && s[4] == '-' && digits(s + 5, 2, m) && s[7] == '-' && digits(s + 8, 2, d);
}

bool date_ok(const char *s)
{
	int y, m, d;

	return cut_date(s, &y, &m, &d) && y >= 2000 && m >= 1 && m <= 12 && d >= 1 && d <= 31;
}

bool rates_sane(const struct rates *r)
{
	unsigned both = 1u << RATE_INPUT | 1u << RATE_CACHE_READ;

	return (r->has & both) != both || r->v[RATE_CACHE_READ] <= r->v[RATE_INPUT];
}

/* --- finding ------------------------------------------------------------------------------------------------------------ */

static const struct price *look_up(const struct prices *t, const char *provider, const char *id, size_t len)
{
	char both[2 * PRICES_ID_MAX];
	const struct price *p = NULL;
	int n;

	if (provider && *provider) {
		n = snprintf(both, sizeof(both), "%s/%.*s", provider, (int)len, id);
		if (n > 0 && (size_t)n < sizeof(both))
			p = row_called(t, both, (size_t)n);
	}
	return p ? p : row_called(t, id, len);
}

static bool ends_with(const char *s, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && memcmp(s + len - n, end, n) == 0;
}

/* Length of "-YYYYMMDD" or "-YYYY-MM-DD" at the end; 0 when there is none */
static size_t date_at_end(const char *s, size_t len)
{
	static const char *const forms[] = { "-dddddddd", "-dddd-dd-dd" };

	for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
		size_t n = strlen(forms[f]);
		size_t i = 0;

		if (len <= n)
			continue;
		for (const char *p = s + len - n; i < n; i++)
			if (forms[f][i] == 'd' ? p[i] < '0' || p[i] > '9' : p[i] != '-')
				break;
		if (i == n && s[len - n + 1] == '2') /* a year, not a size */
			return n;
	}
	return 0;
}

const struct price *prices_find(const struct prices *t, const char *provider, const char *model)
{
	size_t len = strlen(model);

	if (provider && strcmp(provider, "gemini") == 0 && !row_called(t, model, len)) {
		const struct price *p = look_up(t, "google", model, len); /* models.dev's name for it */

		if (p)
			return p;
	}
	while (len > 0 && len < PRICES_ID_MAX) {
		const struct price *p = look_up(t, provider, model, len);
		const char *slash = memchr(model, '/', len);
		size_t date = date_at_end(model, len);

		if (p)
			return p;
		if (ends_with(model, len, "[1m]"))
			len -= 4;
		else if (ends_with(model, len, ":free") || ends_with(model, len, ":beta"))
			len -= 5;
		else if (date > 0)
			len -= date;
		else if (slash) {
			len -= (size_t)(slash + 1 - model);
			model = slash + 1;
		} else
			break;
	}
	return NULL;
}

/* --- what it costs ------------------------------------------------------------------------------------------------------- */

bool price_known(const struct price *p)
{
	unsigned need = 1u << RATE_INPUT | 1u << RATE_OUTPUT;

	return p && (p->rates.has & need) == need;
}

int price_need(const struct price *p, const char *model, struct ak_err *err)
{
	if (price_known(p))
		return 0;
	(void)ak_err_set(err, ENOENT, "no price is known for \"%s\", so a limit of money cannot hold", model);
	ak_err_hint(err, "give one with --price in=..,out=.. (0 for a model that costs nothing), or limit tokens instead");
	return -ENOENT;
}

/* Anthropic's models by whoever serves them: writing their cache costs more than input */
static bool writes_cost_more(const struct price *p)
{
	return (p->provider && strcmp(p->provider, "anthropic") == 0) || strstr(p->id, "claude");
}

static void fill_rates(const struct price *p, struct rates *r)
{
	uint64_t in = r->v[RATE_INPUT];
	bool more = writes_cost_more(p);

	if (!(r->has & 1u << RATE_CACHE_READ))
		r->v[RATE_CACHE_READ] = in;
	if (!(r->has & 1u << RATE_CACHE_WRITE))
		r->v[RATE_CACHE_WRITE] = more ? money_add(in, in / 4 + (in % 4 != 0)) : in;
	if (!(r->has & 1u << RATE_CACHE_WRITE_1H))
		r->v[RATE_CACHE_WRITE_1H] = more ? money_add(in, in) : r->v[RATE_CACHE_WRITE];
}

void price_rates(const struct price *p, uint64_t prompt_total, const char *today, struct rates *ret)
{
	const struct price_tier *tier = NULL;

	*ret = p->rates;
	if (*p->valid_until && strcmp(today, p->valid_until) > 0)
		rates_merge(ret, &p->next);
	for (size_t i = 0; i < p->ntiers; i++)
		if (prompt_total > p->tiers[i].above && (!tier || p->tiers[i].above > tier->above))
			tier = &p->tiers[i];
	if (tier) {
		struct rates base = *ret;

		*ret = tier->rates; /* its own cache rates, or what follows from its input; never the lower tier's */
		for (unsigned r = RATE_INPUT; r <= RATE_OUTPUT; r++)
			if (!(ret->has & 1u << r))
				ret->v[r] = base.v[r];
	}
	fill_rates(p, ret);
}

void price_charge(const struct price *p, const char *today, struct usage *u)
{
	struct rates r;
	uint64_t sum;

	if (u->cost_source == COST_PROVIDER)
		return;
	u->cost_source = COST_NONE;
	u->cost_picousd = 0;
	if (!price_known(p))
		return;
	price_rates(p, u->prompt_total, today, &r);
	sum = money_mul(u->input_uncached, r.v[RATE_INPUT]);
	sum = money_add(sum, money_mul(u->cache_read, r.v[RATE_CACHE_READ]));
	sum = money_add(sum, money_mul(u->cache_write_5m, r.v[RATE_CACHE_WRITE]));
	sum = money_add(sum, money_mul(u->cache_write_1h, r.v[RATE_CACHE_WRITE_1H]));
	sum = money_add(sum, money_mul(u->output, r.v[RATE_OUTPUT]));
	u->cost_picousd = sum;
	u->cost_source = COST_TABLE;
}

uint64_t price_bound(const struct price *p, const char *today, uint64_t prompt_tokens, uint64_t max_tokens)
{
	struct rates r;
	uint64_t dearest;

	if (!price_known(p))
		return MONEY_MAX;
	price_rates(p, prompt_tokens, today, &r);
	dearest = r.v[RATE_INPUT];
	for (unsigned i = RATE_CACHE_READ; i < RATE_COUNT; i++)
		dearest = r.v[i] > dearest ? r.v[i] : dearest;
	return money_add(money_mul(prompt_tokens, dearest), money_mul(max_tokens, r.v[RATE_OUTPUT]));
}

/* Days since 1970 of a date that date_ok() took */
static long days(const char *date)
{
	struct tm tm = { 0 };

	if (!cut_date(date, &tm.tm_year, &tm.tm_mon, &tm.tm_mday))
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (long)(timegm(&tm) / 86400);
}

const char *price_warning(const struct price *p, const char *today, char *buf, size_t size)
{
	buf[0] = '\0';
	if (*p->valid_until && strcmp(today, p->valid_until) > 0 && p->next.has == 0)
		(void)snprintf(buf, size, "the price of %s was valid until %s", p->id, p->valid_until);
	else if (*p->verified && days(today) - days(p->verified) > (long)PRICES_STALE_DAYS)
		(void)snprintf(buf, size, "the price of %s is from %s, over %u days ago", p->id, p->verified,
			       PRICES_STALE_DAYS);
	return buf;
}

char *prices_today(char *buf)
{
	time_t now = time(NULL);
	struct tm tm = { 0 };

	(void)localtime_r(&now, &tm);
	if (strftime(buf, 11, "%Y-%m-%d", &tm) == 0)
		buf[0] = '\0';
	return buf;
}
