/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a helper program of the host to its end. An interface, so that tests put another runner in its place.
 * Process: the warden of a sandbox (executor/warden.h). Privilege: none given on.
 */
#ifndef AK_RUNNER_H
#define AK_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;

#define RUNNER_KEPT_MAX (64u << 10)	/* of each stream that is kept; the rest is read and dropped */

/* One call. A descriptor -1 in @fds: /dev/null for 0, kept in the result for 1 and 2. */
struct runner_call {
	char *const *argv;	/* argv[0] is a name for the program; borrowed */
	uint64_t timeout_ms;	/* the program is killed then; UINT64_MAX: the hooks see to it */
	int fds[2];		/* standard input and output; borrowed */
	const struct runner_hooks *hooks;	/* NULL: none */
	void *ctx;		/* for the hooks */
};

/* What happens while the program runs */
struct runner_hooks {
	/** bytes of its standard error, which is not kept then */
	void (*err_bytes)(void *ctx, const uint8_t *p, size_t n);
	int watch;		/* descriptor; -1: none */
	/** @watch is readable. Return: false when it is not to be watched any more */
	bool (*readable)(void *ctx);
	/** next time to look, CLOCK_MONOTONIC ns; 0: none */
	uint64_t (*deadline)(void *ctx);
	/** it has come. Return: false: kill the program */
	bool (*expired)(void *ctx);
};

struct runner_result {
	int code;		/* exit code; 128 + N after a signal; 124 when killed at @timeout_ms */
	bool timed_out;		/* killed at @timeout_ms, or by a hook */
	char *out, *err;	/* kept, NUL-terminated, NULs in them replaced; owned; NULL: not kept */
	size_t out_len, err_len;
};

struct runner {
	/** Return: 0 with the result; negative errno when the program could not be started */
	int (*run)(void *ctx, const struct runner_call *c, struct runner_result *ret, struct ak_err *err);
	void *ctx;
};

void runner_result_release(struct runner_result *r);

/* The real one */
struct runner_program {
	const char *path;	/* absolute; borrowed */
	char *const *envp;	/* borrowed */
	const char *cwd;	/* absolute; borrowed; NULL: the caller's */
};

/**
 * runner_program_run() - for struct runner: start the program of a struct runner_program
 * It gets its own session, default signals, three descriptors and @envp, and dies with its parent. No shell is involved.
 */
int runner_program_run(void *program, const struct runner_call *c, struct runner_result *ret, struct ak_err *err);

#endif
