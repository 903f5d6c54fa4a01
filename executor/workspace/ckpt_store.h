/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoints of one workspace. Process: the commands around checkpoints. Privilege: the caller's.
 *
 *   STATE/checkpoints/KEY/	KEY: sums up the workspace's real path
 *     workspace		that path, and a newline
 *     lock			flock(2): one command at a time
 *     k-XXXXXX			a checkpoint: see ckpt_tree.h
 *     stat			the tree as last seen: what has not changed since need not be read again
 *     objects/			contents: see ckpt_objects.h
 *     journal			a restore that is going on, or was killed
 *     opened			folders and files whose modes were opened up for reading, to be put back after a kill
 *     diff/			copies for `ak checkpoint diff`, while it runs
 *     tmp-*			unfinished: of a crash, removed by the next command
 */
#ifndef AK_WORKSPACE_CKPT_STORE_H
#define AK_WORKSPACE_CKPT_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "executor/workspace/ckpt_objects.h"
#include "executor/workspace/ckpt_tree.h"

struct ak_err;
struct hostinfo;

#define CKPT_MAX 1000u	/* checkpoints of one workspace */
#define CKPT_PREFIX "k-"
#define CKPT_NO_SPACE                                                                                                  \
	"the workspace was not changed; free space (`ak checkpoint rm`), or set XDG_STATE_HOME to a folder on another disk"
#define CKPT_LOCK_SECONDS 10	/* that a command waits for another one */

struct ckpt_store {
	int dir;		/* owned; -1 */
	int lock;		/* owned; -1 */
	struct ckpt_objects objects;
};

#define CKPT_STORE_NONE { .dir = -1, .lock = -1, .objects = { .dir = -1 } }

/**
 * ckpt_store_open() - open and lock the store of a workspace
 * @workspace:	real path
 * @make:	make it where it is missing
 * Return: 0; -ENOENT (no checkpoint was ever made; with a text); -EBUSY (another command works on it, named by its process); what
 * state_open() gives; -ENOSPC ...
 */
int ckpt_store_open(const struct hostinfo *h, const char *workspace, bool make, struct ckpt_store *ret, struct ak_err *err);
void ckpt_store_close(struct ckpt_store *s);

/** ckpt_store_save() - write @t under a new id. Return: 0, or a negative errno: nothing is left. */
int ckpt_store_save(struct ckpt_store *s, const struct ckpt_tree *t, char ret_id[static CKPT_ID_MAX + 1], struct ak_err *err);

/**
 * ckpt_store_load() - read a checkpoint
 * @id:		as the user typed it
 * @ret:	zeroed; released by the caller
 * Return: 0; -EINVAL (no id at all); -ENOENT (no such checkpoint); -EBADMSG (damaged).
 */
int ckpt_store_load(struct ckpt_store *s, const char *id, struct ckpt_tree *ret, struct ak_err *err);

/** ckpt_store_remove() - forget one; its contents go with ckpt_store_sweep(). Return: as ckpt_store_load(). */
int ckpt_store_remove(struct ckpt_store *s, const char *id, struct ak_err *err);

/** ckpt_store_sweep() - remove contents that no checkpoint has. Return: number of them, or a negative errno. */
long ckpt_store_sweep(struct ckpt_store *s, struct ak_err *err);

struct ckpt_row {
	char id[CKPT_ID_MAX + 1];
	bool damaged;		/* the rest is not known */
	uint64_t made_ns;
	size_t entries;
	uint64_t bytes;		/* of regular files */
	char note[CKPT_NOTE_MAX + 1];
	char before[CKPT_ID_MAX + 1];
};

/**
 * ckpt_store_list() - all of them, oldest first
 * @ret:	malloc'ed
 * Return: number, or a negative errno.
 */
long ckpt_store_list(struct ckpt_store *s, struct ckpt_row **ret, struct ak_err *err);

/** ckpt_store_count() - number of checkpoints, whole or not */
long ckpt_store_count(struct ckpt_store *s);

/** ckpt_store_load_stat() - the tree as last seen; left zeroed when there is none, or it is damaged */
void ckpt_store_load_stat(struct ckpt_store *s, struct ckpt_tree *ret);
/** ckpt_store_put_stat() - keep it; a failure only costs time later */
void ckpt_store_put_stat(struct ckpt_store *s, const struct ckpt_tree *t);

/* A restore that has begun */
struct ckpt_journal {
	char id[CKPT_ID_MAX + 1];	/* the checkpoint that is restored; "": none */
	char before[CKPT_ID_MAX + 1];	/* what there was before it */
};

/** ckpt_store_journal() - read it; an unreadable one counts as none */
void ckpt_store_journal(struct ckpt_store *s, struct ckpt_journal *ret);
/** ckpt_store_begin() - write it to disk, behind everything that was saved. Return: 0 or negative errno. */
int ckpt_store_begin(struct ckpt_store *s, const struct ckpt_journal *j, struct ak_err *err);
/** ckpt_store_end() - the restore is complete */
void ckpt_store_end(struct ckpt_store *s);

/**
 * ckpt_store_write() - a small file of the store, whole or not at all
 * Return: 0 or a negative errno.
 */
int ckpt_store_write(struct ckpt_store *s, const char *name, const void *data, size_t len);

/** ckpt_store_read() - one, malloc'ed with a NUL behind it. Return: 0 or a negative errno. */
int ckpt_store_read(struct ckpt_store *s, const char *name, size_t max, char **ret, size_t *ret_len);

#endif
