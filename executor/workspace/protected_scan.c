/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a workspace for protected names that changed. Process: executor. Privilege: the caller's, or the sandbox user's. */
#include "executor/workspace/protected_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/git_member.h"
#include "executor/workspace/link_trail.h"
#include "executor/workspace/protected.h"

#define NS 1000000000LL
#define CLOCK_SET_NS (NS / 10)	/* a smaller difference between two readings is no setting of the clock */
#define DENTS_BYTES 4096u	/* with the path two pages of the stack, which others have touched before */
#define OLD_MAX 4096u	/* names of the top folder that are remembered */
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* A name of the top folder, or a member of its git folder, before the command */
struct protected_old {
	char *path;	/* owned */
	uint64_t ino;
	int64_t ctime_ns;	/* 0: not looked at, a folder by another name than the protected */
};

enum where {
	PLAIN,	/* names decide */
	INSIDE, /* of a protected folder: everything counts */
	GIT,	/* of a git folder: git_member() decides */
};

struct walk {
	struct protected_mark *m;
	struct protected_report *r;	/* NULL: marking */
	uint64_t deadline_ns;
	int64_t since_ns;
	uint32_t dev_major, dev_minor;	/* with cross: the only file system that is looked at */
	struct ak_buf names;		/* folders still to be entered: where, name, NUL */
	struct ak_buf linked;		/* those that protected links lead to: where, path, NUL, name in the git folder or "", NUL */
	bool git;			/* there is a git folder at the top */
	size_t len;			/* of path */
	char path[PATH_MAX];		/* relative, of the folder that is read */
	_Alignas(8) char dents[DENTS_BYTES];
};

struct folder {
	int fd;
	enum where where;
	size_t git;		/* with GIT: where in the path what is relative to the git folder begins */
	const char *as;		/* with GIT: what stands before that, where a link leads here ("hooks"); NULL: nothing */
	unsigned depth;
	bool placed;		/* it was put here in the meantime: everything in it is new at its place */
	bool changed;		/* its entries may have changed */
	bool loose;		/* with GIT: by what is in it, not by its name: other names in it are the work */
	bool hooks;		/* the repository in it has named others */
	unsigned bare;		/* marks of a bare repository: bits of 7 */
};

static void scan_folder(struct walk *w, struct folder *f);

static int64_t ns_of(struct statx_timestamp t)
{
	return (int64_t)t.tv_sec * NS + t.tv_nsec;
}

/* Return: real time minus monotonic time, both in nanoseconds; to a tick, which is less than CLOCK_SET_NS */
static int64_t ahead(int64_t *ret_real)
{
	struct timespec real, mono;

	/* the coarse clock is the one that stamps files; not through the vDSO: see ak_clock.h */
	(void)syscall(SYS_clock_gettime, CLOCK_REALTIME_COARSE, &real);
	(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &mono);
	*ret_real = (int64_t)real.tv_sec * NS + real.tv_nsec;
	return *ret_real - ((int64_t)mono.tv_sec * NS + mono.tv_nsec);
}

/* Some file systems stamp by the second, or by two: those have nothing behind it */
static bool since(const struct walk *w, int64_t t)
{
	return t % NS ? t >= w->since_ns : t / NS + 2 >= w->since_ns / NS;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct protected_old *)a)->path, ((const struct protected_old *)b)->path);
}

static const struct protected_old *old_find(const struct protected_mark *m, const char *path)
{
	const struct protected_old key = {.path = (char *)path};

	return m->nold ? bsearch(&key, m->old, m->nold, sizeof(key), by_path) : NULL;
}

static void old_add(struct protected_mark *m, const char *path, uint64_t ino, int64_t ctime_ns)
{
	struct protected_old *list = m->old;
	char *copy = m->nold < OLD_MAX ? strdup(path) : NULL;

	if (copy && (m->nold & (m->nold - 1)) == 0)	/* grown at each power of two */
		list = realloc(m->old, (m->nold ? m->nold * 2 : 1) * sizeof(*list));
	if (list)
		m->old = list;
	if (!list || !copy) {
		free(copy);
		m->old_lost = true;
		return;
	}
	m->old[m->nold++] = (struct protected_old){copy, ino, ctime_ns};
}

static uint64_t no_xdev(const struct protected_mark *m)
{
	return m->cross ? 0 : AK_RESOLVE_NO_XDEV;
}

