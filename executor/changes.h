/* SPDX-License-Identifier: Apache-2.0 */
/* What `ak diff`, `ak apply`, `ak discard` and `ak sessions` share. Process: executor. Privilege: the caller's. */
#ifndef AK_CHANGES_H
#define AK_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "executor/hostinfo.h"
#include "executor/workspace/changeset.h"
#include "executor/workspace/journal.h"

struct ak_buf;
struct ak_err;
struct protected_place;

#define CHANGES_WORDS_MAX 4096u	/* words of one command line */

/* a command line: [ID] [PATH...] and flags */
struct changes_args {
	const char *id;		/* NULL: none was given; borrowed from argv */
	char **paths;		/* normalised; NULL-terminated; NULL: none. Owned */
	size_t npaths;
	char **allow;		/* --allow-protected; NULL-terminated or NULL; owned array of borrowed texts */
	size_t nallow;
	bool force, stat, json;
};

/**
 * changes_parse() - read such a command line
 * @usage:	printed for --help; its first line is the hint of errors
 * @flags:	which of "--force --stat --json --allow-protected" there are, as one text with spaces
 * @paths:	words behind the ID are paths; else there may be none
 * A first word that has the form of an id is one. Return: 0; 1 when help was printed; -EINVAL. Release it in any case.
 */
int changes_parse(int argc, char *const argv[], const char *usage, const char *flags, bool paths, struct changes_args *ret,
		  struct ak_err *err);
void changes_args_release(struct changes_args *a);

/* one changeset and what it belongs to */
struct changes {
	struct hostinfo host;
	int sessions;		/* owned; -1 */
	struct changeset cs;
	int lower;		/* the workspace; owned; -1 */
	struct journal j;
	struct protected_place *place;	/* while the journal is made anew; borrowed */
	bool removes;		/* what is found is to go: never under a run, nor what a run has left just now */
};

#define CHANGES_NONE { .sessions = -1, .cs = CHANGESET_NONE, .lower = -1 }

/** changes_begin() - find the state folder and sweep it. Return: 0; -ENOENT (without a text: there are no changesets at all); ... */
int changes_begin(struct changes *c, char *const env[], struct ak_err *err);

/**
 * changes_find() - open and lock one
 * @id:		NULL: the newest of the current folder, or of one above it; a session of the agent's (s-...): what its last run left
 * Return: 0; -EBADMSG (only good to be discarded; opened all the same); -ENOENT, -EBUSY, ...
 * With @c->removes a session whose run goes on is -EBUSY at once.
 */
int changes_find(struct changes *c, const char *id, struct ak_err *err);

/**
 * changes_read() - open the workspace and read the journal; one that is missing or half-written is made anew from the layer
 * Return: 0 or negative errno.
 */
int changes_read(struct changes *c, struct ak_err *err);

/** changes_remove() - remove it with its folder */
int changes_remove(struct changes *c, struct ak_err *err);

/** changes_discard() - the same for changes that nobody wants: the session of the agent that made them gets to know */
int changes_discard(struct changes *c, struct ak_err *err);

void changes_release(struct changes *c);

/** changes_by() - " (by NAME)", where @ch is protected as what that name leads to; else nothing */
void changes_by(struct ak_buf *out, const struct change *ch);

/** changes_path() - a path for people: as it is when it is plain, else quoted and escaped */
void changes_path(struct ak_buf *out, const char *path);

/** changes_say() - one line on standard error: "ak: TEXT" */
void changes_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
