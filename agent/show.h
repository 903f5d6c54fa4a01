/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of others made safe and honest to show: what is shown is what is there, byte for byte. Pure. Process: agent.
 * Privilege: none.
 *
 * Controls, bidirectional and zero-width characters, blanks other than the space, unassigned and private characters are
 * shown as <U+202E>, bytes that are not UTF-8 as <0xFF>, long runs of spaces and of empty lines as <5000 spaces> and
 * <200 newlines>; a `<` that would look like one of these is shown as <U+003C>. So two different texts never look the
 * same, and show_back() gives the bytes again.
 */
#ifndef AK_AGENT_SHOW_H
#define AK_AGENT_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_buf;

#define SHOW_SPACES_MAX 16u   /* a longer run is counted */
#define SHOW_NEWLINES_MAX 4u  /* a longer run is counted */
#define SHOW_WIDTH_MIN 20u

enum show_flags {
	SHOW_LINE = 1 << 0, /* one line: newlines are shown as <U+000A> */
	/*
	 * Text that is read and not decided about, perhaps in pieces: tabs, combining marks, joiners and variation selectors are shown as
	 * they are, runs are not counted, and a `<` is only that. No law: show_back() is not for it.
	 */
	SHOW_PROSE = 1 << 1,
};

/* What a text holds that a reader should be told */
struct show_facts {
	size_t controls;   /* C0 (not newline), DEL, C1 */
	size_t bidi;	   /* bidirectional controls */
	size_t invisible;  /* zero-width, tag, variation selectors, other format characters */
	size_t blanks;	   /* blanks that are not the space, line separators */
	size_t bad_bytes;  /* not UTF-8 */
	size_t foreign;	   /* letters outside ASCII: one may look like a Latin one */
	size_t lines;
};

/**
 * show_text() - append @text as it may be printed; a failure latches in @out
 * @facts:	filled when not NULL
 */
void show_text(const char *text, size_t len, unsigned flags, struct ak_buf *out, struct show_facts *facts);

/** show_facts() - only count */
void show_facts(const char *text, size_t len, struct show_facts *ret);

/**
 * show_back() - the bytes that show_text() was given (no flags)
 * Return: 0; -EBADMSG for what show_text() does not write. Used by tests to hold the law above.
 */
int show_back(const char *shown, size_t len, struct ak_buf *out);

/**
 * show_frame() - append shown text in a frame: every line starts with "| ", and where it is longer than @width columns it goes
 * on behind "+ ", so that no text can end the frame or pretend to be outside of it
 * @shown:	what show_text() wrote
 * @width:	columns of the terminal; below SHOW_WIDTH_MIN counts as that
 * Return: lines written.
 */
size_t show_frame(const char *shown, size_t len, unsigned width, struct ak_buf *out);

/**
 * show_fold() - append the first and last lines of framed text with "... N more bytes ..." between them
 * Return: bytes left out; 0 when all of it has at most @max_lines lines.
 */
size_t show_fold(const char *framed, size_t len, size_t max_lines, struct ak_buf *out);

/** show_columns() - columns that shown text (one line) takes on a terminal */
size_t show_columns(const char *shown, size_t len);

#endif
