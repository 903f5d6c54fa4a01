/* SPDX-License-Identifier: Apache-2.0 */
/* Values of labels: secrets, or code and prose. Pure. Process: agent. Privilege: none. */
#include "agent/redact_value.h"

#include <string.h>


void redact_note(struct redact_value *val, int prev, int c)
{
	val->chars += (c & 0xc0) != 0x80;
	val->blank = val->blank || redact_blank(c);
	val->digit = val->digit || redact_digit(c);
	val->lower = val->lower || redact_lower(c);
	val->upper = val->upper || redact_upper(c);
	val->camel = val->camel || (redact_lower(prev) && redact_upper(c));
	val->name = val->name && redact_word(c);
	val->len++;
}

bool redact_quoted_end(const struct redact_value *val, int prev, int c)
{
	if (c == '\n' || c == REDACT_END)
		return true;
	return val->escaped ? c == '\\' : c == val->quote && prev != '\\';
}

static bool plain_end(int c)
{
	return c <= ' ' || c == 0x7f || redact_quote(c) || strchr(",;(){}[]<>|&\\", c) != NULL;
}

static bool space_end(int c)
{
	return c <= ' ' || redact_quote(c);
}

static bool value_ends(enum redact_state kind, const struct redact_value *val, int prev, int c)
{
	if (kind == REDACT_QUOTED)
		return redact_quoted_end(val, prev, c);
	return kind == REDACT_SPACE ? space_end(c) : plain_end(c) && !(c == '>' && prev == '-');
}

/* The value from @from on. false: not all of it is there yet */
static bool read_value(const struct redact_view *v, enum redact_state kind, size_t from, struct redact_value *val)
{
	int prev = 0;

	val->from = from;
	val->name = true;
	while (val->len < REDACT_VALUE_LOOK) {
		int c = redact_at(v, from + val->len);

		if (c == REDACT_NEED)
			return false;
		if (value_ends(kind, val, prev, c)) {
			val->next = c;
			val->whole = true;
			return true;
		}
		redact_note(val, prev, c);
		/* a pair of backslashes is no escape */
		prev = prev == '\\' && c == '\\' ? 0 : c;
	}
	return true;
}

static bool value_starts(const struct redact_view *v, const struct redact_value *val, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (redact_value_at(v, val, i) != (unsigned char)text[i])
			return false;
	}
	return true;
}

/* $NAME, ${NAME}, $(cmd), {{ name }}, <name>, %(name)s, and in code &name, *name: what is meant is somewhere else */
bool redact_is_reference(const struct redact_view *v, const struct redact_value *val)
{
	int c = redact_value_at(v, val, 0);
	int d = redact_value_at(v, val, 1);
	bool name = redact_lower(d) || redact_upper(d) || d == '_';

	/* without quotes, braces end a value */
	if (c == REDACT_END || (c == '$' && val->len == 1))
		return val->next == '{' || val->next == '<' || (c == '$' && val->next == '(');
	if (c == '$')
		return d == '{' || d == '(' || (name && (!val->digit || !val->lower));
	if (!val->quote && (c == '&' || c == '*' || c == '!'))
		return name && !val->digit;
	return c == '<' || (c == '%' && d == '(') || (c == '{' && d == '{');
}

/* A text with holes for other values: "${HOST}-{{ name }}", f"{prefix}-{n}" */
bool redact_is_format(const struct redact_view *v, const struct redact_value *val)
{
	int prev = 0;

	for (size_t i = 0; i < val->len; i++) {
		int c = redact_value_at(v, val, i);

		if (c == '{' && (val->format || prev == '$' || prev == '{' || prev == '#' || prev == '%'))
			return true;
		if (c == '}' && prev == '{')
			return true;
		prev = c;
	}
	return false;
}

/* Names joined by ., ->, ::, ?. */
static bool is_path(const struct redact_view *v, const struct redact_value *val)
{
	bool joint = true;

	for (size_t i = 0; i < val->len;) {
		int c = redact_value_at(v, val, i);
		int d = redact_value_at(v, val, i + 1);

		if (redact_word(c)) {
			joint = false;
			i++;
			continue;
		}
		if (joint)
			return false;
		joint = true;
		if (c == '.')
			i++;
		else if ((c == '-' && d == '>') || (c == ':' && d == ':') || (c == '?' && d == '.'))
			i += 2;
		else
			return false;
	}
	return true;
}

/* The same, and no digits in it: no random text */
bool redact_is_chain(const struct redact_view *v, const struct redact_value *val)
{
	return !val->digit && is_path(v, val);
}

/* A file name or an address without a password. Base64 may begin with / as well, but holds capitals, and no point. */
static bool is_place(const struct redact_view *v, const struct redact_value *val)
{
	bool dot = false;
	bool hidden = false; /* what may be a secret within an address */
	size_t slashes = 0;

	for (size_t i = 0; i < val->len; i++) {
		int c = redact_value_at(v, val, i);

		dot = dot || c == '.';
		slashes += c == '/';
		hidden = hidden || c == '@' || c == '?' || c == '=' || c == '+';
	}
	if (hidden || !val->whole)
		return false;
	if (value_starts(v, val, "https://") || value_starts(v, val, "http://"))
		return true;
	if (!value_starts(v, val, "/") && !value_starts(v, val, "./") && !value_starts(v, val, "../") && !value_starts(v, val, "~/"))
		return false;
	return dot || (slashes > 1 && !val->upper);
}

