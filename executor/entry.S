/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instructions of ak, before libc's. What a start is going to touch is mapped in four calls. A page that is touched unmapped
 * costs a fault, some 12 us in a virtual machine, and a start touches about a hundred; in a batch each costs a tenth. Where the kernel
 * does not know the call (Linux 5.14) nothing happens, and the faults come.
 * Source: madvise(2), MADV_POPULATE_READ and MADV_POPULATE_WRITE; start.ld for the two regions that are read. No privilege.
 *
 * And the region of brk(2) is closed before libc uses it, by a page that nobody can touch: a region of its own costs four page tables,
 * as much as ten faults to make, and the same again to free. malloc() and the start of libc map memory beside the program then, as they do
 * wherever that region has no room. Source: brk(2), ENOMEM; glibc 2.36, _dl_early_allocate() and sysmalloc_mmap_fallback(); the
 * Makefile asks for that version.
 */
#define STACK_BYTES 49152	/* what `ak exec` uses of it; the kernel's first mapping of a stack is larger */
#define POPULATE_READ 22	/* asm-generic/mman-common.h */
#define POPULATE_WRITE 23
#define PAGE 4096
#define MAP_HERE 0x100022	/* MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_PRIVATE; asm-generic/mman.h */

	.text
	.globl ak_entry
	.hidden ak_entry
#if defined(__x86_64__)	/* the Makefile builds it for these two only */
#define SYS_MADVISE 28
#define SYS_MMAP 9
#define SYS_BRK 12

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
#ifdef AK_CLOSE_BRK
	xor	%edi, %edi
	mov	$SYS_BRK, %eax
	syscall
	lea	PAGE-1(%rax), %rdi
	and	$-PAGE, %rdi
	mov	$PAGE, %esi
	xor	%edx, %edx	/* PROT_NONE */
	mov	$MAP_HERE, %r10d
	mov	$-1, %r8
	xor	%r9d, %r9d
	mov	$SYS_MMAP, %eax
	syscall
#endif
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
#define SYS_MMAP 222
#define SYS_BRK 214

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
#ifdef AK_CLOSE_BRK
	mov	x0, #0
	mov	x8, #SYS_BRK
	svc	#0
	add	x0, x0, #0xf, lsl #12	/* pages may be of 64 kB */
	add	x0, x0, #0xfff
	and	x0, x0, #~0xffff
	mov	x1, #PAGE
	mov	x2, #0		/* PROT_NONE */
	mov	w3, #(MAP_HERE & 0xffff)
	movk	w3, #(MAP_HERE >> 16), lsl #16
	mov	x4, #-1
	mov	x5, #0
	mov	x8, #SYS_MMAP
	svc	#0
#endif
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
