/* SPDX-License-Identifier: Apache-2.0 */
/* Plans resource limits and Landlock rules. Process: executor. Privilege:
 * none. */
#include "executor/plan_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_path.h"

#define NOFILE_SOFT 1024u
#define NOFILE_HARD 4096u
#define MEMLOCK_BYTES 65536u
#define MSGQUEUE_BYTES 819200u
#define SIGPENDING 4096u
#define STACK_BYTES (8 * MIB)
#define NO_LIMIT UINT64_MAX

static uint64_t from_rlim(rlim_t v)
{
	return v == RLIM_INFINITY ? NO_LIMIT : (uint64_t)v;
}

/* nobody here has CAP_SYS_RESOURCE in the initial user namespace */
int plan_rlimit(struct plan *p, const struct wanted *w, struct ak_err *err)
{
	struct rlimit now;
	uint64_t ceiling, soft = w->soft, hard = w->hard;

	if (getrlimit((int)w->resource, &now) < 0)
		return ak_err_sys(err, errno, "read resource limit %u", w->resource);
	ceiling = from_rlim(now.rlim_max);
	if (hard > ceiling && w->given) {
		ak_err_set(err, EPERM, "%s: the caller's own hard limit is %llu", w->given,
			   (unsigned long long)ceiling);
		ak_err_hint(err, "give at most that, or raise the limit of the calling shell (ulimit -H)");
		return -EPERM;
	}
	if (hard > ceiling)
		hard = ceiling;
	if (soft > hard)
		soft = hard;
	if (p->nrlimits >= AK_INIT_RLIMITS_MAX)
		return ak_err_set(err, E2BIG, "too many resource limits");
	p->rlimits[p->nrlimits++] = (struct plan_rlimit){.resource = w->resource, .soft = soft, .hard = hard};
	return 0;
}

/* 1 stops core handlers in pipes, which 0 does not: core(5), "Piping core dumps to a program" */
static int core_limit(struct plan_ctx *c)
{
	int r = plan_rlimit(c->p, &(struct wanted){RLIMIT_CORE, 1, 1, NULL}, c->err);

	if (r == 0 && c->p->rlimits[c->p->nrlimits - 1].hard < 1) {
		char *pattern = NULL;
		size_t len;

		if (ak_read_file("/proc/sys/kernel/core_pattern", 4096, &pattern, &len) == 0 &&
		    pattern[0] == '|')
			plan_warn(c->p,
				  "the caller's hard core limit is 0: the host's core handler sees crashes");
		free(pattern);
	}
	return r;
}

static int fixed_limits(struct plan_ctx *c)
{
	const struct exec_opts *o = c->o;
	const uint64_t cpu_s = o->cpu_time_ms / 1000 + (o->cpu_time_ms % 1000 != 0) + 1;
	const struct wanted table[] = {
		{RLIMIT_NOFILE, o->nofile ? o->nofile : NOFILE_SOFT, o->nofile ? o->nofile : NOFILE_HARD,
		 o->nofile ? "--nofile" : NULL},
		{RLIMIT_STACK, STACK_BYTES, NO_LIMIT, NULL},
		{RLIMIT_MEMLOCK, MEMLOCK_BYTES, MEMLOCK_BYTES, NULL},
		{RLIMIT_MSGQUEUE, MSGQUEUE_BYTES, MSGQUEUE_BYTES, NULL},
		{RLIMIT_SIGPENDING, SIGPENDING, SIGPENDING, NULL},
		{RLIMIT_RTPRIO, 0, 0, NULL},
		{RLIMIT_NICE, 0, 0, NULL},
		/* optional from here on */
		{RLIMIT_FSIZE, o->fsize_bytes, o->fsize_bytes, "--fsize"},
		{RLIMIT_CPU, cpu_s, cpu_s + 1, "--cpu-time"}, /* a net: ak's watcher counts the whole tree */
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int r;

		if ((table[i].resource == RLIMIT_FSIZE && !o->fsize_bytes) ||
		    (table[i].resource == RLIMIT_CPU && !o->cpu_time_ms))
			continue;
		r = plan_rlimit(c->p, &table[i], c->err);
		if (r < 0)
			return r;
	}
	return 0;
}

int plan_limits(struct plan_ctx *c)
{
	int r = core_limit(c);

	return r < 0 ? r : fixed_limits(c);
}

static int add_rule(struct plan_ctx *c, const char *path, uint32_t access)
{
	struct plan *p = c->p;
	struct init_path *grown;
	char *copy;

	for (size_t i = 0; i < p->npaths; i++) {
		if (p->paths[i].access == access && access == INIT_PATH_RW &&
		    ak_path_below(path, p->paths[i].path))
			return 0;
	}
	if (p->npaths >= AK_INIT_PATHS_MAX)
		return ak_err_set(c->err, E2BIG, "more than %u writable places", AK_INIT_PATHS_MAX);
	grown = reallocarray(p->paths, p->npaths + 1, sizeof(*grown));
	copy = strdup(path);
	if (grown)
		p->paths = grown;
	if (!grown || !copy) {
		free(copy);
		return ak_err_set(c->err, ENOMEM, "not enough memory for the plan");
	}
	p->paths[p->npaths++] = (struct init_path){.path = copy, .access = access};
	return 0;
}

/*
 * The mounts say what is read-only; the rules say it again, so that a fault in one of them is not enough. A
 * rule holds for everything below its path: read-only mounts below a writable place need none.
 */
static int mount_rule(struct plan_ctx *c, const struct plan_mount *m)
{
	int r = 0;

	if (m->kind == PM_PROC || m->kind == PM_DEV)
		r = add_rule(c, m->dst, INIT_PATH_DEV);
	if (r == 0 && m->kind == PM_DEV)
		r = add_rule(c, "/dev/shm", INIT_PATH_RW);
	if ((m->kind == PM_TMPFS || m->kind == PM_BIND) && !(m->flags & (PMF_RO | PMF_PROTECT)))
		r = add_rule(c, m->dst, INIT_PATH_RW);
	return r;
}

int plan_landlock(struct plan_ctx *c)
{
	int r = add_rule(c, "/", c->p->root == PLAN_ROOT_OVERLAY ? INIT_PATH_RW : INIT_PATH_RX);

	for (size_t i = 0; i < c->p->nmounts && r == 0; i++)
		r = mount_rule(c, &c->p->mounts[i]);
	return r;
}
