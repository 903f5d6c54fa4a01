/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of file operations: listing, walking, removing. File worker, no privilege; the folders are hostile and may change. */
#include "executor/init/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PASSES_MAX 64	/* a folder is emptied in several goes: what is added meanwhile is not chased without end */

struct kernel_dirent {	/* getdents64(2) */
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* A folder being read */
struct reader {
	int fd;
	long len, at;
	_Alignas(struct kernel_dirent) char buf[4096];
};

/* Return: the next name but "." and "..", NULL at the end */
static const char *next_name(struct reader *r, int *ret_err)
{
	for (;;) {
		const struct kernel_dirent *d;

		if (r->at >= r->len) {
			r->len = syscall(SYS_getdents64, r->fd, r->buf, sizeof(r->buf));
			r->at = 0;
			if (r->len < 0)
				*ret_err = -errno;
			if (r->len <= 0)
				return NULL;
		}
		d = (const struct kernel_dirent *)(const void *)(r->buf + r->at);
		r->at += d->reclen;
		if (strcmp(d->name, ".") != 0 && strcmp(d->name, "..") != 0)
			return d->name;
	}
}

/* ---- records ---- */

struct walk {
	struct fileop *f;
	uint64_t left;		/* entries */
	uint64_t bytes;		/* written */
	bool more;
	size_t len;		/* of path */
	char path[AK_INIT_PATH_MAX];
	size_t filled;
	char buf[16384];
};

static int drain(struct walk *w)
{
	int r = fileop_write_all(w->f->data, w->buf, w->filled);

	w->filled = 0;
	return r;
}

/* Return: 0; 1 when there is no room for more; negative errno */
static int put(struct walk *w, const struct stat *st)
{
	const struct init_entry e = {
		.kind = fileop_kind(st->st_mode),
		.mode = st->st_mode & 07777,
		.size = (uint64_t)st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.name = w->path,
	};
	long n = init_entry_encode(&e, w->buf + w->filled, sizeof(w->buf) - w->filled);

	if (n == -ENOBUFS && w->filled > 0) {
		int r = drain(w);

		if (r < 0)
			return r;
		n = init_entry_encode(&e, w->buf, sizeof(w->buf));
	}
	if (n < 0)
		return (int)n;
	if (w->left == 0 || w->bytes + (uint64_t)n > AK_INIT_FILE_MAX) {
		w->more = true;
		return 1;
	}
	w->filled += (size_t)n;
	w->bytes += (uint64_t)n;
	w->left--;
	w->f->m->rep.done++;
	return 0;
}

/* Sets the last part of the path. Return: its old length, or 0 when it does not fit (then @more) */
static bool push(struct walk *w, const char *name, size_t *ret_old)
{
	size_t n = strlen(name), at = w->len;

	if (at + 1 + n + 1 > sizeof(w->path)) {
		w->more = true;
		return false;
	}
	*ret_old = at;
	if (at > 0)
		w->path[at++] = '/';
	memcpy(w->path + at, name, n + 1);
	w->len = at + n;
	return true;
}

static void pop(struct walk *w, size_t old)
{
	w->len = old;
	w->path[old] = 0;
}

static int walk_folder(struct walk *w, int fd, unsigned deeper);

static int walk_entry(struct walk *w, int dir, const char *name, unsigned deeper)
{
	struct stat st = { 0 };
	size_t old;
	int r, fd;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;	/* gone meanwhile */
	if (!push(w, name, &old))
		return 0;
	r = put(w, &st);
	if (r == 0 && S_ISDIR(st.st_mode) && deeper > 0) {
		fd = fileop_below(w->f, dir, name, true);
		/* not ours to read, or a view of the kernel: its name is all that is told */
		r = fd < 0 ? 0 : walk_folder(w, fd, deeper);
	}
	pop(w, old);
	return r;
}

/* Takes @fd. Return: as put() */
static int walk_folder(struct walk *w, int fd, unsigned deeper)
{
	struct reader rd = { .fd = fd };
	const char *name;
	int err = 0;

	if (deeper == 1 && w->len > 0)
		w->more = true;
	while (err == 0 && (name = next_name(&rd, &err)))
		err = walk_entry(w, fd, name, deeper - 1);
	(void)close(fd);
	return err;
}

/* @depth: 1 is the folder alone */
static int records(struct fileop *f, unsigned depth)
{
	struct walk w = { .f = f };
	struct stat st = { 0 };
	int fd = fileop_open(f, f->q->path, false, &st), r;

	if (fd < 0)
		return fd;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	fd = fileop_reopen(fd, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	fileop_fill(f, &st);
	f->m->rep.done = 0;
	w.left = f->q->limit && f->q->limit < AK_INIT_ENTRIES_MAX ? f->q->limit : AK_INIT_ENTRIES_MAX;
	r = walk_folder(&w, fd, depth);
	if (r >= 0)
		r = drain(&w);
	if (r == 0 && w.more)
		f->m->rep.flags = INIT_FILED_MORE;
	return r;
}

int fileop_list(struct fileop *f)
{
	return records(f, 1);
}

int fileop_walk(struct fileop *f)
{
	return records(f, AK_INIT_DEPTH_MAX);
}

/* ---- removing ---- */

static int remove_at(struct fileop *f, int dir, const char *name, unsigned deeper);

/* Empties a folder; takes @fd. Never into another mount, never through a link */
static int empty(struct fileop *f, int fd, unsigned deeper)
{
	int err = 0;

	for (int pass = 0; err == 0 && pass < PASSES_MAX; pass++) {
		struct reader rd = { .fd = fd };
		const char *name;
		int n = 0;

		if (lseek(fd, 0, SEEK_SET) < 0)
			err = -errno;
		while (err == 0 && (name = next_name(&rd, &err))) {
			err = remove_at(f, fd, name, deeper - 1);
			n++;
		}
		if (n == 0)
			break;
	}
	(void)close(fd);
	return err;
}

static int remove_at(struct fileop *f, int dir, const char *name, unsigned deeper)
{
	int fd, r;

	if (unlinkat(dir, name, 0) == 0) {
		f->m->rep.done++;
		return 0;
	}
	if (errno != EISDIR)
		return -errno;
	if (f->q->flags & INIT_FILE_RECURSIVE) {
		if (deeper == 0)
			return -ELOOP;
		fd = fileop_below(f, dir, name, false);
		if (fd == -EXDEV)
			return -EBUSY;	/* something is mounted there */
		r = fd < 0 ? fd : empty(f, fd, deeper);
		if (r < 0)
			return r;
	}
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0)
		return -errno;
	f->m->rep.done++;
	return 0;
}

int fileop_remove(struct fileop *f)
{
	struct place p = { .dir = -1 };
	struct stat st = { 0 };
	int r = fileop_place(f, f->q->path, false, false, &p);

	if (r < 0)
		return r;
	if (fstatat(p.dir, p.name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	fileop_fill(f, &st);
	f->m->rep.done = 0;
	r = remove_at(f, p.dir, p.name, AK_INIT_DEPTH_MAX);
	if (r == -ENOTEMPTY)
		f->hint = "it holds files; remove it with all that is in it";
	if (r == -EBUSY)
		f->hint = "it is protected or mounted, and cannot be removed";
	return r;
}
