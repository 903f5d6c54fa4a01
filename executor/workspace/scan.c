/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns an overlay's upper layer into a journal. Process and privilege: see scan.h.
 *
 * The upper layer is walked once. Each entry is compared with what is below at the same path. Where a folder below is not seen
 * through any more (whiteout, opaque, something else in its place) that folder is walked too, and what has no counterpart
 * above is a deletion. Such folders are remembered, so that an opaque folder within one is not walked twice.
 */
#include "executor/workspace/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/compare.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/git_member.h"
#include "executor/workspace/journal.h"
#include "executor/workspace/path_set.h"
#include "executor/workspace/protected_links.h"
#include "executor/workspace/protected_place.h"
#include "executor/workspace/walk.h"

#define NSEC 1000000000LL

struct scan {
	int upper, lower;
	int64_t start_ns;
	struct journal *out;
	struct path_set covered;	/* folders whose counterpart below has been walked as a whole */
	struct path_set bare;		/* folders that are git's own without being called .git; "": the workspace */
	struct path_set fresh;		/* names that make such a folder of one that was none */
	struct path_set gone;		/* folders ".git" that are not what they were: gone, replaced, a link */
	struct protected_place *place;
};

int64_t scan_now(void)
{
	struct timespec ts;

	/*
	 * The fine clock: since Linux 6.13 a file that somebody looked at gets its next change's time from it, and not from the last tick,
	 * before which it could not have been changed otherwise. Source: Documentation/filesystems/multigrain-ts.rst
	 */
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NSEC + ts.tv_nsec;
}

static bool is_whiteout(const struct ws_ident *id)
{
	return S_ISCHR(id->mode) && id->rdev == 0;
}

static bool is_special(uint32_t mode)
{
	return mode && !S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode);
}

static int no_memory(struct ak_err *err)
{
	return ak_err_set(err, ENOMEM, "not enough memory for the changes");
}

/* the innermost folder above @path that is in @set. Return: its length, or -1 */
static ssize_t above(const struct path_set *set, const char *path)
{
	char up[WS_PATH_MAX + 1] AK_UNINIT;
	char *slash;

	if (path_set_count(set) == 0)
		return -1;
	(void)snprintf(up, sizeof(up), "%s", path);
	while ((slash = strrchr(up, '/'))) {
		*slash = '\0';
		if (path_set_has(set, up))
			return slash - up;
	}
	return path_set_has(set, "") ? 0 : -1;
}

/* the path within the innermost git folder that is not called .git; NULL: in none */
static const char *inside_bare(const struct scan *s, const char *path)
{
	ssize_t n = above(&s->bare, path);

	return n < 0 ? NULL : path + n + (n > 0);
}

static unsigned protection(const struct scan *s, const struct change *c)
{
	bool folder = (!c->old.mode || S_ISDIR(c->old.mode)) && (!c->now.mode || S_ISDIR(c->now.mode));
	enum protected_class class = protected_place_change(s->place, c->path, folder);
	const char *rest = inside_bare(s, c->path);

	if (path_set_has(&s->gone, c->path) || above(&s->gone, c->path) >= 0)
		return CHANGE_PROTECTED | CHANGE_WHOLE;
	if (rest && (git_member_held(git_member(rest), folder) || path_set_has(&s->fresh, c->path)))
		return CHANGE_PROTECTED;
	return class == PROTECTED_NO ? 0 : class == PROTECTED_LIST ? CHANGE_LISTED : CHANGE_PROTECTED;
}

/* a folder ".git" is not what it was any more */
static int lost(struct scan *s, const char *path, const char *name, const struct ws_ident *old, struct ak_err *err)
{
	if (!S_ISDIR(old->mode) || strcasecmp(name, ".git") != 0)
		return 0;
	return path_set_add(&s->gone, path) ? 0 : no_memory(err);
}

static int note(struct scan *s, const char *path, unsigned op, const struct ws_ident *old, const struct ws_ident *now,
		struct ak_err *err)
{
	static const struct ws_ident nothing;
	struct change c = { .path = (char *)path, .op = (uint8_t)op, .old = old ? *old : nothing, .now = now ? *now : nothing };
	unsigned flags = protection(s, &c);

