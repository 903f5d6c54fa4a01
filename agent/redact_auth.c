/* SPDX-License-Identifier: Apache-2.0 */
/* Values of Authorization headers. Pure. Process: agent. Privilege: none. Source: RFC 9110 section 11, RFC 6750, RFC 7616. */
#include "agent/redact_value.h"

#include <string.h>

static bool credential_char(int c)
{
	return redact_word(c) || (c > 0 && strchr("-.~+/=:", c) != NULL);
}

static bool is_scheme(const struct redact_view *v, const struct redact_value *val, size_t len)
{
	static const char *const names[] = { "bearer", "basic", "token", "digest", "apikey", "negotiate", "ntlm", "jwt", "hawk", "key" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = 0;

		while (names[i][n] && redact_to_lower(redact_value_at(v, val, n)) == (unsigned char)names[i][n])
			n++;
		if (!names[i][n] && n == len)
			return true;
	}
	return false;
}

/* Letters only */
static bool is_one_word(const struct redact_view *v, const struct redact_value *val)
{
	for (size_t i = 0; i < val->len; i++) {
		int c = redact_value_at(v, val, i);

		if (!redact_lower(c) && !redact_upper(c))
			return false;
	}
	return true;
}

/*
 * One word that is no name of code, a scheme and one word, or a word with a digit that is long enough. "Bearer " + token,
 * Bearer ${TOKEN}, names of types and prose are none of these.
 */
static bool is_credential(const struct redact_view *v, const struct redact_value *val)
{
	size_t word = 0, words = 0, first = 0, second = 0;
	struct redact_value one = *val;
	bool digit = false;

	for (size_t i = 0; i <= val->len; i++) {
		int c = redact_value_at(v, val, i);

		if (credential_char(c)) {
			digit = digit || redact_digit(c);
			word++;
			continue;
		}
		if (word >= REDACT_VALUE_MIN && digit)
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
		return first >= REDACT_VALUE_MIN && !val->camel && (!redact_is_chain(v, &one) || is_one_word(v, &one));
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

enum redact_verdict redact_authorization(const struct redact_view *v, size_t o, struct redact_value val, struct redact_hit *ret)
{
	int param = 0;
	int prev = 0;

	val.from = o;
	val.name = true;
	while (val.len < REDACT_VALUE_LOOK) {
		int c = redact_at(v, o + val.len);

		if (c == REDACT_NEED)
			return REDACT_MORE;
		if (val.quote ? redact_quoted_end(&val, prev, c) : header_ends(prev, c, &param)) {
			val.whole = true;
			break;
		}
		redact_note(&val, prev, c);
		prev = c;
	}
	if (redact_is_format(v, &val) || redact_is_reference(v, &val) || !is_credential(v, &val))
		return REDACT_NO;
	return redact_secret(&val, val.quote ? REDACT_QUOTED : REDACT_LINE, ret);
}

