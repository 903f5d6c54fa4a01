/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the workspace: which folder may be one, its protected names, what is hidden in it. Process: executor.
 * Privilege: none. */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_path.h"
#include "executor/workspace/git_hooks.h"
#include "executor/workspace/protected.h"
#include "executor/workspace/protected_change.h"
#include "executor/workspace/protected_place.h"

/* The root view itself: never a workspace, whoever names it */
static const struct {
	const char *path;
	bool below; /* nor anything below it */
} system_table[] = {
	{"/", false},
	{"/usr", false},
	{"/usr/bin", true},
	{"/usr/sbin", true},
	{"/usr/lib", true},
	{"/usr/lib32", true},
	{"/usr/lib64", true},
	{"/usr/libexec", true},
	{"/usr/include", true},
	{"/usr/share", true},
	{"/usr/local", false}, /* /usr/local/src and /usr/src are folders of work */
	{"/usr/local/bin", true},
	{"/usr/local/sbin", true},
	{"/usr/local/lib", true},
	{"/usr/local/share", true},
	{"/etc", true},
	{"/bin", true},
	{"/sbin", true},
	{"/lib", true},
	{"/lib32", true},
	{"/lib64", true},
	{"/libx32", true},
	{"/libo32", true},
	{"/var", false},
	{"/opt", false},
	{"/nix", false},
	{"/boot", true},
	{"/var/log", true},
	{"/var/spool", true},
	{"/var/lib/dpkg", true},
	{"/var/lib/apt", true},
	{"/var/lib/systemd", true},
	{"/proc", true},
	{"/sys", true},
	{"/dev", true},
	{"/run", true},
};

/* Below a home: keys, tokens, browser profiles and histories */
static const char *const secret_table[] = {
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".config/gcloud",
	".kube",
	".docker",
	".netrc",
	".git-credentials",
	".config/git/credentials",
	".config/gh",
	".config/hub",
	".config/glab-cli",
	".npmrc",
	".pypirc",
	".yarnrc.yml",
	".cargo/credentials",
	".cargo/credentials.toml",
	".gem/credentials",
	".m2/settings.xml",
	".m2/settings-security.xml",
	".gradle/gradle.properties",
	".composer/auth.json",
	".config/composer/auth.json",
	".config/pip/pip.conf",
	".config/containers/auth.json",
	".terraform.d/credentials.tfrc.json",
	".terraformrc",
	".vault-token",
	".config/rclone",
	".config/sops",
	".config/age",
	".config/op",
	".password-store",
	".local/share/keyrings",
	".local/share/kwalletd",
	".pgpass",
	".my.cnf",
	".mylogin.cnf",
	".boto",
	".s3cfg",
	".oci",
	".config/doctl",
	".fly",
	".kaggle",
	".huggingface/token",
	".cache/huggingface/token",
	".claude/.credentials.json",
	".claude.json",
	".codex/auth.json",
	".gemini/oauth_creds.json",
	".config/github-copilot",
	".config/anthropic",
	".config/openai",
	".config/stripe",
	".config/ngrok",
	".config/heroku",
	".authinfo",
	".authinfo.gpg",
	".Xauthority",
	".ICEauthority",
	".pki",
	".mozilla",
	".thunderbird",
	".config/google-chrome",
	".config/chromium",
	".config/BraveSoftware",
	".config/microsoft-edge",
	".config/vivaldi",
	".config/opera",
	".var/app",
	"snap",
	".bash_history",
	".zsh_history",
	".history",
	".sh_history",
	".ksh_history",
	".histfile",
	".local/share/fish/fish_history",
	".python_history",
	".node_repl_history",
	".psql_history",
	".mysql_history",
	".sqlite_history",
	".rediscli_history",
	".lesshst",
	".viminfo",
};

static int refuse(struct plan_ctx *c, const char *why, const char *hint)
{
	ak_err_set(c->err, EPERM, "workspace \"%s\": %s", c->p->workspace, why);
	ak_err_hint(c->err, "%s", hint);
	return -EPERM;
}

