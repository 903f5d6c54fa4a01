/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for the docker CLI where nobody else can have put it. Process: executor. Privilege: none. */
#include "executor/docker/docker_find.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"

#define PLAIN_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define PATH_ENTRIES_MAX 256u
#define VARIABLES_MAX 24u

/* Only root and we can change it. A group that may write is somebody else, except root's own */
static bool only_ours(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return false;
	return !(st->st_mode & S_IWOTH) && (!(st->st_mode & S_IWGRP) || st->st_gid == 0);
}

/* @path without links, and every folder above it. Return: NULL, or what is not as it should be: in @buf */
static const char *distrusted(const char *path, char buf[PATH_MAX])
{
	size_t len = strlen(path);

	if (len >= PATH_MAX)
		return path;
	memcpy(buf, path, len + 1);
	for (;;) {
		struct stat st;
		char *slash;

		if (stat(buf[0] ? buf : "/", &st) < 0 || !only_ours(&st))
			return buf[0] ? buf : "/";
		slash = strrchr(buf, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
}

/* One folder of PATH. Return: 1 with *@ret; 0: nothing here; -EPERM: something that cannot be trusted, with @err filled */
static int look_in(const char *dir, const char *workspace, char **ret, struct ak_err *err)
{
	char real_dir[PATH_MAX], real[PATH_MAX], path[PATH_MAX], buf[PATH_MAX];
	const char *what;
	struct stat st;

	if (dir[0] != '/' || !realpath(dir, real_dir) ||
	    snprintf(path, sizeof(path), "%.*s/docker", PATH_MAX - 8, real_dir) >= PATH_MAX || !realpath(path, real) ||
	    stat(real, &st) < 0 || !S_ISREG(st.st_mode) || access(real, X_OK) < 0)
		return 0;
	if (ak_path_below(real_dir, workspace) || ak_path_below(real, workspace))
		return ak_err_set(err, EPERM, "%.200s/docker is not started: it lies in the workspace", dir);
	what = distrusted(real_dir, buf);
	if (!what)
		what = distrusted(real, buf);
	if (what) {
		(void)ak_err_set(err, EPERM, "%.200s/docker is not started: others than you and root can write %.200s", dir, what);
		ak_err_hint(err, "put a folder on PATH that is root's, such as /usr/bin, or take the right to write from others");
		return -EPERM;
	}
	*ret = strdup(real);
	return *ret ? 1 : ak_err_set(err, ENOMEM, "not enough memory");
}

int docker_find(const char *path, const char *workspace, char **ret, struct ak_err *err)
{
	struct ak_err first = {0};
	char dir[PATH_MAX];

	if (!path)
		path = PLAIN_PATH;
	for (unsigned i = 0; i < PATH_ENTRIES_MAX; i++) {
		size_t len = strcspn(path, ":");
		struct ak_err here = {0};
		int r = 0;

		if (len < sizeof(dir)) {
			memcpy(dir, path, len);
			dir[len] = '\0';
			r = look_in(dir, workspace, ret, &here);
		}
		if (r == 1)
			return 0;
		if (r < 0 && !first.code)
			first = here;
		if (!path[len])
			break;
		path += len + 1;
	}
	if (first.code) {
		if (err)
			*err = first;
		return -first.code;
	}
	(void)ak_err_set(err, ENOENT, "docker was not found in a folder of PATH");
	ak_err_hint(err, "install docker (or podman-docker), or leave --backend docker out: ak needs none");
	return -ENOENT;
}

/* where the daemon and the settings are; @folder: its value is a path whose content decides what the CLI does */
static const struct {
	const char *name;
	bool folder;
} variables[] = {
	{"HOME", true},
	{"XDG_RUNTIME_DIR", true},
	{"XDG_CONFIG_HOME", true},
	{"XDG_DATA_HOME", true},
	{"DOCKER_HOST", false},
	{"DOCKER_CONFIG", true},
	{"DOCKER_CONTEXT", false},
	{"DOCKER_CERT_PATH", true},
	{"DOCKER_TLS_VERIFY", false},
	{"DOCKER_API_VERSION", false},
	{"CONTAINER_HOST", false},
	{"CONTAINERS_CONF", true},
	{"CONTAINERS_STORAGE_CONF", true},
	{"CONTAINERS_REGISTRIES_CONF", true},
	{"DBUS_SESSION_BUS_ADDRESS", false},
};

static bool other_machine(const char *name, const char *value)
{
	return (strcmp(name, "DOCKER_HOST") == 0 || strcmp(name, "CONTAINER_HOST") == 0) && value[0] &&
	       strncmp(value, "unix://", 7) != 0;
}

/* settings that what runs in the workspace could write. A home that holds the workspace is no such thing. */
static bool in_workspace(const char *value, const char *workspace)
{
	char real[PATH_MAX];

	return value[0] && (value[0] != '/' || (realpath(value, real) && ak_path_below(real, workspace)));
}

static int check(const char *name, const char *value, bool folder, const char *workspace, struct ak_err *err)
{
	if (other_machine(name, value)) {
		(void)ak_err_set(err, ENOTSUP, "%s is \"%.80s\": docker on another machine does not see this one's files", name, value);
		ak_err_hint(err, "unset %s, or let it name a socket of this machine (unix://...)", name);
		return -ENOTSUP;
	}
	if (folder && in_workspace(value, workspace)) {
		(void)ak_err_set(err, EPERM, "%s is \"%.80s\", which lies in the workspace: what runs there could change what docker does",
				 name, value);
		ak_err_hint(err, "use another folder as workspace, or another %s", name);
		return -EPERM;
	}
	return 0;
}

void docker_environment_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		free(env[i]);
	free(env);
}

int docker_environment(const struct hostinfo *h, const char *workspace, char ***ret, struct ak_err *err)
{
	char **env = calloc(VARIABLES_MAX, sizeof(*env));
	size_t n = 0;
	int r = 0;

	if (!env)
		return ak_err_set(err, ENOMEM, "not enough memory");
	if (!(env[n++] = strdup("PATH=" PLAIN_PATH)) || !(env[n++] = strdup("LC_ALL=C")))
		r = ak_err_set(err, ENOMEM, "not enough memory");
	for (size_t i = 0; r == 0 && i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = hostinfo_env(h, variables[i].name);

		if (!value)
			continue;
		r = check(variables[i].name, value, variables[i].folder, workspace, err);
		if (r == 0 && asprintf(&env[n], "%s=%s", variables[i].name, value) < 0) {
			env[n] = NULL;
			r = ak_err_set(err, ENOMEM, "not enough memory");
		}
		n += r == 0;
	}
	if (r < 0) {
		docker_environment_free(env);
		return r;
	}
	*ret = env;
	return 0;
}
