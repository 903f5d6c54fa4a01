/* SPDX-License-Identifier: Apache-2.0 */
/* Plans the user's own mounts: --ro, --rw, -v, --tmpfs, --dev, --hide. Process: executor. Privilege: none. */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_path.h"
#include "executor/shared/ak_weaken.h"
#include "executor/workspace/protected.h"

static int no_cwd(struct plan_ctx *c, const struct bind_opt *b, const char *path)
{
	ak_err_set(c->err, ENOENT, "%s \"%s\": the current directory no longer exists", b->opt, path);
	ak_err_hint(c->err, "give an absolute path");
	return -ENOENT;
}

/* @path made absolute and normalised; malloc'ed in *@ret */
static int absolute(struct plan_ctx *c, const struct bind_opt *b, const char *path, char **ret)
{
	if (path[0] != '/' && !c->h->cwd)
		return no_cwd(c, b, path);
	*ret = ak_path_normalize(c->h->cwd, path);
	return *ret ? 0 : ak_err_sys(c->err, errno, "%s \"%s\"", b->opt, path);
}

static int refuse(struct plan_ctx *c, const struct bind_opt *b, const char *path, const char *why)
{
	return ak_err_set(c->err, EPERM, "%s \"%s\": %s", b->opt, path, why);
}

static int check_target(struct plan_ctx *c, const struct bind_opt *b, const char *dst)
{
	if (strcmp(dst, "/") == 0)
		return refuse(c, b, dst,
			      "the root itself cannot be a target (--rootfs DIR changes the root)");
	if (ak_path_below(dst, "/proc") || strcmp(dst, "/sys") == 0)
		return refuse(c, b, dst, "/proc and /sys inside are the sandbox's own");
	if (ak_path_below(dst, "/dev") && b->kind != BIND_DEV) {
		refuse(c, b, dst, "/dev inside is the sandbox's own");
		ak_err_hint(c->err, "--dev PATH shows one device");
		return -EPERM;
	}
	return 0;
}

static int check_source(struct plan_ctx *c, const struct bind_opt *b, const char *src)
{
	const char *const own[] = {c->h->state_dir, c->h->config_dir, c->h->runtime_dir};

	if (ak_path_below(src, "/proc"))
		return refuse(c, b, b->src, "the host's /proc leads to the files of every process");
	if (b->kind == BIND_RW && strcmp(src, "/") == 0)
		return refuse(c, b, b->src, "the whole host would be writable");
	/* not read-only either: a socket there can be connected to, and leads to another sandbox */
	for (size_t i = 0; i < 3; i++) {
		if (ak_path_below(src, own[i]))
			return refuse(c, b, b->src, "lies in a folder of ak's own, which is never shown inside");
	}
	return 0;
}

static int missing_source(struct plan_ctx *c, const struct bind_opt *b, int code)
{
	ak_err_sys(c->err, code, "%s \"%s\"", b->opt, b->src);
	if (code == ENOENT)
		ak_err_hint(c->err, "nothing is created for a bind; %s skips a source that is missing",
			    b->kind == BIND_RW ? "--rw-try" : "--ro-try");
	return -code;
}

/* The host's kernel file systems ride along in a recursive bind of "/" */
static void hide_kernel_fs(struct plan_ctx *c, const char *dst)
{
	static const char *const names[] = {"proc", "sys", "dev", "run"};
	char path[PATH_MAX] AK_UNINIT;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (snprintf(path, sizeof(path), "%s/%s", dst, names[i]) < PATH_MAX)
			mount_add(&c->hides, &(struct plan_mount){.kind = PM_HIDE, .dst = path});
	}
}

