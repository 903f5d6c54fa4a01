/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who works in a workspace: commands that write it directly share a lock (flock(2)) on its top folder, and what needs it to hold
 * still takes that lock alone. Process: executor; the commands around checkpoints. Privilege: the caller's.
 */
#ifndef AK_BUSY_H
#define AK_BUSY_H

#include <stdbool.h>

struct ak_err;
struct hostinfo;

#define BUSY_WAIT_MS 2000	/* for a checkpoint that is being made */

/**
 * busy_share() - a command begins to work in it; the lock lasts as long as the descriptor
 * @dir:	the workspace, open for reading
 * Return: 0 (also where the file system has no locks); -EBUSY with the process that holds it still.
 */
int busy_share(int dir, const char *workspace, struct ak_err *err);

/**
 * busy_alone() - nobody works in it now
 * @stay:	true: nor begins to, as long as the descriptor lives; false: others may begin at once
 * Named sandboxes of the caller in, above or below it count as well.
 * Return: 0; -EBUSY with the sandbox or the process.
 */
int busy_alone(const struct hostinfo *h, int dir, const char *workspace, bool stay, struct ak_err *err);

#endif
