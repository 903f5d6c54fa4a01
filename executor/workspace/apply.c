/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes changes over into the workspace, file by file. Process and privilege: see apply.h.
 *
 * Order: what goes is removed, the deepest first; then folders and files are made, parents first; at last folders get their modes,
 * the deepest first, since a folder may not be writable any more afterwards.
 */
#include "executor/workspace/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/copy.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/journal.h"

static bool is_dir(const struct ws_ident *id)
{
	return S_ISDIR(id->mode);
}

static int failed(int code, const char *what, const struct change *c, struct ak_err *err)
{
	if (code == ESTALE || code == ENOTEMPTY || code == EEXIST)
		return ak_err_set(err, ESTALE, "\"%.200s\" was changed while the changes were taken over", c->path);
	(void)ak_err_sys(err, code, "%s \"%.200s\"", what, c->path);
	if (code == ENOSPC || code == EDQUOT)
		ak_err_hint(err, "make room and apply again: what is done stays, nothing is lost");
	return -code;
}

static int open_parent(const struct apply *a, const struct change *c, const char **name, struct ak_err *err)
{
	int dir = ws_open_parent(a->lower, c->path, name);

	return dir < 0 ? failed(-dir, "find the folder of", c, err) : dir;
}

/* the old file, if it has to go before the new one can be made */
static int remove_old(const struct apply *a, const struct change *c, struct ak_err *err)
{
	const char *name;
	AK_AUTO_FD dir = open_parent(a, c, &name, err);
	struct ws_ident cur;
	int r;

	if (dir < 0)
		return dir;
	r = ws_stat(dir, name, &cur);
	if (r < 0)
		return failed(-r, "look at", c, err);
	if (!cur.mode)
		return 0;
	/* a forced one was made anew by the check, so this holds for it too */
	if (!ws_same(&c->old, &cur))
		return failed(ESTALE, "", c, err);
	if (unlinkat(dir, name, is_dir(&cur) ? AT_REMOVEDIR : 0) < 0 && errno != ENOENT)
		return failed(errno, "remove", c, err);
	return 0;
}

static int make_folder(int dir, const char *name, const struct change *c, struct ak_err *err)
{
	struct ws_ident cur;

	/* its own mode comes last */
	if (mkdirat(dir, name, 0700) == 0)
		return 0;
	if (errno == EEXIST && ws_stat(dir, name, &cur) == 0 && is_dir(&cur))
		return 0;
	return failed(errno, "make the folder", c, err);
}

static int put_file(const struct apply *a, int dir, const char *name, const struct change *c, struct ak_err *err)
{
	static const struct ws_ident nothing;
	char link[WS_PATH_MAX + 1] AK_UNINIT;
	struct ws_file f = { .src = -1, .mode = c->now.mode & 07777, .uid = -1, .gid = -1, .mtime_ns = c->now.mtime_ns,
			     .dropped = a->dropped,
			     .old = is_dir(&c->old) ? &nothing : &c->old };
	const char *from_name;
	AK_AUTO_FD from = ws_open_parent(a->upper, c->path, &from_name);
	AK_AUTO_FD src = -1;
	struct ws_ident id;
	int r;

	if (from < 0)
		return failed(-from, "find the new", c, err);
	if (S_ISLNK(c->now.mode)) {
		r = ws_read_link(from, from_name, link);
		f.link = link;
	} else {
		r = src = ws_open_file(from, from_name, &id);
		f.src = src;
	}
	if (r < 0)
		return failed(-r, "read the new", c, err);
	r = ws_install(dir, name, a->temp, &f, NULL);
	return r < 0 ? failed(-r, "write", c, err) : 0;
}

/*
 * By a descriptor that cannot be opened for more than that, so that no link is followed and no FIFO waited for. A file with further
 * names, which may lie outside of the workspace, is replaced instead: the run had a copy of its own.
 */
static int set_mode(const struct apply *a, int dir, const char *name, const struct change *c, struct ak_err *err)
{
	AK_AUTO_FD fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	uint32_t mode = ws_safe_mode(c->now.mode);
	struct ws_ident cur;
	char path[32];

	if (fd < 0 || ws_fstat(fd, &cur) < 0)
		return failed(errno, "look at", c, err);
	if ((cur.mode & S_IFMT) != (c->now.mode & S_IFMT) || (c->op == CHANGE_MODE && cur.ino != c->old.ino))
		return failed(ESTALE, "", c, err);
	if ((cur.mode & 07777) == mode)
		return 0;
	if (S_ISREG(cur.mode) && cur.nlink > 1)
		return put_file(a, dir, name, c, err);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, mode) < 0 ? failed(errno, "set the mode of", c, err) : 0;
}

static int do_now(const struct apply *a, const struct change *c, struct ak_err *err)
{
	const char *name;
	AK_AUTO_FD dir = open_parent(a, c, &name, err);

	if (dir < 0)
		return dir;
	if (is_dir(&c->now))
		return c->op == CHANGE_MODE ? 0 : make_folder(dir, name, c, err);
	return c->op == CHANGE_MODE ? set_mode(a, dir, name, c, err) : put_file(a, dir, name, c, err);
}

static int folder_mode(const struct apply *a, const struct change *c, struct ak_err *err)
{
	const char *name;
	AK_AUTO_FD dir = open_parent(a, c, &name, err);

	return dir < 0 ? dir : set_mode(a, dir, name, c, err);
}

/* must the old one be gone before? A file is replaced by a file in one step */
static bool goes_first(const struct change *c)
{
	return c->old.mode && (!c->now.mode || is_dir(&c->old) != is_dir(&c->now));
}

int apply_run(struct apply *a, struct ak_err *err)
{
	int r = 0;

	for (size_t i = a->j->n; r == 0 && i > 0; i--)
		if (a->state[i - 1] == APPLY_DO && goes_first(&a->j->v[i - 1]))
			r = remove_old(a, &a->j->v[i - 1], err);
	for (size_t i = 0; r == 0 && i < a->j->n; i++)
		if (a->state[i] == APPLY_DO && a->j->v[i].now.mode)
			r = do_now(a, &a->j->v[i], err);
	for (size_t i = a->j->n; r == 0 && i > 0; i--)
		if (a->state[i - 1] == APPLY_DO && is_dir(&a->j->v[i - 1].now))
			r = folder_mode(a, &a->j->v[i - 1], err);
	for (size_t i = 0; r == 0 && i < a->j->n; i++) {
		if (a->state[i] == APPLY_DO) {
			a->state[i] = APPLY_DONE;
			a->n[APPLY_DO]--;
			a->n[APPLY_DONE]++;
		}
	}
	return r;
}

void apply_clean(const struct apply *a)
{
	const char *last = NULL;
	size_t last_len = 0;

	for (size_t i = 0; i < a->j->n; i++) {
		const char *path = a->j->v[i].path, *slash = strrchr(path, '/'), *name;
		size_t n = slash ? (size_t)(slash - path) : 0;
		AK_AUTO_FD dir = -1;

		/* neighbours are often in one folder */
		if (last && n == last_len && memcmp(last, path, n) == 0)
			continue;
		last = path;
		last_len = n;
		dir = ws_open_parent(a->lower, path, &name);
		if (dir >= 0)
			(void)unlinkat(dir, a->temp, 0);	/* seldom there */
	}
}
