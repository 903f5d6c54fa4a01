/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the result object and of the line that explains an end. */
#include "executor/report.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "executor/cow.h"
#include "executor/denials.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/relay.h"
#include "executor/report_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

/* One finished run that a test changes before it asks */
static struct exec_opts o;
static struct plan p;
static struct run_result run;
static struct report r;
static struct ak_buf out;

static void setup(void)
{
	o = (struct exec_opts){.memory_bytes = {.value = 536870912},
			       .pids = {.value = 256},
			       .cpu_milli = {.value = 1000},
			       .max_output_bytes = UINT64_MAX,
			       .seccomp = "default"};
	p = (struct plan){.seccomp = "default",
			  .memory_by = PLAN_BY_AK,
			  .pids_by = PLAN_BY_RLIMIT,
			  .cpus_by = PLAN_BY_NONE};
	run = (struct run_result){.start_ns = 1000000, .end_ns = 13400000, .counted = {true, true}};
	run.usage.ru_utime.tv_usec = 3999;
	run.usage.ru_stime.tv_sec = 1;
	run.usage.ru_maxrss = 8192;
	r = (struct report){.opts = &o,
			    .plan = &p,
			    .run = &run,
			    .setup_ns = 2100000,
			    .landlock_abi = 7,
			    .with_output = true};
	out = (struct ak_buf){0};
}

static void teardown(void)
{
	ak_buf_release(&out);
}

static const char *object(void)
{
	ak_buf_release(&out);
	out.max = 0;
	report_json(&r, &out);
	ck_assert(!out.failed);
	ck_assert(ak_utf8_valid(out.data, out.len));
	ck_assert_int_eq(out.data[out.len - 1], '\n');
	return out.data;
}

static const char *line(void)
{
	ak_buf_release(&out);
	report_exit_text(&r, &out);
	ck_assert_ptr_nonnull(out.data);
	ck_assert_ptr_null(strchr(out.data, '\n'));
	return out.data;
}

#define HAS(text) ck_assert_msg(strstr(object(), text) != NULL, "%s\n  lacks %s", out.data, text)
#define HAS_NOT(text) ck_assert_msg(strstr(object(), text) == NULL, "%s\n  has %s", out.data, text)

static void set_output(int i, const char *head, const char *tail, uint64_t dropped)
{
	run.out[i] = (struct capture){.head = (uint8_t *)head,
				      .head_len = strlen(head),
				      .tail = (uint8_t *)tail,
				      .tail_len = strlen(tail),
				      .dropped = dropped,
				      .total = strlen(head) + strlen(tail) + dropped};
}

START_TEST(plain_run_is_the_documented_object)
{
	set_output(0, "hi\n\"", "", 0);
	run.pids_peak = 3;
	run.mem_peak_bytes = 5;
	ck_assert_str_eq(object(),
			 "{\"schema\":\"ak-exec/1\",\"status\":\"exited\",\"exit_code\":0,\"signal\":null,"
			 "\"stdout\":\"hi\\n\\\"\",\"stderr\":\"\",\"stdout_encoding\":\"utf-8\",\"stderr_"
			 "encoding\":\"utf-8\","
			 "\"stdout_bytes\":4,\"stderr_bytes\":0,\"stdout_dropped\":0,\"stderr_dropped\":0,"
			 "\"duration_ms\":12.4,\"setup_ms\":2.1,"
			 "\"usage\":{\"cpu_user_ms\":3,\"cpu_system_ms\":1000,\"memory_peak_bytes\":8388608,"
			 "\"pids_peak\":3},"
			 "\"limits\":{\"memory\":{\"value\":536870912,\"enforced_by\":\"ak\",\"hit\":false},"
			 "\"pids\":{\"value\":256,\"enforced_by\":\"rlimit\",\"hit\":null},"
			 "\"cpus\":{\"value\":1.0,\"enforced_by\":\"none\",\"hit\":false},"
			 "\"timeout\":{\"value\":null,\"enforced_by\":null,\"hit\":false}},"
			 "\"isolation\":{\"backend\":\"native\",\"namespaces\":[\"user\",\"mount\",\"pid\","
			 "\"net\",\"ipc\",\"uts\",\"cgroup\"],"
			 "\"seccomp\":\"default\",\"landlock_abi\":7,\"network\":\"none\",\"root\":\"host\","
			 "\"workspace\":\"direct\","
			 "\"identity\":\"same-uid\"},"
			 "\"denied\":{\"syscalls\":null,\"hosts\":[],\"hint\":null},\"changes\":null,\"warnings\":[],"
			 "\"error\":null}\n");
	ck_assert_str_eq(line(), "");
}
END_TEST

