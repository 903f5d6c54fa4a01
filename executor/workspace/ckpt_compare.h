/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two trees. Pure; process: the commands around checkpoints. */
#ifndef AK_WORKSPACE_CKPT_COMPARE_H
#define AK_WORKSPACE_CKPT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "executor/workspace/ckpt_tree.h"

/* The operations of CLI.md; CKPT_META is only ever told to a restore */
enum ckpt_op { CKPT_SAME, CKPT_ADDED, CKPT_MODIFIED, CKPT_DELETED, CKPT_MODE, CKPT_TYPE, CKPT_META };

struct ckpt_difference {
	const char *path;	/* borrowed from the trees, as are the entries */
	enum ckpt_op op;
	const struct ckpt_entry *old, *now;	/* NULL: not there */
};

/** ckpt_same_bytes() - same type, and same bytes or link text */
bool ckpt_same_bytes(const struct ckpt_entry *a, const struct ckpt_entry *b);

/** ckpt_same_rights() - same mode and owner */
bool ckpt_same_rights(const struct ckpt_entry *a, const struct ckpt_entry *b);

/** ckpt_same_xattrs() - same user attributes, in any order */
bool ckpt_same_xattrs(const struct ckpt_entry *a, const struct ckpt_entry *b);

/**
 * ckpt_overlay_lost() - number of attributes user.overlay.* in @want that what is there in @now has not
 * @now:	indexed
 * @paths:	as ckpt_in_scope()
 */
size_t ckpt_overlay_lost(const struct ckpt_tree *want, const struct ckpt_tree *now, const char *const *paths);

/**
 * ckpt_op_of() - what happened from @a to @b; one of them may be NULL
 * Other attributes or another time of a file count as CKPT_META; a folder's time and what could not be kept as CKPT_SAME.
 */
enum ckpt_op ckpt_op_of(const struct ckpt_entry *a, const struct ckpt_entry *b);

/** ckpt_op_name() - "added", "modified", "deleted", "mode", "type" */
const char *ckpt_op_name(enum ckpt_op op);

/**
 * ckpt_compare() - all differences but CKPT_META, sorted by path
 * @ret:	malloc'ed
 * Return: number, or -ENOMEM.
 */
long ckpt_compare(const struct ckpt_tree *old, const struct ckpt_tree *now, struct ckpt_difference **ret);

/** ckpt_in_scope() - is @path one of @paths, or below one? NULL or empty: everything is. @paths: normalised, relative */
bool ckpt_in_scope(const char *const *paths, const char *path);

#endif
