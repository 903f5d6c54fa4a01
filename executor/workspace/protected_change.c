/* SPDX-License-Identifier: Apache-2.0 */
/* What apply holds back, and what lifts that. Pure; any process, no privilege. */
#include "executor/workspace/protected_change.h"

#include <string.h>
#include <strings.h>

#include "executor/workspace/git_member.h"

static bool is(const char *part, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(part, name, n) == 0;
}

enum protected_class protected_change(const char *path, bool folder)
{
	const char *p = path;
	bool in_git = false;

	while (*p) {
		size_t n = strcspn(p, "/");
		bool last = p[n] == '\0';

		if (is(p, n, ".git")) {
			in_git = true;
			if (last ? !folder : git_member_held(git_member(p + n + 1), folder))
				return PROTECTED_GIT;
		}
		p += n + !last;
	}
	/* names of refs and objects are git's own */
	return folder || in_git ? PROTECTED_NO : protected_match_path(path);
}

static bool below(const char *path, const char *top)
{
	size_t n = strlen(top);

	while (n > 1 && top[n - 1] == '/')
		n--;
	return strncasecmp(path, top, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* does a component, or two in the case of ".git/hooks", of @path have that name? */
static bool has_part(const char *path, const char *row)
{
	for (const char *p = path; *p;) {
		size_t n = strcspn(p, "/");

		if (below(p, row))
			return true;
		p += n + (p[n] == '/');
	}
	return false;
}

bool protected_taken(char *const *names, const char *path)
{
	for (; names && *names; names++) {
		if (protected_is_row(*names) ? has_part(path, *names) : below(path, *names) &&
		    (strlen(path) == strlen(*names) || protected_match_path(*names) != PROTECTED_NO))
			return true;
	}
	return false;
}
