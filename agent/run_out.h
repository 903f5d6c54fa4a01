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
#include "agent/provider/provider.h"
#include "agent/result.h"
#include "agent/run_opts.h"

struct ak_err;
struct cJSON;
struct exec_client;
struct tool_run;

/**
 * struct run_view - who shows a run to a person as it goes, in place of the lines about turns and calls
 * @delta:	text of the reply that comes; it may still fail, and then a note says so
 * @assistant:	the whole reply came
 * @call_started: a call was approved and starts; @args: its arguments, parsed
 * @call_ended:	it has its result, which may be that it was not run
 * @line:	a line of ours follows
 */
struct run_view {
	void *ctx;
	void (*delta)(void *ctx, enum delta_kind kind, const char *text);
	void (*assistant)(void *ctx, const struct msg *m, uint64_t turn, const struct usage *u);
	void (*call_started)(void *ctx, const struct tool_call *c, const struct cJSON *args);
	void (*call_ended)(void *ctx, const struct tool_call *c, const struct tool_run *r);
	void (*line)(void *ctx);
};

/**
 * struct run_out - private but for @failed
 * @file:	--output-last-message, opened before the run; owned; -1
 * @view:	borrowed; NULL
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
	const struct run_view *view;
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
/** run_out_call_started() - a call was approved and starts */
void run_out_call_started(struct run_out *o, const struct tool_call *c, const struct cJSON *args);
/** run_out_call_ended() - it has its result */
void run_out_call_ended(struct run_out *o, const struct tool_call *c, const struct tool_run *r);
/** run_out_results() - the results of its calls */
void run_out_results(struct run_out *o, const struct msg *m);
/** run_out_note() - a line of progress */
void run_out_note(struct run_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** run_out_warn() - a line that is shown in any case */
void run_out_warn(struct run_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** run_out_warn_err() - the same of something that failed, and its advice; @what: "" or what stands before it, with its ": " */
void run_out_warn_err(struct run_out *o, const char *what, const struct ak_err *err);
/** run_out_result() - the last word, in every form. Return: 0, or the errno of writing it. */
int run_out_result(struct run_out *o, const struct run_result *r, const struct run_about *a);

#endif
