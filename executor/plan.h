/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of one sandbox: pure data that says everything which will be done, before anything is done. plan_build() looks
 * at the host (stat, readlink, readdir) but changes nothing; `--explain` prints a plan; executor/ns carries it out.
 * Process: executor. Privilege: none.
 */
#ifndef AK_PLAN_H
#define AK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/opts.h"
#include "executor/shared/ak_init_proto.h"

struct ak_err;
struct backend_facts;
struct hostinfo;

#define PLAN_MOUNTS_MAX 1024
#define PLAN_WARNINGS_MAX 32
#define PLAN_SCRATCH_DIR "plain"	/* below the state folder: private folders of runs without namespaces */

enum pm_kind {
	PM_DIR,		/* make a directory (and its parents) in the new root */
	PM_SYMLINK,	/* make a symbolic link; src is its text */
	PM_FILE,	/* make a regular file on the root tmpfs; src is its content, not a path */
	PM_BIND,	/* show host path src at dst, recursively */
	PM_TMPFS,	/* empty tmpfs of size_bytes and inodes, owned by the inner ids, mode */
	PM_PROC,	/* procfs of the new pid namespace, masked */
	PM_DEV,		/* minimal /dev with devpts and shm; size_bytes is shm's */
	PM_DEVNODE,	/* a device node of the host, src at dst (both below /dev) */
	PM_HIDE,	/* cover dst, whatever it is, so that it can be neither read nor written; a missing dst is skipped */
};

enum pm_flags {
	PMF_RO = 1u << 0,
	PMF_OPTIONAL = 1u << 1,		/* skip when src is missing (or has vanished since) */
	PMF_NOEXEC = 1u << 2,
	PMF_USER = 1u << 3,		/* asked for by an option; opt names it in messages */
	PMF_WORKSPACE = 1u << 4,	/* the workspace itself */
	PMF_IDMAP = 1u << 5,		/* root mode: map the owner of src's top to the inner ids; a failure is an error if not PMF_RO */
	PMF_TARGET_EXISTS = 1u << 6,	/* dst must exist already (below a direct workspace): never make a stub there */
	PMF_PROTECT = 1u << 7,		/* a protected name of the workspace: src is dst seen through the workspace's own mount */
	PMF_FILE = 1u << 8,		/* src is not a directory (decides what target to make) */
	PMF_SYSTEM = 1u << 9,		/* part of the root view: read-only, world-readable host path */
	PMF_SIZED = 1u << 10,		/* TMPFS: the user gave the size */
	PMF_COW = 1u << 11,		/* BIND: not src itself, but an overlay over it whose upper layer is cow_layer */
};

struct plan_mount {
	enum pm_kind kind;
	uint32_t flags;
	char *src;		/* owned; NULL where the kind has none. Host paths are resolved: absolute, no symlinks */
	char *dst;		/* owned; absolute, normalised, no symlinks of ours in it (/bin/x is /usr/bin/x where /bin is a link) */
	mode_t mode;		/* DIR, FILE, TMPFS */
	uint64_t size_bytes;	/* TMPFS, DEV */
	uint64_t inodes;	/* TMPFS */
	const char *opt;	/* static: option for messages, or NULL */
	int src_fd;		/* root mode: detached clone made before privilege was dropped; owned; -1 */
};

enum plan_root { PLAN_ROOT_TMPFS, PLAN_ROOT_OVERLAY };
enum plan_identity { PLAN_ID_SAME, PLAN_ID_RANGE, PLAN_ID_ROOT };

/* what holds a limit: `enforced_by` of the result */
enum plan_by { PLAN_BY_UNSET, PLAN_BY_CGROUP, PLAN_BY_RLIMIT, PLAN_BY_AK, PLAN_BY_NONE };

/* what cgroups can do for one run; made by executor/limits.c from what it found */
struct plan_groups {
	bool group;		/* the sandbox has a group at all */
	uint32_t have;		/* enum cgroup_ctl: controllers that act on it */
	const char *why;	/* why it has none, or lacks some; one line; borrowed */
	const char *advice;	/* how to get them; "" */
};

struct plan_rlimit {
	uint32_t resource;
	uint64_t soft, hard;
};

struct plan {
	/* root: a private tmpfs that the mounts fill, or an overlay over rootfs with its upper layer on a private tmpfs */
	enum plan_root root;
	char *rootfs;			/* resolved; NULL: host view */
	int rootfs_fd;			/* root mode with an overlay: detached clone; owned; -1 */
	uint64_t root_size_bytes;	/* overlay's upper */
	struct plan_mount *mounts;	/* carried out in this order: parents before children */
	size_t nmounts;

	char *workspace;		/* resolved host path, also the path inside */
	enum opt_write write;
	char *cow_layer;		/* WRITE_COW: host path of the folder with upper and work; owned; NULL until there is one */
	int cow_layer_fd;		/* root mode: detached clone of it; owned; -1 */
	uint64_t cow_disk_bytes;	/* what the upper layer may hold; 0: no limit */
	char *cwd;			/* inside; absolute, normalised */

	enum plan_identity identity;
	uint32_t uid, gid;		/* inner */
	char *user;			/* inner login name */
	char *home;			/* inside */

	enum opt_net net;
	const char *hostname;		/* "sandbox"; static; with plain the host's stays */

