/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One changeset on disk: STATE/sessions/c-XXXXXX, made before a cow run and kept until it is applied or discarded. Process:
 * executor. Privilege: the caller's.
 *
 *   lock            locked (flock) by the run as long as it goes on, and by whoever works on the changeset
 *   meta            what it belongs to; written first and never changed
 *   layer/upper     the overlay's upper layer, layer/work its work folder
 *   journal         written whole after the run; missing after a crash, and then made from the upper layer by whoever needs it
 *   applying        there while an apply is not finished
 *
 * In root mode the folder and all in it belong to the owner of the workspace, so that applying needs nobody else's rights; only
 * root reaches it, since the state folder is root's and closed.
 */
#ifndef AK_WORKSPACE_CHANGESET_H
#define AK_WORKSPACE_CHANGESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/workspace/fsat.h"
#include "executor/workspace/journal.h"

struct ak_err;
struct hostinfo;

#define CHANGESET_PREFIX "c-"
#define CHANGESET_ID_MAX 16
#define CHANGESET_COMMAND_MAX 240u	/* bytes of the command that `ak sessions` shows */
#define CHANGESET_TEMP_FMT ".%s.ak-apply~"	/* of the id: name of a file that is being put into the workspace */

/* what a changeset belongs to */
struct changeset_meta {
	char workspace[WS_PATH_MAX + 1];	/* resolved path */
	uint64_t dev, ino;			/* of that folder */
	int64_t start_ns;			/* when the run began, on the clock of file times; set by changeset_create() */
	uint32_t uid, gid;			/* who applies: the owner of the workspace in root mode, else the caller */
	char command[CHANGESET_COMMAND_MAX + 1];
};

struct changeset {
	char id[CHANGESET_ID_MAX];
	int dir;		/* owned; -1 */
	int lock;		/* owned; -1: not locked by us */
	int upper;		/* layer/upper, to read; owned; -1 */
	struct changeset_meta meta;
};

#define CHANGESET_NONE { .dir = -1, .lock = -1, .upper = -1 }

/**
 * changeset_create() - a new, locked one with an empty layer
 * @sessions:	STATE/sessions
 * @meta:	what it belongs to; copied. In root mode everything is given to meta->uid
 * @top:	identity of the workspace: the upper layer's top gets its mode, since the overlay shows that
 * Return: 0 or negative errno; nothing is left behind on failure.
 */
int changeset_create(int sessions, const struct changeset_meta *meta, const struct ws_ident *top, struct changeset *ret,
		     struct ak_err *err);

enum changeset_lock {
	CHANGESET_LOOK,		/* do not lock */
	CHANGESET_TRY,		/* lock it, or fail at once */
	CHANGESET_WAIT,		/* the same after a moment: who was killed just now may not be gone yet; a shorter one for a process that stays */
	CHANGESET_REMOVE,	/* as that; but -EBUSY also when somebody else wrote its journal meanwhile: nobody has seen these changes */
};

/**
 * changeset_open() - one that exists
 * @id:		as the user typed it
 * @lock:	with a lock: -EBUSY with a text, and the process where it is known, while its run, or another command on it, goes on
 * Return: 0; -ENOENT, -EBUSY, -EBADMSG (meta is not readable: it can only be discarded; dir is open then), ...
 */
int changeset_open(int sessions, const char *id, enum changeset_lock lock, struct changeset *ret, struct ak_err *err);
void changeset_close(struct changeset *cs);

/** changeset_busy() - does a run or a command hold its lock? */
bool changeset_busy(const struct changeset *cs);

/** changeset_has() - is there a file "journal" or "applying"? */
bool changeset_has(const struct changeset *cs, const char *name);

/** changeset_open_workspace() - the folder it belongs to. Return: descriptor; -ENOENT or -ESTALE (another folder now) named. */
int changeset_open_workspace(const struct changeset *cs, struct ak_err *err);

/**
 * changeset_store() - write the journal: a new file, then a rename, so it is there whole or not at all
 * Return: 0, -ENOSPC, ...
 */
int changeset_store(const struct changeset *cs, const struct journal *j, struct ak_err *err);

/** changeset_load() - read it. Return: 0; -ENOENT (none), -EBADMSG (half-written or not ours), without a text; else with one. */
int changeset_load(const struct changeset *cs, struct journal *ret, struct ak_err *err);

/** changeset_load_as() - one that lies under another name. Return: as changeset_load(). */
int changeset_load_as(const struct changeset *cs, const char *name, struct journal *ret, struct ak_err *err);

/** changeset_mark() - make or remove the file "applying" */
int changeset_mark(const struct changeset *cs, bool on, struct ak_err *err);

/**
 * changeset_renew() - what it held has been dealt with: make it an empty one for the next run in the same workspace
 * @top:	as changeset_create()
 * The layer must not be mounted. Interrupted, what is left is a changeset of what had not been removed yet, without a journal.
 * Return: 0 or negative errno; it must not be used for a run then.
 */
int changeset_renew(struct changeset *cs, const struct ws_ident *top, struct ak_err *err);

/**
 * changeset_remove() - the folder and all in it; the lock must be held
 * Interrupted, what is left is a changeset without meta, which can be removed again. A caller who may not write @sessions leaves
 * the empty folder.
 */
int changeset_remove(int sessions, struct changeset *cs, struct ak_err *err);

/**
 * changeset_sweep() - remove what crashes have left: changesets without meta, or without any change, that nobody is at
 * One that holds changes is never removed. Looks at CHANGESET_SWEEP_MAX candidates at most; best effort.
 */
#define CHANGESET_SWEEP_MAX 64u
void changeset_sweep(int sessions);

/** changeset_empty() - is nothing in the upper layer? */
bool changeset_empty(const struct changeset *cs);

/**
 * changeset_ids() - names of all changesets, newest first
 * @ret:	malloc'ed array of malloc'ed strings, NULL-terminated; CHANGESETS_MAX at most, the rest is counted in @ret_more
 */
#define CHANGESETS_MAX 10000u
int changeset_ids(int sessions, char ***ret, size_t *ret_more, struct ak_err *err);
void changeset_ids_free(char **ids);

/** changeset_decode_meta() - read the bytes of "meta". Return: 0 or -EBADMSG; @ret is untouched then. Pure. */
int changeset_decode_meta(const void *buf, size_t len, struct changeset_meta *ret);

#endif