	if (c.old.mode && !S_ISDIR(c.old.mode) && c.old.ctime_ns > s->start_ns)
		flags |= CHANGE_TOUCHED;
	if (is_special(c.now.mode))
		flags |= CHANGE_SPECIAL;
	c.flags = (uint8_t)flags;
	return journal_add(s->out, &c, err);
}

/* below a folder that is not seen through: what the upper layer does not have is deleted */
static int visit_lower(void *arg, const struct ws_entry *e, struct ak_err *err)
{
	struct scan *s = arg;
	struct ws_ident above;
	int r = lost(s, e->path, e->name, &e->id, err);

	if (r < 0)
		return r;
	r = ws_stat_beneath(s->upper, e->path, &above);
	if (r < 0)
		return ak_err_sys(err, -r, "look at \"%.200s\"", e->path);
	if (above.mode && !is_whiteout(&above))
		return WS_GO_ON;	/* the walk of the upper layer compares the two */
	r = note(s, e->path, CHANGE_DELETED, &e->id, NULL, err);
	return r < 0 ? r : WS_GO_ON;
}

/* a folder that may not be read below was not read by the command either; it cannot have been emptied through the overlay */
static int trouble_lower(void *arg, const char *path, int code, struct ak_err *err)
{
	(void)arg;
	if (code == EXDEV)	/* a mount in the workspace, which an overlay does not show */
		return 0;
	return ak_err_sys(err, code, "read the folder \"%.200s\" of the workspace", path);
}

static int trouble_upper(void *arg, const char *path, int code, struct ak_err *err)
{
	(void)arg;
	return ak_err_sys(err, code, "read \"%.200s\" among the changes", path);
}

static int walk_below(struct scan *s, const char *path, struct ak_err *err)
{
	return ws_walk(s->lower, path, visit_lower, trouble_lower, s, err);
}

static bool is_opaque(const struct ws_entry *e)
{
	AK_AUTO_FD fd = ws_open_dir(e->dir, e->name);
	char value = 0;

	return fd >= 0 && fgetxattr(fd, "user.overlay.opaque", &value, 1) == 1 && value == 'y';
}

static bool parent_covered(const struct scan *s, const char *path)
{
	char up[WS_PATH_MAX + 1] AK_UNINIT;
	char *slash;

	if (path_set_count(&s->covered) == 0)
		return false;
	(void)snprintf(up, sizeof(up), "%s", path);
	slash = strrchr(up, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return path_set_has(&s->covered, up);
}

static bool join(char path[static WS_PATH_MAX + 1], const char *folder, const char *name)
{
	return snprintf(path, WS_PATH_MAX + 1, "%s%s%s", folder, *folder ? "/" : "", name) <= (int)WS_PATH_MAX;
}

static bool has(const struct scan *s, const char *folder, const char *name, bool before)
{
	char path[WS_PATH_MAX + 1] AK_UNINIT;
	struct ws_ident id;

	if (!join(path, folder, name))
		return false;
	if (!before && ws_stat_beneath(s->upper, path, &id) == 0 && id.mode)
		return !is_whiteout(&id);
	return ws_stat_beneath(s->lower, path, &id) == 0 && id.mode;
}

/* what git takes for a repository, setup.c of git: is_git_directory() */
static bool is_repository(const struct scan *s, const char *folder, bool before)
{
	return has(s, folder, "HEAD", before) &&
	       ((has(s, folder, "refs", before) && has(s, folder, "objects", before)) || has(s, folder, "commondir", before));
}

/*
 * What is in a repository that was none before may be older: a config that nobody minded then. So the name that makes it one
 * counts as protected; one is enough.
 */
static int look_for_bare(struct scan *s, const char *folder, const char *name, struct ak_err *err)
{
	static const char *const parts[] = { "HEAD", "refs", "objects" };
	char path[WS_PATH_MAX + 1] AK_UNINIT;

	if (strcasecmp(name, ".git") == 0 || !is_repository(s, folder, false))
		return 0;
	if (!path_set_add(&s->bare, folder))
		return no_memory(err);
	if (is_repository(s, folder, true))
		return 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!has(s, folder, parts[i], true) && join(path, folder, parts[i]))
			return path_set_add(&s->fresh, path) ? 0 : no_memory(err);
	return 0;
}

/* a repository below the workspace may name a folder of it for its hooks */
static void look_for_hooks(struct scan *s, const char *folder)
{
	char top[PATH_MAX] AK_UNINIT;

	if (has(s, folder, ".git", true) && snprintf(top, sizeof(top), "%s/%s", s->place->workspace, folder) < (int)sizeof(top))
		git_hooks_add(&s->place->hooks, top, s->place->workspace);
}

