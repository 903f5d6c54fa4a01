/* SPDX-License-Identifier: Apache-2.0 */
/* `ak exec --in NAME`: one command in a sandbox that `ak create` made. Process: its client. Privilege: the caller's. */
#ifndef AK_CMD_IN_H
#define AK_CMD_IN_H

#include <stdint.h>

#include "executor/named.h"
#include "executor/relay_far.h"

struct ak_err;
struct cow;
struct exec_opts;
struct run_result;
struct streams;

struct in_run {
	struct named n;
	struct relay_far far;
};

#define IN_RUN_NONE { .n = NAMED_NONE }

/**
 * in_open() - reach the sandbox
 * @o:		its limits become those of the sandbox where they are shown to people
 * Return: as named_open(). Release with in_release() also after a failure.
 */
int in_open(struct in_run *in, struct exec_opts *o, char *const env[], struct ak_err *err);

/**
 * in_relay() - ask for the command and drive it to its end
 * @st:		opened; child ends are closed here
 * @signal_fd:	as relay_run()
 * @ret:	filled when the return value is 0; release with run_result_release()
 * Return: 0, or negative errno: the command was not asked for.
 */
int in_relay(struct in_run *in, const struct exec_opts *o, struct streams *st, int signal_fd, struct run_result *ret,
	     struct ak_err *err);

/** in_detach() - start it as a background job. Return: 0 with the job's id, or negative errno. */
int in_detach(struct in_run *in, const struct exec_opts *o, uint32_t *ret_job, struct ak_err *err);

/**
 * in_changes() - after a command: what was changed so far in the sandbox's copy of the workspace, for the result object
 * @ret:	initialised; stays as it is when the workspace is no copy, or the executor does not say
 */
void in_changes(struct in_run *in, struct cow *ret);

void in_release(struct in_run *in);

#endif
