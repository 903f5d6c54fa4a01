/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a sed script start programs? By its command e and the flag e of s. Pure. Process: agent. Privilege: none.
 *
 * Source: the manual of GNU sed 4.8 (sed scripts, Reporting Bugs); what is not understood there counts as a yes.
 */
#include "agent/approve_int.h"

#include <string.h>

/* up to behind the next @end that no backslash stands in front of; NULL: there is none */
static const char *section(const char *s, char end)
{
	while (*s && *s != end)
		s += *s == '\\' && s[1] ? 2 : 1;
	return *s ? s + 1 : NULL;
}

/* one address and what may stand around it; NULL: it has no end */
static const char *address(const char *s)
{
	if (*s == '\\' && s[1])
		s = section(s + 2, s[1]);
	else if (*s == '/')
		s = section(s + 1, '/');
	return s ? s + strspn(s, "0123456789$+~IM \t") : NULL;
}

static const char *addresses(const char *s)
{
	s = address(s);
	if (s && *s == ',')
		s = address(s + 1 + strspn(s + 1, " \t"));
	return s ? s + strspn(s, "! \t") : NULL;
}

/* text of a, i and c, which goes on behind a line that ends with a backslash */
static const char *text_end(const char *s)
{
	while (*s && *s != '\n')
		s += *s == '\\' && s[1] ? 2 : 1;
	return s;
}

/* behind s or y; NULL: it starts a program, or has no end */
static const char *two_sections(const char *s, bool flags)
{
	char end = *s;

	if (!end || end == '\n' || end == '\\')
		return NULL;
	s = section(s + 1, end);
	s = s ? section(s, end) : NULL;
	while (s && flags && *s && !strchr(";}#\n", *s)) {
		if (*s == 'e')
			return NULL;
		s += *s == 'w' ? strcspn(s, "\n") : 1;
	}
	return s;
}

/* behind one command at @s; NULL as above */
static const char *command(const char *s)
{
	char c = *s++;

	if (c == 's' || c == 'y')
		return two_sections(s, c == 's');
	if (strchr("aic", c))
		return text_end(s);
	if (strchr("#rRwWv", c))
		return s + strcspn(s, "\n");
	if (strchr(":btT", c)) {
		s += strspn(s, " \t");
		return s + strcspn(s, "; \t\n");
	}
	return strchr("dDgGhHlLnNpPqQxz=F", c) ? s + strspn(s, " \t0123456789") : NULL;
}

static bool script_runs(const char *s)
{
	while (s && *s) {
		s += strspn(s, "; \t\n{}");
		if (*s)
			s = addresses(s);
		if (s && *s && !strchr("{}", *s))
			s = command(s);
	}
	return !s;
}

/* what stands behind an option: the rest of its word, or the next one */
static const char *value_of(const struct shell_word *words, size_t n, size_t *i, const char *rest)
{
	if (*rest)
		return rest;
	return ++*i < n ? words[*i].text : "";
}

struct scripts {
	bool given; /* by an option: no operand is one */
	bool run;
};

static void option(const struct shell_word *words, size_t n, size_t *i, struct scripts *r)
{
	const char *text = words[*i].text, *value = strchr(text, '='), *at = text + 1 + strcspn(text + 1, "efil");
	bool is_long = text[1] == '-', script = is_long ? option_long(&words[*i], "--expression") : *at == 'e';
	bool file = is_long ? option_long(&words[*i], "--file") : *at == 'f';
	const char *rest = is_long ? value ? value + 1 : "" : *at ? at + 1 : "";

	if (script || file)
		r->given = true;
	if (script)
		r->run = r->run || script_runs(value_of(words, n, i, rest));
	else if (file)
		r->run = r->run || is_input(value_of(words, n, i, rest));
	else if (is_long ? option_long(&words[*i], "--line-length") : *at == 'l')
		(void)value_of(words, n, i, rest);
}

bool sed_runs(const struct shell_word *words, size_t n)
{
	const struct shell_word *operand = NULL;
	struct scripts r = { 0 };
	bool options = true;

	for (size_t i = 1; i < n; i++) {
		if (words[i].why)
			return true;
	}
	for (size_t i = 1; i < n; i++) {
		if (options && shell_word_is(&words[i], "--"))
			options = false;
		else if (options && words[i].text[0] == '-' && words[i].len > 1)
			option(words, n, &i, &r);
		else if (!operand)
			operand = &words[i];
	}
	return r.run || (!r.given && operand && script_runs(operand->text));
}
