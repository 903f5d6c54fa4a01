/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of .gitignore files. Pure. Process: in the sandbox. Privilege: none. */
#include "agent/search/ignore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/search/glob.h"

/* Blanks at the end of a line do not count, unless they are escaped */
static size_t trimmed(const char *p, size_t n)
{
	size_t end = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\\' && i + 1 < n)
			end = ++i + 1;
		else if (p[i] != ' ')
			end = i + 1;
	}
	return end;
}

static int push(struct ignore *g, const struct ignore_rule *r)
{
	if (g->n == IGNORE_RULES_MAX)
		return -E2BIG;
	if (g->n == g->cap) {
		size_t cap = g->cap ? g->cap * 2 : 64;
		struct ignore_rule *v = realloc(g->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		g->v = v;
		g->cap = cap;
	}
	g->v[g->n++] = *r;
	return 0;
}

static int add_line(struct ignore *g, const char *p, size_t n, size_t base)
{
	struct ignore_rule r = { .base = base };
	int rc;

	if (n > 0 && p[n - 1] == '\r')
		n--;
	if (n == 0 || *p == '#')
		return 0;
	n = trimmed(p, n);
	if (n > 0 && *p == '!') {
		r.negate = true;
		p++;
		n--;
	}
	if (n > 0 && p[n - 1] == '/') {
		r.dir_only = true;
		n--;
	}
	r.path = n > 0 && memchr(p, '/', n);
	if (n > 0 && *p == '/') {
		p++;
		n--;
	}
	if (n == 0 || memchr(p, '\0', n))
		return 0;
	r.glob = strndup(p, n);
	if (!r.glob)
		return -ENOMEM;
	rc = push(g, &r);
	if (rc < 0)
		free(r.glob);
	return rc;
}

int ignore_add(struct ignore *g, const char *text, size_t len, size_t base)
{
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t n = end ? (size_t)(end - text) : len;
		int rc = add_line(g, text, n, base);

		if (rc < 0)
			return rc;
		n += end != NULL;
		text += n;
		len -= n;
	}
	return 0;
}

void ignore_cut(struct ignore *g, size_t n)
{
	while (g->n > n)
		free(g->v[--g->n].glob);
}

void ignore_release(struct ignore *g)
{
	ignore_cut(g, 0);
	free(g->v);
	*g = (struct ignore){ 0 };
}

bool ignore_match(const struct ignore *g, const char *path, bool is_dir)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = g->n; i-- > 0;) {
		const struct ignore_rule *r = &g->v[i];

		if (r->dir_only && !is_dir)
			continue;
		if (glob_match(r->glob, r->path ? path + r->base : name))
			return !r->negate;
	}
	return false;
}
