/* SPDX-License-Identifier: Apache-2.0 */
/* Seals and narrows policies: decisions only, no system call. Process: executor. Privilege: none. */
#include "executor/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "executor/backend.h"
#include "executor/ns/cgroup_place.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"

#define MEMORY_MIN (1u << 20)	/* below, not even a shell starts; a wish like that is a mistake */

static uint64_t or_none(uint64_t v)
{
	return v ? v : POLICY_NONE;
}

static uint64_t limit_of(const struct limit_opt *l)
{
	return l->max ? POLICY_NONE : l->value;
}

void policy_seal(struct policy *p, const struct plan *plan, const struct exec_opts *opts, int landlock_abi, bool tell_paths)
{
	*p = (struct policy){
		.plan = *plan,
		.memory_bytes = limit_of(&opts->memory_bytes),
		.cpu_milli = limit_of(&opts->cpu_milli),
		.pids = limit_of(&opts->pids),
		.cpu_time_ms = or_none(opts->cpu_time_ms),
		.timeout_ms = or_none(opts->timeout_ms),
		.kill_after_ms = opts->kill_after_ms,
		.max_output = opts->max_output_bytes,
		.given_output = opts->max_output_bytes != UINT64_MAX,
		.nofile = or_none(opts->nofile),
		.given_nofile = opts->nofile != 0,
		.fsize_bytes = or_none(opts->fsize_bytes),
		.disk_bytes = or_none(opts->disk_bytes),
		.jobs = true,
		.landlock_abi = landlock_abi,
		.tell_paths = tell_paths,
		.root = opts->rootfs,	/* the plan's may be a place of the executor's own by now: privs_keep_mounts() */
	};
	p->plan.serve = true;
	p->plan.tty = false;	/* a command's own matter, as all that follows */
	p->plan.argv = NULL;
	p->plan.argc = 0;
	p->plan.nkeep_fds = 0;
}

/* ---- numbers ---- */

/* @asked 0: as it is. Return: 0; -EPERM when it is more than @now */
static int lower(const char *name, uint64_t asked, uint64_t *now, struct ak_err *err)
{
	if (asked == 0)
		return 0;
	if (asked > *now) {
		(void)ak_err_set(err, EPERM, "%s %llu is more than the sealed policy's %llu", name, (unsigned long long)asked,
				 (unsigned long long)*now);
		ak_err_hint(err, "a request can only ask for less");
		return -EPERM;
	}
	*now = asked;
	return 0;
}

static struct plan_rlimit *find_rlimit(struct plan *p, uint32_t resource)
{
	for (size_t i = 0; i < p->nrlimits; i++)
		if (p->rlimits[i].resource == resource)
			return &p->rlimits[i];
	return NULL;
}

/* a row is lowered, or made where there was none: that is lower too */
static int lower_rlimit(struct plan *p, uint32_t resource, uint64_t soft, uint64_t hard, struct ak_err *err)
{
	struct plan_rlimit *r = find_rlimit(p, resource);

	if (!r) {
		if (p->nrlimits >= AK_INIT_RLIMITS_MAX)
			return ak_err_set(err, E2BIG, "too many resource limits");
		r = &p->rlimits[p->nrlimits++];
		*r = (struct plan_rlimit){ .resource = resource, .soft = UINT64_MAX, .hard = UINT64_MAX };
	}
	if (soft < r->soft)
		r->soft = soft;
	if (hard < r->hard)
		r->hard = hard;
	return 0;
}

static uint64_t cpu_seconds(uint64_t ms)
{
	return ms / 1000 + (ms % 1000 != 0) + 1;	/* a net above the watcher, as plan_limits.c has it */
}

static int narrow_cpus(struct policy *p, uint64_t asked, struct ak_err *err)
{
	if (asked && !(p->cgroup & CGROUP_CPU)) {
		(void)ak_err_set(err, EOPNOTSUPP, "cpus: a share of the processors needs a cgroup, which is not used here");
		ak_err_hint(err, "cpu_time bounds the total and is enforced");
		return -EOPNOTSUPP;
	}
	return lower("cpus", asked, &p->cpu_milli, err);
}

