/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of a changeset's lock: who is waited for, and what is not removed. */
#include "executor/workspace/changeset.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/fsat.h"

static char top[64];
static int root = -1;
static char id[CHANGESET_ID_MAX];

static void begin(void)
{
	(void)snprintf(top, sizeof(top), "/tmp/ak-test-changeset.XXXXXX");
	ck_assert(mkdtemp(top) != NULL);
	root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root, 0);
}

static void end(void)
{
	ck_assert_int_eq(ws_remove(AT_FDCWD, top, NULL), 0);
	ak_fd_close(&root);
}

/* sleeps now, which a process that is awake from waiting for us does by a later call */
static bool sleeps(pid_t pid)
{
	char path[64], text[512] = "";
	const char *at;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	ck_assert(f != NULL);
	ck_assert(fgets(text, sizeof(text), f) != NULL);
	(void)fclose(f);
	at = strrchr(text, ')');
	return at && at[1] == ' ' && at[2] == 'S';
}

/* a run in another process: it has the changeset until the caller waits for it, and ends with a journal or without one */
static pid_t run_goes_on(bool writes)
{
	struct changeset_meta m = { .workspace = "/w", .ino = 1, .start_ns = 1, .uid = geteuid(), .gid = getegid() };
	struct ws_ident folder = { .mode = 0755 };
	struct changeset cs = CHANGESET_NONE;
	int ready[2];
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct journal j = { 0 };
		pid_t caller = getppid();

		if (changeset_create(root, &m, &folder, &cs, NULL) < 0 || write(ready[1], cs.id, sizeof(cs.id)) != sizeof(cs.id))
			_exit(1);
		while (!sleeps(caller))
			(void)usleep(1000);
		_exit(writes && changeset_store(&cs, &j, NULL) < 0 ? 2 : 0);
	}
	ck_assert_int_eq(read(ready[0], id, sizeof(id)), sizeof(id));
	ak_fd_close(&ready[0]);
	ak_fd_close(&ready[1]);
	return pid;
}

static int open_it(enum changeset_lock lock, struct ak_err *err)
{
	struct changeset cs = CHANGESET_NONE;
	int r = changeset_open(root, id, lock, &cs, err);

	changeset_close(&cs);
	return r;
}

static void ended(pid_t pid)
{
	int status = -1;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(a_run_that_ends_meanwhile_is_waited_for)
{
	pid_t pid = run_goes_on(true);

	/* longer than a moment, where the other is not let run */
	while (open_it(CHANGESET_WAIT, NULL) == -EBUSY)
		;
	ended(pid);
	ck_assert_int_eq(open_it(CHANGESET_TRY, NULL), 0);
}
END_TEST

START_TEST(what_it_left_is_not_removed)
{
	struct ak_err err = { 0 };
	int r;

	do {
		pid_t pid = run_goes_on(true);

		r = open_it(CHANGESET_REMOVE, &err);
		ended(pid);
	} while (r == -EBUSY && strstr(err.msg, "is in use")); /* it was not let run in that moment */
	ck_assert_int_eq(r, -EBUSY);
	ck_assert_msg(strstr(err.msg, id) && strstr(err.msg, "ended just now"), "%s", err.msg);
	ck_assert_int_eq(open_it(CHANGESET_REMOVE, NULL), 0); /* the next time it may be known */
}
END_TEST

START_TEST(one_that_was_killed_is)
{
	pid_t pid = run_goes_on(false);
	int r;

	do
		r = open_it(CHANGESET_REMOVE, NULL);
	while (r == -EBUSY);
	ended(pid);
	ck_assert_int_eq(r, 0);
}
END_TEST

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* a process that has the changeset, and ends by a signal only */
static pid_t somebody_stays(void)
{
	pid_t pid = run_goes_on(true);
	int ready[2];

	ended(pid);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct changeset cs = CHANGESET_NONE;

		if (changeset_open(root, id, CHANGESET_TRY, &cs, NULL) < 0 || write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(read(ready[0], &(char){ 0 }, 1), 1);
	ak_fd_close(&ready[0]);
	ak_fd_close(&ready[1]);
	return pid;
}

START_TEST(a_process_that_stays_is_named_and_hardly_waited_for)
{
	static const enum changeset_lock locks[] = { CHANGESET_TRY, CHANGESET_WAIT, CHANGESET_REMOVE };
	pid_t pid = somebody_stays();
	char want[64];
	int64_t best = 10000;

	(void)snprintf(want, sizeof(want), "is in use (process %d)", (int)pid);
	for (size_t i = 0; i < 3; i++) {
		struct ak_err err = { 0 };

		ck_assert_int_eq(open_it(locks[i], &err), -EBUSY);
		ck_assert_msg(strstr(err.msg, want), "%s", err.msg);
		ck_assert_msg(strstr(err.hint, "end it"), "%s", err.hint);
	}
	for (int i = 0; i < 20 && best >= 600; i++) {
		int64_t start = now_ms();

		ck_assert_int_eq(open_it(CHANGESET_REMOVE, NULL), -EBUSY);
		best = now_ms() - start < best ? now_ms() - start : best;
	}
	ck_assert_int_lt(best, 600);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	while (open_it(CHANGESET_REMOVE, NULL) == -EBUSY)
		;	/* it is seen to go, and waited for */
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("changeset");
	TCase *t = tcase_create("lock");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, a_run_that_ends_meanwhile_is_waited_for);
	tcase_add_test(t, what_it_left_is_not_removed);
	tcase_add_test(t, one_that_was_killed_is);
	tcase_add_test(t, a_process_that_stays_is_named_and_hardly_waited_for);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
