/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What file tools touched in a workspace that is written directly, as it was before the first touch: so that it can be taken back.
 * Process: whoever serves the tools, outside of the sandbox. Privilege: the caller's.
 *
 * Kept on disk in a folder of its own (of a session, in the state folder) that holds contents and a list: a touch is on the disk before
 * the file may be changed, so a crash loses nothing, and touched_open() goes on with what is there. The list's records are
 * appended; one that is not whole was never acted on. A rollback that was killed can be begun again: what it has put back already is
 * put back once more, and what it had not put in place yet, of which it wrote down the name before, goes with the next touched_open().
 */
#ifndef AK_WORKSPACE_TOUCHED_H
#define AK_WORKSPACE_TOUCHED_H

#include <stddef.h>

#include "executor/workspace/ckpt_objects.h"
#include "executor/workspace/ckpt_tree.h"

struct ak_err;

#define TOUCHED_MAX 100000u			/* files of one session */
#define TOUCHED_LIST_BYTES (64u << 20)	/* of the list */
#define TOUCHED_NOTHING "Nothing to roll back — no files have been modified."

struct touched {
	int root;		/* the workspace; borrowed */
	int dir;		/* owned; -1 */
	int list;		/* owned; -1 */
	char tmp[28];		/* name of what a rollback makes before it is put in place; random, each time another */
	struct ckpt_objects objects;
	struct ckpt_tree files;	/* by path; mode 0: there was nothing */
};

#define TOUCHED_NONE { .root = -1, .dir = -1, .list = -1, .objects = { .dir = -1 } }

/**
 * touched_open() - begin, or go on after a crash
 * @dir:	folder of the session, on the host's side; taken, also on failure
 * @root:	the workspace, open for reading; borrowed as long as @ret lives
 * Return: 0, -EBADMSG (the list is damaged), -ENOMEM, what openat(2) gives.
 */
int touched_open(int dir, int root, struct touched *ret, struct ak_err *err);
void touched_close(struct touched *t);

/**
 * touched_record() - a tool is about to change @path; the first touch wins
 * @path:	relative to the workspace, normalised; no link is followed: of a link itself its text is kept
 * Return: 0, also when it was recorded before; -EINVAL (no such path, or a folder or special file: tools change none); -EDQUOT
 * (TOUCHED_MAX); -ENOSPC ...: the tool must not go on then.
 */
int touched_record(struct touched *t, const char *path, struct ak_err *err);

/** touched_pending() - how many files would be taken back */
size_t touched_pending(const struct touched *t);

/**
 * touched_rollback() - put every recorded file back, remove those that were not there, and forget them all
 * Folders that a tool made on the way to a file stay. A file whose folder is gone gets it again. What cannot be put back, since something
 * else is in the way, keeps no other file from it.
 * @ret_count:	files that were put back, or removed, also on failure; 0: nothing had been recorded, or only files that are not there any more
 * Return: 0, or the negative errno of one that could not be, with the names: those stay recorded, and those of which nothing was there.
 */
int touched_rollback(struct touched *t, size_t *ret_count, struct ak_err *err);

/**
 * touched_text() - what is said of it: "Rolled back N file(s) to their pre-edit state.", or TOUCHED_NOTHING
 * @pending:	touched_pending() before the rollback
 */
void touched_text(size_t pending, size_t count, char *buf, size_t size);

#endif
