/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of redact.h share: a look at the text around one byte, and what a rule says about it. Process: agent. */
#ifndef AK_AGENT_REDACT_INT_H
#define AK_AGENT_REDACT_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/redact.h"

/* How the rest of a secret is dropped, once it is clear that it is one */
enum redact_state {
	REDACT_TEXT,	/* nothing is dropped */
	REDACT_WORD,	/* letters, digits, _ */
	REDACT_DASHED,	/* the same and - */
	REDACT_CAPITAL,	/* capitals and digits */
	REDACT_PLAIN,	/* up to what ends a value without quotes */
	REDACT_SPACE,	/* up to white space or a quote */
	REDACT_QUOTED,	/* up to the closing quote or the end of the line */
	REDACT_LINE,	/* up to the end of the line or any quote */
	REDACT_BASE64,	/* base64 */
	REDACT_PEM,	/* lines of a key */
	REDACT_STATES,
};

enum redact_verdict {
	REDACT_NO,
	REDACT_MORE,	/* not clear before more of the text is there */
	REDACT_YES,
};

#define REDACT_END (-1)	 /* the text is over */
#define REDACT_NEED (-2) /* more may follow */

/**
 * struct redact_view - the text around the byte at @i
 * @p, @n:	what is there
 * @start:	first byte that was not written yet; the bytes before it are in @tail, as they were written
 * @last:	nothing follows behind @n
 */
struct redact_view {
	const unsigned char *p;
	size_t n;
	size_t i;
	size_t start;
	const char *tail;
	size_t tail_len;
	bool last;
};

/* @keep bytes stay, the @drop bytes behind them become the mark, and @next says what else is dropped */
struct redact_hit {
	size_t keep;
	size_t drop;
	enum redact_state next;
	unsigned char quote;
	bool escaped;
};

/* The byte @o behind the one at @i, REDACT_END, or REDACT_NEED */
static inline int redact_at(const struct redact_view *v, size_t o)
{
	return v->i + o < v->n ? v->p[v->i + o] : v->last ? REDACT_END : REDACT_NEED;
}

/* The byte @k before the one at @i; 0: there is none, or it is too far away */
static inline unsigned char redact_back(const struct redact_view *v, size_t k)
{
	size_t here = v->i - v->start;

	/* never further than what is kept for certain: how the text was cut must not matter */
	if (k > REDACT_TAIL)
		return 0;
	if (k <= here)
		return v->p[v->i - k];
	k -= here;
	return k <= v->tail_len ? (unsigned char)v->tail[v->tail_len - k] : 0;
}

static inline bool redact_lower(int c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool redact_upper(int c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool redact_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool redact_alnum(int c)
{
	return redact_lower(c) || redact_upper(c) || redact_digit(c);
}

static inline bool redact_word(int c)
{
	return redact_alnum(c) || c == '_';
}

static inline bool redact_quote(int c)
{
	return c == '"' || c == '\'' || c == '`';
}

static inline bool redact_blank(int c)
{
	return c == ' ' || c == '\t';
}

/** redact_shape() - a token by its shape starts at this byte */
enum redact_verdict redact_shape(const struct redact_view *v, struct redact_hit *ret);
/** redact_label() - this byte is the = or : of a labelled value */
enum redact_verdict redact_label(const struct redact_view *v, struct redact_hit *ret);
/** redact_pem_begin() - a private key starts at this byte */
enum redact_verdict redact_pem_begin(const struct redact_view *v, struct redact_hit *ret);
/** redact_pem_line() - within a key: how much of what starts here belongs to it; 0: it is over. *@ret_end: its END is in there */
enum redact_verdict redact_pem_line(const struct redact_view *v, size_t *ret_len, bool *ret_end);

/**
 * redact_body_line() - a line starts at this byte: of a key whose BEGIN line is missing? *@ret_behind: how many bytes of it stand in
 * front of the key. @b is only changed when that is clear
 */
enum redact_verdict redact_body_line(const struct redact_view *v, struct redact_body *b, size_t *ret_behind);
/** redact_body_start() - the first bytes of a private key in base64 are here */
enum redact_verdict redact_body_start(const struct redact_view *v, struct redact_hit *ret);

#endif
