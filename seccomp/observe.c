/* SPDX-License-Identifier: Apache-2.0 */
/* Joins profile and floor into one program that notifies. Process: executor. Privilege: none. */
#include "seccomp/observe.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "seccomp/sim.h"

static uint32_t action(uint32_t ret)
{
	return ret & SECCOMP_RET_ACTION_FULL;
}

/* one instruction for one, so that no jump changes; what passes goes on behind the copy, or at the end is answered with @allow */
static void copy(const struct sock_filter *from, uint32_t n, bool last, uint32_t allow, struct sock_filter *to)
{
	for (uint32_t pc = 0; pc < n; pc++) {
		to[pc] = from[pc];
		if (from[pc].code != (BPF_RET | BPF_K))
			continue;
		if (action(from[pc].k) == SECCOMP_RET_ERRNO)
			to[pc].k = SECCOMP_RET_USER_NOTIF;
		else if (action(from[pc].k) == SECCOMP_RET_ALLOW && last)
			to[pc].k = allow;
		else if (action(from[pc].k) == SECCOMP_RET_ALLOW)
			to[pc] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, n - pc - 1);
	}
}

uint32_t observe_join(const struct observe_filters *f, uint32_t allow, struct sock_filter *ret, uint32_t cap)
{
	if (f->n_profile > cap || f->n_floor > cap - f->n_profile)
		return 0;
	copy(f->profile, f->n_profile, false, allow, ret);
	copy(f->floor, f->n_floor, true, allow, ret + f->n_profile);
	return f->n_profile + f->n_floor;
}

int observe_errno(const struct observe_filters *f, const struct seccomp_data *d, bool *ret_by_floor)
{
	uint32_t floor = bpf_sim_run(f->floor, f->n_floor, d);
	uint32_t a = bpf_sim_join(floor, bpf_sim_run(f->profile, f->n_profile, d));

	*ret_by_floor = action(floor) == SECCOMP_RET_ERRNO;
	return action(a) == SECCOMP_RET_ERRNO ? (int)(a & SECCOMP_RET_DATA) : ENOSYS;
}

/* Up to the first look at an argument */
static bool allows_always(const struct sock_filter *f, uint32_t n, const struct seccomp_data *d)
{
	uint32_t a = 0;

	for (uint32_t pc = 0; pc < n; pc++) {
		const struct sock_filter *s = &f[pc];

		switch (BPF_CLASS(s->code)) {
		case BPF_LD:
			if (s->k != offsetof(struct seccomp_data, nr) && s->k != offsetof(struct seccomp_data, arch))
				return false;
			memcpy(&a, (const char *)d + s->k, sizeof(a));
			break;
		case BPF_ALU:
			a &= s->k;
			break;
		case BPF_JMP:
			pc += BPF_OP(s->code) == BPF_JA ? s->k : bpf_sim_taken(s, a) ? s->jt : s->jf;
			break;
		default:
			return action(s->k) == SECCOMP_RET_ALLOW;
		}
	}
	return false;
}

bool observe_allows(const struct observe_filters *f, uint32_t arch, int nr)
{
	const struct seccomp_data d = { .arch = arch, .nr = nr };

	return allows_always(f->profile, f->n_profile, &d) && allows_always(f->floor, f->n_floor, &d);
}
