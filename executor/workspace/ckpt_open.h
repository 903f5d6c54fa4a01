/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens up files and folders of the caller's that not even the caller may read, and puts their modes back, also after a kill.
 * Process: the commands around checkpoints. Privilege: the caller's.
 */
#ifndef AK_WORKSPACE_CKPT_OPEN_H
#define AK_WORKSPACE_CKPT_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "executor/workspace/fsat.h"

struct ckpt_store;

#define CKPT_OPENED_BYTES (16u << 20)	/* of the list in the store */

struct ckpt_opened {
	struct ckpt_store *store;	/* borrowed */
	int list;			/* its file "opened"; owned; -1: nothing was opened up */
	struct ckpt_opened_item *item;	/* owned: folders, to be put back at the end */
	size_t n;
};

#define CKPT_OPENED_NONE(s) { .store = (s), .list = -1 }

/**
 * ckpt_open_up() - let the owner read @name in @dir (and, a folder, search it), after writing down what its mode was
 * @path:	beneath the workspace, for putting back after a kill
 * @id:		what is there
 * Return: 0, or a negative errno.
 */
int ckpt_open_up(struct ckpt_opened *o, int dir, const char *name, const char *path, const struct ws_ident *id);

/**
 * ckpt_set_mode() - give what @id tells of another mode, without opening it
 * Return: 0, -ESTALE (it is another file by now), or a negative errno.
 */
int ckpt_set_mode(int dir, const char *name, const struct ws_ident *id, uint32_t mode);

/** ckpt_put_back() - give @name its mode of @id again. Return: 0 or a negative errno. */
int ckpt_put_back(int dir, const char *name, const struct ws_ident *id);

/** ckpt_put_back_all() - the folders, deepest first, and forget the list */
void ckpt_put_back_all(struct ckpt_opened *o, int root);

/** ckpt_open_recover() - what a killed command had opened up */
void ckpt_open_recover(int root, struct ckpt_store *store);

#endif
