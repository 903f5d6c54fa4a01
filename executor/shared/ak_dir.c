/* SPDX-License-Identifier: Apache-2.0 */
/* Reads folders by getdents64 into the caller's buffer. Any process, no privilege. */
#include "executor/shared/ak_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"

int ak_dir_open(struct ak_dir *d, const char *path)
{
	d->pos = 0;
	d->len = 0;
	d->error = 0;
	d->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	return d->fd < 0 ? -errno : 0;
}

bool ak_dir_next(struct ak_dir *d, const char **ret_name, unsigned char *ret_type)
{
	for (;;) {
		const struct dirent64 *e;

		if (d->pos >= d->len) {
			ssize_t n = getdents64(d->fd, d->buf, sizeof(d->buf));

			if (n <= 0) {
				if (n < 0)
					d->error = errno;
				return false;
			}
			d->len = (size_t)n;
			d->pos = 0;
		}
		e = (const struct dirent64 *)(const void *)(d->buf + d->pos);
		d->pos += e->d_reclen;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		*ret_name = e->d_name;
		*ret_type = e->d_type;
		return true;
	}
}

void ak_dir_close(struct ak_dir *d)
{
	ak_fd_close(&d->fd);
}
