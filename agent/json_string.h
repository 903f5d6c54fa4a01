/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder of JSON strings. Process: agent. Privilege: none. */
#ifndef AK_AGENT_JSON_STRING_H
#define AK_AGENT_JSON_STRING_H

#include <stdbool.h>

/* Where the decoded text of a string goes */
enum json_place {
	JSON_PLACE_NEW,	 /* memory of its own, from cJSON_malloc() */
	JSON_PLACE_SAME, /* over the string itself, which may be overwritten: no escape is shorter than what it stands for */
	JSON_PLACE_NONE, /* nowhere: it is only checked, and its text is "" */
};

/**
 * json_string_take() - decode the string that starts at **@pos with its double quote
 * @pos:	behind the closing quote afterwards; at the fault after a failure
 * @repair:	as JSON_REPAIR
 * @ret:	NUL-terminated, without NUL inside; owned by the caller only with JSON_PLACE_NEW
 * @ret_what:	the fault in words
 * Return: 0, -EBADMSG (no end, control character, unknown escape), -EILSEQ (not UTF-8, NUL, half a pair), -ENOMEM.
 */
int json_string_take(const unsigned char **pos, const unsigned char *end, bool repair, enum json_place place,
		     char **ret, const char **ret_what);

#endif
