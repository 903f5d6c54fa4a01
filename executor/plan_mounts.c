/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of planned mounts, and how a path will look through them. Process: executor. Privilege: none. */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_path.h"

#define VIEW_LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */

static void mount_free(struct plan_mount *m)
{
	free(m->src);
	free(m->dst);
	*m = (struct plan_mount){.src_fd = -1};
}

static bool list_grow(struct mount_list *l)
{
	size_t cap = l->cap ? l->cap * 2 : 32;
	struct plan_mount *v;

	if (l->n < l->cap)
		return true;
	if (l->n >= PLAN_MOUNTS_MAX) {
		l->error = -E2BIG;
		return false;
	}
	v = reallocarray(l->v, cap, sizeof(*v));
	if (!v) {
		l->error = -ENOMEM;
		return false;
	}
	l->v = v;
	l->cap = cap;
	return true;
}

void mount_move(struct mount_list *l, struct plan_mount *m)
{
	if (!list_grow(l)) {
		mount_free(m);
		return;
	}
	l->v[l->n++] = *m;
	*m = (struct plan_mount){.src_fd = -1};
}

struct plan_mount *mount_add(struct mount_list *l, const struct plan_mount *m)
{
	struct plan_mount copy = *m;
	size_t n = l->n;

	copy.src = m->src ? strdup(m->src) : NULL;
	copy.dst = strdup(m->dst);
	copy.src_fd = -1;
	if (!copy.dst || (m->src && !copy.src)) {
		mount_free(&copy);
		l->error = -ENOMEM;
		return NULL;
	}
	mount_move(l, &copy);
	return l->n > n ? &l->v[n] : NULL;
}

void mount_drop(struct mount_list *l, size_t i)
{
	mount_free(&l->v[i]);
	memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(l->v[0]));
	l->n--;
}

void mount_list_release(struct mount_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		mount_free(&l->v[i]);
	free(l->v);
	*l = (struct mount_list){0};
}

/* Insertion: the lists are short and nearly in order */
void mount_sort(struct mount_list *l)
{
	for (size_t i = 1; i < l->n; i++) {
		struct plan_mount m = l->v[i];
		unsigned depth = ak_path_depth(m.dst);
		size_t j = i;

		for (; j > 0 && ak_path_depth(l->v[j - 1].dst) > depth; j--)
			l->v[j] = l->v[j - 1];
		l->v[j] = m;
	}
}

static const struct plan_mount *deepest(const struct mount_list *l, const char *path,
					const struct plan_mount *best)
{
	size_t best_len = best ? strlen(best->dst) : 0;

	for (size_t i = 0; i < l->n; i++) {
		const char *dst = l->v[i].dst;
		size_t len;

		/* most differ in their first letter, and this is asked often */
		if (dst[1] != path[1] || !ak_path_below(path, dst))
			continue;
		len = strlen(dst);
		if (len >= best_len) {
			best = &l->v[i];
			best_len = len;
		}
	}
	return best;
}

const struct plan_mount *view_mount(const struct plan_ctx *c, const char *path)
{
	return deepest(&c->placed, path, deepest(&c->sys, path, NULL));
}

static bool any_below(const struct mount_list *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].dst[1] == path[1] && ak_path_below(l->v[i].dst, path) &&
		    strcmp(l->v[i].dst, path) != 0)
			return true;
	}
	return false;
}

static const char *rest_of(const char *path, const char *top)
{
	return strcmp(top, "/") == 0 ? path : path + strlen(top);
}

static enum view_kind on_host(struct view *v, const char *src, const char *rest)
{
	struct stat st;
	int n = snprintf(v->host, sizeof(v->host), "%s%s", strcmp(src, "/") == 0 && *rest ? "" : src, rest);

	if (n < 0 || (size_t)n >= sizeof(v->host) || lstat(v->host, &st) < 0) {
		if (n < 0 || (size_t)n >= sizeof(v->host))
			v->host[0] = '\0';
		return VIEW_MISSING;
	}
	if (S_ISLNK(st.st_mode))
		return VIEW_LINK;
	return S_ISDIR(st.st_mode) ? VIEW_DIR : VIEW_FILE;
}

