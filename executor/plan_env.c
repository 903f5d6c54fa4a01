/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the environment inside: built from nothing, then what the user names. Process: executor. Privilege:
 * none. */
#include "executor/plan_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "executor/plan_keys.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_path.h"

/* execve(2), "Limits on size of arguments and environment": 128 KiB a string, a quarter of the 8 MiB stack in
 * all */
#define STRING_BYTES_MAX (128u << 10)
#define TOTAL_BYTES_MAX ((2u << 20) - (16u << 10))
#define ENV_MAX 4096u
#define TERM_LEN_MAX 64u
#define LANG_LEN_MAX 64u

/* Passed through when they name a folder that is visible inside */
static const char *const folder_variables[] = {
	"ANDROID_HOME",	   "ANDROID_SDK_ROOT",
	"ANT_HOME",	   "ASDF_DATA_DIR",
	"ASDF_DIR",	   "BUN_INSTALL",
	"CARGO_HOME",	   "CONDA_PREFIX",
	"CUDA_HOME",	   "CUDA_PATH",
	"DENO_INSTALL",	   "DOTNET_ROOT",
	"ELAN_HOME",	   "FNM_DIR",
	"GOENV_ROOT",	   "GOPATH",
	"GOROOT",	   "GRADLE_HOME",
	"HOMEBREW_PREFIX", "JAVA_HOME",
	"JENV_ROOT",	   "JULIAUP_DEPOT_PATH",
	"KREW_ROOT",	   "M2_HOME",
	"MAVEN_HOME",	   "MISE_DATA_DIR",
	"NODENV_ROOT",	   "NVM_DIR",
	"OPAMROOT",	   "PHPENV_ROOT",
	"PNPM_HOME",	   "PYENV_ROOT",
	"RBENV_ROOT",	   "RUSTUP_HOME",
	"SDKMAN_DIR",	   "VIRTUAL_ENV",
	"VOLTA_HOME",
};

static bool same_name(const char *row, const char *name)
{
	size_t len = strlen(name);

	return strncmp(row, name, len) == 0 && row[len] == '=';
}

static int no_memory(struct plan_ctx *c)
{
	return ak_err_set(c->err, ENOMEM, "not enough memory for the environment");
}

/* Set NAME=VALUE; an earlier value is replaced */
static int set(struct plan_ctx *c, const char *name, const char *value)
{
	struct plan *p = c->p;
	const size_t n = strlen(name), len = strlen(value);
	char *row = malloc(n + len + 2);	/* not asprintf: a dozen of them */
	char **grown;

	if (!row)
		return no_memory(c);
	memcpy(row, name, n);
	row[n] = '=';
	memcpy(row + n + 1, value, len);
	row[n + 1 + len] = '\0';
	for (size_t i = 0; i < p->envc; i++) {
		if (same_name(p->envp[i], name)) {
			free(p->envp[i]);
			p->envp[i] = row;
			return 0;
		}
	}
	grown = p->envc < ENV_MAX ? reallocarray(p->envp, p->envc + 2, sizeof(*grown)) : NULL;
	if (!grown) {
		free(row);
		return p->envc < ENV_MAX
			       ? no_memory(c)
			       : ak_err_set(c->err, E2BIG, "more than %u environment variables", ENV_MAX);
	}
	p->envp = grown;
	p->envp[p->envc++] = row;
	p->envp[p->envc] = NULL;
	return 0;
}

static bool only(const char *s, const char *extra, size_t max)
{
	size_t len = 0;

	while (isalnum((unsigned char)s[len]) || (s[len] && strchr(extra, s[len])))
		len++;
	return len > 0 && len <= max && s[len] == '\0';
}

static bool is_utf8_locale(const char *value)
{
	const char *charset = value ? strchr(value, '.') : NULL;
	size_t len = charset ? strcspn(charset, "@") : 0;

	return charset && only(value, "_.@-", LANG_LEN_MAX) &&
	       ((len == 6 && strncasecmp(charset, ".UTF-8", 6) == 0) ||
		(len == 5 && strncasecmp(charset, ".UTF8", 5) == 0));
}

/* A rootfs may not have the caller's locale; C.UTF-8 needs no files in glibc 2.35 and later, and musl knows
 * nothing else */
static const char *language(const struct plan_ctx *c)
{
	const char *all = hostinfo_env(c->h, "LC_ALL"), *lang = hostinfo_env(c->h, "LANG");

	if (!c->host_view)
		return "C.UTF-8";
	if (is_utf8_locale(all))
		return all;
	return is_utf8_locale(lang) ? lang : "C.UTF-8";
}

static const char *terminal(const struct plan_ctx *c)
{
	const char *term = hostinfo_env(c->h, "TERM");

	return term && only(term, "+-._", TERM_LEN_MAX) ? term : "dumb";
}

