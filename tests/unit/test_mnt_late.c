/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of mnt_late: a mount namespace outlasts its processes, and ends once it is let go. In user namespaces of its own. */
#include "executor/ns/mnt_late.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"

#define LIMIT 4		/* mount namespaces below the test's user namespace, its own among them */
#define ROUNDS 20
#define PATIENCE_MS 20000

/* A child in a mount namespace of its own; 0: the limit is reached */
static pid_t child_with_mounts(void)
{
	int ready[2];
	char c = 0;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		c = unshare(CLONE_NEWNS) == 0 ? 'y' : 'n';
		if (write(ready[1], &c, 1) != 1 || c == 'n')
			_exit(0);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		c = '?';
	(void)close(ready[0]);
	if (c == 'y')
		return pid;
	(void)waitpid(pid, NULL, 0);
	return 0;
}

static pid_t child_in_time(int ms)
{
	const struct timespec wait = { .tv_nsec = 1000000 };

	for (int i = 0; i < ms; i++) {
		pid_t pid = child_with_mounts();

		if (pid != 0)
			return pid;
		(void)nanosleep(&wait, NULL);
	}
	return 0;
}

static int end(pid_t pid)
{
	return kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid ? 0 : 1;
}

static int set_limit(void)
{
	int fd = open("/proc/sys/user/max_mnt_namespaces", O_WRONLY | O_CLOEXEC);
	char text[] = { '0' + LIMIT };
	bool good = fd >= 0 && write(fd, text, 1) == 1;

	(void)close(fd);
	return good ? 0 : 1;
}

/* by a pidfd, or by its path in /proc as on older kernels; with a file or without one */
static void hold(pid_t pid, int round, struct mnt_late *l)
{
	int pidfd = round % 2 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	int image = round % 3 ? memfd_create("image", MFD_CLOEXEC) : -1;

	mnt_late_hold(pid, pidfd, image, l);
	if (pidfd >= 0)
		(void)close(pidfd);
	if (image >= 0)
		(void)close(image);
}

/* Many more than the limit allows at a time: each that is let go ends */
static int let_go(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = child_in_time(PATIENCE_MS);
		struct mnt_late l = MNT_LATE_NONE;

		if (pid)
			hold(pid, i, &l);
		if (l.kept < 0 || l.peer < 0 || (fcntl(l.kept, F_GETFD) & fcntl(l.peer, F_GETFD) & FD_CLOEXEC) == 0 || end(pid) != 0)
			return 10 + i;
		mnt_late_leave(&l);
		if (l.kept != -1 || l.peer != -1)
			return 50;
	}
	return 0;
}

/* The control: as long as they are held, or lost, there are no more than the limit */
static int held(void)
{
	struct mnt_late l[LIMIT];
	int n = 0;
	pid_t pid;

	while (n < LIMIT && (pid = child_in_time(100)) != 0) {
		hold(pid, n, &l[n]);
		if (l[n++].kept < 0 || end(pid) != 0)
			return 10;
	}
	if (n != LIMIT - 1)
		return 20 + n;
	for (int i = 0; i < n; i++)
		mnt_late_leave(&l[i]);
	pid = child_in_time(PATIENCE_MS);
	return pid ? end(pid) : 30;
}

/* In a user namespace with the limit; where the host forbids it the case tests nothing */
static int limited(int (*fn)(void))
{
	struct ak_err err = { 0 };
	struct id_map uid = { geteuid(), geteuid(), 1 }, gid = { getegid(), getegid(), 1 };
	int pidfd = -1, status = -1;
	pid_t pid = userns_clone(CLONE_NEWUSER | CLONE_NEWNS, -1, &pidfd, &err);

	if (pid == -ENOSYS || pid == -EPERM || pid == -ENOSPC)
		return 0;
	ck_assert_msg(pid >= 0, "%s", err.msg);
	if (pid == 0)
		_exit(userns_write_maps(0, uid, gid, true, &err) < 0 || set_limit() != 0 ? 100 : fn());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	(void)close(pidfd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

START_TEST(what_is_let_go_ends)
{
	ck_assert_int_eq(limited(let_go), 0);
}
END_TEST

START_TEST(what_is_held_stays)
{
	ck_assert_int_eq(limited(held), 0);
}
END_TEST

START_TEST(nothing_to_hold_is_no_error)
{
	struct mnt_late l = { 7, 8 };

	mnt_late_hold(-1, -1, -1, &l);
	ck_assert(l.kept == -1 && l.peer == -1);
	mnt_late_leave(&l);
	ck_assert(l.kept == -1 && l.peer == -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mnt_late");
	TCase *t = tcase_create("mnt_late");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, what_is_let_go_ends);
	tcase_add_test(t, what_is_held_stays);
	tcase_add_test(t, nothing_to_hold_is_no_error);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