static int visit_folder(struct scan *s, const struct ws_entry *e, const struct ws_ident *old, struct ak_err *err)
{
	bool covered = parent_covered(s, e->path), opaque = S_ISDIR(old->mode) && !covered && is_opaque(e);
	int r = look_for_bare(s, e->path, e->name, err);

	if (r == 0)
		look_for_hooks(s, e->path);
	if (r == 0 && (covered || opaque))
		r = lost(s, e->path, e->name, old, err);
	if (r < 0)
		return r;
	if (!old->mode)
		r = note(s, e->path, CHANGE_ADDED, NULL, &e->id, err);
	else if (!S_ISDIR(old->mode))
		r = note(s, e->path, CHANGE_TYPE, old, &e->id, err);
	else if ((old->mode & 07777) != (e->id.mode & 07777))
		r = note(s, e->path, CHANGE_MODE, old, &e->id, err);
	if (r == 0 && opaque) {
		r = walk_below(s, e->path, err);
		covered = true;
	}
	if (r == 0 && covered && !path_set_add(&s->covered, e->path))
		r = no_memory(err);
	return r;
}

static int visit_file(struct scan *s, const struct ws_entry *e, const struct ws_ident *old, struct ak_err *err)
{
	bool covered = parent_covered(s, e->path);
	int r = 0;

	if (!old->mode)
		return note(s, e->path, CHANGE_ADDED, NULL, &e->id, err);
	if ((old->mode & S_IFMT) != (e->id.mode & S_IFMT)) {
		r = lost(s, e->path, e->name, old, err);
		if (r == 0)
			r = note(s, e->path, CHANGE_TYPE, old, &e->id, err);
		return r == 0 && S_ISDIR(old->mode) && !covered ? walk_below(s, e->path, err) : r;
	}
	r = compare_files(e->dir, e->name, &e->id, s->lower, e->path, old, SCAN_COMPARE_MAX);
	if (r < 0)
		return ak_err_sys(err, -r, "compare \"%.200s\" with the workspace's", e->path);
	if (r != COMPARE_SAME)
		return note(s, e->path, CHANGE_MODIFIED, old, &e->id, err);
	if ((old->mode & 07777) != (e->id.mode & 07777))
		return note(s, e->path, CHANGE_MODE, old, &e->id, err);
	return 0;
}

static int visit_whiteout(struct scan *s, const struct ws_entry *e, const struct ws_ident *old, struct ak_err *err)
{
	int r;

	if (!old->mode || parent_covered(s, e->path))
		return 0;	/* nothing to hide, or noted by the walk below */
	r = lost(s, e->path, e->name, old, err);
	if (r == 0)
		r = note(s, e->path, CHANGE_DELETED, old, NULL, err);
	return r == 0 && S_ISDIR(old->mode) ? walk_below(s, e->path, err) : r;
}

static int visit_upper(void *arg, const struct ws_entry *e, struct ak_err *err)
{
	struct scan *s = arg;
	struct ws_ident old;
	int r = ws_stat_beneath(s->lower, e->path, &old);

	if (r < 0)
		return ak_err_sys(err, -r, "look at \"%.200s\" in the workspace", e->path);
	if (is_whiteout(&e->id))
		return visit_whiteout(s, e, &old, err);
	return S_ISDIR(e->id.mode) ? visit_folder(s, e, &old, err) : visit_file(s, e, &old, err);
}

int scan_layer(int upper, int lower, struct protected_place *place, int64_t start_ns, struct journal *ret, struct ak_err *err)
{
	struct scan s = { .upper = upper, .lower = lower, .place = place, .start_ns = start_ns, .out = ret };
	int r;

	*ret = (struct journal){ 0 };
	r = look_for_bare(&s, "", "", err);
	if (r == 0)
		r = ws_walk(upper, "", visit_upper, trouble_upper, &s, err);
	if (r == 0)
		r = protected_links_mark(upper, lower, place, ret, err);
	if (r == 0)
		journal_sort(ret);
	path_set_release(&s.covered);
	path_set_release(&s.bare);
	path_set_release(&s.fresh);
	path_set_release(&s.gone);
	return r;
}
