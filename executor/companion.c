/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, checks and runs programs that lie beside ak. Process: executor and the child it forks. Privilege: none given on. */
#include "executor/companion.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/securebits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/userns.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define NOBODY 65534u		/* the kernel's overflow id: owns nothing */
#define COMPLAINT_BYTES 512u

static int own_folder(char ret[PATH_MAX], struct ak_err *err)
{
	ssize_t n = readlink("/proc/self/exe", ret, PATH_MAX - 1);
	char *slash;

	if (n < 0)
		return ak_err_sys(err, errno, "find the folder of ak (/proc/self/exe)");
	ret[n] = '\0';
	slash = strrchr(ret, '/');
	if (!slash)
		return ak_err_set(err, ENOENT, "find the folder of ak: /proc/self/exe is no path");
	slash[1] = '\0';
	return 0;
}

static int check_file(int fd, const char *path, struct ak_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at %s", path);
	if (S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return 0;
	(void)ak_err_set(err, EPERM, "%s is not started: it is no file that only you or root can write", path);
	ak_err_hint(err, "make it yours and run: chmod go-w %s", path);
	return -EPERM;
}

int companion_open(const char *name, struct ak_err *err)
{
	static const char *const places[] = { "", "../libexec/ak/" };
	char folder[PATH_MAX], path[PATH_MAX + 128];
	int rc = own_folder(folder, err);

	for (size_t i = 0; rc == 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		AK_AUTO_FD fd = -1;

		(void)snprintf(path, sizeof(path), "%s%s%.64s", folder, places[i], name);
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
			continue;
		if (fd < 0)
			return ak_err_sys(err, errno, "open %s", path);
		rc = check_file(fd, path, err);
		return rc < 0 ? rc : ak_fd_take(&fd);
	}
	if (rc < 0)
		return rc;
	(void)ak_err_set(err, ENOENT, "%s is missing: it is neither in %s nor in %s../libexec/ak", name, folder, folder);
	ak_err_hint(err, "install it beside ak (make install does), or copy it there");
	return -ENOENT;
}

/* what the program reads, from its start */
static int input_fd(const void *input, size_t len, struct ak_err *err)
{
	AK_AUTO_FD fd = memfd_create("ak-input", MFD_CLOEXEC);
	int rc = fd < 0 ? -errno : ak_write_all(fd, input, len);

	if (rc < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return ak_err_sys(err, rc < 0 ? -rc : errno, "hand the input over");
	return ak_fd_take(&fd);
}

/*
 * In a user namespace that has no such id, uid 0 is nobody's root and stays; then the program gets no capability for being 0:
 * capabilities(7), SECBIT_NOROOT.
 */
static bool give_up_root(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0)
		return errno == EINVAL && prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED, 0, 0, 0) == 0;
	return setgroups(0, NULL) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

/* in the child; ends it. No errors can be told but by the exit status: nothing of libc that could take a lock is used */
static _Noreturn void run_child(int program, const char *const argv[], const int fds[3])
{
	char *const env[] = { NULL };
	sigset_t none;

	sigemptyset(&none);
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			_exit(125);
	if (geteuid() == 0 && !give_up_root())
		_exit(125);
	/* also what the caller of ak has left open: it may be asked before ak has closed that */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		_exit(125);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execveat(program, "", (char *const *)argv, env, AT_EMPTY_PATH);
	_exit(125);
}

struct answer {
	char *buf;
	size_t len, cap;
	char complaint[COMPLAINT_BYTES];
	size_t complaint_len;
	bool too_long;
};

/* Return: false at the end of file */
static bool take(int fd, char *buf, size_t cap, size_t *len, bool *ret_full)
{
	char drop[4096];
	bool full = *len >= cap;
	ssize_t n = full ? read(fd, drop, sizeof(drop)) : read(fd, buf + *len, cap - *len);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n > 0 && full && ret_full)
		*ret_full = true;
	if (n > 0 && !full)
		*len += (size_t)n;
	return n > 0;
}

