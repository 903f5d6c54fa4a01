/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules over paths: those of file tools, and what redirections write. A path is compared relative to the workspace and as an
 * absolute one, without "//", "." and a slash at the end; with ".." in it no rule allows it, since what .. means depends on
 * links. Where the sandbox can be asked, the place a path leads to has to be allowed too. Process: agent. Privilege: none.
 */
#include "agent/approve_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_path.h"

/**
 * struct place - a path as rules see it
 * @abs:	normalised; NULL: the path is none
 * @rel:	inside @abs: relative to the workspace ("." for it itself), or the same as @abs
 * @tricky:	with ".."
 */
struct place {
	char *abs;
	const char *rel;
	bool tricky;
};

static bool has_dotdot(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")) != NULL; at += 2) {
		if ((at == path || at[-1] == '/') && (at[2] == '\0' || at[2] == '/'))
			return true;
	}
	return false;
}

static struct place place_of(const struct approver *a, const char *base, const char *path)
{
	struct place p = { .abs = ak_path_normalize(base, path), .tricky = has_dotdot(path) };
	size_t top = strlen(a->o.workspace);

	if (!p.abs)
		return p;
	p.rel = p.abs;
	if (ak_path_below(p.abs, a->o.workspace) && top > 1)
		p.rel = p.abs[top] ? p.abs + top + 1 : ".";
	return p;
}

/* Where the links of @p lead. Return: false when that is not known; a place without @abs when nobody can be asked */
static bool resolved(const struct approver *a, const struct place *p, struct place *ret)
{
	struct ak_buf real = { .max = 8192 };
	bool known;

	*ret = (struct place){ 0 };
	if (!a->o.files.resolve)
		return true;
	known = a->o.files.resolve(a->o.files.ctx, p->abs, &real) == 0 && !real.failed && real.len > 0 && real.data[0] == '/';
	if (known)
		*ret = place_of(a, NULL, real.data);
	ak_buf_release(&real);
	return known && ret->abs && !ret->tricky;
}

static enum rule_match compare(const struct rule *r, const struct place *p)
{
	enum rule_match rel, abs;

	if (!r->glob)
		return RULE_YES;
	rel = rule_glob(r->glob, p->rel, strlen(p->rel));
	abs = rule_glob(r->glob, p->abs, strlen(p->abs));
	return rel > abs ? rel : abs;
}

static const struct rule *find(const struct approver *a, bool deny, const char *tool, const struct place *p)
{
	for (size_t i = 0; p->abs && i < a->rules.n; i++) {
		const struct rule *r = &a->rules.items[i];

		if (r->deny == deny && strcmp(r->tool, tool) == 0 && compare(r, p) == RULE_YES)
			return r;
	}
	return NULL;
}

static const char *base_of(const struct approver *a, bool redirection)
{
	return redirection && a->folder ? a->folder : a->o.workspace;
}

static enum rule_match denied(const struct approver *a, const char *tool, const char *path, bool redirection, const struct rule **ret)
{
	struct place p, real;
	enum rule_match m = RULE_NO;

	if (!deny_rules_for(a, tool))
		return RULE_NO;
	for (size_t i = 0; i < a->rules.n; i++) {
		if (a->rules.items[i].deny && strcmp(a->rules.items[i].tool, tool) == 0)
			*ret = &a->rules.items[i]; /* told when nothing better is found */
	}
	p = place_of(a, base_of(a, redirection), path);
	if (!p.abs)
		return RULE_MAYBE;

	bool known = resolved(a, &p, &real);
	const struct rule *rule = find(a, true, tool, &p);

	rule = rule ? rule : find(a, true, tool, &real);
	if (rule) {
		*ret = rule;
		m = RULE_YES;
	} else if (p.tricky || !known || (redirection && !a->folder && path[0] != '/')) {
		m = RULE_MAYBE;
	}
	free(p.abs);
	free(real.abs);
	return m;
}

enum rule_match path_denied(const struct approver *a, const char *tool, const char *path, const struct rule **ret_rule)
{
	return denied(a, tool, path, true, ret_rule);
}

/* Is the path allowed, and the place it leads to? */
static const struct rule *allowed(const struct approver *a, const char *tool, const char *path, bool redirection)
{
	struct place p, real = { 0 };
	const struct rule *rule = NULL;

	for (size_t i = 0; i < a->rules.n && !rule; i++) {
		if (!a->rules.items[i].deny && strcmp(a->rules.items[i].tool, tool) == 0)
			rule = &a->rules.items[i];
	}
	if (!rule || (redirection && ((!a->folder && path[0] != '/') || !a->o.files.resolve)))
		return NULL;
	rule = NULL;
	p = place_of(a, base_of(a, redirection), path);
	if (p.abs && !p.tricky && resolved(a, &p, &real))
		rule = find(a, false, tool, &p);
	if (rule && real.abs && !find(a, false, tool, &real))
		rule = NULL;
	free(p.abs);
	free(real.abs);
	return rule;
}

bool path_write_allowed(const struct approver *a, const char *path)
{
	return allowed(a, "write_file", path, true) != NULL;
}

static void tell(struct view *v)
{
	if (v->deny == RULE_YES)
		(void)snprintf(v->why, sizeof(v->why), "denied by the rule %.200s", v->rule->text);
	else if (v->deny == RULE_MAYBE)
		(void)snprintf(v->why, sizeof(v->why), "the deny rule %.180s may match", v->rule ? v->rule->text : "");
	else if (v->allow)
		(void)snprintf(v->why, sizeof(v->why), "allowed by the rule %.200s", v->rule->text);
	else
		(void)snprintf(v->why, sizeof(v->why), "no rule allows it");
}

void view_path(const struct approver *a, const char *tool, const char *path, struct view *ret)
{
	struct view v = { 0 };

	v.deny = denied(a, tool, path, false, &v.rule);
	if (v.deny == RULE_NO) {
		v.rule = allowed(a, tool, path, false);
		v.allow = v.rule != NULL;
	}
	tell(&v);
	*ret = v;
}

/* A tool whose rules are over a plain text: job, rollback, and those without arguments */
void view_text(const struct approver *a, const char *tool, const char *text, size_t len, struct view *ret)
{
	struct view v = { 0 };

	for (size_t i = 0; i < a->rules.n; i++) {
		const struct rule *r = &a->rules.items[i];
		enum rule_match m;

		if (strcmp(r->tool, tool) != 0)
			continue;
		m = r->glob ? rule_glob(r->glob, text, len) : RULE_YES;
		if (r->deny && m > v.deny) {
			v.deny = m;
			v.rule = r;
		}
		if (!r->deny && m == RULE_YES && v.deny == RULE_NO) {
			v.allow = true;
			v.rule = r;
		}
	}
	v.allow = v.allow && v.deny == RULE_NO;
	tell(&v);
	*ret = v;
}