/* @name of the git folder @git, which is at @dst inside: read-only */
static void protect_member(struct plan_ctx *c, const char *git, const char *dst, const char *name)
{
	char src[PATH_MAX] AK_UNINIT, at[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (snprintf(src, sizeof(src), "%s/%s", git, name) >= PATH_MAX || snprintf(at, sizeof(at), "%s/%s", dst, name) >= PATH_MAX ||
	    lstat(src, &st) < 0)
		return;
	if (S_ISLNK(st.st_mode))
		plan_notice(c->p, "\"%s\" is a symbolic link and cannot be protected (--allow-protected .git accepts that)", src);
	else
		mount_add(&c->cand, &(struct plan_mount){ .kind = PM_BIND, .src = src, .dst = at,
							  .flags = PMF_RO | PMF_PROTECT | PMF_TARGET_EXISTS | PMF_OPTIONAL |
								   (S_ISDIR(st.st_mode) ? 0u : PMF_FILE) });
}

/*
 * A repository that is shown writable, as a linked worktree needs the one it belongs to: its hooks and the configuration, which can
 * name others, run on the host later. Unlike in the workspace nothing is reported of it afterwards, so both are read-only.
 */
static void protect_repository(struct plan_ctx *c, const char *src, const char *dst)
{
	static const char *const tops[] = {"", "/.git"};
	char git[PATH_MAX] AK_UNINIT, at[PATH_MAX] AK_UNINIT, head[PATH_MAX] AK_UNINIT;

	if (c->p->plain || AK_WEAK(c->weak, AK_WEAK_PROTECT))
		return;
	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
		if (snprintf(git, sizeof(git), "%s%s", src, tops[i]) >= PATH_MAX ||
		    snprintf(at, sizeof(at), "%s%s", dst, tops[i]) >= PATH_MAX ||
		    snprintf(head, sizeof(head), "%s/HEAD", git) >= PATH_MAX || access(head, F_OK) < 0)
			continue;
		if (!protected_allowed(c->o->allow_protected, PROTECTED_GIT_HOOKS))
			protect_member(c, git, at, "hooks");
		if (!protected_allowed(c->o->allow_protected, ".git"))
			protect_member(c, git, at, "config");
	}
}

static int bind_path(struct plan_ctx *c, const struct bind_opt *b, char *dst)
{
	struct plan_mount m = {.kind = PM_BIND, .flags = PMF_USER | PMF_IDMAP, .opt = b->opt, .dst = dst};
	char src[PATH_MAX] AK_UNINIT;
	struct stat st;
	int r;

	if (b->src[0] != '/' && !c->h->cwd)
		return no_cwd(c, b, b->src);
	r = plan_resolve(c, b->opt, b->src, src);
	if (r < 0 && c->err->code)
		return r;
	if (r == 0 && stat(src, &st) < 0)
		r = -errno;
	if (r < 0)
		return b->optional && (r == -ENOENT || r == -ENOTDIR) ? 0 : missing_source(c, b, -r);
	r = check_source(c, b, src);
	if (r < 0)
		return r;
	m.src = src;
	m.flags |= b->kind == BIND_RO ? PMF_RO : 0;
	m.flags |= b->optional ? PMF_OPTIONAL : 0;
	m.flags |= S_ISDIR(st.st_mode) ? 0 : PMF_FILE;
	if (strcmp(src, "/") == 0)
		hide_kernel_fs(c, dst);
	mount_add(&c->cand, &m);
	if (b->kind == BIND_RW && S_ISDIR(st.st_mode))
		protect_repository(c, src, dst);
	return 0;
}

static int bind_tmpfs(struct plan_ctx *c, const struct bind_opt *b, char *dst)
{
	bool shared = strcmp(dst, "/tmp") == 0 || strcmp(dst, "/var/tmp") == 0;
	uint64_t bytes = b->size_bytes ? b->size_bytes : PLAN_TMP_BYTES;

	if (!b->size_bytes && bytes > c->memory_bytes)
		bytes = c->memory_bytes;
	mount_add(&c->cand, &(struct plan_mount){.kind = PM_TMPFS,
						 .flags = PMF_USER | (b->size_bytes ? PMF_SIZED : 0u),
						 .opt = b->opt,
						 .dst = dst,
						 .mode = shared ? 01777 : 0755,
						 .size_bytes = bytes,
						 .inodes = PLAN_INODES});
	return 0;
}

