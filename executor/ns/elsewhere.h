/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a thread or process that we have made runs. Schedulers often leave it where it was made, behind us, until we wait: a processor
 * that is idle, or halted in a virtual machine, does not come for it. Executor, set-up child; no privilege.
 */
#ifndef AK_NS_ELSEWHERE_H
#define AK_NS_ELSEWHERE_H

#include <sys/types.h>

/**
 * elsewhere() - have @id, which is ours, run on any of our processors but this one
 * No effect where there is none other, or where the kernel refuses. What it starts from then on inherits that.
 */
void elsewhere(pid_t id);

/**
 * anywhere() - undo it: @id may run wherever the caller may
 * What the caller may now: a processor that comes later, or to its cpuset, is not in it, as after any sched_setaffinity(2).
 * Return: 0 or negative errno.
 */
int anywhere(pid_t id);

#endif
