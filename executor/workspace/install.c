/* SPDX-License-Identifier: Apache-2.0 */
/* Puts one file in place beneath a folder: whole, or not at all. Any process; privilege: the caller's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "executor/workspace/copy.h"

#define NSEC 1000000000LL

static void set_time(struct timespec ts[2], int64_t mtime_ns)
{
	ts[0] = (struct timespec){ .tv_nsec = UTIME_OMIT };
	ts[1] = (struct timespec){ .tv_sec = mtime_ns / NSEC, .tv_nsec = mtime_ns % NSEC };
	if (ts[1].tv_nsec < 0) {
		ts[1].tv_nsec += NSEC;
		ts[1].tv_sec--;
	}
}

static int make_link(int dir, const char *tmp, const struct ws_file *f)
{
	struct timespec ts[2];

	if (symlinkat(f->link, dir, tmp) < 0)
		return -errno;
	if ((f->uid >= 0 || f->gid >= 0) && fchownat(dir, tmp, (uid_t)f->uid, (gid_t)f->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	set_time(ts, f->mtime_ns);
	if (f->mtime_ns >= 0 && utimensat(dir, tmp, ts, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return 0;
}

static int make_file(int dir, const char *tmp, const struct ws_file *f)
{
	AK_AUTO_FD fd = openat(dir, tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct timespec ts[2];
	int r;

	if (fd < 0)
		return -errno;
	r = ws_copy_data(f->src, fd, UINT64_MAX);
	if (r == 0)
		r = ws_copy_xattrs(f->src, fd, f->dropped);
	if (r < 0)
		return r;
	if ((f->uid >= 0 || f->gid >= 0) && fchown(fd, (uid_t)f->uid, (gid_t)f->gid) < 0)
		return -errno;
	if (fchmod(fd, ws_safe_mode(S_IFREG | f->mode)) < 0)
		return -errno;
	set_time(ts, f->mtime_ns);
	if (f->mtime_ns >= 0 && futimens(fd, ts) < 0)
		return -errno;
	return 0;
}

static int put_in_place(int dir, const char *name, const char *tmp, const struct ws_ident *old)
{
	struct ws_ident now;
	int r = ws_stat(dir, name, &now);

	if (r < 0)
		return r;
	if (old && old->mode && !ws_same(old, &now))
		return -ESTALE;
	if (old && !old->mode) {
		if (renameat2(dir, tmp, dir, name, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno == EEXIST)
			return -ESTALE;
		if (errno != EINVAL)
			return -errno;
		if (now.mode)	/* a file system without that flag */
			return -ESTALE;
	}
	return renameat(dir, tmp, dir, name) < 0 ? -errno : 0;
}

int ws_install(int dir, const char *name, const char *tmp, const struct ws_file *f, struct ws_ident *ret)
{
	int r = f->link ? make_link(dir, tmp, f) : make_file(dir, tmp, f);

	if (r == 0)
		r = put_in_place(dir, name, tmp, f->old);
	if (r < 0) {
		if (r != -EEXIST)	/* then it is somebody else's */
			(void)unlinkat(dir, tmp, 0);
		return r;
	}
	return ret ? ws_stat(dir, name, ret) : 0;
}
