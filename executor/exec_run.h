/* SPDX-License-Identifier: Apache-2.0 */
/* Everything one `ak exec` owns; cmd_exec.c and the backends only. Process: executor. */
#ifndef AK_EXEC_RUN_H
#define AK_EXEC_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "executor/backend.h"
#include "executor/cmd_in.h"
#include "executor/cow.h"
#include "executor/learn.h"
#include "executor/limits.h"
#include "executor/ns/ahead.h"
#include "executor/ns/mnt_late.h"
#include "executor/observing.h"
#include "executor/opts.h"
#include "executor/plain.h"
#include "executor/prepare.h"
#include "executor/protected_look.h"
#include "executor/relay.h"
#include "executor/sandbox.h"
#include "executor/stream.h"

struct docker_run;

/* of the local backend */
struct local_box {
	char **env;	/* owned */
	char *cwd;	/* owned */
};

/*
 * Released in one place whatever happened. The long members last, in an order that puts what a plain run touches of them on few pages:
 * each costs as much as five system calls.
 */
struct exec_run {
	struct exec_opts opts;
	struct prepared p;
	struct in_run in;	/* with --in, in the place of @p and @sb */
	struct streams streams;
	bool learning;		/* `ak seccomp learn` */
	bool have_result;
	bool own;		/* run for another command of ak's: cmd_exec_own() */
	struct learn learn;
	struct plain plain;
	struct sandbox sb;
	int image;		/* the memory file of @sb's init, for @late; owned; -1 */
	struct mnt_late late;	/* the sandbox's mounts, which the kernel takes apart after us */
	struct relay_sandbox rs;	/* of @sb, once it was created */
	struct backend_facts *facts;	/* of a backend other than native; owned; NULL */
	struct local_box local;
	struct docker_run *docker;	/* owned; NULL */
	int report_fd;
	int signal_fd;
	unsigned closed;	/* standard streams the caller had closed */
	const char *stage;
	uint64_t start_ns;
	struct ahead ahead;	/* the child of @sb, begun while there is no plan yet */
	struct protected_look look;
	struct observing ob;
	struct run_result result;
	struct limits limits;
	struct cow cow;
};

#endif