/* what a tmpfs may hold is memory of the sandbox */
static void shrink_tmpfs(struct policy *p)
{
	for (size_t i = 0; i < p->plan.nmounts; i++) {
		struct plan_mount *m = &p->owned.mounts[i];

		if ((m->kind == PM_TMPFS || m->kind == PM_DEV) && m->size_bytes > p->memory_bytes)
			m->size_bytes = p->memory_bytes;
	}
	if (p->plan.root_size_bytes > p->memory_bytes)
		p->plan.root_size_bytes = p->memory_bytes;
}

static int narrow_memory(struct policy *p, uint64_t asked, struct ak_err *err)
{
	if (asked && asked < MEMORY_MIN)
		return ak_err_set(err, EINVAL, "memory %llu is less than a command can live with", (unsigned long long)asked);
	if (lower("memory", asked, &p->memory_bytes, err) < 0)
		return -EPERM;
	if (asked)
		shrink_tmpfs(p);
	return 0;
}

static int narrow_pids(struct policy *p, uint64_t asked, struct ak_err *err)
{
	if (lower("pids", asked, &p->pids, err) < 0)
		return -EPERM;
	if (!asked)
		return 0;
	if (p->plan.identity == PLAN_ID_ROOT && (p->cgroup & CGROUP_PIDS))
		return 0;	/* the group of the new sandbox holds it */
	if (p->plan.identity == PLAN_ID_ROOT)
		return ak_err_set(err, EOPNOTSUPP, "pids: the kernel does not count processes of host uid 0, and no cgroup is used");
	return lower_rlimit(&p->plan, RLIMIT_NPROC, asked + 1, asked + 1, err);	/* ak-init counts; it adds its helpers itself */
}

static int narrow_numbers(struct policy *p, const struct ak_create *how, struct ak_err *err)
{
	int r = narrow_memory(p, how->memory_bytes, err);

	if (r == 0)
		r = narrow_cpus(p, how->cpu_milli, err);
	if (r == 0)
		r = narrow_pids(p, how->pids, err);
	if (r == 0)
		r = lower("cpu_time", how->cpu_time_ms, &p->cpu_time_ms, err);
	if (r == 0 && how->cpu_time_ms)
		r = lower_rlimit(&p->plan, RLIMIT_CPU, cpu_seconds(how->cpu_time_ms), cpu_seconds(how->cpu_time_ms) + 1, err);
	if (r == 0)
		r = lower("timeout", how->timeout_ms, &p->timeout_ms, err);
	if (r == 0)
		r = lower("max_output", how->max_output, &p->max_output, err);
	if (r == 0 && how->nofile && how->nofile < OPT_NOFILE_MIN)
		r = ak_err_set(err, EINVAL, "nofile: nothing starts with fewer than %u open files", OPT_NOFILE_MIN);
	if (r == 0)
		r = lower("nofile", how->nofile, &p->nofile, err);
	if (r == 0 && how->nofile)
		r = lower_rlimit(&p->plan, RLIMIT_NOFILE, how->nofile, how->nofile, err);
	if (r == 0)
		r = lower("fsize", how->fsize_bytes, &p->fsize_bytes, err);
	if (r == 0 && how->fsize_bytes)
		r = lower_rlimit(&p->plan, RLIMIT_FSIZE, how->fsize_bytes, how->fsize_bytes, err);
	p->given_output = p->given_output || how->max_output;
	p->given_nofile = p->given_nofile || how->nofile;
	return r;
}

/* a nofile wish is measured against what commands get, which is a default of ours where nobody set it */
static uint64_t nofile_now(const struct policy *p)
{
	const struct plan_rlimit *r = find_rlimit((struct plan *)&p->plan, RLIMIT_NOFILE);

	return r ? r->hard : p->nofile;
}

/* ---- what is seen and reached ---- */

/* the workspace and everything that was planned as a writable part of it */
static bool of_workspace(const struct plan *p, const struct plan_mount *m)
{
	return m->kind == PM_BIND && !(m->flags & PMF_RO) &&
	       ((m->flags & PMF_WORKSPACE) || ((m->flags & PMF_PROTECT) && ak_path_below(m->dst, p->workspace)));
}

