/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of what the files of a git folder are to git: which make it start programs or look elsewhere, and which are ordinary
 * work. Pure; any process, no privilege. Two ask: the report of a direct run (protected_scan.h), and apply (protected_change.h).
 * A name that is not in the table counts as one that matters.
 */
#ifndef AK_WORKSPACE_GIT_MEMBER_H
#define AK_WORKSPACE_GIT_MEMBER_H

#include <stdbool.h>

enum git_member {
	GIT_ORDINARY = 0, /* index, HEAD, logs ...: ordinary work writes them, and they decide nothing */
	GIT_STORE,	/* a folder of such: in its place a link would choose what git reads */
	GIT_DATA,	/* nothing runs by it, but it is part of a repository that is new here, or says where history is taken from */
	GIT_FOLDER,	/* a folder that may hold what matters, and is nothing by itself */
	GIT_UNKNOWN,	/* not in the table */
	GIT_FILE,	/* a file that counts: commondir, info/attributes, worktrees/X/gitdir ... */
	GIT_CONFIG,	/* a configuration: keys of it may start programs */
	GIT_HOOK,	/* what is in hooks, at any depth */
};

/**
 * git_member() - what @path is to git, whose folder (".git", a bare repository) it is relative to
 * @path:	such as "config", "hooks/pre-commit", "modules/a/b/config"; letters in either case; not ""
 * A hook's sample, which git never runs, is GIT_ORDINARY.
 * Source: gitrepository-layout(5), githooks(5), git-config(1).
 */
enum git_member git_member(const char *path);

/**
 * git_member_nested() - is it modules/, or in it? There each folder may lead to a repository, whatever git_member() says of it: a
 * submodule "lib/objects" has its hooks in modules/lib/objects/hooks.
 */
bool git_member_nested(const char *path);

/**
 * git_member_held() - does apply hold a change of it back?
 * @folder:	it is a folder now or was one, and nothing else
 */
bool git_member_held(enum git_member m, bool folder);

/** git_member_told() - is a change of it, which is no folder, told after a direct run? */
bool git_member_told(enum git_member m);

#endif