/* Every sandbox has these */
static bool is_basic_device(const char *path)
{
	static const char *const names[] = {"/dev/null",   "/dev/zero",	   "/dev/full",
					    "/dev/random", "/dev/urandom", "/dev/tty"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(path, names[i]) == 0)
			return true;
	}
	return false;
}

static int bind_dev(struct plan_ctx *c, const struct bind_opt *b, char *dst)
{
	static const char *const own[] = {"/dev/pts", "/dev/fd", "/dev/ptmx", "/dev/shm", "/dev/mqueue"};
	char src[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (!realpath(dst, src) || stat(src, &st) < 0)
		return ak_err_sys(c->err, errno, "%s \"%s\"", b->opt, b->src);
	if (!ak_path_below(dst, "/dev") || !ak_path_below(src, "/dev") ||
	    (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
		return ak_err_set(c->err, EINVAL, "%s \"%s\": is not a device below /dev", b->opt, b->src);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (ak_path_below(dst, own[i]) || ak_path_below(src, own[i]))
			return refuse(c, b, b->src, "the sandbox has its own");
	}
	if (is_basic_device(dst))
		return 0;
	mount_add(&c->cand, &(struct plan_mount){.kind = PM_DEVNODE,
						 .flags = PMF_USER | PMF_FILE,
						 .opt = b->opt,
						 .src = src,
						 .dst = dst});
	return 0;
}

/* A name that means another file to each process, or to one that is not there yet: a cover would hide it from nobody */
static bool of_one_process(const char *path)
{
	static const char *const names[] = {"/proc/self", "/proc/thread-self", "/proc/mounts", "/proc/net",
					    "/dev/fd",	  "/dev/stdin",	       "/dev/stdout",  "/dev/stderr"};
	const char *pid = ak_path_below(path, "/proc") && path[5] ? path + 6 : "";
	size_t digits = strspn(pid, "0123456789");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (ak_path_below(path, names[i]))
			return true;
	}
	/* 1 is ak-init from the beginning to the end */
	return digits > 0 && (pid[digits] == '\0' || pid[digits] == '/') && !ak_path_below(path, "/proc/1");
}

static int bind_hide(struct plan_ctx *c, const struct bind_opt *b, char *dst)
{
	if (strcmp(dst, "/") == 0 || strcmp(dst, "/proc") == 0 || strcmp(dst, "/dev") == 0) {
		ak_err_set(c->err, EINVAL, "%s \"%s\": nothing can run without it", b->opt, dst);
		ak_err_hint(c->err,
			    "hide single folders; of the host only system folders are visible anyway");
		return -EINVAL;
	}
	if (of_one_process(dst)) {
		ak_err_set(c->err, EINVAL, "%s \"%s\": belongs to one process each, and cannot be hidden from all", b->opt, dst);
		ak_err_hint(c->err, "what is the host's in /proc is hidden already; leave the option out");
		return -EINVAL;
	}
	mount_add(&c->hides,
		  &(struct plan_mount){.kind = PM_HIDE, .flags = PMF_USER, .opt = b->opt, .dst = dst});
	return 0;
}

static int bind_one(struct plan_ctx *c, const struct bind_opt *b, char *dst)
{
	int r;

	if (b->kind == BIND_HIDE)
		return bind_hide(c, b, dst);
	r = check_target(c, b, dst);
	if (r < 0)
		return r;
	if (b->kind == BIND_TMPFS)
		return bind_tmpfs(c, b, dst);
	if (b->kind == BIND_DEV)
		return bind_dev(c, b, dst);
	return bind_path(c, b, dst);
}

int plan_binds(struct plan_ctx *c)
{
	for (size_t i = 0; i < c->o->nbinds; i++) {
		const struct bind_opt *b = &c->o->binds[i];
		char *dst = NULL;
		int r = absolute(c, b, b->dst ? b->dst : b->src, &dst);

		if (r == 0)
			r = bind_one(c, b, dst);
		free(dst);
		if (r < 0)
			return r;
	}
	return 0;
}
