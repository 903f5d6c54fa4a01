/* SPDX-License-Identifier: Apache-2.0 */
/* What stands against taking changes over: looks, changes nothing. Process and privilege: see apply.h. */
#include "executor/workspace/apply.h"

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
#include "executor/workspace/compare.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/protected_place.h"
#include "executor/workspace/scan.h"

static bool is_dir(const struct ws_ident *id)
{
	return S_ISDIR(id->mode);
}

bool apply_match(char *const *paths, const char *path)
{
	for (; paths && *paths; paths++) {
		size_t n = strlen(*paths);

		if (n == 0 || (strncmp(path, *paths, n) == 0 && (path[n] == '\0' || path[n] == '/')))
			return true;
	}
	return false;
}

static size_t index_of(const struct apply *a, const struct change *c)
{
	return (size_t)(c - a->j->v);
}

/* folders that a chosen path needs and that the changes make are chosen with it */
static void choose_parents(struct apply *a, const char *path)
{
	char up[WS_PATH_MAX + 1] AK_UNINIT;
	char *slash;

	(void)snprintf(up, sizeof(up), "%s", path);
	while ((slash = strrchr(up, '/'))) {
		const struct change *c;

		*slash = '\0';
		c = journal_find(a->j, up);
		if (c && is_dir(&c->now) && !is_dir(&c->old))
			a->state[index_of(a, c)] = APPLY_DO;
	}
}

static int choose(struct apply *a, struct ak_err *err)
{
	for (size_t i = 0; i < a->j->n; i++)
		if (!a->paths || apply_match(a->paths, a->j->v[i].path))
			a->state[i] = APPLY_DO;
	for (size_t i = 0; a->paths && i < a->j->n; i++)
		if (a->state[i] == APPLY_DO)
			choose_parents(a, a->j->v[i].path);
	for (char *const *p = a->paths; p && *p; p++) {
		char *const one[] = { *p, NULL };
		bool hit = false;

		for (size_t i = 0; !hit && i < a->j->n; i++)
			hit = apply_match(one, a->j->v[i].path);
		if (!hit)
			return ak_err_set(err, ENOENT, "nothing was changed at \"%.200s\"", *p);
	}
	return 0;
}

/* is the workspace at this path as the change wants it? */
static bool is_done(const struct apply *a, const struct change *c, const struct ws_ident *cur)
{
	const char *name;
	AK_AUTO_FD dir = -1;

	if (!c->now.mode)
		return !cur->mode;
	if ((cur->mode & S_IFMT) != (c->now.mode & S_IFMT))
		return false;
	if (!S_ISLNK(cur->mode) && (cur->mode & 07777) != ws_safe_mode(c->now.mode))
		return false;
	if (is_dir(cur))
		return true;
	dir = ws_open_parent(a->upper, c->path, &name);
	return dir >= 0 && compare_files(dir, name, &c->now, a->lower, c->path, cur, SCAN_COMPARE_MAX) == COMPARE_SAME;
}

/* may the change be made over what is there now? */
static bool fits(const struct change *c, const struct ws_ident *cur)
{
	if (c->flags & CHANGE_TOUCHED)
		return false;
	if (!c->old.mode)
		return !cur->mode || (is_dir(cur) && is_dir(&c->now));	/* two made the same folder: no harm in that */
	return ws_same(&c->old, cur);
}

/* a folder that goes must hold nothing but what goes with it: its state by that */
static enum apply_state all_goes(const struct apply *a, const struct change *c)
{
	struct ak_dir d AK_UNINIT;
	char path[WS_PATH_MAX + WS_NAME_MAX + 2] AK_UNINIT;
	size_t n = strlen(c->path);
	const char *name;
	unsigned char type;
	enum apply_state s = APPLY_DO;

	d = (struct ak_dir){ .fd = ws_open_dir(a->lower, c->path) };
	if (d.fd < 0)
		return s;	/* removing it tells */
	memcpy(path, c->path, n);
	path[n++] = '/';
	while (s == APPLY_DO && ak_dir_next(&d, &name, &type)) {
		const struct change *in;

		(void)snprintf(path + n, sizeof(path) - n, "%s", name);
		in = journal_find(a->j, path);
		if (in && !in->now.mode && a->state[index_of(a, in)] == APPLY_PROTECTED)
			s = APPLY_PROTECTED;	/* stays, and so does its folder */
		else if (!in || in->now.mode || a->state[index_of(a, in)] != APPLY_DO)
			s = APPLY_CONFLICT;
	}
	ak_dir_close(&d);
	return s;
}

