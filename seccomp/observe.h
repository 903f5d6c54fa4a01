/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters that tell what they refuse. A process may have one listener, and an errno wins over a notification, so profile and
 * floor become one program in which every errno is a notification; who answers it looks the errno up in the two originals.
 * Process: executor. Privilege: none. Source: seccomp(2), seccomp_unotify(2).
 */
#ifndef AK_SECCOMP_OBSERVE_H
#define AK_SECCOMP_OBSERVE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

struct observe_filters {
	const struct sock_filter *profile, *floor;	/* borrowed; programs that bpf_sim_check() accepts */
	uint32_t n_profile, n_floor;
};

/**
 * observe_join() - the one program
 * @allow:	what it answers to a call that both let through: SECCOMP_RET_ALLOW, or SECCOMP_RET_TRACE to learn of it. A tracer
 *		decides nothing then: what is traced would have passed anyhow, and without a tracer it fails (ENOSYS).
 * Return: number of instructions; 0 when it would be longer than @cap.
 */
uint32_t observe_join(const struct observe_filters *f, uint32_t allow, struct sock_filter *ret, uint32_t cap);

/**
 * observe_errno() - what the two filters together answer to a call that the joined one notified of
 * @ret_by_floor:	set: the floor refuses it as well, so no profile could let it through
 * Return: the errno; ENOSYS when they would not have given one (which cannot be).
 */
int observe_errno(const struct observe_filters *f, const struct seccomp_data *d, bool *ret_by_floor);

/** observe_allows() - do both let this call through, whatever its arguments are? */
bool observe_allows(const struct observe_filters *f, uint32_t arch, int nr);

#endif
