/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines of the docker CLI: each word, in its place. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/docker/docker_argv.h"
#include "executor/shared/ak_err.h"

static struct docker_conf conf;

static void setup(void)
{
	docker_conf_init(&conf, "/home/u/project");
}

/* the words in one line, for comparing */
static const char *line(struct docker_words *w)
{
	static char text[8192];

	text[0] = '\0';
	ck_assert(!w->failed);
	for (size_t i = 0; i < w->n; i++) {
		size_t n = strlen(text);

		(void)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "|" : "", w->v[i]);
	}
	docker_words_release(w);
	return text;
}

static const char *run_line(void)
{
	struct docker_words w = docker_run_args(&conf, "agentkernel-0123456789ab");

	return line(&w);
}

START_TEST(run_has_the_known_words_in_their_order)
{
	ck_assert_str_eq(run_line(),
			 "docker|run|-d|--rm|--name|agentkernel-0123456789ab|--network|none|--memory|512m|--cpus|1.0|--pids-limit|256|"
			 "--security-opt|no-new-privileges|"
			 "--cap-drop|ALL|--memory-swap|512m|--stop-signal|KILL|--stop-timeout|0|--entrypoint||"
			 "-v|/home/u/project:/workspace|-w|/workspace|python:3.12-slim|sleep|infinity");
}
END_TEST

START_TEST(run_names_its_maker_user_and_probe)
{
	conf.owner = "1-2-3-b";
	conf.uid = 7;
	conf.user = "7:8";
	conf.probe = "/s/p";
	ck_assert_ptr_nonnull(strstr(run_line(), "|--label|ak.uid=7|--label|ak.owner=1-2-3-b|--user|7:8|"));
	ck_assert_ptr_nonnull(strstr(run_line(), "|--mount|type=bind,\"src=/s/p\",\"dst=/.ak-probe\",readonly|-w|"));
}
END_TEST

START_TEST(lifted_limits_are_no_words)
{
	conf.memory_bytes = conf.pids = conf.cpu_milli = 0;
	ck_assert_ptr_null(strstr(run_line(), "--memory"));
	ck_assert_ptr_null(strstr(run_line(), "--cpus"));
	ck_assert_ptr_null(strstr(run_line(), "--pids-limit"));
}
END_TEST

