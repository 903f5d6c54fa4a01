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
 *
 * Before that: with less memory than libc's start takes from malloc() (an arena of 1 MiB where brk(2) gives nothing) it would die by a signal
 * and without a word, so that is said here, where nothing is allocated. Source: setrlimit(2); glibc's _dl_init_paths() and fatal_error().
 */
#define NEED_DATA 0x140000	/* 1.25 MiB; RLIMIT_DATA, the program's own data included */
#define NEED_AS 0x400000	/* 4 MiB; RLIMIT_AS, the program included */
#define RLIMIT_DATA 2		/* asm-generic/resource.h */
#define RLIMIT_AS 9
#define EXIT_FAILED 125		/* of ak exec: nothing was run */
#define STACK_BYTES 49152	/* what `ak exec` uses of it; the kernel's first mapping of a stack is larger */
#define POPULATE_READ 22	/* asm-generic/mman-common.h */
#define POPULATE_WRITE 23
#define PAGE 4096
#define MAP_HERE 0x100022	/* MAP_FIXED_NOREPLACE | MAP_ANONYMOUS | MAP_PRIVATE; asm-generic/mman.h */

	.section .rodata
ak_no_data:
	.ascii	"ak: the limit of data memory (ulimit -d, RLIMIT_DATA) is too low for ak to start - raise it to 1280 kB or more\n"
	.set	ak_no_data_len, . - ak_no_data
ak_no_room:
	.ascii	"ak: the limit of address space (ulimit -v, RLIMIT_AS) is too low for ak to start - raise it to 4096 kB or more\n"
	.set	ak_no_room_len, . - ak_no_room

	.text
	.globl ak_entry
	.hidden ak_entry
#if defined(__x86_64__)	/* the Makefile builds it for these two only */
#define SYS_WRITE 1
#define SYS_MADVISE 28
#define SYS_MMAP 9
#define SYS_BRK 12
#define SYS_GETRLIMIT 97
#define SYS_EXIT_GROUP 231

/* a limit that cannot be asked for is none; nothing but the kernel writes below the stack yet */
.macro need resource, bytes, name
	mov	$\resource, %edi
	lea	-16(%rsp), %rsi
	mov	$SYS_GETRLIMIT, %eax
	syscall
	lea	ak_no_\name(%rip), %rsi
	mov	$ak_no_\name\()_len, %r8d
	test	%eax, %eax
	jnz	1f
	cmpq	$\bytes, -16(%rsp)
	jb	ak_no_memory
1:
.endm

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
	need	RLIMIT_DATA, NEED_DATA, data
	need	RLIMIT_AS, NEED_AS, room
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
ak_no_memory:
	mov	$2, %edi
	mov	%r8, %rdx
	mov	$SYS_WRITE, %eax
	syscall
	mov	$EXIT_FAILED, %edi
	mov	$SYS_EXIT_GROUP, %eax
	syscall
	hlt
	.cfi_endproc
	.size ak_entry, . - ak_entry
#elif defined(__aarch64__)
#define SYS_WRITE 64
#define SYS_EXIT_GROUP 94
#define SYS_GETRLIMIT 163
#define SYS_MADVISE 233
#define SYS_MMAP 222
#define SYS_BRK 214

/* as above */
.macro need resource, bytes, name
	mov	x0, #\resource
	sub	x1, sp, #16
	mov	x8, #SYS_GETRLIMIT
	svc	#0
	adrp	x1, ak_no_\name
	add	x1, x1, #:lo12:ak_no_\name
	mov	x2, #ak_no_\name\()_len
	cbnz	x0, 1f
	ldur	x3, [sp, #-16]
	mov	x4, #\bytes
	cmp	x3, x4
	b.lo	ak_no_memory
1:
.endm

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
	need	RLIMIT_DATA, NEED_DATA, data
	need	RLIMIT_AS, NEED_AS, room
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
ak_no_memory:
	mov	x0, #2
	mov	x8, #SYS_WRITE
	svc	#0
	mov	x0, #EXIT_FAILED
	mov	x8, #SYS_EXIT_GROUP
	svc	#0
	brk	#0
	.cfi_endproc
	.size ak_entry, . - ak_entry
#endif
	.section .note.GNU-stack,"",%progbits