/* both streams to their ends. Return: 0, or -ETIMEDOUT */
static int collect(int out, int complain, struct answer *a)
{
	struct pollfd p[2] = { { .fd = out, .events = POLLIN }, { .fd = complain, .events = POLLIN } };
	uint64_t end = ak_now_ns() + COMPANION_TIMEOUT_MS * 1000000ull;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		uint64_t now = ak_now_ns();

		if (now >= end || a->too_long)
			return now >= end ? -ETIMEDOUT : -E2BIG;
		if (poll(p, 2, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		if (p[0].revents && !take(out, a->buf, a->cap, &a->len, &a->too_long))
			p[0].fd = -1;
		if (p[1].revents && !take(complain, a->complaint, COMPLAINT_BYTES - 1, &a->complaint_len, NULL))
			p[1].fd = -1;
	}
	return a->too_long ? -E2BIG : 0;
}

/* the first line of what it complained about, without bytes that a terminal could act on */
static int refused(struct answer *a, const char *name, const siginfo_t *end, struct ak_err *err)
{
	size_t n = 0;

	while (n < a->complaint_len && a->complaint[n] != '\n') {
		if ((unsigned char)a->complaint[n] < 0x20 || (unsigned char)a->complaint[n] == 0x7f)
			a->complaint[n] = '?';
		n++;
	}
	a->complaint[n] = '\0';
	if (end->si_code == CLD_EXITED && end->si_status == 1 && n)
		return ak_err_set(err, EINVAL, "%s", a->complaint);
	if (end->si_code != CLD_EXITED)
		return ak_err_set(err, ECHILD, "%s was killed by signal %d", name, end->si_status);
	return ak_err_set(err, ECHILD, "%s could not be run (status %d)%s%s", name, end->si_status, n ? ": " : "", a->complaint);
}

/* the end of the child, as far as it is known; a child that was not started gives 125 */
static void reap(int pidfd, bool kill_it, siginfo_t *ret)
{
	if (kill_it)
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)pidfd, ret, WEXITED) < 0 && errno == EINTR)
		;
}

static int run(int program, const char *const argv[], int in, struct answer *a, siginfo_t *ret_end, struct ak_err *err)
{
	AK_AUTO_FD pidfd = -1;
	int out[2] = { -1, -1 }, complain[2] = { -1, -1 };
	int rc, e;
	pid_t pid;

	/* the descriptor comes with the child: without it, it could be neither ended nor waited for */
	if (pipe2(out, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "pipe");
	if (pipe2(complain, O_CLOEXEC) < 0) {
		e = errno;
		ak_fd_close(&out[0]);
		ak_fd_close(&out[1]);
		return ak_err_sys(err, e, "pipe");
	}
	pid = userns_clone(0, -1, &pidfd, err);
	if (pid == 0)
		run_child(program, argv, (const int[3]){ in, out[1], complain[1] });
	ak_fd_close(&out[1]);
	ak_fd_close(&complain[1]);
	rc = pid < 0 ? (int)pid : collect(out[0], complain[0], a);
	ak_fd_close(&out[0]);
	ak_fd_close(&complain[0]);
	if (pid > 0)
		reap(pidfd, rc < 0, ret_end);
	return rc;
}

int companion_run(const char *const argv[], const void *input, size_t len, size_t cap, char **ret_out, size_t *ret_len,
		  struct ak_err *err)
{
	AK_AUTO_FD program = companion_open(argv[0], err);

	return program < 0 ? program : companion_run_fd(program, argv, input, len, cap, ret_out, ret_len, err);
}

int companion_run_fd(int program, const char *const argv[], const void *input, size_t len, size_t cap, char **ret_out, size_t *ret_len,
		     struct ak_err *err)
{
	AK_AUTO_FD in = input_fd(input, len, err);
	struct answer a = { .cap = cap };
	siginfo_t end = { 0 };
	int rc;

	if (in < 0)
		return in;
	a.buf = malloc(cap + 1);
	if (!a.buf)
		return ak_err_set(err, ENOMEM, "out of memory");
	rc = run(program, argv, in, &a, &end, err);
	if (rc == -ETIMEDOUT || rc == -E2BIG)
		(void)ak_err_set(err, -rc, rc == -E2BIG ? "%s: its answer is too long" : "%s did not answer in time", argv[0]);
	if (rc == 0 && (end.si_code != CLD_EXITED || end.si_status != 0))
		rc = refused(&a, argv[0], &end, err);
	if (rc < 0) {
		free(a.buf);
		return rc;
	}
	a.buf[a.len] = '\0';
	*ret_out = a.buf;
	*ret_len = a.len;
	return 0;
}
