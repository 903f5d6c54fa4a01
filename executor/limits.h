/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroup of one run, from finding a place to leaving it as it was. Process: executor. Privilege: the caller's; in root mode
 * the keeper (ns/cgroup_keep.h) does what is left to do after host root is given up.
 */
#ifndef AK_LIMITS_H
#define AK_LIMITS_H

#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_find.h"
#include "executor/ns/cgroup_keep.h"

struct ak_err;
struct exec_opts;
struct hostinfo;
struct plan;

struct limits {
	struct cgroup_search search;
	struct cgroup_place place;
	struct cgroup group;		/* of init and the command; dir -1: none */
	struct cgroup_keeper keeper;
	bool scope;			/* we are in a scope of the systemd user manager */
};

/** limits_init() - empty: limits_end() may be called from then on; @l is zeroed, and most of its pages stay untouched */
void limits_init(struct limits *l);

/**
 * limits_look() - decide by what limits would be held, change nothing (--explain)
 * Return: 0; negative errno as plan_enforce() and cgroup_look() give.
 */
int limits_look(struct limits *l, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, struct ak_err *err);

/**
 * limits_start() - find a place, make the group, decide by what limits are held; start the keeper where one is needed
 * Requires: the caller's full rights, no child yet. A run without a group is no error unless a limit was asked for that only
 * a group holds. Return: 0; negative errno as above. Nothing is left behind on failure.
 */
int limits_start(struct limits *l, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, struct ak_err *err);

/**
 * limits_serving() - find a place for the groups of sandboxes that stay, decide by what their limits are held
 * @take:	make the place ready; false: change nothing (--explain)
 * The place is l->place, dir -1 when there is none; each sandbox makes its own group there (executor/serve_leaf.c). Sandboxes of an
 * executor that gives host root up have none, since it may not make any then; nor is one made where ak would have to move out of its
 * own group, or the systemd user manager to be asked. The number of processes is held by RLIMIT_NPROC, which is exact, unless host
 * uid 0 is kept.
 * Return: 0; negative errno as limits_start().
 */
int limits_serving(struct limits *l, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, bool take, struct ak_err *err);

/**
 * limits_end() - remove the group, move back, close everything
 * Return: 0; -EBUSY or other: something is left (a later run removes it).
 */
int limits_end(struct limits *l);

#endif
