/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies an overlay's upper layer as it is: whiteouts, opaque folders and all of overlayfs' own attributes included. Process: a child
 * of the executor that is the owner of the workspace (owner.h). Privilege: none beyond that.
 *
 * What lies in a layer was made by hostile commands; it is looked at by descriptors only (walk.h), and nothing is opened but folders
 * and regular files.
 */
#ifndef AK_WORKSPACE_LAYER_COPY_H
#define AK_WORKSPACE_LAYER_COPY_H

#include <stdint.h>

struct ak_err;
struct journal;

/* a copy made earlier of the same layer, whose files are taken where they have not changed since */
struct layer_before {
	int dir;			/* its top; borrowed; -1: there is none */
	const struct journal *seen;	/* files of the layer as they were then (now) */
	int64_t at_ns;			/* when that copy began, on the clock of file times */
};

struct layer_copied {
	struct journal *seen;	/* gets the files of @from as they were, for the next copy; sorted; NULL: not wanted */
	uint64_t entries;
	uint64_t bytes;		/* of files that were copied, not linked */
	uint64_t max_bytes;	/* in; 0: no limit */
};

/**
 * layer_copy() - everything in @from into the empty folder @to, with modes, times and attributes
 * @before:	files that have not changed since are linked to those of that copy; NULL: every file is copied
 * Hard links within @from stay hard links. Return: 0; -EDQUOT (max_bytes), -ENOSPC, -E2BIG (WS_WALK_*), ... named; @to is incomplete then.
 */
int layer_copy(int from, int to, const struct layer_before *before, struct layer_copied *ret, struct ak_err *err);

#endif
