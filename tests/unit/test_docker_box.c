/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a container without docker: what is asked for, in which order, and what becomes of the answers. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "executor/docker/docker_box.h"
#include "tests/unit/fake_runner.h"

#define FACTS "memory 536870912\npids 256\ncpu 100000 100000\nseccomp 2\nnnp 1\ncaps 0\ntimeout yes\n"

static struct fake_runner fake;
static struct runner runner;
static struct docker_conf conf;
static struct docker_box box;
static struct docker_outcome out;

/* `docker exec NAME sh -c FACTS-SCRIPT` answers with facts, unless a test says otherwise */
static struct fake_answer usual[8];

static void setup(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(usual, 0, sizeof(usual));
	usual[0] = (struct fake_answer){.first = "exec|agentkernel-", .out = FACTS};
	fake.answers = usual;
	runner = (struct runner){.run = fake_run, .ctx = &fake};
	docker_conf_init(&conf, "/w");
	ck_assert_int_eq(docker_box_init(&box, &conf, &runner, NULL), 0);
	out = (struct docker_outcome){0};
}

static void teardown(void)
{
	runner_result_release(&out.r);
}

static void answer(size_t i, const struct fake_answer *a)
{
	usual[i] = *a;
}

static void run(const char *text, uint64_t timeout_ms)
{
	struct docker_command c = {.text = text, .timeout_ms = timeout_ms};

	runner_result_release(&out.r);
	docker_box_run(&box, &c, (const int[]){-1, -1}, NULL, NULL, &out);
}

START_TEST(name_is_agentkernel_and_twelve_digits)
{
	struct docker_box other;

	ck_assert_uint_eq(strlen(box.name), DOCKER_NAME_LEN);
	ck_assert_int_eq(strncmp(box.name, "agentkernel-", 12), 0);
	ck_assert_uint_eq(strspn(box.name + 12, "0123456789abcdef"), 12);
	ck_assert_int_eq(docker_box_init(&other, &conf, &runner, NULL), 0);
	ck_assert_str_ne(box.name, other.name);
}
END_TEST

START_TEST(nothing_is_started_before_the_first_command)
{
	ck_assert_uint_eq(fake.n, 0);
	run("true", 5000);
	ck_assert_uint_eq(fake_count(&fake, "run|-d|--rm|--name|agentkernel-"), 1);
	ck_assert_uint_eq(fake.timeout_ms[0], 120000);
}
END_TEST

START_TEST(started_once_and_reused)
{
	run("one", 5000);
	run("two", 7000);
	run("three", 0);
	ck_assert_uint_eq(fake_count(&fake, "run|"), 1);
	ck_assert_uint_eq(fake.n, 5);	/* run, the look inside, three commands */
	ck_assert_ptr_nonnull(strstr(fake.line[2], "|sh|-c|timeout 5 sh -c one"));
	ck_assert_ptr_nonnull(strstr(fake.line[3], "|sh|-c|timeout 7 sh -c two"));
	ck_assert_uint_eq(fake.timeout_ms[2], 10000);	/* five seconds of slack */
	ck_assert_uint_eq(fake.timeout_ms[3], 12000);
	ck_assert_uint_eq(fake.timeout_ms[4], UINT64_MAX);
	ck_assert_ptr_null(strstr(fake.line[4], "timeout"));
}
END_TEST

START_TEST(code_and_output_are_the_commands)
{
	answer(1, &(struct fake_answer){.first = "exec|-w", .code = 3, .out = "o\n", .err = "e\n"});
	run("x", 1000);
	ck_assert(!out.unavailable && !out.timed_out);
	ck_assert_int_eq(out.code, 3);
	ck_assert_str_eq(out.r.out, "o\n");
	ck_assert_str_eq(out.r.err, "e\n");
}
END_TEST

START_TEST(failure_to_start_is_127_and_says_why)
{
	answer(1, &(struct fake_answer){.first = "run|-d", .code = 125, .err = "docker: boom\n"});
	run("x", 1000);
	ck_assert(out.unavailable);
	ck_assert_int_eq(out.code, 127);
	ck_assert_str_eq(out.err.msg, "docker sandbox unavailable: could not start container: boom");
	ck_assert_uint_eq(fake_count(&fake, "exec|"), 0);
}
END_TEST

START_TEST(stdout_tells_why_when_stderr_does_not)
{
	answer(1, &(struct fake_answer){.first = "run|-d", .code = 1, .out = "said here\n"});
	run("x", 1000);
	ck_assert_str_eq(out.err.msg, "docker sandbox unavailable: could not start container: said here");
}
END_TEST

