/* SPDX-License-Identifier: Apache-2.0 */
/* Exact decimal numbers without floating point. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_JSON_SCALED_H
#define AK_AGENT_JSON_SCALED_H

#include <stdbool.h>
#include <stdint.h>

/**
 * json_scale() - the number @text of JSON's grammar, times 10 to the power of @places
 * @whole:	digits left behind the point are an error; without it they are rounded up
 * Return: 0; -EBADMSG (not a whole number); -ERANGE (negative, or over 2^64-1). *@ret is untouched on failure.
 */
int json_scale(const char *text, unsigned places, bool whole, uint64_t *ret);

#endif
