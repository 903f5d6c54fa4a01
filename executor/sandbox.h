/* SPDX-License-Identifier: Apache-2.0 */
/* Starts one sandbox from a plan. Process: executor. */
#ifndef AK_SANDBOX_H
#define AK_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "executor/ns/setup.h"

struct ahead;
struct ak_err;
struct exec_opts;
struct observe_filters;
struct plan;
struct privs;
struct privs_errand;
struct streams;

struct sandbox {
	int pidfd;	/* of the set-up child, which becomes ak-init; owned; -1 */
	pid_t pid;	/* for reading /proc, never for signals */
	int ctl;	/* our end of the control socket; owned; -1 */
};

/* everything a sandbox is born with; descriptors are owned */
struct sandbox_birth {
	struct setup s;
	int cgroup;	/* directory of the group that it is born in; borrowed; -1: none */
	struct ahead *ahead;	/* a child that is there already, used if it is of the right kind; borrowed; NULL: none */
};

#define SANDBOX_BIRTH_NONE { .s = { .ctl = -1, .ctl_parent = -1, .config = -1, .init = -1 }, .cgroup = -1 }

/**
 * sandbox_ahead() - begin to make the child of a usual sandbox while there is no plan yet: see ns/ahead.h
 * @a:	AHEAD_NONE
 * Usual is: rootless, with namespaces and no network. Whether it was can be wrong: sandbox_start() makes another one then.
 * Where it is plain that it would be wrong @a stays as it was.
 */
void sandbox_ahead(const struct exec_opts *o, struct ahead *a);

/** sandbox_filters() - the two filters that a command of this plan gets; borrowed from @plan or living for ever */
void sandbox_filters(const struct plan *plan, struct observe_filters *ret);

/** sandbox_config_open() - what init is told, as a sealed memfd. Return: descriptor; -E2BIG, -ENOMEM and what memfd_create(2) gives. */
int sandbox_config_open(const struct plan *p, int landlock_abi, struct ak_err *err);

/**
 * sandbox_prepare() - make what the set-up child needs
 * @plan:	carried out by the child; borrowed until the sandbox runs
 * @st:		the command's streams; child ends stay the caller's; with plan->serve: ignored, may be NULL
 * @root_mode:	the executor writes the id maps (after privs_enter())
 * @cgroup:	directory of the group that init and the command are born in; borrowed; -1: none
 * Return: 0; negative errno (-E2BIG: arguments and environment too large). Release with sandbox_birth_release().
 */
int sandbox_prepare(const struct plan *plan, const struct streams *st, bool root_mode, int landlock_abi, int cgroup,
		    struct sandbox_birth *ret, struct ak_err *err);
void sandbox_birth_release(struct sandbox_birth *b);

/** sandbox_errand() - for struct privs_errand: the helper, which was born in the group, makes the child as its own sibling */
void sandbox_errand(void *birth, int sock);

/**
 * sandbox_start() - clone the set-up child and let it go
 * @b:		prepared; released here after success
 * @privs:	root mode: the reserved ids, already entered; NULL: rootless
 * @errand:	root mode with a group: privs_enter() has started sandbox_errand(); ended here. NULL: none
 *
 * Returns as soon as the child runs; how its set-up went comes as a message on ctl (see executor/relay.h).
 * Return: 0; negative errno when no child was made (namespaces refused, the group cannot be entered, ...).
 */
int sandbox_start(struct sandbox_birth *b, const struct privs *privs, struct privs_errand *errand, struct sandbox *ret,
		  struct ak_err *err);

/** sandbox_release() - close what sandbox_start() opened; the child must have been waited for, or dies by end of file */
void sandbox_release(struct sandbox *sb);

#endif
