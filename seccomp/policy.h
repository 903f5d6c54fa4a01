/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of ak-policy. Process: ak-policy. Privilege: none. */
#ifndef AK_SECCOMP_POLICY_H
#define AK_SECCOMP_POLICY_H

#include <stdio.h>

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

/** policy_print_program() - the filter, one instruction a line, jump targets as line numbers */
void policy_print_program(const struct prog *p, FILE *f);

#endif
