/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a tree by descriptors, one folder open at a time. Any process; privilege: the caller's.
 *
 * A folder is read whole, sorted and closed before the next is opened, and each is opened by its whole path beneath the root:
 * so the number of descriptors does not depend on the depth, and a folder that is moved while the walk goes on cannot lead it out.
 */
#include "executor/workspace/walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

struct folder {
	char *path;
	size_t known;		/* of struct ws_known; WS_UNKNOWN */
};

struct walk {
	int root;
	ws_visit_fn visit;
	ws_trouble_fn trouble;
	const struct ws_known *names;
	void *arg;
	struct ak_err *err;
	struct folder *todo;	/* folders still to be read: a stack */
	size_t ntodo, cap;
	size_t entries, bytes;
	struct ws_ident *id;	/* of a folder whose names are known */
	size_t idcap;
};

/* names of one folder */
struct names {
	char *text;
	size_t len, cap;
	size_t *at;
	size_t n, ncap;
};

static int too_big(struct walk *w, const char *what, unsigned max)
{
	return ak_err_set(w->err, E2BIG, "the tree has more than %u %s", max, what);
}

static int no_memory(struct walk *w)
{
	return ak_err_set(w->err, ENOMEM, "not enough memory to walk the tree");
}

static int count_bytes(struct walk *w, size_t n)
{
	w->bytes += n;
	return w->bytes > WS_WALK_BYTES_MAX ? too_big(w, "bytes of names to be kept in memory", WS_WALK_BYTES_MAX) : 0;
}

static int push(struct walk *w, char *path, size_t known)
{
	int r;

	if (!path)
		return no_memory(w);
	r = count_bytes(w, strlen(path) + 1);
	if (r < 0) {
		free(path);
		return r;
	}
	if (!w->todo || w->ntodo == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 64;
		struct folder *v = reallocarray(w->todo, cap, sizeof(*v));

		if (!v) {
			free(path);
			return no_memory(w);
		}
		w->todo = v;
		w->cap = cap;
	}
	w->todo[w->ntodo++] = (struct folder){ .path = path, .known = known };
	return 0;
}

static int trouble(struct walk *w, const char *path, int code)
{
	if (w->trouble)
		return w->trouble(w->arg, path, code, w->err);
	return ak_err_sys(w->err, code, "read folder \"%.200s\"", *path ? path : ".");
}

static bool names_add(struct names *ns, const char *name)
{
	size_t n = strlen(name) + 1;

	if (ns->len + n > ns->cap) {
		size_t cap = ns->cap ? ns->cap * 2 : 4096;
		char *text = realloc(ns->text, cap);

		if (!text)
			return false;
		ns->text = text;
		ns->cap = cap;
	}
	if (ns->n == ns->ncap) {
		size_t cap = ns->ncap ? ns->ncap * 2 : 128;
		size_t *at = reallocarray(ns->at, cap, sizeof(*at));

		if (!at)
			return false;
		ns->at = at;
		ns->ncap = cap;
	}
	memcpy(ns->text + ns->len, name, n);
	ns->at[ns->n++] = ns->len;
	ns->len += n;
	return true;
}

static void names_release(struct names *ns)
{
	free(ns->text);
	free(ns->at);
}

static int by_bytes(const void *a, const void *b, void *text)
{
	return strcmp((const char *)text + *(const size_t *)a, (const char *)text + *(const size_t *)b);
}

/* Return: 0, a negative errno that ends the walk, or the positive one that reading the folder gave: what was read is not all of it */
static int read_names(struct walk *w, int fd, struct names *ns)
{
	struct ak_dir d AK_UNINIT;
	const char *name;
	unsigned char type;

	d.fd = fd;
	d.pos = d.len = 0;
	d.error = 0;
	while (ak_dir_next(&d, &name, &type)) {
		if (++w->entries > WS_WALK_ENTRIES_MAX)
			return too_big(w, "entries", WS_WALK_ENTRIES_MAX);
		if (ns->len > WS_WALK_BYTES_MAX)
			return too_big(w, "bytes of names in one folder", WS_WALK_BYTES_MAX);
		if (!names_add(ns, name))
			return no_memory(w);
	}
	if (ns->n > 0)
		qsort_r(ns->at, ns->n, sizeof(ns->at[0]), by_bytes, ns->text);
	return d.error == ENOENT ? 0 : d.error;	/* ENOENT: removed meanwhile */
}

/* a folder that is being visited; @path holds its own path in the first @at bytes, with its slash */
struct place {
	struct walk *w;
	int fd;
	size_t at;
	char path[WS_PATH_MAX + 2];
};

/* Return: 1: @name is there, 0: it is not, or the trouble with it has been told; else what ends the walk */
static int look(struct place *p, const char *name, struct ws_ident *ret)
{
	size_t n = strlen(name);
	int r;

	p->path[p->at] = '\0';
	if (p->at + n > WS_PATH_MAX)
		return trouble(p->w, p->path, ENAMETOOLONG);
	memcpy(p->path + p->at, name, n + 1);
	r = ws_stat(p->fd, name, ret);
	return r < 0 ? trouble(p->w, p->path, -r) : ret->mode != 0;
}

