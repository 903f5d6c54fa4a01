/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and adjusts single entries of a checkpoint. Process: the commands around checkpoints. Privilege: the caller's. */
#include "executor/workspace/ckpt_make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "executor/workspace/ckpt_store.h"
#include "executor/workspace/copy.h"

#define NS 1000000000LL
#define LIST_BYTES 65536u

static void times_of(const struct ckpt_entry *e, struct timespec ts[2])
{
	int64_t s = e->id.mtime_ns / NS, ns = e->id.mtime_ns % NS;

	ts[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
	ts[1] = (struct timespec){.tv_sec = ns < 0 ? s - 1 : s, .tv_nsec = ns < 0 ? ns + NS : ns};
}

/* by its descriptor: no name is looked up again, so nobody can put a link in between */
static void fd_path(int fd, char ret[40])
{
	(void)snprintf(ret, 40, "/proc/self/fd/%d", fd);
}

static bool wanted(const struct ckpt_entry *e, const char *name)
{
	struct ckpt_xattr x;
	uint32_t pos = 0;

	while (ckpt_xattr_next(e, &pos, &x)) {
		if (strcmp(x.name, name) == 0)
			return true;
	}
	return false;
}

static int drop_others(const char *path, const struct ckpt_entry *e)
{
	char *list = malloc(LIST_BYTES);
	ssize_t len = list ? listxattr(path, list, LIST_BYTES) : -1;
	int r = 0;

	if (len < 0)
		r = !list ? -ENOMEM : errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
	for (const char *p = list; r == 0 && len > 0 && p < list + len; p += strlen(p) + 1) {
		if (strncmp(p, "user.", 5) == 0 && !wanted(e, p) && removexattr(path, p) < 0 && errno != ENODATA)
			r = -errno;
	}
	free(list);
	return r;
}

static bool has_xattr(const char *path, const struct ckpt_xattr *x)
{
	char *value = malloc(WS_XATTR_BYTES_MAX);
	ssize_t n = value ? getxattr(path, x->name, value, WS_XATTR_BYTES_MAX) : -1;
	bool same = n == (ssize_t)x->len && memcmp(value, x->value, x->len) == 0;

	free(value);
	return same;
}

/* writing an attribute needs the right to write the file, reading them to read it: its owner is given both for the time */
static int set_xattrs(int fd, const char *path, const struct ckpt_entry *e)
{
	struct ckpt_xattr x;
	uint32_t pos = 0;
	struct stat st;
	int r;

	if (!S_ISREG(e->id.mode) && !S_ISDIR(e->id.mode))
		return 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (geteuid() != 0 && st.st_uid == geteuid() && (st.st_mode & 0600) != 0600 && chmod(path, (st.st_mode & 07777) | 0600) < 0)
		return -errno;
	r = drop_others(path, e);
	while (r == 0 && ckpt_xattr_next(e, &pos, &x)) {
		if (has_xattr(path, &x))
			continue;
		/* never written: what the checkpoint has of these, a command may have set */
		if (ws_xattr_overlay(x.name) ? removexattr(path, x.name) < 0 && errno != ENODATA :
					       setxattr(path, x.name, x.value, x.len, 0) < 0)
			r = -errno;
	}
	return r;
}

int ckpt_adjust(int fd, const struct ckpt_entry *e)
{
	struct timespec ts[2];
	char path[40];
	struct stat st;
	int r, owner = 0;

	fd_path(fd, path);
	times_of(e, ts);
	r = set_xattrs(fd, path, e);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_uid != e->id.uid || st.st_gid != e->id.gid) && fchownat(fd, "", e->id.uid, e->id.gid, AT_EMPTY_PATH) < 0)
		owner = -EPERM;
	/* a stranger's set-id bits are not given to a file that became the caller's */
	if (chmod(path, e->id.mode & (owner ? 01777 : 07777)) < 0 || utimensat(AT_FDCWD, path, ts, 0) < 0)
		return -errno;
	return owner;
}

