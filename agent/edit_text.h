/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces one text by another in a file's bytes, exactly or not at all. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_EDIT_TEXT_H
#define AK_AGENT_EDIT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_buf;

/**
 * struct edit_found - what edit_text() found
 * @count:	places where @old stands
 * @near_line:	with count 0: a line where a text stands that differs in white space only; 0: none
 */
struct edit_found {
	size_t count;
	uint64_t near_line;
};

/**
 * edit_text() - replace @old by @new in @text
 * @all:	every place; else there must be exactly one
 * @out:	the new text; only after success anything is in it
 *
 * Nothing is guessed: bytes outside of the places stay as they are (a byte order mark, the last newline or its lack, bytes that are
 * not UTF-8). In a file whose lines all end with CR LF, lone newlines of @old and @new stand for CR LF.
 * Return: 0; -EINVAL (@old is empty, or equal to @new); -ENOENT (not there: see near_line); -ENOTUNIQ (several places, without @all);
 * -ENOMEM.
 */
int edit_text(const char *text, size_t len, const char *old, const char *new, bool all, struct ak_buf *out, struct edit_found *ret);

#endif