static int check_system(struct plan_ctx *c)
{
	const char *ws = c->p->workspace;

	for (size_t i = 0; i < sizeof(system_table) / sizeof(system_table[0]); i++) {
		const char *path = system_table[i].path;

		if (strcmp(ws, path) == 0 || (system_table[i].below && ak_path_below(ws, path)))
			return refuse(c,
				      "is part of the system that every sandbox sees, not a folder of work",
				      "go to a project folder, or name one with -C DIR");
	}
	return 0;
}

/* Where everybody's sockets and files lie: a workspace only when it was named */
static int check_shared(struct plan_ctx *c)
{
	static const char *const shared[] = {"/tmp",	   "/var/tmp",	 "/dev/shm",  "/home",
					     "/var/lib", "/var/log", "/var/cache", "/var/spool", "/var/mail", "/var/backups"};

	for (size_t i = 0; !c->o->workspace_given && i < sizeof(shared) / sizeof(shared[0]); i++) {
		if (strcmp(c->p->workspace, shared[i]) == 0)
			return refuse(c, "holds the files and sockets of everybody",
				      "go to a folder of its own below it; or name it with -C to use it all the same");
	}
	return 0;
}

static int check_own(struct plan_ctx *c)
{
	const char *ws = c->p->workspace;
	/* without mounts nothing in it could be hidden */
	bool given = c->o->workspace_given && !c->p->plain;

	for (size_t i = 0; !c->o->workspace_own && i < c->nown; i++) {
		if (ak_path_below(ws, c->own[i]))
			return refuse(c, "lies in a folder of ak's own",
				      "ak's state and configuration are never shown inside");
	}
	for (size_t i = 0; !given && i < c->nhomes; i++) {
		if (ak_path_below(c->homes[i], ws))
			return refuse(c, strcmp(ws, c->homes[i]) == 0 ? "is a home folder" : "contains a home folder",
				      c->p->plain ? "go to a project folder: --isolation landlock cannot hide what lies in it"
						  : "go to a project folder; or name it with -C to use it all the same (known "
						    "secrets are hidden)");
	}
	for (size_t i = 0; !given && i < c->nown; i++) {
		if (ak_path_below(c->own[i], ws))
			return refuse(c, "contains ak's own state or configuration",
				      c->p->plain ? "go to a project folder: --isolation landlock cannot hide what lies in it"
						  : "go to a project folder; or name it with -C to use it all the same "
						    "(ak's folders are hidden)");
	}
	return 0;
}

/* the layer must not lie in what it is laid over */
static int check_cow(struct plan_ctx *c)
{
	if (c->o->write != WRITE_COW || !c->h->state_dir || !ak_path_below(c->h->state_dir, c->p->workspace))
		return 0;
	(void)ak_err_set(c->err, EPERM, "--write cow: the workspace \"%s\" contains ak's state folder \"%s\", where the changes go",
			 c->p->workspace, c->h->state_dir);
	ak_err_hint(c->err, "name a smaller folder with -C, or set XDG_STATE_HOME to a folder outside");
	return -EPERM;
}

static int check_workdir(struct plan_ctx *c)
{
	const char *given = c->o->workdir;

	c->p->cwd = given ? ak_path_normalize(c->p->workspace, given) : strdup(c->p->workspace);
	if (!c->p->cwd)
		return ak_err_sys(c->err, errno, "--workdir \"%s\"", given ? given : "");
	if (ak_path_below(c->p->cwd, "/proc") || ak_path_below(c->p->cwd, "/dev")) {
		ak_err_set(c->err, EPERM,
			   "--workdir \"%s\": lies in %.5s, whose entries can lead out of the sandbox", given,
			   c->p->cwd);
		ak_err_hint(c->err, "name an ordinary folder as it is called inside");
		return -EPERM;
	}
	return 0;
}

