/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way to a sandbox that is the same whoever asked for it: plan, then privilege given up. Process: executor.
 * Privilege: the caller's; what is left is said below.
 */
#ifndef AK_PREPARE_H
#define AK_PREPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "executor/hostinfo.h"
#include "executor/plan.h"
#include "executor/privs.h"

struct ak_err;
struct exec_opts;

/* What is known and decided before anything is made; start with PREPARED_NONE */
struct prepared {
	struct hostinfo host;
	struct plan plan;
	bool have_plan;		/* plan may be released and its warnings told; whether it is finished says the return value */
	struct privs privs;
	bool root_mode;		/* the executor has entered the reserved range */
	int landlock_abi;	/* after prepare_landlock() */
};

#define PREPARED_NONE { .privs = { .lock = -1 } }

/**
 * prepare_plan() - look at the host and plan
 * @env:	the caller's environment; borrowed as long as @p lives
 * Makes ak's own folders where a workspace that was accepted would show where they belong; else nothing is changed.
 * Return: as hostinfo_get(), plan_build() and seccomp_user_load().
 */
int prepare_plan(const struct exec_opts *o, char *const env[], struct prepared *p, struct ak_err *err);

/**
 * prepare_reserve() - root mode: take the range of host ids that the sandbox will live in; else nothing
 * For whoever needs to know them while still privileged.
 * @ret_uid, @ret_gid:	ids on the host of the sandbox's user
 * Return: as privs_reserve().
 */
int prepare_reserve(struct prepared *p, uint32_t *ret_uid, uint32_t *ret_gid, struct ak_err *err);


/**
 * prepare_landlock() - what the kernel has of Landlock, as far as it is used; a warning in the plan when it is nothing
 * Return: 0; -EOPNOTSUPP when there is nothing else.
 */
int prepare_landlock(struct prepared *p, struct ak_err *err);

/**
 * prepare_serving() - the same for an executor that will make any number of sandboxes: see privs_serving()
 * Return: 0 or negative errno.
 */
int prepare_serving(struct prepared *p, struct ak_err *err);

/** prepared_release() - free and close what was prepared; safe twice */
void prepared_release(struct prepared *p);

#endif
