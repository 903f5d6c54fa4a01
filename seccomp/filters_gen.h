/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrays that seccomp/compile writes into the build folder, each ended by a row of zeros. Process:
 * executor. Privilege: none.
 */
#ifndef AK_SECCOMP_FILTERS_GEN_H
#define AK_SECCOMP_FILTERS_GEN_H

#include "seccomp/filters.h"

extern const struct seccomp_filter seccomp_gen_profiles[]; /* found by name */
extern const struct seccomp_filter seccomp_gen_floors[];   /* in the order of enum seccomp_floor_kind */

#define SECCOMP_GEN_NUMBERS 512 /* numbers of both architectures end below */
extern const char seccomp_gen_names[];		/* names one after another, each ended by NUL */
extern const uint16_t seccomp_gen_name_at[];	/* by number: where in the text; 0: no name */

#endif
