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

struct walk {
	int root;
	ws_visit_fn visit;
	ws_trouble_fn trouble;
	void *arg;
	struct ak_err *err;
	char **todo;		/* paths of folders still to be read: a stack */
	size_t ntodo, cap;
	size_t entries, bytes;
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

static int push(struct walk *w, char *path)
{
	int r = path ? count_bytes(w, strlen(path) + 1) : no_memory(w);

	if (r == 0 && w->ntodo == w->cap) {
		size_t cap = w->cap ? w->cap * 2 : 64;
		char **v = reallocarray(w->todo, cap, sizeof(*v));

		if (v) {
			w->todo = v;
			w->cap = cap;
		} else {
			r = no_memory(w);
		}
	}
	if (r < 0) {
		free(path);
		return r;
	}
	w->todo[w->ntodo++] = path;
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

static int read_names(struct walk *w, int fd, struct names *ns)
{
	struct ak_dir d AK_UNINIT;
	const char *name;
	unsigned char type;

	d.fd = fd;
	d.pos = d.len = 0;
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
	return 0;
}

/* @path has room for WS_PATH_MAX + 1 bytes and holds the folder's path in its first @at bytes */
static int visit_one(struct walk *w, int fd, char *path, size_t at, const char *name, bool *ret_enter)
{
	struct ws_entry e = { .path = path, .name = path + at, .dir = fd };
	size_t n = strlen(name);
	int r;

	*ret_enter = false;
	if (at + n > WS_PATH_MAX)
		return trouble(w, path, ENAMETOOLONG);
	memcpy(path + at, name, n + 1);
	r = ws_stat(fd, name, &e.id);
	if (r < 0)
		return trouble(w, path, -r);
	if (!e.id.mode)
		return 0;
	r = w->visit(w->arg, &e, w->err);
	*ret_enter = r == WS_GO_ON && S_ISDIR(e.id.mode);
	return r < 0 ? r : 0;
}

static int visit_folder(struct walk *w, int fd, const char *folder)
{
	char path[WS_PATH_MAX + 2] AK_UNINIT;
	size_t at = strlen(folder), first = w->ntodo;
	struct names ns = { 0 };
	int r = read_names(w, fd, &ns);

	memcpy(path, folder, at);
	if (at > 0)
		path[at++] = '/';
	for (size_t i = 0; r == 0 && i < ns.n; i++) {
		bool enter;

		path[at] = '\0';
		r = visit_one(w, fd, path, at, ns.text + ns.at[i], &enter);
		if (r == 0 && enter)
			r = push(w, strdup(path));
	}
	names_release(&ns);
	/* the stack gives them back from its end: turn them round, so that they come in order */
	for (size_t i = first, k = w->ntodo; i + 1 < k; i++) {
		char *t = w->todo[i];

		w->todo[i] = w->todo[--k];
		w->todo[k] = t;
	}
	return r;
}

static int next_folder(struct walk *w)
{
	char *path = w->todo[--w->ntodo];
	AK_AUTO_FD fd = ws_open_dir(w->root, path);
	int r;

	w->bytes -= strlen(path) + 1;
	if (fd == -ENOENT || fd == -ENOTDIR)
		r = 0;	/* gone, or something else by now */
	else
		r = fd < 0 ? trouble(w, path, -fd) : visit_folder(w, fd, path);
	free(path);
	return r;
}

int ws_walk(int root, const char *start, ws_visit_fn visit, ws_trouble_fn trouble_fn, void *arg, struct ak_err *err)
{
	struct walk w = { .root = root, .visit = visit, .trouble = trouble_fn, .arg = arg, .err = err };
	int r = push(&w, strdup(start));

	while (r == 0 && w.ntodo > 0)
		r = next_folder(&w);
	while (w.ntodo > 0)
		free(w.todo[--w.ntodo]);
	free(w.todo);
	return r;
}
