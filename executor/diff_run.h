/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the host's diff on two folders of copies, in a sandbox that sees the host's system folders, the copies, and nothing else: never a
 * program or an image of a run, which could show what it likes, and never git, which would obey what lies in the workspace.
 * Process: `ak diff`, `ak checkpoint diff`. Privilege: the caller's; the sandbox is made by a child.
 */
#ifndef AK_DIFF_RUN_H
#define AK_DIFF_RUN_H

struct ak_err;

/**
 * diff_run() - compare the folders "a" and "b" in @where; the text goes to standard output
 * @where:	real path of a folder of ak's own
 * @env:	of the caller; of it only what the sandbox itself needs is passed on
 * Return: 0; 1 with a line on standard error; negative errno.
 */
int diff_run(const char *where, char *const env[], struct ak_err *err);

#endif
