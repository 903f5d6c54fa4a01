/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at files beneath a folder held by descriptor, following nothing. Any process; privilege: the caller's. */
#include "executor/workspace/fsat.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_fd.h"

#define BENEATH (AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_MAGICLINKS | AK_RESOLVE_NO_XDEV)
#define NSEC 1000000000LL

bool ws_path_ok(const char *path)
{
	size_t total = strlen(path);

	if (total == 0 || total > WS_PATH_MAX)
		return false;
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 0 || n > WS_NAME_MAX || (path[0] == '.' && (n == 1 || (n == 2 && path[1] == '.'))))
			return false;
		if (path[n] == '\0')
			return true;
		path += n + 1;
	}
}

static void ident_of(const struct stat *st, struct ws_ident *ret)
{
	*ret = (struct ws_ident){ .mode = st->st_mode, .uid = st->st_uid, .gid = st->st_gid, .nlink = (uint32_t)st->st_nlink,
				  .dev = st->st_dev, .ino = st->st_ino, .size = (uint64_t)st->st_size,
				  .mtime_ns = st->st_mtim.tv_sec * NSEC + st->st_mtim.tv_nsec,
				  .ctime_ns = st->st_ctim.tv_sec * NSEC + st->st_ctim.tv_nsec,
				  .blocks = (uint64_t)st->st_blocks, .rdev = st->st_rdev };
}

int ws_stat(int dir, const char *name, struct ws_ident *ret)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0) {
		ident_of(&st, ret);
		return 0;
	}
	if (errno != ENOENT)
		return -errno;
	*ret = (struct ws_ident){ 0 };
	return 0;
}

int ws_fstat(int fd, struct ws_ident *ret)
{
	struct stat st;

	if (fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	ident_of(&st, ret);
	return 0;
}

int ws_stat_beneath(int root, const char *path, struct ws_ident *ret)
{
	const char *name = NULL;
	AK_AUTO_FD dir = ws_open_parent(root, path, &name);

	if (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP) {
		*ret = (struct ws_ident){ 0 };
		return 0;
	}
	if (dir < 0 || !name)
		return dir < 0 ? dir : -EINVAL;
	return ws_stat(dir, name, ret);
}

bool ws_same(const struct ws_ident *a, const struct ws_ident *b)
{
	if (a->mode != b->mode || a->dev != b->dev || a->ino != b->ino || a->uid != b->uid || a->gid != b->gid)
		return false;
	if (S_ISDIR(a->mode))
		return true;
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->rdev == b->rdev;
}

int ws_open_dir(int root, const char *path)
{
	int fd = sys_openat2(root, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC, BENEATH);

	return fd < 0 ? -errno : fd;
}

int ws_open_parent(int root, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	char parent[WS_PATH_MAX + 1];
	size_t n = slash ? (size_t)(slash - path) : 1;
	int fd;

	if (n >= sizeof(parent))
		return -ENAMETOOLONG;
	memcpy(parent, slash ? path : ".", n);
	parent[n] = '\0';
	fd = sys_openat2(root, parent, O_PATH | O_DIRECTORY | O_CLOEXEC, BENEATH);
	if (fd < 0)
		return -errno;
	*ret_name = slash ? slash + 1 : path;
	return fd;
}

int ws_open_file(int dir, const char *name, struct ws_ident *ret)
{
	struct ws_ident before, id;
	AK_AUTO_FD fd = -1;
	int r = ws_stat(dir, name, &before);

	if (r < 0 || !before.mode)
		return r < 0 ? r : -ENOENT;
	if (!S_ISREG(before.mode))
		return -EINVAL;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EINVAL : -errno;
	r = ws_fstat(fd, &id);
	if (r < 0 || !S_ISREG(id.mode))
		return r < 0 ? r : -EINVAL;
	*ret = id;
	return ak_fd_take(&fd);
}

int ws_read_link(int dir, const char *name, char *buf)
{
	ssize_t n = readlinkat(dir, name, buf, WS_PATH_MAX + 1);

	if (n < 0)
		return -errno;
	if (n > (ssize_t)WS_PATH_MAX)
		return -ENAMETOOLONG;
	buf[n] = '\0';
	return (int)n;
}

uint32_t ws_safe_mode(uint32_t mode)
{
	return mode & (S_ISDIR(mode) ? 03777u : 01777u);
}