int plan_workspace_find(struct plan_ctx *c)
{
	const char *dir = c->o->workspace ? c->o->workspace : c->h->cwd;
	char real[PATH_MAX] AK_UNINIT;
	struct stat st;
	int r;

	if (!dir || (!c->h->cwd && dir[0] != '/')) {
		ak_err_set(c->err, ENOENT, "workspace: the current directory no longer exists");
		ak_err_hint(c->err, "name a folder with -C DIR, or go to one");
		return -ENOENT;
	}
	/* what getcwd(2) says has no links in it */
	r = plan_resolve(c, "workspace", dir, real);
	if (r < 0)
		return c->err->code ? r : ak_err_sys(c->err, -r, "workspace \"%s\"", dir);
	c->p->workspace = strdup(real);
	if (!c->p->workspace || stat(c->p->workspace, &st) < 0)
		return ak_err_sys(c->err, errno, "workspace \"%s\"", dir);
	if (!S_ISDIR(st.st_mode))
		return ak_err_sys(c->err, ENOTDIR, "workspace \"%s\"", dir);
	if (access(c->p->workspace, R_OK | X_OK) < 0)
		return ak_err_sys(c->err, errno, "workspace \"%s\"", dir);
	r = check_system(c);
	if (r == 0)
		r = plan_homes(c, st.st_uid);
	if (r == 0)
		r = check_own(c);
	if (r == 0)
		r = check_shared(c);
	if (r == 0)
		r = check_cow(c);
	if (r == 0)
		r = check_workdir(c);
	c->home_covered = r == 0 && ak_path_below(c->h->home, c->p->workspace);
	return r;
}

static int check_allowed(struct plan_ctx *c)
{
	for (char **a = c->o->allow_protected; a && *a; a++) {
		if (protected_is_row(*a))
			continue;
		ak_err_set(c->err, EINVAL, "--allow-protected \"%s\": is not a protected name", *a);
		ak_err_hint(
			c->err,
			"protected are names such as .git, .git/hooks, .github, .vscode, .envrc, AGENTS.md");
		return -EINVAL;
	}
	return 0;
}

static void add_protected(struct plan_ctx *c, const char *path, uint32_t flags)
{
	mount_add(&c->cand, &(struct plan_mount){.kind = PM_BIND,
						 .flags = PMF_PROTECT | PMF_TARGET_EXISTS | flags,
						 .src = (char *)path,
						 .dst = (char *)path});
}

