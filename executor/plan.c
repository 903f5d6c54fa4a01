/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan of one sandbox from options and host facts. Process: executor. Privilege: none. */
#include "executor/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "executor/plan_priv.h"
#include "executor/shared/ak_clock.h"

#define RANGE_UID 1000u
#define RANGE_UID_MAX 65533u /* 65,536 ids a slot; the last two mean "nobody" and "none" */

__attribute__((format(printf, 2, 0))) static bool add_warning(struct plan *p, const char *fmt, va_list ap)
{
	char *text = NULL;

	if (p->nwarnings >= PLAN_WARNINGS_MAX || vasprintf(&text, fmt, ap) < 0)
		return false;
	p->warnings[p->nwarnings++] = text;
	return true;
}

void plan_warn(struct plan *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)add_warning(p, fmt, ap);
	va_end(ap);
}

void plan_notice(struct plan *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (add_warning(p, fmt, ap))
		p->told |= 1u << (p->nwarnings - 1);
	va_end(ap);
}

static int no_memory(struct plan_ctx *c)
{
	return ak_err_set(c->err, ENOMEM, "not enough memory for the plan");
}

static int identity_kind(struct plan_ctx *c)
{
	struct plan *p = c->p;

	if (c->o->identity == IDENTITY_ROOT && !c->h->root) {
		ak_err_set(c->err, EPERM, "--identity root: ak was not started by root");
		ak_err_hint(c->err, "--user 0 gives uid 0 inside without any right outside");
		return -EPERM;
	}
	if (c->o->identity == IDENTITY_ROOT && c->o->nesting) {
		ak_err_set(c->err, EPERM, "--nesting: not with --identity root");
		ak_err_hint(c->err, "a /proc that is mounted inside has no covers, and host uid 0 may write to it");
		return -EPERM;
	}
	if (c->o->identity == IDENTITY_ROOT)
		p->identity = PLAN_ID_ROOT;
	else
		p->identity = c->h->root ? PLAN_ID_RANGE : PLAN_ID_SAME;
	return 0;
}

static int check_ids(struct plan_ctx *c)
{
	const struct plan *p = c->p;
	uint32_t max = p->identity == PLAN_ID_RANGE ? RANGE_UID_MAX : UINT32_MAX - 1;

	if (p->uid <= max && p->gid <= max)
		return 0;
	return ak_err_set(c->err, EINVAL, "--user %u:%u: ids inside go up to %u", p->uid, p->gid, max);
}

/* A name that belongs to another uid would be two rows of one name in /etc/passwd */
static const char *user_name(const struct plan_ctx *c)
{
	if (c->p->uid == 0)
		return "root";
	if (c->p->identity == PLAN_ID_SAME && strcmp(c->h->user, "root") != 0 &&
	    strcmp(c->h->user, "nobody") != 0)
		return c->h->user;
	return "sandbox";
}

int plan_identity(struct plan_ctx *c)
{
	const struct exec_opts *o = c->o;
	struct plan *p = c->p;
	int r = identity_kind(c);

	if (r < 0)
		return r;
	if (p->identity == PLAN_ID_SAME) {
		p->uid = o->user_given ? o->uid : c->h->uid;
		p->gid = o->user_given && o->gid_given ? o->gid : c->h->gid;
	} else {
		p->uid = o->user_given ? o->uid : p->identity == PLAN_ID_ROOT ? 0 : RANGE_UID;
		p->gid = o->user_given && o->gid_given ? o->gid : p->uid;
	}
	r = check_ids(c);
	if (r < 0)
		return r;
	p->user = strdup(user_name(c));
	return p->user ? 0 : no_memory(c);
}

/* Set-id files made here would have their meaning on the host only if they belong to ids of the host */
static bool writes_to_host(const struct plan *p)
{
	for (size_t i = 0; i < p->nmounts; i++) {
		const struct plan_mount *m = &p->mounts[i];

		if (m->kind == PM_BIND && (m->flags & (PMF_USER | PMF_WORKSPACE)) && !(m->flags & PMF_RO))
			return true;
	}
	return false;
}

