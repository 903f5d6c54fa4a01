/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the files of a tree, as it was last seen, by further threads, while the walk comes to them: nearly all of the time of a
 * look at a large tree in which little has changed is spent in stat(2). Process: the commands around checkpoints. Privilege: the
 * caller's.
 *
 * The threads begin with the folders that the walk comes to last. They make system calls and write one byte an entry; whatever they
 * do not find exactly as it was is left to the walk.
 */
#ifndef AK_WORKSPACE_CKPT_AHEAD_H
#define AK_WORKSPACE_CKPT_AHEAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "executor/workspace/ckpt_below.h"

struct ckpt_tree;

#define CKPT_AHEAD_THREADS 3u
#define CKPT_AHEAD_FROM 4000u	/* entries: fewer are looked at before a thread has begun */

struct ckpt_ahead {
	int root;			/* borrowed */
	const struct ckpt_tree *known;	/* borrowed */
	const struct ckpt_below *below;	/* borrowed; of it */
	bool *same;			/* owned, one an entry: it is what it was; valid once its folder is AHEAD_DONE */
	_Atomic unsigned char *folder;	/* owned, one an entry: who has it */
	atomic_size_t left;		/* folders that nobody has taken, in the order of the walk */
	atomic_bool stop;
	pthread_t thread[CKPT_AHEAD_THREADS];
	size_t threads;
};

/**
 * ckpt_ahead_start() - begin to look
 * @a:		zeroed
 * @root:	the workspace; it, the tree and what is below must stay until ckpt_ahead_stop()
 * Starts nothing where there is one processor, a small tree, or no memory: then ckpt_ahead_seen() is never true.
 */
void ckpt_ahead_start(struct ckpt_ahead *a, int root, const struct ckpt_tree *known, const struct ckpt_below *below);

/** ckpt_ahead_take() - the walk has come to @folder: it will not be begun any more */
void ckpt_ahead_take(struct ckpt_ahead *a, size_t folder);

/** ckpt_ahead_seen() - was entry @i, in @folder, looked at, and found to be exactly what is known of it? */
bool ckpt_ahead_seen(struct ckpt_ahead *a, size_t folder, size_t i);

/** ckpt_ahead_stop() - wait for the threads, and free; safe twice */
void ckpt_ahead_stop(struct ckpt_ahead *a);

#endif
