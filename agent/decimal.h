/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of JSON by their text: compared exactly, without floating point. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_DECIMAL_H
#define AK_AGENT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct decimal - digits x 10^exponent, without zeros at either end of the digits; zero has none
 * @text:	borrowed; the digits lie between @from and @to, with at most one point among them
 */
struct decimal {
	const char *from;
	const char *to;
	size_t digits;
	long exponent;
	bool negative;
};

/** decimal_read() - @text of JSON's grammar; borrowed. Exponents stop at a million. */
void decimal_read(const char *text, struct decimal *ret);
/** decimal_compare() - Return: less than, equal to, greater than 0 */
int decimal_compare(const struct decimal *a, const struct decimal *b);
/** decimal_is_whole() - 1, 1.0, 1e3 */
bool decimal_is_whole(const struct decimal *d);
/** decimal_multiple() - is @a a multiple of @b? @b: above zero, up to 18 digits, see decimal_divisor_ok() */
bool decimal_multiple(const struct decimal *a, const struct decimal *b);
bool decimal_divisor_ok(const struct decimal *d);
/** decimal_hash() - equal numbers have equal hashes */
uint64_t decimal_hash(const struct decimal *d);

#endif
