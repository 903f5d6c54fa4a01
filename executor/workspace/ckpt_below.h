/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries of a tree are in which folder of it. Pure; process: the commands around checkpoints. */
#ifndef AK_WORKSPACE_CKPT_BELOW_H
#define AK_WORKSPACE_CKPT_BELOW_H

#include <stddef.h>
#include <stdint.h>

struct ckpt_tree;

struct ckpt_below {
	uint32_t *first, *end;	/* owned, one each an entry: of a folder, the entries in it are first <= i < end */
	uint32_t *order;	/* owned: the folders, as the walk comes to them */
	size_t folders;
};

/**
 * ckpt_below_init() - find them, from the order that ws_walk() gives
 * @ret:	zeroed; released by the caller
 * Return: 0; -EINVAL: the entries are in another order; -ENOMEM. @ret is untouched on failure.
 */
int ckpt_below_init(const struct ckpt_tree *t, struct ckpt_below *ret);

/** ckpt_below_release() - free it; safe twice */
void ckpt_below_release(struct ckpt_below *b);

#endif
