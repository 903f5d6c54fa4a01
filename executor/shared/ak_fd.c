/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors with one owner, and a write that finishes. Any process, no privilege. */
#include "executor/shared/ak_fd.h"

#include <errno.h>
#include <unistd.h>

void ak_fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd); /* nothing to do about a failure: the descriptor is gone */
	*fd = -1;
	errno = saved;
}

int ak_write_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO; /* a device that takes nothing must not keep us here for ever */
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
