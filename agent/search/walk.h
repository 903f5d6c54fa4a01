/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes through a tree in the order of names: no links are followed, .git and what .gitignore files name is passed over. Process:
 * in the sandbox. Privilege: none.
 */
#ifndef AK_AGENT_SEARCH_WALK_H
#define AK_AGENT_SEARCH_WALK_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;

#define WALK_DEPTH_MAX 128u
#define WALK_NAMES_MAX 200000u /* of one folder */
#define WALK_PATH_MAX 4096u

/* What could not be looked at, for one line at the end */
struct walk_notes {
	unsigned long unreadable; /* folders and files */
	unsigned long deep;	  /* folders too deep, paths too long, folders with too many names */
};

/**
 * walk_fn() - one entry that is not a folder
 * @dir_fd, @name: where it is; borrowed. @path: from the top. @is_link: a symbolic link
 * Return: 0 to go on, above 0 to stop, negative errno.
 */
typedef int walk_fn(void *ctx, int dir_fd, const char *name, const char *path, bool is_link);

/**
 * walk() - every entry below @start
 * @top_fd:	folder from which paths are named, and whose .gitignore files count; borrowed
 * @start:	"" or a folder below it, without "." and "..": what is ignored above it does not matter, its rules do
 * Return: 0; what walk_fn() returned; -ENOENT, -ENOTDIR and their like for @start; -ENOMEM. *@notes is filled in every case.
 */
int walk(int top_fd, const char *start, walk_fn *fn, void *ctx, struct walk_notes *notes, struct ak_err *err);

/** walk_open() - the folder @path below @top_fd, no component of which is a link. Return: a descriptor; negative errno. */
int walk_open(int top_fd, const char *path, struct ak_err *err);

#endif
