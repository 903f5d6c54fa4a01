/* SPDX-License-Identifier: Apache-2.0 */
/* A label and its value, as the files of redact.h that read them share them. Process: agent. Privilege: none. */
#ifndef AK_AGENT_REDACT_VALUE_H
#define AK_AGENT_REDACT_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/redact_int.h"

#define REDACT_VALUE_MIN 12u	/* characters */
#define REDACT_VALUE_LOOK 1024u /* characters of a value that are looked at */
#define REDACT_BLANKS 16u	/* around an operator */

enum redact_label_kind {
	LABEL_NONE,
	LABEL_KEY,    /* key, token */
	LABEL_SECRET, /* secret, password: the value may be of several words */
	LABEL_AUTH,   /* Authorization */
};

/* How an assignment is written: decides what is taken for code */
struct redact_style {
	enum redact_label_kind label;
	bool colon;  /* label: value */
	bool tight;  /* nothing around the operator */
	bool config; /* alone on its line */
	bool loud;   /* label in capitals */
	bool compare; /* == */
	unsigned char outer; /* the quote right before the label: "Authorization: ..." */
	bool outer_escaped;
};

struct redact_value {
	size_t from;  /* offset of its first byte */
	size_t len;   /* bytes that were looked at */
	size_t chars;
	int next;     /* the byte behind it */
	bool whole;   /* it ends within what was looked at */
	unsigned char quote;
	bool escaped; /* the quote is written \" */
	bool blank;   /* white space in it */
	bool digit;
	bool lower;
	bool upper;
	bool camel;   /* a small letter and then a capital */
	bool name;    /* nothing but letters, digits, _ */
	bool format;  /* the quote is that of a text with holes: f"", $"" */
};

/* The byte @o of a value; REDACT_END behind it */
static inline int redact_value_at(const struct redact_view *v, const struct redact_value *val, size_t o)
{
	return o < val->len ? redact_at(v, val->from + o) : REDACT_END;
}

static inline int redact_to_lower(int c)
{
	return redact_upper(c) ? c + ('a' - 'A') : c;
}

/** redact_note() - one more byte belongs to the value; @prev: the one before it */
void redact_note(struct redact_value *val, int prev, int c);
/** redact_quoted_end() - a value in quotes ends at @c */
bool redact_quoted_end(const struct redact_value *val, int prev, int c);
/** redact_is_reference() - what is meant is somewhere else: $NAME, <name>, &name */
bool redact_is_reference(const struct redact_view *v, const struct redact_value *val);
/** redact_is_format() - a text with holes for other values */
bool redact_is_format(const struct redact_view *v, const struct redact_value *val);
/** redact_is_chain() - names joined by ., ->, ::, ?. and no digits */
bool redact_is_chain(const struct redact_view *v, const struct redact_value *val);
/** redact_secret() - the verdict on a value that is one */
enum redact_verdict redact_secret(const struct redact_value *val, enum redact_state kind, struct redact_hit *ret);

/** redact_plain() - a value without quotes at the offset @o */
enum redact_verdict redact_plain(const struct redact_view *v, const struct redact_style *s, size_t o, struct redact_hit *ret);
/** redact_quoted() - one in quotes; @val: the quote */
enum redact_verdict redact_quoted(const struct redact_view *v, const struct redact_style *s, size_t o, struct redact_value val,
				  struct redact_hit *ret);
/** redact_authorization() - that of an Authorization header, with or without quotes */
enum redact_verdict redact_authorization(const struct redact_view *v, size_t o, struct redact_value val, struct redact_hit *ret);

#endif
