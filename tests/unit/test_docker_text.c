/* SPDX-License-Identifier: Apache-2.0 */
/* What docker says, and what our script in a container says: read and sorted. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "executor/docker/docker_text.h"
#include "executor/shared/ak_err.h"

#define BANNER "Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.\n"

/* texts as docker 20 and 28 and podman 4.3 and 5 give them */
static const struct {
	const char *text;
	const char *line;
	enum docker_why why;
} rows[] = {
	{"docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n\nRun 'docker run "
	 "--help' for more information\n",
	 "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", DOCKER_WHY_DAEMON},
	{"docker: permission denied while trying to connect to the Docker daemon socket at unix:///x: dial unix /x: connect: permission "
	 "denied.\nSee 'docker run --help'.\n",
	 "permission denied while trying to connect to the Docker daemon socket at unix:///x: dial unix /x: connect: permission denied.",
	 DOCKER_WHY_SOCKET},
	{"Unable to find image 'nope:1' locally\nlatest: Pulling from library/nope\na1b2: Pull complete\ndocker: Error response from daemon: "
	 "pull access denied for nope, repository does not exist or may require 'docker login'.\nSee 'docker run --help'.\n",
	 "pull access denied for nope, repository does not exist or may require 'docker login'.", DOCKER_WHY_IMAGE},
	{BANNER "Error: short-name \"nosuch:img\" did not resolve to an alias and no unqualified-search registries are defined\n",
	 "short-name \"nosuch:img\" did not resolve to an alias and no unqualified-search registries are defined", DOCKER_WHY_IMAGE},
	{BANNER "Error: unable to find network with name or ID nosuch: network not found\n",
	 "unable to find network with name or ID nosuch: network not found", DOCKER_WHY_NETWORK},
	{"docker: Error response from daemon: network nosuch not found.\n", "network nosuch not found.", DOCKER_WHY_NETWORK},
	{"docker: Error response from daemon: invalid mount config for type \"bind\": bind source path does not exist: /x.\n",
	 "invalid mount config for type \"bind\": bind source path does not exist: /x.", DOCKER_WHY_MOUNT},
	{BANNER "Error: statfs /nonex: no such file or directory\n", "statfs /nonex: no such file or directory", DOCKER_WHY_MOUNT},
	{BANNER "Error: runc: runc create failed: unable to start container process: exec: \"sleep\": executable file not found in $PATH: "
		"OCI runtime attempted to invoke a command that was not found\n",
	 "runc: runc create failed: unable to start container process: exec: \"sleep\": executable file not found in $PATH: OCI runtime "
	 "attempted to invoke a command that was not found",
	 DOCKER_WHY_NO_SLEEP},
	{"OCI runtime exec failed: exec failed: unable to start container process: exec: \"sh\": executable file not found in $PATH: "
	 "unknown\n",
	 "OCI runtime exec failed: exec failed: unable to start container process: exec: \"sh\": executable file not found in $PATH: unknown",
	 DOCKER_WHY_NO_PROGRAM},
	{"Error response from daemon: No such container: agentkernel-0\n", "No such container: agentkernel-0", DOCKER_WHY_GONE},
	{"Error: something\x1b[2J new\n", "something?[2J new", DOCKER_WHY_OTHER},
	{BANNER, "", DOCKER_WHY_OTHER},
	{"", "", DOCKER_WHY_OTHER},
	{"first\nlast", "last", DOCKER_WHY_OTHER},
};

START_TEST(complaints_are_found_and_sorted)
{
	char line[512];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_msg(docker_complaint(rows[i].text, line, sizeof(line)) == rows[i].why, "%s", rows[i].text);
		ck_assert_str_eq(line, rows[i].line);
	}
	ck_assert_int_eq(docker_complaint(NULL, line, sizeof(line)), DOCKER_WHY_OTHER);
	(void)docker_complaint(rows[0].text, line, 8);
	ck_assert_str_eq(line, "Cannot ");
}
END_TEST

START_TEST(a_failed_start_says_why_and_what_to_do)
{
	struct ak_err err = {0};

	ck_assert_int_eq(docker_start_failed(125, false, rows[0].text, "i", &err), DOCKER_WHY_DAEMON);
	ck_assert_int_eq(err.code, ECONNREFUSED);
	ck_assert_int_eq(strncmp(err.msg, "could not start container: Cannot connect", 41), 0);
	ck_assert_str_ne(err.hint, "");
	ck_assert_int_eq(docker_start_failed(125, false, rows[2].text, "nope:1", &err), DOCKER_WHY_IMAGE);
	ck_assert_str_eq(err.hint, "fetch it first: docker pull nope:1");
	ck_assert_int_eq(docker_start_failed(1, false, "", "i", &err), DOCKER_WHY_OTHER);
	ck_assert_str_eq(err.msg, "could not start container: docker ended with 1 and said nothing");
	(void)docker_start_failed(124, true, "Pulling", "i", &err);
	ck_assert_int_eq(err.code, ETIMEDOUT);
	ck_assert_ptr_nonnull(strstr(err.msg, "120 s"));
}
END_TEST

