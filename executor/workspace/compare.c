/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two files by descriptor. Any process; privilege: the caller's. */
#include "executor/workspace/compare.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/copy.h"

#define BLOCK (64u << 10)

static ssize_t read_block(int fd, char *buf)
{
	size_t len = 0;

	while (len < BLOCK) {
		ssize_t n = read(fd, buf + len, BLOCK - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static int same_bytes(int a, int b)
{
	char x[BLOCK] AK_UNINIT, y[BLOCK] AK_UNINIT;

	for (;;) {
		ssize_t n = read_block(a, x), m = read_block(b, y);

		if (n < 0 || m < 0)
			return (int)(n < 0 ? n : m);
		if (n != m || memcmp(x, y, (size_t)n) != 0)
			return COMPARE_OTHER;
		if (n == 0)
			return COMPARE_SAME;
	}
}

/* Return: number of attributes that are @b's too with the same value; -1 when one differs */
static int matching(int a, int b)
{
	char *list = malloc(XATTR_LIST_MAX), *x = malloc(WS_XATTR_BYTES_MAX), *y = malloc(WS_XATTR_BYTES_MAX);
	ssize_t len = list && x && y ? flistxattr(a, list, XATTR_LIST_MAX) : -1;
	int count = 0;

	if (len < 0)
		count = list && x && y && (errno == EOPNOTSUPP || errno == ENOSYS) ? 0 : -1;
	for (const char *p = list; len > 0 && p < list + len && count >= 0; p += strlen(p) + 1) {
		ssize_t n, m;

		if (!ws_xattr_kept(p))
			continue;
		n = fgetxattr(a, p, x, WS_XATTR_BYTES_MAX);
		m = fgetxattr(b, p, y, WS_XATTR_BYTES_MAX);
		count = n >= 0 && n == m && memcmp(x, y, (size_t)n) == 0 ? count + 1 : -1;
	}
	free(list);
	free(x);
	free(y);
	return count;
}

static int count_kept(int fd)
{
	char *list = malloc(XATTR_LIST_MAX);
	ssize_t len = list ? flistxattr(fd, list, XATTR_LIST_MAX) : -1;
	int count = 0;

	for (const char *p = list; len > 0 && p < list + len; p += strlen(p) + 1)
		count += ws_xattr_kept(p);
	free(list);
	return count;
}

static int compare_regular(int dir, const char *name, int root, const char *path)
{
	struct ws_ident x, y;
	const char *last;
	AK_AUTO_FD a = ws_open_file(dir, name, &x);
	AK_AUTO_FD parent = ws_open_parent(root, path, &last);
	AK_AUTO_FD b = parent < 0 ? parent : ws_open_file(parent, last, &y);
	int r;

	if (a < 0 || b < 0)
		return COMPARE_OTHER;
	r = same_bytes(a, b);
	if (r != COMPARE_SAME)
		return r;
	/* what is in the layer may carry marks of the overlay's own, which do not count */
	r = matching(a, b);
	return r >= 0 && r == count_kept(b) ? COMPARE_SAME : COMPARE_OTHER;
}

static int compare_links(int dir, const char *name, int root, const char *path)
{
	char x[WS_PATH_MAX + 1] AK_UNINIT, y[WS_PATH_MAX + 1] AK_UNINIT;
	const char *last;
	AK_AUTO_FD parent = ws_open_parent(root, path, &last);
	int n = ws_read_link(dir, name, x);
	int m = parent < 0 ? parent : ws_read_link(parent, last, y);

	if (n < 0)
		return n;
	return n == m && memcmp(x, y, (size_t)n) == 0 ? COMPARE_SAME : COMPARE_OTHER;
}

int compare_files(int dir, const char *name, const struct ws_ident *id, int root, const char *path,
		  const struct ws_ident *other, uint64_t max)
{
	if ((id->mode & S_IFMT) != (other->mode & S_IFMT))
		return COMPARE_OTHER;
	if (S_ISLNK(id->mode))
		return compare_links(dir, name, root, path);
	if (!S_ISREG(id->mode))
		return S_ISDIR(id->mode) || id->rdev == other->rdev ? COMPARE_SAME : COMPARE_OTHER;
	if (id->size != other->size || id->size > max)
		return COMPARE_OTHER;
	return compare_regular(dir, name, root, path);
}

/* Return: bytes of the names, malloc'ed in *@ret, or a negative errno */
static ssize_t names_of(int fd, char **ret)
{
	ssize_t len;

	*ret = NULL;
	if (fd < 0)
		return 0;
	*ret = malloc(XATTR_LIST_MAX);
	if (!*ret)
		return -ENOMEM;
	len = flistxattr(fd, *ret, XATTR_LIST_MAX);
	if (len < 0)
		len = errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
	return len;
}

static bool has_name(const char *names, ssize_t len, const char *name)
{
	for (const char *p = names; p && p < names + len; p += strlen(p) + 1)
		if (strcmp(p, name) == 0)
			return true;
	return false;
}

static bool same_value(int a, int b, const char *name, char *x, char *y)
{
	ssize_t n = fgetxattr(a, name, x, WS_XATTR_BYTES_MAX), m = fgetxattr(b, name, y, WS_XATTR_BYTES_MAX);

	return n >= 0 && n == m && memcmp(x, y, (size_t)n) == 0;
}

int compare_attributes(int old, int now, void (*tell)(void *arg, const char *name, const char *what), void *arg)
{
	char *before, *after, *x = malloc(WS_XATTR_BYTES_MAX), *y = malloc(WS_XATTR_BYTES_MAX);
	ssize_t n = names_of(old, &before), m = names_of(now, &after);
	int r = n < 0 ? (int)n : m < 0 ? (int)m : !x || !y ? -ENOMEM : 0;

	for (const char *p = before; r == 0 && p && p < before + n; p += strlen(p) + 1)
		if (ws_xattr_kept(p) && !has_name(after, m, p))
			tell(arg, p, "removed");
	for (const char *p = after; r == 0 && p && p < after + m; p += strlen(p) + 1) {
		if (!ws_xattr_kept(p))
			continue;
		if (!has_name(before, n, p))
			tell(arg, p, "added");
		else if (!same_value(old, now, p, x, y))
			tell(arg, p, "changed");
	}
	free(before);
	free(after);
	free(x);
	free(y);
	return r;
}
