/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a flock(2) that could not be had: for a message, and for how long to wait. Process: executor. Privilege: the caller's. */
#ifndef AK_LOCK_HOLDER_H
#define AK_LOCK_HOLDER_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * lock_holder() - the process that took the lock on the file of @fd
 * It may have ended since: a child that has its descriptor holds the lock then. Return: 0: none, or none that can be seen from here.
 */
pid_t lock_holder(int fd);

/** lock_holder_stays() - it is there, and has not begun to end. 0, as of lock_holder(): false */
bool lock_holder_stays(pid_t pid);

#endif
