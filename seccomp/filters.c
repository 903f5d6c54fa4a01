/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the filters compiled at build time. Process: executor. Privilege: none. */
#include "seccomp/filters.h"

#include <string.h>

#include "seccomp/filters_gen.h"

const struct seccomp_filter *seccomp_profile(const char *name)
{
	for (const struct seccomp_filter *f = seccomp_gen_profiles; f->name; f++) {
		if (!strcmp(f->name, name))
			return f;
	}
	return NULL;
}

const char *seccomp_call_name(uint32_t nr)
{
	if (nr >= SECCOMP_GEN_NUMBERS || !seccomp_gen_name_at[nr])
		return NULL;
	return seccomp_gen_names + seccomp_gen_name_at[nr];
}

const struct seccomp_filter *seccomp_floor(enum seccomp_floor_kind kind)
{
	return &seccomp_gen_floors[kind];
}
