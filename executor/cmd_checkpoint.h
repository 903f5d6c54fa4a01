/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak checkpoint`: keep a workspace as it is, look at what changed since, take it back. Process: a command of its own, one thread.
 * Privilege: the caller's; no program is started but diff(1) in a sandbox, and no file of the workspace is obeyed.
 */
#ifndef AK_CMD_CHECKPOINT_H
#define AK_CMD_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "executor/hostinfo.h"
#include "executor/workspace/ckpt_scan.h"
#include "executor/workspace/ckpt_store.h"

struct ak_buf;
struct ak_err;
struct ckpt_difference;

/** cmd_checkpoint() - the arguments behind "checkpoint". Return: 0; 1 failed, refused or not all restored; 2 usage. */
int cmd_checkpoint(int argc, char *const argv[], char *const env[]);

/* --- for checkpoint_*.c --- */

#define CHECKPOINT_WORDS 256	/* ids or paths on the command line */

/* What the command line says */
struct checkpoint_args {
	const char *dir;	/* -C; NULL: the current folder */
	const char *note;	/* -m */
	bool json, live, quiet, stat;
	const char *word[CHECKPOINT_WORDS + 1];	/* borrowed; NULL-terminated */
	size_t nwords;
};

/* One run of the command */
struct checkpoint {
	const struct checkpoint_args *args;
	struct hostinfo host;
	char *workspace;	/* real path; owned */
	int root;		/* of it; owned; -1 */
	struct ckpt_store store;
};

/**
 * checkpoint_open() - find the workspace, and open its store
 * @make:	make the store where it is missing
 * @still:	nobody may be at work in it, unless --live
 * @stay:	nor begin to
 * Leftovers of a killed command are put right. Return: 0 or a negative errno; checkpoint_close() in any case.
 */
int checkpoint_open(struct checkpoint *c, char *const env[], bool make, bool still, bool stay, struct ak_err *err);
void checkpoint_close(struct checkpoint *c);

/** checkpoint_tell() - one line on stderr, unless --quiet */
void checkpoint_tell(const struct checkpoint *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** checkpoint_tell_scan() - what a scan could not keep, and files that changed while they were read */
void checkpoint_tell_scan(const struct checkpoint *c, const struct ckpt_scan *s);

/** checkpoint_save_tree() - write a scanned tree with its note. Return: as ckpt_store_save(). */
int checkpoint_save_tree(struct checkpoint *c, struct ckpt_scan *s, const char *note, const char *before,
			 char ret_id[static CKPT_ID_MAX + 1], struct ak_err *err);

/**
 * checkpoint_text() - what differs, as text, on standard output
 * @live:	the new side is the workspace
 * Return: 0; 1 (told already), or a negative errno with @err.
 */
int checkpoint_text(struct checkpoint *c, const struct ckpt_difference *d, size_t n, bool live, char *const env[], struct ak_err *err);

/* The subcommands: standard output goes to @out. Return: 0, 1 (told already), or a negative errno with @err. */
int checkpoint_save(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err);
int checkpoint_list(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err);
int checkpoint_diff(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err);
int checkpoint_restore(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err);
int checkpoint_rm(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err);

#endif
