/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that the agent obeys. Process: executor. Privilege: none. */
#ifndef AK_ARGS_AGENT_H
#define AK_ARGS_AGENT_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;
struct config;
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

#endif