START_TEST(without_plan_and_run_the_object_is_complete)
{
	struct ak_err e = {0};

	(void)ak_err_set(&e, EINVAL, "unknown option --x");
	r = (struct report){.error = &e, .stage = "usage", .with_output = true};
	ck_assert_str_eq(
		object(),
		"{\"schema\":\"ak-exec/1\",\"status\":\"failed\",\"exit_code\":125,\"signal\":null,"
		"\"stdout\":\"\",\"stderr\":\"\",\"stdout_encoding\":\"utf-8\",\"stderr_encoding\":\"utf-8\","
		"\"stdout_bytes\":0,\"stderr_bytes\":0,\"stdout_dropped\":0,\"stderr_dropped\":0,"
		"\"duration_ms\":null,\"setup_ms\":null,"
		"\"usage\":{\"cpu_user_ms\":null,\"cpu_system_ms\":null,\"memory_peak_bytes\":null,\"pids_"
		"peak\":null},"
		"\"limits\":{\"memory\":{\"value\":null,\"enforced_by\":null,\"hit\":false},"
		"\"pids\":{\"value\":null,\"enforced_by\":null,\"hit\":false},"
		"\"cpus\":{\"value\":null,\"enforced_by\":null,\"hit\":false},"
		"\"timeout\":{\"value\":null,\"enforced_by\":null,\"hit\":false}},"
		"\"isolation\":{\"backend\":\"native\",\"namespaces\":[],\"seccomp\":null,\"landlock_abi\":"
		"null,"
		"\"network\":null,\"root\":null,\"workspace\":null,\"identity\":null},"
		"\"denied\":{\"syscalls\":null,\"hosts\":[],\"hint\":null},\"changes\":null,\"warnings\":[],"
		"\"error\":{\"stage\":\"usage\",\"errno\":\"EINVAL\",\"message\":\"unknown option "
		"--x\",\"hint\":null}}\n");
	ck_assert_str_eq(line(), "unknown option --x");
}
END_TEST

START_TEST(a_plan_that_failed_claims_nothing)
{
	struct ak_err e = {0};

	(void)ak_err_set(&e, ENOENT, "--rootfs: no /x");
	ak_err_hint(&e, "make it");
	r.error = &e;
	r.stage = "plan";
	r.run = NULL;
	HAS("\"memory\":{\"value\":null,\"enforced_by\":null,");
	HAS("\"namespaces\":[],\"seccomp\":null,\"landlock_abi\":null,");
	HAS("\"error\":{\"stage\":\"plan\",\"errno\":\"ENOENT\",\"message\":\"--rootfs: no "
	    "/x\",\"hint\":\"make it\"}");
	ck_assert_str_eq(line(), "--rootfs: no /x - make it");
}
END_TEST

