/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor and the child that reads a cow run's layer share: cow*.c only. */
#ifndef AK_COW_SCRIBE_H
#define AK_COW_SCRIBE_H

#include <stdbool.h>

#include "executor/shared/ak_err.h"

struct cow;

/* orders, one byte each; end of file: the run's executor is gone, leave everything as it is */
#define SCRIBE_SCAN 's'
#define SCRIBE_APPLY 'a'

#define SCRIBE_MEASURE_MIN_MS 100u	/* between two looks at the layer's size */
#define SCRIBE_MEASURE_SHARE 20u	/* a look takes one of so many parts of the time at most */

/* memory of both; written by the child, read when it has ended */
struct cow_shared {
	struct ak_err scan;	/* code 0: the journal is in the memory file and in the changeset */
	struct ak_err apply;	/* why nothing was taken over */
	bool applied;
	bool removed;		/* the changeset is gone */
};

/**
 * scribe_main() - be the scribe: keep only what it needs, become the owner, measure until the order comes, do it
 * @go, @alarm:	its ends of the two pipes
 * Process: child of the executor. Privilege: root mode: given up at once for the workspace's owner.
 */
_Noreturn void scribe_main(struct cow *c, int go, int alarm);

#endif
