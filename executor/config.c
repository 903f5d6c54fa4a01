/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the config files and has them read. Process: executor. Privilege: the caller's. */
#include "executor/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/args.h"
#include "executor/hostinfo.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

const char *config_getenv(char *const env[], const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return (*env)[n + 1] ? *env + n + 1 : NULL;
	return NULL;
}

/* HOME, else by /etc/passwd, as struct hostinfo has it; malloc'ed, NULL when there is none */
static char *find_home(char *const env[])
{
	const char *home = config_getenv(env, "HOME");

	return home && home[0] == '/' ? strdup(home) : hostinfo_home_of(geteuid());
}

/* a folder of ak's own: malloc'ed, NULL when there is none */
static char *own_path(char *const env[], const char *variable, const char *home, const char *below, const char *file)
{
	const char *xdg = config_getenv(env, variable);
	char *path = NULL;

	if (xdg && xdg[0] == '/')
		return asprintf(&path, "%s/ak%s", xdg, file) < 0 ? NULL : path;
	return !home || asprintf(&path, "%s%s/ak%s", home, below, file) < 0 ? NULL : path;
}

/*
 * With HOME kept by sudo it would be somebody else's home, where root must not leave folders that their
 * owner could not use: then there is no cache.
 */
char *config_cache_state(char *const env[], const char *home)
{
	char *path = own_path(env, "XDG_STATE_HOME", home, "/.local/state", "");
	const char *xdg = config_getenv(env, "XDG_STATE_HOME");
	const char *base = xdg && xdg[0] == '/' ? xdg : home;
	struct stat st;

	if (path && (!base || stat(base, &st) < 0 || st.st_uid != geteuid())) {
		free(path);
		return NULL;
	}
	return path;
}

static int open_policy(struct config *c, struct ak_err *err)
{
	c->source[0].path = strdup(CONFIG_POLICY_PATH);
	return c->source[0].path ? config_open(&c->source[0], AT_FDCWD, false, err) : -ENOMEM;
}

static int open_user(struct config *c, const struct config_scan *scan, struct ak_err *err)
{
	const char *named = scan->config ? scan->config : config_getenv(c->env, "AK_CONFIG");
	struct config_source *s = &c->source[1];
	int e;

	s->path = named ? strdup(named) : own_path(c->env, "XDG_CONFIG_HOME", c->home, "/.config", "/config.json");
	e = s->path ? config_open(s, AT_FDCWD, named != NULL, err) : 0;
	return e < 0 && named && err && err->code ? ak_err_wrap(err, "%s", scan->config ? "--config" : "AK_CONFIG") : e;
}

