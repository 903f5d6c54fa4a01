/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the place of every mount whose target depends on the others, and settles conflicts. Process:
 * executor. Privilege: none. */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_path.h"

#define ASKED_FOR (PMF_USER | PMF_WORKSPACE)
#define COVER_BYTES 65536u /* a hidden folder that still leads to something visible */
#define COVER_INODES 256u

/* "--ro "/x"", or what a mount of ours is */
static const char *name_of(const struct plan_mount *m)
{
	if (m->flags & PMF_WORKSPACE)
		return "the workspace";
	return m->opt ? m->opt : "a folder of the sandbox";
}

static bool in_system(const struct plan_ctx *c, const struct plan_mount *m)
{
	return m && m >= c->sys.v && m < c->sys.v + c->sys.n && m->kind == PM_BIND && (m->flags & PMF_SYSTEM);
}

static int target_missing(struct plan_ctx *c, const struct plan_mount *m, const struct view *v)
{
	ak_err_set(c->err, ENOENT, "%s \"%s\": the target does not exist in %s at \"%s\"", name_of(m), m->dst,
		   name_of(v->m), v->m->dst);
	ak_err_hint(c->err,
		    "make it first (mkdir or touch \"%s\"): nothing is created in a folder of the host",
		    v->host);
	return -ENOENT;
}

static int target_wrong_kind(struct plan_ctx *c, const struct plan_mount *m, bool want_folder)
{
	return ak_err_set(c->err, want_folder ? ENOTDIR : EISDIR, "%s \"%s\": the target is %s", name_of(m),
			  m->dst, want_folder ? "not a folder" : "a folder, the source is not");
}

/* 1: place it; 0: leave it out (a mount of ours that has no place here) */
static int check_kind(struct plan_ctx *c, struct plan_mount *m, const struct view *v)
{
	bool folder = !(m->flags & PMF_FILE);

	if (v->kind == VIEW_MISSING && v->host[0] != '\0' && v->m)
		return m->flags & ASKED_FOR ? target_missing(c, m, v) : 0;
	if (m->kind == PM_DIR && v->kind != VIEW_MISSING)
		return 0;
	if (v->kind == VIEW_FILE ? folder : v->kind == VIEW_DIR && !folder)
		return m->flags & ASKED_FOR ? target_wrong_kind(c, m, folder) : 0;
	if ((v->kind == VIEW_DIR || v->kind == VIEW_FILE) && v->m && v->m->kind == PM_BIND)
		m->flags |= PMF_TARGET_EXISTS;
	return 1;
}

/* Two mounts on one target: the user's replaces one of ours, everything else is a mistake */
static int settle_conflict(struct plan_ctx *c, const struct plan_mount *m)
{
	for (size_t i = 0; i < c->placed.n; i++) {
		const struct plan_mount *old = &c->placed.v[i];

		if (strcmp(old->dst, m->dst) != 0)
			continue;
		if (!(old->flags & ASKED_FOR) && (m->flags & ASKED_FOR)) {
			mount_drop(&c->placed, i);
			return 1;
		}
		if (!(m->flags & ASKED_FOR))
			return 0;
		ak_err_set(c->err, EEXIST, "%s and %s are both for \"%s\"", name_of(old), name_of(m), m->dst);
		if (old->flags & PMF_WORKSPACE)
			ak_err_hint(c->err, "--write none makes the workspace read-only");
		else
			ak_err_hint(c->err, "give one of them another target");
		return -EEXIST;
	}
	return 1;
}

static int resolve_failed(struct plan_ctx *c, const struct plan_mount *m, int r)
{
	return m->flags & ASKED_FOR ? ak_err_sys(c->err, -r, "%s \"%s\"", name_of(m), m->dst) : 0;
}

static int link_in_the_way(struct plan_ctx *c, const struct plan_mount *m, const struct view *v)
{
	ak_err_set(c->err, ELOOP, "%s \"%s\": the target goes through a symbolic link", name_of(m), m->dst);
	ak_err_hint(c->err, "the link leads to \"%s\": name that as the target", v->path);
	return -ELOOP;
}

