/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a sandbox's cgroup may be: the decisions, as pure functions over texts of the kernel. executor/ns/cgroup_find.c does
 * the system calls. Process: executor. Privilege: none.
 */
#ifndef AK_NS_CGROUP_PLACE_H
#define AK_NS_CGROUP_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_PATH_MAX 1024
#define CGROUP_CANDIDATES_MAX 12
#define CGROUP_NAME_RANDOM 12u	/* hexadecimal digits at the end of a group's name */
#define CGROUP_NAME_ASIDE "aside"

/* controllers that limits of ours need */
enum cgroup_ctl {
	CGROUP_MEMORY = 1u << 0,
	CGROUP_PIDS = 1u << 1,
	CGROUP_CPU = 1u << 2,
	CGROUP_ALL = CGROUP_MEMORY | CGROUP_PIDS | CGROUP_CPU,
};

enum cgroup_kind {
	CGROUP_GIVEN,	/* AK_CGROUP names it */
	CGROUP_OWN,	/* the group that ak runs in */
	CGROUP_ABOVE,	/* a group above it */
	CGROUP_ROOT,	/* the top of the hierarchy, as far as it is seen here */
	CGROUP_SCOPE,	/* made by the systemd user manager */
};

struct cgroup_candidate {
	enum cgroup_kind kind;
	char path[CGROUP_PATH_MAX];	/* in the hierarchy, "/" for its top */
};

/* a mount of cgroup2 and the part of the hierarchy that it shows */
struct cgroup_mount {
	char point[CGROUP_PATH_MAX];
	char root[CGROUP_PATH_MAX];
};

/**
 * cgroup_own_path() - the line "0::PATH" of /proc/self/cgroup
 * Return: 0; -ENOENT (no such line: no cgroup v2), -EXDEV (outside of our cgroup namespace: the path starts with "/.."),
 * -EINVAL (not a path), -ENAMETOOLONG. @ret is untouched on failure. Source: cgroups(7).
 */
int cgroup_own_path(const char *text, size_t len, char ret[CGROUP_PATH_MAX]);

/**
 * cgroup_find_mount() - the first cgroup2 mount of a text of /proc/self/mountinfo; a mount that shows the whole hierarchy
 * is preferred. Escapes (\040) are decoded. Return: 0; -ENOENT; -ENAMETOOLONG. Source: proc(5).
 */
int cgroup_find_mount(const char *text, size_t len, struct cgroup_mount *ret);

/**
 * cgroup_below_mount() - file system path of the group @path
 * Return: 0; -ENOENT when the mount does not show it; -ENAMETOOLONG.
 */
int cgroup_below_mount(const struct cgroup_mount *m, const char *path, char ret[CGROUP_PATH_MAX]);

/**
 * cgroup_candidates() - groups that a leaf could be made in, in the order in which they are tried
 * @own:	as cgroup_own_path() gives it; NULL when it is unknown
 * @root:	host root: groups above the own unit may be used
 *
 * The own group, then those above it. Without root the walk ends at the deepest systemd unit (a name that ends in .service or
 * .scope): above it the manager is the only writer. Source: systemd's CGROUP_DELEGATION.md, "Two key design rules".
 * Return: their number, CGROUP_CANDIDATES_MAX at most; the top of the hierarchy is always among them with @root.
 */
size_t cgroup_candidates(const char *own, bool root, struct cgroup_candidate *ret);

/** cgroup_ctl_mask() - CGROUP_* of a list such as "cpu memory pids"; other names are passed over */
uint32_t cgroup_ctl_mask(const char *text, size_t len);

/** cgroup_ctl_names() - "memory, pids" for messages; "none" for 0 */
void cgroup_ctl_names(uint32_t mask, char *buf, size_t size);

/** cgroup_ctl_enable_text() - "+memory +pids" for cgroup.subtree_control, with @sign '+' or '-' */
void cgroup_ctl_enable_text(uint32_t mask, char sign, char *buf, size_t size);

/**
 * cgroup_key_u64() - value of a line "KEY VALUE" of a flat keyed file such as memory.events
 * Return: false, with *@ret untouched, when there is no such line or its value is no number.
 */
bool cgroup_key_u64(const char *text, size_t len, const char *key, uint64_t *ret);

/** cgroup_cpu_text() - "QUOTA PERIOD" of cpu.max for thousandths of a processor; the kernel wants 1 ms of quota at least */
void cgroup_cpu_text(uint64_t milli, char *buf, size_t size);

/** cgroup_high_bytes() - memory.high for a limit: low enough to slow growth down first, so near that the slowdown is short */
uint64_t cgroup_high_bytes(uint64_t max_bytes);

/** cgroup_name_ok() - is this exactly a name that a run of ours makes: "ak-PID-" and 12 hexadecimal digits, or "aside"? */
bool cgroup_name_ok(const char *name);

#endif
