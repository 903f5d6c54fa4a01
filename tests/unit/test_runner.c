/* SPDX-License-Identifier: Apache-2.0 */
/* Helper programs of the host: their output, their end, their time. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/runner.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"

static char *const envp[] = {(char *)"A=1", NULL};
static struct runner_program sh = {.path = "/bin/sh", .envp = envp};
static struct runner_result res;
static struct ak_err err;

static int run(const char *text, uint64_t timeout_ms, const struct runner_hooks *hooks, void *ctx)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)text, NULL};
	struct runner_call c = {.argv = argv, .timeout_ms = timeout_ms, .fds = {-1, -1}, .hooks = hooks, .ctx = ctx};

	runner_result_release(&res);
	return runner_program_run(&sh, &c, &res, &err);
}

static void teardown(void)
{
	runner_result_release(&res);
}

START_TEST(both_streams_and_the_code_come_back)
{
	ck_assert_int_eq(run("printf 'o\\0x'; echo e >&2; exit 7", 30000, NULL, NULL), 0);
	ck_assert_int_eq(res.code, 7);
	ck_assert(!res.timed_out);
	ck_assert_str_eq(res.out, "o?x");
	ck_assert_str_eq(res.err, "e\n");
	ck_assert_int_eq(run("kill -9 $$", 30000, NULL, NULL), 0);
	ck_assert_int_eq(res.code, 137);
}
END_TEST

START_TEST(it_gets_three_descriptors_its_environment_and_no_input)
{
	ck_assert_int_eq(run("ls /proc/self/fd | tr '\\n' ' '; tr '\\0' ' ' </proc/$$/environ; cat; grep -c '^SigIgn:.*[1-9a-f]' "
			     "/proc/self/status", 30000, NULL, NULL), 0);
	ck_assert_str_eq(res.out, "0 1 2 3 A=1 0\n");	/* 3 is ls's own */
}
END_TEST

START_TEST(its_time_ends)
{
	uint64_t begin = ak_now_ns();

	ck_assert_int_eq(run("trap '' TERM; echo x; sleep 60", 2000, NULL, NULL), 0);
	ck_assert_int_eq(res.code, 124);
	ck_assert(res.timed_out);
	ck_assert_str_eq(res.out, "x\n");
	/* its child still holds the pipes: that is not waited for for long */
	ck_assert_uint_lt((ak_now_ns() - begin) / 1000000, 20000);
}
END_TEST

START_TEST(output_without_end_takes_bounded_memory)
{
	ck_assert_int_eq(run("head -c 3000000 /dev/zero | tr '\\0' a; head -c 3000000 /dev/zero >&2; exit 1", 30000, NULL, NULL), 0);
	ck_assert_int_eq(res.code, 1);
	ck_assert_uint_eq(res.out_len, RUNNER_KEPT_MAX);
	ck_assert_uint_eq(res.err_len, RUNNER_KEPT_MAX);
}
END_TEST

START_TEST(a_program_that_is_missing_is_125)
{
	static struct runner_program none = {.path = "/nonexistent/docker", .envp = envp};
	char *argv[] = {(char *)"docker", NULL};
	struct runner_call c = {.argv = argv, .timeout_ms = 1000, .fds = {-1, -1}};

	ck_assert_int_eq(runner_program_run(&none, &c, &res, &err), 0);
	ck_assert_int_eq(res.code, 125);
}
END_TEST

struct seen {
	char err[64];
	size_t n;
	int pipe_fd;
	bool readable, expired;
	uint64_t at;
};

static void on_err(void *ctx, const uint8_t *p, size_t n)
{
	struct seen *s = ctx;

	ck_assert_uint_lt(s->n + n, sizeof(s->err));
	memcpy(s->err + s->n, p, n);
	s->n += n;
}

static bool on_readable(void *ctx)
{
	struct seen *s = ctx;

	s->readable = true;
	return false;
}

static uint64_t deadline(void *ctx)
{
	const struct seen *s = ctx;

	return s->expired ? 0 : s->at;
}

static bool on_expired(void *ctx)
{
	struct seen *s = ctx;

	s->expired = true;
	return false;
}

START_TEST(hooks_see_what_happens)
{
	struct seen s = {.at = 0};
	int p[2];
	struct runner_hooks h = {.err_bytes = on_err, .watch = -1, .readable = on_readable, .deadline = deadline, .expired = on_expired};

	ck_assert_int_eq(pipe(p), 0);
	h.watch = p[0];
	ck_assert_int_eq(write(p[1], "x", 1), 1);
	ck_assert_int_eq(run("sleep 0.2; echo e >&2; echo o", UINT64_MAX, &h, &s), 0);
	ck_assert(s.readable && !s.expired);
	ck_assert_str_eq(s.err, "e\n");
	ck_assert_str_eq(res.out, "o\n");
	ck_assert_ptr_null(res.err);
	s.at = ak_now_ns() + 100000000;
	ck_assert_int_eq(run("exec sleep 60", UINT64_MAX, &h, &s), 0);
	ck_assert(s.expired && res.timed_out);
	(void)close(p[0]);
	(void)close(p[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner");
	TCase *t = tcase_create("runner");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, both_streams_and_the_code_come_back);
	tcase_add_test(t, it_gets_three_descriptors_its_environment_and_no_input);
	tcase_add_test(t, its_time_ends);
	tcase_add_test(t, output_without_end_takes_bounded_memory);
	tcase_add_test(t, a_program_that_is_missing_is_125);
	tcase_add_test(t, hooks_see_what_happens);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
