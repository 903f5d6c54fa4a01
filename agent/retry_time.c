/* SPDX-License-Identifier: Apache-2.0 */
/* The forms in which servers write times and spans. Pure. Process: agent. Privilege: none. */
#include "agent/retry_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "agent/retry.h"

#define MS_MAX (INT64_MAX / 4)

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Exactly @n digits. Return: false when there are fewer. */
static bool digits(const char **p, size_t n, unsigned *ret)
{
	unsigned v = 0;

	for (size_t i = 0; i < n; i++) {
		if (!digit((*p)[i]))
			return false;
		v = v * 10 + (unsigned)((*p)[i] - '0');
	}
	*p += n;
	*ret = v;
	return true;
}

static bool word(const char **p, const char *text)
{
	size_t n = strlen(text);

	if (strncmp(*p, text, n) != 0)
		return false;
	*p += n;
	return true;
}

/* One of @names, each of @len letters; without a care for their case */
static bool name(const char **p, const char *names, size_t len, unsigned *ret)
{
	for (unsigned i = 0; names[i * len]; i++) {
		if (strncasecmp(*p, names + i * len, len) == 0) {
			*p += len;
			*ret = i;
			return true;
		}
	}
	return false;
}

struct civil {
	unsigned year, month, day, hour, minute, second; /* month from 1 */
};