/* is there anything of that name, be it a link that leads nowhere? Also when it cannot be told */
static bool has_folder(const char *dir, const char *name)
{
	char path[PATH_MAX] AK_UNINIT;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return true;
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* a workspace that cannot be opened is no matter of this file: the plan refuses it by name */
static int open_workspace(struct config *c, const struct config_scan *scan, struct ak_err *err)
{
	struct config_source *s = &c->source[2];
	AK_AUTO_FD dir = -1;

	if (scan->in)
		return 0;
	c->workspace = scan->workspace;
	if (asprintf(&s->path, "%s%s%s", scan->workspace ? scan->workspace : "", scan->workspace ? "/" : "", CONFIG_WORKSPACE_NAME) < 0) {
		s->path = NULL;
		return -ENOMEM;
	}
	if (scan->workspace) {
		/* most have no such folder: one look then, where opening the workspace and the file and closing takes three */
		if (!has_folder(scan->workspace, CONFIG_WORKSPACE_FOLDER))
			return 0;
		dir = open(scan->workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return 0;
	}
	return config_open(s, dir >= 0 ? dir : AT_FDCWD, false, err);
}

static int choose_profile(struct config *c, const struct config_scan *scan, struct ak_err *err)
{
	const char *name = scan->profile ? scan->profile : config_getenv(c->env, "AK_PROFILE");
	const struct ak_cfg_file *f = c->source[1].file;
	char names[200] = "";
	size_t at = 0;

	if (!name)
		return 0;
	c->profile = name;
	for (uint32_t i = 0; f && i < f->n_profiles; i++) {
		if (strcmp(f->profiles[i], name) == 0) {
			c->profile_id = i + 1;
			return 0;
		}
		if (at < sizeof(names) - 70)
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", f->profiles[i]);
	}
	(void)ak_err_set(err, EINVAL, "%s: there is no profile \"%.64s\" in %.200s", scan->profile ? "--profile" : "AK_PROFILE", name,
			 c->source[1].path ? c->source[1].path : "the user's config file");
	if (at)
		ak_err_hint(err, "it has: %s", names);
	else
		ak_err_hint(err, "%s", f ? "it has no profiles" : "there is no such file");
	return -EINVAL;
}

static int load(struct config *c, const struct config_scan *scan, struct ak_err *err)
{
	char *state;
	int e = open_policy(c, err);

	if (e == 0)
		e = open_user(c, scan, err);
	if (e == 0)
		e = open_workspace(c, scan, err);
	if (e == -ENOMEM)
		return ak_err_set(err, ENOMEM, "out of memory");
	state = e == 0 && (c->source[0].text || c->source[1].text || c->source[2].text) ? config_cache_state(c->env, c->home) : NULL;
	for (size_t i = 0; i < CONFIG_FILES && e == 0; i++)
		if (c->source[i].text)
			e = config_settings(&c->source[i], state, err);
	free(state);
	return e < 0 ? e : choose_profile(c, scan, err);
}

/* is anything to be obeyed? Variables that are no keys (AK_CGROUP) are none of ours */
static bool has_variables(char *const env[], enum ak_cfg_section section)
{
	const struct ak_cfg_key *k;

	for (char *const *e = env; e && *e; e++) {
		if (strncmp(*e, "AK_", 3) != 0)
			continue;
		for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++)
			if (k->variable && ak_cfg_in(k, section) && config_getenv((char *const[]){ *e, NULL }, k->variable))
				return true;
	}
	return false;
}

int config_load(const struct config_scan *scan, char *const env[], bool want, struct config **ret, struct ak_err *err)
{
	struct config *c = calloc(1, sizeof(*c));
	const struct ak_cfg_key *k;
	int e;

	if (!c)
		return ak_err_set(err, ENOMEM, "out of memory");
	c->env = env;
	c->section = scan->section;
	c->in = scan->in;
	c->detach = scan->detach;
	c->source[0].layer = AK_CFG_POLICY;
	c->source[1].layer = AK_CFG_USER;
	c->source[2].layer = AK_CFG_WORKSPACE;
	c->home = find_home(env);
	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++)
		c->value[i].text = k->initial;
	e = load(c, scan, err);
	if (e == 0 && !want && !c->source[0].file && !c->source[1].file && !c->source[2].file && !has_variables(env, scan->section)) {
		config_free(c);
		c = NULL;
	}
	if (e < 0)
		config_free(c);
	else
		*ret = c;
	return e;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < CONFIG_FILES; i++) {
		free(c->source[i].path);
		free(c->source[i].text);
		free(c->source[i].answer);
		free(c->source[i].file);
	}
	for (size_t i = 0; i < AK_CFG_KEYS_MAX; i++)
		free(c->lines[i]);
	free(c->home);
	free(c->entries);
	free(c);
}

int config_parse(int words, int argc, char *const argv[], char *const env[], struct exec_opts *ret, struct ak_err *err)
{
	struct config *c = NULL;
	struct config_scan scan;
	int e = 0;

	config_scan(argc, argv, words == ARGS_CREATE, &scan);
	if (!scan.help)
		e = config_load(&scan, env, false, &c, err);
	if (e < 0) {
		/* whether the failure is to be reported as an object is known from the command line alone */
		(void)args_parse(words, argc, argv, NULL, ret, NULL);
		return e;
	}
	e = args_parse(words, argc, argv, c, ret, err);
	config_free(c);
	return e;
}
