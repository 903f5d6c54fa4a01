/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A direct run's look at the protected names of its workspace, before and after. Process: executor, or the client of a named
 * sandbox. Privilege: the caller's; in root mode afterwards that of the sandbox's user, lent for the walk.
 */
#ifndef AK_PROTECTED_LOOK_H
#define AK_PROTECTED_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "executor/workspace/protected_scan.h"

struct ak_err;
struct plan;
struct privs;

struct protected_look {
	struct protected_mark mark;
	struct protected_report report;
	bool lend;		/* root mode: the walk has the file ids of the sandbox's user */
	uint32_t uid, gid;	/* on the host */
	int program;		/* root mode: ak-policy, which cannot be reached afterwards; owned; -1 */
	bool lock_before;	/* git's lock of the index was there, or nobody could tell */
	bool lock_left;		/* after protected_look_end(): it was not, and now it is */
};

#define PROTECTED_LOOK_LOCK ".git/index.lock"
#define PROTECTED_LOOK_NONE { .mark = PROTECTED_MARK_NONE, .program = -1 }

/**
 * protected_look_begin() - before the sandbox is started, while its mount sources can still be reached
 * @p:	root mode: who the sandbox's user will be on the host; NULL: the caller
 * Nothing is watched unless the workspace is written directly; what cannot be opened is not watched. The workspace is shared
 * with other commands as long as @l lives (busy.h), so that no restore begins meanwhile.
 * Return: 0; -EBUSY (it is being restored).
 */
int protected_look_begin(struct protected_look *l, const struct plan *plan, const struct privs *p, struct ak_err *err);

/** protected_look_begin_path() - watch the workspace of a sandbox that runs already */
void protected_look_begin_path(struct protected_look *l, const char *workspace);

/**
 * protected_look_end() - after the command
 * Return: what changed, borrowed from @l; NULL when nothing was watched.
 */
const struct protected_report *protected_look_end(struct protected_look *l);

void protected_look_release(struct protected_look *l);

#endif