	bool plain;			/* no namespaces: no mounts, rules on the host's own paths */
	char *scratch;			/* plain: private folder with "home" and "tmp"; not made yet; owned; else NULL */
	bool nest_cgroups;		/* nesting: cgroup namespaces cannot be used to change the sandbox's own limits */
	bool nesting;			/* sandboxes inside: no Landlock file rules, a floor of its own */

	char **argv;			/* borrowed from exec_opts */
	size_t argc;
	char **envp;			/* owned, NULL-terminated, sorted by name */
	size_t envc;

	struct plan_rlimit rlimits[AK_INIT_RLIMITS_MAX];
	size_t nrlimits;

	/* plan_enforce() */
	bool group;
	enum plan_by memory_by, pids_by, cpus_by;	/* PLAN_BY_UNSET: no limit, or not decided yet */

	/* Landlock rules by path inside; INIT_PATH_* */
	struct init_path *paths;	/* path strings are owned */
	size_t npaths;

	const char *seccomp;		/* profile name, static; or the path of a user's, borrowed from exec_opts */
	uint8_t *filter;		/* a user's profile, compiled: filter_count * 8 bytes; owned; NULL: a shipped one */
	uint32_t filter_count;
	uint32_t canary_skip;		/* self-tests that the filter would answer with death */
	const uint8_t *joined;		/* profile and floor as one filter that notifies: joined_count * 8 bytes; borrowed; NULL: not observed */
	uint32_t joined_count;
	bool learn;			/* joined is for learning: init traces the command */
	bool allow_setid;		/* nothing writable maps to host ids: the floor's set-id rows are lifted */
	bool floor_setgid;		/* set-group-id bits are refused too: root mode, or a caller with supplementary groups */
	bool tty;
	bool serve;			/* a sandbox that stays: init takes requests instead of argv */
	bool late_filters;		/* serve: the profile is not one of ours (INIT_LATE_FILTERS) */
	bool leaves;			/* serve: every command gets a cgroup leaf (INIT_LEAVES) */
	bool once;			/* serve: for one command only (INIT_ONCE) */
	const struct backend_facts *held;	/* serve: another backend holds it (INIT_BARE), and this is what it found; borrowed; NULL: native */
	bool background;		/* the executor goes on while the set-up child works, at the price of a copy of its pages */
	int *keep_fds;			/* borrowed from exec_opts */
	size_t nkeep_fds;

	char *warnings[PLAN_WARNINGS_MAX];	/* owned */
	size_t nwarnings;
	uint32_t told;			/* bit n: warning n is told on stderr also without --verbose */
};

/**
 * plan_build() - decide everything about one sandbox
 * @o:		what was asked for; borrowed as long as the plan lives
 * @h:		the host; borrowed during the call
 * @ret:	filled; release with plan_release() also after a failure
 *
 * Errors name the option and the path: -ENOENT and -ENOTDIR (workspace, rootfs, bind source), -EPERM (workspace refused),
 * -EEXIST (two binds on one target), -EINVAL, -ELOOP, -E2BIG, -ENOMEM, and what stat(2) gives.
 */
int plan_build(const struct exec_opts *o, const struct hostinfo *h, struct plan *ret, struct ak_err *err);
void plan_release(struct plan *p);

/**
 * plan_folder() - plan the workspace alone: which folder it is, and its protected names
 * For a backend that can hide nothing in it: what plan_build() accepts only because -C names it is refused.
 * @ret:	workspace, warnings, and mounts for the workspace and its protected names (PMF_PROTECT); release with plan_release()
 * Return: as plan_build().
 */
int plan_folder(const struct exec_opts *o, const struct hostinfo *h, struct plan *ret, struct ak_err *err);

/**
 * plan_enforce() - decide by what the limits of memory, processes and processors are held
 * @p:	built; gets *_by, the process limit and warnings
 * @g:	what cgroups can do here; borrowed
 * A value that the user gave and nothing holds is refused, a default becomes a warning. Called once, when the groups are known.
 * Return: 0; -EOPNOTSUPP (not enforceable here), -EPERM (over the caller's own hard limit).
 */
int plan_enforce(struct plan *p, const struct exec_opts *o, const struct plan_groups *g, struct ak_err *err);

/** plan_by_name() - "cgroup", "rlimit", "ak", "none"; NULL where no limit is set */
const char *plan_by_name(enum plan_by by);

/** plan_warn() - add a line to the plan's warnings (dropped silently over PLAN_WARNINGS_MAX) */
void plan_warn(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** plan_notice() - a warning that the user is told at once: something asked for or promised is not so */
void plan_notice(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * plan_explain() - the plan as text for `--explain`, one fact a line, grouped (identity, namespaces, mounts, limits,
 * filters, environment); values of variables that look secret are still shown: the user typed them
 */
struct ak_buf;
void plan_explain(const struct plan *p, const struct exec_opts *o, struct ak_buf *out);

/**
 * plan_find_workspace() - the real path of the workspace that a command without a sandbox works on, under the rules of one
 * @dir:	as the user named it; NULL: the current folder
 * @ret:	malloc'ed
 * Return: 0; -EPERM (must not be a workspace), -ELOOP (a link that a sandbox may have made), -ENOENT, -ENOTDIR, -EACCES ...
 */
int plan_find_workspace(const struct hostinfo *h, const char *dir, char **ret, struct ak_err *err);

#endif
