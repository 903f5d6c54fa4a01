/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the unprivileged program that drives this executor. Process: executor, then the agent. */
#ifndef AK_AGENT_H
#define AK_AGENT_H

#include <sys/types.h>

struct ak_err;

#define AGENT_SOCKET_FD 3	/* where the agent finds its end of the socketpair */
#define AGENT_CONTROL_FD 4	/* and what tells it that it has to end, where there is such a thing */

/**
 * agent_spawn() - start a program with nothing but a socket to the executor
 * @exe:	descriptor of the program (O_PATH is enough); borrowed
 * @argv:	its arguments
 * @envp:	its whole environment
 * @sock:	the agent's end of ak_chan_pair(); borrowed
 * @control:	-1: it is killed when the executor ends. Else the read end of a pipe, borrowed, that becomes AGENT_CONTROL_FD: what
 *		is written there are numbers of signals, its end means that the executor is gone. The agent then gets SIGCONT when
 *		the executor ends: it goes on if it was stopped, and sees the end of the pipe.
 * @ret_pidfd:	owned by the caller; the agent is its child and has to be waited for
 *
 * The agent has descriptors 0, 1, 2 of the executor, AGENT_SOCKET_FD and @control, and no other; no_new_privs; no capability in any
 * set; all signals at their default and none blocked; a Landlock domain of its own, by which it can neither trace the executor nor
 * (Linux 6.12) signal it. What else it may reach it takes away by itself.
 * Requires: nothing. Before privs_serving() the agent has the caller's ids, and root's without any capability where root calls, so
 * that it can read the caller's keys and state; after it, those that are left. Leaves: the executor as it was.
 * Return: pid, or negative errno. A program that cannot be executed ends with 127, as the end of the socket shows.
 */
pid_t agent_spawn(int exe, char *const argv[], char *const envp[], int sock, int control, int *ret_pidfd, struct ak_err *err);

#endif
