/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the home, the toolchains below the caller's home, and PATH inside. Process: executor. Privilege:
 * none. */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_path.h"

/* Where the home is when the caller's own cannot be: /run is always a private tmpfs, and never holds a
 * workspace */
#define FALLBACK_HOME "/run/home"
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#define DEFAULT_PATH_ROOT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* A home at or below one of these would be read-only, or not a home */
static const char *const no_home[] = {
	"/usr",	   "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64",	      "/libx32",
	"/libo32", "/opt", "/nix", "/proc", "/sys", "/dev",   "/nonexistent",
};

/*
 * Toolchains that live below a home. A row is shown, read-only and whole, when an entry of PATH lies in it.
 * @path:	below the home; or absolute; NULL: only where @env says
 * @env:	variable of the caller that may move it
 * @also:	what its programs need besides: other rows' paths, or paths below the home
 * @secrets:	credential files below it, hidden
 */
static const struct toolchain {
	const char *path;
	const char *env;
	const char *also[4];
	const char *secrets[2];
} toolchains[] = {
	{".pyenv", "PYENV_ROOT", {0}, {0}},
	{".nvm", "NVM_DIR", {0}, {0}},
	{".cargo", "CARGO_HOME", {".rustup"}, {"credentials", "credentials.toml"}},
	{".rustup", "RUSTUP_HOME", {0}, {0}},
	{".local/bin", NULL, {".local/lib", ".local/share/pipx", ".local/pipx", ".local/share/uv"}, {0}},
	{"go", "GOPATH", {0}, {0}},
	{".go", "GOROOT", {0}, {0}},
	{"sdk", NULL, {0}, {0}},
	{".sdkman", "SDKMAN_DIR", {0}, {0}},
	{".volta", "VOLTA_HOME", {0}, {0}},
	{".bun", "BUN_INSTALL", {0}, {0}},
	{".deno", "DENO_INSTALL", {0}, {0}},
	{".rbenv", "RBENV_ROOT", {0}, {0}},
	{".rvm", "rvm_path", {0}, {0}},
	{".gem/ruby", NULL, {0}, {0}},
	{".asdf", "ASDF_DATA_DIR", {0}, {0}},
	{".local/share/mise", "MISE_DATA_DIR", {0}, {0}},
	{".local/share/rtx", "RTX_DATA_DIR", {0}, {0}},
	{".local/share/fnm", "FNM_DIR", {0}, {0}},
	{".local/share/pnpm", "PNPM_HOME", {0}, {0}},
	{".nodenv", "NODENV_ROOT", {0}, {0}},
	{".npm-global", NULL, {0}, {0}},
	{".config/yarn/global", NULL, {0}, {0}},
	{".jenv", "JENV_ROOT", {0}, {0}},
	{".goenv", "GOENV_ROOT", {0}, {0}},
	{".phpenv", "PHPENV_ROOT", {0}, {0}},
	{".composer/vendor", NULL, {0}, {0}},
	{".config/composer/vendor", NULL, {0}, {0}},
	{".ghcup", NULL, {0}, {0}},
	{".cabal/bin", NULL, {0}, {0}},
	{".opam", "OPAMROOT", {0}, {0}},
	{".juliaup", "JULIAUP_DEPOT_PATH", {".julia/juliaup"}, {0}},
	{".krew", "KREW_ROOT", {0}, {0}},
	{".dotnet", "DOTNET_ROOT", {0}, {0}},
	{".elan", "ELAN_HOME", {0}, {0}},
	{".nimble", NULL, {".choosenim"}, {0}},
	{".pub-cache", "PUB_CACHE", {0}, {0}},
	{".foundry", "FOUNDRY_DIR", {0}, {0}},
	{"miniconda3", NULL, {0}, {0}},
	{"anaconda3", NULL, {0}, {0}},
	{"mambaforge", NULL, {0}, {0}},
	{"miniforge3", NULL, {0}, {0}},
	{".linuxbrew", "HOMEBREW_PREFIX", {0}, {0}},
	{"/home/linuxbrew/.linuxbrew", NULL, {0}, {0}},
	{NULL, "JAVA_HOME", {0}, {0}},
	{NULL, "VIRTUAL_ENV", {0}, {0}},
	{NULL, "CONDA_PREFIX", {0}, {0}},
};

#define TOOLCHAINS (sizeof(toolchains) / sizeof(toolchains[0]))

struct path_state {
	bool used[TOOLCHAINS];
	bool told_link, told_secret; /* one line of each is enough */
	struct ak_buf path;
	size_t dirs;
};

/* An entry of PATH that is a folder */
struct path_dir {
	char given[PATH_MAX]; /* normalised */
	char real[PATH_MAX];  /* resolved */
	char link[PATH_MAX];  /* on the way, see plan_follow() */
};

