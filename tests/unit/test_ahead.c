/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the set-up child that is born before the plan: it ends when it is not needed, and becomes what it is told to. */
#include "executor/ns/ahead.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/setup.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/shared/ak_init_proto.h"

#define PATIENCE_MS 60000

static int open_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Return: false where the host forbids namespaces, or this architecture has no stub: then a case tests nothing */
static bool begin(struct ahead *a)
{
	*a = (struct ahead)AHEAD_NONE;
	ahead_begin(a, AHEAD_BORN);
	ck_assert((a->pid > 0) == (a->pidfd >= 0));
	return a->pid > 0;
}

START_TEST(one_that_is_not_needed_is_gone)
{
	static struct ahead a;
	int before = open_fds();
	pid_t pid;

	for (int i = 0; i < 20; i++) {
		if (!begin(&a))
			return;
		pid = a.pid;
		ahead_end(&a);
		ck_assert(waitpid(pid, NULL, 0) < 0 && errno == ECHILD);
		ck_assert_int_eq(kill(pid, 0), -1);
		ck_assert_int_eq(open_fds(), before);
		ahead_end(&a);
	}
}
END_TEST

/* it may have been killed before it could say that it wants to die with us: both ways have to end it */
START_TEST(it_ends_with_the_executor)
{
	for (int i = 0; i < 20; i++) {
		struct pollfd p = { .events = POLLIN };
		int pair[2];
		char byte;
		pid_t pid, executor;

		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
		executor = fork();
		ck_assert(executor >= 0);
		if (executor == 0) {
			static struct ahead a;

			pid = begin(&a) ? a.pid : 0;
			_exit(write(pair[1], &pid, sizeof(pid)) != sizeof(pid) || (i % 2 && read(pair[1], &byte, 1) != 1));
		}
		ck_assert_int_eq(read(pair[0], &pid, sizeof(pid)), sizeof(pid));
		if (pid > 0) {
			p.fd = (int)syscall(SYS_pidfd_open, pid, 0);	/* ESRCH: it has ended already */
			ck_assert(p.fd >= 0 || errno == ESRCH);
		}
		if (i % 2)
			ck_assert_int_eq(write(pair[0], "", 1), 1);
		ck_assert_int_eq(waitpid(executor, NULL, 0), executor);
		if (pid > 0 && p.fd >= 0)
			ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
		(void)close(p.fd);
		(void)close(pair[0]);
		(void)close(pair[1]);
	}
}
END_TEST

/* what it says when it has come as far as ak-init, which is none here */
static void hear(int ctl, struct init_msg *m, char buf[AK_INIT_MSG_MAX])
{
	ssize_t n = recv(ctl, buf, AK_INIT_MSG_MAX, 0);

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(init_msg_decode(buf, (size_t)n, m), 0);
}

START_TEST(it_becomes_what_it_is_told)
{
	static struct ahead a;
	char host[] = "ahead", cwd[] = "/", text[AK_INIT_MSG_MAX];
	struct plan plan = { .root = PLAN_ROOT_TMPFS, .net = NET_NONE, .hostname = host, .cwd = cwd, .uid = geteuid(), .gid = getegid() };
	struct setup s = { .plan = &plan, .stdio = { 0, 1, 2 }, .uid = { geteuid(), geteuid(), 1 }, .gid = { getegid(), getegid(), 1 } };
	struct init_msg m;
	int ctl[2], pidfd = -1, status, before = open_fds();
	pid_t pid;

	if (!begin(&a))
		return;
	/* all of this is opened after the child was born */
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl), 0);
	s.ctl = ctl[1];
	s.ctl_parent = ctl[0];
	s.config = open("/dev/null", O_RDONLY | O_CLOEXEC);
	s.init = open("/dev/null", O_RDONLY | O_CLOEXEC);
	s.stdio[2] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	s.ahead = &a;
	pid = ahead_go(&a, &s, &pidfd);
	ck_assert(pid > 0 && pidfd >= 0 && a.pid == 0);
	(void)close(ctl[1]);
	hear(ctl[0], &m, text);
	ck_assert_int_eq(m.type, INIT_MSG_FAILED);
	ck_assert_msg(strstr(m.text, "start ak-init") != NULL, "%s", m.text);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 125);
	ck_assert_int_eq(recv(ctl[0], text, sizeof(text), 0), 0);	/* nobody has the other end any more */
	(void)close(ctl[0]);
	(void)close(s.config);
	(void)close(s.init);
	(void)close(s.stdio[2]);
	(void)close(pidfd);
	ck_assert_int_eq(open_fds(), before);
}
END_TEST

/* what it was told to do it may be too late to do: then the executor makes another one, and that tells why */
START_TEST(one_that_could_not_do_its_prework_is_noticed)
{
	static struct ahead a;
	struct plan plan = { .root = PLAN_ROOT_TMPFS, .net = NET_NONE };
	struct setup s = { .plan = &plan, .stdio = { 0, 1, 2 }, .ahead = &a };
	int pidfd = -1, before = open_fds();

	a = (struct ahead)AHEAD_NONE;
	/* without a pid namespace of its own it may not mount a procfs */
	ahead_begin(&a, CLONE_NEWUSER);
	if (a.pid <= 0)
		return;
	s.ctl = s.ctl_parent = s.config = s.init = 0;
	ck_assert_int_lt(ahead_go(&a, &s, &pidfd), 0);
	ck_assert_int_eq(pidfd, -1);
	ahead_end(&a);
	ck_assert_int_eq(open_fds(), before);
}
END_TEST

START_TEST(without_namespaces_there_is_none)
{
	static struct ahead a = AHEAD_NONE;
	int before = open_fds();

	ahead_begin(&a, CLONE_NEWUSER | CLONE_FS);	/* which the kernel refuses: clone(2) */
	ck_assert(a.pid == 0 && a.pidfd < 0);
	ck_assert_int_eq(open_fds(), before);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ahead");
	TCase *t = tcase_create("ahead");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_test(t, one_that_is_not_needed_is_gone);
	tcase_add_test(t, it_ends_with_the_executor);
	tcase_add_test(t, it_becomes_what_it_is_told);
	tcase_add_test(t, one_that_could_not_do_its_prework_is_noticed);
	tcase_add_test(t, without_namespaces_there_is_none);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
