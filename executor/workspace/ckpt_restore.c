/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a workspace what a checkpoint says. Process: the commands around checkpoints. Privilege: the caller's. */
#include "executor/workspace/ckpt_restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/ckpt_compare.h"
#include "executor/workspace/ckpt_make.h"
#include "executor/workspace/ckpt_open.h"
#include "executor/workspace/ckpt_store.h"

#define FLUSH_MAX 64u /* files that are written to disk one by one; more of them at the end, with their file system */

enum mark {
	DIRTY = 1u << 0, /* a folder that was changed, or had to be opened up: adjusted at the end */
	KEPT = 1u << 1,	 /* want: this file stays the inode it is; now: must not go, or holds something that must not */
	ADJUST = 1u << 2, /* want: it stays, and gets its mode, owner, time or attributes when nothing is replaced any more */
};

struct work {
	struct ckpt_restore *r;
	struct ak_err *err;
	unsigned char *want, *now;	/* enum mark of each entry */
	uint32_t *claim;		/* of each entry that is there: the wanted file (index + 1) that keeps it */
	char folder[WS_PATH_MAX + 1];	/* whose descriptor is kept */
	int fd;				/* O_PATH; -1 */
};

static int failed(struct work *w, int code, const char *what, const char *path)
{
	(void)ak_err_sys(w->err, code, "%s \"%.200s\"", what, *path ? path : ".");
	if (code == ENOSPC || code == EDQUOT)
		ak_err_hint(w->err, "free space on the workspace's disk and run the same command again: nothing is lost");
	else
		ak_err_hint(w->err, "run the same command again to go on: nothing is lost");
	return -code;
}

static void leave(struct work *w, const char *path, const char *why)
{
	struct ckpt_restore *r = w->r;

	r->kept++;
	if (r->ntold < CKPT_TROUBLE_TOLD && asprintf(&r->told[r->ntold], "%s: %s", *path ? path : ".", why) >= 0)
		r->ntold++;
}

static void mark_dirty(struct work *w, const char *path)
{
	const struct ckpt_entry *e = ckpt_tree_find(w->r->want, path);

	if (e)
		w->want[e - w->r->want->e] |= DIRTY;
	e = ckpt_tree_find(w->r->now, path);
	if (e)
		w->now[e - w->r->now->e] |= DIRTY;
}

/* --- folders --- */

static bool closed(const struct ws_ident *id)
{
	return geteuid() != 0 && id->uid == geteuid() && (id->mode & 0700) != 0700;
}

static int open_folder(int root, const char *path)
{
	int fd = sys_openat2(root, *path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC,
			     AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_MAGICLINKS | AK_RESOLVE_NO_XDEV);

	return fd < 0 ? -errno : fd;
}

/* a folder of the caller's on the way to @path that is closed gets its owner's rights; all of them get their modes at the end */
static int open_up(struct work *w, const char *path)
{
	char part[WS_PATH_MAX + 1];

	for (size_t n = 0; path[n]; n += path[n] == '/') {
		struct ws_ident id;
		const char *name;
		AK_AUTO_FD dir = -1;
		int r;

		n += strcspn(path + n, "/");
		memcpy(part, path, n);
		part[n] = '\0';
		dir = ws_open_parent(w->r->root, part, &name);
		r = dir < 0 ? dir : ws_stat(dir, name, &id);
		if (r < 0)
			return r;
		if (!S_ISDIR(id.mode) || !closed(&id))
			continue;
		r = ckpt_set_mode(dir, name, &id, id.mode | 0700);
		if (r < 0)
			return r;
		mark_dirty(w, part);
	}
	return 0;
}