/* v->path holds one more component of a path whose parents are known to have no links */
static void view_step(const struct plan_ctx *c, struct view *v)
{
	const struct plan_mount *m = view_mount(c, v->path);
	bool top = m && strcmp(m->dst, v->path) == 0;

	v->m = m;
	v->host[0] = '\0';
	if (!m && c->p->root == PLAN_ROOT_OVERLAY)
		v->kind = on_host(v, c->p->rootfs, v->path);
	else if (m && (m->kind == PM_BIND || m->kind == PM_DEVNODE))
		v->kind = on_host(v, m->src, rest_of(v->path, m->dst));
	else if (m && m->kind == PM_SYMLINK)
		v->kind = VIEW_LINK;
	else if (m && m->kind == PM_FILE)
		v->kind = VIEW_FILE;
	else if (top)
		v->kind = VIEW_DIR;
	else if (m && (m->kind == PM_PROC || m->kind == PM_DEV))
		v->kind = VIEW_OPAQUE;
	else
		v->kind = VIEW_MISSING;
	/* the mount code makes the parents of every target */
	if (v->kind == VIEW_MISSING && (any_below(&c->sys, v->path) || any_below(&c->placed, v->path)))
		v->kind = VIEW_DIR;
}

/* Put the link's text in front of what is still to be walked. @todo has PATH_MAX bytes, @at is where its rest
 * starts. */
static int view_follow(struct view *v, char *todo, const char *at)
{
	char link[PATH_MAX] AK_UNINIT, joined[PATH_MAX] AK_UNINIT;
	char *slash = strrchr(v->path, '/');
	ssize_t len;
	int n;

	if (v->m && v->m->kind == PM_SYMLINK) {
		n = snprintf(link, sizeof(link), "%s", v->m->src);
		len = n;
	} else {
		len = readlink(v->host, link, sizeof(link) - 1);
		if (len >= 0)
			link[len] = '\0';
		v->foreign_link |= v->m && !(v->m->flags & PMF_SYSTEM);
	}
	if (len <= 0 || (size_t)len >= sizeof(link))
		return -ELOOP;
	*slash = '\0';
	n = snprintf(joined, sizeof(joined), "%s/%s%s", link[0] == '/' ? "" : v->path, link, at);
	if (n < 0 || (size_t)n >= sizeof(joined))
		return -ENAMETOOLONG;

	char *clean = ak_path_normalize("/", joined);

	/* ".." is taken lexically; that differs from the kernel only behind a second link, which the mount
	 * code refuses */
	if (!clean)
		return -ENAMETOOLONG;
	memcpy(todo, clean, strlen(clean) + 1);
	free(clean);
	return 0;
}

int view_resolve(const struct plan_ctx *c, const char *path, struct view *ret)
{
	char todo[PATH_MAX] AK_UNINIT;
	size_t pos = 0, out = 0;
	unsigned links = 0;

	if (strlen(path) >= sizeof(todo))
		return -ENAMETOOLONG;
	memcpy(todo, path, strlen(path) + 1);
	ret->foreign_link = false;
	ret->path[0] = '\0';
	while (todo[pos] == '/' && todo[pos + 1] != '\0') {
		size_t len = 1 + strcspn(todo + pos + 1, "/");

		if (out + len >= sizeof(ret->path))
			return -ENAMETOOLONG;
		memcpy(ret->path + out, todo + pos, len);
		ret->path[out + len] = '\0';
		pos += len;
		view_step(c, ret);
		if (ret->kind == VIEW_LINK) {
			int r = ++links > VIEW_LINKS_MAX ? -ELOOP : view_follow(ret, todo, todo + pos);

			if (r < 0)
				return r;
			pos = out = 0;
			ret->path[0] = '\0';
			continue;
		}
		out += len;
	}
	if (out == 0) {
		memcpy(ret->path, "/", 2);
		ret->kind = VIEW_DIR;
		ret->host[0] = '\0';
		ret->m = NULL;
	}
	return 0;
}

static bool host_at(const char *host, const char *src, const char *dst, char *ret)
{
	int n;

	if (!ak_path_below(host, src))
		return false;
	n = snprintf(ret, PATH_MAX, "%s%s", dst, rest_of(host, src));
	return n > 0 && n < PATH_MAX;
}

bool view_of_host(const struct plan_ctx *c, const char *host, char *ret)
{
	const struct mount_list *const lists[] = {&c->placed, &c->sys};

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = lists[k]->n; i > 0; i--) {
			const struct plan_mount *m = &lists[k]->v[i - 1];

			if (m->kind == PM_BIND && host_at(host, m->src, m->dst, ret) &&
			    view_mount(c, ret) == m)
				return true;
		}
	}
	return c->p->root == PLAN_ROOT_OVERLAY && host_at(host, c->p->rootfs, "", ret);
}
