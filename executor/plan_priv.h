/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of the planner share. Process: executor. Privilege: none.
 *
 * Mounts are gathered in three lists: `sys` (root view, /proc, /dev: kept in the order in which they were
 * added), `cand` (everything whose place depends on its target: private tmpfs, home, toolchains, workspace,
 * protected names, binds) and `hides`. plan_place() takes the candidates parents first, resolves each target
 * as the sandbox will see it, checks it and moves it to `placed`. So a mount is always made after what lies
 * above it and the most specific path wins.
 */
#ifndef AK_PLAN_PRIV_H
#define AK_PLAN_PRIV_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/hostinfo.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_weaken.h"

#define MIB ((uint64_t)1 << 20)
#define PLAN_TMP_BYTES (512 * MIB)
#define PLAN_INODES 131072u
#define PLAN_PATH_DIRS_MAX 256u /* entries of PATH that are looked at */
#define PLAN_EXPAND_MAX 512u	/* entries of a system folder that is opened up to hold a mount */
#define PLAN_PROTECTED_MAX 256u /* protected names mounted */

struct mount_list {
	struct plan_mount *v;
	size_t n, cap;
	int error; /* latched: -ENOMEM, -E2BIG */
};

struct plan_ctx {
	const struct exec_opts *o;
	const struct hostinfo *h;
	struct plan *p;
	struct ak_err *err;
	uint32_t weak;
	bool host_view;	       /* no --rootfs */
	bool home_covered;     /* the workspace is the home or holds it: no private one */
	uint64_t memory_bytes; /* UINT64_MAX when lifted */
	char *path_env;	       /* PATH inside */
	char *homes[3];	       /* HOME, the caller's by passwd, the workspace owner's by passwd; owned */
	size_t nhomes;
	char *own[7];	       /* folders of ak's own: this run's, and where another run with such a home has them; owned */
	size_t nown;
	struct mount_list sys, cand, placed, pins, hides;
};

/* --- plan_mounts.c: lists, and how a path will look inside
 * ----------------------------------------------------------- */

/** mount_add() - append a copy of @m (strings copied, src_fd set to -1); a failure is latched in @l. Return:
 * the copy or NULL. */
struct plan_mount *mount_add(struct mount_list *l, const struct plan_mount *m);
/** mount_move() - append @m itself; its strings are taken, also when it fails */
void mount_move(struct mount_list *l, struct plan_mount *m);
/** mount_drop() - remove and free entry @i, keeping the order */
void mount_drop(struct mount_list *l, size_t i);
/** mount_list_release() - free the entries and the list */
void mount_list_release(struct mount_list *l);
/** mount_sort() - parents before children, otherwise in the order added */
void mount_sort(struct mount_list *l);

enum view_kind { VIEW_MISSING, VIEW_DIR, VIEW_FILE, VIEW_LINK, VIEW_OPAQUE };

/* A path as the sandbox will see it, given the mounts of `sys` and `placed` */
struct view {
	enum view_kind kind;	    /* OPAQUE: below /proc or /dev, not known before they are mounted */
	char path[PATH_MAX];	    /* inside, without symbolic links */
	char host[PATH_MAX];	    /* where it lies on the host; "" when it is none of the host's */
	const struct plan_mount *m; /* mount it lies in; NULL: the root itself */
	bool foreign_link;	    /* a symbolic link outside the root view was followed */
};

/**
 * view_resolve() - follow @path, absolute and normalised, through the mounts planned so far
 * Return: 0; -ELOOP; -ENAMETOOLONG.
 */
int view_resolve(const struct plan_ctx *c, const char *path, struct view *ret);

/** view_mount() - the deepest mount at or above a path without links, the last one of equals; NULL: the root
 */
const struct plan_mount *view_mount(const struct plan_ctx *c, const char *path);

/** view_of_host() - where host path @host appears inside; false when nowhere. @ret has PATH_MAX bytes. */
bool view_of_host(const struct plan_ctx *c, const char *host, char *ret);

/* --- the stages, in the order plan_build() calls them. Each returns 0 or a negative errno with c->err set.
 * ------------ */

/** plan_workspace_find() - p->workspace and p->cwd; refuses what must not be a workspace */
int plan_workspace_find(struct plan_ctx *c);
/** plan_identity() - p->identity, uid, gid, user */
int plan_identity(struct plan_ctx *c);
/** plan_home() - p->home and its tmpfs */
int plan_home(struct plan_ctx *c);
/** plan_root_view() - root, /proc, /dev and the private tmpfs mounts */
int plan_root_view(struct plan_ctx *c);
/** plan_root_etc() - the host view's /etc */
int plan_root_etc(struct plan_ctx *c);
/** plan_root_expand() - turn system bind @m into a folder of binds, so that targets can be made in it; may
 * move entries of sys */
