/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder of JSON strings. Process: agent. Privilege: none. */
#ifndef AK_AGENT_JSON_STRING_H
#define AK_AGENT_JSON_STRING_H

#include <stdbool.h>

/**
 * json_string_take() - decode the string that starts at **@pos with its double quote
 * @pos:	behind the closing quote afterwards; at the fault after a failure
 * @repair:	as JSON_REPAIR
 * @ret:	NUL-terminated, without NUL inside; from cJSON_malloc()
 * @ret_what:	the fault in words
 * Return: 0, -EBADMSG (no end, control character, unknown escape), -EILSEQ (not UTF-8, NUL, half a pair), -ENOMEM.
 */
int json_string_take(const unsigned char **pos, const unsigned char *end, bool repair, char **ret,
		     const char **ret_what);

#endif
