/* SPDX-License-Identifier: Apache-2.0 */
/* What the local backend's two kinds of wardens share: local*.c only. Process: warden. Privilege: the caller's. */
#ifndef AK_LOCAL_INT_H
#define AK_LOCAL_INT_H

#include <stdbool.h>

struct ak_err;
struct exec_run;
struct plan;
struct sandbox;

/**
 * local_end_children() - end and reap everything below this process, a child subreaper
 * Return: false: some could not be ended in a second.
 */
bool local_end_children(void);

/** local_hold() - a named process tree: see hold() of struct backend_ops */
int local_hold(struct exec_run *r, const struct plan *p, struct sandbox *ret, struct ak_err *err);

#endif
