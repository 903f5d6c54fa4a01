/* SPDX-License-Identifier: Apache-2.0 */
/* What the child does between clone3 and the exec of ak-init. */
#ifndef AK_NS_SETUP_H
#define AK_NS_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/ns/userns.h"

struct ahead;
struct plan;

/**
 * struct setup - everything the child needs; made by the parent before clone3, only read afterwards
 */
struct setup {
	const struct plan *plan;
	int ctl;		/* the child's end of the control socket */
	int ctl_parent;		/* the parent's end, closed first, so that end of file means what it says */
	int config;		/* sealed memfd with the init_config */
	int init;		/* sealed memfd with ak-init */
	int stdio[3];		/* the command's streams; -1: /dev/null of the sandbox (the pty comes from init) */
	bool wait_go;		/* root mode: the parent writes the maps and says INIT_MSG_GO */
	struct id_map uid, gid;	/* else: the child writes these itself */
	struct ahead *ahead;	/* this process, whose second thread began before there was a plan; NULL: it has none yet */
	bool cgroupns;		/* make the cgroup namespace here: clone3 would root it in the parent's group, not in the new one */
	uint32_t weaken;	/* AK_WEAK_* of a test build */
};

/**
 * setup_child() - build the sandbox around this process and become ak-init
 *
 * Requires: just cloned into new namespaces, single-threaded. Failures are sent to the parent as INIT_MSG_FAILED; then the
 * process ends with 125, and its namespaces with it. Nothing outside was changed.
 * Process: set-up child. Privilege: all capabilities of its new user namespace; none when ak-init starts.
 */
_Noreturn void setup_child(const struct setup *s);

#endif
