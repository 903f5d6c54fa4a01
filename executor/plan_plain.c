/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans a run without namespaces (--isolation landlock): the same root view, toolchains, workspace and binds, but as Landlock rules
 * on the host's own paths. Process: executor. Privilege: none.
 *
 * Rules only add: what a rule on a folder allows holds for everything below it. So nothing below a writable place can be read-only
 * or hidden, and what is hidden below a read-only one costs that folder its rule: its entries get one each. What cannot be said
 * that way is refused by name; docs/landlock.md has the table.
 */
#include "executor/plan_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"

/* What a command may use of /dev: not its terminals, which belong to the caller, and not /dev/shm, which everybody shares */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};

static int refuse(struct plan_ctx *c, const char *opt, const char *value, const char *why, const char *hint)
{
	ak_err_set(c->err, EOPNOTSUPP, "%s%s%s: cannot be kept with --isolation landlock: %s", opt, value ? " " : "",
		   value ? value : "", why);
	ak_err_hint(c->err, "%s", hint);
	return -EOPNOTSUPP;
}

static int refuse_root(struct plan_ctx *c)
{
	ak_err_set(c->err, EPERM, "--isolation landlock: not as root");
	ak_err_hint(c->err, "Landlock does not cover chmod, chown and the like, and the system's files are root's: run ak as an ordinary "
			    "user (setpriv --reuid=UID --regid=GID --clear-groups ak ...)");
	return -EPERM;
}

static int check_user(struct plan_ctx *c)
{
	const struct exec_opts *o = c->o;

	if (!o->user_given || (o->uid == c->h->uid && (!o->gid_given || o->gid == c->h->gid)))
		return 0;
	return refuse(c, "--user", NULL, "there is no id map", "the command runs as the caller; leave --user out");
}

static const char needs_mounts[] = "without a mount namespace everything has the place it has on the host";

static int check_bind(struct plan_ctx *c, const struct bind_opt *b)
{
	if (b->kind == BIND_TMPFS)
		return refuse(c, "--tmpfs", b->dst, needs_mounts, "HOME and TMPDIR are private folders on the host's disk");
	if (b->dst && b->src && strcmp(b->dst, b->src) != 0)
		return refuse(c, b->opt, b->src, needs_mounts, "leave :DST out, and use the host's path inside");
	return 0;
}

/* Options that mean nothing without namespaces */
static int check_options(struct plan_ctx *c)
{
	const struct exec_opts *o = c->o;
	int r = check_user(c);

	if (c->h->root)
		return refuse_root(c);
	if (r == 0 && (!c->host_view || o->rootfs_write != ROOTFS_WRITE_NONE))
		r = refuse(c, c->host_view ? "--rootfs-write" : "--rootfs", NULL, needs_mounts, "leave it out");
	if (r == 0 && o->disk_bytes)
		r = refuse(c, "--disk", NULL, "nothing counts the bytes on the host's disk",
			   "--fsize SIZE bounds each file");
	for (size_t i = 0; i < o->nbinds && r == 0; i++)
		r = check_bind(c, &o->binds[i]);
	return r;
}

static int no_memory(struct plan_ctx *c)
{
	return ak_err_set(c->err, ENOMEM, "not enough memory for the plan");
}

/* --- rules --- */

static int add_rule(struct plan_ctx *c, const char *path, uint32_t access)
{
	struct plan *p = c->p;
	struct init_path *grown;
	char *copy;

	for (size_t i = 0; i < p->npaths; i++) {
		if ((p->paths[i].access == access || p->paths[i].access == INIT_PATH_RW) &&
		    ak_path_below(path, p->paths[i].path))
			return 0;
	}
	if (p->npaths >= AK_INIT_PATHS_MAX) {
		ak_err_set(c->err, E2BIG, "the plan has more than %u Landlock rules", AK_INIT_PATHS_MAX);
		ak_err_hint(c->err, "a folder is shown entry by entry where something in it is hidden: show smaller folders");
		return -E2BIG;
	}
	grown = reallocarray(p->paths, p->npaths + 1, sizeof(*grown));
	copy = strdup(path);
	if (grown)
		p->paths = grown;
	if (!grown || !copy) {
		free(copy);
		return no_memory(c);
	}
	p->paths[p->npaths++] = (struct init_path){.path = copy, .access = access};
	return 0;
}

