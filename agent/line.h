/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines typed by a person, edited on the terminal (libedit). The terminal is in its editing mode only while a line is read: at all
 * other times it is as it was found, so that Ctrl-C and Ctrl-Z are signals then. Process: agent. Privilege: none.
 *
 * While a line is read the terminal makes no signals of keys: Ctrl-C drops what was typed, Ctrl-Z stops us with the terminal as it was
 * found (ak, our parent, sees that and stops, too), Ctrl-D in an empty line ends the input. A paste (bracketed paste) is part of the line,
 * whatever is in it. Everything of libedit's that opens a file happens in line_open().
 */
#ifndef AK_AGENT_LINE_H
#define AK_AGENT_LINE_H

#include <stddef.h>

struct ak_buf;
struct ak_err;
struct cancel;
struct line;

#define LINE_MAX_BYTES (10u << 20)  /* of one message */
#define LINE_HISTORY 1000	    /* entries */
#define LINE_PASTE_END_MS 2000	    /* of silence end a paste whose own end does not come */

enum line_end {
	LINE_TEXT,	/* a message */
	LINE_EOF,	/* Ctrl-D, or Ctrl-C with nothing typed */
	LINE_CANCELLED, /* @ret_signal */
	LINE_GONE,	/* the terminal is gone */
	LINE_MEMORY,	/* there is none */
};

/**
 * line_open() - make ready; standard input, output and error are a terminal
 * @cancel:	borrowed; SIGINT that comes by it drops the line, anything else ends the reading
 * Sets the locale's characters to UTF-8, and blocks SIGWINCH and SIGCONT, which are taken as a descriptor.
 * Return: 0; -ENOTTY; -ENOMEM; errno of signalfd(2).
 */
int line_open(const struct cancel *cancel, struct line **ret, struct ak_err *err);
/** line_close() - free it, the terminal as it was found. NULL does nothing. */
void line_close(struct line *l);

/** line_remember() - an entry for the keys that go back. Return: 0, -ENOMEM. */
int line_remember(struct line *l, const char *text);

/**
 * line_read() - one message: a line, and those after it where a backslash at the end says that it goes on
 * @prompt:	borrowed
 * @out:	appended to
 * @ret_signal:	with LINE_CANCELLED: as cancel_take()
 */
enum line_end line_read(struct line *l, const char *prompt, struct ak_buf *out, int *ret_signal);

#endif
