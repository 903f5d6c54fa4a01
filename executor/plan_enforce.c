/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By what each limit is held: a cgroup where there is one, else what is honest without. Process: executor. Privilege: none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_place.h"
#include "executor/plan_priv.h"

/*
 * Over pids.max, so that it is the group that refuses and counts. Only a net: it holds when somebody takes the controller off
 * the group while the command runs.
 */
#define NPROC_NET 64u

const char *plan_by_name(enum plan_by by)
{
	static const char *const names[] = {
		[PLAN_BY_UNSET] = NULL, [PLAN_BY_CGROUP] = "cgroup", [PLAN_BY_RLIMIT] = "rlimit", [PLAN_BY_AK] = "ak",
		[PLAN_BY_NONE] = "none",
	};

	return names[by];
}

static void enforce_memory(struct plan *p, const struct exec_opts *o, const struct plan_groups *g)
{
	if (o->memory_bytes.max)
		return;
	if (g->have & CGROUP_MEMORY) {
		p->memory_by = PLAN_BY_CGROUP;
		return;
	}
	p->memory_by = PLAN_BY_AK;
	plan_warn(p, "memory limit is enforced by sampling what processes have mapped, not by a cgroup: memory files, shared "
		     "segments and socket buffers that no process maps are not counted (%s)", g->why);
}

static int refuse(const struct plan_groups *g, const char *other, struct ak_err *err)
{
	ak_err_hint(err, "%s%s%s", g->advice, g->advice[0] ? "; or " : "", other);
	return -EOPNOTSUPP;
}

/*
 * Without a user namespace of its own the sandbox shares the kernel's count with all of the caller's processes: only a net against
 * fork bombs, over what runs now.
 */
static int plain_pids(struct plan *p, const struct exec_opts *o, const struct plan_groups *g, struct ak_err *err)
{
	const struct limit_opt *l = &o->pids;
	uint64_t now = plan_count_tasks(), n = l->value + 1 + now;

	if (l->given) {
		(void)ak_err_set(err, EOPNOTSUPP, "--pids %" PRIu64 ": without namespaces the kernel counts all of the caller's processes together, and no cgroup holds it: %s",
				 l->value, g->why);
		return refuse(g, "give --pids max; by default there is a net against fork bombs", err);
	}
	p->pids_by = PLAN_BY_RLIMIT;
	plan_warn(p, "the limit of processes counts all of the caller's processes and threads, %" PRIu64 " at the start: it is only a net against fork bombs (%s)",
		  now, g->why);
	return plan_rlimit(p, &(struct wanted){RLIMIT_NPROC, n, n, NULL}, err);
}

static int enforce_pids(struct plan *p, const struct exec_opts *o, const struct plan_groups *g, struct ak_err *err)
{
	const struct limit_opt *l = &o->pids;
	uint64_t n = l->value + 1; /* ak-init counts */

	if (l->max)
		return 0;
	if (g->have & CGROUP_PIDS) {
		p->pids_by = PLAN_BY_CGROUP;
		n += NPROC_NET + (p->plain ? plan_count_tasks() : 0);
		return plan_rlimit(p, &(struct wanted){RLIMIT_NPROC, n, n, NULL}, err);
	}
	if (p->plain)
		return plain_pids(p, o, g, err);
	if (p->identity != PLAN_ID_ROOT) {
		p->pids_by = PLAN_BY_RLIMIT;
		return plan_rlimit(p, &(struct wanted){RLIMIT_NPROC, n, n, l->given ? "--pids" : NULL}, err);
	}
	p->pids_by = PLAN_BY_NONE;
	if (!l->given) {
		plan_warn(p, "the default limit of processes is not enforced: host uid 0 is not counted by the kernel, and no cgroup holds it (%s)", g->why);
		return 0;
	}
	(void)ak_err_set(err, EOPNOTSUPP, "--pids %" PRIu64 ": the kernel does not count processes of host uid 0, and no cgroup does: %s",
			 l->value, g->why);
	return refuse(g, "leave --identity root out, or give --pids max", err);
}

static int enforce_cpus(struct plan *p, const struct exec_opts *o, const struct plan_groups *g, struct ak_err *err)
{
	const struct limit_opt *l = &o->cpu_milli;

	if (l->max)
		return 0;
	if (g->have & CGROUP_CPU) {
		p->cpus_by = PLAN_BY_CGROUP;
		return 0;
	}
	p->cpus_by = PLAN_BY_NONE;
	if (!l->given) {
		plan_warn(p, "the default CPU limit is not enforced: no cgroup holds it (%s)", g->why);
		return 0;
	}
	(void)ak_err_set(err, EOPNOTSUPP, "--cpus %" PRIu64 ".%03" PRIu64 ": a share of the CPUs needs the cpu controller of a cgroup: %s",
			 l->value / 1000, l->value % 1000, g->why);
	return refuse(g, "give --cpus max; --cpu-time DUR bounds the total and is enforced", err);
}

/*
 * The group's files belong to the caller, whose uid the command has. A cgroup namespace made inside would show them, and only
 * nsdelegate keeps the namespace's root from being written to: cgroups(7), "Cgroup delegation"
 */
static void enforce_nesting(struct plan *p, const struct plan_groups *g)
{
	p->nest_cgroups = !g->group || p->identity == PLAN_ID_RANGE || cgroup_nsdelegate();
	if (!p->nest_cgroups)
		plan_warn(p, "--nesting: no cgroup namespaces inside, since the cgroup file system is mounted without nsdelegate");
	if (!(g->have & CGROUP_MEMORY))
		plan_warn(p, "--nesting: file systems in memory that are mounted inside are not counted against the memory limit");
}

int plan_enforce(struct plan *p, const struct exec_opts *o, const struct plan_groups *g, struct ak_err *err)
{
	int r;

	p->group = g->group;
	if (p->nesting)
		enforce_nesting(p, g);
	if (o->cpu_time_ms && !g->group)
		plan_warn(p, "processor time is summed by sampling, not by a cgroup: processes whose parent ignores SIGCHLD are "
			     "not counted once they have ended");
	enforce_memory(p, o, g);
	r = enforce_pids(p, o, g, err);
	return r < 0 ? r : enforce_cpus(p, o, g, err);
}