/* ".git": as a folder it stays writable, but cannot be renamed away from under its read-only hooks */
static void protect_git(struct plan_ctx *c, const char *path, bool folder)
{
	char hooks[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (!folder) {
		add_protected(c, path, PMF_RO | PMF_FILE);
		return;
	}
	add_protected(c, path, 0);
	if (snprintf(hooks, sizeof(hooks), "%s/hooks", path) >= PATH_MAX || lstat(hooks, &st) < 0 ||
	    protected_allowed(c->o->allow_protected, PROTECTED_GIT_HOOKS))
		return;
	if (S_ISLNK(st.st_mode))
		plan_notice(c->p, "\"%s\" is a symbolic link and cannot be protected (--allow-protected %s accepts that)", hooks,
			    PROTECTED_GIT_HOOKS);
	else
		add_protected(c, hooks, PMF_RO | (S_ISDIR(st.st_mode) ? 0 : PMF_FILE));
}

static int protect_entry(struct plan_ctx *c, const char *name, size_t *count)
{
	enum protected_class class = protected_match(name);
	char path[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (class < PROTECTED_BLOCK || protected_allowed(c->o->allow_protected, name))
		return 0;
	if (snprintf(path, sizeof(path), "%s/%s", c->p->workspace, name) >= PATH_MAX)
		return ak_err_set(c->err, ENAMETOOLONG, "protected name \"%s\" in the workspace", name);
	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		plan_notice(c->p, "\"%s\" is a symbolic link and cannot be protected (--allow-protected %s accepts that)", path,
			    name);
		return 0;
	}
	if (++*count > PLAN_PROTECTED_MAX)
		return ak_err_set(c->err, E2BIG, "workspace \"%s\": more than %u protected names",
				  c->p->workspace, PLAN_PROTECTED_MAX);
	if (class == PROTECTED_GIT)
		protect_git(c, path, S_ISDIR(st.st_mode));
	else
		add_protected(c, path, PMF_RO | (S_ISDIR(st.st_mode) ? 0 : PMF_FILE));
	return 0;
}

static int protect_names(struct plan_ctx *c)
{
	struct ak_dir dir AK_UNINIT;
	size_t count = 0;
	unsigned char type;
	const char *name;
	int r = ak_dir_open(&dir, c->p->workspace);

	if (r < 0)
		return ak_err_sys(c->err, -r, "read workspace \"%s\"", c->p->workspace);
	while (r == 0 && ak_dir_next(&dir, &name, &type))
		r = protect_entry(c, name, &count);
	ak_dir_close(&dir);
	return r;
}

/* a folder that a git configuration names for its hooks; deeper ones are pinned with the folders above them (plan_pins.c) */
static void protect_hook_folder(struct plan_ctx *c, const char *rel)
{
	char path[PATH_MAX] AK_UNINIT, real[PATH_MAX] AK_UNINIT, first[NAME_MAX + 1];
	struct stat st;

	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(rel, "/"), rel);
	/* such a one is read-only as a whole, or was allowed */
	if (protected_match(first) == PROTECTED_BLOCK)
		return;
	if (snprintf(path, sizeof(path), "%s/%s", c->p->workspace, rel) >= PATH_MAX || lstat(path, &st) < 0)
		return;	/* is not there: told when it appears */
	if (!*rel || !S_ISDIR(st.st_mode) || !realpath(path, real) || strcmp(real, path) != 0) {
		plan_notice(c->p, "git's hooks in \"%s\" cannot be protected (core.hooksPath; --allow-protected %s accepts that)", path,
			    PROTECTED_GIT_HOOKS);
		return;
	}
	add_protected(c, path, PMF_RO);
}

static void protect_hooks(struct plan_ctx *c)
{
	struct git_hooks h = { 0 };

	if (protected_allowed(c->o->allow_protected, PROTECTED_GIT_HOOKS))
		return;
	git_hooks_find(&h, c->p->workspace);
	for (size_t i = 0; i < h.n; i++)
		protect_hook_folder(c, h.path[i]);
	if (h.unclear)
		plan_notice(c->p, "git's hooks of \"%s\" cannot be judged (core.hooksPath; --allow-protected %s accepts that)", c->p->workspace,
			    PROTECTED_GIT_HOOKS);
	git_hooks_release(&h);
}

/* a workspace that is itself what a later command on the host runs or obeys */
static int check_place(struct plan_ctx *c)
{
	char prefix[PATH_MAX] AK_UNINIT;

	if (c->o->write != WRITE_DIRECT || AK_WEAK(c->weak, AK_WEAK_PROTECT) || !protected_place_prefix(c->p->workspace, prefix) ||
	    protected_taken(c->o->allow_protected, prefix))
		return 0;
	prefix[strcspn(prefix, "/")] = '\0';
	(void)ak_err_set(c->err, EPERM, "workspace \"%s\": lies in a protected folder, whose files run or are obeyed on the host",
			 c->p->workspace);
	ak_err_hint(c->err, "--allow-protected %s accepts that; with --write cow its changes wait for review", prefix);
	return -EPERM;
}