/* what w->path is called in the git folder that @f is of. Return: false: too long */
static bool git_path(const struct walk *w, const struct folder *f, char *ret)
{
	return snprintf(ret, PATH_MAX, "%s%s%s", f->as ? f->as : "", f->as ? "/" : "", w->path + f->git) < PATH_MAX;
}

/* what a trail of links adds up to */
struct newest {
	const struct walk *w;
	int64_t t;
	bool entries;	/* a folder's time counts where only its entries have changed; else where it was put there, see was_placed() */
};

static void newer(void *arg, const char *link)
{
	struct newest *n = arg;
	struct statx st;

	if (statx(n->w->m->dir, link, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &st) < 0 || ns_of(st.stx_ctime) <= n->t)
		return;
	if (n->entries || !S_ISDIR(st.stx_mode) || ns_of(st.stx_ctime) != ns_of(st.stx_mtime))
		n->t = ns_of(st.stx_ctime);
}

/* Before the command links are not followed out of the workspace: that is looked at with the sandbox user's rights only */
static struct link_view view_of(const struct walk *w)
{
	return (struct link_view){.lower = w->m->dir, .upper = -1, .workspace = w->r ? w->m->hooks.workspace : NULL};
}

/*
 * What a link leads to counts as well, and each link on the way, as long as they lie in the workspace.
 * @entries:	a folder that it leads to is protected as a whole; in a git folder, and on the way to hooks, what is in it tells
 * @to:	PATH_MAX bytes, of a link: the folder that it leads to, or ""
 */
static int64_t newest(const struct walk *w, const char *path, const struct statx *st, bool entries, char *to)
{
	struct newest n = {.w = w, .t = ns_of(st->stx_ctime), .entries = entries};
	struct link_view view = view_of(w);
	int type;

	if (!S_ISLNK(st->stx_mode))
		return n.t;
	type = link_trail(&view, path, newer, &n, to);
	if (type > 0)
		newer(&n, to);
	if (type != S_IFDIR)
		to[0] = '\0';
	return n.t;
}

static void add(struct walk *w, const char *path, enum protected_op op, bool config)
{
	struct protected_report *r = w->r;
	char *copy;

	/* a bare repository is looked at twice */
	for (size_t i = 0; i < r->n; i++) {
		if (strcmp(r->list[i].path, path) == 0)
			return;
	}
	copy = r->n < PROTECTED_SCAN_NAMES ? strdup(path) : NULL;
	if (!copy) {
		r->more++;
		return;
	}
	r->list[r->n++] = (struct protected_change){.path = copy, .op = op, .config = config};
}

/* the path of an entry in w->path for the time of a call; false: too long */
static bool path_push(struct walk *w, const char *name, size_t *ret_len)
{
	size_t n = strlen(name), at = w->len + (w->len > 0);

	if (at + n >= sizeof(w->path)) {
		if (w->r)
			w->r->cut = true;
		return false;
	}
	if (w->len > 0)
		w->path[w->len] = '/';
	memcpy(w->path + at, name, n + 1);
	*ret_len = w->len;
	w->len = at + n;
	return true;
}

static void path_pop(struct walk *w, size_t len)
{
	w->len = len;
	w->path[len] = '\0';
}

/*
 * Link @name, which is w->path, leads to folder @to of the workspace: its files are those of a protected folder, or of a git folder by
 * what the link is called there. It is entered at the end, since the folder that the link is in is still being read.
 */
static void enter_linked(struct walk *w, const struct folder *f, const char *name, const char *to)
{
	bool dotgit = f->where == PLAIN && protected_match(name) == PROTECTED_GIT, git = dotgit || f->where == GIT;
	char as[PATH_MAX] AK_UNINIT;
	char kind = (char)(git ? GIT : INSIDE);

	/* one of those that are only listed; or a link on the way to hooks, see follow_hooks() */
	if (f->where == PLAIN && protected_match(name) < PROTECTED_BLOCK)
		return;
	if (dotgit || !git)
		as[0] = '\0';
	else if (!git_path(w, f, as))
		return;
	/* what is git's own, and no place where links are looked for */
	if (*as && git_member(as) < GIT_FOLDER && !git_member_nested(as))
		return;
	ak_buf_add(&w->linked, &kind, 1);
	ak_buf_add(&w->linked, to, strlen(to) + 1);
	ak_buf_add(&w->linked, as, strlen(as) + 1);
}

