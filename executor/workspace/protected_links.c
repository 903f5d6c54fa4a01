/* SPDX-License-Identifier: Apache-2.0 */
/* Marks what protected links lead to. Process and privilege: see the header. */
#include "executor/workspace/protected_links.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/git_member.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/link_trail.h"
#include "executor/workspace/protected_place.h"

#define DENTS_BYTES 32768u

/* @to, and all in it, is also called @by */
struct led {
	char *to, *by;	/* owned */
};

struct links {
	struct link_view before, after;
	const struct protected_place *place;
	struct led v[PROTECTED_LINKS_MAX];
	size_t n;
	bool full;		/* there are more */
	bool failed;		/* memory ran out */
	size_t folders;		/* looked at */
	struct ak_buf queue;	/* folders still to be read: path, NUL, what it is called by, NUL */
	const char *by;		/* of the link that is followed */
	_Alignas(8) char dents[DENTS_BYTES];
};

/* Return: what of @path is behind @top, "" for itself; NULL: it is elsewhere */
static const char *behind(const char *path, const char *top)
{
	size_t n = strlen(top);

	if (!path || n == 0)
		return path;
	if (strncasecmp(path, top, n) != 0 || (path[n] && path[n] != '/'))
		return NULL;
	return path + n + (path[n] == '/');
}

static void queue_folder(struct links *l, const char *path, const char *by)
{
	ak_buf_add(&l->queue, path, strlen(path) + 1);
	ak_buf_add(&l->queue, by, strlen(by) + 1);
}

/* Return: is it new? A link into what the same name has led to already ("self -> .") is not */
static bool lead(struct links *l, const char *to, const char *by)
{
	struct led one;

	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->v[i].to, to) == 0 && behind(by, l->v[i].by))
			return false;
	}
	l->full |= l->n == PROTECTED_LINKS_MAX;
	if (l->full)
		return false;
	one = (struct led){strdup(to), strdup(by)};
	if (!one.to || !one.by) {
		free(one.to);
		free(one.by);
		l->failed = true;
		return false;
	}
	l->v[l->n++] = one;
	return true;
}

static void on_link(void *arg, const char *link)
{
	struct links *l = arg;

	if (strcmp(link, l->by) != 0)
		(void)lead(l, link, l->by);
}

/* @path is a link that is protected as @by */
static void follow(struct links *l, const char *path, const char *by)
{
	const struct link_view *views[] = {&l->before, &l->after};
	char to[PATH_MAX] AK_UNINIT;

	l->by = by;
	for (size_t i = 0; i < 2 && !l->full; i++) {
		int type = link_trail(views[i], path, on_link, l, to);

		/* what it leads to may be a folder in one view, and reached in the other */
		if (type >= 0 && strcmp(to, by) != 0 && lead(l, to, by))
			queue_folder(l, to, by);
	}
}

/* the part of @by behind its last ".git"; NULL: it is in none */
static const char *in_git(const char *by)
{
	const char *found = NULL;

	for (const char *p = by; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 4 && strncasecmp(p, ".git", 4) == 0)
			found = p + n + (p[n] == '/');
		p += n + (p[n] == '/');
	}
	return found;
}

/* can there be links that matter in the folder? In git's own store there are none */
static bool wanted(const struct links *l, const char *by)
{
	char full[2 * PATH_MAX] AK_UNINIT;
	const char *rest;

	if (snprintf(full, sizeof(full), "%s/%s", l->place->prefix, by) >= (int)sizeof(full))
		return false;
	rest = in_git(full);
	return !rest || !*rest || git_member(rest) >= GIT_FOLDER || git_member_nested(rest);
}

static bool is_protected_link(const struct links *l, const char *by)
{
	const char *rest = in_git(by);

	/* in a git folder a link to a folder may hold what matters, whatever it is by itself */
	return protected_place_change(l->place, by, false) != PROTECTED_NO || (rest && *rest && git_member(rest) >= GIT_FOLDER);
}

