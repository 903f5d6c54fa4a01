/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run shows: progress on standard error, the result on standard output, in the form that was asked for. Process: agent.
 * Privilege: none. Text of a model or a command that goes to a terminal, or into a line of progress, has no control characters.
 */
#ifndef AK_AGENT_RUN_OUT_H
#define AK_AGENT_RUN_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/msg.h"
#include "agent/result.h"
#include "agent/run_opts.h"

struct ak_err;
struct completion;
struct exec_client;
struct tool_def;

/**
 * struct run_out - private but for @failed
 * @file:	--output-last-message, opened before the run; owned; -1
 * @failed:	errno of the first write to standard output that failed; nothing is written after it
 */
struct run_out {
	enum run_format format;
	bool quiet;
	bool tty_out;
	int file;
	char session_id[24];
	bool stored; /* the session can be gone on with */
	uint64_t seq;
	int failed;
};

/** run_out_open() - before anything is said. Return: 0; errno of opening --output-last-message. */
int run_out_open(struct run_out *o, const struct run_opts *opts, struct ak_err *err);
void run_out_close(struct run_out *o);

/* What a run starts with; borrowed */
struct run_start {
	const char *model;
	const char *provider;
	const char *api;
	const char *approval;
	const struct exec_client *xc;
	const struct tool_def *tools;
	size_t ntools;
	bool resumed;
	bool stored;
};

/** run_out_start() - the run begins */
void run_out_start(struct run_out *o, const char *session_id, const struct run_start *s);
/** run_out_assistant() - a reply came */
void run_out_assistant(struct run_out *o, const struct msg *m, uint64_t turn, const struct usage *u);
/** run_out_results() - the results of its calls */
void run_out_results(struct run_out *o, const struct msg *m);
/** run_out_note() - a line of progress */
void run_out_note(struct run_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** run_out_warn() - a line that is shown in any case */
void run_out_warn(struct run_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** run_out_result() - the last word, in every form. Return: 0, or the errno of writing it. */
int run_out_result(struct run_out *o, const struct run_result *r, const struct run_about *a);

#endif
