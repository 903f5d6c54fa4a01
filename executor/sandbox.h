/* SPDX-License-Identifier: Apache-2.0 */
/* Starts one sandbox from a plan. Process: executor. */
#ifndef AK_SANDBOX_H
#define AK_SANDBOX_H

#include <sys/types.h>

struct ak_err;
struct plan;
struct privs;
struct streams;

struct sandbox {
	int pidfd;	/* of the set-up child, which becomes ak-init; owned; -1 */
	pid_t pid;	/* for reading /proc, never for signals */
	int ctl;	/* our end of the control socket; owned; -1 */
};

/**
 * sandbox_start() - clone the set-up child and let it go
 * @plan:	carried out by the child; borrowed
 * @st:		the command's streams; child ends stay the caller's
 * @privs:	root mode: the reserved ids, already entered; NULL: rootless
 *
 * Returns as soon as the child runs; how its set-up went comes as a message on ctl (see executor/relay.h).
 * Return: 0; negative errno when no child was made (namespaces refused, -E2BIG: arguments and environment too large, ...).
 */
int sandbox_start(const struct plan *plan, const struct streams *st, const struct privs *privs, int landlock_abi,
		  struct sandbox *ret, struct ak_err *err);

/** sandbox_release() - close what sandbox_start() opened; the child must have been waited for, or dies by end of file */
void sandbox_release(struct sandbox *sb);

#endif