static bool writable_elsewhere(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->nmounts; i++) {
		const struct plan_mount *m = &p->mounts[i];

		if ((m->kind == PM_BIND || m->kind == PM_TMPFS) && !(m->flags & PMF_RO) && strcmp(m->dst, path) == 0)
			return true;
	}
	return false;
}

/*
 * Mounts decide, Landlock says it again: the workspace's own rule is for reading from now on. The places that stay writable
 * below it have none of their own when the workspace's covered them, so they are added.
 */
static int narrow_paths(struct policy *p, struct ak_err *err)
{
	struct plan *plan = &p->plan;
	size_t n = plan->npaths;

	for (size_t i = 0; i < n; i++)
		if (p->owned.paths[i].access == INIT_PATH_RW && !writable_elsewhere(plan, p->owned.paths[i].path) &&
		    strcmp(p->owned.paths[i].path, plan->workspace) == 0)
			p->owned.paths[i].access = INIT_PATH_RX;
	for (size_t i = 0; i < plan->nmounts; i++) {
		const struct plan_mount *m = &plan->mounts[i];

		if ((m->kind != PM_BIND && m->kind != PM_TMPFS) || (m->flags & (PMF_RO | PMF_PROTECT)) ||
		    !ak_path_below(m->dst, plan->workspace))
			continue;
		if (n >= AK_INIT_PATHS_MAX)
			return ak_err_set(err, E2BIG, "more than %u writable places", AK_INIT_PATHS_MAX);
		p->owned.paths[n++] = (struct init_path){ .path = m->dst, .access = INIT_PATH_RW };
	}
	plan->npaths = n;
	return 0;
}

static int narrow_write(struct policy *p, struct ak_err *err)
{
	if (p->plan.write == WRITE_NONE)
		return 0;
	for (size_t i = 0; i < p->plan.nmounts; i++)
		if (of_workspace(&p->plan, &p->owned.mounts[i]))	/* and no copy: the workspace itself, to read */
			p->owned.mounts[i].flags = (p->owned.mounts[i].flags | PMF_RO) & ~(unsigned)PMF_COW;
	p->plan.write = WRITE_NONE;
	return narrow_paths(p, err);
}

static bool named(const char *row, const char *name)
{
	size_t n = strlen(name);

	return strncmp(row, name, n) == 0 && row[n] == '=';
}

static int narrow_env(struct policy *p, const struct ak_create *how, struct ak_err *err)
{
	for (uint32_t k = 0; k < how->nunset; k++) {
		size_t kept = 0;

		if (!how->unset[k][0] || strchr(how->unset[k], '='))
			return ak_err_set(err, EINVAL, "unset: \"%.100s\" is no name of a variable", how->unset[k]);
		for (size_t i = 0; i < p->plan.envc; i++)
			if (!named(p->owned.envp[i], how->unset[k]))
				p->owned.envp[kept++] = p->owned.envp[i];
		p->owned.envp[kept] = NULL;
		p->plan.envc = kept;
	}
	return 0;
}

static int narrow_flags(struct policy *p, const struct ak_create *how, struct ak_err *err)
{
	if (how->flags & AK_NARROW_NET_NONE)
		p->plan.net = NET_NONE;
	if (how->flags & AK_NARROW_STRICT)
		p->plan.seccomp = "strict";
	if (how->flags & AK_NARROW_NO_JOBS)
		p->jobs = false;
	return (how->flags & AK_NARROW_WRITE_NONE) ? narrow_write(p, err) : 0;
}

static void *copy_array(const void *from, size_t n, size_t room, size_t size)
{
	void *to = calloc(room ? room : 1, size);

	if (to && n)
		memcpy(to, from, n * size);
	return to;
}

static int own_arrays(struct policy *p, struct ak_err *err)
{
	p->owned.mounts = copy_array(p->plan.mounts, p->plan.nmounts, p->plan.nmounts, sizeof(p->plan.mounts[0]));
	p->owned.paths = copy_array(p->plan.paths, p->plan.npaths, AK_INIT_PATHS_MAX, sizeof(p->plan.paths[0]));
	p->owned.envp = copy_array(p->plan.envp, p->plan.envc, p->plan.envc + 1, sizeof(p->plan.envp[0]));
	if (!p->owned.mounts || !p->owned.paths || !p->owned.envp)
		return ak_err_set(err, ENOMEM, "not enough memory for a policy");
	p->plan.mounts = p->owned.mounts;
	p->plan.paths = p->owned.paths;
	p->plan.envp = p->owned.envp;
	return 0;
}

