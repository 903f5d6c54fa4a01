/* SPDX-License-Identifier: Apache-2.0 */
/* Table of what counts in a git folder. Pure; any process, no privilege. */
#include "executor/workspace/git_member.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

enum how {
	EXACT,
	PREFIX,	/* of the last component */
	SUFFIX,	/* the same */
	BELOW,	/* and everything in it */
};

/* "*" in a path: any one component. The first row that fits decides */
static const struct {
	const char *path;
	enum how how;
	enum git_member what;
} table[] = {
	/* programs, and where they are named or looked for */
	{"config", EXACT, GIT_CONFIG},
	{"config.worktree", EXACT, GIT_CONFIG},
	{"commondir", EXACT, GIT_FILE},		/* where config and hooks are read from */
	{"gitdir", EXACT, GIT_FILE},
	{"hooks", EXACT, GIT_FOLDER},
	{"hooks/*.sample", SUFFIX, GIT_ORDINARY},
	{"hooks", BELOW, GIT_HOOK},
	{"info", EXACT, GIT_FOLDER},
	{"info/exclude", EXACT, GIT_ORDINARY},
	{"info/refs", EXACT, GIT_ORDINARY},
	{"info/attributes", EXACT, GIT_FILE},	/* chooses filters and drivers */
	{"worktrees", EXACT, GIT_FOLDER},	/* what is in worktrees/X: see git_member() */
	{"worktrees/*", EXACT, GIT_FOLDER},
	{"branches", EXACT, GIT_FOLDER},	/* a file in it is an address to fetch from */
	{"remotes", EXACT, GIT_FOLDER},
	{"rebase-merge", BELOW, GIT_FILE},	/* their lists of what to do may hold commands */
	{"rebase-apply", BELOW, GIT_FILE},
	{"sequencer", BELOW, GIT_FILE},
	/* other places to take objects from: nothing runs, but what a commit holds is decided there */
	{"objects/info", EXACT, GIT_STORE},
	{"objects/info/alternates", EXACT, GIT_DATA},
	{"objects/info/http-alternates", EXACT, GIT_DATA},
	/* ordinary work */
	{"objects", EXACT, GIT_STORE},
	{"refs", EXACT, GIT_STORE},
	{"logs", EXACT, GIT_STORE},
	{"rr-cache", EXACT, GIT_STORE},
	{"reftable", EXACT, GIT_STORE},
	{"objects", BELOW, GIT_ORDINARY},
	{"refs", BELOW, GIT_ORDINARY},
	{"logs", BELOW, GIT_ORDINARY},
	{"rr-cache", BELOW, GIT_ORDINARY},
	{"reftable", BELOW, GIT_ORDINARY},
	{"lfs", EXACT, GIT_FOLDER},
	{"lfs/objects", BELOW, GIT_ORDINARY},
	{"lfs/tmp", BELOW, GIT_ORDINARY},
	{"lfs/incomplete", BELOW, GIT_ORDINARY},
	{"lfs/cache", BELOW, GIT_ORDINARY},
	{"HEAD", EXACT, GIT_ORDINARY},
	{"index", EXACT, GIT_ORDINARY},
	{"index.stash.", PREFIX, GIT_ORDINARY},
	{"next-index-", PREFIX, GIT_ORDINARY},
	{"sharedindex", PREFIX, GIT_ORDINARY},
	{"packed-refs", EXACT, GIT_ORDINARY},
	{"packed-refs.new", EXACT, GIT_ORDINARY},
	{"shallow", EXACT, GIT_ORDINARY},
	{"ORIG_HEAD", EXACT, GIT_ORDINARY},
	{"FETCH_HEAD", EXACT, GIT_ORDINARY},
	{"MERGE_HEAD", EXACT, GIT_ORDINARY},
	{"MERGE_MSG", EXACT, GIT_ORDINARY},
	{"MERGE_MODE", EXACT, GIT_ORDINARY},
	{"MERGE_RR", EXACT, GIT_ORDINARY},
	{"MERGE_AUTOSTASH", EXACT, GIT_ORDINARY},
	{"AUTO_MERGE", EXACT, GIT_ORDINARY},
	{"CHERRY_PICK_HEAD", EXACT, GIT_ORDINARY},
	{"REVERT_HEAD", EXACT, GIT_ORDINARY},
	{"REBASE_HEAD", EXACT, GIT_ORDINARY},
	{"SQUASH_MSG", EXACT, GIT_ORDINARY},
	{"COMMIT_EDITMSG", EXACT, GIT_ORDINARY},
	{"TAG_EDITMSG", EXACT, GIT_ORDINARY},
	{"NOTES_EDITMSG", EXACT, GIT_ORDINARY},
	{"EDIT_DESCRIPTION", EXACT, GIT_ORDINARY},
	{"NOTES_MERGE_REF", EXACT, GIT_ORDINARY},
	{"NOTES_MERGE_PARTIAL", EXACT, GIT_ORDINARY},
	{"BISECT_LOG", EXACT, GIT_ORDINARY},
	{"BISECT_NAMES", EXACT, GIT_ORDINARY},
	{"BISECT_START", EXACT, GIT_ORDINARY},
	{"BISECT_TERMS", EXACT, GIT_ORDINARY},
	{"BISECT_EXPECTED_REV", EXACT, GIT_ORDINARY},
	{"BISECT_ANCESTORS_OK", EXACT, GIT_ORDINARY},
	{"description", EXACT, GIT_ORDINARY},
	{"gc.log", EXACT, GIT_ORDINARY},
	{"gc.pid", EXACT, GIT_ORDINARY},
	{"locked", EXACT, GIT_ORDINARY},
	{"*.lock", SUFFIX, GIT_ORDINARY},	/* git makes them anew, or stops at them; it never reads one */
};