/* the folder that a new file goes into: there, or made by these changes */
static enum apply_state has_parent(const struct apply *a, const struct change *c)
{
	const char *name;
	AK_AUTO_FD dir = ws_open_parent(a->lower, c->path, &name);
	char up[WS_PATH_MAX + 1] AK_UNINIT;
	const struct change *p;

	if (dir >= 0)
		return APPLY_DO;
	(void)snprintf(up, sizeof(up), "%s", c->path);
	*strrchr(up, '/') = '\0';
	p = journal_find(a->j, up);
	if (!p || !is_dir(&p->now))
		return APPLY_CONFLICT;
	return a->state[index_of(a, p)] == APPLY_PROTECTED ? APPLY_PROTECTED :
	       a->state[index_of(a, p)] == APPLY_DO ? APPLY_DO : APPLY_CONFLICT;
}

static enum apply_state held_back(const struct apply *a, const struct change *c)
{
	if (c->flags & CHANGE_SPECIAL)
		return APPLY_SPECIAL;
	if ((c->flags & CHANGE_PROTECTED) && !protected_place_taken(a->prefix, a->allow, c->path) &&
	    !protected_place_taken(a->prefix, a->paths, c->path))
		return APPLY_PROTECTED;
	return APPLY_DO;
}

/* half of a change of type: the old file is gone, and the new one is not there yet or is a folder without its own mode */
static bool is_half_done(const struct apply *a, struct change *c, const struct ws_ident *cur)
{
	if (!a->resumed || c->op != CHANGE_TYPE || (cur->mode && !(is_dir(cur) && is_dir(&c->now))))
		return false;
	c->old = *cur;
	return true;
}

/* overwriting is asked for; a folder in the way of a file may hold what nobody has seen */
static enum apply_state forced(const struct apply *a, struct change *c, const struct ws_ident *cur)
{
	if (!a->force || (is_dir(cur) && !is_dir(&c->now) && !is_dir(&c->old)))
		return APPLY_CONFLICT;
	c->old = *cur;
	c->flags &= (uint8_t)~CHANGE_TOUCHED;
	return APPLY_DO;
}

static enum apply_state look(const struct apply *a, struct change *c)
{
	struct ws_ident cur;
	enum apply_state s = held_back(a, c);

	if (s != APPLY_DO && s != APPLY_PROTECTED)
		return s;
	if (ws_stat_beneath(a->lower, c->path, &cur) < 0)
		return APPLY_CONFLICT;
	if (is_done(a, c, &cur))
		return APPLY_DONE;
	if (s != APPLY_DO)
		return s;
	if (c->old.mode)
		c->old.dev = cur.dev;	/* numbers of devices may change with a restart; a file is never moved between them */
	return fits(c, &cur) || is_half_done(a, c, &cur) ? APPLY_DO : forced(a, c, &cur);
}

/* what depends on the states of other changes */
static enum apply_state look_again(const struct apply *a, const struct change *c)
{
	enum apply_state s = c->now.mode ? has_parent(a, c) : APPLY_DO;

	return s == APPLY_DO && is_dir(&c->old) && !is_dir(&c->now) ? all_goes(a, c) : s;
}

int apply_check(struct apply *a, struct ak_err *err)
{
	int r;

	a->state = calloc(a->j->n ? a->j->n : 1, 1);
	if (!a->state)
		return ak_err_set(err, ENOMEM, "not enough memory to look at the changes");
	r = choose(a, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < a->j->n; i++)
		if (a->state[i] == APPLY_DO)
			a->state[i] = (uint8_t)look(a, &a->j->v[i]);
	/* deepest first: a folder can go only if what is in it can */
	for (size_t i = a->j->n; i > 0; i--)
		if (a->state[i - 1] == APPLY_DO && !a->j->v[i - 1].now.mode)
			a->state[i - 1] = (uint8_t)look_again(a, &a->j->v[i - 1]);
	for (size_t i = 0; i < a->j->n; i++)
		if (a->state[i] == APPLY_DO && a->j->v[i].now.mode)
			a->state[i] = (uint8_t)look_again(a, &a->j->v[i]);
	memset(a->n, 0, sizeof(a->n));
	for (size_t i = 0; i < a->j->n; i++)
		a->n[a->state[i]]++;
	return 0;
}

size_t apply_held(const struct apply *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->j->n; i++)
		n += a->state[i] == APPLY_PROTECTED && !(journal_follows(a->j, i) && a->state[i - 1] == APPLY_PROTECTED);
	return n;
}

void apply_release(struct apply *a)
{
	free(a->state);
	a->state = NULL;
}
