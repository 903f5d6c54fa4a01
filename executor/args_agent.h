/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that the agent obeys. Process: executor. Privilege: none. */
#ifndef AK_ARGS_AGENT_H
#define AK_ARGS_AGENT_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;
struct ak_cfg_key;
struct args;
struct config;
struct config_value;
struct exec_opts;
struct run_word;

/* Pairs: what a setting is called in messages, and the setting as a word of the agent's command line; owned */
struct args_settings {
	char **v;
	size_t n;	/* of texts: twice the pairs */
};

/**
 * args_agent_apply() - what files, variables and the command line say to the agent, in that order, within the policy
 * @c:		loaded for AK_CFG_RUN, and gone through args_parse(); what is in force is noted in it
 * @o:		the sandbox: the defaults of approval and apply hang on it
 * @words:	the agent's options on the command line
 * Return: 0; -EPERM (the policy locks it, a workspace's file loosens); -EINVAL; -ENOMEM.
 */
int args_agent_apply(struct config *c, const struct exec_opts *o, const struct run_word *words, size_t n, struct ak_err *err);

/** args_agent_may_apply() - may the changes of the copy be taken over at all? */
bool args_agent_may_apply(const struct config *c, const struct exec_opts *o);

/**
 * args_agent_settings() - what the agent is told beside its command line; that counts more
 * @ret:	zeroed; args_settings_release() in every case
 * Return: as args_agent_apply().
 */
int args_agent_settings(struct config *c, const struct exec_opts *o, struct args_settings *ret, struct ak_err *err);
void args_settings_release(struct args_settings *s);
/** args_settings_add() - one pair more; for args_*.c. Return: 0; -EINVAL (a path); -ENOMEM. */
int args_settings_add(struct args *a, const struct ak_cfg_key *k, const struct config_value *v, struct args_settings *ret);

/**
 * args_providers_key() - is @name (@len bytes) the variable with the key of a provider that a config file names?
 * Such a variable is for the agent and never for a command.
 * @c:	NULL: no files
 */
bool args_providers_key(const struct config *c, const char *name, size_t len);

/**
 * args_providers_check() - what is in force of the section providers
 * Return: 0; -EPERM (a variable says another base URL than the policy; a key's file lies in the workspace); -EINVAL; -ENOMEM.
 */
int args_providers_check(struct config *c, struct ak_err *err);

/**
 * args_providers_load() - the providers of the policy and of the user's file, for commands that have no sandbox (`ak models`)
 * @ret:	zeroed; empty when no file names any; args_settings_release() in every case
 * Return: 0; as config_load() and args_providers_check().
 */
int args_providers_load(char *const env[], struct args_settings *ret, struct ak_err *err);

#endif
