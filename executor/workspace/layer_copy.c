/* SPDX-License-Identifier: Apache-2.0 */
/* Copies an overlay's upper layer as it is. Process and privilege: see layer_copy.h. */
#include "executor/workspace/layer_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/copy.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/walk.h"

#define NSEC 1000000000LL
#define TICK_NS (NSEC / 25)	/* a change so close before a copy may have come behind it, with the same time */

/* files that were met by one of their names: open addressing, at most half full */
struct inode {
	uint64_t dev, ino;
	char *path;	/* of its copy; owned; NULL: free slot */
};

struct inodes {
	struct inode *v;
	size_t n, cap;	/* cap: a power of two */
};

struct copying {
	int from, to;
	const struct layer_before *before;
	struct layer_copied *ret;
	struct journal folders;		/* their modes and times are set when everything is in them */
	struct inodes linked;		/* files with several names */
	struct ak_err *err;
};

static struct inode *slot(const struct inodes *t, uint64_t dev, uint64_t ino)
{
	size_t i = (size_t)((ino ^ dev << 32) * 0x9e3779b97f4a7c15u >> 20);

	for (;; i++) {
		struct inode *s = &t->v[i & (t->cap - 1)];

		if (!s->path || (s->dev == dev && s->ino == ino))
			return s;
	}
}

static bool make_room(struct inodes *t)
{
	struct inodes grown = { .n = t->n, .cap = t->cap ? 2 * t->cap : 64 };

	if (2 * (t->n + 1) <= t->cap)
		return true;
	grown.v = calloc(grown.cap, sizeof(*grown.v));
	for (size_t i = 0; grown.v && i < t->cap; i++)
		if (t->v[i].path)
			*slot(&grown, t->v[i].dev, t->v[i].ino) = t->v[i];
	if (!grown.v)
		return false;
	free(t->v);
	*t = grown;
	return true;
}

static void inodes_release(struct inodes *t)
{
	for (size_t i = 0; i < t->cap; i++)
		free(t->v[i].path);
	free(t->v);
	*t = (struct inodes){ 0 };
}

static int failed(const char *path, int code, struct ak_err *err)
{
	return ak_err_sys(err, code, "copy \"%.200s\" of the changes", path);
}

static int remember(struct journal *j, const char *path, const struct ws_ident *id, struct ak_err *err)
{
	struct change c = { .path = (char *)(uintptr_t)path, .op = CHANGE_ADDED, .now = *id };

	return journal_add(j, &c, err);
}

/* every attribute of a layer is one of user.*: ordinary ones, and those by which overlayfs knows opaque folders and origins */
static int copy_attributes(int from, int to)
{
	char *list = malloc(XATTR_LIST_MAX), *value = malloc(XATTR_SIZE_MAX);
	ssize_t len = list && value ? flistxattr(from, list, XATTR_LIST_MAX) : 0;
	int r = !list || !value ? -ENOMEM : len < 0 && errno != EOPNOTSUPP ? -errno : 0;

	for (char *p = list; r == 0 && p < list + len; p += strlen(p) + 1) {
		ssize_t n;

		if (strncmp(p, "user.", 5) != 0)
			continue;	/* labels of a security module are given by it */
		n = fgetxattr(from, p, value, XATTR_SIZE_MAX);
		if (n < 0 ? errno != ENODATA : fsetxattr(to, p, value, (size_t)n, 0) < 0)
			r = -errno;
	}
	free(value);
	free(list);
	return r;
}

