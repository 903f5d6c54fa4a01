/* SPDX-License-Identifier: Apache-2.0 */
/* `ak resume`: goes on with a session of the agent. Process: executor. Privilege: none. */
#ifndef AK_CMD_RESUME_H
#define AK_CMD_RESUME_H

/**
 * cmd_resume() - `ak run --resume ID`, or without an ID `ak run --continue`
 * @argv:	behind `ak resume`; an ID is its first word, and known by its form
 * Return: as cmd_run(); 1 without memory.
 */
int cmd_resume(int argc, char *const argv[], char *const env[]);

#endif
