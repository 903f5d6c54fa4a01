/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a command that runs without isolation. Pure. Process: executor. Privilege: none. */
#ifndef AK_LOCAL_ENV_H
#define AK_LOCAL_ENV_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;
struct env_opt;

/** local_env_secret() - does a variable's name look like that of a secret? @len bytes at @name, in either case. */
bool local_env_secret(const char *name, size_t len);

/**
 * local_env() - the caller's environment without what looks like a secret, and then what the user named
 * @env:	the caller's; borrowed
 * @asked:	--env in the order given; one without a value passes the caller's on, if it has it
 * Return: 0 with a NULL-terminated list in *@ret, to be released with local_env_free(); -EPERM (one of ak's own keys was to be
 * passed on); -ENOMEM.
 */
int local_env(char *const env[], const struct env_opt *asked, size_t nasked, char ***ret, struct ak_err *err);
void local_env_free(char **env);

#endif
