/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the runtime folder share: runtime*.c only. Process: see runtime.h. */
#ifndef AK_RUNTIME_INT_H
#define AK_RUNTIME_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "executor/runtime.h"

struct ak_err;

#define RUNTIME_SOCK "sock"
#define RUNTIME_ALIVE "alive"
#define RUNTIME_FACTS "facts"
#define RUNTIME_FACTS_NEW "facts.new"

/**
 * runtime_open_dir() - open folder @name below @dir, never through a link, and check that it is the caller's alone
 * @shown:	for messages
 * Return: an O_PATH descriptor; -EPERM (owner), -EACCES (mode), -ELOOP (a link), -ENOTDIR, -ENOENT, what open(2) gives.
 */
int runtime_open_dir(int dir, const char *name, const char *shown, struct ak_err *err);

/** runtime_dir_name() - "NAME.d" */
void runtime_dir_name(const char *name, char ret[static RUNTIME_NAME_MAX + 3]);

/**
 * runtime_open_alive() - open NAME.d's lock file
 * @make:	create it where it is missing
 * Return: a descriptor; negative errno, -EPERM for a file that is not the caller's plain one.
 */
int runtime_open_alive(int dir, bool make);

/**
 * runtime_lock() - lock @fd without waiting
 * @op:		LOCK_SH or LOCK_EX of flock(2)
 * Return: 1 when locked, 0 when somebody else holds it, negative errno.
 */
int runtime_lock(int fd, int op);

/** runtime_same_file() - is @fd still what is called @name in @dir? */
bool runtime_same_file(int fd, int dir, const char *name);

/** runtime_clear() - remove what is in NAME.d, then the folder; its lock is held. Best effort: the next one tries again. */
void runtime_clear(int top, int dir, const char *dir_name);

/**
 * runtime_sweep() - remove what a crashed executor left under @name
 * Return: true when nothing is left under that name, or nothing was there.
 */
bool runtime_sweep(int top, const char *name);

/** runtime_address() - a socket's address below @dir, however long the folder's path is */
void runtime_address(int dir, struct sockaddr_un *ret);

#endif
