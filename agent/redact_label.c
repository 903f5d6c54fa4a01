/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labelled values: what stands before = or :, and where the value behind it starts. Pure. Process: agent. Privilege: none.
 *
 * The label is read backwards from the operator, so it has been written already; only the value is held back.
 */
#include "agent/redact_int.h"

#include <string.h>

#include "agent/redact_value.h"

#define TYPE_MAX 48u /* of an annotation: "token: Optional[str] = ..." */

/* Does @word end at the byte @k before the operator? Any case. */
static bool ends(const struct redact_view *v, size_t k, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len; i++) {
		if (redact_to_lower(redact_back(v, k + i)) != (unsigned char)word[len - 1 - i])
			return false;
	}
	return true;
}

/* "key" as a word of its own, not the end of "monkey": behind no letter, as apiKey, or behind one of these */
static bool key_word(const struct redact_view *v, size_t k)
{
	static const char *const before[] = {
		"api", "secret", "private", "access", "auth", "master", "ssh", "encryption", "signing", "account", "storage",
	};
	unsigned char c = redact_back(v, k + 3);

	if (!redact_lower(c) && !redact_upper(c))
		return true;
	if (redact_lower(c) && redact_back(v, k + 2) == 'K')
		return true;
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		if (ends(v, k + 3, before[i]))
			return true;
	}
	return false;
}

static enum redact_label_kind label_word(const struct redact_view *v, size_t k)
{
	if (ends(v, k, "password") || ends(v, k, "secret"))
		return LABEL_SECRET;
	if (ends(v, k, "token") || (ends(v, k, "key") && key_word(v, k)))
		return LABEL_KEY;
	return ends(v, k, "authorization") ? LABEL_AUTH : LABEL_NONE;
}

static size_t skip_blanks_back(const struct redact_view *v, size_t k)
{
	for (size_t n = 0; n < REDACT_BLANKS && redact_blank(redact_back(v, k)); n++)
		k++;
	return k;
}

/* Brackets and quotes between a label and its operator: password[32], env["KEY"], \"key\" */
static size_t skip_marks_back(const struct redact_view *v, size_t k)
{
	if (redact_back(v, k) == ']') {
		k++;
		while (redact_digit(redact_back(v, k)))
			k++;
		if (redact_back(v, k) == '[')
			k++;
	}
	if (redact_quote(redact_back(v, k)))
		k++;
	while (redact_back(v, k) == '\\')
		k++;
	return k;
}

/* Is the label the first of its line, but for blanks and words that shells and lists put there? */
static bool first_of_line(const struct redact_view *v, size_t k)
{
	static const char *const words[] = { "export", "set", "setenv", "declare -x", "env", "-", "+" };

	for (;;) {
		bool again = false;

		k = skip_blanks_back(v, k);
		if (redact_back(v, k) == '\n' || redact_back(v, k) == 0)
			return true;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !again; i++) {
			again = ends(v, k, words[i]);
			k += again ? strlen(words[i]) : 0;
		}
		if (!again)
			return false;
	}
}

/* What stands before the operator */
static struct redact_style read_label(const struct redact_view *v)
{
	struct redact_style s = { .colon = v->p[v->i] == ':' };
	unsigned char c = redact_back(v, 1);
	size_t k = 1;
	size_t from;
	bool marked; /* the label itself is quoted */

	/* ?=, +=, := */
	if (!s.colon && (c == '?' || c == '+' || c == ':'))
		k++;
	s.tight = !redact_blank(redact_back(v, k));
	k = skip_blanks_back(v, k);
	from = k;
	k = skip_marks_back(v, k);
	marked = k > from;
	s.label = label_word(v, k);
	if (s.label == LABEL_NONE)
		return s;
	s.loud = redact_upper(redact_back(v, k));
	while (redact_word(redact_back(v, k)) || redact_back(v, k) == '-' || redact_back(v, k) == '.') {
		s.loud = s.loud && !redact_lower(redact_back(v, k));
		k++;
	}
	if (redact_quote(redact_back(v, k))) {
		s.outer = marked ? 0 : redact_back(v, k);
		k++;
		s.outer_escaped = redact_back(v, k) == '\\';
	}
	s.config = first_of_line(v, k);
	return s;
}

/* --- the operator and what is between it and the value --- */

/* Skips blanks. The byte behind them, or REDACT_NEED */
static int skip_blanks(const struct redact_view *v, size_t *o)
{
	int c = redact_at(v, *o);

	for (size_t n = 0; n < REDACT_BLANKS && redact_blank(c); n++)
		c = redact_at(v, ++*o);
	return c;
}