/* A protected file, link or anything else but a folder that is entered */
static void check(struct walk *w, const struct folder *f, const char *name, bool config)
{
	const struct protected_old *old;
	char to[PATH_MAX] AK_UNINIT;
	struct statx st;
	int64_t t;

	if (statx(f->fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return;
	t = newest(w, w->path, &st, f->where == INSIDE || (f->where == PLAIN && protected_match(name) == PROTECTED_BLOCK), to);
	if (w->r && S_ISLNK(st.stx_mode) && *to)
		enter_linked(w, f, name, to);
	if (!w->r) {
		old_add(w->m, w->path, st.stx_ino, t);
		return;
	}
	old = old_find(w->m, w->path);
	if (!since(w, t) ? !f->placed : old && old->ino == st.stx_ino && old->ctime_ns == t)
		return;
	add(w, w->path,
	    old || (!f->placed && (st.stx_mask & STATX_BTIME) && !since(w, ns_of(st.stx_btime))) ? PROTECTED_MODIFIED : PROTECTED_ADDED,
	    config);
}

static void enter_later(struct walk *w, enum where where, const char *name)
{
	char kind = (char)where;

	ak_buf_add(&w->names, &kind, 1);
	ak_buf_add(&w->names, name, strlen(name) + 1);
}

static bool is_folder(const struct folder *f, const char *name, unsigned char type)
{
	struct stat st;

	if (type != DT_UNKNOWN)
		return type == DT_DIR;
	return fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void git_entry(struct walk *w, const struct folder *f, const char *name, unsigned char type)
{
	char as[PATH_MAX] AK_UNINIT;
	const char *path = w->path + f->git;
	enum git_member what;
	bool nested;

	if (f->as) {
		if (!git_path(w, f, as))
			return;
		path = as;
	}
	what = git_member(path);
	nested = git_member_nested(path);
	if (what == GIT_UNKNOWN && f->loose && !nested)
		return;
	/* a folder of objects may be the way to a submodule; the mark can do without those: what is not in it is judged by its times */
	if (!git_member_told(what) && (!nested || (!w->r && type != DT_LNK)))
		return;
	if (is_folder(f, name, type)) {
		if (what >= GIT_FOLDER || nested)
			enter_later(w, GIT, name);
	} else if (git_member_told(what) || type == DT_LNK) {
		check(w, f, name, what == GIT_CONFIG);
	}
}

static void note_link(void *arg, const char *link)
{
	struct walk *w = arg;

	if (w->m->way.n < GIT_HOOKS_MAX)
		git_hooks_note(&w->m->way, link);
}

/* Each link on the way to a folder of hooks decides which one it is, and so does what it leads to */
static void follow_hooks(struct walk *w)
{
	struct git_hooks *h = &w->m->hooks;
	struct link_view view = view_of(w);
	char path[PATH_MAX] AK_UNINIT, to[PATH_MAX] AK_UNINIT;
	char *list[GIT_HOOKS_MAX];
	size_t n = h->n;

	/* the list is put in another order meanwhile */
	for (size_t i = 0; i < n; i++)
		list[i] = strdup(h->path[i]);
	for (size_t i = 0; i < n; i++) {
		if (list[i] && snprintf(path, sizeof(path), "%s", list[i]) < (int)sizeof(path) &&
		    link_trail(&view, path, note_link, w, to) >= 0 && *to && strcmp(to, path) != 0 && h->n < GIT_HOOKS_MAX)
			git_hooks_note(h, to);
		free(list[i]);
	}
}

/* A repository below the top, while its working tree is read: its folder of hooks may have another name */
static void nested_hooks(struct walk *w, struct folder *f)
{
	struct git_hooks *h = &w->m->hooks;
	size_t before = h->n, len = w->len - strlen("/.git");
	bool unclear = h->unclear;
	char top[PATH_MAX] AK_UNINIT;

	if (f->depth == 0 || !h->workspace || f->hooks)
		return;
	if (snprintf(top, sizeof(top), "%s/%.*s", h->workspace, (int)len, w->path) >= (int)sizeof(top))
		return;
	git_hooks_add(h, top, h->workspace);
	if (h->n != before)
		follow_hooks(w);
	f->hooks = h->n != before || h->unclear != unclear;
}

static void plain_entry(struct walk *w, struct folder *f, const char *name, unsigned char type, uint64_t ino)
{
	enum protected_class class = protected_match(name);
	bool folder = is_folder(f, name, type);

	if (class < PROTECTED_BLOCK && (w->m->hooks.n > 0 || w->m->hooks.unclear) &&
	    (git_hooks_has(&w->m->hooks, w->path) || git_hooks_has(&w->m->way, w->path)))
		class = PROTECTED_BLOCK;
	f->bare |= strcmp(name, "HEAD") == 0 ? 1 : strcmp(name, "objects") == 0 ? 2 : strcmp(name, "refs") == 0 ? 4 : 0;
	if (w->r && class == PROTECTED_GIT)
		nested_hooks(w, f);
	if (!folder) {
		if (class != PROTECTED_NO)
			check(w, f, name, false);
		return;
	}
	if (!w->r && f->depth == 0)
		old_add(w->m, name, ino, 0);
	if (class == PROTECTED_GIT) {
		w->git |= f->depth == 0;
		enter_later(w, GIT, name);
	} else if (w->r) {
		enter_later(w, class == PROTECTED_BLOCK ? INSIDE : PLAIN, name);
	}
}

static void entry(struct walk *w, struct folder *f, const struct dirent64 *d)
{
	const char *name = d->d_name;
	size_t len;

	if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])))
		return;
	if (!path_push(w, name, &len))
		return;
	if (f->where == GIT)
		git_entry(w, f, name, d->d_type);
	else if (f->where == PLAIN)
		plain_entry(w, f, name, d->d_type, d->d_ino);
	else if (is_folder(f, name, d->d_type))
		enter_later(w, INSIDE, name);
	else
		check(w, f, name, false);
	path_pop(w, len);
}

