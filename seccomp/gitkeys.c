/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a git configuration that start programs. Pure; ak-policy, no privilege. */
#include "seccomp/gitkeys.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum when {
	ANY,	/* whatever the value, but a plain yes or no */
	SHELL,	/* a value that starts with "!" */
	EXT,	/* a value that names a helper ("ext::...") */
};

/* "*" stands for the name of a subsection, with dots in it or not there at all */
static const struct {
	const char *section, *key;
	enum when when;
	bool sub;	/* has a subsection; may also be without one */
} table[] = {
	{"core", "fsmonitor", ANY, false},
	{"core", "hookspath", ANY, false},
	{"core", "pager", ANY, false},
	{"core", "editor", ANY, false},
	{"core", "sshcommand", ANY, false},
	{"core", "askpass", ANY, false},
	{"core", "gitproxy", ANY, false},
	{"core", "alternaterefscommand", ANY, false},
	{"core", "attributesfile", ANY, false},	/* chooses filters */
	{"core", "worktree", ANY, false},	/* leads git elsewhere */
	{"alias", "*", SHELL, true},
	{"browser", "cmd", ANY, true},
	{"browser", "path", ANY, true},
	{"credential", "helper", ANY, true},
	{"diff", "external", ANY, false},
	{"diff", "command", ANY, true},
	{"diff", "textconv", ANY, true},
	{"difftool", "cmd", ANY, true},
	{"difftool", "path", ANY, true},
	{"filter", "clean", ANY, true},
	{"filter", "smudge", ANY, true},
	{"filter", "process", ANY, true},
	{"gpg", "program", ANY, true},
	{"gpg", "defaultkeycommand", ANY, true},
	{"guitool", "cmd", ANY, true},
	{"hook", "command", ANY, true},
	{"include", "path", ANY, false},
	{"includeif", "path", ANY, true},
	{"init", "templatedir", ANY, false},	/* hooks of later repositories */
	{"instaweb", "httpd", ANY, false},
	{"interactive", "difffilter", ANY, false},
	{"lfs", "*", ANY, true},	/* extensions and transfers are programs */
	{"man", "cmd", ANY, true},
	{"man", "path", ANY, true},
	{"merge", "driver", ANY, true},
	{"mergetool", "cmd", ANY, true},
	{"mergetool", "path", ANY, true},
	{"pager", "*", ANY, false},
	{"protocol", "allow", ANY, true},
	{"remote", "uploadpack", ANY, true},
	{"remote", "receivepack", ANY, true},
	{"remote", "vcs", ANY, true},
	{"remote", "url", EXT, true},
	{"remote", "pushurl", EXT, true},
	{"sendemail", "*", ANY, true},	/* several of them are commands */
	{"sequence", "editor", ANY, false},
	{"submodule", "update", SHELL, true},
	{"submodule", "url", EXT, true},
	{"tar", "command", ANY, true},
	{"trailer", "cmd", ANY, true},
	{"trailer", "command", ANY, true},
	{"uploadpack", "packobjectshook", ANY, false},
	{"url", "insteadof", ANY, true},
	{"url", "pushinsteadof", ANY, true},
	{"web", "browser", ANY, false},
};

struct reader {
	const char *p, *end;
	struct gitkeys *out;		/* what is looked for is one of these */
	struct git_ident *ident;
	gitident_include *include;
	void *include_arg;
	char section[GITKEYS_NAME], sub[GITKEYS_NAME];
	bool has_sub;
};

/* cut texts end in dots, so that nobody takes them for whole */
static void put(char *to, size_t *n, char c)
{
	if (*n + 4 < GITKEYS_NAME) {
		to[(*n)++] = c;
		to[*n] = '\0';
	} else if (*n + 4 == GITKEYS_NAME) {
		memcpy(to + *n, "...", 4);
		*n += 3;
	}
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void skip_line(struct reader *r)
{
	while (r->p < r->end && *r->p != '\n')
		r->p++;
}

/* behind '['; leaves the reader behind ']' or where the header stops making sense */
static void read_section(struct reader *r)
{
	size_t n = 0, k = 0;

	r->section[0] = r->sub[0] = '\0';
	r->has_sub = false;
	while (r->p < r->end && (isalnum((unsigned char)*r->p) || *r->p == '-' || *r->p == '.')) {
		char c = *r->p++;

		if (c == '.' && !r->has_sub)
			r->has_sub = true;	/* the older form, [section.sub] */
		else if (r->has_sub)
			put(r->sub, &k, (char)tolower((unsigned char)c));
		else
			put(r->section, &n, (char)tolower((unsigned char)c));
	}
	while (r->p < r->end && blank(*r->p))
		r->p++;
	if (r->p < r->end && *r->p == '"') {
		r->has_sub = true;
		k = 0;
		for (r->p++; r->p < r->end && *r->p != '"' && *r->p != '\n'; r->p++) {
			if (*r->p == '\\' && r->p + 1 < r->end && r->p[1] != '\n')
				r->p++;
			put(r->sub, &k, *r->p);
		}
		if (r->p < r->end && *r->p == '"')
			r->p++;
	}
	while (r->p < r->end && *r->p != ']' && *r->p != '\n')
		r->p++;
	if (r->p < r->end && *r->p == ']')
		r->p++;
}

struct value {
	char head[8];	/* its first bytes, for yes, no and "!" */
	size_t len;
	unsigned long long sum;
	char *text;	/* all of it, up to GIT_IDENT_PATH_MAX bytes; NULL: not wanted */
};

static void value_add(struct value *v, char c)
{
	if (v->len < sizeof(v->head))
		v->head[v->len] = c;
	if (v->text && v->len < GIT_IDENT_PATH_MAX)
		v->text[v->len] = c;
	v->len++;
	v->sum = (v->sum ^ (unsigned char)c) * 1099511628211ULL;	/* FNV-1a */
}

/* behind the '=': to the end of the line, or of the line that it is continued on */
static void read_value(struct reader *r, struct value *v)
{
	bool quoted = false;
	size_t spaces = 0;

	while (r->p < r->end && blank(*r->p))
		r->p++;
	for (; r->p < r->end && *r->p != '\n'; r->p++) {
		char c = *r->p;

		if (!quoted && (c == '#' || c == ';')) {
			skip_line(r);
			return;
		}
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && blank(c)) {
			spaces++;
			continue;
		}
		for (; spaces > 0; spaces--)
			value_add(v, ' ');
		if (c == '\\' && r->p + 1 < r->end) {
			c = *++r->p;
			if (c == '\r' && r->p + 1 < r->end && r->p[1] == '\n')
				c = *++r->p;
			if (c == '\n')
				continue;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c;
		}
		value_add(v, c);
	}
}

