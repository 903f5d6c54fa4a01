/* SPDX-License-Identifier: Apache-2.0 */
/* A named sandbox from the side of the commands that talk to its executor. Process: those commands. Privilege: the caller's. */
#ifndef AK_NAMED_H
#define AK_NAMED_H

#include <stdbool.h>

#include "executor/hostinfo.h"
#include "executor/runtime.h"
#include "lib/libak.h"

struct ak_err;

struct named {
	struct hostinfo host;
	struct runtime rt;
	struct runtime_peer peer;	/* its socket belongs to the client */
	struct ak_client *cl;
	const char *name;		/* borrowed */
};

#define NAMED_NONE { .rt = { .dir = -1 }, .peer = RUNTIME_PEER_NONE }

/**
 * named_find() - find the sandbox and its executor, without a word to it
 * @env:	the caller's environment; borrowed as long as @n lives
 * @n:		starts as NAMED_NONE; release with named_release() also after a failure
 * Return: as runtime_connect(); a missing runtime folder is -ENOENT, too.
 */
int named_find(struct named *n, const char *name, char *const env[], struct ak_err *err);

/**
 * named_open() - the same, and greet the executor
 * Return: as named_find(); -EPROTO with what to do when it is of another version; -ECONNRESET, -ETIMEDOUT.
 */
int named_open(struct named *n, const char *name, char *const env[], struct ak_err *err);

void named_release(struct named *n);

/**
 * named_fail() - what a management command that failed says on standard error: one line with the hint
 * Return: 1, its exit code.
 */
int named_fail(const struct ak_err *err);

/** named_usage() - the same for a command line that makes no sense. Return: 2. */
int named_usage(const struct ak_err *err);

/**
 * named_print() - write to standard output
 * Return: 0, or 1 with a line on standard error.
 */
int named_print(const char *text, size_t len);

#endif
