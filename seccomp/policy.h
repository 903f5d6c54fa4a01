/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of ak-policy. Process: ak-policy. Privilege: none. */
#ifndef AK_SECCOMP_POLICY_H
#define AK_SECCOMP_POLICY_H

#include <stdio.h>

#include "executor/shared/ak_learned.h"
#include "seccomp/docker.h"

struct policy_result {
	struct docker_profile profile;
	struct prog prog;
	struct docker_notes notes;
};

/**
 * policy_confine() - give up everything that reading one descriptor and writing two does not need
 * no_new_privs, limits on processor time and memory, a Landlock domain without any right (where the kernel has Landlock), and a
 * filter that refuses every call beyond memory, reading and writing (EPERM: a newer libc may try what it can do without).
 * Return: 0 or -1 with errno.
 */
int policy_confine(void);

/**
 * policy_usable() - could any command start under this filter?
 * Return: 0; -EINVAL with a text when execve is refused.
 */
int policy_usable(const struct policy_result *r, struct json_error *ret_err);

/** policy_print_check() - what the profile allows, allows sometimes, and refuses; then the remarks */
void policy_print_check(const struct policy_result *r, const struct docker_host *host, FILE *f);

/** policy_call_name() - name of a call of the host's; @buf is used where it has to be copied. Return: NULL: there is none. */
const char *policy_call_name(const struct docker_host *host, int nr, char buf[32]);

/**
 * policy_print_learned() - a Docker-format profile that allows what was used, and nothing that @p does not allow
 * @p:		the profile that the run was under
 * @learned:	what it used and what @p refused; any bytes. The calls that every process needs are added
 * By default calls are refused with EPERM; rules of @p with conditions are taken over as they are; what was refused with another
 * errno keeps it.
 */
void policy_print_learned(const struct docker_profile *p, const struct docker_host *host, const struct ak_learned *learned, FILE *f);

/** policy_print_program() - the filter, one instruction a line, jump targets as line numbers */
void policy_print_program(const struct prog *p, FILE *f);

#endif