static bool home_fits(const char *home)
{
	if (strcmp(home, "/") == 0)
		return false;
	for (size_t i = 0; i < sizeof(no_home) / sizeof(no_home[0]); i++) {
		if (ak_path_below(home, no_home[i]))
			return false;
	}
	return true;
}

/* One of our own tmpfs mounts does as a home (HOME=/tmp) */
static bool is_private(const struct plan_ctx *c, const char *path)
{
	for (size_t i = 0; i < c->cand.n; i++) {
		if (c->cand.v[i].kind == PM_TMPFS && strcmp(c->cand.v[i].dst, path) == 0)
			return true;
	}
	return false;
}

int plan_home(struct plan_ctx *c)
{
	c->p->home = strdup(c->home_covered || home_fits(c->h->home) ? c->h->home : FALLBACK_HOME);
	return c->p->home ? 0 : ak_err_set(c->err, ENOMEM, "not enough memory for the plan");
}

static void add_home(struct plan_ctx *c)
{
	if (c->home_covered || is_private(c, c->p->home) || AK_WEAK(c->weak, AK_WEAK_ROOTVIEW))
		return;
	mount_add(&c->cand,
		  &(struct plan_mount){.kind = PM_TMPFS,
				       .dst = c->p->home,
				       .mode = 0700,
				       .inodes = PLAN_INODES,
				       .size_bytes = PLAN_TMP_BYTES < c->memory_bytes ? PLAN_TMP_BYTES
										      : c->memory_bytes});
}

static bool holds_own(const struct plan_ctx *c, const char *dir)
{
	const char *const own[] = {c->h->state_dir, c->h->config_dir, c->h->runtime_dir};

	for (size_t i = 0; i < 3; i++) {
		if (ak_path_below(own[i], dir) || ak_path_below(dir, own[i]))
			return true;
	}
	return false;
}

/* May folder @real of the host be shown because PATH names it? Secrets apart, see plan_secret_place() */
static bool may_show(const struct plan_ctx *c, const char *real)
{
	static const char *const never_above[] = {
		"/usr", "/etc", "/tmp",	 "/var/tmp", "/boot", "/root", "/home",
		"/opt", "/nix", "/proc", "/sys",     "/dev",  "/run",
	};
	static const char *const never_below[] = {"/etc", "/boot", "/proc", "/sys", "/dev", "/run"};

	if (ak_path_below(c->h->home, real) || holds_own(c, real))
		return false;
	for (size_t i = 0; i < c->nhomes; i++) {
		if (ak_path_below(c->homes[i], real))
			return false;
	}
	for (size_t i = 0; i < sizeof(never_above) / sizeof(never_above[0]); i++) {
		if (ak_path_below(never_above[i], real))
			return false;
	}
	for (size_t i = 0; i < sizeof(never_below) / sizeof(never_below[0]); i++) {
		if (ak_path_below(real, never_below[i]))
			return false;
	}
	return true;
}

static void show(struct plan_ctx *c, const char *src, const char *dst)
{
	if (ak_path_below(dst, c->p->workspace))
		return;
	mount_add(&c->cand, &(struct plan_mount){.kind = PM_BIND,
						 .flags = PMF_RO | PMF_OPTIONAL,
						 .src = (char *)src,
						 .dst = (char *)dst});
}

/* Where a row lies, as named (@ret, PATH_MAX bytes): its variable wins over its path below the home */
static bool row_root(const struct plan_ctx *c, const struct toolchain *t, char *ret)
{
	const char *value = t->env ? hostinfo_env(c->h, t->env) : NULL;
	char *clean;
	int n;

	if (value && value[0] == '/') {
		clean = ak_path_normalize(NULL, value);
		n = clean ? snprintf(ret, PATH_MAX, "%s", clean) : -1;
		free(clean);
	} else if (t->path) {
		n = snprintf(ret, PATH_MAX, "%s%s%s", t->path[0] == '/' ? "" : c->h->home,
			     t->path[0] == '/' ? "" : "/", t->path);
	} else {
		return false;
	}
	return n > 0 && n < PATH_MAX;
}

/* Folder @path of a toolchain without links in @real; a link that a sandbox may have made shows nothing */
static bool toolchain_folder(struct plan_ctx *c, const char *path, const char *own, char *real)
{
	struct stat st;

	return plan_follow(c, path, real, NULL) == PLAN_LINK_FINE && stat(real, &st) == 0 &&
	       S_ISDIR(st.st_mode) && may_show(c, real) && !plan_secret_place(c, real, own);
}

static void show_also(struct plan_ctx *c, struct path_state *s, const char *path);

