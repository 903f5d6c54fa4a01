/* SPDX-License-Identifier: Apache-2.0 */
/* Exact decimal numbers without floating point. Pure. Process: agent. Privilege: none. */
#include "agent/json_scaled.h"

#include <errno.h>

#define EXPONENT_MAX 100000 /* saturates there: no number of 1024 characters makes up for it */

struct decimal {
	const char *digits; /* with at most one point in it */
	long exponent;	    /* of the last digit */
	bool negative;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static long exponent_of(const char *p)
{
	bool down = *p == '-';
	long v = 0;

	if (*p == '-' || *p == '+')
		p++;
	for (; digit(*p); p++) {
		if (v < EXPONENT_MAX)
			v = v * 10 + (*p - '0');
	}
	return down ? -v : v;
}

static struct decimal read_decimal(const char *text)
{
	struct decimal d = {.digits = text};
	bool behind = false;
	const char *p;

	if (*text == '-') {
		d.negative = true;
		d.digits++;
	}
	for (p = d.digits; digit(*p) || *p == '.'; p++) {
		if (*p == '.')
			behind = true;
		else if (behind)
			d.exponent--;
	}
	if (*p == 'e' || *p == 'E')
		d.exponent += exponent_of(p + 1);
	return d;
}

static long count_digits(const char *p)
{
	long n = 0;

	for (; digit(*p) || *p == '.'; p++)
		n += *p != '.';
	return n;
}

/* v * 10 + digit; false when it does not fit */
static bool push(uint64_t *v, unsigned d)
{
	return !__builtin_mul_overflow(*v, 10u, v) && !__builtin_add_overflow(*v, d, v);
}

int json_scale(const char *text, unsigned places, bool whole, uint64_t *ret)
{
	struct decimal d = read_decimal(text);
	long exponent = d.exponent + (long)places;
	long keep = count_digits(d.digits) + exponent; /* so many digits stand before the point of the result */
	uint64_t v = 0;
	bool rest = false;
	bool any = false;

	for (const char *p = d.digits; digit(*p) || *p == '.'; p++) {
		if (*p == '.')
			continue;
		any = any || *p != '0';
		if (keep-- > 0) {
			if (!push(&v, (unsigned)(*p - '0')))
				return -ERANGE;
		} else {
			rest = rest || *p != '0';
		}
	}
	if (any && d.negative)
		return -ERANGE;
	if (rest && whole)
		return -EBADMSG;
	for (; v > 0 && keep > 0; keep--) {
		if (!push(&v, 0))
			return -ERANGE;
	}
	if (rest && __builtin_add_overflow(v, 1u, &v))
		return -ERANGE;
	*ret = v;
	return 0;
}