int plan_root_expand(struct plan_ctx *c, const struct plan_mount *m);
/**
 * plan_root_cover() - make room in an overlay for a target that does not exist, where the rootfs is not the
 * caller's own Return: 1 when a folder was covered and the target must be looked at again; 0; or a negative
 * errno.
 */
int plan_root_cover(struct plan_ctx *c, const char *path);
/** plan_group_only() - hide what only a supplementary group of the caller may read in system folder @dir */
void plan_group_only(struct plan_ctx *c, const char *dir);
/** plan_path() - toolchains, other folders on PATH, and PATH inside */
int plan_path(struct plan_ctx *c);
/** plan_workspace() - the workspace and its protected names */
int plan_workspace(struct plan_ctx *c);
/** plan_binds() - the user's mounts and hides */
int plan_binds(struct plan_ctx *c);
/** plan_place() - resolve, check and order the candidates */
int plan_place(struct plan_ctx *c);
/** plan_secrets() - hide ak's own folders, and credential files of a home that a mount shows */
int plan_secrets(struct plan_ctx *c);
/** plan_pins() - keep the folders above covers and read-only binds where they are */
int plan_pins(struct plan_ctx *c);

/**
 * plan_resolve() - a path the user named, as a path without links
 * @opt:	for messages
 * @ret:	PATH_MAX bytes; untouched on failure
 * Return: 0; -ELOOP with a message (a link that a sandbox may have made, also where another link leads to it); else negative errno of lstat(2), with no message
 * (err->code is 0).
 */
int plan_resolve(struct plan_ctx *c, const char *opt, const char *path, char *ret);

/* Who may have made the links on the way to a folder, the worst of them */
enum plan_trust {
	PLAN_LINK_FINE,	   /* there is none, or only the system's, the administrator's, or in the home itself */
	PLAN_LINK_UNKNOWN, /* a sandbox in another workspace may have */
	PLAN_LINK_PLANTED, /* lies in the workspace, or in what --rw shows */
};

/**
 * plan_follow() - follow absolute path @path, and tell whose links that took
 * @ret_real:	PATH_MAX bytes: the path without links
 * @ret_link:	PATH_MAX bytes: the first link of the worst kind, "" when there is none; may be NULL
 * Return: enum plan_trust; negative errno, with no message.
 */
int plan_follow(struct plan_ctx *c, const char *path, char *ret_real, char *ret_link);

/**
 * plan_secret_place() - do keys, tokens, profiles of a browser or histories lie at host path @real, or above or below it?
 * @own:	what a toolchain itself keeps below this path of a home does not count (NULL: nothing); with it, a name directly in @real
 *		does not count either, since a toolchain may have an .npmrc
 * The names are those that are hidden in a home that is shown, looked for at any depth; what lies below @real only if it exists.
 */
bool plan_secret_place(const struct plan_ctx *c, const char *real, const char *own);

/** plan_homes() - find homes and own; plan_homes_release() - free them */
int plan_homes(struct plan_ctx *c, uid_t owner);
void plan_homes_release(struct plan_ctx *c);

/** plan_hides() - resolve and place the hides */
int plan_hides(struct plan_ctx *c);
/** plan_plain() - the whole plan of a run without namespaces, in the place of the stages above */
int plan_plain(struct plan_ctx *c);
/** plan_count_tasks() - processes and threads of the caller's real uid, as far as /proc shows them */
uint64_t plan_count_tasks(void);
/** plan_random() - a number that nobody can guess, for names */
uint64_t plan_random(void);
/** plan_limits() - p->rlimits but the number of processes, which plan_enforce() decides */
int plan_limits(struct plan_ctx *c);

struct wanted {
	uint32_t resource;
	uint64_t soft, hard;
	const char *given; /* the option, when the user gave the value: then it is never lowered in silence */
};

/**
 * plan_rlimit() - add a resource limit, at most the caller's own hard limit
 * Return: 0; -EPERM when a value that the user gave is over it; -E2BIG.
 */
int plan_rlimit(struct plan *p, const struct wanted *w, struct ak_err *err);
/** plan_disk() - lower the sizes of the private file systems to --disk, or refuse it */
int plan_disk(struct plan_ctx *c);
/** plan_landlock() - p->paths, from the finished mounts */
int plan_landlock(struct plan_ctx *c);
/** plan_env() - p->envp; checks the size of arguments and environment */
int plan_env(struct plan_ctx *c);

#endif