/* What another backend holds is made once, from the command line; what commands are measured by is ours */
static int check_held(const struct policy *p, const struct ak_create *how, struct ak_err *err)
{
	bool docker = p->plan.held && p->plan.held->backend == BACKEND_DOCKER;
	const char *what = how->memory_bytes ? "memory" : how->pids ? "pids" : how->cpu_milli ? "cpus" :
			   (how->flags & AK_NARROW_STRICT) ? "the profile strict" :
			   (how->flags & AK_NARROW_WRITE_NONE) && p->plan.write != WRITE_NONE ? "a read-only workspace" :
			   (how->flags & AK_NARROW_NET_NONE) && p->plan.net != NET_NONE ? "no network" :
			   docker && how->nunset ? "fewer variables" : docker && how->cpu_time_ms ? "cpu_time" : NULL;

	if (!p->plan.held || !what)
		return 0;
	(void)ak_err_set(err, EOPNOTSUPP, "%s: cannot be asked for with --backend %s", what, docker ? "docker" : "local");
	ak_err_hint(err, "the executor's own command line can say it, as far as this backend holds it");
	return -EOPNOTSUPP;
}

int policy_narrow(const struct policy *from, const struct ak_create *how, struct policy *ret, struct ak_err *err)
{
	struct policy p = *from;
	int r;

	memset(&p.owned, 0, sizeof(p.owned));
	p.nofile = nofile_now(from);
	r = check_held(from, how, err);
	if (r == 0)
		r = own_arrays(&p, err);
	if (r == 0)
		r = narrow_numbers(&p, how, err);
	if (r == 0)
		r = narrow_flags(&p, how, err);
	if (r == 0)
		r = narrow_env(&p, how, err);
	if (r < 0) {
		policy_release(&p);
		return r;
	}
	*ret = p;
	return 0;
}

void policy_release(struct policy *p)
{
	free(p->owned.mounts);
	free(p->owned.paths);
	free(p->owned.envp);
	*p = (struct policy){ 0 };
}

/* ---- one command ---- */

static int command_rlimit(const struct policy *p, const struct ak_rlimit *asked, struct policy_limits *ret, struct ak_err *err)
{
	const struct plan_rlimit *now = find_rlimit((struct plan *)&p->plan, asked->resource);

	if (now && asked->value > now->hard) {
		(void)ak_err_set(err, EPERM, "resource limit %u of %llu is more than the sandbox's %llu", asked->resource,
				 (unsigned long long)asked->value, (unsigned long long)now->hard);
		ak_err_hint(err, "a command can only ask for less");
		return -EPERM;
	}
	ret->rlimit[ret->nrlimits++] = *asked;
	return 0;
}

static int command_cpu_time(const struct policy *p, const struct ak_exec *m, struct policy_limits *ret, struct ak_err *err)
{
	int r;

	if (m->cpu_time_ms && p->plan.held && p->plan.held->backend == BACKEND_DOCKER)
		return ak_err_set(err, EOPNOTSUPP, "cpu_time: cannot be held with --backend docker");
	r = lower("cpu_time", m->cpu_time_ms, &ret->cpu_time_ms, err);
	if (r == 0 && m->cpu_time_ms)
		ret->rlimit[ret->nrlimits++] = (struct ak_rlimit){ RLIMIT_CPU, cpu_seconds(m->cpu_time_ms) };
	return r;
}

