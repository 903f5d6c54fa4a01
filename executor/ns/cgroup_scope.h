/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group from the systemd user manager: ak asks it, through its own D-Bus interface, for a transient scope with delegation that
 * holds ak itself. Process: executor, rootless. Privilege: none.
 *
 * Only a process that runs below the user manager can start others in groups there, so ak has to be in the scope; the manager
 * moves it (it has the permission, ak has not). The request is made by systemd's own client, busctl, started with a fixed argument
 * vector and environment. Takes a few milliseconds and two moves of 12-20 ms: asked for only when the user gave a limit.
 */
#ifndef AK_NS_CGROUP_SCOPE_H
#define AK_NS_CGROUP_SCOPE_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;

/**
 * cgroup_scope_possible() - is there a user manager to ask?
 * @runtime_dir:	value of XDG_RUNTIME_DIR; NULL: not set
 * @why:	filled when there is none: what is missing
 */
bool cgroup_scope_possible(const char *runtime_dir, char *why, size_t size);

/**
 * cgroup_scope_enter() - get into a scope of our own
 * @ret_name:	name of the unit, for messages
 * Return: 0: /proc/self/cgroup names the scope now. -ENOENT (no manager), -EACCES (it refuses; its text is in @err), -ETIMEDOUT.
 * Source: org.freedesktop.systemd1(5), StartTransientUnit; systemd.scope(5).
 */
int cgroup_scope_enter(const char *runtime_dir, char *ret_name, size_t size, struct ak_err *err);

#endif
