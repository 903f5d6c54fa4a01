/* SPDX-License-Identifier: Apache-2.0 */
/* clone3 that shares memory with a suspended parent. Process: executor. */
#ifndef AK_NS_VCLONE_H
#define AK_NS_VCLONE_H

#include <stddef.h>
#include <sys/types.h>

struct clone_args;

/**
 * vclone() - clone3(CLONE_VM | CLONE_VFORK | ...) onto a stack of its own
 * @args:	flags without CLONE_VM and CLONE_VFORK; stack and stack_size are filled in here
 * @fn:		runs in the child on a fresh stack and never returns; ends by exec or _exit
 *
 * The parent is suspended until then (it can still be killed), so nothing of its memory changes under its feet but what @fn
 * writes. Against fork this saves copying page tables and the faults on every page the child touches: a fifth of a start.
 * Return: the pid; negative errno. -ENOSYS also where this architecture has no stub: the caller forks instead.
 * Source: clone(2), vfork(2).
 */
pid_t vclone(struct clone_args *args, void (*fn)(void *), void *arg);

#endif