static int use_folder(struct work *w, const char *path)
{
	struct ws_ident id;
	int fd = open_folder(w->r->root, path), r;

	if (fd == -EACCES && open_up(w, path) == 0)
		fd = open_folder(w->r->root, path);
	if (fd < 0)
		return fd;
	r = ws_fstat(fd, &id);
	if (r == 0 && closed(&id)) {
		if (*path) {
			r = open_up(w, path);
		} else {
			char self[40];

			(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
			r = chmod(self, (id.mode | 0700) & 07777) < 0 ? -errno : 0;
		}
	}
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	mark_dirty(w, path);
	ak_fd_close(&w->fd);
	w->fd = fd;
	memcpy(w->folder, path, strlen(path) + 1);
	return fd;
}

/* the folder that holds @path, in which something will be changed. Return: a descriptor of @w's, or a negative errno */
static int parent_of(struct work *w, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;
	char folder[WS_PATH_MAX + 1];

	*ret_name = slash ? slash + 1 : path;
	if (w->fd >= 0 && strncmp(w->folder, path, n) == 0 && w->folder[n] == '\0')
		return w->fd;
	memcpy(folder, path, n);
	folder[n] = '\0';
	return use_folder(w, folder);
}

/* --- what must go --- */

static void keep_above(struct work *w, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[WS_PATH_MAX + 1];
	const struct ckpt_entry *up;

	if (!slash)
		return;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	up = ckpt_tree_find(w->r->now, folder);
	if (up)
		w->now[up - w->r->now->e] |= KEPT;
}

static int remove_one(struct work *w, const struct ckpt_entry *n)
{
	const char *name;
	int dir = parent_of(w, n->path, &name), r;

	if (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP)
		return 0;	/* gone with its folder */
	if (dir < 0)
		return failed(w, -dir, "open the folder of", n->path);
	r = ckpt_still(dir, name, n);
	if (r < 0)
		return failed(w, -r, "look at", n->path);
	if (r == 0) {
		struct ws_ident id;

		if (ws_stat(dir, name, &id) == 0 && !id.mode)
			return 0;
		leave(w, n->path, "changed in the meantime");
		keep_above(w, n->path);
		return 0;
	}
	if (unlinkat(dir, name, S_ISDIR(n->id.mode) ? AT_REMOVEDIR : 0) < 0 && errno != ENOENT) {
		if (errno != ENOTEMPTY && errno != EEXIST && errno != EBUSY)
			return failed(w, errno, "remove", n->path);
		leave(w, n->path, errno == EBUSY ? "something is mounted there" : "something new appeared in it");
		keep_above(w, n->path);
		return 0;
	}
	w->r->removed++;
	return 0;
}

/* children before their folders */
static int remove_all(struct work *w)
{
	const struct ckpt_tree *now = w->r->now;
	int r = 0;

	for (size_t i = now->n; r == 0 && i-- > 1;) {
		const struct ckpt_entry *n = &now->e[i], *e = ckpt_tree_find(w->r->want, n->path);

		if (!ckpt_in_scope(w->r->paths, n->path) || (e && S_ISDIR(e->id.mode) == S_ISDIR(n->id.mode)))
			continue;
		if ((n->flags & CKPT_LEFT) || (e && (e->flags & CKPT_LEFT))) {
			leave(w, n->path, "could not be kept, so it is not removed");
			keep_above(w, n->path);
		} else if (w->now[i] & KEPT) {
			leave(w, n->path, "holds something that stays");
			keep_above(w, n->path);
		} else {
			r = remove_one(w, n);
		}
	}
	return r;
}

/* --- what must be there --- */

static size_t leader(const struct ckpt_tree *t, const struct ckpt_entry *e)
{
	return e->same_as != CKPT_NO_LINK ? e->same_as : (size_t)(e - t->e);
}

/* May the file stay the inode it is? Names of one file must be names of one inode, and of no other's */
static bool can_stay(struct work *w, const struct ckpt_entry *e, const struct ckpt_entry *n)
{
	const struct ckpt_tree *want = w->r->want, *now = w->r->now;
	size_t first = leader(want, e), i = (size_t)(e - want->e), k;

	if (!n || !ckpt_same_bytes(e, n) || (n->flags & CKPT_BUSY))
		return false;
	k = leader(now, n);
	if (first == i || !ckpt_in_scope(w->r->paths, want->e[first].path)) {
		if (w->claim[k])
			return false;
		w->claim[k] = (uint32_t)i + 1;
		return true;
	}
	return (w->want[first] & KEPT) && w->claim[k] == first + 1;
}

static int adjust(struct work *w, const struct ckpt_entry *e)
{
	const char *name;
	int dir = parent_of(w, e->path, &name), r;
	AK_AUTO_FD fd = -1;

	if (dir < 0)
		return failed(w, -dir, "open the folder of", e->path);
	if (S_ISLNK(e->id.mode)) {
		r = ckpt_adjust_link(dir, name, e);
	} else {
		struct ws_ident id;

		fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		r = fd < 0 ? -errno : ws_fstat(fd, &id);
		if (r == 0)
			r = (id.mode & S_IFMT) == (e->id.mode & S_IFMT) ? ckpt_adjust(fd, e) : -ESTALE;
	}
	if (r == -EPERM)
		leave(w, e->path, "its owner cannot be set by you");
	else if (r == -ESTALE || r == -ENOENT)
		leave(w, e->path, "changed in the meantime");
	else if (r < 0)
		return failed(w, -r, "set mode and times of", e->path);
	w->r->adjusted++;
	return 0;
}

static int make(struct work *w, const struct ckpt_entry *e, const struct ckpt_entry *n)
{
	const struct ckpt_entry *first = e->same_as != CKPT_NO_LINK ? &w->r->want->e[e->same_as] : NULL;
	const char *name, *first_name = NULL;
	AK_AUTO_FD first_dir = -1;
	int dir = parent_of(w, e->path, &name), r;

	if (dir < 0)
		return failed(w, -dir, "open the folder of", e->path);
	if (first && ckpt_in_scope(w->r->paths, first->path)) {
		first_dir = ws_open_parent(w->r->root, first->path, &first_name);
		if (first_dir < 0)
			return failed(w, -first_dir, "open the folder of", first->path);
	}
	r = ckpt_make_tmp(w->r->store, e, dir, w->r->tmp, first_dir, first_name, w->r->written < FLUSH_MAX);
	if (r == -EPERM) {
		leave(w, e->path, "its owner cannot be set by you");
		r = 0;
	}
	if (r < 0)
		return failed(w, -r, "make", e->path);
	r = ckpt_put_tmp(dir, w->r->tmp, name, n && !S_ISDIR(n->id.mode) ? n : NULL);
	if (r == -ESTALE || r == -EISDIR) {
		leave(w, e->path, "changed in the meantime");
		return 0;
	}
	if (r < 0)
		return failed(w, -r, "put in place", e->path);
	w->r->written++;
	return 0;
}

static int make_folder(struct work *w, const struct ckpt_entry *e)
{
	const char *name;
	int dir = parent_of(w, e->path, &name);

	if (dir < 0)
		return failed(w, -dir, "open the folder of", e->path);
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return failed(w, errno, "make folder", e->path);
	w->want[e - w->r->want->e] |= DIRTY;
	w->r->written++;
	return 0;
}

/* a folder above something that is wanted */
static bool leads_to_scope(const struct work *w, const char *path)
{
	size_t n = strlen(path);

	for (const char *const *p = w->r->paths; p && *p; p++) {
		if (strncmp(*p, path, n) == 0 && ((*p)[n] == '/' || n == 0))
			return true;
	}
	return false;
}

static int make_one(struct work *w, size_t i)
{
	const struct ckpt_entry *e = &w->r->want->e[i], *n = ckpt_tree_find(w->r->now, e->path);

	if (!ckpt_in_scope(w->r->paths, e->path) && (n || !S_ISDIR(e->id.mode) || !leads_to_scope(w, e->path)))
		return 0;
	if (!n && (e->flags & CKPT_LEFT))
		leave(w, e->path, "is missing, and could not be kept then");
	if (S_ISDIR(e->id.mode)) {
		if (n && (S_ISDIR(n->id.mode) || (n->flags & CKPT_LEFT)))
			return 0;
		return make_folder(w, e);
	}
	if ((e->flags & CKPT_LEFT) || (n && (n->flags & CKPT_LEFT))) {
		if (n && ckpt_op_of(e, n) == CKPT_TYPE)
			leave(w, e->path, "could not be kept, so it stays as it is");
		return 0;
	}
	if (n && S_ISDIR(n->id.mode) && (w->now[n - w->r->now->e] & KEPT))
		return 0;	/* told already */
	if (!can_stay(w, e, n))
		return make(w, e, n);
	w->want[i] |= KEPT;
	/* not now: another name of it, which is to become a file of its own, would no longer be what was seen */
	if (e->same_as == CKPT_NO_LINK && ckpt_op_of(e, n) != CKPT_SAME)
		w->want[i] |= ADJUST;
	return 0;
}

/* --- folders at the end, deepest first: nothing in them changes any more --- */

static int finish_folder(struct work *w, const struct ckpt_entry *e)
{
	AK_AUTO_FD fd = open_folder(w->r->root, e->path);
	int r = fd;

	if (fd == -EACCES && open_up(w, e->path) == 0)
		r = fd = open_folder(w->r->root, e->path);
	if (fd >= 0)
		r = ckpt_adjust(fd, e);
	if (r == -EPERM)
		leave(w, e->path, "its owner cannot be set by you");
	else if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP)
		leave(w, e->path, "changed in the meantime");
	else if (r < 0)
		return failed(w, -r, "set mode and times of", e->path);
	return 0;
}