START_TEST(docker_missing_is_127_and_says_so)
{
	answer(1, &(struct fake_answer){.first = "run|-d", .error = ENOENT});
	run("x", 1000);
	ck_assert(out.unavailable);
	ck_assert_int_eq(out.code, 127);
	ck_assert_int_eq(strncmp(out.err.msg, "docker sandbox unavailable: start docker: No such file", 54), 0);
	ck_assert_int_eq(docker_box_close(&box, NULL), 0);
	ck_assert_uint_eq(fake_count(&fake, "rm|"), 0);
}
END_TEST

START_TEST(a_failed_start_is_tried_again)
{
	answer(1, &(struct fake_answer){.first = "run|-d", .code = 125, .err = "docker: boom\n"});
	run("x", 1000);
	answer(1, &(struct fake_answer){0});
	run("x", 1000);
	ck_assert(!out.unavailable);
	ck_assert_uint_eq(fake_count(&fake, "run|"), 2);
}
END_TEST

START_TEST(what_was_half_made_is_removed)
{
	answer(1, &(struct fake_answer){.first = "run|-d", .timed_out = true, .code = 124});
	run("x", 1000);
	ck_assert(out.unavailable);
	ck_assert_uint_eq(fake_count(&fake, "rm|-f|agentkernel-"), 1);
	ck_assert_ptr_nonnull(strstr(out.err.msg, "120 s"));
}
END_TEST

START_TEST(close_removes_once_and_only_what_was_started)
{
	ck_assert_int_eq(docker_box_close(&box, NULL), 0);
	ck_assert_uint_eq(fake.n, 0);
	run("x", 1000);
	ck_assert_int_eq(docker_box_close(&box, NULL), 0);
	ck_assert_uint_eq(fake_count(&fake, "rm|-f|agentkernel-"), 1);
	ck_assert_uint_eq(fake.timeout_ms[fake.n - 1], 30000);
	ck_assert_int_eq(docker_box_close(&box, NULL), 0);
	ck_assert_uint_eq(fake_count(&fake, "rm|"), 1);
}
END_TEST

START_TEST(close_says_what_is_left)
{
	struct ak_err err = {0};

	run("x", 1000);
	answer(1, &(struct fake_answer){.first = "rm|", .code = 1, .err = "Error: disk full\n"});
	ck_assert_int_eq(docker_box_close(&box, &err), -EIO);
	ck_assert_ptr_nonnull(strstr(err.msg, box.name));
	ck_assert_ptr_nonnull(strstr(err.msg, "disk full"));
	ck_assert_ptr_nonnull(strstr(err.hint, "docker rm -f"));
}
END_TEST

START_TEST(a_container_that_is_gone_is_closed)
{
	run("x", 1000);
	answer(1, &(struct fake_answer){.first = "rm|", .code = 1, .err = "Error response from daemon: No such container: x\n"});
	ck_assert_int_eq(docker_box_close(&box, NULL), 0);
}
END_TEST

START_TEST(a_command_that_outlives_the_slack_takes_its_container_along)
{
	answer(1, &(struct fake_answer){.first = "exec|-w", .code = 124, .timed_out = true});
	run("x", 1000);
	ck_assert(out.timed_out);
	ck_assert_uint_eq(fake_count(&fake, "kill|agentkernel-"), 1);
}
END_TEST

START_TEST(an_image_without_timeout_gets_none)
{
	usual[0].out = "pids 256\n";
	run("x", 1000);
	ck_assert(box.has_shell && !box.facts.has_timeout);
	ck_assert_ptr_null(strstr(fake.line[2], "timeout"));
}
END_TEST

START_TEST(an_image_without_a_shell_is_known)
{
	usual[0] = (struct fake_answer){.first = "exec|agentkernel-", .code = 127, .err = "no sh"};
	ck_assert_int_eq(docker_box_start(&box, NULL), 0);
	ck_assert(!box.has_shell);
}
END_TEST

START_TEST(an_image_without_sleep_is_known)
{
	answer(1, &(struct fake_answer){.first = "run|-d", .code = 127,
					.err = "docker: exec: \"sleep\": executable file not found in $PATH: unknown.\n"});
	ck_assert_int_lt(docker_box_start(&box, &(struct ak_err){0}), 0);
	ck_assert_int_eq(box.why, DOCKER_WHY_NO_SLEEP);
}
END_TEST

