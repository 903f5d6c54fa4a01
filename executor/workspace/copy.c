/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the bytes and attributes of single files by descriptor. Any process; privilege: the caller's. */
#include "executor/workspace/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"

#define CHUNK (128u << 10)

static int copy_by_hand(int from, int to, off_t at, off_t end)
{
	char buf[CHUNK] AK_UNINIT;

	while (at < end) {
		size_t want = (size_t)(end - at) < sizeof(buf) ? (size_t)(end - at) : sizeof(buf);
		ssize_t n = pread(from, buf, want, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;	/* shorter than it was */
		for (ssize_t done = 0; done < n;) {
			ssize_t w = pwrite(to, buf + done, (size_t)(n - done), at + done);

			if (w < 0 && errno != EINTR)
				return -errno;
			done += w < 0 ? 0 : w;
		}
		at += n;
	}
	return 0;
}

static int copy_range(int from, int to, off_t at, off_t end)
{
	off_t in = at, out = at;

	while (in < end) {
		ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - in), 0);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR) {
			if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
				return -errno;
			return copy_by_hand(from, to, in, end);	/* not between these two file systems */
		}
	}
	return 0;
}

int ws_copy_data(int from, int to, uint64_t max)
{
	struct stat st;
	off_t at = 0;

	if (fstat(from, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while (at < st.st_size) {
		off_t data = lseek(from, at, SEEK_DATA), hole;
		int r;

		if (data < 0 && errno == ENXIO)
			break;	/* a hole up to the end */
		if (data < 0)
			data = at;
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0 || hole > st.st_size)
			hole = st.st_size;
		r = copy_range(from, to, data, hole);
		if (r < 0)
			return r;
		at = hole;
	}
	return ftruncate(to, st.st_size) < 0 ? -errno : 0;
}

bool ws_xattr_kept(const char *name)
{
	return strncmp(name, "user.", 5) == 0 && !ws_xattr_overlay(name);
}

bool ws_xattr_overlay(const char *name)
{
	return strncmp(name, WS_XATTR_OVERLAY, sizeof(WS_XATTR_OVERLAY) - 1) == 0;
}

static int copy_xattr(int from, int to, const char *name, char *value)
{
	ssize_t n;

	if (!ws_xattr_kept(name))
		return 0;
	n = fgetxattr(from, name, value, WS_XATTR_BYTES_MAX);
	if (n < 0)
		return errno == ENODATA ? 0 : -errno;
	return fsetxattr(to, name, value, (size_t)n, 0) < 0 ? -errno : 1;
}

int ws_copy_xattrs(int from, int to, size_t *dropped)
{
	static const char escaped[] = WS_XATTR_OVERLAY "overlay.";
	ssize_t len = flistxattr(from, NULL, 0);
	unsigned count = 0;
	char *list, *value;
	int r = 0;

	if (len <= 0)
		return len < 0 && errno != EOPNOTSUPP && errno != ENOSYS ? -errno : 0;
	list = malloc(XATTR_LIST_MAX);
	value = malloc(WS_XATTR_BYTES_MAX);
	len = list && value ? flistxattr(from, list, XATTR_LIST_MAX) : 0;
	if (!list || !value || len < 0)
		r = list && value ? -errno : -ENOMEM;
	for (char *p = list; r >= 0 && p && p < list + len; p += strlen(p) + 1) {
		r = copy_xattr(from, to, p, value);
		count += r == 1;
		if (dropped)
			*dropped += strncmp(p, escaped, sizeof(escaped) - 1) == 0;
		if (count > WS_XATTRS_MAX)
			r = -E2BIG;
	}
	free(value);
	free(list);
	return r < 0 ? r : 0;
}