static bool show_row(struct plan_ctx *c, struct path_state *s, size_t i, const char *root)
{
	const struct toolchain *t = &toolchains[i];
	char real[PATH_MAX] AK_UNINIT, secret[PATH_MAX] AK_UNINIT;

	if (s->used[i])
		return true;
	if (!toolchain_folder(c, root, t->path ? t->path : "", real))
		return false;
	s->used[i] = true;
	show(c, real, root);
	for (size_t k = 0; k < 2 && t->secrets[k]; k++) {
		if (snprintf(secret, sizeof(secret), "%s/%s", root, t->secrets[k]) < PATH_MAX)
			mount_add(&c->hides, &(struct plan_mount){.kind = PM_HIDE, .dst = secret});
	}
	for (size_t k = 0; k < 4 && t->also[k]; k++)
		show_also(c, s, t->also[k]);
	return true;
}

static void show_also(struct plan_ctx *c, struct path_state *s, const char *path)
{
	char root[PATH_MAX] AK_UNINIT, real[PATH_MAX] AK_UNINIT;

	for (size_t i = 0; i < TOOLCHAINS; i++) {
		if (toolchains[i].path && strcmp(toolchains[i].path, path) == 0) {
			if (row_root(c, &toolchains[i], root))
				(void)show_row(c, s, i, root);
			return;
		}
	}
	if (snprintf(root, sizeof(root), "%s/%s", c->h->home, path) < PATH_MAX &&
	    toolchain_folder(c, root, path, real))
		show(c, real, root);
}

static void path_append(struct path_state *s, const char *dir)
{
	if (strchr(dir, ':')) /* cannot be said in PATH */
		return;
	if (s->path.len > 0)
		ak_buf_str(&s->path, ":");
	ak_buf_str(&s->path, dir);
}

/* PATH's entry as it is called inside when its row appears at @root */
static void append_in_row(struct path_state *s, const struct path_dir *d, const char *root)
{
	char real[PATH_MAX] AK_UNINIT, joined[PATH_MAX] AK_UNINIT;

	if (ak_path_below(d->given, root))
		path_append(s, d->given);
	else if (realpath(root, real) && ak_path_below(d->real, real) &&
		 snprintf(joined, sizeof(joined), "%s%s", root, d->real + strlen(real)) < PATH_MAX)
		path_append(s, joined);
}

static bool in_row(struct plan_ctx *c, struct path_state *s, const struct path_dir *d)
{
	char root[PATH_MAX] AK_UNINIT;

	if (!home_fits(c->h->home))
		return false;
	for (size_t i = 0; i < TOOLCHAINS; i++) {
		if (!row_root(c, &toolchains[i], root) ||
		    (!ak_path_below(d->given, root) && !ak_path_below(d->real, root)))
			continue;
		if (show_row(c, s, i, root)) {
			append_in_row(s, d, root);
			return true;
		}
	}
	return false;
}

/* Reached through another name, but part of the root view all the same */
static bool in_root_view(struct plan_ctx *c, struct path_state *s, const struct path_dir *d)
{
	char inside[PATH_MAX] AK_UNINIT;

	if (!view_of_host(c, d->real, inside))
		return false;
	path_append(s, inside);
	return true;
}

/* Named as a part of the root view, or of a toolchain shown already: the usual case, which needs no walk
 * through links */
static bool seen_as_named(const struct plan_ctx *c, const struct path_dir *d)
{
	const struct plan_mount *m = view_mount(c, d->given);

	if (m && (m->kind == PM_SYMLINK || (m->kind == PM_BIND && (m->flags & PMF_SYSTEM))))
		return true;
	for (size_t i = 0; i < c->cand.n; i++) {
		if (c->cand.v[i].kind == PM_BIND && ak_path_below(d->given, c->cand.v[i].dst))
			return true;
	}
	return false;
}

static bool path_given(struct path_dir *d, const char *entry, size_t len)
{
	char *clean;

	if (len == 0 || entry[0] != '/' || len >= sizeof(d->given))
		return false;
	memcpy(d->given, entry, len);
	d->given[len] = '\0';
	clean = ak_path_normalize(NULL, d->given);
	if (!clean)
		return false;
	memcpy(d->given, clean, strlen(clean) + 1);
	free(clean);
	return true;
}

/* Shown by the user's own options, and under its own name */
static bool user_shows(const struct plan_ctx *c, const struct path_dir *d)
{
	bool found = false;

	for (size_t i = 0; i < c->o->nbinds && !found; i++) {
		const struct bind_opt *b = &c->o->binds[i];
		char *clean;

		if ((b->kind != BIND_RO && b->kind != BIND_RW) || (b->src[0] != '/' && !c->h->cwd))
			continue;
		clean = ak_path_normalize(c->h->cwd, b->src);
		found = clean && (!b->dst || strcmp(b->dst, clean) == 0) && ak_path_below(d->real, clean);
		free(clean);
	}
	return found;
}

