/* SPDX-License-Identifier: Apache-2.0 */
/* Other system call tables of the processor: every use must end the process with SIGSYS. Runs as a command in
 * a sandbox. */
#include <signal.h>
#include <sys/prctl.h>
#include "tests/escape/esc.h"

#ifdef __x86_64__
static long int80(const void *arg)
{
	long ret;

	/* a 64-bit process enters the 32-bit table this way; the registers keep their upper halves */
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(*(const int *)arg), "b"(0x10000000), "c"(0), "d"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	errno = ret < 0 ? (int)-ret : 0;
	return ret < 0 ? -1 : 0;
}

static long x32(const void *arg)
{
	return syscall(*(const int *)arg | 0x40000000);
}

static void killed(struct esc *e, const char *name, long (*fn)(const void *), int nr)
{
	int sig;
	long rc = esc_forked(fn, &nr, &sig);

	/* a kernel without the 32-bit table has no such gate: the instruction itself faults */
	if (fn == int80 && sig == SIGSEGV)
		esc_is(e, name, true, "SIGSEGV: this kernel has no 32-bit entry");
	else
		esc_is(e, name, sig == SIGSYS, "signal %d, rc %ld %s", sig, rc,
		       sig ? "" : esc_errname(errno));
}
#endif

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	/* the children that die leave no core file behind even where the limit would let them */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#ifdef __x86_64__
	killed(&e, "62:int80_getpid", int80, 20);
	killed(&e, "62:int80_mount", int80, 21);
	killed(&e, "62:int80_unshare", int80, 310);
	killed(&e, "62:int80_socketcall", int80, 102);
	killed(&e, "62:int80_keyctl", int80, 288);
	killed(&e, "62:x32_getpid", x32, 39);
	killed(&e, "62:x32_unshare", x32, 272);
	killed(&e, "62:x32_ptrace", x32, 521);
#else
	esc_skip("62:foreign_abi", "this processor has no second table that we know");
#endif
	return esc_end(&e);
}