/* sys, placed, pins, hides: one after the other is the order in which they are carried out */
static int assemble(struct plan_ctx *c)
{
	struct mount_list *const lists[] = {&c->sys, &c->placed, &c->pins, &c->hides};
	size_t n = c->sys.n + c->placed.n + c->pins.n + c->hides.n;

	for (size_t k = 0; k < 4; k++) {
		if (lists[k]->error == -ENOMEM)
			return no_memory(c);
		if (lists[k]->error < 0 || c->cand.error == -E2BIG || n > PLAN_MOUNTS_MAX)
			return ak_err_set(c->err, E2BIG, "the plan has more than %u mounts", PLAN_MOUNTS_MAX);
	}
	if (c->cand.error < 0)
		return no_memory(c);
	c->p->mounts = calloc(n, sizeof(c->p->mounts[0]));
	if (!c->p->mounts)
		return no_memory(c);
	for (size_t k = 0; k < 4; k++) {
		if (lists[k]->n > 0)
			memcpy(c->p->mounts + c->p->nmounts, lists[k]->v,
			       lists[k]->n * sizeof(lists[k]->v[0]));
		c->p->nmounts += lists[k]->n;
		lists[k]->n = 0; /* the entries have moved */
	}
	return 0;
}

static void copy_options(struct plan_ctx *c)
{
	const struct exec_opts *o = c->o;
	struct plan *p = c->p;

	p->write = o->write;
	p->net = o->net;
	p->hostname = "sandbox";
	p->argv = o->argv;
	p->argc = o->argc > 0 ? (size_t)o->argc : 0;
	p->seccomp = o->seccomp_file ? o->seccomp_file : o->seccomp;
	p->tty = o->tty;
	p->nesting = o->nesting;
	p->keep_fds = o->fds;
	p->nkeep_fds = o->nfds;
	c->host_view = !o->rootfs || strcmp(o->rootfs, "host") == 0;
	c->memory_bytes = o->memory_bytes.max ? UINT64_MAX : o->memory_bytes.value;
}

static int mounts_of(struct plan_ctx *c)
{
	static int (*const stages[])(struct plan_ctx *) = {
		plan_workspace_find, plan_identity, plan_home,	plan_root_view, plan_path,
		plan_workspace,	     plan_binds,    plan_place, plan_secrets,	plan_hides,
		plan_pins,
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]) && r == 0; i++)
		r = stages[i](c);
	return r;
}

uint64_t plan_random(void)
{
	uint64_t r = 0;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != (ssize_t)sizeof(r))
		r = ak_now_ns();	/* early at boot; what is made with it fails when the name is taken */
	return r;
}

/* with namespaces: everything from the mounts */
static int build_mounted(struct plan_ctx *c)
{
	int r = mounts_of(c);

	if (r == 0)
		r = plan_limits(c);
	if (r == 0)
		r = plan_env(c);
	if (r == 0)
		r = assemble(c);
	if (r == 0)
		r = plan_disk(c);
	return r < 0 ? r : plan_landlock(c);
}

int plan_build(const struct exec_opts *o, const struct hostinfo *h, struct plan *ret, struct ak_err *err)
{
	struct ak_err own = {0};
	struct plan_ctx c = {.o = o, .h = h, .p = ret, .err = err ? err : &own, .weak = ak_weaken_mask()};
	int r;

	*ret = (struct plan){.rootfs_fd = -1, .cow_layer_fd = -1};
	copy_options(&c);
	r = o->isolation == ISOLATION_LANDLOCK ? plan_plain(&c) : build_mounted(&c);
	ret->allow_setid = r == 0 && !ret->plain && !writes_to_host(ret);
	/* also where files can get a group that others are in */
	ret->floor_setgid = ret->identity != PLAN_ID_SAME || h->ngroups > 0 || ret->plain || ret->nesting;
	mount_list_release(&c.sys);
	mount_list_release(&c.cand);
	mount_list_release(&c.placed);
	plan_homes_release(&c);
	mount_list_release(&c.pins);
	mount_list_release(&c.hides);
	free(c.path_env);
	return r;
}

static void release_mounts(struct plan *p)
{
	for (size_t i = 0; i < p->nmounts; i++) {
		free(p->mounts[i].src);
		free(p->mounts[i].dst);
		if (p->mounts[i].src_fd >= 0)
			close(p->mounts[i].src_fd);
	}
	free(p->mounts);
}

void plan_release(struct plan *p)
{
	if (p->rootfs_fd >= 0)
		close(p->rootfs_fd);
	if (p->cow_layer && p->cow_layer_fd >= 0)
		close(p->cow_layer_fd);
	release_mounts(p);
	for (size_t i = 0; i < p->envc; i++)
		free(p->envp[i]);
	free(p->envp);
	for (size_t i = 0; i < p->npaths; i++)
		free((char *)p->paths[i].path);
	free(p->paths);
	for (size_t i = 0; i < p->nwarnings; i++)
		free(p->warnings[i]);
	free(p->filter);
	free(p->rootfs);
	free(p->cow_layer);
	free(p->workspace);
	free(p->cwd);
	free(p->user);
	free(p->home);
	free(p->scratch);
	*p = (struct plan){0};
}
