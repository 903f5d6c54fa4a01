/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A workspace's tree as a list of entries, and as the bytes of a checkpoint. Pure; process: the commands around checkpoints.
 *
 * Order: as ws_walk() gives it, parents before their children. The first entry is the workspace itself, with the path "".
 */
#ifndef AK_WORKSPACE_CKPT_TREE_H
#define AK_WORKSPACE_CKPT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/workspace/fsat.h"

struct ak_buf;
struct ak_err;

#define CKPT_HASH_BYTES 32u	/* SHA-256 */
#define CKPT_FILE_BYTES (1u << 30)	/* of an encoded tree */
#define CKPT_NOTE_MAX 200u	/* bytes of what the user says about a checkpoint */
#define CKPT_ID_MAX 15u
#define CKPT_NO_LINK UINT32_MAX

enum ckpt_flag {
	CKPT_LEFT = 1u << 0,	/* could not be read, or is of a kind that cannot be made again: there, but not kept */
	CKPT_RACY = 1u << 1,	/* changed so shortly before it was read that its times prove nothing */
	CKPT_BUSY = 1u << 2,	/* changed again and again while it was read: what is kept is one state of its bytes */
};

struct ckpt_entry {
	const char *path;	/* relative; of the tree */
	struct ws_ident id;	/* as found; what it tells of a restored file is mode, owner, mtime, size */
	unsigned char hash[CKPT_HASH_BYTES];	/* of a regular file's bytes */
	const char *link;	/* text of a symbolic link; else NULL */
	const unsigned char *xattrs;	/* user attributes, see ckpt_xattr_next(); NULL: none */
	uint32_t xattrs_len;
	uint32_t same_as;	/* index of an earlier entry that is the same file (a hard link); CKPT_NO_LINK: none */
	uint8_t flags;		/* enum ckpt_flag */
};

struct ckpt_block;

struct ckpt_tree {
	struct ckpt_entry *e;	/* owned */
	size_t n, cap;
	uint64_t made_ns;	/* real time at which the walk began */
	char note[CKPT_NOTE_MAX + 1];
	char before[CKPT_ID_MAX + 1];	/* made by ak before the restore of this checkpoint; "": by the user */
	uint32_t *by_path;	/* owned; hash table of index + 1, see ckpt_tree_index() */
	uint32_t *by_ino;
	size_t slots;		/* of each; a power of two */
	struct ckpt_block *blocks;	/* owned: texts */
	char *file;		/* owned: what texts of a decoded tree point into */
};

/** ckpt_tree_reserve() - room for @n entries at once; without it, or where there is no memory, the tree grows as it is filled */
void ckpt_tree_reserve(struct ckpt_tree *t, size_t n);

/**
 * ckpt_tree_add() - append a copy of @e with its texts
 * Return: the entry, valid until the next one; NULL when out of memory.
 */
struct ckpt_entry *ckpt_tree_add(struct ckpt_tree *t, const struct ckpt_entry *e);

/** ckpt_tree_index() - make entries findable, after the last one. Return: 0 or -ENOMEM. */
int ckpt_tree_index(struct ckpt_tree *t);

/** ckpt_tree_index_last() - the same after one more entry, without beginning anew each time */
int ckpt_tree_index_last(struct ckpt_tree *t);

/** ckpt_tree_find() - entry of @path; NULL: none. Needs ckpt_tree_index(), as the next one. */
struct ckpt_entry *ckpt_tree_find(const struct ckpt_tree *t, const char *path);

/** ckpt_tree_find_ino() - an entry that was this inode when it was found */
const struct ckpt_entry *ckpt_tree_find_ino(const struct ckpt_tree *t, uint64_t dev, uint64_t ino);

/** ckpt_tree_release() - free everything; safe twice */
void ckpt_tree_release(struct ckpt_tree *t);

/** ckpt_tree_encode() - append the bytes of a checkpoint to @out; failures are in out->failed */
void ckpt_tree_encode(const struct ckpt_tree *t, struct ak_buf *out);

/**
 * ckpt_tree_write() - write the same bytes to @fd, without holding all of them in memory
 * Return: 0; -ENOMEM, -EFBIG (more than CKPT_FILE_BYTES), or what write(2) gave: then the file is not whole.
 */
int ckpt_tree_write(const struct ckpt_tree *t, int fd);

/**
 * ckpt_tree_decode() - read them back
 * @file:	malloc'ed; taken in any case
 * @ret:	zeroed; untouched on failure
 * Every length, path and link is checked by itself, and a sum over everything.
 * Return: 0; -EBADMSG (not whole, or not a checkpoint); -EPROTONOSUPPORT (of another version); -ENOMEM.
 */
int ckpt_tree_decode(char *file, size_t len, struct ckpt_tree *ret);

/** ckpt_file_sum() - the sum that stands at the end of the bytes, over those before it: against accidents, not against people */
uint64_t ckpt_file_sum(const char *p, size_t n);

/**
 * ckpt_tree_check() - index it, and check what a restore relies on: each path once, and behind its parent folder
 * Return: 0, -EBADMSG, -ENOMEM.
 */
int ckpt_tree_check(struct ckpt_tree *t);

/* One extended attribute; borrowed from its entry */
struct ckpt_xattr {
	const char *name;
	const void *value;
	uint32_t len;
};

/**
 * ckpt_xattr_next() - go through the attributes of an entry
 * @pos:	starts as 0
 * Return: false at the end, or where the bytes make no sense (never in a decoded tree).
 */
bool ckpt_xattr_next(const struct ckpt_entry *e, uint32_t *pos, struct ckpt_xattr *ret);

/** ckpt_xattr_add() - append one to the bytes that become an entry's xattrs */
void ckpt_xattr_add(struct ak_buf *out, const char *name, const void *value, uint32_t len);

#endif
