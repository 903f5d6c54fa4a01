/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The changeset of one `ak exec --write cow`, from before the sandbox to after it. Process: executor. Privilege: the caller's;
 * in root mode what needs the workspace's owner is done by a child that was made before host root was given up.
 */
#ifndef AK_COW_H
#define AK_COW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/workspace/changeset.h"
#include "executor/workspace/journal.h"

struct ak_err;
struct cow_shared;
struct exec_opts;
struct hostinfo;
struct plan;

struct cow {
	bool on;			/* the run is a cow run and its changeset was made */
	struct changeset cs;
	int sessions, lower;		/* owned; -1 */
	uint64_t disk_bytes;		/* 0: no limit */
	char **allow;			/* --allow-protected; borrowed from exec_opts */
	bool range;			/* root mode: the executor will not be able to read the layer */
	/* the scribe: a child that is the workspace's owner, measures and reads the layer */
	pid_t scribe;			/* 0: none yet */
	int go;				/* a byte written here is its order; owned; -1 */
	int alarm;			/* readable once the layer is over disk_bytes; owned; -1 */
	int out;			/* memory file that gets the journal; owned; -1 */
	struct cow_shared *shared;	/* memory of both */
	/* afterwards */
	bool known;			/* @changes was read */
	struct journal changes;
	bool applied;			/* taken over, and the changeset is gone */
	size_t dropped;			/* attributes that were not taken over, see struct apply */
	bool kept;			/* the changeset is still there */
	/* exec --in: what a sandbox that stays has changed so far */
	bool open;			/* its changeset is its executor's; here are only its id and @changes */
	uint64_t more;			/* changes that are not in @changes */
};

/** cow_init() - none; @c is zeroed, and most of it stays untouched */
void cow_init(struct cow *c);

/**
 * cow_make() - the changeset of a run, locked, and the plan told where its layer is: what cow_begin() does without the scribe
 * @command:	whose changes they are, for people; NULL: by @o
 * @again:	a kept changeset of this workspace that is worked on once more; NULL: a new one
 * Return: as cow_begin(); with @again also -EBUSY (in use, or taken over in part), -ESTALE (not this workspace's).
 */
int cow_make(struct cow *c, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, const char *command, const char *again,
	     struct ak_err *err);

/**
 * cow_begin() - make the changeset of a cow run and tell the plan where its layer is; nothing for other runs
 * In root mode, and where --disk is to be kept, the scribe is started too, so this comes before privs_enter().
 * Return: 0; -EOPNOTSUPP (file system of the state folder), -ENOSPC, ... named.
 */
int cow_begin(struct cow *c, const struct exec_opts *o, const struct hostinfo *h, struct plan *p, struct ak_err *err);

/**
 * cow_end() - after the run: read what it changed, and take it over where that was asked for
 * @apply:	take over what was changed
 * @err:	of the apply
 * @warn:	why the changes are not known; code 0: they are
 * A changeset without changes is removed. Return: 0; negative errno when @apply was not done: then the changeset is kept.
 */
int cow_end(struct cow *c, bool apply, struct ak_err *err, struct ak_err *warn);

/** cow_release() - a run that never came to cow_end(): an empty changeset is removed, any other kept */
void cow_release(struct cow *c);

#endif
