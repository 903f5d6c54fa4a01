/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, sizes and durations from outside. Pure; any process, no privilege. */
#include "executor/shared/ak_parse.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define SIZE_BYTES_MAX ((uint64_t)INT64_MAX)
#define DURATION_MS_MAX (UINT64_C(3650) * 24 * 3600 * 1000) /* ten years */
#define DIGITS "0123456789"

/* Value of @n digits; saturates at UINT64_MAX, and says so. The caller has seen that they are digits. */
static uint64_t digits_value(const char *s, size_t n, bool *ret_over)
{
	uint64_t v = 0;

	*ret_over = false;
	for (size_t i = 0; i < n; i++) {
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v)) {
			*ret_over = true;
			return UINT64_MAX;
		}
	}
	return v;
}

int ak_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *ret)
{
	size_t n = strspn(s, DIGITS);
	bool over;

	if (n == 0 || s[n] != '\0')
		return -EINVAL;

	uint64_t v = digits_value(s, n, &over);

	if (over || v < min || v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

/* "", "B", "k", "kB", "kiB" and so on, in either case, as a shift; -1 for anything else */
static int size_unit_shift(const char *unit)
{
	static const struct {
		char letter;
		int shift;
	} units[] = {{'k', 10}, {'m', 20}, {'g', 30}};

	if (unit[0] == '\0' || strcasecmp(unit, "b") == 0)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if ((unit[0] | 0x20) != units[i].letter)
			continue;
		if (unit[1] == '\0' || strcasecmp(unit + 1, "b") == 0 || strcasecmp(unit + 1, "ib") == 0)
			return units[i].shift;
	}
	return -1;
}

int ak_parse_size(const char *s, uint64_t *ret_bytes)
{
	size_t n = strspn(s, DIGITS);
	int shift = n > 0 ? size_unit_shift(s + n) : -1;
	bool over;

	if (shift < 0)
		return -EINVAL;

	uint64_t v = digits_value(s, n, &over);

	if (over || v > SIZE_BYTES_MAX >> shift)
		return -ERANGE;
	*ret_bytes = v << shift;
	return 0;
}

/* A decimal number at the head of @s: "12" or "12.34". Return: bytes read, 0 when there is none. */
static size_t scan_decimal(const char *s, size_t *ret_whole, size_t *ret_places)
{
	size_t whole = strspn(s, DIGITS);

	*ret_whole = whole;
	*ret_places = 0;
	if (whole == 0 || s[whole] != '.')
		return whole;
	*ret_places = strspn(s + whole + 1, DIGITS);
	return *ret_places > 0 ? whole + 1 + *ret_places : 0;
}

/* 0.<digits> * @unit, rounded up; exact for any number of places, since only remainders are lost, and they
 * are noticed */
static uint64_t fraction_of(const char *digits, size_t n, uint64_t unit)
{
	uint64_t acc = 0;
	bool rest = false;

	while (n-- > 0) {
		acc += (uint64_t)(digits[n] - '0') * unit;
		rest = rest || acc % 10 != 0;
		acc /= 10;
	}
	return acc + rest;
}

static uint64_t duration_unit_ms(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ms;
	}
	return 0;
}

int ak_parse_duration(const char *s, uint64_t *ret_ms)
{
	size_t whole, places;
	size_t n = scan_decimal(s, &whole, &places);
	uint64_t unit = n > 0 ? duration_unit_ms(s + n) : 0;
	bool over;

	if (unit == 0)
		return -EINVAL;

	uint64_t v = digits_value(s, whole, &over);

	if (over || v > DURATION_MS_MAX / unit)
		return -ERANGE;
	v = v * unit + fraction_of(s + whole + 1, places, unit);
	if (v > DURATION_MS_MAX)
		return -ERANGE;
	*ret_ms = v;
	return 0;
}

int ak_parse_milli(const char *s, uint64_t *ret)
{
	size_t whole, places;
	size_t n = scan_decimal(s, &whole, &places);
	bool over;

	if (n == 0 || s[n] != '\0' || places > 3)
		return -EINVAL;

	uint64_t v = digits_value(s, whole, &over);

	if (over || __builtin_mul_overflow(v, UINT64_C(1000), &v) ||
	    __builtin_add_overflow(v, fraction_of(s + whole + 1, places, 1000), &v))
		return -ERANGE;
	*ret = v;
	return 0;
}

static bool is_alpha_or_underscore(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool ak_env_name_ok(const char *s, size_t len)
{
	if (len < 1 || len > 255 || !is_alpha_or_underscore(s[0]))
		return false;
	for (size_t i = 1; i < len; i++) {
		if (!is_alpha_or_underscore(s[i]) && !(s[i] >= '0' && s[i] <= '9'))
			return false;
	}
	return true;
}