static void read_folder(struct walk *w, struct folder *f)
{
	long n;

	while ((n = syscall(SYS_getdents64, f->fd, w->dents, sizeof(w->dents))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(w->dents + at);

			entry(w, f, d);
			at += d->d_reclen;
		}
	}
	if (n < 0 && w->r)
		w->r->cut = true;
}

/*
 * Was folder @g put here while the command ran? In the top folder it is known. Below: only where its parent's entries changed, and
 * its own ctime did for another reason than a change of its entries.
 */
static bool was_placed(const struct walk *w, const struct folder *parent, const struct statx *st)
{
	const struct protected_old *old;

	if (!w->r || !parent->changed || parent->placed)
		return parent->placed;
	if (parent->depth == 0 && !w->m->old_lost) {
		old = old_find(w->m, w->path);
		return !old || old->ino != st->stx_ino;
	}
	return since(w, ns_of(st->stx_ctime)) && ns_of(st->stx_ctime) != ns_of(st->stx_mtime);
}

/* A folder that the command has closed: what it holds cannot be told, so it is named itself */
static void tell_closed(struct walk *w, const struct folder *parent, const char *name)
{
	struct statx st;

	if (statx(parent->fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &st) == 0 &&
	    S_ISDIR(st.stx_mode) && since(w, ns_of(st.stx_ctime)))
		add(w, w->path, (st.stx_mask & STATX_BTIME) && since(w, ns_of(st.stx_btime)) ? PROTECTED_ADDED : PROTECTED_MODIFIED, false);
}

static void enter(struct walk *w, const struct folder *parent, enum where where, const char *name)
{
	struct folder f = {.where = where, .depth = parent->depth + 1, .git = parent->git, .as = parent->as, .loose = parent->loose};
	size_t before = w->r ? w->r->n + w->r->more : 0;
	struct statx st;
	AK_AUTO_FD fd = -1;

	if (w->r && (f.depth > PROTECTED_SCAN_DEPTH || ak_now_ns() > w->deadline_ns)) {
		w->r->cut = true;
		return;
	}
	fd = sys_openat2(parent->fd, name, OPEN_FOLDER, AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | no_xdev(w->m));
	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0) {
		/* gone meanwhile is no matter; another file system is what the header says */
		int e = w->r ? errno : ENOENT;

		if (e != ENOENT && e != ENOTDIR && e != ELOOP && e != EXDEV)
			w->r->cut = true;
		if (e == EACCES)
			tell_closed(w, parent, name);
		return;
	}
	if (w->m->cross && (st.stx_dev_major != w->dev_major || st.stx_dev_minor != w->dev_minor))
		return;
	f.fd = fd;
	if (where == GIT && parent->where != GIT) {
		f.git = w->len + 1;
		f.as = NULL;
		f.loose = false;
	}
	f.changed = since(w, ns_of(st.stx_ctime));
	f.placed = was_placed(w, parent, &st);
	scan_folder(w, &f);
	/* a protected folder from which something was taken, or an empty one */
	if (w->r && where == INSIDE && (f.changed || f.placed) && before == w->r->n + w->r->more)
		add(w, w->path, f.placed ? PROTECTED_ADDED : PROTECTED_MODIFIED, false);
}

