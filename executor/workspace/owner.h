/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process that is the owner of a workspace and nobody else: changes are read and applied by it. Process: executor's child.
 * Privilege: root mode: gives host root up for the owner's ids; then a user namespace that maps the owner alone, in which
 * CAP_DAC_OVERRIDE reaches the owner's own files whatever their modes, and nothing else.
 */
#ifndef AK_WORKSPACE_OWNER_H
#define AK_WORKSPACE_OWNER_H

#include <stdint.h>
#include <sys/types.h>

struct ak_err;

/**
 * owner_become() - be @uid:@gid in a user namespace of our own
 * Requires: they are ours, or we are root. Where no user namespace can be made we go on without: then files that their owner has
 * closed to himself are refused as they would be to him.
 * Return: 0 or negative errno; the process may only exit then.
 */
int owner_become(uint32_t uid, uint32_t gid, struct ak_err *err);

/**
 * owner_fork() - a child that becomes the owner and ends with what @fn returns
 * @fn:		0 to 255
 * Return: its pid; negative errno. The child says on standard error, as "ak: ...", why it could not become the owner, and ends with 1.
 */
pid_t owner_fork(uint32_t uid, uint32_t gid, int (*fn)(void *arg), void *arg, struct ak_err *err);

/** owner_wait() - Return: what @fn returned; 128 + signal when it was killed. */
int owner_wait(pid_t pid);

#endif
