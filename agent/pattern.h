/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions as JSON Schema has them (ECMA-262 with the u flag), run by PCRE2 within limits. What the two languages do
 * not share is refused, or translated where that is exact. Process: agent. Privilege: none. Source: ECMA-262 22.2, pcre2pattern(3).
 */
#ifndef AK_AGENT_PATTERN_H
#define AK_AGENT_PATTERN_H

#include <stddef.h>

struct ak_err;
struct pattern;

#define PATTERN_MAX 1000u	  /* bytes */
#define PATTERN_STEPS 100000u	  /* of one match */
#define PATTERN_DEPTH 1000u
#define PATTERN_HEAP_KIB 4096u

/**
 * pattern_new() - compile
 * @text:	UTF-8
 * Return: 0; -EOPNOTSUPP (a construct that is not supported, too long: @err says which); -EBADMSG (no regular expression);
 * -ENOMEM.
 */
int pattern_new(const char *text, struct pattern **ret, struct ak_err *err);
/** pattern_free() - NULL does nothing */
void pattern_free(struct pattern *p);
/** pattern_match() - anywhere in @text. Return: 1, 0; -E2BIG (over a limit); -EILSEQ (not UTF-8); -ENOMEM. */
int pattern_match(const struct pattern *p, const char *text, size_t len);

#endif
