/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of the running kernel, in a folder of the test's own below a cgroup2 mount. Needs root and such a mount: without them it
 * says so and tests nothing. No limits are set, so that it runs where cgroup v2 has no controllers.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_find.h"
#include "executor/ns/cgroup_keep.h"
#include "executor/ns/cgroup_place.h"
#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static const struct cgroup_limits no_limits;
static char top[CGROUP_PATH_MAX];
static int place = -1;
static struct ak_err e;

static const char *cgroup2(void)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (size_t i = 0; i < 2; i++)
		if (statfs(mounts[i], &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return mounts[i];
	return NULL;
}

static void setup(void)
{
	snprintf(top, sizeof(top), "%s/ak-unit-%d", cgroup2(), (int)getpid());
	ck_assert_int_eq(mkdir(top, 0755), 0);
	place = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	e = (struct ak_err){ 0 };
}

static void teardown(void)
{
	ak_fd_close(&place);
	ck_assert_int_eq(rmdir(top), 0);	/* a group left behind is a failure of its test */
}

/* a process that sleeps in the group and dies with the test */
static pid_t sleeper(const struct cgroup *g)
{
	int pidfd = -1, ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = userns_clone(0, g->dir, &pidfd, &e);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(g->dir);	/* the lock is not to be held by it */
		(void)!write(ready[1], "r", 1);
		for (;;)
			pause();
	}
	ck_assert_msg(pid > 0, "%s", e.msg);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(pidfd);
	return pid;
}

static bool listed(int dir, pid_t pid)
{
	char text[4096], want[16];

	ck_assert_int_ge(cgroup_read(dir, "cgroup.procs", text, sizeof(text)), 0);
	snprintf(want, sizeof(want), "%d\n", (int)pid);
	return strstr(text, want) != NULL;
}

static int killed_by(pid_t pid)
{
	int status = 0;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static unsigned long groups(void)
{
	struct stat st;

	ck_assert_int_eq(fstat(place, &st), 0);
	return (unsigned long)st.st_nlink - 2;
}

START_TEST(a_process_is_born_in_the_group_and_killed_by_it)
{
	struct cgroup g = CGROUP_NONE;
	uint64_t us = 0;
	pid_t pid;

	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &g, &e), 0);
	ck_assert(cgroup_name_ok(g.name));
	ck_assert(cgroup_empty(&g));
	pid = sleeper(&g);
	ck_assert(listed(g.dir, pid));
	ck_assert(!cgroup_empty(&g));
	ck_assert_int_eq(cgroup_cpu_us(&g, &us), 0);
	ck_assert_int_eq(cgroup_kill(&g), 0);
	ck_assert_int_eq(killed_by(pid), SIGKILL);
	ck_assert_int_eq(cgroup_remove(&g), 0);
	ck_assert_int_eq(g.dir, -1);
	ck_assert_uint_eq(groups(), 0);
}
END_TEST

START_TEST(without_cgroup_kill_all_are_killed_one_by_one)
{
	struct cgroup g = CGROUP_NONE;
	pid_t pids[5];

	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &g, &e), 0);
	ak_fd_close(&g.kill);
	g.freeze = _i == 0 ? openat(g.dir, "cgroup.freeze", O_WRONLY | O_CLOEXEC) : -1;
	for (size_t i = 0; i < 5; i++)
		pids[i] = sleeper(&g);
	ck_assert_int_eq(cgroup_kill(&g), 0);
	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(killed_by(pids[i]), SIGKILL);
	ck_assert_int_eq(cgroup_remove(&g), 0);
}
END_TEST

START_TEST(removing_kills_what_is_left)
{
	struct cgroup g = CGROUP_NONE;
	pid_t pid;

	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &g, &e), 0);
	pid = sleeper(&g);
	ck_assert_int_eq(cgroup_remove(&g), 0);
	ck_assert_int_eq(killed_by(pid), SIGKILL);
}
END_TEST

