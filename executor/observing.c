/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether refused calls are observed. Process: executor. Privilege: none. */
#include "executor/observing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/sandbox.h"
#include "executor/shared/ak_canary.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_weaken.h"
#include "seccomp/own_arch.h"
#include "seccomp/sim.h"

static const char not_observed[] = "refused system calls are not observed";

/* What init calls before somebody could answer a refusal, or when nobody does */
static bool init_can_send(const struct observe_filters *f)
{
	static const int calls[] = { SYS_sendmsg, SYS_close, SYS_write, SYS_exit_group };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!observe_allows(f, SECCOMP_OWN_ARCH, calls[i]))
			return false;
	return true;
}

/* How many calls of init's self-test will be notified of: a profile may let some go to the kernel, which refuses them as well */
static unsigned self_tests(const struct observing *ob, const struct plan *plan)
{
	unsigned n = 0;

	for (unsigned i = 0; !AK_WEAK(ak_weaken_mask(), AK_WEAK_CANARY) && i < AK_CANARIES; i++) {
		struct seccomp_data d = { .nr = (int)ak_canaries[i].nr, .arch = SECCOMP_OWN_ARCH };

		for (int k = 0; k < 3; k++)
			d.args[k] = (uint64_t)ak_canaries[i].arg[k];
		n += !(plan->canary_skip >> i & 1) && bpf_sim_run(ob->joined, plan->joined_count, &d) == SECCOMP_RET_USER_NOTIF;
	}
	return n;
}

static const char *join(struct observing *ob, const struct observe_filters *f, struct plan *plan)
{
	if (!init_can_send(f))
		return "the profile refuses a call that sending the listener needs (sendmsg, close, write, exit_group)";
	plan->joined_count = observe_join(f, ob->learn ? SECCOMP_RET_TRACE : SECCOMP_RET_ALLOW, ob->joined, AK_INIT_FILTER_MAX);
	return plan->joined_count ? NULL : "profile and floor together are longer than the kernel takes";
}

int observing_prepare(struct observing *ob, const struct exec_opts *o, bool learn, struct plan *plan, struct ak_err *err)
{
	struct observe_filters f;
	const char *why_not;

	if (!(o->json || o->report || o->verbose || learn))
		return 0;
	if (AK_WEAK(ak_weaken_mask(), AK_WEAK_PROFILE) || AK_WEAK(ak_weaken_mask(), AK_WEAK_FLOOR))
		return 0;
	ob->learn = learn;
	ob->joined = malloc(AK_INIT_FILTER_MAX * sizeof(*ob->joined));
	if (!ob->joined)
		return ak_err_set(err, ENOMEM, "out of memory");
	sandbox_filters(plan, &f);
	why_not = join(ob, &f, plan);
	if (why_not && learn)
		return ak_err_set(err, EINVAL, "%s: %s", not_observed, why_not);
	if (why_not) {
		plan_warn(plan, "%s: %s", not_observed, why_not);
		return 0;
	}
	plan->joined = (const uint8_t *)ob->joined;
	plan->learn = learn;
	denials_init(&ob->denials, &f, self_tests(ob, plan));
	return 0;
}

void observing_told(const struct observing *ob, struct plan *plan)
{
	if (!plan->joined || !ob->denials.why_not)
		return;
	if (ob->denials.why_not == EBUSY)
		plan_warn(plan, "%s: what runs ak observes its calls itself, and the kernel allows one observer", not_observed);
	else
		plan_warn(plan, "%s: the kernel gave no listener (%s)", not_observed, strerror(ob->denials.why_not));
}

void observing_release(struct observing *ob)
{
	denials_release(&ob->denials);
	free(ob->joined);
	ob->joined = NULL;
}
