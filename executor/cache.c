/* SPDX-License-Identifier: Apache-2.0 */
/* Files below ak's state folder that spare asking ak-policy again. Process: executor. Privilege: the caller's. */
#include "executor/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"

/* Return: descriptor or negative errno */
static int open_folder(const char *state, const char *kind, bool make)
{
	char path[PATH_MAX] AK_UNINIT;
	struct stat st;
	int fd;

	if (!state || snprintf(path, sizeof(path), "%s/%s", state, kind) >= (int)sizeof(path))
		return -ENOENT;
	if (make)
		(void)hostinfo_make_path(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return fd;
	(void)close(fd);
	return -EPERM;
}

/* what a regular file holds now, so that no more memory is taken than it needs; else, and should it grow, the maximum */
static size_t expected(int fd, size_t max)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 && (uint64_t)st.st_size < max ? (size_t)st.st_size : max;
}

int cache_read_whole(int fd, size_t max, char **ret, size_t *ret_len)
{
	size_t n = 0, cap = expected(fd, max);
	char *p = malloc(cap + 1);

	while (p && n <= cap) {
		ssize_t k = read(fd, p + n, cap + 1 - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0) {
			int e = errno;

			free(p);
			return -e;
		}
		if (k == 0)
			break;
		n += (size_t)k;
		if (n > cap && cap < max) {
			char *more = realloc(p, max + 1);

			if (!more)
				free(p);
			p = more;
			cap = max;
		}
	}
	if (!p || n > cap) {
		free(p);
		return p ? -E2BIG : -ENOMEM;
	}
	*ret = p;
	*ret_len = n;
	return 0;
}

int cache_get(const char *state, const char *kind, const char *name, size_t max, char **ret, size_t *ret_len)
{
	AK_AUTO_FD dir = open_folder(state, kind, false);
	AK_AUTO_FD fd = -1;
	struct stat st;

	if (dir < 0)
		return dir;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return cache_read_whole(fd, max, ret, ret_len);
}

void cache_put(const char *state, const char *kind, const char *name, const void *bytes, size_t len)
{
	AK_AUTO_FD dir = open_folder(state, kind, true);
	AK_AUTO_FD fd = -1;
	char temp[NAME_MAX + 1];

	if (dir < 0 || snprintf(temp, sizeof(temp), ".%s.%d", name, getpid()) >= (int)sizeof(temp))
		return;
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && (ak_write_all(fd, bytes, len) < 0 || renameat(dir, temp, dir, name) < 0))
		(void)unlinkat(dir, temp, 0);
}

void cache_drop(const char *state, const char *kind)
{
	char path[PATH_MAX] AK_UNINIT;
	int fd = open_folder(state, kind, false);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *e;

	if (!d) {
		ak_fd_close(&fd);
		return;
	}
	while ((e = readdir(d)))
		(void)unlinkat(dirfd(d), e->d_name, 0);
	(void)closedir(d);
	if (snprintf(path, sizeof(path), "%s/%s", state, kind) < (int)sizeof(path))
		(void)rmdir(path);
}
