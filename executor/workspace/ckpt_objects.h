/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File contents of checkpoints, each once, under its SHA-256 (of a file with large holes: of what is in it). Process: the commands around checkpoints. Privilege: the caller's.
 *
 * An object appears by a rename when it is whole, and is never written again. Names of unfinished ones start with "tmp-": whoever
 * holds the store's lock may remove them.
 */
#ifndef AK_WORKSPACE_CKPT_OBJECTS_H
#define AK_WORKSPACE_CKPT_OBJECTS_H

#include <stdint.h>

#include "executor/workspace/ckpt_tree.h"

struct ak_err;

#define CKPT_FRESH_MAX 64u

struct ckpt_objects {
	int dir;		/* owned; -1 */
	char *block;		/* owned: CKPT_BLOCK_BYTES, for reading */
	uint64_t bytes_new;	/* written by ckpt_object_put() */
	unsigned count_new;
	unsigned char fresh[CKPT_FRESH_MAX][CKPT_HASH_BYTES];	/* the first of them, until ckpt_objects_flush() */
	unsigned nfresh;	/* more than CKPT_FRESH_MAX: not all are known */
};

#define CKPT_BLOCK_BYTES (1u << 20)

/** ckpt_objects_open() - the objects of a store. @dir: their folder; taken, also on failure. Return: 0 or -ENOMEM. */
int ckpt_objects_open(struct ckpt_objects *o, int dir);
void ckpt_objects_close(struct ckpt_objects *o);

/**
 * ckpt_object_put() - keep the bytes of @fd
 * @fd:		a regular file, open for reading; read from its start to its end
 * @ret_hash:	of exactly the bytes that are kept
 * @ret_size:	their number
 * Blocks are shared where the file system can (FICLONE); holes stay holes. Return: 0 or a negative errno such as -ENOSPC;
 * nothing is left of it then.
 */
int ckpt_object_put(struct ckpt_objects *o, int fd, unsigned char ret_hash[static CKPT_HASH_BYTES], uint64_t *ret_size);

/** ckpt_object_sum() - the same without keeping them */
int ckpt_object_sum(struct ckpt_objects *o, int fd, unsigned char ret_hash[static CKPT_HASH_BYTES], uint64_t *ret_size);

/** ckpt_objects_flush() - write what was put to disk; many at once through the whole file system. Return: 0 or negative errno. */
int ckpt_objects_flush(struct ckpt_objects *o);

/** ckpt_object_open() - open one for reading. Return: descriptor; -ENOENT. */
int ckpt_object_open(const struct ckpt_objects *o, const unsigned char hash[static CKPT_HASH_BYTES]);

/**
 * ckpt_object_check() - is it there, and still what it was?
 * Return: 0; -ENOENT; -EBADMSG (other bytes, or another number of them than @size); what read(2) gives.
 */
int ckpt_object_check(struct ckpt_objects *o, const unsigned char hash[static CKPT_HASH_BYTES], uint64_t size);

/** ckpt_hash_text() - 64 hexadecimal digits */
void ckpt_hash_text(const unsigned char hash[static CKPT_HASH_BYTES], char ret[static 2 * CKPT_HASH_BYTES + 1]);

/**
 * ckpt_objects_sweep() - remove objects that nobody wants, and what a crash left
 * @wanted:	asked for each hash
 * Return: number removed, or a negative errno.
 */
long ckpt_objects_sweep(struct ckpt_objects *o, bool (*wanted)(void *arg, const unsigned char *hash), void *arg);

#endif