static bool is_bool(const struct value *v)
{
	static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "1", "0", ""};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (v->len == strlen(words[i]) && strncasecmp(v->head, words[i], v->len) == 0)
			return true;
	}
	return false;
}

/* "ext::sh -c ..." and every other TRANSPORT:: */
static bool starts_helper(const char *text, const char *end)
{
	while (text < end && (blank(*text) || *text == '"'))
		text++;
	while (text < end && (isalnum((unsigned char)*text) || *text == '-' || *text == '_'))
		text++;
	return end - text > 2 && text[0] == ':' && text[1] == ':';
}

static bool starts_program(const struct reader *r, const char *key, const struct value *v, const char *raw)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].section, r->section) != 0 || (r->has_sub && !table[i].sub) ||
		    (strcmp(table[i].key, "*") != 0 && strcmp(table[i].key, key) != 0))
			continue;
		if (table[i].when == SHELL ? v->len > 0 && v->head[0] == '!' :
		    table[i].when == EXT   ? starts_helper(raw, r->end) :
					     !is_bool(v) || strcmp(r->section, "protocol") == 0)
			return true;
	}
	return false;
}

static void take(struct reader *r, const char *key, const struct value *v)
{
	struct gitkeys *g = r->out;
	char name[GITKEYS_NAME] = "";
	size_t n = 0;

	for (const char *c = r->section; *c; c++)
		put(name, &n, *c);
	if (r->has_sub) {
		put(name, &n, '.');
		for (const char *c = r->sub; *c; c++)
			put(name, &n, isprint((unsigned char)*c) ? *c : '?');
	}
	put(name, &n, '.');
	for (const char *c = key; *c; c++)
		put(name, &n, *c);
	if (g->n == GITKEYS_MAX)
		return;
	memcpy(g->key[g->n].name, name, sizeof(name));
	g->key[g->n++].value = v->sum;
}

static void take_ident(struct git_ident *id, const char *key, const struct value *v)
{
	char *to = strcmp(key, "name") == 0 ? id->name : strcmp(key, "email") == 0 ? id->email : NULL;

	if (!to)
		return;
	to[0] = '\0';
	if (!git_ident_text_ok(v->text, v->len))
		return;
	memcpy(to, v->text, v->len);
	to[v->len] = '\0';
}

static void take_include(const struct reader *r, const char *key, struct value *v)
{
	if (!r->include || strcmp(key, "path") != 0 || !git_ident_path_ok(v->text, v->len))
		return;
	v->text[v->len] = '\0';
	r->include(r->include_arg, v->text);
}

static void read_setting(struct reader *r)
{
	char key[GITKEYS_NAME] = "", text[GIT_IDENT_PATH_MAX];
	struct value v = {.sum = 14695981039346656037ULL, .text = r->ident ? text : NULL};
	const char *raw;
	size_t n = 0;

	while (r->p < r->end && (isalnum((unsigned char)*r->p) || *r->p == '-'))
		put(key, &n, (char)tolower((unsigned char)*r->p++));
	while (r->p < r->end && blank(*r->p))
		r->p++;
	if (n == 0 || r->p == r->end || *r->p != '=') {
		skip_line(r);	/* a key without a value means yes */
		return;
	}
	raw = ++r->p;
	read_value(r, &v);
	if (r->ident && strcmp(r->section, "user") == 0 && !r->has_sub)
		take_ident(r->ident, key, &v);
	if (r->ident && strcmp(r->section, "include") == 0 && !r->has_sub)
		take_include(r, key, &v);
	if (r->out && starts_program(r, key, &v, raw))
		take(r, key, &v);
}

static void read_text(struct reader r, const char *text, size_t len)
{
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.p += 3;
	while (r.p < r.end) {
		if (*r.p == '\n' || blank(*r.p)) {
			r.p++;
		} else if (*r.p == '[') {
			r.p++;
			read_section(&r);
		} else if (*r.p == '#' || *r.p == ';') {
			skip_line(&r);
		} else {
			read_setting(&r);
		}
	}
}

void gitkeys_read(const char *text, size_t len, struct gitkeys *ret)
{
	read_text((struct reader){.p = text, .end = text + len, .out = ret}, text, len);
}

void gitident_read(const char *text, size_t len, struct git_ident *ret, gitident_include *include, void *arg)
{
	read_text((struct reader){.p = text, .end = text + len, .ident = ret, .include = include, .include_arg = arg}, text, len);
}

int gitkeys_new(const struct gitkeys *old, const struct gitkeys *now, size_t i)
{
	for (size_t k = 0; k < old->n; k++) {
		if (old->key[k].value == now->key[i].value && strcmp(old->key[k].name, now->key[i].name) == 0)
			return 0;
	}
	return 1;
}
