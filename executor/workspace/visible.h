/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Foreign text for people: whatever could mislead them, or their terminal, is shown as what it is. Pure; any process, no
 * privilege.
 *
 * Control characters and bytes that are no UTF-8 become \xNN; bidi controls, zero-width characters, tags, line separators and
 * the like become <U+NNNN> (HARDENING 115).
 */
#ifndef AK_WORKSPACE_VISIBLE_H
#define AK_WORKSPACE_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

struct ak_buf;

/**
 * visible_text() - append text; newlines and tabs stay
 * @last:	nothing follows; else a character that is cut off at the end is left for the next call
 * Return: bytes taken of @n.
 */
size_t visible_text(struct ak_buf *out, const char *p, size_t n, bool last);

/** visible_quote() - append a string in quotes, newlines, tabs, quotes and backslashes escaped */
void visible_quote(struct ak_buf *out, const char *s);

/** visible_plain() - would quoting change nothing, and is no space in it? */
bool visible_plain(const char *s);

#endif
