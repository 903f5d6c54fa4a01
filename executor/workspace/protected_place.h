/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a workspace lies, and what of it counts as protected for that. Process: executor, or a child that is the workspace's owner.
 * Privilege: the caller's.
 *
 * A workspace can lie in a folder that is protected itself (".git/hooks", ".vscode"): its files are judged by the path from there.
 * A project of its own within such a folder (it, or a folder between the two, holds an entry ".git") is judged by itself, but never
 * inside a git folder.
 */
#ifndef AK_WORKSPACE_PROTECTED_PLACE_H
#define AK_WORKSPACE_PROTECTED_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "executor/workspace/git_hooks.h"
#include "executor/workspace/protected.h"

struct protected_place {
	char workspace[PATH_MAX];	/* real path */
	char prefix[PATH_MAX];	/* from the outermost protected name to the workspace: ".git/hooks"; "": it lies in none */
	struct git_hooks hooks;
};

/**
 * protected_place_find() - look at where a workspace is, and at the hooks of its repositories
 * @workspace:	real path
 * @ret:	released by the caller with protected_place_release()
 */
void protected_place_find(struct protected_place *ret, const char *workspace);
void protected_place_release(struct protected_place *p);

/**
 * protected_place_prefix() - only where it is
 * @ret:	PATH_MAX bytes
 * Return: is it within a protected folder?
 */
bool protected_place_prefix(const char *workspace, char *ret);

/** protected_place_change() - protected_change() for a path of that workspace */
enum protected_class protected_place_change(const struct protected_place *p, const char *path, bool folder);

/** protected_place_taken() - protected_taken() for a path of it: by its name in the workspace, or by what that lies in */
bool protected_place_taken(const char *prefix, char *const *names, const char *path);

#endif