static int finish_wanted(struct work *w, size_t i)
{
	const struct ckpt_entry *e = &w->r->want->e[i], *n = ckpt_tree_find(w->r->now, e->path);

	if (!S_ISDIR(e->id.mode) || (n && !S_ISDIR(n->id.mode) && (n->flags & CKPT_LEFT)))
		return 0;
	if (!n && !(w->want[i] & DIRTY))
		return 0;	/* not asked for, so not made */
	if (n && S_ISDIR(n->id.mode)) {
		if (!ckpt_in_scope(w->r->paths, e->path)) {
			/* only its rights may have been opened up; its time is that of the change */
			if ((w->want[i] & DIRTY) && closed(&n->id))
				return finish_folder(w, n);
			return 0;
		}
		if (!(w->want[i] & DIRTY) && ckpt_op_of(n, e) == CKPT_SAME && n->id.mtime_ns == e->id.mtime_ns)
			return 0;
		if (ckpt_op_of(n, e) != CKPT_SAME || n->id.mtime_ns != e->id.mtime_ns)
			w->r->adjusted++;
	}
	return finish_folder(w, e);
}

static int finish_others(struct work *w, size_t i)
{
	const struct ckpt_entry *n = &w->r->now->e[i];

	if (!S_ISDIR(n->id.mode) || !(w->now[i] & DIRTY) || ckpt_tree_find(w->r->want, n->path) || !closed(&n->id))
		return 0;
	if (!(w->now[i] & KEPT) && ckpt_in_scope(w->r->paths, n->path))
		return 0;	/* it is gone */
	return finish_folder(w, n);
}