/* Is @path hidden as a whole; or does something hidden that exists lie below it? */
static const struct plan_mount *hidden(const struct plan_ctx *c, const char *path, bool below)
{
	for (size_t i = 0; i < c->hides.n; i++) {
		const struct plan_mount *h = &c->hides.v[i];

		if (below ? ak_path_below(h->dst, path) && access(h->dst, F_OK) == 0 : ak_path_below(path, h->dst))
			return h;
	}
	return NULL;
}

/* A readable place, entry by entry where something in it is hidden; links are not followed, what they lead to has its own rule */
static int show_readable(struct plan_ctx *c, const char *path, unsigned depth)
{
	struct ak_dir dir AK_UNINIT;
	char child[PATH_MAX] AK_UNINIT;
	unsigned char type;
	const char *name;
	int r = 0;

	if (hidden(c, path, false))
		return 0;
	if (!hidden(c, path, true))
		return add_rule(c, path, INIT_PATH_RX);
	if (depth == 0 || ak_dir_open(&dir, path) < 0)
		return 0;	/* what cannot be taken apart is not shown */
	while (r == 0 && ak_dir_next(&dir, &name, &type)) {
		struct stat st;

		if (snprintf(child, sizeof(child), "%s/%s", strcmp(path, "/") ? path : "", name) < PATH_MAX &&
		    lstat(child, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
			r = show_readable(c, child, depth - 1);
	}
	ak_dir_close(&dir);
	return r;
}

#define SHOW_DEPTH 32u

static int show_writable(struct plan_ctx *c, const struct plan_mount *m)
{
	const struct plan_mount *h = hidden(c, m->src, true);

	if (!h)
		h = hidden(c, m->src, false);
	if (h && (h->flags & PMF_USER))
		return refuse(c, "--hide", h->dst, "it lies in a writable place, and rules only add",
			      "show a smaller folder writable, or the workspace with --write none");
	if (h) {
		ak_err_set(c->err, EPERM, "%s \"%s\": holds \"%s\", which cannot be hidden with --isolation landlock",
			   m->opt ? m->opt : "workspace", m->src, h->dst);
		ak_err_hint(c->err, "show a smaller folder");
		return -EPERM;
	}
	return add_rule(c, m->src, INIT_PATH_RW);
}

/* A bind that is read-only in name only */
static int check_readable(struct plan_ctx *c, const struct plan_mount *m)
{
	for (size_t i = 0; i < c->p->npaths && (m->flags & PMF_USER); i++) {
		const struct init_path *w = &c->p->paths[i];

		if (w->access == INIT_PATH_RW && ak_path_below(m->src, w->path))
			return refuse(c, m->opt, m->src, "it lies in a writable place, and rules only add",
				      "show a smaller folder writable, or the workspace with --write none");
	}
	return 0;
}

static bool writable(const struct plan_mount *m)
{
	return m->kind == PM_BIND && !(m->flags & PMF_RO);
}

static int row_rule(struct plan_ctx *c, const struct plan_mount *m)
{
	char real[PATH_MAX] AK_UNINIT;
	struct stat st;
	int r;

	switch (m->kind) {
	case PM_BIND:
		r = check_readable(c, m);
		return r < 0 ? r : show_readable(c, m->src, SHOW_DEPTH);
	case PM_FILE:	/* ours elsewhere; here the host's, which everybody may read */
		return realpath(m->dst, real) && stat(real, &st) == 0 && (st.st_mode & S_IROTH) ? add_rule(c, real, INIT_PATH_RX) : 0;
	case PM_PROC:	/* not to be written: other processes of the caller's have files there */
		return add_rule(c, m->dst, INIT_PATH_RX);
	case PM_DEVNODE:
		return add_rule(c, m->src, INIT_PATH_DEV);
	default:
		return 0;
	}
}

/* Writable places first: whatever lies in one is covered, and must not be promised otherwise */
static int rules(struct plan_ctx *c)
{
	const struct mount_list *lists[] = {&c->sys, &c->placed};
	int r = 0;

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < lists[k]->n && r == 0; i++) {
			if (writable(&lists[k]->v[i]))
				r = show_writable(c, &lists[k]->v[i]);
		}
	}
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < lists[k]->n && r == 0; i++) {
			if (!writable(&lists[k]->v[i]))
				r = row_rule(c, &lists[k]->v[i]);
		}
	}
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]) && r == 0; i++)
		r = add_rule(c, devices[i], INIT_PATH_DEV);
	return r == 0 ? add_rule(c, c->p->scratch, INIT_PATH_RW) : r;
}

