/* SPDX-License-Identifier: Apache-2.0 */
/* Beside entry.S the only assembly: clone3 into a function on another stack, and system calls without errno. Executor, set-up child. */
#include "executor/ns/vclone.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1	/* as gcc says it */
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
/*
 * The child never returns from its functions, so their marks stay in the shadow of this memory, which both share. What is mapped at
 * the same address later would be taken for locals out of scope.
 */
#define FORGET_FRAMES(stack, bytes) ASAN_UNPOISON_MEMORY_REGION(stack, bytes)
#else
#define FORGET_FRAMES(stack, bytes) ((void)0)
#endif

#define STACK_BYTES (256u << 10)	/* touched only as far as it is used */

#if defined(__x86_64__)
static long clone3_call(struct clone_args *args, size_t size, void (*fn)(void *), void *arg)
{
	long ret;
	register void (*r8)(void *) __asm__("r8") = fn;
	register void *r9 __asm__("r9") = arg;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r9, %%rdi\n\t"
			 "call *%%r8\n\t"
			 "ud2\n\t"
			 "1:"
			 : "=a"(ret)
			 : "0"((long)SYS_clone3), "D"(args), "S"(size), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}

long vcall(long nr, long a, long b, long c, long d, long e)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;

	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8) : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static long clone3_call(struct clone_args *args, size_t size, void (*fn)(void *), void *arg)
{
	register long x0 __asm__("x0") = (long)args;
	register long x1 __asm__("x1") = (long)size;
	register long x8 __asm__("x8") = SYS_clone3;
	register void (*x10)(void *) __asm__("x10") = fn;
	register void *x11 __asm__("x11") = arg;

	__asm__ volatile("svc #0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x11\n\t"
			 "blr x10\n\t"
			 "brk #1\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x1), "r"(x8), "r"(x10), "r"(x11)
			 : "memory", "cc");
	return x0;
}

long vcall(long nr, long a, long b, long c, long d, long e)
{
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x8 __asm__("x8") = nr;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x8) : "memory");
	return x0;
}
#else
/* no second thread here, so errno is free to use */
long vcall(long nr, long a, long b, long c, long d, long e)
{
	long r = syscall(nr, a, b, c, d, e);

	return r < 0 ? -errno : r;
}

static long clone3_call(struct clone_args *args, size_t size, void (*fn)(void *), void *arg)
{
	(void)args;
	(void)size;
	(void)fn;
	(void)arg;
	return -ENOSYS;
}
#endif

static void *new_stack(void)
{
	return mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
}

pid_t vclone(struct clone_args *args, void (*fn)(void *), void *arg)
{
	void *stack = new_stack();
	struct clone_args a = *args;
	long r;

	if (stack == MAP_FAILED)
		return -errno;
	a.flags |= CLONE_VM | CLONE_VFORK;
	a.stack = (uint64_t)(uintptr_t)stack;
	a.stack_size = STACK_BYTES;
	r = clone3_call(&a, sizeof(a), fn, arg);
	/* with CLONE_VFORK we are back once the child has a memory of its own, or none */
	FORGET_FRAMES(stack, STACK_BYTES);
	(void)munmap(stack, STACK_BYTES);
	return (pid_t)r;
}

pid_t vclone_begin(struct clone_args *args, void **ret_stack, volatile uint32_t *tid, void (*fn)(void *), void *arg)
{
	void *stack = new_stack();
	struct clone_args a = *args;
	long r;

	if (stack == MAP_FAILED)
		return -errno;
	a.flags |= CLONE_VM | CLONE_CHILD_CLEARTID;
	a.child_tid = (uint64_t)(uintptr_t)tid;
	a.stack = (uint64_t)(uintptr_t)stack;
	a.stack_size = STACK_BYTES;
	*tid = 1;
	r = clone3_call(&a, sizeof(a), fn, arg);
	if (r < 0) {
		*tid = 0;
		(void)munmap(stack, STACK_BYTES);
		return (pid_t)r;
	}
	*ret_stack = stack;
	return (pid_t)r;
}

void vclone_wait(volatile uint32_t *tid)
{
	uint32_t now;

	/* not a private futex: the kernel's wake in mm_release() is none */
	while ((now = *tid) != 0)
		(void)vcall(SYS_futex, (long)(uintptr_t)tid, FUTEX_WAIT, (long)now, 0, 0);
}

void vclone_end(void **stack)
{
	if (*stack)
		FORGET_FRAMES(*stack, STACK_BYTES);
	*stack = NULL;
}

_Noreturn void vexit(void)
{
	for (;;)
		(void)vcall(SYS_exit, 0, 0, 0, 0, 0);
}

int vthread(void *stack, size_t stack_size, uint32_t *tid, void (*fn)(void *), void *arg)
{
	struct clone_args a = {
		.flags = CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID,
		.child_tid = (uint64_t)(uintptr_t)tid,
		.stack = (uint64_t)(uintptr_t)stack,
		.stack_size = stack_size,
	};
	long r;

	*tid = 1;
	r = clone3_call(&a, sizeof(a), fn, arg);
	if (r < 0)
		*tid = 0;
	return (int)r;
}