int ckpt_restore_run(struct ckpt_restore *r, struct ak_err *err)
{
	struct work w = {.r = r, .err = err, .fd = -1, .want = calloc(r->want->n + 1, 1), .now = calloc(r->now->n + 1, 1),
			 .claim = calloc(r->now->n + 1, sizeof(*w.claim))};
	int e;

	if (!w.want || !w.now || !w.claim) {
		(void)ak_err_set(err, ENOMEM, "out of memory");
		e = -ENOMEM;
	} else {
		e = remove_all(&w);
	}
	ak_fd_close(&w.fd);	/* it may be one of those that are gone */
	for (size_t i = 1; e == 0 && i < r->want->n; i++)
		e = make_one(&w, i);
	for (size_t i = 1; e == 0 && i < r->want->n; i++)
		e = w.want[i] & ADJUST ? adjust(&w, &r->want->e[i]) : 0;
	for (size_t i = r->want->n; e == 0 && i-- > 0;)
		e = finish_wanted(&w, i);
	for (size_t i = r->now->n; e == 0 && i-- > 0;)
		e = finish_others(&w, i);
	if (e == 0 && (r->written < FLUSH_MAX ? fsync(r->root) : syncfs(r->root)) < 0)
		e = failed(&w, errno, "write to disk", "");
	ak_fd_close(&w.fd);
	free(w.want);
	free(w.now);
	free(w.claim);
	return e;
}

int ckpt_restore_check(const struct ckpt_restore *r, struct ak_err *err)
{
	for (size_t i = 0; i < r->want->n; i++) {
		const struct ckpt_entry *e = &r->want->e[i], *n = ckpt_tree_find(r->now, e->path);
		int c;

		if (!S_ISREG(e->id.mode) || (e->flags & CKPT_LEFT) || e->same_as != CKPT_NO_LINK || !ckpt_in_scope(r->paths, e->path) ||
		    (n && ckpt_same_bytes(e, n)))
			continue;
		c = ckpt_object_check(&r->store->objects, e->hash, e->id.size);
		if (c == -ENOENT || c == -EBADMSG) {
			(void)ak_err_set(err, EBADMSG, "the kept bytes of \"%.200s\" are %s", e->path, c == -ENOENT ? "missing" : "damaged");
			ak_err_hint(err, "nothing was changed; another checkpoint, or other paths of this one, may be whole");
			return -EBADMSG;
		}
		if (c < 0)
			return ak_err_sys(err, -c, "read the kept bytes of \"%.200s\"", e->path);
	}
	return 0;
}

void ckpt_restore_release(struct ckpt_restore *r)
{
	while (r->ntold > 0)
		free(r->told[--r->ntold]);
}
