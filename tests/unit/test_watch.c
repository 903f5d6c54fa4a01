/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher sees a whole tree, judges it by its limits, and reads hostile names right. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/watch.h"
#include "executor/watch_tree.h"

#define MB (1u << 20)

static int ready[2];

static void hold(size_t bytes, int flags)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	memset(p, 1, bytes);
}

/* Each process dies with its parent, so that a failed test leaves none behind */
static void stay(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!write(ready[1], "r", 1);
	for (;;)
		pause();
}

/* A root with three children, one of which has three of its own; each says when it is there */
static int start_tree(void (*leaf)(void))
{
	int pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid)
		return pid;
	setpgid(0, 0);
	for (int i = 0; i < 3; i++) {
		if (fork())
			continue;
		for (int k = 0; i == 0 && k < 3; k++)
			if (fork() == 0) {
				leaf();
				stay();
			}
		stay();
	}
	stay();
	return 0;
}

static void wait_tree(int n)
{
	char c;

	while (n--)
		ck_assert_int_eq(read(ready[0], &c, 1), 1);
}

static void end_tree(int pid)
{
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void leaf_idle(void)
{
}

START_TEST(tree_is_found_with_and_without_children_files)
{
	struct watch w = { .no_children = _i == 1 };
	unsigned next = 0;
	struct tree t;
	int pid = start_tree(leaf_idle);

	wait_tree(7);
	w.root_pid = pid;
	ck_assert_int_eq(watch_sample(&w, &next), WATCH_OK);
	ck_assert_uint_eq(w.pids_peak, 6);
	ck_assert_uint_gt(w.mem_peak_bytes, 0);
	tree_read(&t, pid, &w.no_children);
	ck_assert_uint_eq(t.n, 7);
	ck_assert_int_eq(t.v[0].pid, pid);
	ck_assert(w.no_children == (_i == 1));
	tree_release(&t);
	end_tree(pid);
}
END_TEST

static void leaf_private(void)
{
	hold(20 * MB, MAP_PRIVATE);
}

START_TEST(memory_of_all_processes_counts)
{
	struct watch w = { .mem_limit_bytes = 50 * MB };
	unsigned next = 0;
	int pid = start_tree(leaf_private);

	wait_tree(7);
	w.root_pid = pid;
	ck_assert_int_eq(watch_sample(&w, &next), WATCH_MEMORY);
	ck_assert_uint_ge(w.mem_peak_bytes, 60 * MB);
	ck_assert_uint_lt(w.mem_peak_bytes, 110 * MB);
	w.mem_limit_bytes = 120 * MB;
	ck_assert_int_eq(watch_sample(&w, &next), WATCH_OK);
	end_tree(pid);
}
END_TEST

static char *shared;

static void leaf_shared(void)
{
	for (size_t i = 0; i < 40 * MB; i += 4096)
		((volatile char *)shared)[i]++;
}

/* 40 MB that three descendants have mapped and touched are 40 MB, not 120 */
START_TEST(shared_pages_count_once)
{
	struct watch w = { .mem_limit_bytes = 70 * MB };
	unsigned next = 0;
	struct tree t;
	uint64_t sum = 0;
	int pid;

	shared = mmap(NULL, 40 * MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	pid = start_tree(leaf_shared);
	wait_tree(7);
	w.root_pid = pid;
	tree_read(&t, pid, &w.no_children);
	for (size_t i = 0; i < t.n; i++)
		sum += t.v[i].rss_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	tree_release(&t);
	ck_assert_uint_gt(sum, 110 * MB);	/* so the cheap sum is over the limit */
	ck_assert_int_eq(watch_sample(&w, &next), WATCH_OK);
	ck_assert_uint_ge(w.mem_peak_bytes, 38 * MB);
	ck_assert_uint_lt(w.mem_peak_bytes, 70 * MB);	/* with what a sanitizer needs in seven processes */
	end_tree(pid);
}
END_TEST

static void leaf_busy(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!write(ready[1], "r", 1);
	for (volatile unsigned i = 0;; i++)
		;
}

START_TEST(cpu_time_of_all_processes_counts)
{
	struct watch w = { .cpu_limit_ms = 300 };
	unsigned next = 0, looks = 0;
	int pid = start_tree(leaf_busy);

	wait_tree(7);
	w.root_pid = pid;
	while (watch_sample(&w, &next) == WATCH_OK && looks++ < 500) {
		ck_assert_uint_ge(next, WATCH_MIN_MS);
		ck_assert_uint_le(next, WATCH_MAX_MS);
		usleep(next * 1000);
	}
	ck_assert_uint_ge(w.cpu_ms, 300);
	ck_assert_uint_lt(w.cpu_ms, 10000);
	end_tree(pid);
}
END_TEST

/* time of children that have ended already is in the root's account */
START_TEST(cpu_time_of_reaped_children_counts)
{
	struct watch w = { .cpu_limit_ms = 100 };
	unsigned next = 0;
	int pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		if (fork() == 0) {
			while (clock() < CLOCKS_PER_SEC / 4)
				;
			_exit(0);
		}
		wait(NULL);
		stay();
	}
	wait_tree(1);
	w.root_pid = pid;
	ck_assert_int_eq(watch_sample(&w, &next), WATCH_CPU);
	ck_assert_uint_ge(w.cpu_ms, 200);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(near_a_limit_it_looks_sooner)
{
	struct watch w = { 0 };

	ck_assert_uint_eq(watch_next_ms(&w, 0, 0), WATCH_MAX_MS);
	w.mem_limit_bytes = 512 * MB;
	ck_assert_uint_eq(watch_next_ms(&w, 512 * MB, 0), WATCH_MIN_MS);
	ck_assert_uint_eq(watch_next_ms(&w, 600 * MB, 0), WATCH_MIN_MS);
	ck_assert_uint_eq(watch_next_ms(&w, 112 * MB, 0), 100);
	ck_assert_uint_eq(watch_next_ms(&w, 112 * MB, 15), 150);
	ck_assert_uint_eq(watch_next_ms(&w, 112 * MB, 1000), WATCH_MAX_MS);
	w = (struct watch){ .cpu_limit_ms = 1000, .cpu_ms = 1000 };
	ck_assert_uint_eq(watch_next_ms(&w, 0, 0), WATCH_MIN_MS);
	w.cpu_limit_ms = UINT64_MAX;
	ck_assert_uint_eq(watch_next_ms(&w, 0, 0), WATCH_MAX_MS);
}
END_TEST

START_TEST(vanished_root_is_no_error)
{
	struct watch w = { .mem_limit_bytes = 1, .cpu_limit_ms = 1 };
	unsigned next = 0;
	int pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	w.root_pid = pid;
	ck_assert_int_eq(watch_sample(&w, &next), WATCH_OK);
	ck_assert_uint_eq(w.mem_peak_bytes, 0);
	ck_assert_uint_eq(w.pids_peak, 0);
}
END_TEST

START_TEST(stat_with_a_hostile_name_is_read_right)
{
	static const struct {
		const char *text;
		bool ok;
	} rows[] = {
		{ "5 (sh) S 3 5 5 0 -1 4194560 1 2 3 4 11 22 33 44 20 0 1 0 9 8 7", true },
		{ "5 (a) R 1 1 (b) S 3 5 5 0 -1 4194560 1 2 3 4 11 22 33 44 20 0 1", true },
		{ "5 () ) ( ) S 3 5 5 0 -1 4194560 1 2 3 4 11 22 33 44", true },
		{ "5 (x\n9 9) Z 3 5 5 0 -1 4194560 1 2 3 4 11 22 33 44\n", true },
		{ "5 (sh) S 3 5 5 0 -1 4194560 1 2 3 4 11 22 33", false },
		{ "5 (sh S 3 5 5 0 -1", false },
		{ "5 (sh)", false },
		{ "5 (sh) ", false },
		{ "", false },
		{ "5 (sh) S -3 5 5 0 -1 4194560 1 2 3 4 11 22 33 44", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t own = 1, waited = 2;
		int ppid = 7;

		ck_assert_msg(tree_parse_stat(rows[i].text, &ppid, &own, &waited) == rows[i].ok, "row %zu", i);
		ck_assert_int_eq(ppid, rows[i].ok ? 3 : 7);
		ck_assert_uint_eq(own, rows[i].ok ? 33 : 1);
		ck_assert_uint_eq(waited, rows[i].ok ? 77 : 2);
	}
}
END_TEST

START_TEST(process_renamed_to_look_like_a_field_list_is_read_right)
{
	struct watch w = { .cpu_limit_ms = 60000, .no_children = _i == 1 };
	unsigned next = 0;
	int pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, ") R 1 9 9 0 (");
		if (fork() == 0)
			stay();
		stay();
	}
	wait_tree(2);
	w.root_pid = pid;
	ck_assert_int_eq(watch_sample(&w, &next), WATCH_OK);
	ck_assert_uint_eq(w.pids_peak, 1);
	ck_assert_uint_lt(w.cpu_ms, 5000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watch");
	TCase *t = tcase_create("watch");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, tree_is_found_with_and_without_children_files, 0, 2);
	tcase_add_test(t, memory_of_all_processes_counts);
	tcase_add_test(t, shared_pages_count_once);
	tcase_add_test(t, cpu_time_of_all_processes_counts);
	tcase_add_test(t, cpu_time_of_reaped_children_counts);
	tcase_add_test(t, near_a_limit_it_looks_sooner);
	tcase_add_test(t, vanished_root_is_no_error);
	tcase_add_test(t, stat_with_a_hostile_name_is_read_right);
	tcase_add_loop_test(t, process_renamed_to_look_like_a_field_list_is_read_right, 0, 2);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