int ckpt_adjust_link(int dir, const char *name, const struct ckpt_entry *e)
{
	struct timespec ts[2];
	struct stat st;
	int owner = 0;

	times_of(e, ts);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if ((st.st_uid != e->id.uid || st.st_gid != e->id.gid) &&
	    fchownat(dir, name, e->id.uid, e->id.gid, AT_SYMLINK_NOFOLLOW) < 0)
		owner = -EPERM;
	return utimensat(dir, name, ts, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : owner;
}

static int make_file(const struct ckpt_store *s, const struct ckpt_entry *e, int dir, const char *tmp, bool flush)
{
	AK_AUTO_FD from = ckpt_object_open(&s->objects, e->hash);
	AK_AUTO_FD to = -1;
	int r;

	if (from < 0)
		return from;
	to = openat(dir, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	r = ws_copy_data(from, to, UINT64_MAX);
	if (r == 0 && flush && fdatasync(to) < 0)
		r = -errno;
	return r < 0 ? r : ckpt_adjust(to, e);
}

static int make_node(const struct ckpt_entry *e, int dir, const char *tmp)
{
	AK_AUTO_FD fd = -1;

	if (mknodat(dir, tmp, (e->id.mode & S_IFMT) | 0600, 0) < 0)
		return -errno;
	fd = openat(dir, tmp, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : ckpt_adjust(fd, e);
}

static int make_once(const struct ckpt_store *s, const struct ckpt_entry *e, int dir, const char *tmp, int first_dir, const char *first,
		     bool flush)
{
	if (first_dir >= 0)
		return linkat(first_dir, first, dir, tmp, 0) < 0 ? -errno : 0;
	if (S_ISREG(e->id.mode))
		return make_file(s, e, dir, tmp, flush);
	if (S_ISLNK(e->id.mode))
		return symlinkat(e->link, dir, tmp) < 0 ? -errno : ckpt_adjust_link(dir, tmp, e);
	if (S_ISFIFO(e->id.mode) || S_ISSOCK(e->id.mode))
		return make_node(e, dir, tmp);
	return -EINVAL;
}

int ckpt_make_tmp(const struct ckpt_store *s, const struct ckpt_entry *e, int dir, const char *tmp, int first_dir, const char *first,
		     bool flush)
{
	int r = make_once(s, e, dir, tmp, first_dir, first, flush);

	if (r == -EEXIST) {
		(void)unlinkat(dir, tmp, 0);
		r = make_once(s, e, dir, tmp, first_dir, first, flush);
	}
	if (r < 0 && r != -EPERM)
		(void)unlinkat(dir, tmp, 0);
	return r;
}

int ckpt_still(int dir, const char *name, const struct ckpt_entry *e)
{
	struct ws_ident now;
	int r = ws_stat(dir, name, &now);

	if (r < 0)
		return r;
	if (now.ino != e->id.ino || now.dev != e->id.dev || (now.mode & S_IFMT) != (e->id.mode & S_IFMT))
		return 0;
	/* removing another name of the same file changes its ctime */
	return S_ISDIR(now.mode) || (now.size == e->id.size && now.mtime_ns == e->id.mtime_ns &&
				     (e->id.nlink > 1 || now.ctime_ns == e->id.ctime_ns));
}

int ckpt_put_tmp(int dir, const char *tmp, const char *name, const struct ckpt_entry *old)
{
	int r = 0;

	if (old) {
		r = ckpt_still(dir, name, old);
		r = r == 0 ? -ESTALE : r < 0 ? r : renameat(dir, tmp, dir, name) < 0 ? -errno : 0;
	} else if (renameat2(dir, tmp, dir, name, RENAME_NOREPLACE) < 0) {
		r = errno == EEXIST ? -ESTALE : -errno;
		if (r == -EINVAL) {	/* a file system without that flag */
			struct ws_ident now;

			r = ws_stat(dir, name, &now);
			r = r < 0 ? r : now.mode ? -ESTALE : renameat(dir, tmp, dir, name) < 0 ? -errno : 0;
		}
	}
	/* also after a success: a rename between two names of one file does nothing */
	(void)unlinkat(dir, tmp, 0);
	return r;
}
