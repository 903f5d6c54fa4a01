/* SPDX-License-Identifier: Apache-2.0 */
/* Exact money in integers. Pure. Agent process, no privilege. */
#include "agent/money.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t money_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? MONEY_MAX : sum;
}

uint64_t money_mul(uint64_t tokens, uint64_t price)
{
	uint64_t product;

	return __builtin_mul_overflow(tokens, price, &product) ? MONEY_MAX : product;
}

static uint64_t power10(unsigned n)
{
	uint64_t v = 1;

	while (n-- > 0)
		v *= 10;
	return v;
}

char *money_format(uint64_t picousd, unsigned places, char *buf)
{
	places = places > 12 ? 12 : places;
	while (picousd > 0 && places < 12 && picousd < power10(12 - places) / 2)
		places++;

	uint64_t unit = power10(12 - places);
	uint64_t v = picousd / unit + (picousd % unit >= (unit + 1) / 2 && unit > 1);
	uint64_t scale = power10(places);

	if (places == 0)
		(void)snprintf(buf, MONEY_TEXT, "%" PRIu64, v);
	else
		(void)snprintf(buf, MONEY_TEXT, "%" PRIu64 ".%0*" PRIu64, v / scale, (int)places, v % scale);
	return buf;
}

char *money_format_exact(uint64_t picousd, char *buf)
{
	unsigned places = 12;

	while (places > 2 && picousd % power10(13 - places) == 0)
		places--;
	return money_format(picousd, places, buf);
}