/* The first byte behind the value and blanks; '\n' at the end of the line */
static int behind(const struct redact_view *v, const struct redact_value *val)
{
	size_t o = val->from + val->len;
	int c = redact_at(v, o);

	for (size_t n = 0; n < REDACT_BLANKS && redact_blank(c); n++)
		c = redact_at(v, ++o);
	return c == REDACT_END || c == '\r' || c == '\n' ? '\n' : c;
}

/* Names of several words, such as sha256_digest_value, lib.NID_aes_256_cbc: no part is long, none has digits in two places */
static bool is_words(const struct redact_view *v, const struct redact_value *val)
{
	size_t part = 0;
	size_t digits = 0;
	size_t parts = 1;
	bool over = false; /* there were digits, and something behind them */

	for (size_t i = 0; i < val->len; i++) {
		int c = redact_value_at(v, val, i);

		if (c == '_' || !redact_word(c)) {
			parts += part > 0;
			part = digits = 0;
			over = false;
			continue;
		}
		if (redact_digit(c) && (over || ++digits > 3))
			return false;
		over = over || (digits > 0 && !redact_digit(c));
		if (++part > 20)
			return false;
	}
	return parts > 1 && is_path(v, val);
}

/* A colon at its end is no part of a value: "if token == NAME:" */
static void trim(const struct redact_view *v, struct redact_value *val)
{
	if (!val->whole || val->len == 0 || redact_value_at(v, val, val->len - 1) != ':')
		return;
	val->len--;
	val->chars--;
	val->next = ':';
	val->name = true;
	for (size_t i = 0; i < val->len; i++)
		val->name = val->name && redact_word(redact_value_at(v, val, i));
}

static bool opens(int c)
{
	return c == '(' || c == '[' || c == '{' || c == '<';
}

/* A value without quotes that is code, or prose. @next: what stands behind it, see behind() */
static bool is_code(const struct redact_view *v, const struct redact_style *s, const struct redact_value *val, int next)
{
	bool ended = next == ';' || next == ',' || next == ')' || next == '}' || next == ']';
	bool alone = next == '\n' || next == '#';
	bool words = val->name && (val->camel || memchr(v->p + v->i + val->from, '_', val->len) != NULL);

	if (val->digit)
		return is_words(v, val) && (!s->tight || (ended && !s->loud));
	if (!val->name)
		return redact_is_chain(v, val) || (s->colon && !s->config && !alone);
	if (ended)
		return !(s->tight && s->loud);
	if (s->tight && !s->colon)
		return false;
	/* YAML's "password: some_words" is a line of its own */
	if (words && !(s->colon && s->config && !val->camel && alone))
		return true;
	return !alone && !redact_quote(next);
}

enum redact_verdict redact_secret(const struct redact_value *val, enum redact_state kind, struct redact_hit *ret)
{
	*ret = (struct redact_hit){ .keep = val->from, .drop = val->len, .next = val->whole ? REDACT_TEXT : kind,
				    .quote = val->quote, .escaped = val->escaped };
	return REDACT_YES;
}

/* foo(, foo->bar[, list<: a call and its like. In capitals (PASSWORD=a(b) it is more likely none. */
static bool is_call(const struct redact_view *v, const struct redact_style *s, const struct redact_value *val)
{
	return opens(val->next) && !(s->tight && s->loud) && (val->name || is_path(v, val));
}

enum redact_verdict redact_plain(const struct redact_view *v, const struct redact_style *s, size_t o, struct redact_hit *ret)
{
	bool line = s->tight && s->config && !s->colon;
	struct redact_value val = { 0 };
	struct redact_value all = { 0 };
	int next;

	if (!read_value(v, REDACT_PLAIN, o, &val))
		return REDACT_MORE;
	trim(v, &val);
	next = val.whole ? behind(v, &val) : 'x';
	if (next == REDACT_NEED)
		return REDACT_MORE;
	if (val.whole && is_call(v, s, &val))
		return REDACT_NO;
	if (redact_is_reference(v, &val) || is_place(v, &val))
		return REDACT_NO;
	if (val.chars >= REDACT_VALUE_MIN) {
		if (val.whole && is_code(v, s, &val, next))
			return REDACT_NO;
		if (!line)
			return redact_secret(&val, REDACT_PLAIN, ret);
	}
	/* alone on its line, as in an environment file, the value goes on to the next blank, whatever is in it */
	if (!line)
		return REDACT_NO;
	if (!read_value(v, REDACT_SPACE, o, &all))
		return REDACT_MORE;
	return all.chars >= REDACT_VALUE_MIN && !redact_is_reference(v, &all) ? redact_secret(&all, REDACT_SPACE, ret) : REDACT_NO;
}

/* The quote was the closing one: f("Password: ", x) */
static bool is_closing(const struct redact_view *v, const struct redact_value *val)
{
	int c = redact_value_at(v, val, 0);
	int d = redact_value_at(v, val, 1);

	return c == ',' || c == ';' || c == ')' || ((redact_blank(c) || c == '+' || c == '%' || c == '.') && redact_blank(d));
}

enum redact_verdict redact_quoted(const struct redact_view *v, const struct redact_style *s, size_t o, struct redact_value val,
				  struct redact_hit *ret)
{

	if (!read_value(v, REDACT_QUOTED, o, &val))
		return REDACT_MORE;
	if (val.chars < REDACT_VALUE_MIN || redact_is_reference(v, &val) || is_place(v, &val) || redact_is_format(v, &val))
		return REDACT_NO;
	if ((s->compare && !val.digit) || is_closing(v, &val))
		return REDACT_NO;
	if (val.blank && (s->label != LABEL_SECRET || !val.whole))
		return REDACT_NO;
	return redact_secret(&val, REDACT_QUOTED, ret);
}

