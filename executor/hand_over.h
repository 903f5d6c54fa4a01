/* SPDX-License-Identifier: Apache-2.0 */
/* Hands subcommands of the agent's side over to ak-agent. Process: executor, which ends thereby. Privilege: the caller's. */
#ifndef AK_HAND_OVER_H
#define AK_HAND_OVER_H

#include <stdbool.h>

struct ak_err;

/** hand_over_knows() - is @word a subcommand of ak-agent? */
bool hand_over_knows(const char *word);

/**
 * hand_over() - become ak-agent, with the same arguments and environment
 * @argv:	all of them, argv[0] too
 *
 * The program is ak-agent beside this one (/proc/self/exe), else ../libexec/ak/ak-agent from there; never one from PATH or
 * the working directory. It must be a regular file of root's or of the caller's that nobody else can write, since a
 * folder such as /tmp holds files of others. no_new_privs is set first, so that it gains nothing by the exec.
 * Return: only on failure: -ENOENT (neither is there), -EPERM (owner or mode), the errno of readlink(2), prctl(2) or
 * execveat(2).
 */
int hand_over(char *argv[], char *envp[], struct ak_err *err);

#endif
