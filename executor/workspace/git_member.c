/* SPDX-License-Identifier: Apache-2.0 */
/* Table of what counts in a git folder. Pure; any process, no privilege. */
#include "executor/workspace/git_member.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *path; /* "*": any one component */
	enum git_member what;
} table[] = {
	{"config", GIT_CONFIG},
	{"config.worktree", GIT_CONFIG},
	{"commondir", GIT_FILE}, /* where config and hooks are read from */
	{"gitdir", GIT_FILE},
	{"info", GIT_WALK},
	{"info/attributes", GIT_FILE}, /* chooses filters and drivers */
	{"worktrees", GIT_WALK},
	{"worktrees/*", GIT_WALK},
	{"worktrees/*/gitdir", GIT_FILE},
	{"worktrees/*/commondir", GIT_FILE},
	{"worktrees/*/config.worktree", GIT_CONFIG},
};

static bool same(const char *row, const char *path)
{
	while (*row && *path) {
		size_t r = strcspn(row, "/"), p = strcspn(path, "/");

		if (!(r == 1 && *row == '*') && (r != p || strncasecmp(row, path, r) != 0))
			return false;
		row += r + (row[r] == '/');
		path += p + (path[p] == '/');
	}
	return !*row && !*path;
}

static bool first_is(const char *path, const char *name)
{
	size_t n = strlen(name);

	return strncasecmp(path, name, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n >= k && strcasecmp(path + n - k, end) == 0;
}

static enum git_member in_repository(const char *path)
{
	if (first_is(path, "hooks"))
		return ends_with(path, ".sample") ? GIT_OTHER : GIT_HOOK;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (same(table[i].path, path))
			return table[i].what;
	}
	return GIT_OTHER;
}

/*
 * modules/ holds repositories at any depth, as submodules are named with slashes; where one begins cannot be told from the path, so
 * each end of it is tried.
 */
enum git_member git_member(const char *path)
{
	enum git_member best = GIT_WALK;

	if (!first_is(path, "modules"))
		return in_repository(path);
	while ((path = strchr(path, '/')) != NULL) {
		enum git_member m = in_repository(++path);

		if (m > best)
			best = m;
		if (first_is(path, "objects") || first_is(path, "refs") || first_is(path, "logs"))
			return best > GIT_WALK ? best : GIT_OTHER;
	}
	return best;
}