static int set_basic(struct plan_ctx *c)
{
	const struct plan *p = c->p;
	char tmp[PATH_MAX] = "/tmp";
	const char *const rows[][2] = {
		{"GIT_TERMINAL_PROMPT", "0"}, {"HOME", p->home}, {"LANG", language(c)}, {"LOGNAME", p->user},
		{"PATH", c->path_env},	      {"PWD", p->cwd},	 {"SHELL", "/bin/sh"},	{"TERM", terminal(c)},
		{"TMPDIR", tmp},	      {"USER", p->user},
	};
	int r = 0;

	if (p->scratch && snprintf(tmp, sizeof(tmp), "%s/tmp", p->scratch) >= PATH_MAX)
		return ak_err_set(c->err, ENAMETOOLONG, "TMPDIR below \"%s\"", p->scratch);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && r == 0; i++)
		r = set(c, rows[i][0], rows[i][1]);
	return r;
}

/* Part of a mount of the host's that shows the same folder under this name */
static bool folder_visible(const struct plan_ctx *c, const char *value)
{
	const struct plan_mount *m;
	char *clean;
	bool visible;

	if (!value || value[0] != '/')
		return false;
	clean = ak_path_normalize(NULL, value);
	if (!clean)
		return false;
	m = view_mount(c, clean);
	visible = m && m->kind == PM_BIND && !(m->flags & PMF_PROTECT);
	free(clean);
	return visible;
}

static int set_folders(struct plan_ctx *c)
{
	int r = 0;

	for (size_t i = 0;
	     i < sizeof(folder_variables) / sizeof(folder_variables[0]) && r == 0 && c->host_view; i++) {
		const char *value = hostinfo_env(c->h, folder_variables[i]);

		if (folder_visible(c, value))
			r = set(c, folder_variables[i], value);
	}
	return r;
}

static int refuse_own_key(struct plan_ctx *c, const char *name)
{
	ak_err_set(c->err, EPERM, "--env %s: ak's own keys are never passed through", name);
	ak_err_hint(c->err, "give a value meant for the sandbox: --env %s=VALUE", name);
	return -EPERM;
}

static int set_asked(struct plan_ctx *c)
{
	int r = 0;

	for (size_t i = 0; i < c->o->nenv && r == 0; i++) {
		const struct env_opt *e = &c->o->env[i];
		const char *value = e->value ? e->value : hostinfo_env(c->h, e->name);

		if (!e->value && plan_key(e->name, strlen(e->name)))
			return refuse_own_key(c, e->name);
		if (value)
			r = set(c, e->name, value);
	}
	return r;
}

/* The whole of the caller's environment: only what a test switches on */
static int set_weak(struct plan_ctx *c)
{
	int r = 0;

	for (char *const *e = c->h->environ; e && *e && r == 0; e++) {
		const char *equals = strchr(*e, '=');
		char name[256];

		if (!equals || !ak_env_name_ok(*e, (size_t)(equals - *e)))
			continue;
		memcpy(name, *e, (size_t)(equals - *e));
		name[equals - *e] = '\0';
		r = set(c, name, equals + 1);
	}
	return r;
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = strcspn(x, "="), m = strcspn(y, "=");
	int r = memcmp(x, y, n < m ? n : m);

	return r ? r : (n > m) - (n < m);
}

static int too_long(struct plan_ctx *c, const char *what, const char *name, size_t name_len)
{
	ak_err_set(c->err, E2BIG, "%s%.*s: over the kernel's maximum of 128 KiB for one string", what,
		   (int)name_len, name);
	ak_err_hint(c->err, "pass it as a file in the workspace or on standard input");
	return -E2BIG;
}

static int check_size(struct plan_ctx *c)
{
	const struct plan *p = c->p;
	size_t total = 0;

	for (size_t i = 0; i < p->argc; i++) {
		size_t n = strlen(p->argv[i]) + 1;

		if (n > STRING_BYTES_MAX)
			return too_long(c, "an argument of the command", "", 0);
		total += n + sizeof(char *);
	}
	for (size_t i = 0; i < p->envc; i++) {
		size_t n = strlen(p->envp[i]) + 1;

		if (n > STRING_BYTES_MAX)
			return too_long(c, "--env ", p->envp[i], strcspn(p->envp[i], "="));
		total += n + sizeof(char *);
	}
	if (total <= TOTAL_BYTES_MAX && p->argc < AK_INIT_STRINGS_MAX)
		return 0;
	ak_err_set(c->err, E2BIG, "arguments and environment have %zu bytes; the kernel takes 2 MiB", total);
	ak_err_hint(c->err, "pass long lists in a file or on standard input (xargs -a FILE)");
	return -E2BIG;
}

int plan_env(struct plan_ctx *c)
{
	int r = AK_WEAK(c->weak, AK_WEAK_ENV) ? set_weak(c) : 0;

	if (r == 0)
		r = set_basic(c);
	if (r == 0)
		r = set_folders(c);
	if (r == 0)
		r = set_asked(c);
	if (r < 0)
		return r;
	qsort(c->p->envp, c->p->envc, sizeof(c->p->envp[0]), by_name);
	return check_size(c);
}
