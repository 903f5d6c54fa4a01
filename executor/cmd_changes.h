/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands about changesets of cow runs. Process: executor. Privilege: the caller's; what reads or writes the workspace runs in
 * a child that is its owner. Each takes the arguments behind its own name and returns 0, 1 failed or refused, 2 usage.
 */
#ifndef AK_CMD_CHANGES_H
#define AK_CMD_CHANGES_H

int cmd_apply(int argc, char *const argv[], char *const env[]);
int cmd_discard(int argc, char *const argv[], char *const env[]);
int cmd_diff(int argc, char *const argv[], char *const env[]);
int cmd_sessions(int argc, char *const argv[], char *const env[]);

#endif
