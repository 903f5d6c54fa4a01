/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of ak's own beside the executor that looks after one command where no ak-init does: it starts it, waits for it, ends
 * it and all it has left, and says so on the control socket as ak-init does (executor/shared/ak_init_proto.h).
 * Process: warden, a copy of the executor. Privilege: the caller's.
 *
 * It outlives the executor for as long as cleaning up takes: end of file on the socket means that the executor is gone, killed
 * perhaps, and then it ends the command and removes what it made.
 */
#ifndef AK_WARDEN_H
#define AK_WARDEN_H

#include <stdbool.h>
#include <stdint.h>

#include "executor/backend.h"

struct ak_err;
struct sandbox;
struct streams;

struct warden {
	int ctl;			/* its end of the socket */
	struct backend_facts *facts;	/* shared with the executor, which reads them when the warden has ended */
};

/**
 * warden_facts() - memory that a warden and the executor share
 * Return: zeroed facts, to be released with warden_facts_free(); NULL: no memory.
 */
struct backend_facts *warden_facts(enum opt_backend b);
void warden_facts_free(struct backend_facts *f);

/**
 * warden_start() - fork a warden
 * @main:	runs in it, with the command's streams as descriptors 0, 1 and 2, no other one open but its socket, a session of
 *		its own and the executor's signals blocked; what it returns is its exit code
 * @st:		opened; child ends stay the caller's to close
 * @ret:	how the executor reaches it: as for a sandbox's init
 * Return: 0 or negative errno.
 */
int warden_start(int (*main)(struct warden *w, void *arg), void *arg, struct backend_facts *facts, const struct streams *st,
		 struct sandbox *ret, struct ak_err *err);

/** warden_message() - the next word of the executor. Return: a signal to pass on; 0: nothing; -1: the executor is gone. */
int warden_message(struct warden *w);

/**
 * warden_failed() - the command was not started
 * @stage:	enum init_stage
 * @exit_code:	125, 126 or 127
 */
void warden_failed(struct warden *w, unsigned stage, unsigned exit_code, const struct ak_err *err);

/** warden_exited() - the command ended: wait status as wait(2) gives it, times of CLOCK_MONOTONIC */
void warden_exited(struct warden *w, int wstatus, uint64_t start_ns, uint64_t end_ns);

/** warden_drop_streams() - descriptors 0, 1 and 2 become /dev/null, so that their readers see the command's end of file */
void warden_drop_streams(void);

#endif
