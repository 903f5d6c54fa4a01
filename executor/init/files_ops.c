/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes and names of file operations. File worker, no privilege; the folders are hostile. */
#include "executor/init/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCK 65536u
#define PERMISSIONS 0777u
#define DEFAULT_MODE 0644u
#define DEFAULT_DIR_MODE 0755u
#define NAMES_MAX 16	/* tries for a name that is free */

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif
#ifndef O_TMPFILE
#define O_TMPFILE (020000000 | O_DIRECTORY)
#endif

uint32_t fileop_kind(mode_t mode)
{
	if (S_ISREG(mode))
		return INIT_KIND_FILE;
	if (S_ISDIR(mode))
		return INIT_KIND_DIR;
	return S_ISLNK(mode) ? INIT_KIND_LINK : INIT_KIND_OTHER;
}

void fileop_fill(struct fileop *f, const struct stat *st)
{
	struct init_rep *r = &f->m->rep;

	r->code = 0;
	r->kind = fileop_kind(st->st_mode);
	r->mode = st->st_mode & 07777;
	r->size = (uint64_t)st->st_size;
	r->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	r->ino = st->st_ino;
}

int fileop_write_all(int fd, const void *buf, size_t n)
{
	const char *p = buf;

	while (n > 0) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return w < 0 ? -errno : -EIO;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

/* A regular file, or why not */
static int regular(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	return S_ISREG(st->st_mode) ? 0 : -EINVAL;
}

static uint64_t at_most(uint64_t wish, uint64_t max)
{
	return wish == 0 || wish > max ? max : wish;
}

/* ---- reading ---- */

static int copy_out(struct fileop *f, int fd, uint64_t *ret_done)
{
	const uint64_t limit = at_most(f->q->limit, AK_INIT_FILE_MAX);
	char buf[BLOCK];
	uint64_t done = 0;

	while (done < limit) {
		size_t want = limit - done < BLOCK ? (size_t)(limit - done) : BLOCK;
		ssize_t n = pread(fd, buf, want, (off_t)(f->q->offset + done));
		int r;

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		r = fileop_write_all(f->data, buf, (size_t)n);
		if (r < 0)
			return r;
		done += (uint64_t)n;
	}
	*ret_done = done;
	return 0;
}

int fileop_read(struct fileop *f)
{
	struct stat st = { 0 };
	uint64_t done = 0;
	int fd = fileop_open(f, f->q->path, false, &st), r;

	if (fd < 0)
		return fd;
	r = regular(&st);
	if (r < 0) {
		f->hint = r == -EISDIR ? "list it instead" : "only regular files are read";
		return r;
	}
	if (f->q->offset > INT64_MAX - AK_INIT_FILE_MAX)
		return -EOVERFLOW;
	fd = fileop_reopen(fd, O_RDONLY);
	if (fd < 0)
		return fd;
	r = copy_out(f, fd, &done);
	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r < 0)
		return r;
	fileop_fill(f, &st);
	f->m->rep.done = done;
	if (f->q->offset + done < (uint64_t)st.st_size)
		f->m->rep.flags |= INIT_FILED_MORE;
	return 0;
}

/* ---- writing ---- */

static int copy_in(struct fileop *f, int fd, uint64_t *ret_done)
{
	const uint64_t limit = at_most(f->q->limit, AK_INIT_FILE_MAX);
	char buf[BLOCK];

	for (;;) {
		ssize_t n = read(f->data, buf, sizeof(buf));
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		if (*ret_done + (uint64_t)n > limit)
			return -EFBIG;
		r = fileop_write_all(fd, buf, (size_t)n);
		if (r < 0)
			return r;
		*ret_done += (uint64_t)n;
	}
}

/* A name that nobody uses; when it is there nevertheless the caller tries the next one */
static void temporary_name(char ret[40], unsigned n)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t v = now_ns() * 16 + n;
	size_t at = 4;

	memcpy(ret, ".ak-", 5);
	for (int shift = 60; shift >= 0; shift -= 4)
		ret[at++] = digits[(v >> shift) & 15];
	memcpy(ret + at, ".tmp", 5);
}

/* A file without a name where the file system has that: then nothing is left behind, however this ends */
static int temporary(int dir, char name[40])
{
	int fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	name[0] = 0;
	for (unsigned i = 0; fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EEXIST) && i < NAMES_MAX; i++) {
		temporary_name(name, i);
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	return fd < 0 ? -errno : fd;
}

