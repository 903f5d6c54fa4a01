/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a changeset: every path that a cow run changed, what was there before and what is there now. Pure: memory and
 * its form as bytes. Any process, no privilege.
 */
#ifndef AK_WORKSPACE_JOURNAL_H
#define AK_WORKSPACE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/workspace/fsat.h"

struct ak_buf;
struct ak_err;

#define JOURNAL_CHANGES_MAX 1000000u
#define JOURNAL_BYTES_MAX (256u << 20)

enum change_op {
	CHANGE_ADDED = 1,
	CHANGE_MODIFIED,	/* other bytes, link text or attributes */
	CHANGE_DELETED,
	CHANGE_MODE,		/* the mode only */
	CHANGE_TYPE,		/* a file where a folder was, a link where a file was, ... */
	CHANGE_OPS
};

enum change_flags {
	CHANGE_PROTECTED = 1u << 0,	/* runs, or is obeyed, on the host later (protected.h) */
	CHANGE_TOUCHED = 1u << 1,	/* what was there before was changed outside while the run went on */
	CHANGE_SPECIAL = 1u << 2,	/* the new file is a FIFO, socket or device: never applied */
	CHANGE_LISTED = 1u << 3,	/* a protected name of the kind that is named but not held back */
	CHANGE_WHOLE = 1u << 4,		/* it, or a folder above it, is a ".git" that is gone or replaced: one protected thing */
	CHANGE_FLAGS = 31u
};

struct change {
	char *path;		/* relative to the workspace, any bytes but NUL; owned by the journal */
	char *by;		/* protected as what this protected name leads to; owned by the journal; NULL: by its own, or not */
	uint8_t op;
	uint8_t flags;
	struct ws_ident old;	/* below the workspace, all zero: nothing was there. @blocks is not kept */
	struct ws_ident now;	/* in the upper layer, all zero: nothing is there */
};

struct journal {
	struct change *v;
	size_t n, cap;
	size_t bytes;		/* of the paths */
};

/** change_op_name() - "added", "modified", "deleted", "mode", "type" */
const char *change_op_name(unsigned op);

/**
 * journal_add() - take note of one change
 * @c:	its path, and what it is protected by, are copied
 * Return: 0, -E2BIG (JOURNAL_CHANGES_MAX or JOURNAL_BYTES_MAX, named), -ENOMEM.
 */
int journal_add(struct journal *j, const struct change *c, struct ak_err *err);

/** journal_set_by() - change @i is protected by @by, a path. It is left out where there is no room for it. Return: 0, -ENOMEM. */
int journal_set_by(struct journal *j, size_t i, const char *by);

/** journal_order() - order of two paths: component by component, so that a folder stands directly before what is in it */
int journal_order(const char *a, const char *b);

/** journal_sort() - put the changes in that order; of two for one path the first one noted stays */
void journal_sort(struct journal *j);

/** journal_find() - the change of @path in a sorted journal, or NULL */
struct change *journal_find(const struct journal *j, const char *path);

/** journal_drop() - forget all changes for which @drop says so; order stays */
void journal_drop(struct journal *j, bool (*drop)(const struct change *c, void *arg), void *arg);

/**
 * journal_whole() - the folder ".git" that change @i stands for or is a part of, with CHANGE_WHOLE
 * @ret_op:	what happened to that folder; enum change_op
 * Return: length of its path; 0: the change stands for itself.
 */
size_t journal_whole(const struct journal *j, size_t i, unsigned *ret_op);

/** journal_follows() - is change @i named by an earlier one, as a part of the same whole? Of a sorted journal. */
bool journal_follows(const struct journal *j, size_t i);

void journal_release(struct journal *j);

/**
 * journal_encode() - the sorted journal as bytes, with a sum at their end that tells a half-written one
 * @out:	appended to; its `failed` tells when memory ran out
 */
void journal_encode(const struct journal *j, struct ak_buf *out);

/**
 * journal_decode() - read such bytes
 * Every byte is looked at: lengths, order, values, sum. Return: 0; -EBADMSG for anything journal_encode() could not have
 * written, -ENOMEM. @ret is untouched on failure.
 */
int journal_decode(const void *buf, size_t len, struct journal *ret);

#endif
