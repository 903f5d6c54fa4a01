/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of docker there is, whose ids a command gets, and whether limits are held. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "executor/backend.h"
#include "executor/docker/docker_int.h"
#include "executor/opts.h"
#include "tests/unit/fake_runner.h"

static struct ak_err err;

static int look(const struct fake_answer *answers, struct docker_engine *e)
{
	static struct fake_runner fake;
	const struct runner runner = {.run = fake_run, .ctx = &fake};

	fake = (struct fake_runner){.answers = answers};
	err = (struct ak_err){0};
	return docker_engine_look(&runner, e, &err);
}

START_TEST(the_daemon_is_asked_what_it_is)
{
	struct docker_engine e;
	struct fake_answer a[] = {{.first = "--version", .out = "Docker version 28.2.2, build e6534b4\n"},
				  {.first = "info|", .out = "name=seccomp,profile=builtin name=cgroupns \n"},
				  {0}};

	ck_assert_int_eq(look(a, &e), 0);
	ck_assert(!e.rootless && !e.remapped);
	a[1].out = "name=seccomp,profile=builtin name=rootless \n";
	ck_assert_int_eq(look(a, &e), 0);
	ck_assert(e.rootless && !e.remapped);
	a[1].out = "name=userns \n";
	ck_assert_int_eq(look(a, &e), 0);
	ck_assert(e.remapped);
	a[1] = (struct fake_answer){.first = "info|", .code = 1, .err = "Cannot connect to the Docker daemon at unix:///x. Is the docker "
										"daemon running?\n"};
	ck_assert_int_eq(look(a, &e), -ECONNREFUSED);
	a[1].err = "permission denied while trying to connect to the Docker daemon socket\n";
	ck_assert_int_eq(look(a, &e), -EACCES);
	/* 20.10 */
	a[1] = (struct fake_answer){.first = "info|", .code = 1, .err = "template: :1:8: executing \"\" at <.SecurityOptions>: reflect: "
										"indirection through nil pointer\n"};
	ck_assert_int_eq(look(a, &e), -EIO);
	ck_assert_ptr_nonnull(strstr(err.msg, "template"));
	struct fake_answer both[] = {a[0], a[1], {.first = "version", .code = 1, .err = "Cannot connect to the Docker daemon at unix:///x. "
											 "Is the docker daemon running?\n"}, {0}};

	ck_assert_int_eq(look(both, &e), -ECONNREFUSED);
	a[1] = (struct fake_answer){.first = "info|", .timed_out = true, .code = 124};
	ck_assert_int_lt(look(a, &e), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "does not answer"));
	a[0] = (struct fake_answer){.first = "--version", .error = ENOENT};
	ck_assert_int_lt(look(a, &e), 0);
}
END_TEST

START_TEST(podman_is_what_its_caller_is)
{
	struct docker_engine e;
	const struct fake_answer a[] = {{.first = "--version", .out = "podman version 4.3.1\n"}, {.first = "info", .code = 9}, {0}};

	ck_assert_int_eq(look(a, &e), 0);
	ck_assert_int_eq(e.rootless, geteuid() != 0);
}
END_TEST

struct who {
	bool rootless, remapped;
	uint32_t uid, owner;
	bool user_given;
	uint32_t want;
	enum opt_identity identity;
	const char *user;	/* NULL: refused */
	bool root;
};