START_TEST(signals_reach_all_but_the_first_process)
{
	docker_box_signal(&box, "TERM");
	ck_assert_uint_eq(fake.n, 0);
	run("x", 0);
	docker_box_signal(&box, "TERM");
	ck_assert_ptr_nonnull(strstr(fake.line[fake.n - 1], "|sh|-c|kill -TERM -1"));
	docker_box_kill(&box);
	docker_box_kill(&box);
	ck_assert_uint_eq(fake_count(&fake, "kill|agentkernel-"), 1);
}
END_TEST

START_TEST(direct_containers_are_asked_how_they_ended)
{
	char *argv[] = {(char *)"/one", NULL};
	struct docker_command c = {.argv = argv};

	docker_box_direct(&box, &c, (const int[]){-1, -1}, NULL, NULL, &out);
	ck_assert_uint_eq(fake_count(&fake, "run|--name|agentkernel-"), 1);
	usual[1] = (struct fake_answer){.first = "inspect|--format|{{.State.Status}}", .out = "exited\n"};
	ck_assert(docker_box_ran(&box));
	usual[1].out = "created\n";
	ck_assert(!docker_box_ran(&box));
	usual[1].out = "configured\n";
	ck_assert(!docker_box_ran(&box));
	ck_assert_int_eq(docker_box_close(&box, NULL), 0);
	ck_assert_uint_eq(fake_count(&fake, "rm|-f|"), 1);
}
END_TEST

static uint64_t start_of(uint64_t pid)
{
	return pid == 100 ? 555 : 0;
}

START_TEST(leftovers_of_the_dead_are_removed_and_nothing_else)
{
	static const struct fake_answer rows[] = {
		{.first = "ps|-a|--filter|label=ak.uid=7|--format|{{.Names}}",
		 .out = "agentkernel-000000000001\nagentkernel-000000000002\nagentkernel-000000000003\nsomething-else\n-v\n"
			"agentkernel-00000000000g\nagentkernel-000000000004\n"},
		{.first = "inspect|--format|{{index .Config.Labels \"ak.owner\"}}|agentkernel-000000000001", .out = "100-555-9-b\n"},
		{.first = "inspect|--format|{{index .Config.Labels \"ak.owner\"}}|agentkernel-000000000002", .out = "101-5-9-b\n"},
		{.first = "inspect|--format|{{index .Config.Labels \"ak.owner\"}}|agentkernel-000000000003", .out = "100-554-9-b\n"},
		{.first = "inspect|--format|{{index .Config.Labels \"ak.owner\"}}|agentkernel-000000000004", .out = "nonsense\n"},
		{0},
	};

	conf.uid = 7;
	box.self = (struct docker_owner){.pid = 1, .start = 2, .pidns = 9, .boot = "b"};
	fake.answers = rows;
	ck_assert_uint_eq(docker_box_sweep(&box, start_of), 2);
	ck_assert_uint_eq(fake_count(&fake, "rm|-f|agentkernel-000000000002"), 1);
	ck_assert_uint_eq(fake_count(&fake, "rm|-f|agentkernel-000000000003"), 1);
	ck_assert_uint_eq(fake_count(&fake, "rm|"), 2);
	ck_assert_uint_eq(fake_count(&fake, "inspect|"), 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("docker_box");
	TCase *t = tcase_create("docker_box");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, name_is_agentkernel_and_twelve_digits);
	tcase_add_test(t, nothing_is_started_before_the_first_command);
	tcase_add_test(t, started_once_and_reused);
	tcase_add_test(t, code_and_output_are_the_commands);
	tcase_add_test(t, failure_to_start_is_127_and_says_why);
	tcase_add_test(t, stdout_tells_why_when_stderr_does_not);
	tcase_add_test(t, docker_missing_is_127_and_says_so);
	tcase_add_test(t, a_failed_start_is_tried_again);
	tcase_add_test(t, what_was_half_made_is_removed);
	tcase_add_test(t, close_removes_once_and_only_what_was_started);
	tcase_add_test(t, close_says_what_is_left);
	tcase_add_test(t, a_container_that_is_gone_is_closed);
	tcase_add_test(t, a_command_that_outlives_the_slack_takes_its_container_along);
	tcase_add_test(t, an_image_without_timeout_gets_none);
	tcase_add_test(t, an_image_without_a_shell_is_known);
	tcase_add_test(t, an_image_without_sleep_is_known);
	tcase_add_test(t, signals_reach_all_but_the_first_process);
	tcase_add_test(t, direct_containers_are_asked_how_they_ended);
	tcase_add_test(t, leftovers_of_the_dead_are_removed_and_nothing_else);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
