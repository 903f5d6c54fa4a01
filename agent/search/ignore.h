/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of .gitignore files. Pure. Process: in the sandbox. Privilege: none. Source: gitignore(5). */
#ifndef AK_AGENT_SEARCH_IGNORE_H
#define AK_AGENT_SEARCH_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#define IGNORE_FILE_MAX (1u << 20)
#define IGNORE_RULES_MAX 20000u

struct ignore_rule {
	char *glob;	/* owned */
	size_t base;	/* bytes of the folder it counts in, with its slash */
	bool negate;
	bool dir_only;
	bool path;	/* against the path from there on, not against the name alone */
};

/** struct ignore - rules, the later ones win; all zeros is empty */
struct ignore {
	struct ignore_rule *v;
	size_t n, cap;
};

/**
 * ignore_add() - the rules of one file
 * @base:	bytes of the path of its folder with the slash behind it; 0: the top
 * Return: 0; -E2BIG (over IGNORE_RULES_MAX); -ENOMEM.
 */
int ignore_add(struct ignore *g, const char *text, size_t len, size_t base);
/** ignore_cut() - forget the rules from @n on, when their folder has been left */
void ignore_cut(struct ignore *g, size_t n);
void ignore_release(struct ignore *g);

/**
 * ignore_match() - is it ignored?
 * @path:	from the top, without a slash at either end; nothing above it is ignored
 */
bool ignore_match(const struct ignore *g, const char *path, bool is_dir);

#endif
