/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules of --allow and --deny: TOOL or TOOL(GLOB). Pure. Process: agent. Privilege: none.
 *
 * In GLOB `*` stands for any run of bytes (`/` and spaces too), `?` for one byte, `\` quotes the next one; all else stands
 * for itself. Nothing matches by its beginning alone without `*`. TOOL alone matches every call of the tool.
 */
#ifndef AK_AGENT_RULES_H
#define AK_AGENT_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;

#define RULE_BYTES_MAX 4096u
#define RULES_MAX 256u
#define RULE_HOLE '\0' /* in a text that is matched: a part nobody knows; the same byte as SHELL_HOLE */

struct rule {
	char *text; /* as it was written */
	char *tool;
	char *glob;  /* NULL: every call */
	bool exact;  /* no unquoted * or ? in @glob */
	bool deny;
};

struct rules {
	struct rule *items;
	size_t n;
};

enum rule_match {
	RULE_NO,    /* whatever the holes stand for */
	RULE_MAYBE, /* for some values of the holes */
	RULE_YES,   /* whatever the holes stand for */
};

/**
 * rules_add() - read one rule
 * @text:	copied
 * Return: 0; -EINVAL (no tool, a tool nobody has, unbalanced or empty parentheses, control characters; @err names the rule and
 * the form wanted); -E2BIG (RULE_BYTES_MAX, RULES_MAX); -ENOMEM. @r is as before then.
 */
int rules_add(struct rules *r, bool deny, const char *text, struct ak_err *err);
void rules_release(struct rules *r);

/** rule_glob() - match; time at most bytes of @glob times bytes of @text. Holes in @text: see enum rule_match. */
enum rule_match rule_glob(const char *glob, const char *text, size_t len);

#endif
