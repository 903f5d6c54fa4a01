/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that are known by their first letters. Pure. Process: agent. Privilege: none. Source: the services' documentation. */
#include "agent/redact_int.h"

#include <string.h>

/*
 * A row says what has to stand behind the letters: @least characters of the set, and then one of
 * - @run of them in a row that are letters and digits only: names of several words have none of that length;
 * - a digit among them (@digit), where random parts may hold - and _ themselves.
 * @edge: not within a word: "task-...", "self_..."
 */
struct shape {
	const char *start; /* '?' stands for a letter or digit */
	enum redact_state set;
	unsigned least;
	unsigned run;
	bool digit;
	bool edge;
};

static const struct shape shapes[] = {
	{"sk-ant-", REDACT_DASHED, 10, 1, false, false},
	{"sk-", REDACT_DASHED, 16, 20, true, true},
	{"ghp_", REDACT_WORD, 16, 16, false, false},
	{"gho_", REDACT_WORD, 16, 16, false, false},
	{"ghs_", REDACT_WORD, 16, 16, false, false},
	{"ghr_", REDACT_WORD, 16, 16, false, false},
	{"ghu_", REDACT_WORD, 16, 16, false, false},
	{"github_pat_", REDACT_WORD, 16, 16, false, false},
	{"glpat-", REDACT_DASHED, 16, 1, false, false},
	{"xox?-", REDACT_DASHED, 10, 20, true, false},
	{"AKIA", REDACT_CAPITAL, 16, 16, false, false},
	{"AIza", REDACT_DASHED, 20, 1, false, true},
	{"hf_", REDACT_WORD, 20, 20, false, true},
	{"sk_live_", REDACT_WORD, 10, 10, false, true},
	{"rk_live_", REDACT_WORD, 10, 10, false, true},
};

#define LOOK 100u /* characters behind the letters that are looked at */

static bool in_set(enum redact_state set, int c)
{
	if (set == REDACT_CAPITAL)
		return redact_upper(c) || redact_digit(c);
	return redact_word(c) || (set == REDACT_DASHED && c == '-');
}

/* Does a word start here? What an escape stands for (\n, %20) is no part of a word. */
static bool at_edge(const struct redact_view *v)
{
	unsigned char c = redact_back(v, 1);

	if (!redact_word(c))
		return true;
	if (redact_back(v, 2) == '\\' && (c == 'n' || c == 't' || c == 'r'))
		return true;
	return redact_back(v, 3) == '%' && redact_alnum(redact_back(v, 2));
}

/* The letters stand here: their number; 0: they do not; -1: not clear yet */
static int starts(const struct redact_view *v, const char *text)
{
	int n = 0;

	for (; text[n]; n++) {
		int c = redact_at(v, (size_t)n);

		if (c == REDACT_NEED)
			return -1;
		if (text[n] == '?' ? !redact_alnum(c) : c != (unsigned char)text[n])
			return 0;
	}
	return n;
}

static enum redact_verdict look(const struct redact_view *v, const struct shape *s, size_t from, size_t *ret_len)
{
	unsigned run = 0;
	bool digit = false;
	bool found = false;
	size_t n = 0;

	for (; n < LOOK; n++) {
		int c = redact_at(v, from + n);

		if (c == REDACT_NEED)
			return REDACT_MORE;
		if (!in_set(s->set, c))
			break;
		run = redact_alnum(c) ? run + 1 : 0;
		found = found || run >= s->run;
		digit = digit || redact_digit(c);
	}
	*ret_len = n;
	return n >= s->least && (found || (s->digit && digit)) ? REDACT_YES : REDACT_NO;
}

enum redact_verdict redact_shape(const struct redact_view *v, struct redact_hit *ret)
{
	unsigned char first = v->p[v->i];
	bool more = false;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *s = &shapes[i];
		enum redact_verdict verdict;
		size_t len;
		int n;

		if ((unsigned char)s->start[0] != first || (s->edge && !at_edge(v)))
			continue;
		n = starts(v, s->start);
		if (n == 0)
			continue;
		verdict = n < 0 ? REDACT_MORE : look(v, s, (size_t)n, &len);
		if (verdict == REDACT_YES) {
			*ret = (struct redact_hit){.drop = (size_t)n + len, .next = s->set};
			return REDACT_YES;
		}
		more = more || verdict == REDACT_MORE;
	}
	return more ? REDACT_MORE : REDACT_NO;
}
