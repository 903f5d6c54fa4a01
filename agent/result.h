/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended, and ak-result/1, which says so. Pure. Process: agent. Privilege: none. */
#ifndef AK_AGENT_RESULT_H
#define AK_AGENT_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/budget.h"
#include "agent/msg.h"
#include "agent/retry.h"
#include "executor/shared/ak_err.h"
#include "lib/libak.h"

struct ak_json;
struct exec_client;

enum run_end {
	RUN_DONE,	   /* a final answer */
	RUN_ERROR,	   /* ours: memory, a file, a fault inside */
	RUN_USAGE,	   /* the command line, a setting */
	RUN_PROVIDER,	   /* the provider: its fault says more */
	RUN_SANDBOX,	   /* no sandbox, or the executor is gone */
	RUN_BUDGET,	   /* a limit: which */
	RUN_REFUSAL,	   /* the model or the provider's filter refused */
	RUN_CONTEXT,	   /* the conversation does not fit the model's window */
	RUN_TRUNCATED,	   /* the answer was cut by its maximum */
	RUN_SCHEMA,	   /* the answer does not match --output-schema */
	RUN_DENIED,	   /* calls were denied, with --fail-on-denied */
	RUN_KEPT,	   /* done, but the changes could not be taken over */
	RUN_INTERRUPTED,   /* by a signal */
};

/* A call that was denied; owned */
struct run_denial {
	char *tool;
	char *id;
	char *args;
};

/**
 * struct run_result - what is said at the end; run_result_release()
 * @text:	the final message, or "Stopped: ..."; owned; NULL: none
 * @signal:	with RUN_INTERRUPTED
 * @which:	with RUN_BUDGET: which limit; also with RUN_DONE, where a limit was exceeded by the final answer
 * @stop:	of the last reply, where @has_stop
 * @err:	msg "" where nothing is wrong
 * @changes:	where @has_changes: of the copy of the workspace, and what became of them; owned
 * @limits_hit:	limits of the sandbox that commands met, as limits_note() gives them
 * @direct:	there is no copy: of @changes only protected names are known
 * @structured:	JSON text of the validated answer; owned; NULL
 */
struct run_result {
	enum run_end end;
	int signal;
	enum fault fault;
	enum budget_which which;
	enum stop_reason stop;
	bool has_stop;
	char *text;
	char *structured;
	struct ak_err err;
	struct run_denial *denials;
	size_t ndenials;
	uint64_t turns;
	uint64_t tool_calls;
	uint64_t duration_ms;
	struct usage usage;
	uint32_t limits_hit;
	struct ak_change_set changes;
	bool has_changes;
	bool direct;
};
void run_result_release(struct run_result *r);
/** run_result_deny() - note a denied call. Return: 0, -ENOMEM. */
int run_result_deny(struct run_result *r, const char *tool, const char *id, const char *args);
/** run_result_text() - copy the final message. Return: 0, -ENOMEM. */
int run_result_text(struct run_result *r, const char *text);

/** run_exit_code() - of CLI.md */
int run_exit_code(const struct run_result *r);
/** run_subtype() - "success", "error_max_cost", ...; static */
const char *run_subtype(const struct run_result *r);
/** run_status() - "completed", "stopped", "failed", "interrupted"; static */
const char *run_status(const struct run_result *r);

/* What the result says beside how it ended; NULL: unknown. Borrowed. */
struct run_about {
	const char *session_id;
	const char *model;
	const char *provider;
	const char *price_as_of;
};

/** run_result_json() - the members of ak-result/1; the caller opened the object */
void run_result_json(struct ak_json *j, const struct run_result *r, const struct run_about *a);

#endif