static void entry(struct links *l, const char *path, const char *by, const char *name, unsigned char type, int dir)
{
	char sub[PATH_MAX] AK_UNINIT, sub_by[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (type == DT_UNKNOWN && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_REG;
	if ((type != DT_DIR && type != DT_LNK) || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	if (snprintf(sub, sizeof(sub), "%s%s%s", path, *path ? "/" : "", name) >= (int)sizeof(sub) ||
	    snprintf(sub_by, sizeof(sub_by), "%s%s%s", by, *by ? "/" : "", name) >= (int)sizeof(sub_by))
		return;
	if (type == DT_LNK && is_protected_link(l, sub_by))
		follow(l, sub, sub_by);
	else if (type == DT_DIR && wanted(l, sub_by))
		queue_folder(l, sub, sub_by);
}

static void read_folder(struct links *l, const char *path, const char *by)
{
	AK_AUTO_FD fd = sys_openat2(l->before.lower, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
				    AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_XDEV);
	long n;

	/* what may not be read leads nowhere that a command could have reached, and no file is a folder */
	while (fd >= 0 && (n = syscall(SYS_getdents64, fd, l->dents, sizeof(l->dents))) > 0) {
		for (long at = 0; at < n;) {
			const struct dirent64 *d = (const struct dirent64 *)(l->dents + at);

			entry(l, path, by, d->d_name, d->d_type, fd);
			at += d->d_reclen;
		}
	}
}

/* outer folders first */
static void read_all(struct links *l, size_t *at)
{
	char path[PATH_MAX] AK_UNINIT, by[PATH_MAX] AK_UNINIT;

	while (*at < l->queue.len && !l->queue.failed && l->folders++ < PROTECTED_LINKS_FOLDERS) {
		/* the queue may move meanwhile */
		(void)snprintf(path, sizeof(path), "%s", l->queue.data + *at);
		*at += strlen(path) + 1;
		(void)snprintf(by, sizeof(by), "%s", l->queue.data + *at);
		*at += strlen(by) + 1;
		read_folder(l, path, by);
	}
}

/* @ret_by: PATH_MAX * 2 bytes, the name that makes it so; "": none. Return: what a change of @path is by the names that lead to it */
static enum protected_class led_class(const struct links *l, const char *path, bool folder, char *ret_by)
{
	enum protected_class best = PROTECTED_NO;
	char by[2 * PATH_MAX] AK_UNINIT;

	*ret_by = '\0';
	if (l->full)
		return folder ? PROTECTED_NO : PROTECTED_BLOCK;
	for (size_t i = 0; i < l->n && best < PROTECTED_BLOCK; i++) {
		const char *rest = behind(path, l->v[i].to);
		enum protected_class class;

		if (!rest || snprintf(by, sizeof(by), "%s%s%s", l->v[i].by, *rest ? "/" : "", rest) >= (int)sizeof(by))
			continue;
		class = protected_place_change(l->place, by, folder);
		if (class <= best)
			continue;
		best = class;
		memcpy(ret_by, by, strlen(by) + 1);
	}
	return best;
}

static bool is_folder(const struct change *c)
{
	return (!c->old.mode || S_ISDIR(c->old.mode)) && (!c->now.mode || S_ISDIR(c->now.mode));
}

/* new links: by their names, and by those that lead to them, until there is nothing more */
static void follow_new(struct links *l, const struct journal *j, size_t *at)
{
	char by[2 * PATH_MAX] AK_UNINIT;
	size_t before;

	do {
		before = l->n;
		for (size_t i = 0; i < j->n; i++) {
			const char *path = j->v[i].path;

			if (!S_ISLNK(j->v[i].now.mode))
				continue;
			if (is_protected_link(l, path))
				follow(l, path, path);
			for (size_t k = 0; k < before; k++) {
				const char *rest = behind(path, l->v[k].to);

				if (rest && *rest && snprintf(by, sizeof(by), "%s/%s", l->v[k].by, rest) < PATH_MAX && is_protected_link(l, by))
					follow(l, path, by);
			}
		}
		read_all(l, at);
	} while (l->n > before && !l->full && !l->failed);
}

static int mark(const struct links *l, struct journal *j)
{
	char by[2 * PATH_MAX] AK_UNINIT;
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		struct change *c = &j->v[i];
		enum protected_class class;
		bool named = c->flags & CHANGE_LISTED;

		if (c->flags & CHANGE_PROTECTED)
			continue;
		class = led_class(l, c->path, is_folder(c), by);
		if (class >= PROTECTED_BLOCK)
			c->flags = (uint8_t)((c->flags & ~(unsigned)CHANGE_LISTED) | CHANGE_PROTECTED);
		else if (class == PROTECTED_LIST)
			c->flags |= CHANGE_LISTED;
		if (*by && (class >= PROTECTED_BLOCK || (class == PROTECTED_LIST && !named)))
			r = journal_set_by(j, i, by);
	}
	return r;
}

static bool has_ordinary(const struct journal *j)
{
	for (size_t i = 0; i < j->n; i++) {
		if (!(j->v[i].flags & CHANGE_PROTECTED) && !is_folder(&j->v[i]))
			return true;
	}
	return false;
}

int protected_links_mark(int upper, int lower, const struct protected_place *place, struct journal *j, struct ak_err *err)
{
	struct links *l = has_ordinary(j) ? calloc(1, sizeof(*l)) : NULL;
	size_t at = 0;
	int r = 0;

	if (!l)
		return has_ordinary(j) ? ak_err_set(err, ENOMEM, "not enough memory for the changes") : 0;
	l->before = (struct link_view){.lower = lower, .upper = -1, .workspace = place->workspace};
	l->after = (struct link_view){.lower = lower, .upper = upper, .workspace = place->workspace};
	l->place = place;
	queue_folder(l, "", "");
	read_all(l, &at);
	for (size_t i = 0; i < place->hooks.n; i++) {
		if (*place->hooks.path[i])
			follow(l, place->hooks.path[i], place->hooks.path[i]);
	}
	read_all(l, &at);
	follow_new(l, j, &at);
	if (l->failed || l->queue.failed || mark(l, j) < 0)
		r = ak_err_set(err, ENOMEM, "not enough memory for the changes");
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].to);
		free(l->v[i].by);
	}
	ak_buf_release(&l->queue);
	free(l);
	return r;
}
