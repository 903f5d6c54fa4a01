/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a tree by descriptors, without following links and without leaving its file system. Any process; privilege: the
 * caller's. Shared by changesets and checkpoints.
 *
 * Order: all entries of a folder, sorted by their bytes, then its folders in the same order: parents come before their
 * children, and the same tree always gives the same order.
 */
#ifndef AK_WORKSPACE_WALK_H
#define AK_WORKSPACE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/workspace/fsat.h"

struct ak_err;

#define WS_WALK_ENTRIES_MAX 4000000u		/* entries of one walk */
#define WS_WALK_BYTES_MAX (512u << 20)		/* names of a folder and paths of folders waiting, in memory */
#define WS_WALK_DEPTH_MAX 2048u			/* follows from WS_PATH_MAX; said by name */

struct ws_entry {
	const char *path;	/* relative to the root of the walk; borrowed for the call */
	const char *name;	/* last component, within @path */
	int dir;		/* descriptor of the folder it is in; borrowed for the call */
	struct ws_ident id;
	size_t *known;		/* of a folder: what the visit sets it to goes to struct ws_known; WS_UNKNOWN until then */
};

#define WS_UNKNOWN SIZE_MAX

/**
 * struct ws_known - names of folders that need not be read, as nothing was added to them or taken away since they were
 * @same:	is @now, the folder as it has been opened, the one whose names are known as @folder?
 * @name:	its name number @i; NULL behind the last one. Borrowed until the walk ends
 * @seen:	has name number @i been looked at since the walk began? Then *@ret is what was found
 * Where one of the names is missing after all, the folder is read.
 */
struct ws_known {
	bool (*same)(void *arg, size_t folder, const struct ws_ident *now);
	const char *(*name)(void *arg, size_t folder, size_t i);
	bool (*seen)(void *arg, size_t folder, size_t i, struct ws_ident *ret);
};

enum ws_visit {
	WS_GO_ON = 0,
	WS_DO_NOT_ENTER = 1,	/* of a folder: what is in it is not visited */
};

/**
 * typedef ws_visit_fn - called for every entry but the root
 * Return: enum ws_visit, or a negative errno that ends the walk and is returned by it.
 */
typedef int (*ws_visit_fn)(void *arg, const struct ws_entry *e, struct ak_err *err);

/**
 * typedef ws_trouble_fn - called for a folder that cannot be opened or read, and for a path that is too long
 * @code:	positive errno: EACCES, ENAMETOOLONG, EXDEV (another file system is mounted there), ...
 * Return: 0 to go on without it, or a negative errno that ends the walk.
 */
typedef int (*ws_trouble_fn)(void *arg, const char *path, int code, struct ak_err *err);

/**
 * ws_walk_known(), ws_walk() - visit everything beneath a folder
 * @root:	descriptor of the folder, open for reading or O_PATH; borrowed
 * @start:	"" for all of it, else a folder beneath @root to begin in; paths stay relative to @root
 * @trouble:	NULL: any trouble ends the walk
 * @known:	NULL: every folder is read
 *
 * An entry that vanishes between reading the folder and looking at it is left out.
 * Return: 0, -E2BIG (WS_WALK_ENTRIES_MAX or WS_WALK_BYTES_MAX, which the message names), or a negative errno.
 */
int ws_walk_known(int root, const char *start, ws_visit_fn visit, ws_trouble_fn trouble, const struct ws_known *known, void *arg,
		  struct ak_err *err);
int ws_walk(int root, const char *start, ws_visit_fn visit, ws_trouble_fn trouble, void *arg, struct ak_err *err);

#endif