static int command_timeout(const struct ak_exec *m, struct policy_limits *ret, struct ak_err *err)
{
	uint64_t asked = m->timeout_ms ? m->timeout_ms : POLICY_NONE;

	if (!(m->flags & AK_EXEC_TIMEOUT_SET))
		return 0;
	if (m->timeout_ms > AK_TIMEOUT_MAX_MS)
		return ak_err_set(err, EINVAL, "timeout: %llu ms is more than a year", (unsigned long long)m->timeout_ms);
	if (asked > ret->timeout_ms) {
		(void)ak_err_set(err, EPERM, "timeout: the sandbox's own is %llu ms", (unsigned long long)ret->timeout_ms);
		ak_err_hint(err, "a command can only ask for less");
		return -EPERM;
	}
	ret->timeout_ms = asked;
	return 0;
}

int policy_command(const struct policy *p, const struct ak_exec *m, struct policy_limits *ret, struct ak_err *err)
{
	struct policy_limits l = { .timeout_ms = p->timeout_ms, .kill_after_ms = p->kill_after_ms, .cpu_time_ms = p->cpu_time_ms,
				   .max_output = p->max_output, .output_limited = p->given_output || m->max_output };
	int r = command_timeout(m, &l, err);

	if (r == 0)
		r = command_cpu_time(p, m, &l, err);
	if (r == 0)
		r = lower("max_output", m->max_output, &l.max_output, err);
	for (uint32_t i = 0; r == 0 && i < m->nrlimits; i++)
		r = command_rlimit(p, &m->rlimit[i], &l, err);
	if (r < 0)
		return r;
	if (m->kill_after_ms && m->kill_after_ms < l.kill_after_ms)
		l.kill_after_ms = m->kill_after_ms;	/* no right, only patience: a longer one is not granted */
	if (l.max_output == UINT64_MAX)
		l.max_output = m->max_output ? AK_CAPTURE_MAX : AK_CAPTURE_DEFAULT;
	if (l.max_output > AK_CAPTURE_MAX)
		l.max_output = AK_CAPTURE_MAX;
	*ret = l;
	return 0;
}

/* ---- what is told ---- */

static void row(struct ak_limit *l, uint64_t value, enum ak_by by, enum ak_hit hit)
{
	if (value == POLICY_NONE)
		*l = (struct ak_limit){ .by = AK_BY_UNSET };
	else
		*l = (struct ak_limit){ .by = (uint8_t)by, .hit = (uint8_t)hit, .value = value };
}

static uint64_t own_rlimit(const struct policy_limits *l, uint32_t resource, uint64_t else_value)
{
	for (uint32_t i = 0; l && i < l->nrlimits; i++)
		if (l->rlimit[i].resource == resource && l->rlimit[i].value < else_value)
			else_value = l->rlimit[i].value;
	return else_value;
}

/* docker does not say whether a limit was hit */
static void held_row(struct ak_limit *l, uint64_t value, bool held)
{
	row(l, value, held ? AK_BY_DOCKER : AK_BY_NONE, held ? AK_HIT_UNKNOWN : AK_HIT_NO);
}

static void native_rows(const struct policy *p, struct ak_limit ret[AK_LIMITS])
{
	bool host_root = p->plan.identity == PLAN_ID_ROOT;	/* RLIMIT_NPROC does not bind it */
	bool counted = host_root && (p->cgroup & CGROUP_PIDS);

	row(&ret[AK_LIMIT_MEMORY], p->memory_bytes, (p->cgroup & CGROUP_MEMORY) ? AK_BY_CGROUP : AK_BY_AK, AK_HIT_NO);
	row(&ret[AK_LIMIT_PIDS], p->pids, counted ? AK_BY_CGROUP : host_root ? AK_BY_NONE : AK_BY_RLIMIT,
	    host_root ? AK_HIT_NO : AK_HIT_UNKNOWN);
	row(&ret[AK_LIMIT_CPUS], p->cpu_milli, (p->cgroup & CGROUP_CPU) ? AK_BY_CGROUP : AK_BY_NONE, AK_HIT_NO);
}