/* Behind the operator: =, ==, ===, =>, :, := . 0: it is another one; -1: not clear yet */
static int operator_len(const struct redact_view *v)
{
	bool colon = v->p[v->i] == ':';
	int c = redact_at(v, 1);
	int d;

	if (c == REDACT_NEED)
		return -1;
	if (colon)
		return c == '=' ? 2 : c == ':' || c == '-' || c == '+' || c == '?' ? 0 : 1; /* Key::new, ${KEY:-x} */
	if (c == '>')
		return 2;
	if (c != '=')
		return c == '~' ? 0 : 1;
	d = redact_at(v, 2);
	return d == REDACT_NEED ? -1 : d == '=' ? 3 : 2;
}

/* An opening quote at *@o, with what may stand before it: b"", f"", \", """. Its byte, 0: none, REDACT_NEED */
static int open_quote(const struct redact_view *v, size_t *o, struct redact_value *val)
{
	size_t at = *o;
	int c = redact_at(v, at);

	for (unsigned n = 0; n < 2 && (redact_lower(c) || redact_upper(c) || c == '@' || c == '$'); n++) {
		val->format = val->format || redact_to_lower(c) == 'f' || c == '$';
		c = redact_at(v, ++at);
	}
	for (; c == '\\' && at < *o + 4; c = redact_at(v, ++at))
		val->escaped = true;
	if (c == REDACT_NEED)
		return c;
	if (!redact_quote(c)) {
		*val = (struct redact_value){ 0 };
		return 0;
	}
	if (!val->escaped) {
		int d = redact_at(v, at + 1);
		int e = redact_at(v, at + 2);

		if (d == REDACT_NEED || (d == c && e == REDACT_NEED))
			return REDACT_NEED;
		at += d == c && e == c ? 2 : 0;
	}
	val->quote = (unsigned char)c;
	*o = at + 1;
	return c;
}

/* "token: Optional[str] = ": moves *@o behind the annotation. REDACT_NO: there is none */
static enum redact_verdict skip_type(const struct redact_view *v, size_t *o)
{
	for (size_t at = *o; at < *o + TYPE_MAX; at++) {
		int c = redact_at(v, at);

		if (c == REDACT_NEED)
			return REDACT_MORE;
		if (c == '=' && at > *o && redact_at(v, at + 1) != '>') {
			*o = at + 1;
			return REDACT_YES;
		}
		if (!redact_word(c) && c != ' ' && (c <= 0 || !strchr(".[]<>|&*'", c)))
			return REDACT_NO;
	}
	return REDACT_NO;
}

/* Where the value starts behind an operator of @len bytes; moves *@o there */
static enum redact_verdict find_value(const struct redact_view *v, const struct redact_style *s, size_t *o)
{
	size_t from = *o;
	enum redact_verdict typed;

	if (skip_blanks(v, o) == REDACT_NEED)
		return REDACT_MORE;
	if (s->label == LABEL_AUTH || !s->colon)
		return REDACT_YES;
	from = *o;
	typed = skip_type(v, &from);
	if (typed == REDACT_MORE || (typed == REDACT_YES && skip_blanks(v, &from) == REDACT_NEED))
		return REDACT_MORE;
	if (typed == REDACT_YES && redact_quote(redact_at(v, from)))
		*o = from;
	return REDACT_YES;
}

enum redact_verdict redact_label(const struct redact_view *v, struct redact_hit *ret)
{
	struct redact_style s = read_label(v);
	int len = s.label == LABEL_NONE ? 0 : operator_len(v);
	size_t o = (size_t)(len > 0 ? len : 0);
	struct redact_value val = { 0 };
	int c;

	if (len <= 0)
		return len < 0 ? REDACT_MORE : REDACT_NO;
	s.colon = s.colon && len == 1;
	s.compare = v->p[v->i] == '=' && len > 1 && redact_at(v, 1) == '=';
	if (find_value(v, &s, &o) == REDACT_MORE)
		return REDACT_MORE;
	s.tight = s.tight && o == (size_t)len;
	c = open_quote(v, &o, &val);
	if (c == REDACT_NEED)
		return REDACT_MORE;
	if (s.label == LABEL_AUTH) {
		if (!val.quote && s.outer) {
			val.quote = s.outer;
			val.escaped = s.outer_escaped;
		}
		return redact_authorization(v, o, val, ret);
	}
	return val.quote ? redact_quoted(v, &s, o, val, ret) : redact_plain(v, &s, o, ret);
}