static bool end_fits(const char *row, enum how how, const char *last)
{
	size_t n = strlen(last), k;

	if (how == PREFIX)
		return strncasecmp(row, last, strlen(row)) == 0;
	row++;	/* the "*" */
	k = strlen(row);
	return n > k && strcasecmp(last + n - k, row) == 0;
}

static bool fits(const char *row, enum how how, const char *path)
{
	while (*row && *path) {
		size_t r = strcspn(row, "/"), p = strcspn(path, "/");

		if ((how == PREFIX || how == SUFFIX) && !row[r])
			return !path[p] && end_fits(row, how, path);
		if (!(r == 1 && *row == '*') && (r != p || strncasecmp(row, path, r) != 0))
			return false;
		row += r + (row[r] == '/');
		path += p + (path[p] == '/');
	}
	return !*row && (how == BELOW || !*path);
}

static enum git_member look_up(const char *path)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (fits(table[i].path, table[i].how, path))
			return table[i].what;
	}
	return GIT_UNKNOWN;
}

static bool first_is(const char *path, const char *name)
{
	size_t n = strlen(name);

	return strncasecmp(path, name, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/*
 * modules/ holds repositories at any depth, as submodules are named with slashes ("src/logs", "lib/objects"); where one begins cannot
 * be told from the path, so each end of it is tried, and what matters in one of them matters. Else it is a folder, a store or data
 * where one of them knows it as that: a branch of a submodule that is called "config" is told, a hook is never missed.
 */
static enum git_member in_modules(const char *path)
{
	enum git_member best = GIT_UNKNOWN;
	bool folder = false, store = false, data = false;

	/* a submodule has a name of one component at least, whatever that is */
	path = strchr(path, '/');
	while (path && (path = strchr(path + 1, '/')) != NULL) {
		enum git_member m = look_up(path + 1);

		if (m > best)
			best = m;
		folder = folder || m == GIT_FOLDER;
		store = store || m == GIT_STORE;
		data = data || m < GIT_FOLDER;
	}
	if (best > GIT_UNKNOWN)
		return best;
	return folder ? GIT_FOLDER : store ? GIT_STORE : data ? GIT_DATA : GIT_UNKNOWN;
}

/* Return: what is behind worktrees/NAME, a git folder of its own but for what all of them share; NULL: nothing is */
static const char *skip_worktrees(const char *path)
{
	while (path && first_is(path, "worktrees")) {
		path = path[9] ? strchr(path + 10, '/') : NULL;
		path = path ? path + 1 : NULL;
	}
	return path;
}

enum git_member git_member(const char *path)
{
	path = skip_worktrees(path);
	if (!path)
		return GIT_FOLDER;
	return first_is(path, "modules") ? in_modules(path) : look_up(path);
}

bool git_member_nested(const char *path)
{
	path = skip_worktrees(path);
	return path && first_is(path, "modules");
}

bool git_member_held(enum git_member m, bool folder)
{
	return folder ? m != GIT_ORDINARY && m != GIT_STORE && m != GIT_FOLDER : m != GIT_ORDINARY;
}

bool git_member_told(enum git_member m)
{
	return m != GIT_ORDINARY && m != GIT_DATA;
}
