/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins the set-up child before libc. Process: executor. Privilege: none; it does nothing for root and for set-id programs.
 *
 * What runs here and in the child until main() has taken it over must not use libc: its functions that the processor chooses (memcpy,
 * strlen ...) are not resolved yet, and there is no thread-local storage. scripts/check-early.sh looks at what was linked.
 */
#include "executor/ns/early.h"

#include <stddef.h>
#include <stdint.h>

#include "executor/ns/ahead.h"

/* options, by how they begin, with which the child that is cloned ahead is not the right one, or not needed */
static bool asks_for_another(const char *word)
{
	static const char names[][12] = { "--in", "--fd", "--net", "--write", "--backend", "--user", "--nesting", "--isolation", "--explain",
					  "--detach", "--identity", "--rootfs", "--help", "--image", "-u", "-h" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = 0;

		while (names[i][n] && names[i][n] == word[n])
			n++;
		if (!names[i][n])
			return true;
	}
	return false;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* AK_CGROUP=none asks for no group; every other variable of ours may change anything */
static bool variable_of_ours(const char *entry)
{
	static const char none[] = "AK_CGROUP=none";

	return entry[0] == 'A' && entry[1] == 'K' && entry[2] == '_' && !same(entry, none);
}

bool early_likely(int argc, char *const argv[], char *const env[])
{
	static const char name[] = "exec", end[] = "--";

	if (argc < 3 || !same(argv[1], name))
		return false;
	for (int i = 2; i < argc && !same(argv[i], end); i++)
		if (asks_for_another(argv[i]))
			return false;
	for (; *env; env++)
		if (variable_of_ours(*env))
			return false;
	return true;
}

int early_fd(const struct ahead *a)
{
	return a && a->pid > 0 ? a->sock[0] : -1;
}

#ifdef AK_EARLY
#include <asm/prctl.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <sys/syscall.h>

#include "executor/ns/vclone.h"
#include "executor/shared/ak_attr.h"

#define STACK_USED (16u << 10)		/* by the child of a plain sandbox */
#define STACK_BYTES (256u << 10)	/* touched only as far as it is used */

struct range {
	uintptr_t from, to;
};

/*
 * The one mutable object beside the log level and the signal flag: whoever writes it runs before main(), and main()'s arguments are
 * the kernel's.
 */
static struct {
	_Alignas(64) uintptr_t tls[8];	/* as much of a thread's block as compiled code reads: the guard of stack frames */
	struct ahead ahead;
	struct range range[2];
	bool taken;
	_Alignas(16) char stack[STACK_BYTES];
} early;

extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));	/* the linker's: where the program lies */

struct ahead *early_take(void)
{
	if (early.taken || !early.ahead.early)
		return NULL;
	early.taken = true;
	ahead_settle(&early.ahead);
	return early.ahead.pid > 0 ? &early.ahead : NULL;
}

struct start {
	int argc;
	char **argv, **env;
	const Elf64_auxv_t *aux;
};

/* the System V ABI has it so on the first stack */
static struct start look(long *sp)
{
	struct start s = { .argc = (int)sp[0], .argv = (char **)(sp + 1) };
	char **p = s.argv + s.argc + 1;

	s.env = p;
	while (*p)
		p++;
	s.aux = (const Elf64_auxv_t *)(const void *)(p + 1);
	return s;
}

static uint64_t aux(const struct start *s, uint64_t type, uint64_t otherwise)
{
	for (const Elf64_auxv_t *a = s->aux; a->a_type != AT_NULL; a++)
		if (a->a_type == type)
			return a->a_un.a_val;
	return otherwise;
}

static bool plain_caller(const struct start *s)
{
	return aux(s, AT_SECURE, 1) == 0 && aux(s, AT_EUID, 0) != 0 && aux(s, AT_EGID, 0) != 0;
}

static bool streams_open(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (vcall(SYS_fcntl, fd, F_GETFD, 0, 0, 0) < 0)
			return false;
	return true;
}

