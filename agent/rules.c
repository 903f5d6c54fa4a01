/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of --allow and --deny. Pure. Process: agent. Privilege: none. */
#include "agent/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

#define GLOB_WORK_MAX (256u << 20) /* steps of one match; beyond it the answer is RULE_MAYBE */

static const char *const tools[] = {
	"bash",	     "job",	    "read_file", "write_file", "edit_file",
	"list_dir",  "find_files",  "search_text", "file_info",	"rollback",
};

static bool known_tool(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
		if (strlen(tools[i]) == len && memcmp(tools[i], text, len) == 0)
			return true;
	}
	return false;
}

/* Only names of the tools' tables count as paths; for them a form that never matches is a mistake */
static const char *path_fault(const char *glob)
{
	if (strncmp(glob, "./", 2) == 0 || strstr(glob, "/./") || strstr(glob, "//"))
		return "a path is compared without ./ and //";
	if (strncmp(glob, "../", 3) == 0 || strstr(glob, "/../") || strcmp(glob, "..") == 0)
		return "a path is compared without ..";
	if (glob[0] == '~')
		return "~ is not expanded: write a path relative to the workspace, or an absolute one";
	return NULL;
}

static const char *glob_fault(const char *tool, const char *glob, bool *ret_exact)
{
	bool exact = true;

	if (!*glob)
		return "there is nothing between the parentheses";
	for (const char *c = glob; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return "it holds a control character";
		if (*c == '*' || *c == '?')
			exact = false;
		if (*c == '\\' && !*++c)
			return "it ends with a backslash";
	}
	*ret_exact = exact;
	if (strcmp(tool, "bash") == 0 || strcmp(tool, "job") == 0 || strcmp(tool, "rollback") == 0)
		return NULL;
	return path_fault(glob);
}

static int refuse(const char *text, const char *why, struct ak_err *err)
{
	ak_err_set(err, EINVAL, "rule \"%.200s\": %s", text, why);
	ak_err_hint(err, "a rule is TOOL or TOOL(GLOB), such as bash(git status*) or write_file(src/*)");
	return -EINVAL;
}

static void release(struct rule *r)
{
	free(r->text);
	free(r->tool);
	free(r->glob);
}

static int read_rule(struct rule *rule, const char *text, struct ak_err *err)
{
	size_t len = strlen(text);
	size_t name = strcspn(text, "(");
	const char *fault = NULL;
	bool exact = false;

	if (!known_tool(text, name))
		return refuse(text, name ? "there is no such tool" : "it names no tool", err);
	rule->text = strdup(text);
	rule->tool = strndup(text, name);
	if (name < len)
		rule->glob = strndup(text + name + 1, len - name - 2 + (text[len - 1] != ')'));
	if (!rule->text || !rule->tool || (name < len && !rule->glob))
		return ak_err_set(err, ENOMEM, "no memory for a rule");
	if (name < len && (text[len - 1] != ')' || len < name + 2))
		fault = "the closing parenthesis is missing";
	else if (rule->glob)
		fault = glob_fault(rule->tool, rule->glob, &exact);
	rule->exact = exact;
	return fault ? refuse(text, fault, err) : 0;
}

int rules_add(struct rules *r, bool deny, const char *text, struct ak_err *err)
{
	struct rule rule = { .deny = deny };
	int rc;

	if (strlen(text) > RULE_BYTES_MAX)
		return ak_err_set(err, E2BIG, "a rule of more than %u bytes", RULE_BYTES_MAX);
	if (r->n >= RULES_MAX)
		return ak_err_set(err, E2BIG, "more than %u rules", RULES_MAX);
	rc = read_rule(&rule, text, err);
	if (rc == 0) {
		struct rule *items = reallocarray(r->items, r->n + 1, sizeof(*items));

		if (items) {
			r->items = items;
			r->items[r->n++] = rule;
			return 0;
		}
		rc = ak_err_set(err, ENOMEM, "no memory for a rule");
	}
	release(&rule);
	return rc;
}

void rules_release(struct rules *r)
{
	for (size_t i = 0; i < r->n; i++)
		release(&r->items[i]);
	free(r->items);
	*r = (struct rules){ 0 };
}

/* Does the part of @glob at @g, which is no *, match the byte @c for certain? */
static bool matches(const char *g, char c)
{
	if (c == RULE_HOLE)
		return false;
	if (*g == '?')
		return true;
	return (*g == '\\' ? g[1] : *g) == c;
}

static const char *behind(const char *g)
{
	return g + (*g == '\\' ? 2 : 1);
}

/* A hole is matched by * alone */
static bool certain(const char *g, const char *text, size_t len)
{
	const char *star = NULL;
	size_t i = 0, from = 0;

	while (i < len) {
		if (*g == '*') {
			star = ++g;
			from = i;
		} else if (*g && matches(g, text[i])) {
			g = behind(g);
			i++;
		} else if (star) {
			g = star;
			i = ++from;
		} else {
			return false;
		}
	}
	while (*g == '*')
		g++;
	return !*g;
}

/* Marks what can be reached without a byte of text: what stands behind a reached * */
static void spread(const char *glob, size_t n, unsigned char *reached)
{
	for (size_t p = 0; p < n; p++) {
		if (reached[p] && glob[p] == '*')
			reached[p + 1] = 1;
	}
}

/* Is there a value of the holes with which @text matches? All reachable places of @glob are followed at once. */
static bool possible(const char *glob, const char *text, size_t len)
{
	size_t n = strlen(glob);
	unsigned char *now = calloc(2, n + 3);
	unsigned char *next = now ? now + n + 3 : NULL;
	bool found = true;

	if (!now)
		return true;
	now[0] = 1;
	spread(glob, n, now);
	for (size_t i = 0; i < len; i++) {
		bool any = false;

		memset(next, 0, n + 3);
		for (size_t p = 0; p < n + 1; p = p < n ? (size_t)(behind(glob + p) - glob) : n + 1) {
			if (!now[p] && !(text[i] == RULE_HOLE && any))
				continue;
			if (text[i] == RULE_HOLE || (p < n && glob[p] == '*'))
				next[p] = 1;
			else if (p < n && matches(glob + p, text[i]))
				next[behind(glob + p) - glob] = 1;
			any = true;
		}
		spread(glob, n, next);
		memcpy(now, next, n + 3);
	}
	found = now[n];
	free(now);
	return found;
}

enum rule_match rule_glob(const char *glob, const char *text, size_t len)
{
	if (strlen(glob) * (len + 1) > GLOB_WORK_MAX)
		return RULE_MAYBE;
	if (certain(glob, text, len))
		return RULE_YES;
	return memchr(text, RULE_HOLE, len) && possible(glob, text, len) ? RULE_MAYBE : RULE_NO;
}