static bool leap(unsigned y)
{
	return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

/* Milliseconds since 1970. Return: false for a date that does not exist, or before 1970. */
static bool to_ms(const struct civil *c, uint64_t *ret)
{
	static const unsigned char length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	uint64_t days = 0;

	if (c->year < 1970 || c->year > 9999 || c->month < 1 || c->month > 12 || c->day < 1 ||
	    c->day > length[c->month - 1] + (c->month == 2 && leap(c->year) ? 1u : 0u) || c->hour > 23 || c->minute > 59 ||
	    c->second > 60)
		return false;
	for (unsigned y = 1970; y < c->year; y++)
		days += leap(y) ? 366 : 365;
	for (unsigned m = 1; m < c->month; m++)
		days += length[m - 1] + (m == 2 && leap(c->year));
	days += c->day - 1;
	*ret = (((days * 24 + c->hour) * 60 + c->minute) * 60 + c->second) * 1000;
	return true;
}

static bool clock_time(const char **p, struct civil *c)
{
	return digits(p, 2, &c->hour) && word(p, ":") && digits(p, 2, &c->minute) && word(p, ":") &&
	       digits(p, 2, &c->second);
}

static bool month(const char **p, struct civil *c)
{
	if (!name(p, "JanFebMarAprMayJunJulAugSepOctNovDec", 3, &c->month))
		return false;
	c->month++;
	return true;
}

/* "06 Nov 1994 08:49:37 GMT", behind "Sun, " */
static bool imf_rest(const char *p, struct civil *c)
{
	return digits(&p, 2, &c->day) && word(&p, " ") && month(&p, c) && word(&p, " ") && digits(&p, 4, &c->year) &&
	       word(&p, " ") && clock_time(&p, c) && word(&p, " GMT") && !*p;
}

/* "06-Nov-94 08:49:37 GMT", behind "Sunday, ". Two digits of a year below 70 are of this century. */
static bool rfc850_rest(const char *p, struct civil *c)
{
	if (!(digits(&p, 2, &c->day) && word(&p, "-") && month(&p, c) && word(&p, "-") && digits(&p, 2, &c->year) &&
	      word(&p, " ") && clock_time(&p, c) && word(&p, " GMT") && !*p))
		return false;
	c->year += c->year < 70 ? 2000 : 1900;
	return true;
}

/* "Nov  6 08:49:37 1994", behind "Sun " */
static bool asctime_rest(const char *p, struct civil *c)
{
	return month(&p, c) && word(&p, " ") && (word(&p, " ") ? digits(&p, 1, &c->day) : digits(&p, 2, &c->day)) &&
	       word(&p, " ") && clock_time(&p, c) && word(&p, " ") && digits(&p, 4, &c->year) && !*p;
}

int retry_parse_date(const char *s, uint64_t *ret_ms)
{
	struct civil c = {0};
	const char *comma = strchr(s, ',');
	const char *rest = comma ? comma + 1 : strchr(s, ' ');
	bool good;

	/* the day of the week says nothing new */
	if (!rest || *rest != ' ' || rest - s < 3 || rest - s > 10)
		return -EINVAL;
	rest++;
	if (comma)
		good = imf_rest(rest, &c) || rfc850_rest(rest, &c);
	else
		good = asctime_rest(rest, &c);
	return good && to_ms(&c, ret_ms) ? 0 : -EINVAL;
}

/* Digits behind a point as milliseconds, rounded up */
static unsigned fraction_ms(const char **p)
{
	unsigned ms = 0;
	unsigned scale = 100;
	bool rest = false;

	for (; digit(**p); ++*p, scale /= 10) {
		ms += scale * (unsigned)(**p - '0');
		rest = rest || (scale == 0 && **p != '0');
	}
	return ms + rest;
}

int retry_parse_rfc3339(const char *s, uint64_t *ret_ms)
{
	struct civil c = {0};
	uint64_t ms;
	uint64_t offset = 0;
	unsigned fraction = 0;
	unsigned hours = 0;
	unsigned minutes = 0;
	char sign;

	if (!(digits(&s, 4, &c.year) && word(&s, "-") && digits(&s, 2, &c.month) && word(&s, "-") &&
	      digits(&s, 2, &c.day) && (*s == 'T' || *s == 't' || *s == ' ')))
		return -EINVAL;
	s++;
	if (!clock_time(&s, &c))
		return -EINVAL;
	if (*s == '.' && digit(s[1])) {
		s++;
		fraction = fraction_ms(&s);
	}
	sign = *s++;
	if (sign == '+' || sign == '-') {
		if (!(digits(&s, 2, &hours) && word(&s, ":") && digits(&s, 2, &minutes)) || hours > 23 || minutes > 59)
			return -EINVAL;
		offset = (uint64_t)(hours * 60 + minutes) * 60000;
	} else if (sign != 'Z' && sign != 'z') {
		return -EINVAL;
	}
	if (*s || !to_ms(&c, &ms) || (sign == '+' && ms < offset))
		return -EINVAL;
	ms += fraction;
	*ret_ms = sign == '+' ? ms - offset : ms + offset;
	return 0;
}

/* Digits with or without a fraction, times @unit_ms, rounded up. Return: false when there are none, or too many. */
static bool amount(const char **p, uint64_t unit_ms, uint64_t *ret)
{
	uint64_t whole = 0;
	uint64_t part = 0;
	uint64_t scale = 1;
	bool rest = false;
	const char *start = *p;

	for (; digit(**p); ++*p) {
		if (whole > MS_MAX / 10 - 1)
			return false;
		whole = whole * 10 + (uint64_t)(**p - '0');
	}
	if (**p == '.' && digit((*p)[1])) {
		for (++*p; digit(**p); ++*p) {
			if (scale < 1000000000) {
				part = part * 10 + (uint64_t)(**p - '0');
				scale *= 10;
			} else {
				rest = rest || **p != '0';
			}
		}
	}
	if (*p == start || whole > MS_MAX / unit_ms - 1)
		return false;
	*ret = whole * unit_ms + (part * unit_ms + scale - 1 + rest) / scale;
	return true;
}

int retry_parse_amount(const char *s, uint64_t unit_ms, uint64_t *ret_ms)
{
	uint64_t ms;

	if (!amount(&s, unit_ms, &ms) || *s)
		return -EINVAL;
	*ret_ms = ms;
	return 0;
}

/* The unit at @p in milliseconds; 0 when it is none */
static uint64_t unit_of(const char **p)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (word(p, units[i].text))
			return units[i].ms;
	}
	return 0;
}

int retry_parse_span(const char *s, uint64_t *ret_ms)
{
	uint64_t total = 0;

	if (retry_parse_amount(s, 1000, ret_ms) == 0)
		return 0;
	if (!*s)
		return -EINVAL;
	while (*s) {
		const char *start = s;
		uint64_t part;
		uint64_t unit;

		/* twice: the unit stands behind the number */
		if (!amount(&s, 1, &part))
			return -EINVAL;
		unit = unit_of(&s);
		if (unit == 0 || !amount(&start, unit, &part) || part > MS_MAX - total)
			return -EINVAL;
		total += part;
	}
	*ret_ms = total;
	return 0;
}
