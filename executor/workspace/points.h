/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a copied workspace: copies of its layer in the changeset's folder, numbered from 1. Process: a child of the executor
 * that is the owner of the workspace. Privilege: none beyond that.
 *
 *   points/N	the layer as it was; files that have not changed are shared with the one before by hard links, and never written to
 *
 * What the workspace itself holds is not copied: cost and size grow with what was changed. They end with the changeset, and when what it
 * held was applied or discarded, since they say what differs from a workspace that has changed then.
 */
#ifndef AK_WORKSPACE_POINTS_H
#define AK_WORKSPACE_POINTS_H

#include <stdint.h>

#include "executor/workspace/changeset.h"
#include "executor/workspace/journal.h"

struct ak_err;

#define POINTS_MAX 1000u	/* kept; the oldest goes when there are more */

struct points {
	int dir;		/* owned; -1: none was made yet */
	uint32_t last, first;	/* numbers of the newest and the oldest; 0: none */
	struct journal seen;	/* of the newest: the layer's files as they were */
	int64_t at_ns;
	uint64_t bytes;		/* copied for all of them */
};

#define POINTS_NONE { .dir = -1 }

/**
 * points_open() - those that earlier runs on the changeset have left
 * @p:		POINTS_NONE; of the newest it is not known any more what was in it, so the next one shares no file with it
 * Return: 0, also when there are none; negative errno.
 */
int points_open(struct points *p, const struct changeset *cs, struct ak_err *err);

/**
 * points_save() - keep the layer as it is
 * @max_bytes:	what all of them may hold; 0: no limit
 * Return: 0 with p->last its number; -EDQUOT (max_bytes), -ENOSPC, ... named, and nothing is left of it.
 */
int points_save(struct points *p, const struct changeset *cs, uint64_t max_bytes, uint64_t *ret_entries, struct ak_err *err);

/**
 * points_restore() - make the layer what it was; it must not be mounted
 * @cs:		its journal, if there is one, is removed; its upper is another descriptor afterwards
 * Whole or not at all, also when it is killed: the two change places by one rename. Return: 0; -ENOENT (no such number), ...
 */
int points_restore(const struct points *p, struct changeset *cs, uint32_t number, struct ak_err *err);

/** points_drop() - forget all of them. Return: 0 or negative errno. */
int points_drop(struct points *p, const struct changeset *cs, struct ak_err *err);

#endif