/* a sandbox that stays: init in one group, each command in another, all below the sandbox's */
START_TEST(commands_have_groups_below_the_sandbox)
{
	struct cgroup sandbox = CGROUP_NONE, init = CGROUP_NONE, command = CGROUP_NONE;
	pid_t a, b;

	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &sandbox, &e), 0);
	(void)cgroup_pass_down(sandbox.dir, 0, &e);
	ck_assert_int_eq(cgroup_make(sandbox.dir, 0, &no_limits, &init, &e), 0);
	ck_assert_int_eq(cgroup_make(sandbox.dir, 0, &no_limits, &command, &e), 0);
	a = sleeper(&init);
	b = sleeper(&command);
	ck_assert_int_eq(cgroup_kill(&command), 0);
	ck_assert_int_eq(killed_by(b), SIGKILL);
	ck_assert(listed(init.dir, a));
	ck_assert_int_eq(cgroup_remove(&command), 0);
	/* the sandbox's end takes all with it */
	ck_assert_int_eq(cgroup_kill(&sandbox), 0);
	ck_assert_int_eq(killed_by(a), SIGKILL);
	ck_assert_int_eq(cgroup_remove(&init), 0);
	ck_assert_int_eq(cgroup_remove(&sandbox), 0);
}
END_TEST

START_TEST(making_fails_without_leaving_anything)
{
	struct cgroup g = CGROUP_NONE;
	const struct cgroup_limits l = { .memory_bytes = 64u << 20 };
	int closed = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* the place has no memory controller, whatever the caller says */
	ck_assert_int_eq(cgroup_make(place, CGROUP_MEMORY, &l, &g, &e), -ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, "memory.max"));
	ck_assert_int_eq(g.dir, -1);
	ck_assert_uint_eq(groups(), 0);
	ck_assert_int_lt(cgroup_make(closed, 0, &no_limits, &g, &e), 0);
	close(closed);
	ck_assert_int_eq(cgroup_write_u64(place, "cgroup.max.descendants", 0), 0);
	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &g, &e), -EAGAIN);
	ck_assert_int_eq(cgroup_write(place, "cgroup.max.descendants", "max"), 0);
}
END_TEST

START_TEST(leftovers_are_swept_and_nothing_else)
{
	struct cgroup live = CGROUP_NONE, left = CGROUP_NONE;

	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &live, &e), 0);
	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &left, &e), 0);
	ck_assert_int_eq(mkdirat(place, "other", 0755), 0);
	cgroup_close(&left);	/* as a killed run does */
	ck_assert_uint_eq(groups(), 3);
	cgroup_sweep(place);
	ck_assert_uint_eq(groups(), 2);
	ck_assert_int_eq(faccessat(live.dir, "cgroup.procs", F_OK, 0), 0);
	ck_assert_int_eq(cgroup_remove(&live), 0);
	ck_assert_int_eq(unlinkat(place, "other", AT_REMOVEDIR), 0);
	cgroup_sweep(place);
}
END_TEST

START_TEST(a_leftover_with_processes_is_swept_too)
{
	struct cgroup g = CGROUP_NONE;
	pid_t pid;

	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &g, &e), 0);
	pid = sleeper(&g);
	cgroup_close(&g);
	cgroup_sweep(place);
	ck_assert_int_eq(killed_by(pid), SIGKILL);
	ck_assert_uint_eq(groups(), 0);
}
END_TEST

START_TEST(keeper_removes_the_group_when_its_pipe_closes)
{
	struct cgroup_place p = CGROUP_PLACE_NONE;
	struct cgroup_keeper k = CGROUP_KEEPER_NONE;
	struct cgroup g = CGROUP_NONE;
	pid_t pid;

	p.dir = place;
	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &g, &e), 0);
	pid = sleeper(&g);
	ck_assert_int_eq(cgroup_keeper_start(&g, &p, &k, &e), 0);
	cgroup_close(&g);
	ck_assert_uint_eq(groups(), 1);
	ck_assert_int_eq(cgroup_keeper_end(&k), 0);
	ck_assert_int_eq(killed_by(pid), SIGKILL);
	ck_assert_uint_eq(groups(), 0);
	ck_assert_int_eq(cgroup_keeper_end(&k), 0);	/* twice does no harm */
}
END_TEST

