/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors with one owner. Any process, no privilege. */
#ifndef AK_SHARED_AK_FD_H
#define AK_SHARED_AK_FD_H

#include <stddef.h>
#include <unistd.h>

/**
 * ak_fd_close() - close a descriptor if it is open and forget it
 * Not retried: on Linux the descriptor is gone even after EINTR (close(2)). Keeps errno.
 */
void ak_fd_close(int *fd);

/** ak_fd_take() - move a descriptor out of its variable. Return: the descriptor; *@fd is -1 then. */
static inline int ak_fd_take(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

/** AK_AUTO_FD - a descriptor that is closed when the variable leaves its scope; always initialise it */
#define AK_AUTO_FD __attribute__((cleanup(ak_fd_close))) int

/**
 * ak_write_all() - write every byte; goes on after EINTR and short writes
 * Return: 0 or negative errno.
 */
int ak_write_all(int fd, const void *buf, size_t len);

#endif