static void enter_all(struct walk *w, struct folder *f, size_t from)
{
	size_t to = w->names.len;

	for (size_t at = from; at < to && !w->names.failed;) {
		const char *item = w->names.data + at;
		size_t n = strlen(item + 1), len;
		char name[NAME_MAX + 1];

		at += n + 2;
		if (n >= sizeof(name))
			continue;
		memcpy(name, item + 1, n + 1);	/* the list may move while we are in the folder */
		if (!path_push(w, name, &len))
			continue;
		enter(w, f, (enum where)item[0], name);
		path_pop(w, len);
	}
}

/* A folder becomes a repository by HEAD, refs and objects: what else is in it may be older and was not minded then */
static void made_bare(struct walk *w, struct folder *f)
{
	static const char *const parts[] = {"HEAD", "refs", "objects"};
	size_t before = w->r->n + w->r->more, len;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && before == w->r->n + w->r->more; i++) {
		struct statx st;

		if (!path_push(w, parts[i], &len))
			return;
		if (statx(f->fd, parts[i], AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_BTIME, &st) == 0 &&
		    (f->placed || ((st.stx_mask & STATX_BTIME) && since(w, ns_of(st.stx_btime)))))
			add(w, w->path, PROTECTED_ADDED, false);
		path_pop(w, len);
	}
}

static void scan_folder(struct walk *w, struct folder *f)
{
	size_t from = w->names.len;
	struct folder git;

	if (w->r)
		w->r->folders++;
	read_folder(w, f);
	if (f->hooks && lseek(f->fd, 0, SEEK_SET) == 0) {	/* what came before .git may lie in them */
		w->names.len = from;
		read_folder(w, f);
	}
	enter_all(w, f, from);
	w->names.len = from;
	if (f->where != PLAIN || f->bare != 7 || !w->r)
		return;
	/* a bare repository: read it again as what it is; what was found by its name counts all the same */
	git = *f;
	git.where = GIT;
	git.loose = true;
	git.git = w->len ? w->len + 1 : 0;
	if (lseek(f->fd, 0, SEEK_SET) == 0)
		read_folder(w, &git);
	made_bare(w, &git);
	enter_all(w, &git, from);
	w->names.len = from;
}

static char *read_file(const struct protected_mark *m, const char *path, size_t *ret_len)
{
	AK_AUTO_FD fd = sys_openat2(m->dir, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
				    AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | no_xdev(m));
	struct stat st;
	char *buf;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)PROTECTED_SCAN_CONFIG)
		return NULL;
	buf = malloc((size_t)st.st_size + 1);
	n = buf ? read(fd, buf, (size_t)st.st_size) : -1;
	if (n < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = '\0';
	*ret_len = (size_t)n;
	return buf;
}

/* was the folder read by its own name, or by another link already? */
static bool was_linked(const struct walk *w, size_t before, const char *item)
{
	for (size_t at = 0; at < before;) {
		const char *path = w->linked.data + at + 1, *as = path + strlen(path) + 1;

		if (w->linked.data[at] == *item && strcmp(path, item + 1) == 0)
			return true;
		at = (size_t)(as - w->linked.data) + strlen(as) + 1;
	}
	return false;
}

static void scan_linked(struct walk *w, enum where where, const char *path, const char *as)
{
	struct folder f = {.where = where, .depth = 1, .git = strlen(path) + (*path != '\0'), .as = *as ? as : NULL};
	struct statx st;
	AK_AUTO_FD fd = sys_openat2(w->m->dir, *path ? path : ".", OPEN_FOLDER, AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | no_xdev(w->m));

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0 ||
	    (w->m->cross && (st.stx_dev_major != w->dev_major || st.stx_dev_minor != w->dev_minor)))
		return;
	f.fd = fd;
	f.changed = since(w, ns_of(st.stx_ctime));
	w->len = strlen(path);
	memcpy(w->path, path, w->len + 1);
	scan_folder(w, &f);
}

