/* SPDX-License-Identifier: Apache-2.0 */
/* Which files of a git folder make git start programs or look elsewhere. Pure; any process, no privilege. */
#ifndef AK_WORKSPACE_GIT_MEMBER_H
#define AK_WORKSPACE_GIT_MEMBER_H

enum git_member {
	GIT_OTHER = 0,	/* objects, refs, index, logs: ordinary work writes them */
	GIT_WALK,	/* a folder that may hold members */
	GIT_FILE,	/* a file that counts: commondir, info/attributes, worktrees/X/gitdir ... */
	GIT_CONFIG,	/* a configuration: keys of it may start programs */
	GIT_HOOK,	/* hooks, and everything below */
};

/**
 * git_member() - what @path is to git, whose folder (".git", a bare repository, one in modules/) it is relative to
 * @path:	such as "config", "hooks/pre-commit", "modules/a/b/config"; letters in either case
 * A hook's sample, which git never runs, is GIT_OTHER.
 * Source: gitrepository-layout(5), githooks(5), git-config(1).
 */
enum git_member git_member(const char *path);

#endif
