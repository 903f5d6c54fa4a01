/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telemetry: one JSON object a line for every turn, one file for every session, "trace.jsonl" in the session's folder, 0600.
 * Arguments of tools are not in it, only their hash and length, unless it is asked for (--verbose-trace), and then redacted.
 * Process: agent. Privilege: none; needs the session's folder by descriptor only.
 */
#ifndef AK_AGENT_TRACE_H
#define AK_AGENT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/msg.h"
#include "agent/usage.h"

struct ak_err;

#define TRACE_FILE "trace.jsonl"
#define TRACE_SHA 13u		     /* twelve hex digits and NUL */
#define TRACE_LINE_MAX (8u << 20)    /* a longer record is cut to its figures */

/* What became of a call's approval: null in the record where nobody was to be asked */
enum trace_approved {
	TRACE_NOT_GATED,
	TRACE_APPROVED,
	TRACE_DENIED,
};

/**
 * struct trace_call - one tool call of a turn; everything borrowed
 * @args:	one JSON object as msg.h has it; what is no JSON is hashed as it is
 * @result:	NULL, or the text of the result, for --verbose-trace; already redacted and truncated
 * @exit_code:	of a command; -1: none. @duration_ms: 0: not measured
 * @limits_hit:	of a command: 1 << N for enum ak_limit_kind; not written for the call, but for the turn's sandbox
 */
struct trace_call {
	const char *name;
	enum trace_approved approved;
	bool is_error;
	const char *args;
	size_t args_len;
	const char *result;
	size_t result_len;
	int exit_code;
	uint64_t duration_ms;
	uint32_t limits_hit;
};

/**
 * struct trace_sandbox - what the commands of a turn ran in, and what it refused them; everything borrowed
 * @backend:	"native", "docker", "local"; the others as in ak-exec/1's isolation
 * @landlock_abi: 0: none
 * @denied_syscalls, @denied_hosts: sums over the turn's commands; -1: not observed
 * @limits_hit:	names such as "memory"; @nlimits
 */
struct trace_sandbox {
	const char *backend;
	const char *network;
	const char *workspace;
	const char *seccomp;
	unsigned landlock_abi;
	int64_t denied_syscalls;
	int64_t denied_hosts;
	const char *const *limits_hit;
	size_t nlimits;
};

/**
 * struct trace_turn - one reply of a model and what followed from it; everything borrowed
 * @iteration:	1 for the first of a run
 * @usage:	of the reply and the failed attempts before it; cost_source COST_NONE: estimated_cost_usd is null
 * @stop:	a word of stop_reason_name(), or why the run stopped ("budget", "interrupted"); NULL: null
 * @sandbox:	NULL: null
 * @compacted:	the history was compacted before the call: then the three figures
 * @text:	NULL, or the assistant's text, for --verbose-trace; redacted here
 * @kind:	NULL for a turn, or "judge", "summariser": a call of ours
 */
struct trace_turn {
	uint64_t iteration;
	const char *model;
	const char *provider;
	const char *kind;
	const struct usage *usage;
	const struct trace_call *calls;
	size_t ncalls;
	const char *stop;
	const struct trace_sandbox *sandbox;
	bool compacted;
	uint64_t turns_collapsed, tokens_before, tokens_after;
	unsigned attempts;
	uint64_t request_ms;
	const char *request_id;
	const char *text;
	size_t text_len;
};

/**
 * struct trace - an open file; private but for reading
 * @fd:		owned; -1: nothing is written (--ephemeral, or a failure)
 * @failed:	errno of the first record that could not be written; the next ones are tried again
 * @lost:	records that were not written
 */
struct trace {
	int fd;
	bool verbose;
	char session_id[64];
	int failed;
	uint64_t lost;
	bool torn;	/* the file ends within a line of ours */
};

/**
 * trace_open() - open or make the file; a last line without its end, as a crash leaves it, is cut off
 * @session_fd:	borrowed; -1: write nothing
 * @session_id:	copied
 * Appends only; an older file that others may read or write is closed to them. Return: 0; errno of openat(2) (a link: -ELOOP) and
 * of reading; -EINVAL (no regular file, or one with other names).
 */
int trace_open(struct trace *t, int session_fd, const char *session_id, bool verbose, struct ak_err *err);

/**
 * trace_turn() - append one record, with one write(2)
 * @now_ms:	wall clock, milliseconds since 1970, for "ts"
 * A full disk does not stop a run: Return: 0; negative errno with @err for the first failure in a row, for one warning; 0 for the
 * failures after it (see @lost). A record that was written in part is taken back.
 */
int trace_turn(struct trace *t, const struct trace_turn *turn, uint64_t now_ms, struct ak_err *err);
void trace_close(struct trace *t);

/**
 * trace_args_sha() - first twelve hex digits of SHA-256 over the arguments as compact JSON with sorted names (over their bytes where
 * they are no JSON); args_len in a record is the length of that text
 * @buf:	TRACE_SHA bytes. Return: @buf.
 */
char *trace_args_sha(const char *args, size_t len, char *buf);

#endif
