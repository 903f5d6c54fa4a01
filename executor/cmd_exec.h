/* SPDX-License-Identifier: Apache-2.0 */
/* `ak exec`: one command in one sandbox. Process: executor. */
#ifndef AK_CMD_EXEC_H
#define AK_CMD_EXEC_H

#include <stdint.h>

/**
 * cmd_exec() - parse, plan, run, report
 * @argc:	arguments after "exec"
 * @start_ns:	CLOCK_MONOTONIC when ak started, for setup_ms
 * Return: the exit code of CLI.md.
 */
int cmd_exec(int argc, char *const argv[], char *const environ_[], uint64_t start_ns);

/**
 * cmd_learn() - `ak seccomp learn`: the same run, traced; then the profile of what it called on standard output
 * @argc:	arguments after "learn": options of `ak exec` and the command
 * Return: 0; 1 when ak failed, or the command did (the profile is written then, too); 2 usage.
 */
int cmd_learn(int argc, char *const argv[], char *const environ_[], uint64_t start_ns);

/**
 * cmd_exec_own() - the same for another command of ak's, whose workspace may lie in the state folder
 * Return: as cmd_exec(). In root mode the process is nobody on the host afterwards.
 */
int cmd_exec_own(int argc, char *const argv[], char *const environ_[]);

#endif