START_TEST(facts_of_both_kinds_of_cgroups)
{
	struct docker_facts f;

	docker_facts_read("memory 536870912 \npids 256 \ncpu 150000 100000\nseccomp 2\nnnp 1\ncaps 0000000000000000\ntimeout yes\n", &f);
	ck_assert(f.has_memory && f.memory_bytes == 536870912 && f.has_pids && f.pids == 256 && f.has_cpu && f.cpu_milli == 1500);
	ck_assert(f.has_seccomp && f.seccomp == 2 && f.has_nnp && f.nnp == 1 && f.has_caps && f.caps == 0 && f.has_timeout);
	docker_facts_read("memory 9223372036854771712\npids max\nquota -1\nperiod 100000\ncaps 000001ffffffffff\n", &f);
	ck_assert(f.memory_bytes == UINT64_MAX && f.pids == UINT64_MAX && f.cpu_milli == UINT64_MAX && f.caps == 0x1ffffffffff);
	ck_assert(!f.has_timeout && !f.has_seccomp);
	docker_facts_read("quota 50000 \nperiod 100000 \n", &f);
	ck_assert(f.has_cpu && f.cpu_milli == 500);
}
END_TEST

START_TEST(facts_that_make_no_sense_are_none)
{
	static const char *const bad[] = {"", "memory", "memory x", "memory -2", "pids 1x", "cpu 1", "cpu 1 0", "quota 5", "period 0",
					  "seccomp 3", "nnp 2", "caps g", "caps 00000000000000000", "memory 18446744073709551616", "\n\n"};
	struct docker_facts f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		docker_facts_read(bad[i], &f);
		ck_assert_msg(!f.has_memory && !f.has_pids && !f.has_cpu && !f.has_seccomp && !f.has_nnp && !f.has_caps && !f.has_timeout,
			      "%s", bad[i]);
	}
}
END_TEST

START_TEST(owner_is_what_was_written)
{
	struct docker_owner o = {.pid = 12, .start = 345, .pidns = 4026531836, .boot = "42a7d48d-d12c-433d-8579-a26e8bc79b79"}, r;
	char text[DOCKER_OWNER_BYTES];
	static const char *const bad[] = {"", "1", "1-2", "1-2-3", "1-2-3-", "a-2-3-b", "1-2-3-x", "-2-3-b", "1-2-3-b\n",
					  "99999999999999999999-2-3-b", "1-2-3-0123456789012345678901234567890123456789"};

	docker_owner_write(&o, text);
	ck_assert_str_eq(text, "12-345-4026531836-42a7d48d-d12c-433d-8579-a26e8bc79b79");
	ck_assert(docker_owner_read(text, &r));
	ck_assert(r.pid == 12 && r.start == 345 && r.pidns == 4026531836);
	ck_assert_str_eq(r.boot, o.boot);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!docker_owner_read(bad[i], &r), "%s", bad[i]);
}
END_TEST

START_TEST(an_owner_is_dead_only_for_certain)
{
	struct docker_owner self = {.pid = 1, .start = 1, .pidns = 7, .boot = "b"}, o = {.pid = 2, .start = 9, .pidns = 7, .boot = "b"};

	ck_assert(!docker_owner_dead(&o, &self, 9));	/* it lives */
	ck_assert(docker_owner_dead(&o, &self, 0));	/* no such process */
	ck_assert(docker_owner_dead(&o, &self, 8));	/* another one has its pid */
	o.pidns = 8;
	ck_assert(!docker_owner_dead(&o, &self, 0));	/* where we cannot see it */
	o.boot[0] = 'c';
	ck_assert(docker_owner_dead(&o, &self, 9));	/* before this boot */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("docker_text");
	TCase *t = tcase_create("docker_text");
	SRunner *sr;
	int failed;

	tcase_add_test(t, complaints_are_found_and_sorted);
	tcase_add_test(t, a_failed_start_says_why_and_what_to_do);
	tcase_add_test(t, facts_of_both_kinds_of_cgroups);
	tcase_add_test(t, facts_that_make_no_sense_are_none);
	tcase_add_test(t, owner_is_what_was_written);
	tcase_add_test(t, an_owner_is_dead_only_for_certain);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
