/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a workspace into a tree, and its contents into the store. Process: the commands around checkpoints. Privilege: the caller's. */
#include "executor/workspace/ckpt_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/workspace/ckpt_ahead.h"
#include "executor/workspace/ckpt_below.h"
#include "executor/workspace/ckpt_open.h"
#include "executor/workspace/ckpt_store.h"
#include "executor/workspace/copy.h"
#include "executor/workspace/walk.h"

#define NS 1000000000LL
#define TRIES 3
#define XATTR_LIST_BYTES 65536u	/* the kernel's own limit */
#define TICK_NS (NS / 50)	/* more than any kernel's tick: files are stamped with the time of the last one */

struct scan {
	struct ckpt_scan *s;
	struct ckpt_tree known;		/* as last seen */
	size_t next;			/* of it: the entry that comes next when nothing was added or removed */
	struct ckpt_below below;	/* of it */
	struct ckpt_ahead ahead;	/* of it */
	uid_t uid;
	struct ckpt_opened opened;
	int64_t start_ns;
	uint32_t *links;		/* entries with further names: open hash of index + 1 by inode */
	size_t nlinks, slots;
	struct ak_buf xattrs;
	char *value;			/* of one attribute */
};

static int tell(struct scan *w, struct ckpt_entry *e, enum ckpt_flag flag, const char *why)
{
	struct ckpt_scan *s = w->s;

	if (e->flags & flag)
		return 0;
	e->flags |= (uint8_t)flag;
	*(flag == CKPT_LEFT ? &s->left : &s->busy) += 1;
	if (s->ntold < CKPT_LEFT_TOLD && asprintf(&s->told[s->ntold], "%s: %s", *e->path ? e->path : ".", why) >= 0)
		s->ntold++;
	return 0;
}

/* --- hard links --- */

static uint32_t *link_slot(struct scan *w, uint64_t dev, uint64_t ino)
{
	size_t k = (size_t)((ino * 0x9e3779b97f4a7c15ULL ^ dev) >> 20) & (w->slots - 1);

	while (w->links[k]) {
		const struct ws_ident *id = &w->s->tree.e[w->links[k] - 1].id;

		if (id->ino == ino && id->dev == dev)
			break;
		k = (k + 1) & (w->slots - 1);
	}
	return &w->links[k];
}

static int links_grow(struct scan *w)
{
	uint32_t *old = w->links;
	size_t n = w->slots;

	if (w->nlinks * 2 < w->slots)
		return 0;
	w->slots = n ? n * 2 : 256;
	w->links = calloc(w->slots, sizeof(*w->links));
	if (!w->links) {
		w->links = old;
		w->slots = n;
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		if (old[i]) {
			const struct ws_ident *id = &w->s->tree.e[old[i] - 1].id;

			*link_slot(w, id->dev, id->ino) = old[i];
		}
	}
	free(old);
	return 0;
}

/* --- extended attributes --- */

static int read_xattrs(struct scan *w, int fd)
{
	char list[4096], *names = list;
	ssize_t len = flistxattr(fd, list, sizeof(list));
	unsigned count = 0;
	int r = 0;

	w->xattrs.len = 0;
	if (len < 0 && errno == ERANGE) {
		names = malloc(XATTR_LIST_BYTES);
		len = names ? flistxattr(fd, names, XATTR_LIST_BYTES) : -1;
	}
	if (len < 0)
		r = names ? (errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno) : -ENOMEM;
	for (const char *p = names; r == 0 && len > 0 && p < names + len; p += strlen(p) + 1) {
		ssize_t n;

		if (strncmp(p, "user.", 5) != 0)
			continue;
		if (++count > WS_XATTRS_MAX) {
			r = -E2BIG;
			break;
		}
		n = fgetxattr(fd, p, w->value, WS_XATTR_BYTES_MAX);
		if (n >= 0)
			ckpt_xattr_add(&w->xattrs, p, w->value, (uint32_t)n);
		else if (errno != ENODATA)
			r = -errno;
	}
	if (names != list)
		free(names);
	return w->xattrs.failed ? -ENOMEM : r;
}

static void use_xattrs(struct scan *w, struct ckpt_entry *e)
{
	e->xattrs = w->xattrs.len ? (const unsigned char *)w->xattrs.data : NULL;
	e->xattrs_len = (uint32_t)w->xattrs.len;
}

/* --- contents --- */