/* --- what the kernel counts for RLIMIT_NPROC --- */

static uint64_t threads_of(int proc, const char *pid)
{
	char path[64], text[2048];
	const char *uid, *threads;
	AK_AUTO_FD fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%.16s/status", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	uid = strstr(text, "\nUid:");
	threads = strstr(text, "\nThreads:");
	if (!uid || !threads || strtoul(uid + 5, NULL, 10) != getuid())
		return 0;
	return strtoul(threads + 9, NULL, 10);
}

uint64_t plan_count_tasks(void)
{
	struct ak_dir dir AK_UNINIT;
	unsigned char type;
	const char *name;
	uint64_t n = 0;

	if (ak_dir_open(&dir, "/proc") < 0)
		return 0;
	while (ak_dir_next(&dir, &name, &type)) {
		if (name[0] >= '0' && name[0] <= '9')
			n += threads_of(dir.fd, name);
	}
	ak_dir_close(&dir);
	return n;
}

/* --- the private folder, made when the command starts (plain.c) --- */

static int scratch_name(struct plan_ctx *c)
{
	uint64_t random = plan_random();

	if (asprintf(&c->p->scratch, "%s/" PLAN_SCRATCH_DIR "/%d-%012llx", c->h->state_dir, (int)getpid(),
		     (unsigned long long)(random & 0xffffffffffffu)) < 0) {
		c->p->scratch = NULL;
		return no_memory(c);
	}
	return 0;
}

static int plain_home(struct plan_ctx *c)
{
	int r = scratch_name(c);

	if (r < 0)
		return r;
	if (asprintf(&c->p->home, "%s/home", c->p->scratch) < 0) {
		c->p->home = NULL;
		return no_memory(c);
	}
	return 0;
}

/* Nothing is resolved and placed, since every place is the host's own */
static int place(struct plan_ctx *c)
{
	for (size_t i = 0; i < c->cand.n; i++) {
		if (c->cand.v[i].kind != PM_TMPFS && c->cand.v[i].kind != PM_DIR)
			(void)mount_add(&c->placed, &c->cand.v[i]);
	}
	return c->placed.error || c->sys.error || c->cand.error || c->hides.error ? no_memory(c) : 0;
}

static void warn(struct plan_ctx *c)
{
	struct plan *p = c->p;

	plan_warn(p, "no namespaces (--isolation landlock): the machine's processes are visible with their command lines, and "
		     "stat, chmod, chown, times, attributes and file events of the caller's other files are not covered");
	if (p->write == WRITE_DIRECT)
		plan_warn(p, "protected names of the workspace (git hooks and the like) are writable: Landlock rules only add");
	if (p->net == NET_NONE)
		plan_warn(p, "no socket can be made at all, not even on loopback, since only that keeps UDP out");
	else
		plan_warn(p, "sockets with a name in the file system cannot be reached, but the whole network can");
	plan_warn(p, "HOME and TMPDIR are private folders on the host's disk without a limit of size; /tmp and /dev/shm are closed");
}

int plan_plain(struct plan_ctx *c)
{
	static int (*const stages[])(struct plan_ctx *) = {
		check_options, plan_workspace_find, plan_identity, plain_home, plan_root_view,
		plan_path,     plan_workspace,	    plan_binds,	   place,      plan_secrets,
	};
	int r = 0;

	c->p->plain = true;
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && r == 0; i++)
		r = stages[i](c);
	if (r == 0)
		r = rules(c);
	if (r == 0)
		r = plan_limits(c);
	if (r == 0)
		r = plan_env(c);
	if (r == 0)
		warn(c);
	return r;
}
