/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ak-agent confine-check DIR [--unconfined|--terminal]: a test's way to see what the confinement of `ak run`, or with --terminal of
 * `ak chat`, leaves. DIR stands for the session's folder; standard input is a terminal for the latter. One line a try: "BLOCKED NAME
 * errno", "OPEN NAME", or "ALLOWED NAME" for what must work. The control does the same without confinement, but for what would touch a
 * terminal. Process: agent. Privilege: none.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "agent/cli/cli_opt.h"
#include "agent/cli/commands.h"
#include "agent/confine.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static void line(const char *kind, const char *name, const char *detail)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "%s %s %s\n", kind, name, detail);
	if (!b.failed)
		(void)ak_write_all(STDOUT_FILENO, b.data, b.len);
	ak_buf_release(&b);
}

/* @got: what the call gave: below 0 with errno is what is wanted */
static void must_fail(const char *name, long got)
{
	line(got < 0 ? "BLOCKED" : "OPEN", name, got < 0 ? ak_errno_name(errno) : "");
}

static void must_work(const char *name, long got)
{
	line(got < 0 ? "BROKEN" : "ALLOWED", name, got < 0 ? ak_errno_name(errno) : "");
}

/*
 * A control does not confine: what then succeeds is done in a child, for an exec would end us and a tracer stop us. Return: as @try
 */
static long in_child(bool control, long (*try)(void))
{
	int status = 0;
	long pid;

	if (!control)
		return try();
	pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(try() < 0 ? errno : 0);
	if (pid < 0 || waitpid((pid_t)pid, &status, 0) < 0)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	return errno ? -1 : 0;
}

/* A call that is not filtered and wants one: CAP_NET_ADMIN, socket(7) */
static long try_capability(void)
{
	AK_AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int size = 1 << 20;

	return fd < 0 ? 0 : setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
}

static long try_trace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long try_exec(void)
{
	static char *const argv[] = { (char *)(uintptr_t)"true", NULL };

	return syscall(SYS_execve, "/bin/true", argv, argv + 1);
}

/* a child that comes to be is ended at once */
static long try_process(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		(void)waitpid((pid_t)pid, NULL, 0);
	return pid;
}

static long try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	int e = errno;

	if (fd >= 0)
		(void)close(fd);
	errno = e;
	return fd;
}

static long try_executable_memory(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? 0 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static void *thread(void *arg)
{
	return arg;
}

static long try_thread(void)
{
	pthread_t t;
	int e = pthread_create(&t, NULL, thread, NULL);

	if (e == 0)
		(void)pthread_join(t, NULL);
	errno = e;
	return e ? -1 : 0;
}

/* any other error would be the terminal's own: the call came through */
static void must_refuse(const char *name, long got)
{
	line(got < 0 && errno == EPERM ? "BLOCKED" : "OPEN", name, got < 0 ? ak_errno_name(errno) : "");
}

/* setting its modes as tcsetattr(TCSADRAIN) does, and nothing else: no key is put into it, none taken from others, it is not made ours */
static void try_terminal(bool terminal)
{
	struct termios t = { 0 };
	struct winsize w = { 0 };
	char c = 'x';
	int disc = 0;

	must_refuse("terminal-push", ioctl(STDIN_FILENO, TIOCSTI, &c));
	must_refuse("terminal-paste", ioctl(STDIN_FILENO, TIOCLINUX, &c));
	must_refuse("terminal-take", ioctl(STDIN_FILENO, TIOCSCTTY, 0));
	must_refuse("terminal-group", ioctl(STDIN_FILENO, TIOCSPGRP, &disc));
	must_refuse("terminal-discipline", ioctl(STDIN_FILENO, TIOCSETD, &disc));
	must_refuse("terminal-size", ioctl(STDIN_FILENO, TIOCSWINSZ, &w));
	must_fail("terminal-open", try_open("/dev/tty", O_RDWR));
	must_refuse("terminal-flush-modes", ioctl(STDIN_FILENO, TCSETSF, &t));
	if (!terminal) {
		must_refuse("terminal-modes", ioctl(STDIN_FILENO, TCSETSW, &t));
		return;
	}
	must_work("terminal-ask", tcgetattr(STDIN_FILENO, &t));
	must_work("terminal-modes", tcsetattr(STDIN_FILENO, TCSADRAIN, &t));
	must_work("terminal-columns", ioctl(STDIN_FILENO, TIOCGWINSZ, &w));
}

static void try_all(int dir, int lack, bool terminal, bool control)
{
	struct rlimit more = { 4096, 4096 };

	must_fail("capability", try_capability());
	must_fail("exec", in_child(control, try_exec));
	must_fail("process", try_process());
	must_fail("ptrace", in_child(control, try_trace));
	must_fail("namespace", unshare(CLONE_NEWUSER));
	must_fail("keyring", syscall(SYS_keyctl, 0, -3, 0, 0, 0));
	must_fail("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
	must_fail("packet-socket", socket(AF_PACKET, SOCK_RAW, 0));
	must_fail("signal-parent", kill(getppid(), 0));
	must_fail("raise-limit", setrlimit(RLIMIT_NOFILE, &more));
	must_fail("process_vm_readv", syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
	must_fail("proc-mem", try_open("/proc/self/mem", O_RDWR));
	if (!(lack & CONFINE_NO_LANDLOCK)) {
		must_fail("open-passwd", try_open("/etc/passwd", O_RDONLY));
		must_fail("open-root", try_open("/", O_RDONLY | O_DIRECTORY));
		must_fail("open-environ", try_open("/proc/self/environ", O_RDONLY));
		must_fail("open-ssh", try_open("/etc/ssh/ssh_config", O_RDONLY));
		must_fail("write-tmp", try_open("/tmp/.ak-confine-check", O_WRONLY | O_CREAT));
		if (!control)	/* root's control would write there */
			must_fail("write-certificates", try_open("/etc/ssl/.ak-confine-check", O_WRONLY | O_CREAT));
	}
	if (!(lack & CONFINE_NO_MDWE))
		must_fail("executable-memory", try_executable_memory());
	must_work("own-folder", openat(dir, "confined", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	must_work("resolver-files", try_open("/etc/nsswitch.conf", O_RDONLY));
	must_work("internet-socket", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	must_work("thread", try_thread());
	must_work("memory", mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
	must_fail("dumpable-again", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	if (!control)
		try_terminal(terminal);
}

int cmd_confine_check(int argc, char *argv[], char *envp[])
{
	bool control = argc == 2 && strcmp(argv[1], "--unconfined") == 0;
	bool terminal = argc == 2 && strcmp(argv[1], "--terminal") == 0;
	struct confine c = { .terminal = terminal,
			     .dir = argc == 1 || control || terminal ? open(argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1 };
	struct ak_err err = { 0 };
	int lack = 0;

	(void)envp;
	if (c.dir < 0) {
		(void)ak_err_set(&err, EINVAL, "confine-check: one folder is taken, and --unconfined or --terminal behind it");
		return cli_fail(&err, 2);
	}
	if (!control)
		lack = confine_apply(&c, &err);
	if (lack < 0)
		return cli_fail(&err, 1);
	try_all(c.dir, lack, terminal, control);
	ak_fd_close(&c.dir);
	return 0;
}
