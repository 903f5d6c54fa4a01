/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up host in a temporary folder, for tests of the planner. */
#ifndef AK_TESTS_PLAN_FIXTURE_H
#define AK_TESTS_PLAN_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static char top[PATH_MAX]; /* T: holds home, ws, other */
static char *environment[64];
static char *command[] = {(char *)"true", NULL};
static struct bind_opt binds[64];
static struct exec_opts o;
static struct hostinfo h;
static struct plan p;
static struct ak_err e;
static struct plan_groups groups = {.why = "no groups here", .advice = ""};

/* T/NAME; the last eight stay valid */
static inline char *at(const char *name)
{
	static char ring[8][PATH_MAX];
	static unsigned next;
	char *text = ring[next++ % 8];

	ck_assert_int_lt(snprintf(text, PATH_MAX, "%s%s%s", top, *name ? "/" : "", name), PATH_MAX);
	return text;
}

static inline void make_dir(const char *name)
{
	char *path = at(name);

	for (char *s = path + strlen(top) + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*s = '/';
	}
	ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
}

static inline void make_file(const char *name, const char *content)
{
	FILE *f = fopen(at(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(content, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* folder T/NAME with a program in it */
static inline void make_tool(const char *name)
{
	char file[PATH_MAX];

	make_dir(name);
	ck_assert_int_lt(snprintf(file, sizeof(file), "%s/tool", name), (int)sizeof(file));
	make_file(file, "#!/bin/sh\n");
	ck_assert_int_eq(chmod(at(file), 0755), 0);
}

static inline void make_link(const char *text, const char *name)
{
	ck_assert_int_eq(symlink(text, at(name)), 0);
}

static inline void set_variable(const char *row)
{
	size_t i = 0;

	while (environment[i])
		i++;
	ck_assert_uint_lt(i + 1, LEN(environment));
	environment[i] = strdup(row);
}

static inline void fixture_setup(void)
{
	char template[] = "/tmp/ak-plan-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(template));
	ck_assert_ptr_nonnull(realpath(template, top));
	make_dir("home");
	make_dir("ws");
	make_dir("other");
	o = (struct exec_opts){.argv = command,
			       .argc = 1,
			       .seccomp = "default",
			       .binds = binds,
			       .max_output_bytes = UINT64_MAX,
			       .memory_bytes = {.value = 512u << 20},
			       .cpu_milli = {.value = 1000},
			       .pids = {.value = 256}};
	h = (struct hostinfo){.uid = 1234,
			      .gid = 1235,
			      .user = (char *)"alice",
			      .environ = environment,
			      .path = (char *)"/usr/bin:/bin",
			      .home = strdup(at("home")),
			      .cwd = strdup(at("ws")),
			      .state_dir = strdup(at("home/.local/state/ak")),
			      .config_dir = strdup(at("home/.config/ak")),
			      .runtime_dir = strdup(at("home/.local/state/ak/run"))};
	ck_assert_int_eq(chdir(top), 0);
	ck_assert_int_eq(chdir("ws"), 0);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline void fixture_teardown(void)
{
	plan_release(&p);
	free(h.home);
	free(h.cwd);
	free(h.state_dir);
	free(h.config_dir);
	free(h.runtime_dir);
	for (size_t i = 0; environment[i]; i++) {
		free(environment[i]);
		environment[i] = NULL;
	}
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void add_bind(enum bind_kind kind, const char *opt, const char *src, const char *dst)
{
	ck_assert_uint_lt(o.nbinds, LEN(binds));
	binds[o.nbinds++] =
		(struct bind_opt){.kind = kind, .opt = opt, .src = (char *)src, .dst = (char *)dst};
}

static inline void plan_ok(void)
{
	plan_release(&p);
	e = (struct ak_err){0};
	ck_assert_msg(plan_build(&o, &h, &p, &e) == 0 && plan_enforce(&p, &o, &groups, &e) == 0, "%s", e.msg);
}

/* A refusal with this errno whose message holds @text */
static inline void plan_refused(int code, const char *text)
{
	plan_release(&p);
	e = (struct ak_err){0};
	int r = plan_build(&o, &h, &p, &e);

	if (r == 0)
		r = plan_enforce(&p, &o, &groups, &e);
	ck_assert_msg(r == -code, "expected %d, got %d: %s", code, e.code, e.msg);
	ck_assert_int_eq(e.code, code);
	ck_assert_msg(strstr(e.msg, text) != NULL, "\"%s\" does not say \"%s\"", e.msg, text);
	plan_release(&p);
}

/* The last mount with this target, since it is the one that is seen */
static inline const struct plan_mount *mount_at(const char *dst)
{
	for (size_t i = p.nmounts; i > 0; i--) {
		if (strcmp(p.mounts[i - 1].dst, dst) == 0)
			return &p.mounts[i - 1];
	}
	return NULL;
}

static inline const struct plan_mount *need(const char *dst, enum pm_kind kind)
{
	const struct plan_mount *m = mount_at(dst);

	ck_assert_msg(m != NULL, "no mount at %s", dst);
	ck_assert_msg(m->kind == kind, "mount at %s is of kind %d, not %d", dst, m->kind, kind);
	return m;
}

static inline size_t index_of(const struct plan_mount *m)
{
	return (size_t)(m - p.mounts);
}

static inline const char *variable(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < p.envc; i++) {
		if (strncmp(p.envp[i], name, len) == 0 && p.envp[i][len] == '=')
			return p.envp[i] + len + 1;
	}
	return NULL;
}

static inline bool warned(const char *text)
{
	for (size_t i = 0; i < p.nwarnings; i++) {
		if (strstr(p.warnings[i], text))
			return true;
	}
	return false;
}

static inline void parents_come_first(void)
{
	for (size_t i = 0; i < p.nmounts; i++) {
		for (size_t j = i + 1; j < p.nmounts; j++)
			ck_assert_msg(!ak_path_below(p.mounts[i].dst, p.mounts[j].dst) ||
					      strcmp(p.mounts[i].dst, p.mounts[j].dst) == 0,
				      "%s is mounted after %s", p.mounts[j].dst, p.mounts[i].dst);
	}
}

#endif
