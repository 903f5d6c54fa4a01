/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor and the child that reads a cow run's layer share: cow*.c only. */
#ifndef AK_COW_SCRIBE_H
#define AK_COW_SCRIBE_H

#include <stdbool.h>

#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_err.h"

struct apply;
struct cow;
struct journal;
struct protected_place;

/* orders, one byte each; end of file: the run's executor is gone, leave everything as it is */
#define SCRIBE_SCAN 's'
#define SCRIBE_APPLY 'a'

#define SCRIBE_MEASURE_MIN_MS 100u	/* between two looks at the layer's size */
#define SCRIBE_MEASURE_SHARE 20u	/* a look takes one of so many parts of the time at most */

/* memory of both; written by the child, read when it has ended */
struct cow_shared {
	struct ak_err scan;	/* code 0: the journal is in the memory file and in the changeset */
	struct ak_err apply;	/* why nothing was taken over */
	size_t dropped;		/* attributes that were not taken over, see struct apply */
	bool applied;
	bool removed;		/* the changeset is gone */
};

/**
 * scribe_main() - be the scribe: keep only what it needs, become the owner, measure until the order comes, do it
 * @go, @alarm:	its ends of the two pipes
 * Process: child of the executor. Privilege: root mode: given up at once for the workspace's owner.
 */
_Noreturn void scribe_main(struct cow *c, int go, int alarm);

/**
 * scribe_alone() - keep only what a child that reads the layer of @c needs, and become the owner of the workspace
 * @place:	filled in, where the workspace lies as the caller of ak sees it; protected_place_release() in any case
 * @keep:	its own descriptors, beside those of @c; -1 entries are none
 * Return: 0 or negative errno; it may only exit then. Process, privilege: as scribe_main().
 */
int scribe_alone(struct cow *c, struct protected_place *place, const int *keep, size_t n, struct ak_err *err);

/**
 * scribe_close_others() - close everything but @keep, which it sorts; -1 entries are none
 * Pipes of the caller's that a child keeps open would never end for their readers.
 */
void scribe_close_others(int *keep, size_t n);

/** scribe_layer_bytes() - what the layer takes on the disk; UINT64_MAX: unknown */
uint64_t scribe_layer_bytes(const struct cow *c);

/**
 * scribe_take_over() - all of @j, or nothing
 * @prefix:	of the workspace's struct protected_place
 * @ret:	states of the changes, also when nothing was done; apply_release() it in any case
 * Return: 0; -EBUSY (conflicts), -EPERM (protected names), what apply_run() gives: it can be begun again.
 */
int scribe_take_over(struct cow *c, const char *prefix, struct journal *j, struct apply *ret, struct ak_err *err);

#endif
