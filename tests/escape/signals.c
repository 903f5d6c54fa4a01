/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes: none of the host's can be seen, signalled or traced; the signal state is clean; orphans are
 * reaped. Runs as a command in a sandbox; hostpid=N is a live process of the same user outside.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include "tests/escape/esc.h"

static void check_state(struct esc *e)
{
	static const char *const keys[] = {"SigBlk:", "SigIgn:", "SigCgt:", "SigPnd:", "ShdPnd:"};
	char v[64], name[32];
	int sig = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		esc_line("/proc/self/status", keys[i], v, sizeof(v));
		snprintf(name, sizeof(name), "21:%.6s", keys[i]);
		esc_is(e, name, v[0] && strspn(v, "0") == strlen(v), "%s", v);
	}
	prctl(PR_GET_PDEATHSIG, &sig);
	esc_is(e, "21:no_pdeathsig", sig == 0, "%d", sig);
	esc_is(e, "12:not_pid_1", getpid() != 1, "pid %d", getpid());
	esc_is(e, "20:session", getsid(0) != 0 && getpgrp() != 0, "sid %d pgrp %d", getsid(0), getpgrp());
}

static void check_out(struct esc *e)
{
	const char *host = esc_arg(e, "hostpid");
	char path[64];

	if (host) {
		pid_t pid = esc_num(host);

		snprintf(path, sizeof(path), "/proc/%d", pid);
		esc_err(e, "12+18:host_pid_in_proc", access(path, F_OK), ENOENT);
		esc_err(e, "18:kill_host", kill(pid, 0), ESRCH);
		esc_err(e, "18:pidfd_host", syscall(SYS_pidfd_open, pid, 0), ESRCH);
		esc_err(e, "19:ptrace_host", ptrace(PTRACE_ATTACH, pid, 0, 0), ESRCH);
	}
	esc_err(e, "19:ptrace_init", ptrace(PTRACE_ATTACH, 1, 0, 0), EPERM);
	esc_err(e, "19:ptrace_seize_init", ptrace(PTRACE_SEIZE, 1, 0, 0), EPERM);
	struct iovec l = {path, 8}, r = {(void *)0x400000, 8};
	esc_err(e, "19:process_vm_readv_init", process_vm_readv(1, &l, 1, &r, 1, 0), EPERM);
}

static void check_trace_own(struct esc *e)
{
	int st = 0;
	pid_t pid = fork();

	if (!pid) {
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP) ? 1 : 0);
	}
	bool stopped = waitpid(pid, &st, 0) == pid && WIFSTOPPED(st);
	esc_need(e, "69:trace_own_child", stopped);
	kill(pid, SIGKILL);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	waitpid(pid, NULL, 0);
}

static int count_zombies(void)
{
	DIR *d = opendir("/proc");
	struct dirent *de;
	char path[300], v[64];
	int n = 0;

	while (d && (de = readdir(d))) {
		if (de->d_name[0] < '0' || de->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/status", de->d_name);
		esc_line(path, "State:", v, sizeof(v));
		n += v[0] == 'Z';
	}
	if (d)
		closedir(d);
	return n;
}

static int make_orphan(void)
{
	pid_t pid = fork();
	int st;

	if (!pid)
		_exit(fork() < 0);
	return pid > 0 && waitpid(pid, &st, 0) == pid && WIFEXITED(st) && !WEXITSTATUS(st);
}

static void check_orphans(struct esc *e)
{
	int made = 0, left = -1, waits = 5000;

	for (int i = 0; i < 1000; i++) {
		/* more than the limit of processes allows at once: on a busy machine they are made faster than they end */
		while (!make_orphan() && waits-- > 0)
			usleep(1000);
		made += waits > 0;
	}
	for (int i = 0; i < 500 && left; i++) {
		left = count_zombies();
		if (left)
			usleep(10000);
	}
	esc_is(e, "12:orphans_reaped", made >= 900 && left == 0, "%d made, %d zombies left", made, left);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	check_state(&e);
	check_out(&e);
	check_trace_own(&e);
	check_orphans(&e);
	return esc_end(&e);
}
