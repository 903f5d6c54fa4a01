/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves the paths a user names. A command of an earlier run may have put a link into its workspace under a name that the
 * user gives to ak later (`--rw cache`, `-C proj`): following it would hand a folder of its choice to the next command, with the
 * caller's rights. So links are followed only where no sandbox can have made them, those that a trusted link leads through included.
 * The same goes for the folders of PATH. Process: executor. Privilege: none.
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

#define LINKS_MAX 40 /* as the kernel has it (path_resolution(7)) */

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

/* What this run may write, or a run with the same options before it */
static bool sandbox_writes(const struct plan_ctx *c, const char *dir)
{
	bool found = c->p->workspace && ak_path_below(dir, c->p->workspace);

	for (size_t i = 0; i < c->o->nbinds && !found; i++) {
		const struct bind_opt *b = &c->o->binds[i];
		char real[PATH_MAX] AK_UNINIT;
		char *clean;

		if (b->kind != BIND_RW || (b->src[0] != '/' && !c->h->cwd))
			continue;
		clean = ak_path_normalize(c->h->cwd, b->src);
		found = clean && realpath(clean, real) && ak_path_below(dir, real);
		free(clean);
	}
	return found;
}

/* Folders of a home that hold those of programs, and are no more a workspace than the home is */
static bool home_part(const struct plan_ctx *c, const char *dir)
{
	static const char *const parts[] = {"/.local", "/.local/share", "/.config"};
	size_t len = strlen(c->h->home);

	if (!ak_path_below(dir, c->h->home))
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(dir + len, parts[i]) == 0)
			return true;
	}
	return false;
}

static enum plan_trust judge(const struct plan_ctx *c, const char *dir)
{
	if (sandbox_writes(c, dir))
		return PLAN_LINK_PLANTED;
	return trusted_folder(c, dir) || home_part(c, dir) ? PLAN_LINK_FINE : PLAN_LINK_UNKNOWN;
}

static enum plan_trust judge_named(const struct plan_ctx *c, const char *dir)
{
	return trusted_folder(c, dir) ? PLAN_LINK_FINE : PLAN_LINK_UNKNOWN;
}

static void step_up(char *real)
{
	char *slash = strrchr(real, '/');

	slash[slash == real ? 1 : 0] = '\0';
}

/* A path on its way: @real has no links and stays so, @rest is still to go */
struct walk {
	enum plan_trust (*judge)(const struct plan_ctx *c, const char *dir);
	char real[PATH_MAX], rest[PATH_MAX];
	char link[PATH_MAX]; /* the first link of the worst kind met */
	enum plan_trust trust;
	unsigned hops;
};

/* @next is a link in @w->real: put what it says before the rest */
static int step_link(struct plan_ctx *c, struct walk *w, const char *next)
{
	enum plan_trust trust = w->judge(c, w->real);
	char text[PATH_MAX] AK_UNINIT, rest[PATH_MAX] AK_UNINIT;
	ssize_t n;

	if (trust > w->trust) {
		w->trust = trust;
		memcpy(w->link, next, strlen(next) + 1);
	}
	if (++w->hops > LINKS_MAX)
		return -ELOOP;
	/* what a magic link says is no path */
	if (ak_path_below(w->real, "/proc") || ak_path_below(w->real, "/dev"))
		return realpath(next, w->real) ? 0 : -errno;
	n = readlink(next, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (snprintf(rest, sizeof(rest), "%s/%s", text, w->rest) >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(w->rest, rest, strlen(rest) + 1);
	if (text[0] == '/')
		memcpy(w->real, "/", 2);
	return 0;
}

/* one component further */
static int step(struct plan_ctx *c, struct walk *w)
{
	size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");
	char next[PATH_MAX] AK_UNINIT;
	struct stat st;
	int n = snprintf(next, sizeof(next), "%s/%.*s", strcmp(w->real, "/") == 0 ? "" : w->real, (int)len, w->rest + skip);
	bool up = len == 2 && memcmp(w->rest + skip, "..", 2) == 0, stay = len == 0 || (len == 1 && w->rest[skip] == '.');

	memmove(w->rest, w->rest + skip + len, strlen(w->rest + skip + len) + 1);
	if (stay)
		return 0;
	if (up) {
		step_up(w->real);
		return 0;
	}
	if (n >= (int)sizeof(next))
		return -ENAMETOOLONG;
	if (lstat(next, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return step_link(c, w, next);
	memcpy(w->real, next, (size_t)n + 1);
	return 0;
}

static int walk(struct plan_ctx *c, struct walk *w, const char *path)
{
	int r = 0;

	w->trust = PLAN_LINK_FINE;
	w->hops = 0;
	w->link[0] = '\0';
	if (snprintf(w->real, sizeof(w->real), "%s", path[0] == '/' ? "/" : c->h->cwd) >= (int)sizeof(w->real) ||
	    snprintf(w->rest, sizeof(w->rest), "%s", path) >= (int)sizeof(w->rest))
		return -ENAMETOOLONG;
	while (r == 0 && w->rest[0])
		r = step(c, w);
	return r;
}

int plan_follow(struct plan_ctx *c, const char *path, char *ret_real, char *ret_link)
{
	struct walk w AK_UNINIT;
	int r;

	w.judge = judge;
	r = walk(c, &w, path);
	if (r < 0)
		return r;
	memcpy(ret_real, w.real, strlen(w.real) + 1);
	if (ret_link)
		memcpy(ret_link, w.link, strlen(w.link) + 1);
	return (int)w.trust;
}

int plan_resolve(struct plan_ctx *c, const char *opt, const char *path, char *ret)
{
	struct walk w AK_UNINIT;
	int r;

	c->err->code = 0;
	w.judge = judge_named;
	r = walk(c, &w, path);
	if (w.trust != PLAN_LINK_FINE)
		return refuse_link(c, opt, path, w.link);
	if (r == 0)
		memcpy(ret, w.real, strlen(w.real) + 1);
	return r;
}
