/* SPDX-License-Identifier: Apache-2.0 */
/* Joins profile and floor into one program that notifies. Process: executor. Privilege: none. */
#include "seccomp/observe.h"

#include <errno.h>

#include "seccomp/sim.h"

static uint32_t action(uint32_t ret)
{
	return ret & SECCOMP_RET_ACTION_FULL;
}

/* one instruction for one, so that no jump changes; what passes goes on behind the copy when @then is true */
static void copy(const struct sock_filter *from, uint32_t n, bool then, struct sock_filter *to)
{
	for (uint32_t pc = 0; pc < n; pc++) {
		to[pc] = from[pc];
		if (from[pc].code != (BPF_RET | BPF_K))
			continue;
		if (action(from[pc].k) == SECCOMP_RET_ERRNO)
			to[pc].k = SECCOMP_RET_USER_NOTIF;
		else if (then && action(from[pc].k) == SECCOMP_RET_ALLOW)
			to[pc] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, n - pc - 1);
	}
}

uint32_t observe_join(const struct observe_filters *f, struct sock_filter *ret, uint32_t cap)
{
	if (f->n_profile > cap || f->n_floor > cap - f->n_profile)
		return 0;
	copy(f->profile, f->n_profile, true, ret);
	copy(f->floor, f->n_floor, false, ret + f->n_profile);
	return f->n_profile + f->n_floor;
}

static uint32_t ask(const struct observe_filters *f, const struct seccomp_data *d)
{
	return bpf_sim_join(bpf_sim_run(f->floor, f->n_floor, d), bpf_sim_run(f->profile, f->n_profile, d));
}

int observe_errno(const struct observe_filters *f, const struct seccomp_data *d)
{
	uint32_t a = ask(f, d);

	return action(a) == SECCOMP_RET_ERRNO ? (int)(a & SECCOMP_RET_DATA) : ENOSYS;
}

bool observe_allows(const struct observe_filters *f, uint32_t arch, int nr)
{
	const struct seccomp_data d = { .arch = arch, .nr = nr };

	return action(ask(f, &d)) == SECCOMP_RET_ALLOW;
}