static int set_target(struct plan_ctx *c, struct plan_mount *m, const char *path)
{
	char *dst, *src = NULL;

	if (strcmp(m->dst, path) == 0)
		return 0;
	dst = strdup(path);
	if (m->flags & PMF_PROTECT)
		src = strdup(path);
	if (!dst || ((m->flags & PMF_PROTECT) && !src)) {
		free(dst);
		free(src);
		return ak_err_set(c->err, ENOMEM, "not enough memory for the plan");
	}
	free(m->dst);
	m->dst = dst;
	if (src) {
		free(m->src);
		m->src = src;
	}
	return 0;
}

static int cannot_expand(struct plan_ctx *c, const struct plan_mount *m)
{
	ak_err_hint(c->err,
		    "choose a target that exists, or one outside the system folders, such as /mnt/NAME");
	return ak_err_wrap(c->err, "%s \"%s\"", name_of(m), m->dst);
}

/* 1: room was made where @v found nothing, look again; 0: nothing to be done */
static int make_room(struct plan_ctx *c, const struct view *v)
{
	int r;

	if (!v->m && c->p->root == PLAN_ROOT_OVERLAY)
		return plan_root_cover(c, v->path);
	if (!in_system(c, v->m))
		return 0;
	r = plan_root_expand(c, v->m);
	return r < 0 ? r : 1;
}

/* The target as it will be seen; folders of the root are opened up until it can be made */
static int find_target(struct plan_ctx *c, const struct plan_mount *m, struct view *v)
{
	int r;

	while ((r = view_resolve(c, m->dst, v)) == 0 && v->kind == VIEW_MISSING) {
		r = make_room(c, v);
		if (r < 0)
			return cannot_expand(c, m);
		if (r == 0)
			break;
	}
	return r < 0 ? resolve_failed(c, m, r) : 1;
}

/* 1: @m is ready to be placed; 0: it has no place; or a negative errno */
static int place_one(struct plan_ctx *c, struct plan_mount *m)
{
	struct view v;
	int r;

	if ((m->flags & PMF_PROTECT) && c->host_view) {
		const struct plan_mount *top = view_mount(c, m->dst);

		return top && (top->flags & (PMF_WORKSPACE | PMF_PROTECT | PMF_USER)) ? settle_conflict(c, m) : 0;
	}
	r = find_target(c, m, &v);
	if (r <= 0)
		return r;
	/* a link that leads to the source's own path is no surprise: --rw ws/link shows what the link means
	 */
	if (v.foreign_link && !(m->kind == PM_BIND && strcmp(m->src, v.path) == 0))
		return m->flags & ASKED_FOR ? link_in_the_way(c, m, &v) : 0;
	if ((ak_path_below(v.path, "/proc") || ak_path_below(v.path, "/dev")) && m->kind != PM_DEVNODE)
		return m->flags & ASKED_FOR ? ak_err_set(c->err, EPERM,
							 "%s \"%s\": leads to %s, which is the sandbox's own",
							 name_of(m), m->dst, v.path)
					    : 0;
	r = check_kind(c, m, &v);
	if (r <= 0)
		return r;
	r = set_target(c, m, v.path);
	return r < 0 ? r : settle_conflict(c, m);
}

int plan_place(struct plan_ctx *c)
{
	int r = 0;

	mount_sort(&c->cand);
	for (size_t i = 0; i < c->cand.n && r >= 0; i++) {
		r = place_one(c, &c->cand.v[i]);
		if (r > 0)
			mount_move(&c->placed, &c->cand.v[i]);
	}
	mount_sort(&c->placed);
	return r < 0 ? r : 0;
}

static bool asked_below(const struct plan_ctx *c, const char *path)
{
	for (size_t i = 0; i < c->placed.n; i++) {
		const struct plan_mount *m = &c->placed.v[i];

		if ((m->flags & ASKED_FOR) && ak_path_below(m->dst, path) && strcmp(m->dst, path) != 0)
			return true;
	}
	return false;
}

