/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the refused calls of a run are observed, and what that takes: the joined filter for init, the counts for the relay.
 * Process: executor. Privilege: none.
 */
#ifndef AK_OBSERVING_H
#define AK_OBSERVING_H

#include <stdbool.h>
#include <stdint.h>

#include "executor/denials.h"

struct ak_err;
struct exec_opts;
struct plan;
struct sock_filter;

struct observing {
	struct denials denials;
	struct sock_filter *joined;	/* owned; NULL: not observed */
	bool learn;			/* INIT_MSG_LEARNED was asked for */
	bool have_learned;
	uint8_t learned[64];		/* AK_INIT_LEARNED_BYTES: bit N of byte N / 8 for call N that passed */
};

#define OBSERVING_NONE { .denials = { .fd = -1 } }

/**
 * observing_prepare() - decide, and put the joined filter into the plan
 * Observed is a run whose result is asked for (--json, --report, --verbose) or that is to be learned from; nobody would see it else,
 * and the self-test takes longer with it. A profile that does not let init send the listener, or with which the joined filter would be
 * longer than the kernel takes, is not observed: a warning of the plan then.
 * @plan:	its filters are final; gets joined, joined_count, learn; borrowed by the run
 * Return: 0; -ENOMEM; -EINVAL when it is to be learned from and cannot be observed.
 */
int observing_prepare(struct observing *ob, const struct exec_opts *o, bool learn, struct plan *plan, struct ak_err *err);

/** observing_told() - after the run: a warning of the plan when the kernel gave no listener */
void observing_told(const struct observing *ob, struct plan *plan);

void observing_release(struct observing *ob);

#endif
