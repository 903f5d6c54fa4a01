/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands that manage named sandboxes: ls, rm, jobs, logs, kill. Process: a client. Privilege: the caller's.
 * Each takes the arguments behind its own name and returns the exit code of CLI.md: 0, 1 failed or refused, 2 usage.
 */
#ifndef AK_CMD_NAMED_H
#define AK_CMD_NAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_err;

int cmd_ls(int argc, char *const argv[], char *const env[]);
int cmd_rm(int argc, char *const argv[], char *const env[]);
int cmd_jobs(int argc, char *const argv[], char *const env[]);
int cmd_logs(int argc, char *const argv[], char *const env[]);
int cmd_kill_job(int argc, char *const argv[], char *const env[]);

/* --- for cmd_*.c --- */

#define CMD_WORDS_MAX 2

/* A flag of such a command: "--force", or a letter */
struct cmd_flag {
	const char *name;	/* NULL: end of the list */
	const char *letter;	/* "-f"; NULL: none */
	bool *set;
};

/**
 * cmd_words() - the words of a small command line: flags anywhere, the rest in order
 * @usage:	printed for --help, and named in errors
 * @ret:	@want words; borrowed from @argv
 * Return: 0; 1 when help was asked for and printed; -EINVAL.
 */
int cmd_words(int argc, char *const argv[], const char *usage, const struct cmd_flag *flags, size_t want,
	      const char *ret[static CMD_WORDS_MAX], struct ak_err *err);

/** cmd_job_id() - a job's number. Return: 0 or -EINVAL. */
int cmd_job_id(const char *word, uint32_t *ret, struct ak_err *err);

#endif
