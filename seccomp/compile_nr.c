/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of system calls newer than the oldest libseccomp we build with. From 424 on a call has the same
 * number on all our architectures. Process: the build. Privilege: none. Source: scripts/syscall.tbl and
 * arch/x86/entry/syscalls/syscall_64.tbl of Linux 6.17.
 */
#include "seccomp/compile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct target targets[] = {
	{ "x86_64", SCMP_ARCH_X86_64 },
	{ "aarch64", SCMP_ARCH_AARCH64 },
};

static const struct {
	const char *name;
	int nr;
	uint32_t only;	/* 0: every architecture */
} extra_nr[] = {
	{ "uretprobe", 335, SCMP_ARCH_X86_64 },
	{ "uprobe", 336, SCMP_ARCH_X86_64 },
	{ "cachestat", 451, 0 },
	{ "fchmodat2", 452, 0 },
	{ "map_shadow_stack", 453, 0 },
	{ "futex_wake", 454, 0 },
	{ "futex_wait", 455, 0 },
	{ "futex_requeue", 456, 0 },
	{ "statmount", 457, 0 },
	{ "listmount", 458, 0 },
	{ "lsm_get_self_attr", 459, 0 },
	{ "lsm_set_self_attr", 460, 0 },
	{ "lsm_list_modules", 461, 0 },
	{ "mseal", 462, 0 },
	{ "setxattrat", 463, 0 },
	{ "getxattrat", 464, 0 },
	{ "listxattrat", 465, 0 },
	{ "removexattrat", 466, 0 },
	{ "open_tree_attr", 467, 0 },
	{ "file_getattr", 468, 0 },
	{ "file_setattr", 469, 0 },
};

/* clang-format on */

#define N_EXTRA (sizeof(extra_nr) / sizeof(extra_nr[0]))

const struct target *target_find(const char *name)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (!strcmp(targets[i].name, name))
			return &targets[i];
	}
	return NULL;
}

int nr_extra(const struct target *t, const char *name)
{
	for (size_t i = 0; i < N_EXTRA; i++) {
		if (strcmp(extra_nr[i].name, name))
			continue;
		return extra_nr[i].only && extra_nr[i].only != t->scmp ? -ENOSYS : extra_nr[i].nr;
	}
	return -ENOENT;
}

const char *nr_name(const struct target *t, int nr)
{
	for (size_t i = 0; i < N_EXTRA; i++) {
		if (extra_nr[i].nr == nr && (!extra_nr[i].only || extra_nr[i].only == t->scmp))
			return extra_nr[i].name;
	}
	return NULL;
}

int nr_check(const struct target *t)
{
	int bad = 0;

	for (size_t i = 0; i < N_EXTRA; i++) {
		int lib = seccomp_syscall_resolve_name_arch(t->scmp, extra_nr[i].name);

		/* negative: the library does not know the call, or not here */
		if (lib < 0 || lib == extra_nr[i].nr)
			continue;
		fprintf(stderr, "compile: %s is %d here and %d in the library\n", extra_nr[i].name,
			extra_nr[i].nr, lib);
		bad = -EINVAL;
	}
	return bad;
}
