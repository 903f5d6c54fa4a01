/* SPDX-License-Identifier: Apache-2.0 */
/* Exact money: integers only, rounded nowhere but for display. Pure. Agent process, no privilege. */
#ifndef AK_AGENT_MONEY_H
#define AK_AGENT_MONEY_H

#include <stdint.h>

/*
 * Money is counted in picodollars, 10^-12 US dollars; prices in micro-dollars per million tokens. Their product needs no
 * division: tokens x price = picodollars. 2^64 picodollars are 18 million dollars; what would be more stays at the maximum.
 */
#define MONEY_MAX UINT64_MAX
#define MONEY_USD UINT64_C(1000000000000)

/** money_add() - Return: a + b, MONEY_MAX when it would be more */
uint64_t money_add(uint64_t a_picousd, uint64_t b_picousd);
/** money_mul() - Return: tokens x price in picodollars, MONEY_MAX when it would be more */
uint64_t money_mul(uint64_t tokens, uint64_t price_microusd_per_mtok);

#define MONEY_TEXT 32

/**
 * money_format() - dollars, rounded to nearest, with @places decimals (0 to 12): "0.012300"
 * An amount above zero that would show as zero gets as many decimals as its first digit needs.
 * @buf:	MONEY_TEXT bytes
 * Return: @buf.
 */
char *money_format(uint64_t picousd, unsigned places, char *buf);

/** money_format_exact() - dollars with all decimals that are not trailing zeros, at least two: "0.0123". Return: @buf. */
char *money_format_exact(uint64_t picousd, char *buf);

#endif
