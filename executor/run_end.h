/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a run whose agent is not there to write it: ak-result/1 with what the executor knows. Process: executor. Privilege: none.
 *
 * What it does not know is null: the model, turns, costs, the answer. The trace of the session has them, as far as they were written.
 */
#ifndef AK_RUN_END_H
#define AK_RUN_END_H

#include <stdint.h>

#include "executor/run_words.h"
#include "executor/shared/ak_err.h"

struct cow_close;
struct protected_report;

/**
 * struct run_end - how it ended
 * @out:	the caller's standard output; borrowed
 * @signo:	the signal that ended it; 0: the agent has died or never was there
 * @session:	what the agent called its session; "": it never did
 * @changes:	what became of the copy of the workspace; NULL: there was none
 * @protected:	protected names that changed in a workspace that was written directly; NULL: not looked at
 * @start_ns:	monotonic, when the run began
 * @err:	why; its message is the error's
 */
struct run_end {
	int out;
	enum run_words_output form;
	int signo;
	const char *session;
	const struct cow_close *changes;
	const struct protected_report *protected;
	uint64_t start_ns;
	struct ak_err err;
};

/** run_end_code() - exit code of CLI.md: 1, or 128 + @signo */
int run_end_code(const struct run_end *e);

/**
 * run_end_write() - write the object in the form that was asked for; nothing with plain text
 * It begins with a line feed, since the agent may have died in the middle of a line. A reader that reads nothing is waited for
 * RUN_END_WAIT_MS at most.
 * Return: 0, or the negative errno of writing, -ETIMEDOUT.
 */
int run_end_write(const struct run_end *e);

#define RUN_END_WAIT_MS 5000

#endif