int plan_workspace(struct plan_ctx *c)
{
	struct plan_mount m = {.kind = PM_BIND,
			       .flags = PMF_WORKSPACE | PMF_IDMAP,
			       .src = c->p->workspace,
			       .dst = c->p->workspace};
	int r = check_allowed(c);

	if (r == 0)
		r = check_place(c);
	if (r < 0)
		return r;
	if (c->o->write == WRITE_NONE)
		m.flags |= PMF_RO;
	if (c->o->write == WRITE_COW)
		m.flags |= PMF_COW;
	mount_add(&c->cand, &m);
	/* with an overlay nothing has to be prevented: applying holds them back */
	if (c->o->write != WRITE_DIRECT || c->p->plain || AK_WEAK(c->weak, AK_WEAK_PROTECT))
		return 0;
	protect_hooks(c);
	return protect_names(c);
}

/* Is @path, a name of secret_table, there? Only what lies below the folder asked for needs a look */
static bool holds_secret(const char *real, size_t anchor, const char *name)
{
	char path[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (snprintf(path, sizeof(path), "%.*s/%s", (int)anchor, real, name) >= (int)sizeof(path))
		return false;
	return ak_path_below(real, path) || (ak_path_below(path, real) && lstat(path, &st) == 0);
}

static bool is_home(const struct plan_ctx *c, const char *path, size_t len)
{
	for (size_t i = 0; i < c->nhomes; i++) {
		if (strlen(c->homes[i]) == len && memcmp(c->homes[i], path, len) == 0)
			return true;
	}
	return false;
}

bool plan_secret_place(const struct plan_ctx *c, const char *real, const char *own)
{
	size_t end = strlen(real), own_len = own ? strlen(own) : 0;

	/* every folder on the way may be the home, or the copy of a home, that the name is below */
	for (size_t at = 0; at <= end; at += 1 + strcspn(real + at + 1, "/")) {
		bool home = is_home(c, real, at);

		if (own && at == end)
			break;
		for (size_t i = 0; i < sizeof(secret_table) / sizeof(secret_table[0]); i++) {
			const char *name = secret_table[i];

			/* a plain word means something only in a home */
			if (name[0] != '.' && !home)
				continue;
			if (own_len && strncmp(name, own, own_len) == 0 && name[own_len] == '/')
				continue;
			if (holds_secret(real, at, name))
				return true;
		}
		if (at == end)
			break;
	}
	return false;
}

/* Hide host path @host where a mount shows it; false: it is shown but does not exist */
static bool hide_shown(struct plan_ctx *c, const char *host)
{
	char inside[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (!view_of_host(c, host, inside))
		return true;
	if (lstat(host, &st) < 0)
		return false;
	mount_add(&c->hides, &(struct plan_mount){.kind = PM_HIDE, .dst = inside});
	return true;
}

static bool shown_writable(const struct plan_ctx *c, const char *host)
{
	char inside[PATH_MAX] AK_UNINIT;
	const struct plan_mount *m;

	if (!view_of_host(c, host, inside))
		return false;
	m = view_mount(c, inside);
	return m && !(m->flags & PMF_RO);
}

static void hide_home_secrets(struct plan_ctx *c, const char *home)
{
	char path[PATH_MAX] AK_UNINIT;

	if (!view_of_host(c, home, path))
		return;
	for (size_t i = 0; i < sizeof(secret_table) / sizeof(secret_table[0]); i++) {
		if (snprintf(path, sizeof(path), "%s/%s", home, secret_table[i]) < PATH_MAX)
			(void)hide_shown(c, path);
	}
}

int plan_secrets(struct plan_ctx *c)
{
	if (AK_WEAK(c->weak, AK_WEAK_ROOTVIEW))
		return 0;
	for (size_t i = 0; i < c->nown; i++) {
		/* what lies in a folder of ak's own goes with that one's cover */
		if (i > 0 && ak_path_below(c->own[i], c->own[0]) && access(c->own[0], F_OK) == 0)
			continue;
		if (!hide_shown(c, c->own[i]) && shown_writable(c, c->own[i]))
			plan_notice(c->p,
				    "\"%s\" does not exist yet and can be made from inside: ak would read it "
				    "later",
				    c->own[i]);
	}
	for (size_t i = 0; i < c->nhomes; i++)
		hide_home_secrets(c, c->homes[i]);
	return 0;
}