START_TEST(status_names)
{
	static const struct {
		enum run_status status;
		const char *name;
	} rows[] = {{RUN_EXITED, "exited"},
		    {RUN_SIGNALED, "signaled"},
		    {RUN_TIMED_OUT, "timed_out"},
		    {RUN_OOM_KILLED, "oom_killed"},
		    {RUN_CPU_TIME, "cpu_time_exceeded"},
		    {RUN_OUTPUT_CLOSED, "output_closed"},
		    {RUN_FAILED, "failed"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[64];

		run.status = rows[i].status;
		(void)snprintf(want, sizeof(want), "\"status\":\"%s\",", rows[i].name);
		HAS(want);
	}
}
END_TEST

START_TEST(signals_have_names)
{
	static const struct {
		int signo;
		const char *name;
	} rows[] = {{SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"}, {SIGTERM, "SIGTERM"}, {34, "SIGRTMIN"},
		    {37, "SIGRTMIN+3"},	  {64, "SIGRTMIN+30"},	{33, "SIG33"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[64];

		run.signal = rows[i].signo;
		run.exit_code = 128 + rows[i].signo;
		(void)snprintf(want, sizeof(want), "\"exit_code\":%d,\"signal\":\"%s\"", run.exit_code,
			       rows[i].name);
		HAS(want);
	}
}
END_TEST

START_TEST(a_report_without_output_leaves_those_fields_out)
{
	set_output(0, "abc", "", 0);
	run.counted[1] = false;
	r.with_output = false;
	HAS("\"signal\":null,\"stdout_bytes\":3,\"stderr_bytes\":null,\"stdout_dropped\":0,\"stderr_"
	    "dropped\":0,\"duration_ms\"");
	HAS_NOT("\"stdout\":");
	HAS_NOT("encoding");
}
END_TEST

START_TEST(bytes_that_are_no_text_become_base64)
{
	set_output(0, "\xff\xfe", "\xfb", 0);
	set_output(1, "a", "", 0);
	HAS("\"stdout\":\"//"
	    "77\",\"stderr\":\"a\",\"stdout_encoding\":\"base64\",\"stderr_encoding\":\"utf-8\"");
	run.out[0] = (struct capture){.head = (uint8_t *)"a\0b", .head_len = 3, .total = 3};
	HAS("\"stdout\":\"YQBi\"");
}
END_TEST

START_TEST(a_character_across_head_and_tail_is_whole_when_nothing_was_dropped)
{
	static const char text[] = "x\xe2\x82\xacy\xf0\x9f\x98\x80z";
	size_t len = sizeof(text) - 1;

	for (size_t cut = 0; cut <= len; cut++) {
		run.out[0] = (struct capture){.head = (uint8_t *)text,
					      .head_len = cut,
					      .tail = (uint8_t *)text + cut,
					      .tail_len = len - cut,
					      .total = len};
		HAS("\"stdout\":\"x\xe2\x82\xacy\xf0\x9f\x98\x80z\",");
		HAS("\"stdout_encoding\":\"utf-8\"");
		HAS_NOT("head_bytes");
	}
	set_output(0, "x\xe2\x82", "y", 0);
	HAS("\"stdout\":\"eOKCeQ==\"");
	set_output(0, "x\xe2\x82", "", 0);
	HAS("\"stdout\":\"eOKC\"");
}
END_TEST

START_TEST(a_gap_inside_characters_is_moved_to_their_edges)
{
	set_output(0, "\xe2\x82\xac\xe2\x82", "\xac\xe2\x82\xac", 100);
	HAS("\"stdout\":\"\xe2\x82\xac\xe2\x82\xac\",");
	HAS("\"stdout_bytes\":109,");
	HAS("\"stdout_dropped\":103,\"stderr_dropped\":0,\"stdout_head_bytes\":3,");
	HAS_NOT("stderr_head_bytes");
	set_output(0, "ab", "cd", 5);
	HAS("\"stdout\":\"abcd\",");
	HAS("\"stdout_dropped\":5,\"stderr_dropped\":0,\"stdout_head_bytes\":2,");
	set_output(0, "\xe2\x82", "\x82\xac", 5);
	HAS("\"stdout\":\"\",");
	HAS("\"stdout_dropped\":9,\"stderr_dropped\":0,\"stdout_head_bytes\":0,");
}
END_TEST

START_TEST(a_gap_in_bytes_trims_nothing)
{
	set_output(0, "\xff\xe2", "\x80\x80", 5);
	HAS("\"stdout\":\"/+KAgA==\",");
	HAS("\"stdout_dropped\":5,\"stderr_dropped\":0,\"stdout_head_bytes\":2,");
	set_output(0, "a", "\x80\x80\x80\x80", 5);
	HAS("\"stdout_encoding\":\"base64\"");
	HAS("\"stdout_dropped\":5,");
}
END_TEST

START_TEST(limits_say_what_enforces_them)
{
	p.memory_by = p.pids_by = p.cpus_by = PLAN_BY_UNSET;
	HAS("\"memory\":{\"value\":null,\"enforced_by\":null,\"hit\":false},\"pids\":{\"value\":null,"
	    "\"enforced_by\":null,\"hit\":false},"
	    "\"cpus\":{\"value\":null,\"enforced_by\":null,\"hit\":false}");
	p.memory_by = PLAN_BY_AK;
	p.pids_by = p.cpus_by = PLAN_BY_NONE;
	HAS("\"pids\":{\"value\":256,\"enforced_by\":\"none\",\"hit\":false}");
	HAS_NOT("cpu_time");
	HAS_NOT("\"output\"");
	o.timeout_ms = 500;
	o.cpu_time_ms = 3000;
	o.nofile = 64;
	o.fsize_bytes = 4096;
	o.max_output_bytes = 10;
	HAS("\"timeout\":{\"value\":0.5,\"enforced_by\":\"ak\",\"hit\":false},"
	    "\"cpu_time\":{\"value\":3.0,\"enforced_by\":\"ak\",\"hit\":false},"
	    "\"nofile\":{\"value\":64,\"enforced_by\":\"rlimit\",\"hit\":null},"
	    "\"fsize\":{\"value\":4096,\"enforced_by\":\"rlimit\",\"hit\":null},"
	    "\"output\":{\"value\":10,\"enforced_by\":\"ak\",\"hit\":false}}");
	run.timeout_hit = run.memory_hit = run.cpu_time_hit = true;
	run.signal = SIGXFSZ;
	set_output(1, "a", "b", 8);
	HAS("\"memory\":{\"value\":536870912,\"enforced_by\":\"ak\",\"hit\":true}");
	HAS("\"timeout\":{\"value\":0.5,\"enforced_by\":\"ak\",\"hit\":true}");
	HAS("\"cpu_time\":{\"value\":3.0,\"enforced_by\":\"ak\",\"hit\":true}");
	HAS("\"fsize\":{\"value\":4096,\"enforced_by\":\"rlimit\",\"hit\":true}");
	HAS("\"output\":{\"value\":10,\"enforced_by\":\"ak\",\"hit\":true}");
}
END_TEST

START_TEST(isolation_follows_the_plan)
{
	static char rootfs[] = "/img \x1b", one[] = "one", two[] = "two";

	p.net = NET_HOST;
	p.rootfs = rootfs;
	p.write = WRITE_NONE;
	p.identity = PLAN_ID_RANGE;
	p.seccomp = "strict";
	r.landlock_abi = 0;
	HAS("\"namespaces\":[\"user\",\"mount\",\"pid\",\"ipc\",\"uts\",\"cgroup\"],\"seccomp\":\"strict\","
	    "\"landlock_abi\":null,"
	    "\"network\":\"host\",\"root\":\"/img \\u001b\",\"workspace\":\"none\",\"identity\":\"range\"");
	p.identity = PLAN_ID_ROOT;
	HAS("\"identity\":\"root\"}");
	p.nesting = true;
	HAS("\"identity\":\"root\",\"nesting\":true}");
	p.nesting = false;
	p.plain = true;
	HAS("\"namespaces\":[],\"seccomp\":\"strict\"");
	p.warnings[0] = one;
	p.warnings[1] = two;
	p.nwarnings = 2;
	HAS("\"warnings\":[\"one\",\"two\"]");
}
END_TEST

START_TEST(changes_of_a_copy_are_listed)
{
	struct change v[] = {
		{ .path = (char *)"a\xff", .op = CHANGE_MODIFIED },
		{ .path = (char *)"sub/.envrc", .op = CHANGE_ADDED, .flags = CHANGE_PROTECTED },
	};
	struct cow c = { .on = true, .known = true, .kept = true, .changes = { .v = v, .n = 2 } };

	HAS("\"changes\":null");
	(void)snprintf(c.cs.id, sizeof(c.cs.id), "c-4f2a91");
	p.write = WRITE_COW;
	r.cow = &c;
	HAS("\"workspace\":\"cow\"");
	HAS("\"changes\":{\"id\":\"c-4f2a91\",\"files\":[{\"path\":\"a\\ufffd\",\"path_base64\":\"Yf8=\",\"op\":\"modified\"},"
	    "{\"path\":\"sub/.envrc\",\"op\":\"added\"}],\"protected\":[{\"path\":\"sub/.envrc\",\"op\":\"added\"}],"
	    "\"count\":2,\"applied\":false}");
	c.known = false;
	HAS("\"changes\":{\"id\":\"c-4f2a91\",\"files\":null,\"protected\":null");
	c = (struct cow){ .on = true, .known = true };
	HAS("\"changes\":{\"id\":null,\"files\":[],\"protected\":[],\"count\":0,\"applied\":false}");
	o.disk_bytes = 1 << 20;
	o.write = WRITE_COW;
	run.status = RUN_DISK;
	run.disk_hit = true;
	HAS("\"disk\":{\"value\":1048576,\"enforced_by\":\"ak\",\"hit\":true}");
	ck_assert_str_eq(line(), "too much was written: the command was killed at the limit of 1 MiB (--disk)");
	c.disk_bytes = 700 << 10;
	ck_assert_str_eq(line(), "too much was written: the command was killed at 700 KiB in the workspace; private file systems have the "
				 "rest of 1 MiB (--disk)");
}
END_TEST

START_TEST(usage_takes_the_larger_peak)
{
	run.mem_peak_bytes = 9000000;
	HAS("\"memory_peak_bytes\":9000000,\"pids_peak\":null}");
	run.mem_peak_bytes = 0;
	run.usage.ru_maxrss = 0;
	HAS("\"memory_peak_bytes\":null,");
}
END_TEST

START_TEST(a_command_that_cannot_be_executed_has_an_error_and_its_code)
{
	run.exit_code = 127;
	run.start_ns = run.end_ns = 0;
	run.fail_stage = INIT_STAGE_EXEC;
	run.fail_code = ENOENT;
	(void)snprintf(run.fail_text, sizeof(run.fail_text), "nope: command not found");
	HAS("\"status\":\"exited\",\"exit_code\":127,");
	HAS("\"duration_ms\":null,");
	HAS("\"error\":{\"stage\":\"exec\",\"errno\":\"ENOENT\",\"message\":\"nope: command not "
	    "found\",\"hint\":null}");
	ck_assert_str_eq(line(), "nope: command not found");
}
END_TEST

START_TEST(a_set_up_failure_has_stage_and_hint)
{
	static const char *const names[] = {NULL, "setup", "confine", "cwd", "exec"};

	run.status = RUN_FAILED;
	run.exit_code = 125;
	run.fail_code = EPERM;
	(void)snprintf(run.fail_text, sizeof(run.fail_text), "mount \x1b[2J");
	(void)snprintf(run.fail_hint, sizeof(run.fail_hint), "do this\nnow");
	for (unsigned stage = 1; stage <= 4; stage++) {
		char want[64];

		run.fail_stage = stage;
		(void)snprintf(want, sizeof(want), "\"error\":{\"stage\":\"%s\",\"errno\":\"EPERM\"",
			       names[stage]);
		HAS(want);
	}
	ck_assert_str_eq(line(), "mount ?[2J - do this?now");
}
END_TEST

START_TEST(a_failure_without_words_still_has_an_error)
{
	run.status = RUN_FAILED;
	run.exit_code = 125;
	HAS("\"error\":{\"stage\":\"relay\",\"errno\":null,\"message\":\"the sandbox ended without");
	ck_assert_str_ne(line(), "");
}
END_TEST

START_TEST(lines_for_ends_of_our_own)
{
	o.timeout_ms = 5000;
	run.status = RUN_TIMED_OUT;
	ck_assert_str_eq(line(), "timed out after 5 s");
	o.timeout_ms = 1500;
	ck_assert_str_eq(line(), "timed out after 1.5 s");
	run.status = RUN_OOM_KILLED;
	ck_assert_str_eq(line(), "out of memory: the command was killed at the limit of 512 MiB (--memory)");
	run.status = RUN_CPU_TIME;
	o.cpu_time_ms = 2000;
	ck_assert_str_eq(line(), "out of processor time: the command was killed after 2 s (--cpu-time)");
	run.status = RUN_SIGNALED;
	ck_assert_str_eq(line(), "");
	run.status = RUN_OUTPUT_CLOSED;
	ck_assert_str_eq(line(), "");
}
END_TEST

START_TEST(dropped_output_is_told)
{
	o.max_output_bytes = 2;
	set_output(0, "ab", "", 8);
	ck_assert_str_eq(line(), "8 of 10 bytes of stdout were dropped (--max-output)");
	set_output(1, "", "", 3);
	run.status = RUN_TIMED_OUT;
	o.timeout_ms = 1000;
	ck_assert_str_eq(line(), "timed out after 1 s; 8 of 10 bytes of stdout were dropped (--max-output); "
				 "3 of 3 bytes of stderr were dropped (--max-output)");
}
END_TEST

static struct denials denied(void)
{
	struct denials d;

	denials_init(&d, NULL, 0);
	d.observed = true;
	d.calls[SYS_mount] = (struct denial_count){ .count = 2, .err = EPERM, .by_floor = true, .when = 3 };
	d.calls[SYS_clone3] = (struct denial_count){ .count = DENIALS_COUNT_MAX, .err = ENOSYS, .when = 9 };
	return d;
}

static const char *denied_line(void)
{
	ak_buf_release(&out);
	report_denied_text(&r, &out);
	return out.data ? out.data : "";
}

START_TEST(refused_calls_are_listed_and_one_is_blamed)
{
	struct denials d = denied();

	r.denials = &d;
	HAS("\"denied\":{\"syscalls\":[{\"name\":\"clone3\",\"count\":10000,\"errno\":\"ENOSYS\"},"
	    "{\"name\":\"mount\",\"count\":2,\"errno\":\"EPERM\"}],\"hosts\":[],\"hint\":null}");
	ck_assert_str_eq(denied_line(), "refused system calls: clone3 10000+, mount 2");
	run.exit_code = 1;
	HAS("\"hint\":\"mount(2) was refused by the sandbox (EPERM): no profile can allow it\"");
	ck_assert_str_eq(denied_line(), "mount(2) was refused by the sandbox (EPERM): no profile can allow it; refused in all: "
					"clone3 10000+, mount 2");
	d.calls[SYS_mount].by_floor = false;
	p.seccomp = "my.json";
	HAS("\"hint\":\"mount(2) was refused by the sandbox (EPERM): the profile my.json does not allow it\"");
	/* what ak ended was not ended by a refusal */
	run.status = RUN_TIMED_OUT;
	HAS("\"hint\":null");
	run.status = RUN_EXITED;
	run.interrupted = true;
	HAS("\"hint\":null");
}
END_TEST

START_TEST(nothing_is_blamed_where_nothing_was_observed)
{
	struct denials d = denied();

	d.observed = false;
	r.denials = &d;
	run.exit_code = 1;
	HAS("\"denied\":{\"syscalls\":null,\"hosts\":[],\"hint\":null}");
	ck_assert_str_eq(denied_line(), "");
}
END_TEST

START_TEST(death_by_filter_names_the_other_architectures)
{
	run.status = RUN_SIGNALED;
	run.signal = SIGSYS;
	HAS("\"hint\":\"killed by the sandbox (SIGSYS): a call of another architecture (");
	HAS_NOT("answers with death");
	p.filter = (uint8_t *)"";
	p.seccomp = "my.json";
	HAS("or a call that my.json answers with death");
	p.filter = NULL;
	/* a shell tells of its child so */
	run.status = RUN_EXITED;
	run.signal = 0;
	run.exit_code = 128 + SIGSYS;
	HAS("killed by the sandbox (SIGSYS)");
	run.exit_code = 128;
	HAS("\"hint\":null");
}
END_TEST

START_TEST(sizes_for_people)
{
	static const struct {
		uint64_t v;
		const char *text;
	} rows[] = {{0, "0 bytes"},	  {1000, "1000 bytes"},	  {1024, "1 KiB"},
		    {1536, "1536 bytes"}, {512 << 20, "512 MiB"}, {2048ull << 30, "2048 GiB"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[48];

		report_size_text(rows[i].v, text, sizeof(text));
		ck_assert_str_eq(text, rows[i].text);
	}
}
END_TEST

START_TEST(there_is_room_for_output_that_must_be_escaped)
{
	static char block[12 << 20];

	memset(block, 1, sizeof(block) - 1);
	set_output(0, block, "", 0);
	HAS("\"stdout_bytes\":12582911,");
	ck_assert_uint_gt(out.len, AK_BUF_MAX);
	out.max = 1000;
	ak_buf_release(&out);
	report_json(&r, &out);
	ck_assert(out.failed);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report");
	TCase *t = tcase_create("report");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, plain_run_is_the_documented_object);
	tcase_add_test(t, without_plan_and_run_the_object_is_complete);
	tcase_add_test(t, a_plan_that_failed_claims_nothing);
	tcase_add_test(t, status_names);
	tcase_add_test(t, signals_have_names);
	tcase_add_test(t, a_report_without_output_leaves_those_fields_out);
	tcase_add_test(t, bytes_that_are_no_text_become_base64);
	tcase_add_test(t, a_character_across_head_and_tail_is_whole_when_nothing_was_dropped);
	tcase_add_test(t, a_gap_inside_characters_is_moved_to_their_edges);
	tcase_add_test(t, a_gap_in_bytes_trims_nothing);
	tcase_add_test(t, limits_say_what_enforces_them);
	tcase_add_test(t, isolation_follows_the_plan);
	tcase_add_test(t, changes_of_a_copy_are_listed);
	tcase_add_test(t, usage_takes_the_larger_peak);
	tcase_add_test(t, a_command_that_cannot_be_executed_has_an_error_and_its_code);
	tcase_add_test(t, a_set_up_failure_has_stage_and_hint);
	tcase_add_test(t, a_failure_without_words_still_has_an_error);
	tcase_add_test(t, lines_for_ends_of_our_own);
	tcase_add_test(t, dropped_output_is_told);
	tcase_add_test(t, refused_calls_are_listed_and_one_is_blamed);
	tcase_add_test(t, nothing_is_blamed_where_nothing_was_observed);
	tcase_add_test(t, death_by_filter_names_the_other_architectures);
	tcase_add_test(t, sizes_for_people);
	tcase_add_test(t, there_is_room_for_output_that_must_be_escaped);
	suite_add_tcase(s, t);

	SRunner *runner = srunner_create(s);

	srunner_run_all(runner, CK_ENV);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
