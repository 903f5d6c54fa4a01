/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges command lines by rules, for the suite `approve`. Reads texts separated by NUL, writes one line for each: A (allowed by a
 * rule), D (denied by a rule) or ? (would be asked), a tab, and why.
 * usage: approve_drive [--prefix] WORKSPACE RULE... ; a RULE starts with + or -
 * --prefix: no parser, the whole text is compared with the rules. This is what the suite has to notice.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/approve.h"
#include "agent/json.h"
#include "agent/rules.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

/* The links of what exists are followed, the rest is appended */
static int resolve(void *ctx, const char *path, struct ak_buf *real)
{
	char *head = strdup(path);
	char *found = NULL;
	size_t n = strlen(path);

	(void)ctx;
	while (head && n > 0 && !(found = realpath(head, NULL))) {
		while (n > 0 && head[n - 1] != '/')
			n--;
		n -= n > 0; /* the slash belongs to the rest */
		head[n] = '\0';
	}
	if (found)
		ak_buf_printf(real, "%s%s", found, path + n);
	free(head);
	free(found);
	return found ? 0 : -ENOENT;
}

static char by_prefix(const struct rules *r, const char *text, size_t len)
{
	char verdict = '?';

	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->items[i].tool, "bash") != 0 || rule_glob(r->items[i].glob, text, len) != RULE_YES)
			continue;
		if (r->items[i].deny)
			return 'D';
		verdict = 'A';
	}
	return verdict;
}

static char by_approver(struct approver *a, const char *text, size_t len, struct approve_answer *r)
{
	struct cJSON *args = json_new_obj();

	if (!args || json_set(args, "command", json_new_str(text, len)) < 0 || approve_call(a, "bash", args, r) < 0)
		exit(1);
	json_free(args);
	if (r->verdict == APPROVE_ALLOW)
		return 'A';
	return r->by == APPROVE_BY_RULE ? 'D' : '?';
}

int main(int argc, char *argv[])
{
	bool prefix = argc > 1 && strcmp(argv[1], "--prefix") == 0;
	int first = prefix ? 2 : 1;
	struct approve_options o = { .policy = APPROVE_ALWAYS_ASK, .session = "s", .files = { resolve, NULL } };
	struct approver *a;
	struct rules rules = { 0 };
	struct ak_err err = { 0 };
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;

	if (argc <= first)
		return 2;
	o.workspace = argv[first];
	if (approver_new(&o, &a, &err) < 0)
		return 1;
	for (int i = first + 1; i < argc; i++) {
		if (approver_rule(a, argv[i][0] == '-', argv[i] + 1, &err) < 0 || rules_add(&rules, argv[i][0] == '-', argv[i] + 1, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			return 2;
		}
	}
	while ((len = getdelim(&text, &cap, '\0', stdin)) > 0) {
		struct approve_answer r = { 0 };

		if (text[len - 1] == '\0')
			len--;
		printf("%c\t", prefix ? by_prefix(&rules, text, (size_t)len) : by_approver(a, text, (size_t)len, &r));
		printf("%s\n", r.reason);
	}
	free(text);
	rules_release(&rules);
	approver_free(a);
	return 0;
}
