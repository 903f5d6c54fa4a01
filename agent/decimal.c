/* SPDX-License-Identifier: Apache-2.0 */
/* Exact comparison of JSON numbers. Pure. Process: agent. Privilege: none. */
#include "agent/decimal.h"

#include <string.h>

#define EXPONENT_MAX 1000000
#define DIVISOR_DIGITS 18u

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
	for (; digit(*p); p++)
		v = v < EXPONENT_MAX ? v * 10 + (*p - '0') : v;
	return down ? -v : v;
}

void decimal_read(const char *text, struct decimal *ret)
{
	struct decimal d = { .negative = *text == '-' };
	const char *p = text + d.negative;
	bool behind = false;
	long zeros = 0; /* at the end of what was read */

	for (; digit(*p) || *p == '.'; p++) {
		if (*p == '.') {
			behind = true;
			continue;
		}
		d.exponent -= behind;
		if (*p == '0' && d.digits == 0)
			continue;
		if (d.digits == 0)
			d.from = p;
		d.digits++;
		zeros = *p == '0' ? zeros + 1 : 0;
		if (*p != '0')
			d.to = p + 1;
	}
	if (*p == 'e' || *p == 'E')
		d.exponent += exponent_of(p + 1);
	d.digits -= (size_t)zeros;
	d.exponent += zeros;
	if (d.digits == 0)
		d = (struct decimal){ .from = text, .to = text };
	*ret = d;
}

/* The next digit behind *@p, and *@p behind it; 0 at the end */
static int next_digit(const struct decimal *d, const char **p)
{
	if (*p < d->to && **p == '.')
		++*p;
	return *p < d->to ? *(*p)++ - '0' : 0;
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	int sign = a->negative ? -1 : 1;
	long size_a = (long)a->digits + a->exponent;
	long size_b = (long)b->digits + b->exponent;
	const char *p = a->from;
	const char *q = b->from;

	if (a->digits == 0 || b->digits == 0) {
		if (a->digits == b->digits)
			return 0;
		return a->digits ? sign : b->negative ? 1 : -1;
	}
	if (a->negative != b->negative)
		return sign;
	if (size_a != size_b)
		return size_a > size_b ? sign : -sign;
	while (p < a->to || q < b->to) {
		int x = next_digit(a, &p);
		int y = next_digit(b, &q);

		if (x != y)
			return x > y ? sign : -sign;
	}
	return 0;
}

bool decimal_is_whole(const struct decimal *d)
{
	return d->digits == 0 || d->exponent >= 0;
}

bool decimal_divisor_ok(const struct decimal *d)
{
	return d->digits > 0 && d->digits <= DIVISOR_DIGITS && !d->negative;
}

bool decimal_multiple(const struct decimal *a, const struct decimal *b)
{
	unsigned __int128 rest = 0;
	uint64_t divisor = 0;

	if (a->digits == 0)
		return true;
	/* the last digit of @a is not 0, so ten does not divide its digits, and they are no multiple of a divisor with more zeros */
	if (a->exponent < b->exponent)
		return false;
	for (const char *p = b->from; p < b->to;)
		divisor = divisor * 10 + (uint64_t)next_digit(b, &p);
	if (divisor == 0)
		return false;
	for (const char *p = a->from; p < a->to;)
		rest = (rest * 10 + (unsigned)next_digit(a, &p)) % divisor;
	for (long zeros = a->exponent - b->exponent; zeros > 0 && rest > 0; zeros--)
		rest = rest * 10 % divisor;
	return rest == 0;
}

uint64_t decimal_hash(const struct decimal *d)
{
	uint64_t h = UINT64_C(14695981039346656037) ^ (uint64_t)(d->digits ? d->exponent * 2 + d->negative : 0);

	for (const char *p = d->from; p < d->to;)
		h = (h ^ (uint64_t)next_digit(d, &p)) * UINT64_C(1099511628211);
	return h;
}
