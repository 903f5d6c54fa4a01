/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kept changeset that is worked on once more. Process: executor, or its child that owns the workspace. Privilege: the caller's.
 *
 * Its journal says what was there before, as the first run saw it; the layer goes on changing, so the journal steps aside:
 *
 *   before	the journal of the runs before this one
 *
 * A new journal is made of the layer as always, with the time of the first run, so what was changed outside since is seen. What was
 * removed outside leaves no trace in the workspace: that is known from the journal before.
 */
#ifndef AK_WORKSPACE_CHANGESET_AGAIN_H
#define AK_WORKSPACE_CHANGESET_AGAIN_H

#include "executor/workspace/changeset.h"
#include "executor/workspace/journal.h"

struct ak_err;

#define CHANGESET_BEFORE "before"

/**
 * changeset_again() - make a kept changeset ready for another run
 * @cs:		locked
 * Return: 0; -EBUSY (an apply of it is not finished), ... named.
 */
int changeset_again(const struct changeset *cs, struct ak_err *err);

/**
 * changeset_remember() - put what the journal before knows into a new one
 * Return: 0; negative errno named. Without such a journal, or with one that cannot be read, there is nothing to do.
 */
int changeset_remember(const struct changeset *cs, struct journal *j, struct ak_err *err);

#endif
