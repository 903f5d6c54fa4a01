/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of protected names: files of a workspace that later run on the host. Pure; any process, no
 * privilege. */
#ifndef AK_WORKSPACE_PROTECTED_H
#define AK_WORKSPACE_PROTECTED_H

#include <stdbool.h>
#include <stddef.h>

enum protected_class {
	PROTECTED_NO = 0,
	PROTECTED_LIST,	 /* ordinary work writes it: changes are named, never prevented */
	PROTECTED_BLOCK, /* read-only in a direct workspace, where it exists at its top */
	PROTECTED_GIT,	 /* ".git": a folder stays writable but is a mount with read-only hooks; a file is
			    read-only */
};

#define PROTECTED_GIT_HOOKS ".git/hooks"

/**
 * protected_match() - is a file name protected at any depth? Letters are compared without regard to case,
 * since the workspace may lie on, or be copied to, a file system that does the same.
 * @name:	one path component
 */
enum protected_class protected_match(const char *name);

/**
 * protected_match_path() - the strictest class of the components of a relative path
 * @path:	relative to the workspace, such as "sub/.git/hooks/pre-commit"
 */
enum protected_class protected_match_path(const char *path);

/** protected_is_row() - is @name, as given to --allow-protected, a name the table knows (".git/hooks" too)?
 */
bool protected_is_row(const char *name);

/**
 * protected_allowed() - does the user's list lift the protection of @name? ".git" lifts ".git/hooks" too.
 * @allow:	NULL-terminated, or NULL
 */
bool protected_allowed(char *const *allow, const char *name);

#endif