START_TEST(files_belong_to_the_caller)
{
	static const struct who rows[] = {
		/* an ordinary user and a daemon with root's rights */
		{.uid = 1000, .owner = 1000, .user = "1000:7"},
		{.uid = 1000, .owner = 0, .user = "1000:7"},
		{.uid = 1000, .user_given = true, .want = 1000, .user = "1000:7"},
		{.uid = 1000, .user_given = true, .want = 0},
		{.uid = 1000, .user_given = true, .want = 1001},
		{.uid = 1000, .identity = IDENTITY_ROOT},
		/* a rootless one */
		{.rootless = true, .uid = 1000, .user = "0:0"},
		{.rootless = true, .uid = 1000, .user_given = true, .want = 0, .user = "0:0"},
		{.rootless = true, .uid = 1000, .user_given = true, .want = 1000},
		/* root */
		{.uid = 0, .owner = 0},
		{.uid = 0, .owner = 0, .identity = IDENTITY_ROOT, .user = "0:0", .root = true},
		{.uid = 0, .owner = 33, .user = "33:8"},
		{.uid = 0, .owner = 33, .identity = IDENTITY_ROOT, .user = "0:0", .root = true},
		{.uid = 0, .owner = 0, .user_given = true, .want = 55, .user = "55:55"},
		{.uid = 0, .owner = 0, .user_given = true, .want = 0},
		{.uid = 0, .user_given = true, .want = 0, .identity = IDENTITY_ROOT, .user = "0:0", .root = true},
		/* ids that are nobody's */
		{.remapped = true, .uid = 1000, .owner = 1000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct who *w = &rows[i];
		struct exec_opts o = {.user_given = w->user_given, .uid = w->want, .identity = w->identity};
		struct docker_engine e = {.rootless = w->rootless, .remapped = w->remapped};
		char user[32] = "";
		bool root = false;
		int r;

		err = (struct ak_err){0};
		r = docker_choose_user(&o, &e, w->uid, 7, w->owner, 8, user, &root, &err);
		ck_assert_msg((r == 0) == (w->user != NULL), "row %zu: %d %s", i, r, err.msg);
		if (r < 0) {
			ck_assert_int_eq(r, -EPERM);
			ck_assert_str_ne(err.hint, "");
			continue;
		}
		ck_assert_msg(strcmp(user, w->user) == 0, "row %zu: %s", i, user);
		ck_assert_int_eq(root, w->root);
	}
}
END_TEST

static struct docker_facts all_held(void)
{
	return (struct docker_facts){.has_memory = true, .memory_bytes = 512 << 20, .has_pids = true, .pids = 256, .has_cpu = true,
				     .cpu_milli = 1000, .has_seccomp = true, .seccomp = 2, .has_nnp = true, .nnp = 1, .has_caps = true};
}

START_TEST(limits_count_as_held_when_they_are_seen)
{
	struct exec_opts o = {0};
	struct docker_conf c;
	struct docker_facts f = all_held();
	struct backend_facts b = {0};

	docker_conf_init(&c, "/w");
	ck_assert_int_eq(docker_check_facts(&o, &c, &f, &b, &err), 0);
	ck_assert(b.memory_held && b.pids_held && b.cpus_held && b.seccomp);
	ck_assert_uint_eq(b.nwarnings, 0);
	c.memory_bytes = c.pids = c.cpu_milli = 0;	/* lifted */
	f = (struct docker_facts){.has_seccomp = true, .seccomp = 2};
	b = (struct backend_facts){0};
	ck_assert_int_eq(docker_check_facts(&o, &c, &f, &b, &err), 0);
	ck_assert(!b.memory_held && !b.pids_held && !b.cpus_held);
	ck_assert_uint_eq(b.nwarnings, 0);
}
END_TEST

START_TEST(a_limit_that_is_not_held_is_a_warning_or_an_error)
{
	static const char *const names[] = {"--memory", "--pids", "--cpus"};

	for (int i = 0; i < 3; i++) {
		struct exec_opts o = {0};
		struct docker_conf c;
		struct docker_facts f = all_held();
		struct backend_facts b = {0};

		docker_conf_init(&c, "/w");
		if (i == 0)
			f.memory_bytes = UINT64_MAX;
		else if (i == 1)
			f.has_pids = false;
		else
			f.cpu_milli = 1001;
		ck_assert_int_eq(docker_check_facts(&o, &c, &f, &b, &err), 0);
		ck_assert_uint_eq(b.nwarnings, 1);
		ck_assert_int_eq(strncmp(b.warning[0], names[i], strlen(names[i])), 0);
		o.memory_bytes.given = o.pids.given = o.cpu_milli.given = true;
		ck_assert_int_eq(docker_check_facts(&o, &c, &f, &b, &err), -EOPNOTSUPP);
		ck_assert_int_eq(strncmp(err.msg, names[i], strlen(names[i])), 0);
	}
}
END_TEST

START_TEST(a_container_with_rights_is_refused)
{
	struct exec_opts o = {0};
	struct docker_conf c;
	struct docker_facts f = all_held();
	struct backend_facts b = {0};

	docker_conf_init(&c, "/w");
	f.nnp = 0;
	ck_assert_int_eq(docker_check_facts(&o, &c, &f, &b, &err), -EOPNOTSUPP);
	f = all_held();
	f.caps = 1;
	ck_assert_int_eq(docker_check_facts(&o, &c, &f, &b, &err), -EOPNOTSUPP);
	f = all_held();
	f.seccomp = 0;
	ck_assert_int_eq(docker_check_facts(&o, &c, &f, &b, &err), 0);
	ck_assert(!b.seccomp && b.nwarnings == 1);
}
END_TEST

START_TEST(without_a_shell_nothing_was_read_back)
{
	struct exec_opts o = {0};
	struct docker_conf c;
	struct backend_facts b = {0};

	docker_conf_init(&c, "/w");
	ck_assert_int_eq(docker_check_facts(&o, &c, NULL, &b, &err), 0);
	ck_assert(b.memory_held && !b.seccomp && b.nwarnings == 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("docker_engine");
	TCase *t = tcase_create("docker_engine");
	SRunner *sr;
	int failed;

	tcase_add_test(t, the_daemon_is_asked_what_it_is);
	tcase_add_test(t, podman_is_what_its_caller_is);
	tcase_add_test(t, files_belong_to_the_caller);
	tcase_add_test(t, limits_count_as_held_when_they_are_seen);
	tcase_add_test(t, a_limit_that_is_not_held_is_a_warning_or_an_error);
	tcase_add_test(t, a_container_with_rights_is_refused);
	tcase_add_test(t, without_a_shell_nothing_was_read_back);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