static int set_times(int fd, int dir, const char *name, int64_t mtime_ns)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = mtime_ns / NSEC, .tv_nsec = mtime_ns % NSEC } };

	if (ts[1].tv_nsec < 0) {
		ts[1].tv_sec--;
		ts[1].tv_nsec += NSEC;
	}
	if (fd >= 0)
		return futimens(fd, ts) < 0 ? -errno : 0;
	return utimensat(dir, name, ts, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int copy_file(struct copying *c, const struct ws_entry *e, int dir, const char *name)
{
	AK_AUTO_FD from = openat(e->dir, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	AK_AUTO_FD to = -1;
	struct ws_ident id;
	int r;

	if (from < 0)
		return errno == ENOENT ? 0 : -errno;	/* gone meanwhile: as if it had gone before */
	r = ws_fstat(from, &id);
	if (r < 0 || !S_ISREG(id.mode))
		return r;
	c->ret->bytes += id.blocks * 512;
	if (c->ret->max_bytes && c->ret->bytes > c->ret->max_bytes)
		return -EDQUOT;
	to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return -errno;
	r = ws_copy_data(from, to, UINT64_MAX);
	if (r == 0)
		r = copy_attributes(from, to);
	if (r == 0 && fchmod(to, id.mode & 07777) < 0)
		r = -errno;
	return r == 0 ? set_times(to, -1, NULL, id.mtime_ns) : r;
}

/* Return: 1 linked, 0 not, negative errno */
static int link_before(const struct copying *c, const struct ws_entry *e, int dir, const char *name)
{
	const struct layer_before *b = c->before;
	const struct change *was = b && b->dir >= 0 ? journal_find(b->seen, e->path) : NULL;
	const char *old_name;
	AK_AUTO_FD old = -1;

	if (!was || !ws_same(&was->now, &e->id) || e->id.ctime_ns > b->at_ns - TICK_NS)
		return 0;
	old = ws_open_parent(b->dir, e->path, &old_name);
	return old >= 0 && linkat(old, old_name, dir, name, 0) == 0 ? 1 : 0;
}

/* a further name of a file that was met already. Return: as link_before() */
static int link_within(struct copying *c, const struct ws_entry *e, int dir, const char *name)
{
	struct inode *s;
	const char *first_name;

	if (!make_room(&c->linked))
		return -ENOMEM;
	s = slot(&c->linked, e->id.dev, e->id.ino);
	if (s->path) {
		AK_AUTO_FD first = ws_open_parent(c->to, s->path, &first_name);

		return first >= 0 && linkat(first, first_name, dir, name, 0) == 0 ? 1 : 0;
	}
	*s = (struct inode){ e->id.dev, e->id.ino, strdup(e->path) };
	c->linked.n++;
	return s->path ? 0 : -ENOMEM;
}

static int visit_file(struct copying *c, const struct ws_entry *e, int dir, const char *name)
{
	int r = link_before(c, e, dir, name);

	return r == 0 ? copy_file(c, e, dir, name) : r < 0 ? r : 0;
}

static int visit_folder(struct copying *c, const struct ws_entry *e, int dir, const char *name)
{
	AK_AUTO_FD from = ws_open_dir(e->dir, e->name);
	AK_AUTO_FD to = -1;
	int r;

	if (from == -ENOENT)
		return 0;
	if (from < 0)
		return from;
	if (mkdirat(dir, name, 0700) < 0)
		return -errno;
	to = ws_open_dir(dir, name);
	r = to < 0 ? to : copy_attributes(from, to);
	return r == 0 ? remember(&c->folders, e->path, &e->id, c->err) : r;
}

static int visit_link(const struct ws_entry *e, int dir, const char *name)
{
	char text[WS_PATH_MAX + 1] AK_UNINIT;
	int r = ws_read_link(e->dir, e->name, text);

	if (r < 0)
		return r == -ENOENT || r == -EINVAL ? 0 : r;
	if (symlinkat(text, dir, name) < 0)
		return -errno;
	return set_times(-1, dir, name, e->id.mtime_ns);
}

/* whiteouts (character device 0:0, which anybody may make), FIFOs, sockets */
static int visit_special(const struct ws_entry *e, int dir, const char *name)
{
	if (mknodat(dir, name, (e->id.mode & S_IFMT) | (S_ISCHR(e->id.mode) ? e->id.mode & 0777 : 0600), (dev_t)e->id.rdev) < 0)
		return -errno;
	if (!S_ISCHR(e->id.mode) && fchmodat(dir, name, e->id.mode & 0777, 0) < 0)	/* new, and nobody else's */
		return -errno;
	return set_times(-1, dir, name, e->id.mtime_ns);
}

static int visit(void *arg, const struct ws_entry *e, struct ak_err *err)
{
	struct copying *c = arg;
	const char *name;
	AK_AUTO_FD dir = ws_open_parent(c->to, e->path, &name);
	int r = dir < 0 ? dir : 0;

	c->err = err;
	c->ret->entries++;
	if (r == 0 && !S_ISDIR(e->id.mode) && e->id.nlink > 1)
		r = link_within(c, e, dir, name);
	if (r == 0)
		r = S_ISREG(e->id.mode) ? visit_file(c, e, dir, name) :
		    S_ISDIR(e->id.mode) ? visit_folder(c, e, dir, name) :
		    S_ISLNK(e->id.mode) ? visit_link(e, dir, name) : visit_special(e, dir, name);
	if (r >= 0 && S_ISREG(e->id.mode) && c->ret->seen)
		r = remember(c->ret->seen, e->path, &e->id, err);
	return r < 0 ? failed(e->path, -r, err) : WS_GO_ON;
}

static int trouble(void *arg, const char *path, int code, struct ak_err *err)
{
	(void)arg;
	return code == ENOENT ? 0 : failed(path, code, err);
}

/* a folder gets its mode last, which may be closed to its owner, and its time after all that is in it */
static int finish_folders(struct copying *c, struct ak_err *err)
{
	int r = 0;

	for (size_t i = c->folders.n; i > 0 && r == 0; i--) {
		const struct change *f = &c->folders.v[i - 1];
		AK_AUTO_FD fd = ws_open_dir(c->to, f->path);

		r = fd < 0 ? fd : fchmod(fd, f->now.mode & 07777) < 0 ? -errno : set_times(fd, -1, NULL, f->now.mtime_ns);
		if (r < 0)
			return failed(f->path, -r, err);
	}
	return 0;
}

static int finish_top(struct copying *c, struct ak_err *err)
{
	struct ws_ident top;
	int r = ws_fstat(c->from, &top);

	if (r == 0)
		r = copy_attributes(c->from, c->to);
	if (r == 0 && fchmod(c->to, top.mode & 07777) < 0)
		r = -errno;
	return r < 0 ? failed("", -r, err) : 0;
}

int layer_copy(int from, int to, const struct layer_before *before, struct layer_copied *ret, struct ak_err *err)
{
	struct copying c = { .from = from, .to = to, .before = before, .ret = ret, .err = err };
	int r = ws_walk(from, "", visit, trouble, &c, err);

	if (r == 0)
		r = finish_folders(&c, err);
	if (r == 0)
		r = finish_top(&c, err);
	if (r == 0 && ret->seen)
		journal_sort(ret->seen);
	journal_release(&c.folders);
	inodes_release(&c.linked);
	return r;
}