/* the entry whose path is in @p */
static int visit_one(struct place *p, const struct ws_ident *id)
{
	size_t known = WS_UNKNOWN;
	struct ws_entry e = { .path = p->path, .name = p->path + p->at, .dir = p->fd, .id = *id, .known = &known };
	int r = p->w->visit(p->w->arg, &e, p->w->err);

	return r == WS_GO_ON && S_ISDIR(id->mode) ? push(p->w, strdup(p->path), known) : r < 0 ? r : 0;
}

static int visit_read(struct place *p)
{
	struct names ns = { 0 };
	int r = read_names(p->w, p->fd, &ns);

	if (r > 0) {
		p->path[p->at] = '\0';
		r = trouble(p->w, p->path, r);
	}
	for (size_t i = 0; r == 0 && i < ns.n; i++) {
		struct ws_ident id AK_UNINIT;

		r = look(p, ns.text + ns.at[i], &id);
		if (r > 0)
			r = visit_one(p, &id);
	}
	names_release(&ns);
	return r;
}

static int keep_id(struct walk *w, size_t i, const struct ws_ident *id)
{
	if (i == w->idcap) {
		size_t cap = i ? i * 2 : 256;
		struct ws_ident *v = reallocarray(w->id, cap, sizeof(*v));

		if (!v)
			return no_memory(w);
		w->id = v;
		w->idcap = cap;
	}
	w->id[i] = *id;
	return 0;
}

/* All of them are looked at before the first is visited. Return: 0, 1: it has to be read, or a negative errno */
static int visit_known(struct place *p, size_t folder)
{
	const struct ws_known *k = p->w->names;
	struct ws_ident id AK_UNINIT;
	const char *name;
	size_t n = 0;
	int r = ws_fstat(p->fd, &id);

	if (r < 0 || !k->same(p->w->arg, folder, &id))
		return 1;
	for (; (name = k->name(p->w->arg, folder, n)) != NULL; n++) {
		if (p->at + strlen(name) > WS_PATH_MAX)
			return 1;
		if (!k->seen(p->w->arg, folder, n, &id) && (ws_stat(p->fd, name, &id) < 0 || !id.mode))
			return 1;
		r = keep_id(p->w, n, &id);
		if (r < 0)
			return r;
	}
	p->w->entries += n;
	if (p->w->entries > WS_WALK_ENTRIES_MAX)
		return too_big(p->w, "entries", WS_WALK_ENTRIES_MAX);
	for (size_t i = 0; r == 0 && i < n; i++) {
		name = k->name(p->w->arg, folder, i);
		memcpy(p->path + p->at, name, strlen(name) + 1);
		r = visit_one(p, &p->w->id[i]);
	}
	return r;
}

static int visit_folder(struct walk *w, int fd, const struct folder *f)
{
	struct place p AK_UNINIT;
	size_t first = w->ntodo;
	int r = 1;

	p.w = w;
	p.fd = fd;
	p.at = strlen(f->path);
	memcpy(p.path, f->path, p.at);
	if (p.at > 0)
		p.path[p.at++] = '/';
	if (f->known != WS_UNKNOWN)
		r = visit_known(&p, f->known);
	if (r == 1)
		r = visit_read(&p);
	/* the stack gives them back from its end: turn them round, so that they come in order */
	for (size_t i = first, k = w->ntodo; i + 1 < k; i++) {
		struct folder t = w->todo[i];

		w->todo[i] = w->todo[--k];
		w->todo[k] = t;
	}
	return r;
}

static int next_folder(struct walk *w)
{
	struct folder f = w->todo[--w->ntodo];
	AK_AUTO_FD fd = ws_open_dir(w->root, f.path);
	int r;

	w->bytes -= strlen(f.path) + 1;
	if (fd == -ENOENT || fd == -ENOTDIR)
		r = 0;	/* gone, or something else by now */
	else
		r = fd < 0 ? trouble(w, f.path, -fd) : visit_folder(w, fd, &f);
	free(f.path);
	return r;
}

int ws_walk_known(int root, const char *start, ws_visit_fn visit, ws_trouble_fn trouble_fn, const struct ws_known *known, void *arg,
		  struct ak_err *err)
{
	struct walk w = { .root = root, .visit = visit, .trouble = trouble_fn, .names = known, .arg = arg, .err = err };
	int r = push(&w, strdup(start), WS_UNKNOWN);

	while (r == 0 && w.ntodo > 0)
		r = next_folder(&w);
	while (w.ntodo > 0)
		free(w.todo[--w.ntodo].path);
	free(w.todo);
	free(w.id);
	return r;
}

int ws_walk(int root, const char *start, ws_visit_fn visit, ws_trouble_fn trouble_fn, void *arg, struct ak_err *err)
{
	return ws_walk_known(root, start, visit, trouble_fn, NULL, arg, err);
}
