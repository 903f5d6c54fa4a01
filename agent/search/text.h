/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a file that a regular expression matches. Process: in the sandbox. Privilege: none. Source: pcre2api(3). */
#ifndef AK_AGENT_SEARCH_TEXT_H
#define AK_AGENT_SEARCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;
struct text_search;

#define TEXT_FILE_MAX (32u << 20)   /* bytes; larger files are left out, and counted */
#define TEXT_PATTERN_MAX 10000u
#define TEXT_STEPS 1000000u	    /* of the matcher for one line */
#define TEXT_DEPTH 5000u
#define TEXT_HEAP_KIB 8192u

enum text_result {
	TEXT_OK,
	TEXT_BINARY,	/* NUL among the first bytes */
	TEXT_TOO_LARGE,
	TEXT_UNREADABLE,
};

/** text_line_fn() - a line that matches, without its end. Return: false to stop. */
typedef bool text_line_fn(void *ctx, unsigned long number, const char *line, size_t len);

/** text_new() - compile @pattern (PCRE2, UTF-8, case as @ignore_case). Return: 0; -EINVAL with the fault in @err; -ENOMEM. */
int text_new(const char *pattern, bool ignore_case, struct text_search **ret, struct ak_err *err);
void text_free(struct text_search *s);
/**
 * text_file() - every line of the file that matches
 * @fd:		a regular file, at its start; borrowed
 * @ret_hard:	lines on which the expression took too many steps; they count as not matching
 */
enum text_result text_file(struct text_search *s, int fd, text_line_fn *fn, void *ctx, unsigned long *ret_hard);

#endif
