/* SPDX-License-Identifier: Apache-2.0 */
/* Hands subcommands of the agent's side over to ak-agent. Process: executor, which ends thereby. Privilege: the caller's. */
#ifndef AK_HAND_OVER_H
#define AK_HAND_OVER_H

#include <stdbool.h>

struct ak_err;

/** hand_over_knows() - is @word a subcommand of ak-agent? */
bool hand_over_knows(const char *word);

/**
 * hand_over() - become ak-agent, with the same arguments and environment; `ak models` also with the providers of config files
 * @argv:	all of them, argv[0] too
 *
 * The program is the one that companion_open() finds. no_new_privs is set first, so that it gains nothing by the exec. It
 * runs as the caller, root too: the agent's side has to read the caller's keys and state.
 * Return: only on failure: what args_providers_load() and companion_open() give, or the errno of prctl(2) or execveat(2).
 */
int hand_over(char *argv[], char *envp[], struct ak_err *err);

#endif
