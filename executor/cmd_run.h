/* SPDX-License-Identifier: Apache-2.0 */
/* `ak run`: the executor's half. Process: executor. Privilege: the caller's until privs_serving(). */
#ifndef AK_CMD_RUN_H
#define AK_CMD_RUN_H

/**
 * cmd_run() - seal what the command line allows, start ak-agent on a socketpair, serve it until it ends
 * @argc, @argv:	behind `ak run`
 * What goes wrong before a sandbox can be made is told to the agent, which writes the result in the form that was asked for.
 * Return: the agent's exit code; 1 when there is no agent.
 */
int cmd_run(int argc, char *const argv[], char *const env[]);

/**
 * cmd_chat() - the same for `ak chat`: the agent reads the terminal, and only it
 * SIGINT is told to the agent each time and ends nothing, and when the agent stops (Ctrl-Z) we do. Where it is killed the terminal gets the
 * modes back that it was found with.
 */
int cmd_chat(int argc, char *const argv[], char *const env[]);

#endif