static int link_to(int fd, int dir, const char *name)
{
	char path[FILEOP_FD_PATH];

	fileop_fd_path(fd, path);
	return linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Gives the finished file its name; @name is "" or its temporary one */
static int put_in_place(struct fileop *f, const struct place *p, int fd, char name[40], bool exists)
{
	const bool excl = (f->q->flags & INIT_FILE_EXCL) != 0;
	int r = -EEXIST;

	if (!name[0] && !exists)
		r = link_to(fd, p->dir, p->name);
	if (r != -EEXIST || (excl && !name[0]))
		return r;
	for (unsigned i = 0; !name[0] && r == -EEXIST && i < NAMES_MAX; i++) {
		char try[40];

		temporary_name(try, i);
		r = link_to(fd, p->dir, try);
		if (r == 0)
			memcpy(name, try, sizeof(try));
		else if (r != -EEXIST)
			return r;
	}
	if (!name[0])
		return -EEXIST;
	if (syscall(SYS_renameat2, p->dir, name, p->dir, p->name, excl ? RENAME_NOREPLACE : 0) < 0)
		return -errno;
	name[0] = 0;
	return 0;
}

/* What is there may be replaced: a regular file that we may write */
static int may_replace(struct fileop *f, const struct place *p, struct stat *st, bool *ret_exists)
{
	int r;

	*ret_exists = fstatat(p->dir, p->name, st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*ret_exists)
		return errno == ENOENT ? 0 : -errno;
	if (f->q->flags & INIT_FILE_EXCL)
		return -EEXIST;
	r = regular(st);
	if (r < 0) {
		f->hint = "only regular files are written";
		return r;
	}
	return faccessat(p->dir, p->name, W_OK, 0) < 0 ? -errno : 0;
}

/*
 * With KEPT the other side has looked before: a link that is on the way by now, or a file where there was nothing to be kept, is
 * another one. Return: as fileop_place(), and -ESTALE for that.
 */
static int place_to_write(struct fileop *f, struct place *p, struct stat *st, bool *ret_exists)
{
	const char *to = f->q->path2;
	const bool nowhere = (f->q->flags & INIT_FILE_KEPT) && !to;
	int r;

	f->nolinks = to != NULL;
	r = fileop_place(f, to ? to : f->q->path, (f->q->flags & INIT_FILE_PARENTS) && !nowhere, !to, p);
	if (r == 0)
		r = may_replace(f, p, st, ret_exists);
	return (to ? r == -ELOOP : nowhere && r == 0) ? -ESTALE : r;
}

int fileop_write(struct fileop *f)
{
	char name[40];
	struct place p = { .dir = -1 };
	struct stat st = { 0 };
	uint64_t done = 0;
	bool exists = false;
	int fd, r = place_to_write(f, &p, &st, &exists);

	if (r < 0)
		return r;
	fd = temporary(p.dir, name);
	if (fd < 0)
		return fd;
	r = copy_in(f, fd, &done);
	/* set-id and sticky bits are never given */
	if (r == 0 && fchmod(fd, exists ? st.st_mode & PERMISSIONS : f->q->mode ? f->q->mode : DEFAULT_MODE) < 0)
		r = -errno;
	if (r == 0)
		r = put_in_place(f, &p, fd, name, exists);
	if (r < 0 && name[0])
		(void)unlinkat(p.dir, name, 0);
	if (r == -EBUSY)
		f->hint = "it is protected or mounted, and cannot be replaced";
	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	if (r < 0)
		return r;
	fileop_fill(f, &st);
	f->m->rep.done = done;
	f->m->rep.flags = exists ? 0 : INIT_FILED_NEW;
	return 0;
}

/* ---- names ---- */

int fileop_stat(struct fileop *f)
{
	struct stat st = { 0 };
	int fd = fileop_open(f, f->q->path, (f->q->flags & INIT_FILE_NOFOLLOW) != 0, &st);

	if (fd < 0)
		return fd;
	fileop_fill(f, &st);
	return 0;
}

int fileop_mkdir(struct fileop *f)
{
	const bool parents = (f->q->flags & INIT_FILE_PARENTS) != 0;
	struct place p = { .dir = -1 };
	struct stat st = { 0 };
	bool made;
	int r = fileop_place(f, f->q->path, parents, false, &p);

	if (r < 0)
		return r;
	made = mkdirat(p.dir, p.name, f->q->mode ? f->q->mode : DEFAULT_DIR_MODE) == 0;
	if (!made && (errno != EEXIST || !parents))
		return -errno;
	if (fstatat(p.dir, p.name, &st, made ? AT_SYMLINK_NOFOLLOW : 0) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -EEXIST;
	fileop_fill(f, &st);
	f->m->rep.flags = made ? INIT_FILED_NEW : 0;
	return 0;
}

int fileop_rename(struct fileop *f)
{
	const unsigned flags = f->q->flags & INIT_FILE_EXCL ? RENAME_NOREPLACE : 0;
	struct place from = { .dir = -1 }, to = { .dir = -1 };
	struct stat st = { 0 };
	int r = fileop_place(f, f->q->path, false, false, &from);

	if (r == 0)
		r = fileop_place(f, f->q->path2, false, false, &to);
	if (r < 0)
		return r;
	if (syscall(SYS_renameat2, from.dir, from.name, to.dir, to.name, flags) < 0) {
		r = -errno;
		if (r == -EXDEV)
			f->hint = NULL;
		return r;
	}
	if (fstatat(to.dir, to.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	fileop_fill(f, &st);
	return 0;
}
