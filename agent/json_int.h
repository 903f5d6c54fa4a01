/* SPDX-License-Identifier: Apache-2.0 */
/* What the JSON files share. Process: agent. Privilege: none. */
#ifndef AK_AGENT_JSON_INT_H
#define AK_AGENT_JSON_INT_H

#include <stdbool.h>
#include <stddef.h>

/* Half surrogates as their three bytes: ED A0..AF xx for the first half, ED B0..BF xx for the second */
static inline bool json_half(const unsigned char *p, size_t n, unsigned char low, unsigned char high)
{
	return n >= 3 && p[0] == 0xed && p[1] >= low && p[1] <= high && (p[2] & 0xc0) == 0x80;
}

#define JSON_FIRST_HALF(p, n) json_half(p, n, 0xa0, 0xaf)
#define JSON_SECOND_HALF(p, n) json_half(p, n, 0xb0, 0xbf)
#define JSON_ANY_HALF(p, n) json_half(p, n, 0xa0, 0xbf)

/* Bytes of @cp as UTF-8 in @ret; a surrogate gives the three bytes of its half */
size_t json_encode(unsigned cp, char ret[4]);

#endif
