/* SPDX-License-Identifier: Apache-2.0 */
/* `ak create NAME`: a sandbox that stays. Process: the executor, which detaches. Privilege: see cmd_create.c. */
#ifndef AK_CMD_CREATE_H
#define AK_CMD_CREATE_H

/**
 * cmd_create() - plan, detach, serve
 * @argc:	arguments after "create"
 *
 * Returns twice: in the caller's process when the sandbox is ready or has failed, and in the detached one at the end of
 * serving.
 * Return: exit code of CLI.md: 0, 1 failed or refused, 2 usage.
 */
int cmd_create(int argc, char *const argv[], char *const env[]);

#endif
