/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the unprivileged program that drives this executor. Process: executor, then the agent. */
#ifndef AK_AGENT_H
#define AK_AGENT_H

#include <sys/types.h>

struct ak_err;

#define AGENT_SOCKET_FD 3	/* where the agent finds its end of the socketpair */

/**
 * agent_spawn() - start a program with nothing but a socket to the executor
 * @exe:	descriptor of the program (O_PATH is enough); borrowed
 * @argv:	its arguments
 * @envp:	its whole environment
 * @sock:	the agent's end of ak_chan_pair(); borrowed
 * @ret_pidfd:	owned by the caller; the agent is its child and has to be waited for
 *
 * The agent has descriptors 0, 1, 2 of the executor and AGENT_SOCKET_FD, and no other; no_new_privs; no capability in any set; all
 * signals at their default and none blocked; a Landlock domain of its own, by which it can neither trace the executor nor (Linux
 * 6.12) signal it; and it is killed when the executor ends. What else it may reach it takes away by itself.
 * Requires: privs_serving() was called. Leaves: nothing to the agent; the executor as it was.
 * Return: pid, or negative errno. A program that cannot be executed ends with 127, as the end of the socket shows.
 */
pid_t agent_spawn(int exe, char *const argv[], char *const envp[], int sock, int *ret_pidfd, struct ak_err *err);

#endif
