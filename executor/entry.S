/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instructions of ak, before libc's: what a start is going to touch is mapped in four calls. A page that is touched unmapped
 * costs a fault, some 12 us in a virtual machine, and a start touches about a hundred; in a batch each costs a tenth. Where the kernel
 * does not know the call (Linux 5.14) nothing happens, and the faults come.
 * Source: madvise(2), MADV_POPULATE_READ and MADV_POPULATE_WRITE; start.ld for the two regions that are read. No privilege.
 */
#define STACK_BYTES 49152	/* what `ak exec` uses of it; the kernel's first mapping of a stack is larger */
#define POPULATE_READ 22	/* asm-generic/mman-common.h */
#define POPULATE_WRITE 23

	.text
	.globl ak_entry
	.hidden ak_entry
#if defined(__x86_64__)	/* the Makefile builds it for these two only */
#define SYS_MADVISE 28

/* from FROM up to TO; FROM is rounded down to a page */
.macro populate from, to, advice
	lea	\from, %rdi
	and	$-4096, %rdi
	lea	\to, %rsi
	sub	%rdi, %rsi
	mov	$\advice, %edx
	mov	$SYS_MADVISE, %eax
	syscall
.endm

	.type ak_entry, @function
ak_entry:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	mov	%rdx, %r12	/* for _start: ABI, "Process Initialization" */
	populate __init_array_start(%rip), _end(%rip), POPULATE_WRITE
	populate -STACK_BYTES(%rsp), (%rsp), POPULATE_WRITE
	populate __executable_start(%rip), ak_start_text_end(%rip), POPULATE_READ
	populate ak_start_rodata(%rip), ak_start_rodata_end(%rip), POPULATE_READ
	mov	%r12, %rdx
	jmp	_start
	.cfi_endproc
	.size ak_entry, . - ak_entry
#elif defined(__aarch64__)
#define SYS_MADVISE 233

.macro populate from, to, advice
	adrp	x0, \from
	adrp	x1, \to
	add	x1, x1, #:lo12:\to
	sub	x1, x1, x0
	mov	x2, #\advice
	mov	x8, #SYS_MADVISE
	svc	#0
.endm

	.type ak_entry, %function
ak_entry:
	.cfi_startproc
	.cfi_undefined x30
	hint	#34		/* bti c */
	mov	x19, x0		/* for _start */
	populate __init_array_start, _end, POPULATE_WRITE
	mov	x1, sp
	sub	x0, x1, #STACK_BYTES
	and	x0, x0, #~0xffff	/* pages may be of 64 kB */
	sub	x1, x1, x0
	mov	x2, #POPULATE_WRITE
	mov	x8, #SYS_MADVISE
	svc	#0
	populate __executable_start, ak_start_text_end, POPULATE_READ
	populate ak_start_rodata, ak_start_rodata_end, POPULATE_READ
	mov	x0, x19
	b	_start
	.cfi_endproc
	.size ak_entry, . - ak_entry
#endif
	.section .note.GNU-stack,"",%progbits
