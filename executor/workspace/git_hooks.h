/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders of a workspace that a git configuration makes hooks of (core.hooksPath). Process: executor, or a child that is the
 * workspace's owner. Privilege: the caller's; root reads with the file ids of the workspace's owner.
 *
 * Looked at are the repositories that the workspace lies in or is the top of, as they are on the host before the command, or below
 * its changes or, after a direct run, in it. Values count by their text and by where their links lead now; "~/" is the home of the
 * caller (HOME, passwd) and of the workspace's owner. Not followed: included files (include.path, also within the workspace), the
 * user's and the system's own configuration.
 */
#ifndef AK_WORKSPACE_GIT_HOOKS_H
#define AK_WORKSPACE_GIT_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#define GIT_HOOKS_MAX 256u	/* folders of one workspace; the last ones, as git obeys the last */
#define GIT_HOOKS_CONFIG (256u << 10) /* bytes of a configuration; what is beyond is not looked at, and makes it unclear */

struct git_hooks {
	char *path[GIT_HOOKS_MAX];	/* relative to the workspace, normalised; "": the workspace itself; owned */
	size_t n;
	bool unclear;	/* there may be more: a value that cannot be judged ("~user/x"), too many, too large, not to be read */
	char *workspace; /* of git_hooks_find(); owned */
};

/**
 * git_hooks_value() - the next value of a key "hooksPath", whatever section it stands in
 * @text, @len:	a git configuration, of any bytes
 * @pos:	starts as 0
 * @ret:	the value without quotes and comments
 * Return: false at the end; values that are empty or longer than @size - 1 are passed over. Pure.
 */
bool git_hooks_value(const char *text, size_t len, size_t *pos, char *ret, size_t size);

/**
 * git_hooks_add() - those of one repository
 * @h:		added to
 * @top:	real path of the repository's working tree: there is a folder or file ".git" in it
 * @workspace:	real path; folders outside of it are of no interest
 * Missing and unreadable files add nothing.
 */
void git_hooks_add(struct git_hooks *h, const char *top, const char *workspace);

/** git_hooks_note() - add @path, relative to the workspace and normalised: a folder of hooks, or a link on the way to one */
void git_hooks_note(struct git_hooks *h, const char *path);

/** git_hooks_find() - those of the repositories that @workspace is the top of, or lies in */
void git_hooks_find(struct git_hooks *h, const char *workspace);

/**
 * git_hooks_has() - does @path lie in such a folder? In the workspace itself, where that is one, the names of hooks count; anywhere,
 * where it is unclear.
 */
bool git_hooks_has(const struct git_hooks *h, const char *path);

void git_hooks_release(struct git_hooks *h);

#endif
