/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labelled values: what stands before = or :, what stands behind it, and whether that is a secret or code. Pure. Process:
 * agent. Privilege: none.
 *
 * The label is read backwards from the operator, so it has been written already; only the value is held back.
 */
#include "agent/redact_int.h"

#include <string.h>

#define VALUE_MIN 12u
#define LOOK 1024u   /* characters of a value that are looked at */
#define BLANKS 16u   /* around an operator */
#define TYPE_MAX 48u /* of an annotation: "token: Optional[str] = ..." */

enum label {
	LABEL_NONE,
	LABEL_KEY,    /* key, token */
	LABEL_SECRET, /* secret, password: the value may be of several words */
	LABEL_AUTH,   /* Authorization */
};

/* How an assignment is written: decides what is taken for code */
struct style {
	enum label label;
	bool colon;  /* label: value */
	bool tight;  /* nothing around the operator */
	bool config; /* alone on its line */
	bool loud;   /* label in capitals */
	bool compare; /* == */
	unsigned char outer; /* the quote right before the label: "Authorization: ..." */
	bool outer_escaped;
};

static int lower(int c)
{
	return redact_upper(c) ? c + ('a' - 'A') : c;
}

/* Does @word end at the byte @k before the operator? Any case. */
static bool ends(const struct redact_view *v, size_t k, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i < len; i++) {
		if (lower(redact_back(v, k + i)) != (unsigned char)word[len - 1 - i])
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

static enum label label_word(const struct redact_view *v, size_t k)
{
	if (ends(v, k, "password") || ends(v, k, "secret"))
		return LABEL_SECRET;
	if (ends(v, k, "token") || (ends(v, k, "key") && key_word(v, k)))
		return LABEL_KEY;
	return ends(v, k, "authorization") ? LABEL_AUTH : LABEL_NONE;
}

static size_t skip_blanks_back(const struct redact_view *v, size_t k)
{
	for (size_t n = 0; n < BLANKS && redact_blank(redact_back(v, k)); n++)
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
static struct style read_label(const struct redact_view *v)
{
	struct style s = { .colon = v->p[v->i] == ':' };
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

/* --- the value --- */

struct value {
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

static void note(struct value *val, int prev, int c)
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

static bool quoted_end(const struct value *val, int prev, int c)
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

static bool value_ends(enum redact_state kind, const struct value *val, int prev, int c)
{
	if (kind == REDACT_QUOTED)
		return quoted_end(val, prev, c);
	return kind == REDACT_SPACE ? space_end(c) : plain_end(c) && !(c == '>' && prev == '-');
}

/* The value from @from on. false: not all of it is there yet */
static bool read_value(const struct redact_view *v, enum redact_state kind, size_t from, struct value *val)
{
	int prev = 0;

	val->from = from;
	val->name = true;
	while (val->len < LOOK) {
		int c = redact_at(v, from + val->len);

		if (c == REDACT_NEED)
			return false;
		if (value_ends(kind, val, prev, c)) {
			val->next = c;
			val->whole = true;
			return true;
		}
		note(val, prev, c);
		/* a pair of backslashes is no escape */
		prev = prev == '\\' && c == '\\' ? 0 : c;
	}
	return true;
}

static int value_at(const struct redact_view *v, const struct value *val, size_t o)
{
	return o < val->len ? redact_at(v, val->from + o) : REDACT_END;
}

static bool value_starts(const struct redact_view *v, const struct value *val, const char *text)
{
	for (size_t i = 0; text[i]; i++) {
		if (value_at(v, val, i) != (unsigned char)text[i])
			return false;
	}
	return true;
}

/* $NAME, ${NAME}, $(cmd), {{ name }}, <name>, %(name)s, and in code &name, *name: what is meant is somewhere else */
static bool is_reference(const struct redact_view *v, const struct value *val)
{
	int c = value_at(v, val, 0);
	int d = value_at(v, val, 1);
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
static bool is_format(const struct redact_view *v, const struct value *val)
{
	int prev = 0;

	for (size_t i = 0; i < val->len; i++) {
		int c = value_at(v, val, i);

		if (c == '{' && (val->format || prev == '$' || prev == '{' || prev == '#' || prev == '%'))
			return true;
		if (c == '}' && prev == '{')
			return true;
		prev = c;
	}
	return false;
}

/* Names joined by ., ->, ::, ?. */
static bool is_path(const struct redact_view *v, const struct value *val)
{
	bool joint = true;

	for (size_t i = 0; i < val->len;) {
		int c = value_at(v, val, i);
		int d = value_at(v, val, i + 1);

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
static bool is_chain(const struct redact_view *v, const struct value *val)
{
	return !val->digit && is_path(v, val);
}

/* A file name or an address without a password. Base64 may begin with / as well, but holds capitals, and no point. */
static bool is_place(const struct redact_view *v, const struct value *val)
{
	bool dot = false;
	bool hidden = false; /* what may be a secret within an address */
	size_t slashes = 0;

	for (size_t i = 0; i < val->len; i++) {
		int c = value_at(v, val, i);

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
static int behind(const struct redact_view *v, const struct value *val)
{
	size_t o = val->from + val->len;
	int c = redact_at(v, o);

	for (size_t n = 0; n < BLANKS && redact_blank(c); n++)
		c = redact_at(v, ++o);
	return c == REDACT_END || c == '\r' || c == '\n' ? '\n' : c;
}

/* Names of several words, such as sha256_digest_value, lib.NID_aes_256_cbc: no part is long, none has digits in two places */
static bool is_words(const struct redact_view *v, const struct value *val)
{
	size_t part = 0;
	size_t digits = 0;
	size_t parts = 1;
	bool over = false; /* there were digits, and something behind them */

	for (size_t i = 0; i < val->len; i++) {
		int c = value_at(v, val, i);

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
static void trim(const struct redact_view *v, struct value *val)
{
	if (!val->whole || val->len == 0 || value_at(v, val, val->len - 1) != ':')
		return;
	val->len--;
	val->chars--;
	val->next = ':';
	val->name = true;
	for (size_t i = 0; i < val->len; i++)
		val->name = val->name && redact_word(value_at(v, val, i));
}

static bool opens(int c)
{
	return c == '(' || c == '[' || c == '{' || c == '<';
}

/* A value without quotes that is code, or prose. @next: what stands behind it, see behind() */
static bool is_code(const struct redact_view *v, const struct style *s, const struct value *val, int next)
{
	bool ended = next == ';' || next == ',' || next == ')' || next == '}' || next == ']';
	bool alone = next == '\n' || next == '#';
	bool words = val->name && (val->camel || memchr(v->p + v->i + val->from, '_', val->len) != NULL);

	if (val->digit)
		return is_words(v, val) && (!s->tight || (ended && !s->loud));
	if (!val->name)
		return is_chain(v, val) || (s->colon && !s->config && !alone);
	if (ended)
		return !(s->tight && s->loud);
	if (s->tight && !s->colon)
		return false;
	/* YAML's "password: some_words" is a line of its own */
	if (words && !(s->colon && s->config && !val->camel && alone))
		return true;
	return !alone && !redact_quote(next);
}

static enum redact_verdict secret(const struct value *val, enum redact_state kind, struct redact_hit *ret)
{
	*ret = (struct redact_hit){ .keep = val->from, .drop = val->len, .next = val->whole ? REDACT_TEXT : kind,
				    .quote = val->quote, .escaped = val->escaped };
	return REDACT_YES;
}

/* foo(, foo->bar[, list<: a call and its like. In capitals (PASSWORD=a(b) it is more likely none. */
static bool is_call(const struct redact_view *v, const struct style *s, const struct value *val)
{
	return opens(val->next) && !(s->tight && s->loud) && (val->name || is_path(v, val));
}

static enum redact_verdict plain(const struct redact_view *v, const struct style *s, size_t o, struct redact_hit *ret)
{
	bool line = s->tight && s->config && !s->colon;
	struct value val = { 0 };
	struct value all = { 0 };
	int next;

	if (!read_value(v, REDACT_PLAIN, o, &val))
		return REDACT_MORE;
	trim(v, &val);
	next = val.whole ? behind(v, &val) : 'x';
	if (next == REDACT_NEED)
		return REDACT_MORE;
	if (val.whole && is_call(v, s, &val))
		return REDACT_NO;
	if (is_reference(v, &val) || is_place(v, &val))
		return REDACT_NO;
	if (val.chars >= VALUE_MIN) {
		if (val.whole && is_code(v, s, &val, next))
			return REDACT_NO;
		if (!line)
			return secret(&val, REDACT_PLAIN, ret);
	}
	/* alone on its line, as in an environment file, the value goes on to the next blank, whatever is in it */
	if (!line)
		return REDACT_NO;
	if (!read_value(v, REDACT_SPACE, o, &all))
		return REDACT_MORE;
	return all.chars >= VALUE_MIN && !is_reference(v, &all) ? secret(&all, REDACT_SPACE, ret) : REDACT_NO;
}

/* The quote was the closing one: f("Password: ", x) */
static bool is_closing(const struct redact_view *v, const struct value *val)
{
	int c = value_at(v, val, 0);
	int d = value_at(v, val, 1);

	return c == ',' || c == ';' || c == ')' || ((redact_blank(c) || c == '+' || c == '%' || c == '.') && redact_blank(d));
}

static enum redact_verdict quoted(const struct redact_view *v, const struct style *s, size_t o, struct value val,
				  struct redact_hit *ret)
{

	if (!read_value(v, REDACT_QUOTED, o, &val))
		return REDACT_MORE;
	if (val.chars < VALUE_MIN || is_reference(v, &val) || is_place(v, &val) || is_format(v, &val))
		return REDACT_NO;
	if ((s->compare && !val.digit) || is_closing(v, &val))
		return REDACT_NO;
	if (val.blank && (s->label != LABEL_SECRET || !val.whole))
		return REDACT_NO;
	return secret(&val, REDACT_QUOTED, ret);
}

/* --- Authorization --- */

static bool credential_char(int c)
{
	return redact_word(c) || (c > 0 && strchr("-.~+/=:", c) != NULL);
}

static bool is_scheme(const struct redact_view *v, const struct value *val, size_t len)
{
	static const char *const names[] = { "bearer", "basic", "token", "digest", "apikey", "negotiate", "ntlm", "jwt", "hawk", "key" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = 0;

		while (names[i][n] && lower(value_at(v, val, n)) == (unsigned char)names[i][n])
			n++;
		if (!names[i][n] && n == len)
			return true;
	}
	return false;
}

/* Letters only */
static bool is_one_word(const struct redact_view *v, const struct value *val)
{
	for (size_t i = 0; i < val->len; i++) {
		int c = value_at(v, val, i);

		if (!redact_lower(c) && !redact_upper(c))
			return false;
	}
	return true;
}

/*
 * One word that is no name of code, a scheme and one word, or a word with a digit that is long enough. "Bearer " + token,
 * Bearer ${TOKEN}, names of types and prose are none of these.
 */
static bool is_credential(const struct redact_view *v, const struct value *val)
{
	size_t word = 0, words = 0, first = 0, second = 0;
	struct value one = *val;
	bool digit = false;

	for (size_t i = 0; i <= val->len; i++) {
		int c = value_at(v, val, i);

		if (credential_char(c)) {
			digit = digit || redact_digit(c);
			word++;
			continue;
		}
		if (word >= VALUE_MIN && digit)
			return true;
		if (word > 0) {
			first = words == 0 ? word : first;
			second = words == 1 ? word : second;
			words++;
		}
		word = 0;
		digit = false;
		if (c != ' ' && c != '\t' && c != ',' && c != '"' && c != REDACT_END)
			return false;
	}
	if (!val->whole)
		return true;
	one.len = first;
	if (words == 1)
		return first >= VALUE_MIN && !val->camel && (!is_chain(v, &one) || is_one_word(v, &one));
	return words == 2 && second >= 8 && is_scheme(v, val, first);
}

/* Does the value of a header end with @c? Parameters are quoted themselves: username="...". */
static bool header_ends(int prev, int c, int *param)
{
	if (*param && c == *param) {
		*param = 0;
		return false;
	}
	if (redact_quote(c) && prev == '=') {
		*param = c;
		return false;
	}
	return c == REDACT_END || c == '\n' || c == '\r' || (!*param && (c == '\\' || redact_quote(c)));
}

static enum redact_verdict authorization(const struct redact_view *v, size_t o, struct value val, struct redact_hit *ret)
{
	int param = 0;
	int prev = 0;

	val.from = o;
	val.name = true;
	while (val.len < LOOK) {
		int c = redact_at(v, o + val.len);

		if (c == REDACT_NEED)
			return REDACT_MORE;
		if (val.quote ? quoted_end(&val, prev, c) : header_ends(prev, c, &param)) {
			val.whole = true;
			break;
		}
		note(&val, prev, c);
		prev = c;
	}
	if (is_format(v, &val) || is_reference(v, &val) || !is_credential(v, &val))
		return REDACT_NO;
	return secret(&val, val.quote ? REDACT_QUOTED : REDACT_LINE, ret);
}

/* --- the operator and what is between it and the value --- */

/* Skips blanks. The byte behind them, or REDACT_NEED */
static int skip_blanks(const struct redact_view *v, size_t *o)
{
	int c = redact_at(v, *o);

	for (size_t n = 0; n < BLANKS && redact_blank(c); n++)
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
static int open_quote(const struct redact_view *v, size_t *o, struct value *val)
{
	size_t at = *o;
	int c = redact_at(v, at);

	for (unsigned n = 0; n < 2 && (redact_lower(c) || redact_upper(c) || c == '@' || c == '$'); n++) {
		val->format = val->format || lower(c) == 'f' || c == '$';
		c = redact_at(v, ++at);
	}
	for (; c == '\\' && at < *o + 4; c = redact_at(v, ++at))
		val->escaped = true;
	if (c == REDACT_NEED)
		return c;
	if (!redact_quote(c)) {
		*val = (struct value){ 0 };
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
static enum redact_verdict find_value(const struct redact_view *v, const struct style *s, size_t *o)
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
	struct style s = read_label(v);
	int len = s.label == LABEL_NONE ? 0 : operator_len(v);
	size_t o = (size_t)(len > 0 ? len : 0);
	struct value val = { 0 };
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
		return authorization(v, o, val, ret);
	}
	return val.quote ? quoted(v, &s, o, val, ret) : plain(v, &s, o, ret);
}
