/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a workspace what a checkpoint says. Process: the commands around checkpoints. Privilege: the caller's.
 *
 * What has to be done follows from the tree that is there and the one that is wanted, and from nothing else: killed anywhere, it is
 * begun again with the tree that is there then, and comes to the same end. Each file is replaced whole, by a rename. Nothing is
 * removed or replaced unless it still is what was kept in the store before.
 */
#ifndef AK_WORKSPACE_CKPT_RESTORE_H
#define AK_WORKSPACE_CKPT_RESTORE_H

#include <stddef.h>

#include "executor/workspace/ckpt_tree.h"

struct ak_err;
struct ckpt_store;

#define CKPT_TROUBLE_TOLD 8u

struct ckpt_restore {
	int root;			/* the workspace; borrowed, as all of these */
	struct ckpt_store *store;
	const struct ckpt_tree *now;	/* all of it is in the store */
	const struct ckpt_tree *want;
	const char *const *paths;	/* only these and what is below; NULL: everything */
	const char *tmp;		/* name for files until their rename; see ckpt_scan.drop */
	/* out */
	size_t written, removed, adjusted;	/* contents or kinds; names; only modes, owners, attributes, times */
	size_t kept;			/* entries that are not as wanted, since they could not be kept, or changed meanwhile */
	char *told[CKPT_TROUBLE_TOLD];	/* owned: "path: why" of the first of them */
	size_t ntold;
};

/**
 * ckpt_restore_check() - are all contents there that will be needed, and undamaged?
 * Return: 0; -ENOENT or -EBADMSG with the name. Nothing is changed.
 */
int ckpt_restore_check(const struct ckpt_restore *r, struct ak_err *err);

/**
 * ckpt_restore_run() - do it
 * Return: 0 (also when something had to be left as it is: see kept), or a negative errno with the name, after which it can be run
 * again on a new tree.
 */
int ckpt_restore_run(struct ckpt_restore *r, struct ak_err *err);
void ckpt_restore_release(struct ckpt_restore *r);

#endif