static bool below(const struct plan_mount *m, const char *path)
{
	return ak_path_below(m->dst, path) && strcmp(m->dst, path) != 0;
}

/*
 * A hidden folder with something visible below it: an empty read-only tmpfs in the folder's place, which the
 * mounts that were asked for go on top of; what is there by default is hidden with the rest.
 */
static void cover(struct plan_ctx *c, const struct plan_mount *hide)
{
	for (size_t i = 0; i < c->placed.n; i++) {
		const struct plan_mount *m = &c->placed.v[i];

		if (!(m->flags & (ASKED_FOR | PMF_PROTECT)) && ak_path_below(m->dst, hide->dst))
			mount_drop(&c->placed, i--);
	}
	mount_add(&c->placed, &(struct plan_mount){.kind = PM_TMPFS,
						   .flags = PMF_RO | (hide->flags & PMF_USER),
						   .opt = hide->opt,
						   .dst = hide->dst,
						   .mode = 0555,
						   .size_bytes = COVER_BYTES,
						   .inodes = COVER_INODES});
	mount_sort(&c->placed);
	/* what lies directly in the cover now gets its target made there */
	for (size_t i = 0; i < c->placed.n; i++) {
		struct plan_mount *m = &c->placed.v[i];
		const struct plan_mount *parent = NULL;

		for (size_t j = 0; j < c->placed.n && below(m, hide->dst); j++) {
			if (below(m, c->placed.v[j].dst) &&
			    (!parent || strlen(c->placed.v[j].dst) >= strlen(parent->dst)))
				parent = &c->placed.v[j];
		}
		if (parent && strcmp(parent->dst, hide->dst) == 0)
			m->flags &= ~(uint32_t)PMF_TARGET_EXISTS;
	}
}

static const struct plan_mount *asked_at(const struct plan_ctx *c, const char *path)
{
	for (size_t i = 0; i < c->placed.n; i++) {
		if ((c->placed.v[i].flags & ASKED_FOR) && strcmp(c->placed.v[i].dst, path) == 0)
			return &c->placed.v[i];
	}
	return NULL;
}

/* 1: keep it in the list of hides; 0: done with it */
static int hide_one(struct plan_ctx *c, struct plan_mount *m)
{
	const struct plan_mount *at;
	struct view v;
	int r = view_resolve(c, m->dst, &v);

	if (r == -ENOMEM)
		return r;
	if (r < 0 || v.kind == VIEW_MISSING)
		return 0;
	r = set_target(c, m, v.path);
	if (r < 0)
		return r;
	at = asked_at(c, m->dst);
	if (at && (m->flags & PMF_USER)) {
		ak_err_set(c->err, EEXIST, "%s and %s are both for \"%s\"", name_of(at), name_of(m), m->dst);
		ak_err_hint(c->err, "leave one of them out");
		return -EEXIST;
	}
	if (at)
		return 0;
	if (asked_below(c, m->dst)) {
		cover(c, m);
		return 0;
	}
	m->flags |= v.kind == VIEW_FILE ? PMF_FILE : 0;
	m->flags |= v.m && v.m->kind == PM_BIND ? PMF_TARGET_EXISTS : 0;
	return 1;
}

static bool hidden_already(const struct mount_list *l, size_t n, const char *dst)
{
	for (size_t i = 0; i < n; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): set_target() puts another string where it frees one */
		if (ak_path_below(dst, l->v[i].dst))
			return true;
	}
	return false;
}

int plan_hides(struct plan_ctx *c)
{
	size_t kept = 0;
	int r = 0;

	mount_sort(&c->hides);
	for (size_t i = 0; i < c->hides.n && r >= 0; i++) {
		r = hide_one(c, &c->hides.v[i]);
		if (r > 0 && !hidden_already(&c->hides, kept, c->hides.v[i].dst)) {
			struct plan_mount m = c->hides.v[i];

			c->hides.v[i] = c->hides.v[kept];
			c->hides.v[kept++] = m;
		}
	}
	while (c->hides.n > kept)
		mount_drop(&c->hides, c->hides.n - 1);
	return r < 0 ? r : 0;
}
