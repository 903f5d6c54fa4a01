/* SPDX-License-Identifier: Apache-2.0 */
/* File name patterns. Pure. Process: in the sandbox. Privilege: none. */
#include "agent/search/glob.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

struct glob {
	const char *start;
	unsigned steps;
};

static bool match(struct glob *g, const char *p, const char *t);

/* [:alpha:] at @p: its end and whether @c is one; NULL: no such class */
static const char *named_class(const char *p, unsigned char c, bool *hit)
{
	static const struct {
		const char *name;
		int (*is)(int c);
	} rows[] = { { "[:alnum:]", isalnum }, { "[:alpha:]", isalpha }, { "[:blank:]", isblank }, { "[:cntrl:]", iscntrl },
		     { "[:digit:]", isdigit }, { "[:graph:]", isgraph }, { "[:lower:]", islower }, { "[:print:]", isprint },
		     { "[:punct:]", ispunct }, { "[:space:]", isspace }, { "[:upper:]", isupper }, { "[:xdigit:]", isxdigit } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].name);

		if (strncmp(p, rows[i].name, n) == 0) {
			*hit = *hit || rows[i].is(c);
			return p + n;
		}
	}
	return NULL;
}

/* One character of a class, which may be escaped; NUL: the class has no end */
static unsigned char class_char(const char **p)
{
	if (**p == '\\')
		++*p;
	return **p ? (unsigned char)*(*p)++ : 0;
}

/* Behind the class that starts at @p with its bracket; NULL: it has no end, so that nothing matches */
static const char *class_end(const char *p, unsigned char c, bool *ret_hit)
{
	bool inverted = p[1] == '!' || p[1] == '^';
	bool hit = false;
	bool first = true;

	for (p += inverted ? 2 : 1; first || *p != ']'; first = false) {
		const char *end = p[0] == '[' && p[1] == ':' ? named_class(p, c, &hit) : NULL;
		unsigned char low, high;

		if (end) {
			p = end;
			continue;
		}
		if (p[0] == '[' && p[1] == ':' && strstr(p, ":]"))
			return NULL;
		low = class_char(&p);
		high = low;
		if (low && p[0] == '-' && p[1] && p[1] != ']') {
			p++;
			high = class_char(&p);
		}
		if (!low || !high)
			return NULL;
		hit = hit || (c >= low && c <= high);
	}
	*ret_hit = hit != inverted;
	return p + 1;
}

/* Two stars or more that are a whole component? @end is behind them. Source: git's wildmatch.c, dowild() */
static bool whole_component(const struct glob *g, const char *p, const char *end)
{
	return end - p >= 2 && (p == g->start || p[-1] == '/') && (*end == '\0' || *end == '/' || (end[0] == '\\' && end[1] == '/'));
}

/* Any number of components, whose stars end at @p */
static bool components(struct glob *g, const char *p, const char *t)
{
	/* at the end: everything below, which is at least something */
	if (*p == '\0')
		return true;
	/* a slash in escape has to be there; without, none of the components does */
	if (*p == '/' && match(g, p + 1, t))
		return true;
	for (t = strchr(t, '/'); t && g->steps > 0; t = strchr(t + 1, '/')) {
		if (match(g, p, t))
			return true;
	}
	return false;
}

static bool star(struct glob *g, const char *p, const char *t)
{
	const char *end = p + strspn(p, "*");

	if (whole_component(g, p, end))
		return components(g, end, t);
	for (;; t++) {
		if (match(g, end, t))
			return true;
		if (*t == '\0' || *t == '/' || g->steps == 0)
			return false;
	}
}

static bool match(struct glob *g, const char *p, const char *t)
{
	for (;; t++) {
		bool hit = false;

		if (g->steps == 0)
			return false;
		g->steps--;
		switch (*p) {
		case '\0':
			return *t == '\0';
		case '*':
			return star(g, p, t);
		case '?':
			hit = *t != '\0' && *t != '/';
			p++;
			break;
		case '[':
			p = class_end(p, (unsigned char)*t, &hit);
			if (!p || *t == '/' || *t == '\0')
				return false;
			break;
		case '\\':
			p += p[1] != '\0';
			/* fall through */
		default:
			hit = *p == *t;
			p++;
			break;
		}
		if (!hit)
			return false;
	}
}

bool glob_match(const char *pattern, const char *text)
{
	struct glob g = { .start = pattern, .steps = GLOB_STEPS };

	return match(&g, pattern, text);
}