static bool same_times(const struct ws_ident *a, const struct ws_ident *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns &&
	       (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

/* The same order as last time mostly spares a search, and most walks the index for it */
static const struct ckpt_entry *last_seen(struct scan *w, const char *path, const struct ws_ident *id)
{
	const struct ckpt_entry *k = w->next < w->known.n ? &w->known.e[w->next] : NULL;

	if (!k || strcmp(k->path, path) != 0) {
		if (!w->known.slots && ckpt_tree_index(&w->known) < 0)
			return NULL;
		k = ckpt_tree_find(&w->known, path);
		if (!k || !same_times(&k->id, id))	/* a folder above may have been moved */
			k = ckpt_tree_find_ino(&w->known, id->dev, id->ino);
	}
	if (k && strcmp(k->path, path) == 0)
		w->next = (size_t)(k - w->known.e) + 1;
	return k;
}

/* What was seen last time; NULL when it proves nothing */
static const struct ckpt_entry *known(struct scan *w, const char *path, const struct ws_ident *id)
{
	const struct ckpt_entry *k = w->known.n ? last_seen(w, path, id) : NULL;

	if (!k || !same_times(&k->id, id) || (k->flags & (CKPT_RACY | CKPT_LEFT | CKPT_BUSY)))
		return NULL;
	return k;
}

/* Some file systems stamp by the second, or by two: those have nothing behind it */
static bool racy(const struct scan *w, int64_t ctime_ns)
{
	return ctime_ns + (ctime_ns % NS ? TICK_NS : 2 * NS) >= w->start_ns;
}

static int read_once(struct scan *w, int fd, struct ckpt_entry *e)
{
	int r = read_xattrs(w, fd);

	if (r < 0)
		return r;
	return w->s->look_only ? ckpt_object_sum(&w->s->store->objects, fd, e->hash, &e->id.size) :
				 ckpt_object_put(&w->s->store->objects, fd, e->hash, &e->id.size);
}

/* Return: 0, 1: it is gone, or a negative errno */
static int read_open(struct scan *w, const struct ws_entry *we, struct ckpt_entry *e, bool *ret_busy)
{
	struct ws_ident after;
	int r = 0;

	*ret_busy = true;
	for (int i = 0; i < TRIES && r == 0 && *ret_busy; i++) {
		struct ws_ident before;
		AK_AUTO_FD fd = ws_open_file(we->dir, we->name, &before);

		if (fd == -ENOENT || fd == -EINVAL)
			return 1;	/* gone, or something else by now: seen the next time */
		r = fd < 0 ? fd : read_once(w, fd, e);
		if (r == 0)
			r = ws_fstat(fd, &after);
		if (r == 0) {
			uint64_t size = e->id.size;

			*ret_busy = !same_times(&before, &after) || after.size != size;
			e->id = after;
			e->id.size = size;
		}
	}
	return r;
}

static bool closed_to_owner(const struct scan *w, const struct ws_ident *id, uint32_t bits)
{
	return w->uid != 0 && id->uid == w->uid && (id->mode & bits) != bits;
}

static int read_file(struct scan *w, const struct ws_entry *we, struct ckpt_entry *e, bool *ret_busy)
{
	struct ws_ident found = we->id, now;
	int r;

	if (!closed_to_owner(w, &found, 0400))
		return read_open(w, we, e, ret_busy);
	r = ckpt_open_up(&w->opened, we->dir, we->name, we->path, &found);
	if (r < 0)
		return r == -ESTALE || r == -ENOENT ? 1 : r;
	r = read_open(w, we, e, ret_busy);
	if (ckpt_put_back(we->dir, we->name, &found) == 0 && r == 0 && ws_stat(we->dir, we->name, &now) == 0 && now.ino == found.ino) {
		e->id.mode = found.mode;
		e->id.ctime_ns = now.ctime_ns;
	}
	return r;
}

/* --- entries --- */

static int failed(int code, const char *path, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "keep \"%.200s\"", path);
	ak_no_space(err, CKPT_NO_SPACE);
	return -code;
}

static struct ckpt_entry *add(struct scan *w, const struct ckpt_entry *e, struct ak_err *err)
{
	struct ckpt_entry *added = ckpt_tree_add(&w->s->tree, e);

	if (!added)
		(void)ak_err_set(err, ENOMEM, "not enough memory for the tree");
	return added;
}

static int add_file(struct scan *w, const struct ws_entry *we, struct ckpt_entry *e, struct ak_err *err)
{
	const struct ckpt_entry *k = known(w, we->path, &we->id);
	struct ckpt_entry *added;
	bool busy = false;
	int r = 0;

	if (k) {
		memcpy(e->hash, k->hash, sizeof(e->hash));
		e->xattrs = k->xattrs;
		e->xattrs_len = k->xattrs_len;
	} else {
		w->s->read++;
		r = read_file(w, we, e, &busy);
		if (r == 1)
			return WS_GO_ON;
		use_xattrs(w, e);
		if (racy(w, e->id.ctime_ns))
			e->flags |= CKPT_RACY;
	}
	if (r < 0 && r != -EACCES && r != -EPERM)
		return failed(-r, we->path, err);
	added = add(w, e, err);
	if (!added)
		return -ENOMEM;
	if (r < 0)
		return tell(w, added, CKPT_LEFT, "cannot be read by you");
	return busy ? tell(w, added, CKPT_BUSY, "changed while it was read") : WS_GO_ON;
}

static int add_folder(struct scan *w, const struct ws_entry *we, struct ckpt_entry *e, struct ak_err *err)
{
	const struct ckpt_entry *k = known(w, we->path, &we->id);
	struct ckpt_entry *added;
	int r = 0;

	if (closed_to_owner(w, &we->id, 0500))
		r = ckpt_open_up(&w->opened, we->dir, we->name, we->path, &we->id);
	if (k) {
		e->xattrs = k->xattrs;
		e->xattrs_len = k->xattrs_len;
		if (w->below.first)
			*we->known = (size_t)(k - w->known.e);
	} else if (r == 0) {
		AK_AUTO_FD fd = ws_open_dir(w->s->root, we->path);

		/* whatever keeps it closed the walk will tell */
		if (fd >= 0 && read_xattrs(w, fd) == 0)
			use_xattrs(w, e);
	}
	if (racy(w, e->id.ctime_ns))
		e->flags |= CKPT_RACY;
	added = add(w, e, err);
	return added ? WS_GO_ON : -ENOMEM;
}

static int add_link(struct scan *w, const struct ws_entry *we, struct ckpt_entry *e, struct ak_err *err)
{
	char text[WS_PATH_MAX + 1];
	int r = ws_read_link(we->dir, we->name, text);

	if (r == -ENOENT || r == -EINVAL)
		return WS_GO_ON;
	if (r < 0)
		return failed(-r, we->path, err);
	e->link = text;
	r = add(w, e, err) ? WS_GO_ON : -ENOMEM;
	e->link = NULL;	/* the tree has a copy */
	return r;
}

static int add_device(struct scan *w, const struct ckpt_entry *e, struct ak_err *err)
{
	struct ckpt_entry *added = add(w, e, err);

	return added ? tell(w, added, CKPT_LEFT, "is a device") : -ENOMEM;
}

/* a further name of a file that has been added; false: it is the first */
static bool same_as_earlier(struct scan *w, struct ckpt_entry *e)
{
	const struct ckpt_entry *first;
	uint32_t *slot;

	if (e->id.nlink < 2 || w->slots == 0)
		return false;
	slot = link_slot(w, e->id.dev, e->id.ino);
	first = *slot ? &w->s->tree.e[*slot - 1] : NULL;
	if (!first || (first->id.mode & S_IFMT) != (e->id.mode & S_IFMT))
		return false;
	e->same_as = *slot - 1;
	memcpy(e->hash, first->hash, sizeof(e->hash));
	e->id = first->id;	/* as it was when it was read */
	e->link = first->link;
	e->xattrs = first->xattrs;
	e->xattrs_len = first->xattrs_len;
	e->flags = first->flags;
	return true;
}

/* the last entry may have further names */
static int remember_link(struct scan *w)
{
	const struct ckpt_entry *e = &w->s->tree.e[w->s->tree.n - 1];
	int r = links_grow(w);

	if (r == 0) {
		*link_slot(w, e->id.dev, e->id.ino) = (uint32_t)w->s->tree.n;
		w->nlinks++;
	}
	return r;
}

static int add_other(struct scan *w, const struct ws_entry *we, struct ckpt_entry *e, struct ak_err *err)
{
	if (S_ISREG(e->id.mode))
		return add_file(w, we, e, err);
	if (S_ISLNK(e->id.mode))
		return add_link(w, we, e, err);
	if (S_ISFIFO(e->id.mode) || S_ISSOCK(e->id.mode))
		return add(w, e, err) ? WS_GO_ON : -ENOMEM;
	return add_device(w, e, err);
}

static int visit(void *arg, const struct ws_entry *we, struct ak_err *err)
{
	struct scan *w = arg;
	struct ckpt_entry e = {.path = we->path, .id = we->id, .same_as = CKPT_NO_LINK};
	size_t before = w->s->tree.n;
	int r;

	if (w->s->drop && strcmp(we->name, w->s->drop) == 0 && !S_ISDIR(e.id.mode)) {
		(void)unlinkat(we->dir, we->name, 0);
		return WS_GO_ON;
	}
	if (S_ISDIR(e.id.mode))
		return add_folder(w, we, &e, err);
	if (!S_ISREG(e.id.mode) || e.id.nlink > 1)
		(void)known(w, we->path, &we->id);	/* keeps the place */
	if (same_as_earlier(w, &e))
		return add(w, &e, err) ? WS_GO_ON : -ENOMEM;
	r = add_other(w, we, &e, err);
	if (r >= 0 && we->id.nlink > 1 && w->s->tree.n > before && remember_link(w) < 0)
		return ak_err_set(err, ENOMEM, "not enough memory for the tree");
	return r;
}

static int trouble(void *arg, const char *path, int code, struct ak_err *err)
{
	struct scan *w = arg;
	size_t n = strlen(path);

	if (code != EACCES && code != EPERM && code != EXDEV && code != ENAMETOOLONG)
		return failed(code, *path ? path : ".", err);
	while (n > 0 && path[n - 1] == '/')
		n--;
	for (size_t i = w->s->tree.n; i-- > 0;) {
		struct ckpt_entry *e = &w->s->tree.e[i];

		if (strncmp(e->path, path, n) == 0 && e->path[n] == '\0')
			return tell(w, e, CKPT_LEFT,
				    code == EXDEV	   ? "another file system is mounted there" :
				    code == ENAMETOOLONG ? "holds a path of more than 4095 bytes" :
							   "cannot be read by you");
	}
	return 0;
}

/* --- folders whose times say that nothing came and nothing went --- */

static bool same_folder(void *arg, size_t folder, const struct ws_ident *now)
{
	struct scan *w = arg;

	ckpt_ahead_take(&w->ahead, folder);
	return same_times(&w->known.e[folder].id, now);
}

static const char *name_below(void *arg, size_t folder, size_t i)
{
	const struct scan *w = arg;
	size_t at = w->below.first[folder] + i;
	const char *slash;

	if (at >= w->below.end[folder])
		return NULL;
	slash = strrchr(w->known.e[at].path, '/');
	return slash ? slash + 1 : w->known.e[at].path;
}

static bool seen_below(void *arg, size_t folder, size_t i, struct ws_ident *ret)
{
	struct scan *w = arg;
	size_t at = w->below.first[folder] + i;

	if (!ckpt_ahead_seen(&w->ahead, folder, at))
		return false;
	*ret = w->known.e[at].id;
	return true;
}

/*
 * Local file systems that give a folder a new time whenever a name comes or goes. Not: those of the network, FUSE, and overlay, whose
 * lower folders may be changed beneath it.
 */
static bool folders_tell(int root)
{
	static const uint32_t magic[] = {
		0xef53,	    /* ext2, ext3, ext4 */
		0x58465342, /* xfs */
		0x9123683e, /* btrfs */
		0x01021994, /* tmpfs */
		0xf2f52010, /* f2fs */
	};
	struct statfs fs;

	if (fstatfs(root, &fs) < 0)
		return false;
	for (size_t i = 0; i < sizeof(magic) / sizeof(magic[0]); i++) {
		if ((uint32_t)fs.f_type == magic[i])
			return true;
	}
	return false;
}

static int add_root(struct scan *w, struct ak_err *err)
{
	struct ckpt_entry e = {.path = "", .same_as = CKPT_NO_LINK};
	int r = ws_fstat(w->s->root, &e.id);

	if (r == 0)
		r = read_xattrs(w, w->s->root);
	if (r < 0)
		return failed(-r, ".", err);
	use_xattrs(w, &e);
	return add(w, &e, err) ? 0 : -ENOMEM;
}

static int walk(struct scan *w, struct ak_err *err)
{
	static const struct ws_known known_names = {.same = same_folder, .name = name_below, .seen = seen_below};
	struct ckpt_scan *s = w->s;
	int r;

	ckpt_store_load_stat(s->store, &w->known);
	w->next = w->known.n > 0;	/* behind the root */
	if (w->known.n > 0) {
		ckpt_tree_reserve(&s->tree, w->known.n + w->known.n / 8 + 64);
		if (folders_tell(s->root) && ckpt_below_init(&w->known, &w->below) == 0)	/* without it all are read */
			ckpt_ahead_start(&w->ahead, s->root, &w->known, &w->below);
	}
	r = add_root(w, err);
	return r < 0 ? r : ws_walk_known(s->root, "", visit, trouble, &known_names, w, err);
}

int ckpt_scan(struct ckpt_scan *s, struct ak_err *err)
{
	struct scan w = {.s = s, .opened = CKPT_OPENED_NONE(s->store), .value = malloc(WS_XATTR_BYTES_MAX), .uid = geteuid()};
	struct timespec now;
	int r;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	w.start_ns = now.tv_sec * NS + now.tv_nsec;
	s->tree.made_ns = (uint64_t)w.start_ns;
	r = w.value ? walk(&w, err) : ak_err_set(err, ENOMEM, "out of memory");
	ckpt_put_back_all(&w.opened, s->root);
	ckpt_ahead_stop(&w.ahead);
	ckpt_below_release(&w.below);
	ckpt_tree_release(&w.known);
	ak_buf_release(&w.xattrs);
	free(w.links);
	free(w.value);
	return r;
}

void ckpt_scan_release(struct ckpt_scan *s)
{
	ckpt_tree_release(&s->tree);
	while (s->ntold > 0)
		free(s->told[--s->ntold]);
}