START_TEST(keeper_outlives_who_is_killed)
{
	struct cgroup_place p = CGROUP_PLACE_NONE;
	struct cgroup_keeper k = CGROUP_KEEPER_NONE;
	struct cgroup g = CGROUP_NONE;
	pid_t ak;

	p.dir = place;
	ak = fork();
	if (ak == 0) {
		if (cgroup_make(place, 0, &no_limits, &g, &e) < 0 || cgroup_keeper_start(&g, &p, &k, &e) < 0)
			_exit(1);
		raise(SIGKILL);
	}
	ck_assert_int_eq(killed_by(ak), SIGKILL);
	for (int i = 0; i < 200 && groups() > 0; i++)
		usleep(10000);
	ck_assert_uint_eq(groups(), 0);
}
END_TEST

/* what the search says of one place, by its name */
static int look(const char *path, struct cgroup_search *s)
{
	*s = (struct cgroup_search){ .given = path, .root = true, .want = CGROUP_ALL };
	for (size_t i = 0; i < CGROUP_CANDIDATES_MAX; i++)
		s->trial[i].dir = -1;
	e = (struct ak_err){ 0 };
	return cgroup_look(s, &e);
}

START_TEST(a_given_place_is_judged)
{
	struct cgroup_search s;
	struct cgroup g = CGROUP_NONE;
	pid_t pid;

	ck_assert_int_eq(look(top, &s), 0);
	ck_assert(s.best == 0 && s.trial[0].usable);
	cgroup_search_release(&s);
	ck_assert_int_eq(cgroup_make(place, 0, &no_limits, &g, &e), 0);
	pid = sleeper(&g);
	ck_assert_int_eq(look(top, &s), 0);	/* processes below it are not in it */
	cgroup_search_release(&s);
	snprintf(s.mount, sizeof(s.mount), "%.900s/%s", top, g.name);
	ck_assert_int_eq(look(strdupa(s.mount), &s), -EBUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "not empty"));
	cgroup_search_release(&s);
	(void)cgroup_kill(&g);
	ck_assert_int_eq(killed_by(pid), SIGKILL);
	ck_assert_int_eq(cgroup_remove(&g), 0);
	ck_assert_int_eq(cgroup_write(place, "cgroup.freeze", "1"), 0);
	ck_assert_int_eq(look(top, &s), -EBUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "frozen"));
	cgroup_search_release(&s);
	ck_assert_int_eq(cgroup_write(place, "cgroup.freeze", "0"), 0);
	ck_assert_int_eq(look("/", &s), -EINVAL);
	cgroup_search_release(&s);
	ck_assert_int_eq(look("/nowhere-at-all", &s), -ENOENT);
	cgroup_search_release(&s);
	ck_assert_int_eq(look("relative", &s), -EINVAL);
	cgroup_search_release(&s);
	ck_assert_int_eq(look("none", &s), 0);
	ck_assert(s.off && s.best == -1);
	cgroup_search_release(&s);
}
END_TEST

static Suite *live_suite(void)
{
	Suite *s = suite_create("cgroup_live");
	TCase *t = tcase_create("kernel");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_process_is_born_in_the_group_and_killed_by_it);
	tcase_add_loop_test(t, without_cgroup_kill_all_are_killed_one_by_one, 0, 2);
	tcase_add_test(t, removing_kills_what_is_left);
	tcase_add_test(t, commands_have_groups_below_the_sandbox);
	tcase_add_test(t, making_fails_without_leaving_anything);
	tcase_add_test(t, leftovers_are_swept_and_nothing_else);
	tcase_add_test(t, a_leftover_with_processes_is_swept_too);
	tcase_add_test(t, keeper_removes_the_group_when_its_pipe_closes);
	tcase_add_test(t, keeper_outlives_who_is_killed);
	tcase_add_test(t, a_given_place_is_judged);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *r;
	int failed;

	if (geteuid() != 0 || !cgroup2() || access(cgroup2(), W_OK) < 0) {
		printf("not tested: groups of the running kernel need root and a writable cgroup2 mount\n");
		return EXIT_SUCCESS;
	}
	r = srunner_create(live_suite());
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
