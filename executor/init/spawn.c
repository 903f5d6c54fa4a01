/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the command: runs in init up to the fork and in the child from there to the exec; no privilege. */
#include "executor/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/init/learn.h"
#include "executor/shared/ak_weaken.h"

#define CWD_MAX 4096 /* PATH_MAX: the system call returns at most a page */
#define CWD_USUAL 256

static const char *cwd_hint(int err)
{
	switch (err) {
	case ENOENT:
		return "only what the sandbox shows exists: bind the folder, or choose another working "
		       "directory";
	case EACCES:
		return "the sandbox's user must be allowed to enter the folder and those above it";
	default:
		return NULL;
	}
}

static _Noreturn void cwd_failed(const struct init *in, int err, const char *why)
{
	struct failure f = { .stage = INIT_STAGE_CWD, .err = err, .exit_code = 125, .hint = cwd_hint(err) };

	text_raw(&f.text, "working directory ");
	text_name(&f.text, in->cfg->cwd);
	text_raw(&f.text, ": ");
	text_raw(&f.text, why);
	fail(in, &f);
}

/* As getcwd(2), of a path that may be as long as there are any; its first byte goes to @ret */
static __attribute__((noinline)) long long_cwd(char *ret)
{
	char path[CWD_MAX];
	long n = syscall(SYS_getcwd, path, sizeof(path));

	*ret = path[0];
	return n;
}

/*
 * The raw call, because libc turns the kernel's "(unreachable)" into an error of its own: a folder outside
 * the root (by a descriptor that leaked) is never a working directory (CVE-2024-21626).
 */
void enter_cwd(const struct init *in)
{
	char path[CWD_USUAL];
	long n;

	if (chdir(in->cfg->cwd) < 0)
		cwd_failed(in, errno, strerror(errno));
	n = syscall(SYS_getcwd, path, sizeof(path));
	if (n < 0 && errno == ERANGE)
		n = long_cwd(path);
	if (n < 0)
		cwd_failed(in, errno, strerror(errno));
	if (n < 2 || path[0] != '/')
		cwd_failed(in, 0, "lies outside the sandbox's root");
}

static void new_session(const struct init *in)
{
	if (!AK_WEAK(in->weaken, AK_WEAK_SESSION) && setsid() < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "setsid");
	if (in->slave >= 0)
		pty_attach(in);
}

static _Noreturn void run_child(const struct init *in, uint64_t old_mask)
{
	new_session(in);
	/* dispositions were made default in init, but those that it ignores itself */
	if (in->proc >= 0)
		signals_reset(UINT64_MAX);
	signals_set_mask(AK_WEAK(in->weaken, AK_WEAK_SIGNALS) ? old_mask : 0);
	(void)umask(022);
	enter_cwd(in);
	if (LEARNING(in))
		learn_wait(in);
	confine(in);
	exec_command(in);
}

void spawn(struct init *in, uint64_t old_mask)
{
	pid_t pid;

	in->start_ns = now_ns();
	/*
	 * Not fork: the child borrows our memory until its exec, which saves copying the page tables and a fault for every page
	 * either of us writes. It writes nothing that we need afterwards, and no hostile code runs before the exec. Credentials,
	 * filters, Landlock domain, descriptors and signal state are its own; clone(2), vfork(2).
	 */
	if (LEARNING(in))
		pid = learn_fork(in);
	else
		pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): as said above */
	if (pid < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "fork");
	if (pid == 0)
		run_child(in, old_mask); /* NOLINT(clang-analyzer-unix.Vfork): it execs or exits, and writes nothing we need */
	in->child = pid;
	if (in->slave >= 0)
		(void)close(in->slave);
	in->slave = -1;
}
