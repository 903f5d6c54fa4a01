/* SPDX-License-Identifier: Apache-2.0 */
/* Ends process trees by walking /proc. Process: keepers, ak-init, executor. Privilege: may signal its own children. */
#ifndef AK_SHARED_AK_TREE_H
#define AK_SHARED_AK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whose processes are meant */
struct ak_tree {
	int proc;		/* /proc, a directory; borrowed */
	pid_t root;		/* its descendants are meant, not itself; a subreaper, so that none of them gets away */
	const pid_t *except;	/* neither these nor their descendants; borrowed */
	size_t nexcept;
	bool at_once;		/* kill without freezing first: enough for what does not fork without end */
};

/**
 * ak_tree_kill() - one round: freeze what is found until nothing new is (unless @t->at_once), then kill it
 * Bounded; callers repeat it, and reap what are their own children, until it finds nobody.
 * Return: how many were alive.
 * Source: proc(5), pidfd_open(2).
 */
int ak_tree_kill(const struct ak_tree *t);

/** ak_tree_count() - Return: processes that @proc, a directory, shows. */
uint32_t ak_tree_count(int proc);

#endif
