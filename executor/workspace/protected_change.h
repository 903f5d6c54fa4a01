/* SPDX-License-Identifier: Apache-2.0 */
/* Which changes of a workspace apply holds back until they are named. Pure; any process, no privilege. */
#ifndef AK_WORKSPACE_PROTECTED_CHANGE_H
#define AK_WORKSPACE_PROTECTED_CHANGE_H

#include <stdbool.h>

#include "executor/workspace/protected.h"

/**
 * protected_change() - is a changed path protected when changes are applied to a workspace?
 * @path:	relative to the workspace
 * @folder:	the path is a folder now or was one, and nothing else
 * A folder is not protected by itself, only what is in it: but for ".git" as anything but a folder. In a ".git" folder
 * git_member() decides; elsewhere the table of protected.h does.
 * Return: PROTECTED_NO; PROTECTED_LIST: to be named, but taken all the same; else it has to be asked for by name.
 */
enum protected_class protected_change(const char *path, bool folder);

/**
 * protected_taken() - did the user name what protects @path?
 * @names:	NULL-terminated list of --allow-protected, or of paths to apply; or NULL
 * A row of the table (".git", ".vscode", ".git/hooks") takes every path that has it; a path with such a name in it takes itself
 * and what is below it; any other takes exactly itself. So "sub" does not take "sub/.envrc".
 */
bool protected_taken(char *const *names, const char *path);

#endif
