/* SPDX-License-Identifier: Apache-2.0 */
/* From the command line to the point where a sandbox may be made. Process: executor. Privilege: see prepare.h. */
#include "executor/prepare.h"

#include <errno.h>
#include <unistd.h>

#include "executor/ns/landlock.h"
#include "executor/opts.h"
#include "executor/seccomp_user.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_weaken.h"

int prepare_plan(const struct exec_opts *o, char *const env[], struct prepared *p, struct ak_err *err)
{
	int e = hostinfo_get(env, &p->host, err);

	if (e < 0)
		return e;
	p->have_plan = true;
	e = plan_build(o, &p->host, &p->plan, err);
	if (e == 0 && o->workspace_given && !o->explain && hostinfo_make_own(&p->host, o->workspace)) {
		plan_release(&p->plan);
		e = plan_build(o, &p->host, &p->plan, err);
	}
	if (e == 0 && o->seccomp_file)
		e = seccomp_user_load(o->seccomp_file, !o->explain, &p->host, &p->plan, err);
	return e;
}

int prepare_reserve(struct prepared *p, uint32_t *ret_uid, uint32_t *ret_gid, struct ak_err *err)
{
	bool range = p->plan.identity == PLAN_ID_RANGE;
	int e = range && p->privs.lock < 0 ? privs_reserve(&p->privs, err) : 0;

	if (e < 0)
		return e;
	*ret_uid = range ? p->privs.uid_base + p->plan.uid : geteuid();
	*ret_gid = range ? p->privs.gid_base + p->plan.gid : getegid();
	return 0;
}

/* without namespaces nothing else guards the files */
static int prepare_plain(struct prepared *p, struct ak_err *err)
{
	if (p->landlock_abi == 0 && !AK_WEAK(ak_weaken_mask(), AK_WEAK_LANDLOCK)) {
		(void)ak_err_set(err, EOPNOTSUPP, "--isolation landlock: this kernel has no Landlock");
		ak_err_hint(err, "it needs Linux 5.13 or newer with \"landlock\" in lsm=, and in a container a seccomp profile that lets it through");
		return -EOPNOTSUPP;
	}
	if (p->landlock_abi < LANDLOCK_ABI_SCOPES)
		plan_warn(&p->plan, "Landlock ABI %d has no scopes: the command can send signals to the caller's other processes, ak included",
			  p->landlock_abi);
	return 0;
}

int prepare_landlock(struct prepared *p, struct ak_err *err)
{
	int abi = AK_WEAK(ak_weaken_mask(), AK_WEAK_LANDLOCK) ? 0 : landlock_abi();

	/* with --nesting there are scopes only */
	p->landlock_abi = p->plan.nesting && abi < LANDLOCK_ABI_SCOPES ? 0 : abi;
	if (p->plan.plain)
		return prepare_plain(p, err);
	if (p->plan.nesting)
		plan_warn(&p->plan, "--nesting: no Landlock rules for files, since they would forbid mounts: the mount layer alone guards them");
	else if (p->landlock_abi == 0)
		plan_warn(&p->plan, "this kernel has no Landlock: the mount layer alone guards the files");
	return 0;
}

int prepare_serving(struct prepared *p, struct ak_err *err)
{
	int e = privs_serving(&p->privs, &p->plan, err);

	p->root_mode = e == 0 && p->plan.identity == PLAN_ID_RANGE;
	return e == 0 ? prepare_landlock(p, err) : e;
}

void prepared_release(struct prepared *p)
{
	privs_release(&p->privs);
	if (p->have_plan)
		plan_release(&p->plan);
	p->have_plan = false;
	hostinfo_release(&p->host);
}
