/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of file operations: from a name to a descriptor that lies where it may. File worker, no privilege; the folders are hostile. */
#include "executor/init/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/shared/ak_weaken.h"

#define LINKS_MAX 16

/* linux/openat2.h and linux/magic.h; in musl's headers under other names or not at all */
struct how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};
#define NO_XDEV 0x01
#define NO_MAGICLINKS 0x02
#define NO_SYMLINKS 0x04
#define BENEATH 0x08
#define PROC_MAGIC 0x9fa0
#define SYSFS_MAGIC 0x62656572

static const char hint_below[] = "links are followed only as far as they stay in the workspace, or in the writable folder that the path names";

static int open_below(const struct fileop *f, int dir, const char *path, int flags, uint64_t resolve)
{
	struct how how = { .flags = (uint64_t)flags | O_CLOEXEC,
			   .resolve = resolve | BENEATH | NO_MAGICLINKS | (f->nolinks ? NO_SYMLINKS : 0u) };
	int fd;

	if (AK_WEAK(f->b->in->weaken, AK_WEAK_BENEATH))
		how.resolve = 0;

	/* EAGAIN: somebody renamed on the way, and the kernel cannot tell whether it was left; openat2(2) */
	for (int i = 0; i < 16; i++) {
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/* What is no file but a view of the kernel is not served */
static int check_fs(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return -errno;
	return fs.f_type == PROC_MAGIC || fs.f_type == SYSFS_MAGIC ? -EACCES : 0;
}

static int checked(int fd)
{
	int r = fd < 0 ? fd : check_fs(fd);

	if (r < 0 && fd >= 0)
		(void)close(fd);
	return r < 0 ? r : fd;
}

/* The part of @path below @root, NULL if it is not below */
static const char *below(const char *path, const char *root)
{
	size_t n = strlen(root);

	while (n > 0 && root[n - 1] == '/')
		n--;
	if (strncmp(path, root, n) != 0 || (path[n] != '/' && path[n] != 0))
		return NULL;
	path += n;
	while (*path == '/')
		path++;
	return path;
}

/* The place with the longest name that @path is below; relative paths are the workspace's. Return: descriptor, borrowed */
static int find_root(struct fileop *f, const char *path, const char **ret_rel)
{
	int best = -EACCES;
	size_t longest = 0;

	if (path[0] != '/') {
		*ret_rel = path;
		return f->b->cfg->nroots ? f->b->roots[0] : -EACCES;
	}
	for (uint32_t i = 0; i < f->b->cfg->nroots; i++) {
		const char *root = f->b->cfg->roots[i], *rel = below(path, root);

		if (!rel || strlen(root) < longest || f->b->roots[i] < 0)
			continue;
		longest = strlen(root);
		best = f->b->roots[i];
		*ret_rel = rel;
	}
	if (best < 0)
		f->hint = "only the workspace and the writable folders of the sandbox are served";
	return best;
}

static int explained(struct fileop *f, int r)
{
	if (r == -EXDEV)
		f->hint = hint_below;
	return r;
}

int fileop_open(struct fileop *f, const char *path, bool nofollow, struct stat *ret)
{
	const char *rel;
	int root = find_root(f, path, &rel), fd;

	if (root < 0)
		return root;
	fd = checked(open_below(f, root, *rel ? rel : ".", O_PATH | (nofollow ? O_NOFOLLOW : 0), 0));
	if (fd == -ENOTDIR && !*rel)
		fd = checked(fcntl(root, F_DUPFD_CLOEXEC, 3));	/* the place is a single file */
	if (fd >= 0 && fstat(fd, ret) < 0)
		return -errno;
	return explained(f, fd);
}

void fileop_fd_path(int fd, char ret[FILEOP_FD_PATH])
{
	static const char head[] = "/proc/self/fd/";
	char digits[12];
	const char *d = box_decimal(digits + sizeof(digits), (unsigned)fd);

	memcpy(ret, head, sizeof(head) - 1);
	memcpy(ret + sizeof(head) - 1, d, (size_t)(digits + sizeof(digits) - d));
}

int fileop_reopen(int fd, int flags)
{
	char path[FILEOP_FD_PATH];

	fileop_fd_path(fd, path);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int fileop_below(const struct fileop *f, int dir, const char *name, bool xdev)
{
	return checked(open_below(f, dir, name, O_RDONLY | O_DIRECTORY, NO_SYMLINKS | (xdev ? 0u : NO_XDEV)));
}

/* ---- the last name of a path ---- */

/* Cuts "a/b/c" into "a/b" and "c"; blanks out what ends in no name. Return: false for "", ".", ".." at the end */
static bool split(char *path, char **ret_name)
{
	size_t n = strlen(path);
	char *slash;

	while (n > 0 && path[n - 1] == '/')
		path[--n] = 0;
	slash = strrchr(path, '/');
	*ret_name = slash ? slash + 1 : path;
	if (slash)
		*slash = 0;
	return **ret_name && strcmp(*ret_name, ".") != 0 && strcmp(*ret_name, "..") != 0;
}

static int make_folders(const struct fileop *f, int root, char *path)
{
	char *p = path;

	for (;;) {
		char *slash, kept, *name;
		int dir, fd;

		while (*p == '/')
			p++;
		if (!*p)
			return 0;
		slash = strchrnul(p, '/');
		kept = *slash;
		*slash = 0;
		fd = checked(open_below(f, root, path, O_PATH | O_DIRECTORY, 0));
		if (fd == -ENOENT) {
			name = p;
			if (p > path)
				p[-1] = 0;
			dir = checked(open_below(f, root, p > path ? path : ".", O_PATH | O_DIRECTORY, 0));
			fd = dir < 0 ? dir : mkdirat(dir, name, 0755) < 0 ? -errno : dir;
			if (fd < 0 && dir >= 0)
				(void)close(dir);
			if (p > path)
				p[-1] = '/';
		}
		if (fd < 0)
			return fd;
		(void)close(fd);
		*slash = kept;
		p = slash;
	}
}

/* Return: 1 if the name is a link, whose text replaces it in @path; 0; negative errno */
static int follow(int dir, const char *name, char *path, size_t cap)
{
	char text[AK_INIT_PATH_MAX];
	ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);
	size_t at = strlen(path);

	if (n < 0)
		return errno == EINVAL || errno == ENOENT ? 0 : -errno;
	text[n] = 0;
	if (text[0] == '/')
		return -EXDEV;
	if (at + 1 + (size_t)n + 1 > cap)
		return -ENAMETOOLONG;
	if (at > 0)
		path[at++] = '/';
	memcpy(path + at, text, (size_t)n + 1);
	return 1;
}

static int open_parent(const struct fileop *f, int root, char *path, bool parents)
{
	int r = parents ? make_folders(f, root, path) : 0;

	return r < 0 ? r : checked(open_below(f, root, *path ? path : ".", O_PATH | O_DIRECTORY, 0));
}

int fileop_place(struct fileop *f, const char *path, bool parents, bool follow_links, struct place *ret)
{
	char buf[AK_INIT_PATH_MAX], *name;
	const char *rel;
	int root = find_root(f, path, &rel), dir, r;

	if (root < 0)
		return root;
	if (!*rel)
		return -EBUSY;
	memcpy(buf, rel, strlen(rel) + 1);
	for (int i = 0; i < LINKS_MAX; i++) {
		if (!split(buf, &name))
			return -EINVAL;
		if (strlen(name) >= sizeof(ret->name))
			return -ENAMETOOLONG;
		memcpy(ret->name, name, strlen(name) + 1);
		if (name == buf)
			buf[0] = 0;
		dir = open_parent(f, root, buf, parents);
		if (dir < 0)
			return explained(f, dir);
		r = follow_links ? follow(dir, ret->name, buf, sizeof(buf)) : 0;
		if (r == 0) {
			ret->dir = dir;
			return 0;
		}
		(void)close(dir);
		if (r < 0)
			return explained(f, r);
	}
	return -ELOOP;
}
