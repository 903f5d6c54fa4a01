/* SPDX-License-Identifier: Apache-2.0 */
/* What ak-policy gives up before it reads a byte. Privilege: none. */
#include <errno.h>
#include <linux/landlock.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seccomp/policy.h"

#define MEMORY_BYTES (512u << 20)
#define CPU_SECONDS 10

static int limits(void)
{
	const struct rlimit mem = { MEMORY_BYTES, MEMORY_BYTES }, cpu = { CPU_SECONDS, CPU_SECONDS }, none = { 0, 0 };

	return setrlimit(RLIMIT_AS, &mem) < 0 || setrlimit(RLIMIT_CPU, &cpu) < 0 || setrlimit(RLIMIT_CORE, &none) < 0 ? -1 : 0;
}

/* no file can be opened any more: best effort by kernel, since the filter below refuses open as well */
static int no_files(void)
{
	struct { uint64_t fs; } attr = { (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1 };
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	int rc;

	if (fd < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -1;
	rc = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	(void)close(fd);
	return rc;
}

int policy_confine(void)
{
	/* memfd_create, ftruncate: libseccomp gives its program to a descriptor only */
	static const int calls[] = {
		SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(close), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(brk),
		SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(mprotect), SCMP_SYS(memfd_create),
		SCMP_SYS(futex), SCMP_SYS(getrandom), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(restart_syscall),
		SCMP_SYS(seccomp), SCMP_SYS(prctl), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(uname),
		SCMP_SYS(clock_gettime), SCMP_SYS(sysinfo), SCMP_SYS(exit), SCMP_SYS(exit_group),
	};
	scmp_filter_ctx ctx;
	int rc = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || limits() < 0 || no_files() < 0)
		return -1;
	ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	if (!ctx)
		return -1;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && rc == 0; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
	if (rc == 0)
		rc = seccomp_load(ctx);
	seccomp_release(ctx);
	errno = -rc;
	return rc < 0 ? -1 : 0;
}