START_TEST(limits_are_written_exactly)
{
	static const struct {
		uint64_t bytes, milli;
		const char *memory, *cpus;
	} rows[] = {
		{UINT64_C(1) << 30, 2000, "|--memory|1024m|", "|--cpus|2.0|"},
		{4194305, 500, "|--memory|4194305b|", "|--cpus|0.5|"},
		{1 << 20, 250, "|--memory|1m|", "|--cpus|0.25|"},
		{1 << 20, 1, "|--memory|1m|", "|--cpus|0.001|"},
		{1 << 20, 12345, "|--memory|1m|", "|--cpus|12.345|"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		conf.memory_bytes = rows[i].bytes;
		conf.cpu_milli = rows[i].milli;
		ck_assert_ptr_nonnull(strstr(run_line(), rows[i].memory));
		ck_assert_ptr_nonnull(strstr(run_line(), rows[i].cpus));
	}
}
END_TEST

START_TEST(odd_workspace_goes_by_mount)
{
	static const char *const rows[][2] = {
		{"/a b", "|-v|/a b:/workspace|"},
		{"/a:b", "|--mount|type=bind,\"src=/a:b\",\"dst=/workspace\"|"},
		{"/a,b", "|--mount|type=bind,\"src=/a,b\",\"dst=/workspace\"|"},
		{"/a\"b", "|--mount|type=bind,\"src=/a\"\"b\",\"dst=/workspace\"|"},
		{"/a\nb", "|--mount|type=bind,\"src=/a\nb\",\"dst=/workspace\"|"},
		{"/\xc3\xa9", "|--mount|type=bind,\"src=/\xc3\xa9\",\"dst=/workspace\"|"},
		{"/a=b", "|--mount|type=bind,\"src=/a=b\",\"dst=/workspace\"|"},
		{"/$(x)`", "|--mount|type=bind,\"src=/$(x)`\",\"dst=/workspace\"|"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		conf.host_dir = rows[i][0];
		ck_assert_msg(strstr(run_line(), rows[i][1]) != NULL, "%s: %s", rows[i][0], run_line());
	}
}
END_TEST

START_TEST(read_only_workspace_says_so_in_both_forms)
{
	conf.read_only = true;
	ck_assert_ptr_nonnull(strstr(run_line(), "|-v|/home/u/project:/workspace:ro|"));
	conf.host_dir = "/a:b";
	ck_assert_ptr_nonnull(strstr(run_line(), "\"dst=/workspace\",readonly|"));
}
END_TEST

START_TEST(further_mounts_come_behind_the_workspace)
{
	struct docker_mount m[] = {{(char *)"/w/.git", (char *)"/workspace/.git", false},
				   {(char *)"/w/.git/hooks", (char *)"/workspace/.git/hooks", true}};

	conf.mounts = m;
	conf.nmounts = 2;
	ck_assert_ptr_nonnull(strstr(run_line(), ":/workspace|--mount|type=bind,\"src=/w/.git\",\"dst=/workspace/.git\"|--mount|type=bind,"
						 "\"src=/w/.git/hooks\",\"dst=/workspace/.git/hooks\",readonly|-w|"));
}
END_TEST

static const char *exec_line(const struct docker_command *c)
{
	struct docker_words w = docker_exec_args(c, "NAME");

	return line(&w);
}

START_TEST(exec_has_the_known_words)
{
	struct docker_command c = {.text = "echo hi; ls", .has_timeout = true, .timeout_ms = 30000};

	ck_assert_str_eq(exec_line(&c), "docker|exec|-w|/workspace|NAME|sh|-c|timeout 30 sh -c 'echo hi; ls'");
	c.text = "ls";
	ck_assert_str_eq(exec_line(&c), "docker|exec|-w|/workspace|NAME|sh|-c|timeout 30 sh -c ls");
}
END_TEST

START_TEST(exec_quotes_what_the_user_wrote)
{
	struct docker_command c = {.text = "echo 'a b' \"$HOME\" `id`", .has_timeout = true, .timeout_ms = 1};

	ck_assert_str_eq(exec_line(&c),
			 "docker|exec|-w|/workspace|NAME|sh|-c|timeout 1 sh -c 'echo '\"'\"'a b'\"'\"' \"$HOME\" `id`'");
}
END_TEST

START_TEST(exec_passes_words_as_words)
{
	char *argv[] = {(char *)"prog", (char *)"a b", (char *)"$(id)", (char *)"--", (char *)"-x", NULL};
	struct docker_command c = {.argv = argv, .has_timeout = true, .timeout_ms = 1500, .stdin_open = true,
				   .env_file = "/s/e", .workdir = "/tmp"};

	ck_assert_str_eq(exec_line(&c), "docker|exec|-i|--env-file|/s/e|-w|/tmp|NAME|sh|-c|timeout 2 \"$@\"|sh|prog|a b|$(id)|--|-x");
}
END_TEST

START_TEST(exec_without_timeout_says_no_timeout)
{
	struct docker_command c = {.text = "ls", .has_timeout = false, .timeout_ms = 1500};

	ck_assert_ptr_null(strstr(exec_line(&c), "timeout"));
	c.has_timeout = true;
	c.timeout_ms = 0;
	ck_assert_ptr_null(strstr(exec_line(&c), "timeout"));
}
END_TEST

START_TEST(exec_marks_begin_and_end)
{
	struct docker_command c = {.text = "ls", .has_timeout = true, .timeout_ms = 5000, .mark = "ak-0"};

	ck_assert_str_eq(exec_line(&c), "docker|exec|-w|/workspace|NAME|sh|-c|trap : HUP INT TERM; exec 3>&2 2>/dev/null; "
					"printf '\\001ak-0:s\\n' >&3; (exec 2>&3 3>&-; exec timeout 5 sh -c ls); "
					"printf '\\001ak-0:e%s\\n' \"$?\" >&3");
}
END_TEST

START_TEST(direct_runs_the_command_itself)
{
	char *argv[] = {(char *)"/one", (char *)"-v", NULL};
	struct docker_command c = {.argv = argv, .stdin_open = true, .workdir = "/workspace/x"};
	struct docker_words w = docker_direct_args(&conf, &c, "NAME");
	const char *text = line(&w);

	ck_assert_ptr_nonnull(strstr(text, "docker|run|--name|NAME|--network|none|-i|--memory|512m|"));
	ck_assert_ptr_nonnull(strstr(text, "|-w|/workspace/x|python:3.12-slim|/one|-v"));
	ck_assert_ptr_null(strstr(text, "--rm"));
	ck_assert_ptr_null(strstr(text, "|-d|"));
}
END_TEST

START_TEST(another_folder_is_entered_inside)
{
	struct docker_command c = {.text = "x", .workdir = "/a b", .mark = "M"};
	struct docker_words w = docker_exec_args(&c, "N");
	const char *text = line(&w);

	ck_assert_ptr_nonnull(strstr(text, "docker|exec|-w|/workspace|N|sh|-c|"));
	ck_assert_ptr_nonnull(strstr(text, "cd -- '/a b' || { echo chdir to '/a b': no such folder in the container, or not allowed >&3; exit 126; }; printf"));
	c.mark = NULL;	/* without marks it is docker's to say */
	w = docker_exec_args(&c, "N");
	ck_assert_str_eq(line(&w), "docker|exec|-w|/a b|N|sh|-c|sh -c x");
	c = (struct docker_command){.text = "x", .workdir = DOCKER_WORKDIR, .mark = "M"};
	w = docker_exec_args(&c, "N");
	ck_assert_ptr_null(strstr(line(&w), "cd --"));
}
END_TEST

START_TEST(init_of_a_sandbox_that_stays)
{
	struct docker_command c = {.workdir = NULL};
	struct docker_words w = docker_init_args(&c, "N");

	ck_assert_str_eq(line(&w), "docker|exec|-w|/workspace|N|/.ak/init|connect|/.ak/ctl");
	c = (struct docker_command){.workdir = "/workspace/x", .env_file = "/s/e"};
	w = docker_init_args(&c, "N");
	ck_assert_str_eq(line(&w), "docker|exec|--env-file|/s/e|-w|/workspace/x|N|/.ak/init|connect|/.ak/ctl");
}
END_TEST

START_TEST(seconds_are_rounded_up)
{
	ck_assert_uint_eq(docker_seconds(1), 1);
	ck_assert_uint_eq(docker_seconds(1000), 1);
	ck_assert_uint_eq(docker_seconds(1001), 2);
	ck_assert_uint_eq(docker_seconds(UINT64_MAX), DOCKER_TIMEOUT_MAX_S);
}
END_TEST

START_TEST(quoting_is_what_a_shell_reads)
{
	static const char *const rows[][2] = {
		{"", "''"}, {"a", "a"}, {"a b", "'a b'"}, {"'", "''\"'\"''"}, {"a/b_c-d.e:f,g@h%i+j=k", "a/b_c-d.e:f,g@h%i+j=k"},
		{"$x", "'$x'"}, {"a\nb", "'a\nb'"}, {"\xc3\xa9", "'\xc3\xa9'"}, {"~", "'~'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *q = docker_quote(rows[i][0]);

		ck_assert_str_eq(q, rows[i][1]);
		free(q);
	}
}
END_TEST

START_TEST(names_that_could_be_options_are_refused)
{
	static const char *const good[] = {"python:3.12-slim", "a", "reg.example:5000/x/y@sha256:0f", "A_b"};
	static const char *const bad[] = {"", "-v", "--privileged", "a b", " a", "a\n", "a$b", "/x", ":x", "a\xc3\xa9"};
	struct ak_err err;
	char longer[300];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_int_eq(docker_check_image("--image", good[i], &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(docker_check_image("--image", bad[i], &err), -EINVAL);
		ck_assert_ptr_nonnull(strstr(err.msg, "--image"));
		ck_assert_int_eq(docker_check_network("--net", bad[i], &err), -EINVAL);
	}
	memset(longer, 'a', 255);
	longer[255] = '\0';
	ck_assert_int_eq(docker_check_image("--image", longer, &err), 0);
	longer[255] = 'a';
	longer[256] = '\0';
	ck_assert_int_eq(docker_check_image("--image", longer, &err), -EINVAL);
	ck_assert_int_eq(docker_check_network("--net", "my_net.1-2", &err), 0);
	ck_assert_int_eq(docker_check_network("--net", "a/b", &err), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("docker_argv");
	TCase *t = tcase_create("docker_argv");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, run_has_the_known_words_in_their_order);
	tcase_add_test(t, run_names_its_maker_user_and_probe);
	tcase_add_test(t, lifted_limits_are_no_words);
	tcase_add_test(t, limits_are_written_exactly);
	tcase_add_test(t, odd_workspace_goes_by_mount);
	tcase_add_test(t, read_only_workspace_says_so_in_both_forms);
	tcase_add_test(t, further_mounts_come_behind_the_workspace);
	tcase_add_test(t, exec_has_the_known_words);
	tcase_add_test(t, exec_quotes_what_the_user_wrote);
	tcase_add_test(t, exec_passes_words_as_words);
	tcase_add_test(t, exec_without_timeout_says_no_timeout);
	tcase_add_test(t, exec_marks_begin_and_end);
	tcase_add_test(t, direct_runs_the_command_itself);
	tcase_add_test(t, another_folder_is_entered_inside);
	tcase_add_test(t, init_of_a_sandbox_that_stays);
	tcase_add_test(t, seconds_are_rounded_up);
	tcase_add_test(t, quoting_is_what_a_shell_reads);
	tcase_add_test(t, names_that_could_be_options_are_refused);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
