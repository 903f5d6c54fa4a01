/* SPDX-License-Identifier: Apache-2.0 */
/* Why limits are not held by a cgroup, and what to do about it, as text. Process: executor. Privilege: none. */
#ifndef AK_LIMITS_ADVICE_H
#define AK_LIMITS_ADVICE_H

#include <stddef.h>
#include <stdint.h>

#include "executor/ns/cgroup_find.h"

struct ak_err;

#define LIMITS_ADVICE_MAX 320

/** limits_why() - why controllers of @s->want that are not in @have are missing; "" when none is */
void limits_why(const struct cgroup_search *s, uint32_t have, char *buf, size_t size);

/** limits_advice() - how to get what is missing, for the user; "" when nothing is missing or nothing can be done */
void limits_advice(const struct cgroup_search *s, uint32_t have, char *buf, size_t size);

/** limits_note_failed() - record that a place that looked good did not do */
void limits_note_failed(struct cgroup_search *s, enum cgroup_kind kind, const char *path, const struct ak_err *why);

#endif
