/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop: ask the model, validate its calls, have them approved, run them, answer every call exactly once and in order; stop when
 * there is a final answer, or for a reason that has a name. Process: agent. Privilege: none.
 *
 * Whatever the end is, the history and the transcript can be sent to a provider afterwards: calls that were not run have the result
 * "Not run: REASON", and a turn that was cut is in neither.
 */
#ifndef AK_AGENT_LOOP_H
#define AK_AGENT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/approve.h"
#include "agent/budget.h"
#include "agent/cancel.h"
#include "agent/context.h"
#include "agent/msg.h"
#include "agent/points.h"
#include "agent/provider/call.h"
#include "agent/result.h"
#include "agent/run_out.h"
#include "agent/tool.h"
#include "agent/trace.h"
#include "agent/transcript.h"

struct schema;
struct session_about;

#define LOOP_CALLS_AT_ONCE 4u
#define LOOP_CALLS_MAX 128u	/* of one reply; more are answered with an error */
#define LOOP_PAUSES_MAX 8u	/* replies in a row that a server's own loop has paused */
#define LOOP_TOOLS_MAX 16u
#define LOOP_KILL_MS 5000u	/* for running commands to end once the run has to */

/* When a call of a turn is judged and started: what it is judged by may be changed by the calls before it */
enum loop_order {
	LOOP_ANY_TIME,	    /* beside the others */
	LOOP_AFTER_CHANGES, /* when no LOOP_AFTER_ALL call before it runs */
	LOOP_AFTER_ALL,	    /* when none before it runs */
};

/**
 * struct loop - what it works with; everything borrowed but what is marked
 * @schemas:	of the arguments, one for each row of @tools; loop_init() makes, loop_release() frees them
 * @plan:	hears of a turn before its calls are decided about; @approve: decides about one call, just before
 *		it starts; see approve_call(); @order: when that is
 * @result:	turns, calls, denials and the end are noted there
 */
struct loop {
	struct provider *provider;
	struct budget *budget;
	struct history *hist;
	struct transcript *transcript;
	struct tool_env *env;
	struct cancel *cancel;
	struct run_out *out;
	struct trace *trace;
	struct session_about *about;
	struct points *points;
	struct run_result *result;
	int (*plan)(void *ctx, const struct msg *turn);
	int (*approve)(void *ctx, const char *tool, const struct cJSON *args, struct approve_answer *ret);
	enum loop_order (*order)(void *ctx, const char *tool, const struct cJSON *args);
	void *approve_ctx;
	const char *system;
	const char *effort;
	const char *output_schema;
	const char *session_id;
	uint64_t max_tokens;
	struct context context;
	struct tool_def tools[LOOP_TOOLS_MAX];
	struct schema *schemas[LOOP_TOOLS_MAX];
	size_t ntools;
	struct prompt_meter meter;
};

/**
 * loop_init() - the table of tools made ready; the rest is the caller's to fill in
 * @write:	enum ak_write: how the workspace is mounted
 * Return: 0, or as schema_parse().
 */
int loop_init(struct loop *l, uint8_t write, struct ak_err *err);
void loop_release(struct loop *l);

/** loop_run() - until the end; the user's turn is in the history already. What it was is in l->result. */
void loop_run(struct loop *l);

/* --- loop_tools.c --- */

/* Why open calls are not run */
struct loop_stop {
	bool stopped;
	const char *reason; /* "Not run: REASON" */
};

/**
 * loop_tools() - all calls of a turn, and their results as the next user turn
 * @m:		the assistant's turn
 * @calls:	filled for the trace: one row a call, LOOP_CALLS_MAX at most; strings borrowed from @m and @ret
 * @ret:	one result for each call, in order
 * @stop:	whether the run has to end, and the reason
 * Return: 0; -ENOMEM; -ECONNRESET (the executor is gone; @ret is complete all the same).
 */
int loop_tools(struct loop *l, const struct msg *m, struct trace_call *calls, struct msg *ret, struct loop_stop *stop);

/* --- loop_room.c --- */

/* What a compaction did; @turns 0: none was done. Tokens are estimates. */
struct loop_compaction {
	uint64_t turns;
	uint64_t tokens_before;
	uint64_t tokens_after;
};

/**
 * loop_compact() - make the conversation shorter, see compact.h: the model is asked for the summary, booked and traced; where that
 * fails, the summary is made without it. The transcript gets a line, the trace's turn is the caller's.
 * Return: did it get shorter? Then @ret is filled; else it and the history are untouched, what was asked is booked all the same.
 */
bool loop_compact(struct loop *l, uint64_t iteration, struct loop_compaction *ret);

/** loop_not_run() - "Not run: REASON" for every call of @m; @calls as loop_tools(). Return: 0, -ENOMEM. */
int loop_not_run(const struct msg *m, const char *reason, struct trace_call *calls, struct msg *ret);

#endif
