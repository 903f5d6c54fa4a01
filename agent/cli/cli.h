/* SPDX-License-Identifier: Apache-2.0 */
/* Subcommands of ak-agent: one function each, in agent/cli/cmd_NAME.c; the table is in agent/main.c. Process: agent. */
#ifndef AK_AGENT_CLI_CLI_H
#define AK_AGENT_CLI_CLI_H

/*
 * cli_fn() - run a subcommand
 * @argc, @argv:	what follows its name on the command line
 * Return: the exit code of CLI.md. Standard output carries the result only; every line on standard error starts with
 * "ak: ".
 */
typedef int cli_fn(int argc, char *argv[], char *envp[]);

#endif
