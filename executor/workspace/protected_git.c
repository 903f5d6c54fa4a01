/* SPDX-License-Identifier: Apache-2.0 */
/* Git folders as protected names see them. Pure; any process, no privilege. */
#include "executor/workspace/protected_git.h"

#include <string.h>
#include <strings.h>

/* entries of a git folder that hold no program and choose none; what is not here is protected */
static const struct {
	const char *name;
	bool below;	/* and everything in it */
} ordinary[] = {
	{ "objects", true },	     { "refs", true },		   { "logs", true },
	{ "HEAD", false },	     { "index", false },	   { "packed-refs", false },
	{ "ORIG_HEAD", false },	     { "FETCH_HEAD", false },	   { "MERGE_HEAD", false },
	{ "MERGE_MSG", false },	     { "MERGE_MODE", false },	   { "MERGE_AUTOSTASH", false },
	{ "AUTO_MERGE", false },     { "CHERRY_PICK_HEAD", false }, { "REVERT_HEAD", false },
	{ "REBASE_HEAD", false },    { "SQUASH_MSG", false },	   { "TAG_EDITMSG", false },
	{ "COMMIT_EDITMSG", false }, { "description", false },	   { "shallow", false },
	{ "gc.log", false },	     { "gc.pid", false },	   { "branches", false },
	{ "BISECT_LOG", false },     { "BISECT_NAMES", false },	   { "BISECT_START", false },
	{ "BISECT_TERMS", false },   { "BISECT_EXPECTED_REV", false }, { "rr-cache", true },
	{ "NOTES_MERGE_REF", false }, { "NOTES_MERGE_PARTIAL", false }, { "FETCH_HEAD.lock", false },
	{ "HEAD.lock", false },	     { "index.lock", false },	   { "packed-refs.lock", false },
	{ "locked", false },	     { "sharedindex", false },
};

static bool is(const char *part, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(part, name, n) == 0;
}

static bool ordinary_entry(const char *rest)
{
	size_t n = strcspn(rest, "/");

	for (size_t i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++)
		if (is(rest, n, ordinary[i].name))
			return rest[n] == '\0' || ordinary[i].below;
	return false;
}

/* git runs hooks by their exact names only; `git init` makes these */
static bool is_sample(const char *rest)
{
	size_t n = strlen(rest);

	return n > 7 && strcasecmp(rest + n - 7, ".sample") == 0;
}

/* in place of one of these a link would choose all that git reads from there */
bool protected_git_folder(const char *rest)
{
	static const char *const names[] = { "hooks", "info", "objects/info", "worktrees", "modules" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcasecmp(rest, names[i]) == 0)
			return true;
	return strncasecmp(rest, "worktrees/", 10) == 0 && rest[10] && !strchr(rest + 10, '/');
}

bool protected_git_inside(const char *rest)
{
	size_t n = strcspn(rest, "/");

	if (n == 0)
		return false;
	/* other places to take objects from: nothing runs, but what a commit holds is decided there */
	if (is(rest, n, "objects") && strncasecmp(rest + n, "/info/", 6) == 0 && strcasestr(rest + n, "alternates"))
		return true;
	if (is(rest, n, "info")) {
		const char *name = rest[n] ? rest + n + 1 : "";

		return *name && strcasecmp(name, "exclude") != 0 && strcasecmp(name, "refs") != 0;
	}
	/* worktrees/NAME is a git folder of its own: its gitdir, commondir and config.worktree are not in the list */
	if (is(rest, n, "worktrees")) {
		const char *name = rest[n] ? rest + n + 1 : "";
		const char *in = strchr(name, '/');

		return in && protected_git_inside(in + 1);
	}
	if (is(rest, n, "hooks") && is_sample(rest))
		return false;
	return !ordinary_entry(rest);
}

enum protected_class protected_change(const char *path, bool folder)
{
	const char *p = path;
	bool hit;

	while (*p) {
		size_t n = strcspn(p, "/");
		bool last = p[n] == '\0';

		if (is(p, n, ".git")) {
			/* a folder of hooks is nothing, what is in it is */
			const char *rest = p + n + !last;

			if (last)
				hit = !folder;
			else if (folder)
				hit = protected_git_inside(rest) && strcasecmp(rest, "hooks") != 0;
			else
				hit = protected_git_inside(rest) || protected_git_folder(rest);
			return hit ? PROTECTED_GIT : PROTECTED_NO;
		}
		p += n + !last;
	}
	return folder ? PROTECTED_NO : protected_match_path(path);
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
