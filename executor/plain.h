/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run without namespaces needs around it: its private folder, and the end of its tree when init could not do it.
 * Process: executor. Privilege: none.
 */
#ifndef AK_PLAIN_H
#define AK_PLAIN_H

#include <stdbool.h>
#include <sys/types.h>

struct ak_err;
struct plan;

struct plain {
	const struct plan *plan;	/* borrowed; NULL: nothing was begun */
	int base;	/* the folder of all private folders; owned; -1 */
	int scratch;	/* this run's, locked as long as it lives; owned; -1 */
	bool reaper;	/* orphans of the tree come to us: we had no children before */
	pid_t except;	/* a child of ours that is no part of the tree; 0 */
};

#define PLAIN_NONE { .base = -1, .scratch = -1 }

/**
 * plain_begin() - remove what killed runs have left, make plan->scratch with "home" and "tmp", become a subreaper
 * @p:		built with p->plain; borrowed until plain_end(); gets a warning where a killed init would leave its tree behind
 * Call it before anything is forked that lives on: an executor that has children already does not become a subreaper, since it
 * could not tell theirs from the sandbox's.
 * Return: 0; -EPERM (a folder there is not ours, or open to others), -EEXIST, and what mkdir(2), open(2) and flock(2) give.
 */
int plain_begin(struct plain *x, struct plan *p, struct ak_err *err);

/**
 * plain_kill() - end all that init has left behind; for when it did not end by itself
 * Up to a second. Return: 0; -EBUSY when somebody may be left, -ESRCH when we are no subreaper and cannot know.
 */
int plain_kill(const struct plain *x);

/** plain_end() - remove the private folder; safe twice. Return: 0 or negative errno: then the next run removes it. */
int plain_end(struct plain *x);

#endif
