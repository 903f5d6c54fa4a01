/* SPDX-License-Identifier: Apache-2.0 */
/* What every plain sandbox needs and no plan decides. Process: set-up child. Privilege: all capabilities of its user namespace. */
#ifndef AK_NS_PREWORK_H
#define AK_NS_PREWORK_H

/* results; whoever goes on with them is mount_take_over() */
struct prework {
	int root;	/* the new root, O_PATH, with the covers' names in it */
	int proc;	/* the procfs in it, covered */
	int dev;	/* the tmpfs of its /dev, with nodes and links */
};

/**
 * prework_do() - id maps of one id each, score for the memory killer, signals default, session keyring, the new root, its /proc and most of its /dev,
 * an empty bounding set
 * @uid, @gid:	inside as outside; not 0
 * Requires: namespaces made, umask 0. Changes the working directory. Leaves: what a root built from a plan begins with.
 * Restricted as vthread()'s function is.
 * Return: 0 or negative errno: the process is of no use then.
 */
int prework_do(unsigned uid, unsigned gid, struct prework *ret);

/* a sandbox goes before the user's own programs; HARDENING 89 */
#define OOM_SCORE_ADJ "500"

#endif
