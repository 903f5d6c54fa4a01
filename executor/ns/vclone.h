/* SPDX-License-Identifier: Apache-2.0 */
/* clone3 that shares memory with a suspended parent. Process: executor. */
#ifndef AK_NS_VCLONE_H
#define AK_NS_VCLONE_H

#include <stddef.h>
#include <stdint.h>
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

/**
 * vclone_begin() - the same without suspending the caller, who goes on beside the child
 * @args:	flags as above
 * @ret_stack:	the child's, for vclone_end() once it is gone; untouched on failure
 * @tid:	not 0 while the child uses our memory; cleared and woken (futex) by the kernel at its exec or end
 * @fn:		restricted as vthread()'s function is, as long as the caller runs. From where the caller is in vclone_wait() on, it
 *		may do what the function of vclone() may
 * Return: the pid; negative errno; -ENOSYS where this architecture has no stub. Source: clone(2); mm_release() of the kernel.
 */
pid_t vclone_begin(struct clone_args *args, void **ret_stack, volatile uint32_t *tid, void (*fn)(void *), void *arg);

/** vclone_wait() - until the child no longer uses our memory; makes system calls only */
void vclone_wait(volatile uint32_t *tid);

/**
 * vclone_end() - the child is gone, and nothing will use its stack; NULL does nothing
 * It stays mapped until the process ends, which is soon: to unmap it takes as long as fifty system calls, while others wait.
 */
void vclone_end(void **stack);

/**
 * vthread() - a second thread of the calling process for a few system calls, with a working directory of its own
 * @stack:	the caller's, aligned to 16 bytes
 * @tid:	not 0 while the thread runs; cleared and woken (futex) by the kernel when it is gone
 * @fn:		must not return, and must not touch anything of libc (thread-local storage is shared): it makes system calls
 *		with vcall() and ends with vexit()
 * Return: its id; negative errno; -ENOSYS where this architecture has no stub.
 */
int vthread(void *stack, size_t stack_size, uint32_t *tid, void (*fn)(void *), void *arg);

/** vcall() - a system call that leaves errno alone, where vthread() works. Return: what the kernel returns, -errno included. */
long vcall(long nr, long a, long b, long c, long d, long e);

/** vexit() - end the calling thread */
_Noreturn void vexit(void);

#endif
