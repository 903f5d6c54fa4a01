/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the places where a sandbox's cgroup may be; reads only. Process: executor. Privilege: the caller's. */
#include "executor/ns/cgroup_find.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "executor/ns/cgroup_file.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"

#define PROC_TEXT_MAX (1u << 20)

const char *cgroup_kind_name(enum cgroup_kind kind)
{
	static const char *const names[] = {
		[CGROUP_GIVEN] = CGROUP_ENV, [CGROUP_OWN] = "own group", [CGROUP_ABOVE] = "group above",
		[CGROUP_ROOT] = "top of the hierarchy", [CGROUP_SCOPE] = "systemd user manager",
	};

	return names[kind];
}

static void __attribute__((format(printf, 3, 4))) in_the_way(struct cgroup_trial *t, int code, const char *fmt, ...)
{
	va_list ap;

	t->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(t->why, sizeof(t->why), fmt, ap);
	va_end(ap);
}

/* --- one place --- */

static bool check_kind(struct cgroup_trial *t)
{
	struct statfs fs;

	if (fstatfs(t->dir, &fs) < 0) {
		in_the_way(t, errno, "statfs: %s", strerror(errno));
		return false;
	}
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		return true;
	if (fs.f_type == CGROUP_SUPER_MAGIC)
		in_the_way(t, EINVAL, "it is a group of cgroup v1, and limits are set by cgroup v2 only");
	else
		in_the_way(t, EINVAL, "it is not in a cgroup v2 file system");
	return false;
}

static bool check_type(struct cgroup_trial *t)
{
	char text[64];
	long n = cgroup_read(t->dir, "cgroup.type", text, sizeof(text));

	/* the top of the hierarchy has no such file */
	if (n <= 0 || strcmp(text, "domain\n") == 0)
		return true;
	if (text[n - 1] == '\n')
		text[n - 1] = '\0';
	in_the_way(t, EINVAL, "its cgroup.type is \"%.40s\": groups with a memory limit can only be made in a domain", text);
	return false;
}

static bool check_frozen(struct cgroup_trial *t)
{
	uint64_t frozen = 0;

	if (cgroup_read_u64(t->dir, "cgroup.freeze", &frozen) == 0 && frozen == 0 &&
	    cgroup_read_key(t->dir, "cgroup.events", "frozen", &frozen) < 0)
		frozen = 0;
	if (!frozen)
		return true;
	in_the_way(t, EBUSY, "it is frozen (cgroup.freeze): nothing in it would run");
	return false;
}

static bool check_writable(struct cgroup_trial *t)
{
	if (faccessat(t->dir, ".", W_OK, AT_EACCESS) == 0 && faccessat(t->dir, "cgroup.procs", W_OK, AT_EACCESS) == 0)
		return true;
	if (errno == EROFS)
		in_the_way(t, EROFS, "its file system is mounted read-only, as containers do");
	else if (errno == EACCES)
		in_the_way(t, EACCES, "no permission to make groups in it: it is not delegated to this user");
	else
		in_the_way(t, errno, "%s", strerror(errno));
	return false;
}

/* a group that was given by name is for sandboxes only; what else is in it would share their limits */
static bool check_alone(struct cgroup_trial *t)
{
	unsigned others = 0;
	bool self = false;

	if (cgroup_procs(t->dir, &others, &self) < 0 || others == 0 ||
	    (faccessat(t->dir, "cgroup.type", F_OK, 0) < 0 && errno == ENOENT))	/* the top holds who is in no group */
		return true;
	in_the_way(t, EBUSY, "it is not empty: %u%s process%s in it", others, others >= 500 ? " or more" : "", others == 1 ? "" : "es");
	return false;
}

/*
 * What groups made here could get. A group that holds processes cannot pass controllers down (EBUSY), except at the real top:
 * Documentation/admin-guide/cgroup-v2.rst, "No Internal Process Constraint".
 */
static void see_controllers(struct cgroup_trial *t, uint32_t want)
{
	char text[512];
	long n = cgroup_read(t->dir, "cgroup.controllers", text, sizeof(text));
	uint32_t there = n > 0 ? cgroup_ctl_mask(text, (size_t)n) : 0;
	unsigned others = 0;
	bool self = false, top;

	n = cgroup_read(t->dir, "cgroup.subtree_control", text, sizeof(text));
	t->on = n > 0 ? cgroup_ctl_mask(text, (size_t)n) : 0;
	t->can = t->on;
	if ((want & there & ~t->on) == 0)
		return;
	if (faccessat(t->dir, "cgroup.subtree_control", W_OK, AT_EACCESS) < 0) {
		in_the_way(t, EACCES, "no permission to write its cgroup.subtree_control: it is not delegated to this user");
		return;
	}
	top = faccessat(t->dir, "cgroup.type", F_OK, 0) < 0 && errno == ENOENT;
	if (!top && cgroup_procs(t->dir, &others, &self) < 0)
		others = 1;
	if (!top && others > 0) {
		in_the_way(t, EBUSY, "it holds %sprocesses, and a group that does cannot pass controllers down",
			   self ? "other " : "");
		return;
	}
	t->aside = self;
	t->can |= there;
}

