/* SPDX-License-Identifier: Apache-2.0 */
/* Variables that hold keys of model providers: not for what runs in a sandbox, and not for whoever reads /proc/PID/environ of ak. */
#ifndef AK_PLAN_KEYS_H
#define AK_PLAN_KEYS_H

#include <stdbool.h>
#include <stddef.h>

struct exec_opts;

/** plan_key() - is @name (@len bytes) a variable that ak's own agent takes a key from, also one with a number behind it? Pure. */
bool plan_key(const char *name, size_t len);

/**
 * plan_keys_forget() - overwrite the values of such variables, and of every NAME_API_KEY, where they lie
 * @env:	"NAME=value" rows up to NULL, of main(); the names stay
 * @o:		whose --env NAME is left alone: it may still be read, and is for the sandbox anyway; NULL: none is
 * For a process that stays, once it has read its command line and started what needs the keys: its environment can be read by any process
 * of the same user (proc_pid_environ(5)). A process forked before has its own.
 * Process: executor and its children. Privilege: none.
 */
void plan_keys_forget(char *const env[], const struct exec_opts *o);

#endif
