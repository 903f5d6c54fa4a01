/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tool results that are too long: half head, half tail, and a mark between that says what is missing. Pure. Process: agent.
 * Privilege: none. Text is to be redacted before, see redact.h.
 */
#ifndef AK_AGENT_TRUNCATE_H
#define AK_AGENT_TRUNCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_buf.h"

#define TRUNCATE_TOKENS 4096u
#define TRUNCATE_CHARS (TRUNCATE_TOKENS * 4u) /* of a tool result */
#define TRUNCATE_CHARS_MAX (1u << 20)

/**
 * struct truncate - one text, in pieces; private. Holds limit x 8 bytes at most, whatever the length of the text.
 * A character is a UTF-8 sequence, or a byte that belongs to none.
 */
struct truncate {
	size_t head_chars;
	size_t tail_chars;
	struct ak_buf head;	/* the first head_chars characters */
	size_t head_n;
	struct ak_buf rest;	/* the last ones behind them */
	size_t rest_n;		/* characters in rest */
	size_t rest_off;	/* bytes at its start that have been dropped */
	uint64_t dropped;	/* bytes in all */
	unsigned char part[4];	/* a character that is cut at the end of a piece */
	size_t part_n;
};

/** truncate_init() - @limit_chars: longer texts are cut to so many characters, the mark not counted; 2 to TRUNCATE_CHARS_MAX */
void truncate_init(struct truncate *t, size_t limit_chars);
void truncate_feed(struct truncate *t, const char *p, size_t n);

/**
 * truncate_finish() - append the text, cut if it is too long, to @out: head,
 * "\n… [truncated N bytes; use a narrower query] …\n", tail, and with a @spool "\n[full text: SPOOL]"
 * @spool:	NULL, or where the whole text is; named only if it was cut
 * Return: bytes left out; 0: the text is whole. Failures latch in @out. The struct is empty afterwards.
 */
uint64_t truncate_finish(struct truncate *t, const char *spool, struct ak_buf *out);
/** truncate_is_cut() - is the text too long already? Then it is worth a spool. */
bool truncate_is_cut(const struct truncate *t);
/** truncate_release() - free without an end; empty afterwards */
void truncate_release(struct truncate *t);

/** truncate_result() - a whole text at once. Return: as truncate_finish(). */
uint64_t truncate_result(const char *text, size_t len, size_t limit_chars, const char *spool, struct ak_buf *out);

#endif
