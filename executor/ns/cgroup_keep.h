/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper: a small process that removes a sandbox's cgroup when ak ends, however it ends. Process: executor.
 * Privilege: the caller's at its start (host root in root mode), confined by a filter to a dozen system calls on the descriptors
 * it holds.
 *
 * In root mode the group is made while ak is still host root; afterwards ak may not remove it any more. The keeper is forked
 * before that and waits for the end of ak on a pipe. Then it kills what is left in the group, removes it, and moves ak back if
 * ak had to move aside.
 */
#ifndef AK_NS_CGROUP_KEEP_H
#define AK_NS_CGROUP_KEEP_H

#include <sys/types.h>

struct ak_err;
struct cgroup;
struct cgroup_place;

struct cgroup_keeper {
	pid_t pid;	/* 0: none */
	int pipe;	/* our end; owned; -1: none */
};

#define CGROUP_KEEPER_NONE { .pid = 0, .pipe = -1 }

/**
 * cgroup_keeper_start() - fork the keeper of @g
 * @g:		what it removes
 * @place:	where it is, with what has to be undone there
 * Requires: the right to remove @g; call before it is given up, and before other descriptors of the run exist that should not
 * be copied (the keeper closes all but its own). Return: 0 or negative errno.
 */
int cgroup_keeper_start(const struct cgroup *g, const struct cgroup_place *place, struct cgroup_keeper *ret, struct ak_err *err);

/** cgroup_keeper_end() - let the keeper clean up and wait for it. Return: 0; -EBUSY: something of the group is left */
int cgroup_keeper_end(struct cgroup_keeper *k);

#endif
