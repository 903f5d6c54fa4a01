/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs seccomp programs as the kernel does, one filter or a stack of two. Header only.
 * Process: executor, ak-policy, unit tests. Privilege: none.
 */
#ifndef AK_SECCOMP_SIM_H
#define AK_SECCOMP_SIM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BPF_SIM_INVALID 0xdeadbeefu /* not an action the kernel knows */

/**
 * bpf_sim_check() - would the kernel take this program?
 * @f: instructions
 * @n: how many
 *
 * Only the instructions that filters of this project use are known; every other one counts as wrong.
 * Source: bpf_check_classic() and seccomp_check_filter() of Linux.
 */
static inline bool bpf_sim_check(const struct sock_filter *f, uint32_t n)
{
	if (!n || n > BPF_MAXINSNS || f[n - 1].code != (BPF_RET | BPF_K))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		switch (f[i].code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (f[i].k % 4 || f[i].k >= sizeof(struct seccomp_data))
				return false;
			break;
		case BPF_JMP | BPF_JA:
			if (f[i].k >= n - i - 1)
				return false;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JSET | BPF_K:
			if (i + 1 + f[i].jt >= n || i + 1 + f[i].jf >= n)
				return false;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
		case BPF_RET | BPF_K:
			break;
		default:
			return false;
		}
	}
	return true;
}

static inline bool bpf_sim_taken(const struct sock_filter *s, uint32_t a)
{
	switch (BPF_OP(s->code)) {
	case BPF_JEQ:
		return a == s->k;
	case BPF_JGE:
		return a >= s->k;
	case BPF_JGT:
		return a > s->k;
	default:
		return a & s->k;
	}
}

/** bpf_sim_run() - the answer of one program that bpf_sim_check() accepts; BPF_SIM_INVALID for any other */
static inline uint32_t bpf_sim_run(const struct sock_filter *f, uint32_t n, const struct seccomp_data *d)
{
	uint32_t a = 0;

	for (uint32_t pc = 0; pc < n; pc++) {
		const struct sock_filter *s = &f[pc];

		switch (BPF_CLASS(s->code)) {
		case BPF_LD:
			if (s->k > sizeof(*d) - sizeof(a))
				return BPF_SIM_INVALID;
			memcpy(&a, (const char *)d + s->k, sizeof(a));
			break;
		case BPF_ALU:
			a &= s->k;
			break;
		case BPF_JMP:
			if (BPF_OP(s->code) == BPF_JA)
				pc += s->k;
			else
				pc += bpf_sim_taken(s, a) ? s->jt : s->jf;
			break;
		case BPF_RET:
			return s->k;
		default:
			return BPF_SIM_INVALID;
		}
	}
	return BPF_SIM_INVALID;
}

/**
 * bpf_sim_join() - what the kernel does with the answers of two filters
 * @newest: of the filter loaded last
 * @older:  of the one loaded before
 *
 * Return: the stricter one; the newest where the action is the same, whatever the errno.
 * Source: seccomp_run_filters() of Linux, which compares actions as signed numbers.
 */
static inline uint32_t bpf_sim_join(uint32_t newest, uint32_t older)
{
	int32_t n = (int32_t)(newest & SECCOMP_RET_ACTION_FULL),
		o = (int32_t)(older & SECCOMP_RET_ACTION_FULL);

	return o < n ? older : newest;
}

#endif
