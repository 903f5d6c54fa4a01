/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves the paths a user names. A command of an earlier run may have put a link into its workspace under a name that the
 * user gives to ak later (`--rw cache`, `-C proj`): following it would hand a folder of its choice to the next command, with the
 * caller's rights. So links are followed only where no sandbox can have made them. Process: executor. Privilege: none.
 */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_path.h"

/* Folders whose links are the system's or the administrator's; none of them is ever a workspace */
static const struct {
	const char *path;
	bool below;
} trusted_table[] = {
	{"/", false},	  {"/usr", false},  {"/usr/local", false}, {"/usr/lib", true}, {"/usr/share", true}, {"/etc", true},
	{"/nix", true},	  {"/var", false},  {"/run", true},	   {"/dev", true},     {"/proc", false},     {"/sys", true},
	{"/home", false}, {"/mnt", false},  {"/media", false},	   {"/srv", false},    {"/opt", false},
};

static bool trusted_folder(const struct plan_ctx *c, const char *dir)
{
	struct stat st;

	for (size_t i = 0; i < sizeof(trusted_table) / sizeof(trusted_table[0]); i++) {
		const char *path = trusted_table[i].path;

		if (strcmp(dir, path) == 0 || (trusted_table[i].below && ak_path_below(dir, path)))
			return true;
	}
	/* a home is a workspace only when it was named as one */
	if (strcmp(dir, c->h->home) == 0)
		return true;
	/* a rootless sandbox writes with the caller's rights: what those do not reach it cannot have changed */
	return !c->h->root && access(dir, W_OK) < 0 && stat(dir, &st) == 0 && st.st_uid != c->h->uid;
}

static int refuse_link(struct plan_ctx *c, const char *opt, const char *path, const char *link)
{
	char *real = realpath(path, NULL);

	ak_err_set(c->err, ELOOP, "%s \"%s\": \"%s\" is a symbolic link, which an earlier command may have left there", opt,
		   path, link);
	if (real)
		ak_err_hint(c->err, "name the real path if that is what you mean: %s", real);
	free(real);
	return -ELOOP;
}

/* one component further; *@real is a path without links and stays one */
static int step(struct plan_ctx *c, const char *opt, const char *path, const char *name, size_t len, char *real)
{
	char next[PATH_MAX] AK_UNINIT;
	struct stat st;
	int n = snprintf(next, sizeof(next), "%s/%.*s", strcmp(real, "/") == 0 ? "" : real, (int)len, name);

	if (n >= (int)sizeof(next))
		return ak_err_sys(c->err, ENAMETOOLONG, "%s \"%s\"", opt, path);
	if (lstat(next, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode)) {
		memcpy(real, next, (size_t)n + 1);
		return 0;
	}
	if (!trusted_folder(c, real))
		return refuse_link(c, opt, path, next);
	return realpath(next, real) ? 0 : -errno;
}

static void step_up(char *real)
{
	char *slash = strrchr(real, '/');

	slash[slash == real ? 1 : 0] = '\0';
}

int plan_resolve(struct plan_ctx *c, const char *opt, const char *path, char *ret)
{
	const char *given = path;
	char real[PATH_MAX] AK_UNINIT;
	int r = 0;

	c->err->code = 0;
	if (snprintf(real, sizeof(real), "%s", path[0] == '/' ? "/" : c->h->cwd) >= (int)sizeof(real))
		return -ENAMETOOLONG;
	while (r == 0 && *(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.')
			step_up(real);
		else if (len != 1 || path[0] != '.')
			r = step(c, opt, given, path, len, real);
		path += len;
	}
	if (r == 0)
		memcpy(ret, real, strlen(real) + 1);
	return r;
}
