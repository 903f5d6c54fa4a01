/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server-sent events: bytes in, events out. Pure: no input or output of its own. Process: agent. Privilege: none.
 *
 * Lines end with LF, CRLF or CR; pieces may be cut anywhere. One byte order mark at the start is dropped, lines that
 * start with a colon are comments, one space behind a field's colon is dropped, several data lines are joined by LF, a
 * blank line ends an event, an event without a data line is dropped. id, retry and unknown fields mean nothing here.
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6.
 */
#ifndef AK_AGENT_SSE_H
#define AK_AGENT_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_buf.h"

struct ak_err;

#define SSE_EVENT_MAX (16u << 20) /* bytes of one event's data, and of one line */
#define SSE_NAME_MAX 256u	  /* bytes of an event's name */

/* Borrowed, valid during the call only; not NUL-terminated; not checked for UTF-8 (json_parse() does) */
struct sse_event {
	const char *name;	/* of the last "event:" line; length 0 when there was none */
	size_t name_len;
	const char *data;
	size_t data_len;
	char *scratch;	/* @data, where it lies in the parser's own memory and may be overwritten by the taker; else NULL */
	bool at_end;	/* no blank line came: the stream ended behind the data. Use it only if it parses */
};

/**
 * sse_fn() - takes one event
 * Return: 0 to go on; a negative errno ends sse_feed() with it, @err filled. The parser is not used further then.
 */
typedef int sse_fn(void *ctx, const struct sse_event *ev, struct ak_err *err);

/* Fields are private; { 0 } is not enough, use sse_init() */
struct sse {
	sse_fn *on_event;
	void *ctx;
	struct ak_buf line;	/* a line whose end has not come yet */
	struct ak_buf data;
	const char *only;	/* the only data line so far, not copied yet: in the piece being fed, or in @line */
	size_t only_len;
	bool only_held;		/* it is in @line */
	bool held;		/* the line that is looked at is in @line */
	const char *name;	/* where only is, or in @name_copy */
	size_t name_len;
	char name_copy[SSE_NAME_MAX];
	size_t max;
	uint64_t events;	/* handed out so far; may be read */
	uint64_t comments;	/* comment lines seen; may be read */
	unsigned bom;		/* bytes of a byte order mark seen at the start; 3: settled */
	bool has_data;
	bool skip_lf;		/* the last byte was CR: an LF now belongs to it */
	int failed;		/* latched negative errno */
};

/**
 * sse_init() - start of a stream
 * @max:	bytes of one event and of one line at most; 0: SSE_EVENT_MAX
 * @on_event:	called from sse_feed() and sse_end()
 */
void sse_init(struct sse *s, size_t max, sse_fn *on_event, void *ctx);
/** sse_release() - free what is held */
void sse_release(struct sse *s);

/**
 * sse_feed() - the next @n bytes, wherever they are cut
 * Takes time linear in all bytes fed; holds one event at most.
 * Return: 0; -EMSGSIZE (a line, an event or a name over its maximum); -ENOMEM; what on_event returned. Latched.
 */
int sse_feed(struct sse *s, const void *p, size_t n, struct ak_err *err);
/** sse_end() - the stream has ended: data without a blank line behind it is handed out with at_end. Return: as sse_feed(). */
int sse_end(struct sse *s, struct ak_err *err);

#endif