/* Is there something to run in it? A folder that PATH names without is a mistake, and shows what nobody meant
 */
static bool has_program(const char *path)
{
	struct ak_dir dir AK_UNINIT;
	unsigned char type;
	const char *name;
	bool found = false;

	if (ak_dir_open(&dir, path) < 0)
		return false;
	while (!found && ak_dir_next(&dir, &name, &type)) {
		struct stat st;

		found = fstatat(dir.fd, name, &st, 0) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
	}
	ak_dir_close(&dir);
	return found;
}

static void refuse_link(struct plan_ctx *c, struct path_state *s, const struct path_dir *d)
{
	if (!s->told_link)
		plan_notice(c->p,
			    "\"%s\" on PATH is not shown: \"%s\" is a symbolic link, which an earlier "
			    "command may have left there, and "
			    "leads to \"%s\" (--ro shows that)",
			    d->given, d->link, d->real);
	s->told_link = true;
}

/* A folder that is neither the system's nor in the workspace */
static void show_dir(struct plan_ctx *c, struct path_state *s, const struct path_dir *d,
		     enum plan_trust trust)
{
	if (trust == PLAN_LINK_PLANTED) {
		refuse_link(c, s, d);
		return;
	}
	/* a toolchain is known as one, whoever leads to it */
	if (!has_program(d->real) || in_row(c, s, d) || !may_show(c, d->real))
		return;
	if (plan_secret_place(c, d->real, NULL)) {
		if (!s->told_secret)
			plan_warn(c->p,
				  "\"%s\" on PATH is not shown: keys, tokens or histories lie there (--ro "
				  "shows it)",
				  d->real);
		s->told_secret = true;
	} else if (trust != PLAN_LINK_FINE) {
		refuse_link(c, s, d);
	} else {
		show(c, d->real, d->real);
		path_append(s, d->real);
	}
}

static void path_dir(struct plan_ctx *c, struct path_state *s, const char *entry, size_t len)
{
	struct path_dir d AK_UNINIT;
	struct stat st;
	int trust;

	if (!path_given(&d, entry, len) || stat(d.given, &st) < 0 || !S_ISDIR(st.st_mode))
		return;
	if (seen_as_named(c, &d)) {
		path_append(s, d.given);
		return;
	}
	trust = plan_follow(c, d.given, d.real, d.link);
	if (trust < 0)
		return;
	if (ak_path_below(d.real, c->p->workspace))
		path_append(s, ak_path_below(d.given, c->p->workspace) ? d.given : d.real);
	else if (user_shows(c, &d))
		path_append(s, d.real);
	else if (!in_root_view(c, s, &d))
		show_dir(c, s, &d, (enum plan_trust)trust);
}

/* The same folder twice on PATH, or a folder in a row that a later entry shows, would be two mounts on one
 * target */
static void drop_repeats(struct plan_ctx *c, size_t first)
{
	for (size_t i = first; i < c->cand.n; i++) {
		bool repeat = false;

		for (size_t j = first; j < c->cand.n && !repeat; j++) {
			const struct plan_mount *a = &c->cand.v[i], *b = &c->cand.v[j];
			size_t len = strlen(b->dst);

			if (i == j || !ak_path_below(a->dst, b->dst))
				continue;
			/* inside @b at the same place of the host: visible through it */
			repeat = (j < i || a->dst[len] != '\0') && ak_path_below(a->src, b->src) &&
				 strcmp(a->src + strlen(b->src), a->dst + len) == 0;
		}
		if (repeat)
			mount_drop(&c->cand, i--);
	}
}

int plan_path(struct plan_ctx *c)
{
	const char *at = c->host_view && c->h->path ? c->h->path : "";
	bool root = c->h->root || c->p->uid == 0;
	struct path_state s = {0};
	size_t first;

	add_home(c);
	first = c->cand.n;
	for (; *at && s.dirs < PLAN_PATH_DIRS_MAX; s.dirs++) {
		size_t len = strcspn(at, ":");

		path_dir(c, &s, at, len);
		at += len + (at[len] == ':');
	}
	drop_repeats(c, first);
	if (s.path.len == 0)
		ak_buf_str(&s.path, root || !c->host_view ? DEFAULT_PATH_ROOT : DEFAULT_PATH);
	if (s.path.failed) {
		ak_buf_release(&s.path);
		return ak_err_set(c->err, ENOMEM, "not enough memory for PATH");
	}
	c->path_env = s.path.data;
	return 0;
}
