/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output filter for terminals: a byte state machine over hostile output. Pure. Process: executor. Privilege: none.
 */
#ifndef AK_TERM_FILTER_H
#define AK_TERM_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum term_policy {
	/* HARDENING 114: text, \n, \t, \r, \b; SGR colours; every other control byte and sequence is dropped */
	TERM_STRICT,
	/* --tty: also cursor movement, erase, scroll regions, the usual private modes, charset selection; drops OSC except a
	 * sanitised title (OSC 0 and 2), DCS, APC, PM, SOS, and every query that makes the terminal answer */
	TERM_INTERACTIVE,
};

#define TERM_SEQ_MAX 256	/* bytes of one sequence; a longer one is dropped whole */
#define TERM_STRING_MAX (1u << 20)	/* a control string that has not ended by then is given up, and text shows again */
#define TERM_END_MAX 256	/* bytes term_filter_end() writes at most */

struct term_filter {
	enum term_policy policy;
	unsigned state;
	size_t seq_len;
	uint8_t seq[TERM_SEQ_MAX];
	/* private to term_filter.c */
	size_t str_len;		/* bytes of the control string being dropped */
	uint32_t modes;		/* modes that differ from a terminal's start, to be undone at the end */
	bool sgr;		/* colours or attributes are on */
	uint32_t utf8_left;
	uint8_t utf8[4];
	uint32_t utf8_len;
};

/** term_filter_init() - start of a stream. Same output however the stream is cut into blocks. */
void term_filter_init(struct term_filter *f, enum term_policy policy);

/**
 * term_filter_run() - filter a block
 * @out:	room for at least 4 * @len + TERM_SEQ_MAX + 16 bytes
 * State is kept across calls, so that a sequence cut by a read boundary is still recognised.
 * Return: bytes written to @out.
 */
size_t term_filter_run(struct term_filter *f, const uint8_t *in, size_t len, uint8_t *out);

/**
 * term_filter_end() - what is still shown when the stream ends
 * @out:	room for TERM_END_MAX bytes
 * An unfinished sequence is dropped. Colours and modes that are still on are switched off, so that a command that was killed
 * leaves a usable terminal (interactive), and no command a concealed prompt.
 * Return: bytes written.
 */
size_t term_filter_end(struct term_filter *f, uint8_t *out);

#endif
