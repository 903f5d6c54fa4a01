/* SPDX-License-Identifier: Apache-2.0 */
/* What the model is told first: the system prompt, the task, and notes of the project. Process: agent. Privilege: none. */
#ifndef AK_AGENT_PROMPT_H
#define AK_AGENT_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

struct ak_buf;
struct ak_err;
struct cancel;
struct exec_client;
struct run_opts;

#define PROMPT_MAX (10u << 20)	/* bytes of PROMPT and standard input together */
#define PROMPT_PIPE_MS 3000	/* for the first byte of a pipe beside PROMPT */
#define NOTES_MAX 32768u	/* bytes of all AGENTS.md */
#define NOTES_ENTRIES_MAX 20000u /* of the workspace's tree that are looked through for them */

/**
 * prompt_read() - the task, from the command line and standard input
 * @text:	PROMPT; NULL or "-": standard input is all of it
 * @ret_ignored: a pipe on standard input said nothing in time and was left alone
 *
 * Beside PROMPT a file is appended, and a pipe if a byte or its end comes in PROMPT_PIPE_MS; a terminal or a device is not read.
 * Return: 0; -EINVAL (nothing to do, NUL bytes; standard input is a terminal); -E2BIG; -EINTR (cancelled); errno of read(2).
 */
int prompt_read(const char *text, const struct cancel *cancel, struct ak_buf *out, bool *ret_ignored, struct ak_err *err);

/** prompt_system() - the system prompt; the same bytes for the same options and sandbox. Failures latch in @out. */
void prompt_system(const struct run_opts *o, const struct exec_client *xc, struct ak_buf *out);

/**
 * prompt_first() - the first user turn: the task, where and when, and the notes
 * @id:		of the session: makes the marks around the notes unlike anything in them
 * AGENTS.md of the workspace and of folders in it are read through the sandbox, the one at the top first; secrets in them are masked.
 * Return: 0; -ECONNRESET (the executor is gone); -ENOMEM.
 */
int prompt_first(const char *task, const char *id, bool notes, struct exec_client *xc, struct ak_buf *out, struct ak_err *err);

#endif