/* cgroup_glance() without libc, for the usual places; it is asked itself later */
static bool no_group_to_be_had(char *const env[])
{
	static const char top[] = "/sys/fs/cgroup/cgroup.controllers", hybrid[] = "/sys/fs/cgroup/unified/cgroup.controllers";
	static const char none[] = "AK_CGROUP=none";
	char text[256] AK_UNINIT;
	long fd, n;

	for (; *env; env++)
		if (same(*env, none))
			return true;
	fd = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)top, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0, 0);
	if (fd < 0)
		fd = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)hybrid, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0, 0);
	if (fd < 0)
		return false;
	n = vcall(SYS_read, fd, (long)(uintptr_t)text, sizeof(text), 0, 0);
	(void)vcall(SYS_close, fd, 0, 0, 0, 0);
	/* cpu and cpuset, memory, pids: a host that keeps these in cgroup v1 has others here, as hugetlb, or none */
	for (long i = 0; i + 2 < n; i++)
		if ((text[i] == 'c' && text[i + 1] == 'p') || (text[i] == 'm' && text[i + 1] == 'e') ||
		    (text[i] == 'p' && text[i + 1] == 'i'))
			return false;
	return n >= 0;
}

static void populate(const struct range *r)
{
	if (r->from < r->to)
		(void)vcall(SYS_madvise, (long)r->from, (long)(r->to - r->from), MADV_POPULATE_WRITE, 0, 0);
}

/* by the helper */
static void touch(void *arg)
{
	(void)arg;
	populate(&early.range[0]);
	populate(&early.range[1]);
}

/*
 * The pages that relocation and libc write, and the top of the child's stack, all at once: later each would be a fault, and with a second
 * processor in this memory most would be a message to it. An older kernel refuses this.
 */
static void find_ranges(const struct start *s)
{
	const Elf64_Phdr *p = (const Elf64_Phdr *)(uintptr_t)aux(s, AT_PHDR, 0);
	const uintptr_t page = aux(s, AT_PAGESZ, 4096);
	const uintptr_t base = (uintptr_t)&__ehdr_start, stack = (uintptr_t)early.stack, top = stack + sizeof(early.stack);

	for (uint64_t n = p ? aux(s, AT_PHNUM, 0) : 0; n > 0; n--, p++) {
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
			continue;
		early.range[0] = (struct range){ (base + p->p_vaddr) & ~(page - 1), stack };
		early.range[1] = (struct range){ (top - STACK_USED) & ~(page - 1), base + p->p_vaddr + p->p_memsz };
	}
}

void early_begin(long *sp);

/* called by early_entry with the first stack. The guard of stack frames is zero until this has set it: so it has none itself. */
__attribute__((no_stack_protector)) void early_begin(long *sp)
{
	const struct start s = look(sp);
	const uint64_t *random = (const uint64_t *)(uintptr_t)aux(&s, AT_RANDOM, 0);

	if (!random || !plain_caller(&s))
		return;
	early.tls[0] = (uintptr_t)early.tls;
	early.tls[5] = random[1] & ~0xffull;	/* %fs:0x28; as libc makes its own of the first half */
	if (vcall(SYS_arch_prctl, ARCH_SET_FS, (long)(uintptr_t)early.tls, 0, 0, 0) < 0)
		return;
	if (early_likely(s.argc, s.argv, s.env) && streams_open() && no_group_to_be_had(s.env)) {
		find_ranges(&s);
		early.ahead.first = touch;
		ahead_early(&early.ahead, early.stack, sizeof(early.stack));
	}
}

/* %rdx is what _start passes on to atexit(3); it takes the stack as the kernel left it */
__asm__(".text\n"
	".globl early_entry\n"
	".type early_entry, @function\n"
	"early_entry:\n"
	"	endbr64\n"
	"	xor %ebp, %ebp\n"
	"	mov %rsp, %r12\n"
	"	mov %rdx, %r13\n"
	"	mov %rsp, %rdi\n"
	"	and $-16, %rsp\n"
	"	call early_begin\n"
	"	mov %r12, %rsp\n"
	"	mov %r13, %rdx\n"
	"	jmp _start\n"
	".size early_entry, . - early_entry\n");
#else
struct ahead *early_take(void)
{
	return NULL;
}
#endif