static void name_missing(struct cgroup_trial *t, uint32_t want)
{
	char names[64];

	if (t->why[0] || (want & ~t->can) == 0)
		return;
	cgroup_ctl_names(want & ~t->can, names, sizeof(names));
	in_the_way(t, 0, "it has no %s controller", names);
}

static void look_at(struct cgroup_trial *t, uint32_t want)
{
	t->dir = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->dir < 0) {
		in_the_way(t, errno, "open: %s", strerror(errno));
		return;
	}
	if (!check_kind(t))
		return;
	/* groups that we live in or below are neither frozen nor hidden from their own writer */
	if (t->kind == CGROUP_GIVEN && (!check_frozen(t) || !check_type(t) || !check_alone(t)))
		return;
	if (!check_writable(t))
		return;
	t->usable = true;
	see_controllers(t, want);
	name_missing(t, want);
	if (t->kind != CGROUP_GIVEN && (t->can & ~t->on & want) && !check_type(t))
		t->usable = false;
}

/* --- all places --- */

/*
 * What the top of the hierarchy mounted at @path offers. One look tells whether a cgroup v2 is there at all: no other file system
 * has this file, which is checked. Return: length of @text; negative errno: it is not there, or cannot be read.
 */
static long top_controllers(const char *path, char *text, size_t size)
{
	char file[CGROUP_PATH_MAX + sizeof("/cgroup.controllers")] AK_UNINIT;
	struct statfs fs;
	ssize_t n;
	AK_AUTO_FD fd = -1;

	(void)snprintf(file, sizeof(file), "%s/cgroup.controllers", path);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
		return -ENOENT;
	do
		n = read(fd, text, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* the two usual places first: reading the list of mounts costs more the more there are */
static bool usual_mount(struct cgroup_mount *ret, char *text, size_t size, long *ret_len)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

	for (size_t i = 0; i < 2; i++) {
		*ret_len = top_controllers(places[i], text, size);
		if (*ret_len < 0)
			continue;
		snprintf(ret->point, sizeof(ret->point), "%s", places[i]);
		snprintf(ret->root, sizeof(ret->root), "/");
		return true;
	}
	return false;
}

static int find_mount(struct cgroup_mount *ret)
{
	char *text = NULL;
	size_t len;
	int r = ak_read_file("/proc/self/mountinfo", PROC_TEXT_MAX, &text, &len);

	if (r == 0)
		r = cgroup_find_mount(text, len, ret);
	free(text);
	return r;
}

static int read_own_path(char ret[CGROUP_PATH_MAX])
{
	char *text = NULL;
	size_t len;
	int r = ak_read_file("/proc/self/cgroup", PROC_TEXT_MAX, &text, &len);

	if (r == 0)
		r = cgroup_own_path(text, len, ret);
	free(text);
	return r;
}

void cgroup_choose(struct cgroup_search *s)
{
	unsigned most = 0;

	s->best = -1;
	for (size_t i = 0; i < s->n; i++) {
		const struct cgroup_trial *t = &s->trial[i];
		unsigned n = (unsigned)__builtin_popcount(t->can & s->want);

		if (t->usable && n > most) {
			most = n;
			s->best = (int)i;
		}
	}
}

static const struct cgroup_trial *telling(const struct cgroup_search *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->trial[i].why[0] && s->trial[i].code != ENOENT)
			return &s->trial[i];
	return s->n > 0 && s->trial[0].why[0] ? &s->trial[0] : NULL;
}

static void explain_none(struct cgroup_search *s)
{
	const struct cgroup_trial *t = telling(s);

	if (s->best >= 0 || s->why[0])
		return;
	if (s->hybrid)
		snprintf(s->why, sizeof(s->why), "hybrid host: cgroup v2 at %.100s has no memory, pids or cpu controller, cgroup v1 "
			 "has them", s->mount);
	else if (t)
		snprintf(s->why, sizeof(s->why), "%s %.120s: %.160s", cgroup_kind_name(t->kind), t->path, t->why);
	else
		snprintf(s->why, sizeof(s->why), "no place for a group was found");
}

/* @text: the top's controllers. Nothing that we use is in the hierarchy at all: no place in it can be better */
static bool nothing_to_have(struct cgroup_search *s, const char *text, long n)
{
	if (n < 0 || cgroup_ctl_mask(text, (size_t)n) != 0)
		return false;
	/* the list of v1 hierarchies that are in use: proc_cgroups(5) is gone from new kernels, the mount is not */
	s->hybrid = strcmp(s->mount, "/sys/fs/cgroup/unified") == 0 || access("/sys/fs/cgroup/memory", F_OK) == 0 ||
		    access("/sys/fs/cgroup/cpu", F_OK) == 0;
	if (!s->hybrid)
		snprintf(s->why, sizeof(s->why), "cgroup v2 at %.100s has no memory, pids or cpu controller here", s->mount);
	return true;
}

