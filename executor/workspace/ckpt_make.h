/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and adjusts single entries of a checkpoint: for ckpt_restore.c only. Process: the commands around checkpoints. */
#ifndef AK_WORKSPACE_CKPT_MAKE_H
#define AK_WORKSPACE_CKPT_MAKE_H

#include "executor/workspace/ckpt_tree.h"

struct ckpt_store;

/**
 * ckpt_make_tmp() - make what @e says (anything but a folder) as @tmp in @dir
 * @first_dir, @first:	with a further name of a file: where its first name is, which is linked; else -1
 * @flush:	a regular file's bytes are on the disk before it gets its name
 * A @tmp that a killed restore has left is replaced. Return: 0 or a negative errno; @tmp is gone then.
 */
int ckpt_make_tmp(const struct ckpt_store *s, const struct ckpt_entry *e, int dir, const char *tmp, int first_dir, const char *first,
		  bool flush);

/**
 * ckpt_put_tmp() - rename @tmp over @name, if that still is @old
 * @old:	NULL: nothing
 * Return: 0; -ESTALE (it is something else by now); a negative errno. @tmp is gone in any case.
 */
int ckpt_put_tmp(int dir, const char *tmp, const char *name, const struct ckpt_entry *old);

/** ckpt_still() - is @name in @dir still the file that @e tells of? Return: 1, 0 (another, or gone), or a negative errno. */
int ckpt_still(int dir, const char *name, const struct ckpt_entry *e);

/**
 * ckpt_adjust() - attributes, owner, mode, times as @e says
 * @fd:		of the file or folder, O_PATH will do; no symbolic link
 * Return: 0; -EPERM (the owner cannot be changed by the caller; the rest is done); a negative errno.
 */
int ckpt_adjust(int fd, const struct ckpt_entry *e);

/** ckpt_adjust_link() - owner and time of a symbolic link. Return: as ckpt_adjust(). */
int ckpt_adjust_link(int dir, const char *name, const struct ckpt_entry *e);

#endif