/* folders that protected links lead to, and those that links in them do */
static void scan_all_linked(struct walk *w)
{
	char path[PATH_MAX] AK_UNINIT, as[PATH_MAX] AK_UNINIT;

	for (size_t at = 0; at < w->linked.len && !w->linked.failed;) {
		size_t begin = at;
		enum where where = (enum where)w->linked.data[at];

		/* the list may move meanwhile */
		(void)snprintf(path, sizeof(path), "%s", w->linked.data + ++at);
		at += strlen(path) + 1;
		(void)snprintf(as, sizeof(as), "%s", w->linked.data + at);
		at += strlen(as) + 1;
		if (ak_now_ns() > w->deadline_ns) {
			w->r->cut = true;
			return;
		}
		if (!was_linked(w, begin, w->linked.data + begin))
			scan_linked(w, where, path, as);
	}
}

/* what only the walk afterwards has to know */
static void begin_scan(struct walk *w, struct folder *top)
{
	const struct protected_mark *m = w->m;
	int64_t real, set = ahead(&real) - m->ahead_ns;
	struct statx st;

	w->deadline_ns = ak_now_ns() + PROTECTED_SCAN_MS * 1000000ull;
	if (set < -CLOCK_SET_NS)
		w->since_ns += set - CLOCK_SET_NS;
	top->changed = true;
	if (statx(m->dir, "", AT_EMPTY_PATH, STATX_CTIME, &st) < 0)
		return;
	w->dev_major = st.stx_dev_major;
	w->dev_minor = st.stx_dev_minor;
	top->changed = since(w, ns_of(st.stx_ctime));
}

/* Return: is there a git folder at the top? */
static bool walk_top(struct protected_mark *m, struct protected_report *r)
{
	struct walk w AK_UNINIT;	/* most of it is buffers */
	struct folder top = {.fd = m->dir};

	w.m = m;
	w.r = r;
	w.since_ns = m->start_ns;
	w.names = w.linked = (struct ak_buf){0};
	w.deadline_ns = 0;
	w.dev_major = w.dev_minor = 0;
	w.git = false;
	w.len = 0;
	w.path[0] = '\0';
	if (r)
		begin_scan(&w, &top);
	if (m->hooks.n > 0)
		follow_hooks(&w);
	/* the mark is made by whoever has just opened the folder */
	if (!r || lseek(m->dir, 0, SEEK_SET) == 0)
		scan_folder(&w, &top);
	if (r)
		scan_all_linked(&w);
	if (r && (w.names.failed || w.linked.failed))
		r->cut = true;
	ak_buf_release(&w.linked);
	ak_buf_release(&w.names);
	return w.git;
}

void protected_mark_set(struct protected_mark *m, int dir, struct git_hooks *hooks)
{
	*m = (struct protected_mark)PROTECTED_MARK_NONE;
	m->dir = dir;
	m->hooks = *hooks;
	*hooks = (struct git_hooks){0};
	if (walk_top(m, NULL))
		m->config = read_file(m, ".git/config", &m->config_len);
	if (m->nold)
		qsort(m->old, m->nold, sizeof(m->old[0]), by_path);
	m->ahead_ns = ahead(&m->start_ns);
}

void protected_scan(struct protected_mark *m, struct protected_report *ret)
{
	size_t configs = 0;

	if (m->dir < 0)
		return;
	walk_top(m, ret);
	for (size_t i = 0; i < ret->n; i++) {
		struct protected_change *c = &ret->list[i];

		if (!c->config)
			continue;
		if (configs++ < PROTECTED_SCAN_CONFIGS)
			c->text = read_file(m, c->path, &c->text_len);
		c->keys_unknown = !c->text;
	}
}

void protected_report_release(struct protected_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->list[i].path);
		free(r->list[i].text);
		for (char **k = r->list[i].keys; k && *k; k++)
			free(*k);
		free(r->list[i].keys);
	}
	*r = (struct protected_report){0};
}

void protected_mark_release(struct protected_mark *m)
{
	for (size_t i = 0; i < m->nold; i++)
		free(m->old[i].path);
	free(m->old);
	free(m->config);
	git_hooks_release(&m->hooks);
	git_hooks_release(&m->way);
	ak_fd_close(&m->dir);
	*m = (struct protected_mark)PROTECTED_MARK_NONE;
}
