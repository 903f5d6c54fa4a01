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

#endif
