/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the program that drives the executor: what it gets, and what it cannot do to the executor. This program is its own agent. */
#include "executor/agent.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/landlock.h"
#include "executor/shared/ak_chan.h"
#include "executor/shared/ak_fd.h"

/* what the agent found out, in one packet */
struct found {
	int nfds, max_fd, nnp, ptrace_errno, kill_errno, env_n, blocked, dumps_term;
	unsigned long long caps;
	char env[64];
};

extern char **environ;

static unsigned long long effective(void)
{
	char line[256];
	unsigned long long v = 1;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapPrm: %llx", &v) == 1)
			break;
	if (f)
		(void)fclose(f);
	return v;
}

static int agent_main(pid_t executor)
{
	struct found r = { 0 };
	sigset_t set;

	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		r.nfds++;
		r.max_fd = fd;
	}
	r.nnp = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	r.caps = effective();
	r.ptrace_errno = ptrace(PTRACE_SEIZE, executor, NULL, NULL) < 0 ? errno : 0;
	r.kill_errno = kill(executor, 0) < 0 ? errno : 0;
	sigemptyset(&set);
	(void)sigprocmask(SIG_BLOCK, NULL, &set);
	r.blocked = sigismember(&set, SIGTERM);
	for (char **e = environ; *e; e++)
		r.env_n++;
	(void)snprintf(r.env, sizeof(r.env), "%s", environ[0] ? environ[0] : "");
	return send(AGENT_SOCKET_FD, &r, sizeof(r), MSG_NOSIGNAL) == (ssize_t)sizeof(r) ? 0 : 1;
}

static void start(const char *what, int *ret_sock, int *ret_pidfd, pid_t *ret_pid)
{
	char self[16];
	char *argv[] = { (char *)"test_agent", (char *)what, self, NULL };
	char *envp[] = { (char *)"A=1", NULL };
	int sock[2], exe = open("/proc/self/exe", O_PATH | O_CLOEXEC);

	(void)snprintf(self, sizeof(self), "%d", getpid());
	ck_assert_int_eq(ak_chan_pair(sock, NULL), 0);
	*ret_pid = agent_spawn(exe, argv, envp, sock[1], -1, ret_pidfd, NULL);
	ck_assert_int_gt(*ret_pid, 0);
	ak_fd_close(&sock[1]);
	ak_fd_close(&exe);
	*ret_sock = sock[0];
}

START_TEST(the_agent_has_a_socket_and_nothing_else)
{
	int sock, pidfd, extra = open("/etc/passwd", O_RDONLY);	/* would pass an exec */
	struct found r = { 0 };
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	start("look", &sock, &pidfd, &pid);
	ck_assert_int_eq(recv(sock, &r, sizeof(r), 0), (ssize_t)sizeof(r));
	(void)close(extra);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_le(r.nfds, 4);
	ck_assert_int_eq(r.max_fd, AGENT_SOCKET_FD);
	ck_assert_int_eq(r.nnp, 1);
	ck_assert_uint_eq(r.caps, 0);
	ck_assert_int_eq(r.blocked, 0);
	ck_assert_int_eq(r.env_n, 1);
	ck_assert_str_eq(r.env, "A=1");
	if (landlock_abi() > 0)
		ck_assert_int_eq(r.ptrace_errno, EPERM);
	else
		puts("not tested: no Landlock here, so nothing of ours keeps an agent from tracing its executor");
	if (landlock_abi() >= 6)
		ck_assert_int_eq(r.kill_errno, EPERM);
}
END_TEST

START_TEST(the_agent_dies_with_the_executor)
{
	int out[2];
	pid_t executor, agent = 0;

	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	executor = fork();
	if (executor == 0) {
		int sock, pidfd;
		pid_t pid;

		start("stay", &sock, &pidfd, &pid);
		if (write(out[1], &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
			_exit(1);
		pause();
	}
	ck_assert_int_eq(read(out[0], &agent, sizeof(agent)), (ssize_t)sizeof(agent));
	ck_assert_int_eq(kill(executor, SIGKILL), 0);
	ck_assert_int_eq(waitpid(executor, NULL, 0), executor);
	ck_assert_int_eq(waitpid(agent, NULL, 0), agent);	/* comes to us as the subreaper, and at once */
}
END_TEST

START_TEST(a_program_that_cannot_run_is_the_end_of_the_socket)
{
	char *argv[] = { (char *)"x", NULL }, *envp[] = { NULL };
	int sock[2], pidfd, status, exe = open("/etc/passwd", O_PATH | O_CLOEXEC);
	char c;
	pid_t pid;

	ck_assert_int_eq(ak_chan_pair(sock, NULL), 0);
	pid = agent_spawn(exe, argv, envp, sock[1], -1, &pidfd, NULL);
	ck_assert_int_gt(pid, 0);
	ak_fd_close(&sock[1]);
	ck_assert_int_eq(recv(sock[0], &c, 1, 0), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 127);
}
END_TEST

int main(int argc, char *argv[])
{
	Suite *s = suite_create("agent");
	TCase *tc = tcase_create("agent");
	SRunner *sr;
	int failed;

	if (argc == 3 && strcmp(argv[1], "look") == 0)
		return agent_main((pid_t)strtol(argv[2], NULL, 10));
	if (argc == 3)
		for (;;)
			pause();
	sr = srunner_create(s);
	suite_add_tcase(s, tc);
	tcase_add_test(tc, the_agent_has_a_socket_and_nothing_else);
	tcase_add_test(tc, the_agent_dies_with_the_executor);
	tcase_add_test(tc, a_program_that_cannot_run_is_the_end_of_the_socket);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