static void look_at_candidates(struct cgroup_search *s, const char *own, const struct cgroup_mount *m)
{
	struct cgroup_candidate c[CGROUP_CANDIDATES_MAX];
	size_t n = cgroup_candidates(own, s->root, c);

	for (size_t i = 0; i < n; i++) {
		struct cgroup_trial *t = &s->trial[s->n++];

		t->kind = c[i].kind;
		t->dir = -1;
		if (cgroup_below_mount(m, c[i].path, t->path) < 0) {
			snprintf(t->path, sizeof(t->path), "%s", c[i].path);
			in_the_way(t, ENOENT, "it is not to be seen below %.100s", m->point);
			continue;
		}
		look_at(t, s->want);
		if (!s->all && t->usable && (s->want & ~t->can) == 0)
			return;
	}
}

static int look_given(struct cgroup_search *s, struct ak_err *err)
{
	struct cgroup_trial *t = &s->trial[0];

	s->n = 1;
	t->kind = CGROUP_GIVEN;
	t->dir = -1;
	if (s->given[0] != '/' || strlen(s->given) >= sizeof(t->path)) {
		(void)ak_err_set(err, EINVAL, CGROUP_ENV "=%.200s is not the absolute path of a cgroup v2 group", s->given);
		ak_err_hint(err, "give a path such as /sys/fs/cgroup/NAME, or " CGROUP_ENV "=" CGROUP_ENV_NONE " to use no cgroup");
		return -EINVAL;
	}
	snprintf(t->path, sizeof(t->path), "%s", s->given);
	look_at(t, s->want);
	/* asked for by name: a place that does not do is refused, not passed over */
	if (t->usable && !(t->code == EBUSY || t->code == EACCES)) {
		s->best = 0;
		return 0;
	}
	(void)ak_err_set(err, t->code ? t->code : EINVAL, CGROUP_ENV ": %.300s cannot be used: %s", t->path, t->why);
	ak_err_hint(err, "%s", t->code == ENOENT ? "make the group first, for the user who runs ak" :
			 t->code == EBUSY ? "give a group that is empty and not frozen" :
			 t->code == EACCES ? "let root give the group, its cgroup.procs and cgroup.subtree_control to this user (chown)" :
					     "give the path of a cgroup v2 group, or " CGROUP_ENV "=" CGROUP_ENV_NONE " to use none");
	return -(t->code ? t->code : EINVAL);
}

static void look_everywhere(struct cgroup_search *s, struct cgroup_mount *m)
{
	char own[CGROUP_PATH_MAX];
	int r = read_own_path(own);

	look_at_candidates(s, r == 0 ? own : NULL, m);
	if (s->n > 0 && s->trial[0].code == ENOENT && find_mount(m) == 0 && strcmp(m->root, "/") != 0) {
		/* the mount shows a part of the hierarchy only */
		cgroup_search_release(s);
		look_at_candidates(s, r == 0 ? own : NULL, m);
	}
	if (r < 0 && s->n == 0)
		snprintf(s->why, sizeof(s->why), "%s", r == -EXDEV ? "ak runs outside of its cgroup namespace" :
			 "the own group is not told by /proc/self/cgroup");
	cgroup_choose(s);
}

bool cgroup_glance(struct cgroup_search *s, const char *given)
{
	struct cgroup_mount m AK_UNINIT;
	char text[512];
	long n;

	if (given && given[0])
		return strcmp(given, CGROUP_ENV_NONE) == 0;
	if (!usual_mount(&m, text, sizeof(text), &n))
		return false;
	snprintf(s->mount, sizeof(s->mount), "%s", m.point);
	s->nothing = nothing_to_have(s, text, n);
	return s->nothing;
}

int cgroup_look(struct cgroup_search *s, struct ak_err *err)
{
	struct cgroup_mount m AK_UNINIT;	/* written by whoever finds one */
	char text[512];
	long n = -1;

	s->best = -1;
	s->n = 0;
	if (s->given && s->given[0] && strcmp(s->given, CGROUP_ENV_NONE) == 0) {
		s->off = true;
		snprintf(s->why, sizeof(s->why), CGROUP_ENV "=" CGROUP_ENV_NONE);
		return 0;
	}
	if (s->given && s->given[0])
		return look_given(s, err);
	if (s->nothing && !s->all) {
		explain_none(s);
		return 0;
	}
	if (!usual_mount(&m, text, sizeof(text), &n)) {
		if (find_mount(&m) < 0) {
			snprintf(s->why, sizeof(s->why), "no cgroup v2 is mounted here");
			return 0;
		}
		n = top_controllers(m.point, text, sizeof(text));
	}
	snprintf(s->mount, sizeof(s->mount), "%s", m.point);
	if (!nothing_to_have(s, text, n) || s->all)
		look_everywhere(s, &m);
	explain_none(s);
	return 0;
}

void cgroup_search_release(struct cgroup_search *s)
{
	for (size_t i = 0; i < s->n; i++)
		ak_fd_close(&s->trial[i].dir);
	if (s->n > 0)	/* else its pages may never have been touched */
		memset(s->trial, 0, s->n * sizeof(s->trial[0]));
	s->n = 0;
	s->best = -1;
}