void policy_limit_rows(const struct policy *p, const struct policy_limits *l, struct ak_limit ret[AK_LIMITS])
{
	uint64_t output = l ? (l->output_limited ? l->max_output : POLICY_NONE) : p->given_output ? p->max_output : POLICY_NONE;

	if (p->plan.held) {
		held_row(&ret[AK_LIMIT_MEMORY], p->memory_bytes, p->plan.held->memory_held);
		held_row(&ret[AK_LIMIT_PIDS], p->pids, p->plan.held->pids_held);
		held_row(&ret[AK_LIMIT_CPUS], p->cpu_milli, p->plan.held->cpus_held);
	} else {
		native_rows(p, ret);
	}
	row(&ret[AK_LIMIT_TIMEOUT], l ? l->timeout_ms : p->timeout_ms, AK_BY_AK, AK_HIT_NO);
	row(&ret[AK_LIMIT_CPU_TIME], l ? l->cpu_time_ms : p->cpu_time_ms, AK_BY_AK, AK_HIT_NO);
	row(&ret[AK_LIMIT_NOFILE], own_rlimit(l, RLIMIT_NOFILE, p->given_nofile ? p->nofile : POLICY_NONE), AK_BY_RLIMIT, AK_HIT_UNKNOWN);
	row(&ret[AK_LIMIT_FSIZE], own_rlimit(l, RLIMIT_FSIZE, p->fsize_bytes), AK_BY_RLIMIT, AK_HIT_UNKNOWN);
	row(&ret[AK_LIMIT_OUTPUT], output, AK_BY_AK, AK_HIT_NO);
	/* private file systems are of a fixed size, and do not say that they were full */
	row(&ret[AK_LIMIT_DISK], p->disk_bytes, AK_BY_AK, p->plan.write == WRITE_COW ? AK_HIT_NO : AK_HIT_UNKNOWN);
}

static uint8_t identity_of(const struct plan *p)
{
	switch (p->identity) {
	case PLAN_ID_RANGE:
		return AK_IDENTITY_RANGE;
	case PLAN_ID_ROOT:
		return AK_IDENTITY_ROOT;
	case PLAN_ID_SAME:
		break;
	}
	return AK_IDENTITY_SAME;
}

static const char *root_of(const struct policy *p)
{
	if (!p->plan.rootfs)
		return "host";
	return p->tell_paths && p->root ? p->root : "rootfs";
}

/* where another backend holds it, what that has found */
static void held_facts(const struct backend_facts *f, struct ak_facts *ret)
{
	ret->backend = f->backend == BACKEND_DOCKER ? AK_BACKEND_DOCKER : AK_BACKEND_LOCAL;
	ret->user_ns = f->user_namespace;
	ret->identity = f->root ? AK_IDENTITY_ROOT : AK_IDENTITY_SAME;
	ret->seccomp = f->seccomp ? AK_SECCOMP_DOCKER : AK_SECCOMP_NONE;
	ret->landlock_abi = 0;
	if (f->backend == BACKEND_DOCKER)
		ret->root = f->image;
	for (uint32_t i = 0; i < f->nwarnings && ret->nwarnings < AK_WARNINGS_MAX; i++)
		ret->warning[ret->nwarnings++] = f->warning[i];
}

void policy_facts(const struct policy *p, struct ak_facts *ret)
{
	const struct plan *plan = &p->plan;

	*ret = (struct ak_facts){
		.net = plan->net == NET_HOST ? AK_NET_HOST : AK_NET_NONE,
		.write = plan->write == WRITE_NONE ? AK_WRITE_NONE : plan->write == WRITE_COW ? AK_WRITE_COW : AK_WRITE_DIRECT,
		.identity = identity_of(plan),
		.seccomp = strcmp(plan->seccomp, "strict") == 0 ? AK_SECCOMP_STRICT : AK_SECCOMP_DEFAULT,
		.landlock_abi = p->landlock_abi > 0 ? (uint32_t)p->landlock_abi : 0,
		.uid = plan->uid,
		.gid = plan->gid,
		.root = root_of(p),
		.workspace = plan->workspace,
		.cwd = plan->cwd,
		.user = plan->user,
		.home = plan->home,
		.changes = plan->write == WRITE_COW ? p->changes : NULL,
	};
	if (plan->held)
		held_facts(plan->held, ret);
	policy_limit_rows(p, NULL, ret->limit);
	for (size_t i = 0; i < plan->nwarnings && ret->nwarnings < AK_WARNINGS_MAX; i++)
		ret->warning[ret->nwarnings++] = plan->warnings[i];
}
