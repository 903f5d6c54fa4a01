/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a workspace into a tree, and its contents into the store. Process: the commands around checkpoints. Privilege: the caller's. */
#ifndef AK_WORKSPACE_CKPT_SCAN_H
#define AK_WORKSPACE_CKPT_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "executor/workspace/ckpt_tree.h"

struct ak_err;
struct ckpt_store;

#define CKPT_LEFT_TOLD 8u	/* names of what was left that are told one by one */

struct ckpt_scan {
	int root;			/* the workspace, open for reading; borrowed */
	struct ckpt_store *store;	/* where contents go, and what was seen last time comes from; borrowed */
	const char *drop;		/* temporary name of a killed restore, removed wherever it is found; NULL: none */
	bool look_only;			/* contents are summed and not kept; such a tree must not become the one last seen */
	/* out */
	struct ckpt_tree tree;		/* owned; not indexed yet */
	size_t read;			/* files whose bytes had to be read */
	size_t left, busy;		/* entries with CKPT_LEFT, CKPT_BUSY */
	char *told[CKPT_LEFT_TOLD];	/* owned: "path: why" of the first of them */
	size_t ntold;
};

/**
 * ckpt_scan() - read everything beneath the workspace
 *
 * A file whose place, inode, size, mtime and ctime are as last seen is not read again, unless its ctime was too close to the look
 * to prove anything. A file that changes while it is read is read again, three times at most. Files and folders of the caller's
 * that not even the caller may read are opened up and put back; what belongs to others and is closed, devices, and what
 * is mounted inside stays out and is marked CKPT_LEFT. No symbolic link is followed, and no FIFO opened.
 *
 * Return: 0; -ENOSPC, -EIO ... with the name; what is in @s must be released in any case.
 */
int ckpt_scan(struct ckpt_scan *s, struct ak_err *err);
void ckpt_scan_release(struct ckpt_scan *s);

#endif
