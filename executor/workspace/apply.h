/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes changes over into the workspace. Process: a child that is the owner (owner.h). Privilege: the owner's.
 *
 * First everything is looked at, then, only if nothing stands against it, everything is done, file by file: each is there whole or
 * not at all (a temporary name, then one rename), and identity is looked at again directly before. No link is followed,
 * openat2(2) stays beneath the workspace. Set-id bits are dropped, special files are left out.
 *
 * It can be ended at any point and begun again: a path that is already as it shall be counts as done, whoever did it. As with cp(1)
 * and mv(1), what was written is on the disk when the kernel gets to it: after a loss of power the last seconds may be missing.
 */
#ifndef AK_WORKSPACE_APPLY_H
#define AK_WORKSPACE_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;
struct journal;

enum apply_state {
	APPLY_NOT = 0,		/* not chosen */
	APPLY_DO,
	APPLY_DONE,		/* the workspace has it so already */
	APPLY_CONFLICT,		/* changed outside since, or in the way */
	APPLY_PROTECTED,	/* chosen, but held back: a protected name that was not named */
	APPLY_SPECIAL,		/* a FIFO, socket or device: left out */
};

struct apply {
	int upper, lower;	/* the layer's top and the workspace; borrowed */
	const char *temp;	/* name of the one temporary file at a time */
	struct journal *j;	/* sorted; identities of forced changes are renewed; borrowed */
	char *const *paths;	/* NULL-terminated list of what was chosen, or NULL: all */
	char *const *allow;	/* --allow-protected, or NULL */
	const char *prefix;	/* what the workspace lies in: see protected_place.h; "": nothing */
	bool resumed;		/* an earlier apply of it was ended in the middle: what it had taken away is no conflict */
	bool force;		/* conflicts are overwritten; nothing that the changes do not name is ever deleted */
	size_t *dropped;	/* grows by the attributes that were not taken over: see ws_copy_xattrs(); NULL: not counted */
	/* out */
	uint8_t *state;		/* enum apply_state of each change; owned */
	size_t n[6];		/* how many have each state */
};

/** apply_match() - was @path chosen by the list @paths: one of them, or below one of them? */
bool apply_match(char *const *paths, const char *path);

/**
 * apply_check() - look at every change
 * Return: 0 with state and n filled (also when some are in conflict: see n), -ENOENT when an entry of paths chooses nothing, -ENOMEM.
 */
int apply_check(struct apply *a, struct ak_err *err);

/**
 * apply_run() - do what has APPLY_DO; afterwards these are APPLY_DONE
 * Return: 0; -ESTALE (a file changed meanwhile), -ENOSPC, -EACCES ... naming the path. What was done stays done.
 */
int apply_run(struct apply *a, struct ak_err *err);

/** apply_held() - number of protected names that are held back; a ".git" that is gone or replaced counts as one */
size_t apply_held(const struct apply *a);

/** apply_clean() - remove temporary files that an earlier, killed apply left beside the changes */
void apply_clean(const struct apply *a);

void apply_release(struct apply *a);

#endif
