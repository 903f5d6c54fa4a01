/* SPDX-License-Identifier: Apache-2.0 */
/* Which options each backend takes: what it does not know it refuses by name. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "executor/args.h"
#include "executor/args_int.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"

static struct exec_opts o;
static struct ak_err e;

static void teardown(void)
{
	exec_opts_release(&o);
}

static int parse(const char *const words[])
{
	int n = 0;

	while (words[n])
		n++;
	exec_opts_release(&o);
	e = (struct ak_err){0};
	return args_parse_exec(n, (char *const *)words, &o, &e);
}

#define EXEC(...) parse((const char *const[]){__VA_ARGS__, "true", NULL})
#define DOCKER(...) EXEC("--backend", "docker", "--image", "img", __VA_ARGS__)
#define LOCAL(...) EXEC("--backend", "local", __VA_ARGS__)
#define OK(x) ck_assert_msg((x) == 0, "%s", e.msg)
#define BAD(part, x)                                                                                                                   \
	do {                                                                                                                           \
		ck_assert_int_eq(x, -EINVAL);                                                                                          \
		ck_assert_msg(strstr(e.msg, part) != NULL, "%s", e.msg);                                                               \
	} while (0)

START_TEST(native_is_the_default)
{
	OK(EXEC("-q"));
	ck_assert_int_eq(o.backend, BACKEND_NATIVE);
	OK(EXEC("--backend=native", "--hide", "/x"));
	BAD("--backend: \"podman\" is not known", EXEC("--backend", "podman"));
	BAD("--image", EXEC("--image", "x"));
	BAD("--net: \"bridge\" is not known", EXEC("--net", "bridge"));
}
END_TEST

START_TEST(docker_takes_what_it_knows)
{
	OK(DOCKER("-m", "1g", "--cpus", "2", "--pids", "9", "-t", "3", "--net", "my_net", "-e", "A=1", "--ro", "/x:/y", "-v", "/a:/b",
		  "--write", "none", "-u", "5", "-i", "--json"));
	ck_assert_int_eq(o.backend, BACKEND_DOCKER);
	ck_assert_str_eq(o.image, "img");
	ck_assert_str_eq(o.net_name, "my_net");
	OK(DOCKER("--net", "x", "--net", "host"));
	ck_assert_ptr_null(o.net_name);
	ck_assert_int_eq(o.net, NET_HOST);
	BAD("no image is named", EXEC("--backend", "docker"));
	BAD("--image: \"-x\"", EXEC("--backend", "docker", "--image", "-x"));
	BAD("--image: \"a b\"", EXEC("--backend", "docker", "--image", "a b"));
	BAD("--net: \"a b\"", DOCKER("--net", "a b"));
}
END_TEST

/* each option that has a value here, for the two tests below */
static const char *const values[][2] = {
	{"--rootfs", "/r"},   {"--rootfs-write", "tmp"}, {"--tmpfs", "/t"},    {"--hide", "/h"},     {"--dev", "/dev/null"},
	{"--cpu-time", "1"},  {"--nofile", "9"},	 {"--fsize", "1m"},    {"--disk", "1m"},     {"--seccomp", "strict"},
	{"--fd", "5"},	      {"--isolation", "namespaces"},
};

START_TEST(docker_refuses_by_name_what_it_does_not_know)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		BAD(values[i][0], DOCKER(values[i][0], values[i][1]));
		BAD("--backend docker", DOCKER(values[i][0], values[i][1]));
	}
	BAD("--tty", DOCKER("--tty"));
	BAD("--explain", DOCKER("--explain"));
	BAD("--hide, --dev", DOCKER("--dev", "/dev/null", "--hide", "/h"));
	BAD("--write", DOCKER("--write", "cow"));
}
END_TEST

START_TEST(local_refuses_what_nothing_would_hold)
{
	static const char *const also[][2] = {
		{"--image", "x"}, {"--ro", "/x"},   {"--rw", "/x"},	{"-v", "/a:/b"},    {"--user", "5"},   {"--allow-protected", ".git"},
		{"--write", "none"}, {"--write", "cow"}, {"--memory", "1g"}, {"--cpus", "1"}, {"--pids", "5"}, {"--net", "none"},
		{"--net", "bridge"},
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		BAD(values[i][0], LOCAL(values[i][0], values[i][1]));
	for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++)
		BAD(also[i][0], LOCAL(also[i][0], also[i][1]));
	OK(LOCAL("--memory", "max", "--cpus", "max", "--pids", "max", "--net", "host", "-t", "5", "-e", "A", "-w", "/x", "-C", "/y"));
	ck_assert_int_eq(o.backend, BACKEND_LOCAL);
}
END_TEST

START_TEST(an_option_without_a_row_is_natives_alone)
{
	const struct arg_def *d;
	unsigned refused = 0;

	for (size_t i = 0; (d = arg_row(i)) != NULL; i++) {
		const char *words[] = {"--backend", "local", d->name, "1", "true", NULL};

		if (strncmp(d->name, "--help", 6) == 0)
			continue;
		if (!d->has_value)
			words[3] = "true";
		refused += parse(words) < 0;
	}
	ck_assert_uint_gt(refused, 20);
}
END_TEST

static int create(const char *const words[])
{
	int n = 0;

	while (words[n])
		n++;
	exec_opts_release(&o);
	e = (struct ak_err){0};
	return args_parse_create(n, (char *const *)words, &o, &e);
}

#define CREATE(...) create((const char *const[]){"box", __VA_ARGS__, NULL})

START_TEST(sandboxes_that_stay_have_every_backend)
{
	const char *const serve[] = {"--backend", "docker"};

	OK(CREATE("--backend", "local", "--ttl", "5"));
	ck_assert_int_eq(o.backend, BACKEND_LOCAL);
	OK(CREATE("--backend", "docker", "--net", "host"));
	ck_assert_str_eq(o.image, "python:3.12-slim");	/* here there is a default */
	OK(CREATE("--backend", "docker", "--image", "x", "-m", "1g"));
	ck_assert_str_eq(o.image, "x");
	BAD("--pool", CREATE("--backend", "docker", "--pool", "1"));
	BAD("--explain", CREATE("--backend", "local", "--explain"));
	BAD("--net NAME cannot be had", CREATE("--backend", "docker", "--net", "my_net"));
	BAD("--memory cannot be had", CREATE("--backend", "local", "--memory", "1g"));
	exec_opts_release(&o);
	ck_assert_int_eq(args_parse_serve(2, (char *const *)serve, &o, &e), 0);
	BAD("--backend", EXEC("--in", "box", "--backend", "docker"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("args_backend");
	TCase *t = tcase_create("args_backend");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, native_is_the_default);
	tcase_add_test(t, docker_takes_what_it_knows);
	tcase_add_test(t, docker_refuses_by_name_what_it_does_not_know);
	tcase_add_test(t, local_refuses_what_nothing_would_hold);
	tcase_add_test(t, an_option_without_a_row_is_natives_alone);
	tcase_add_test(t, sandboxes_that_stay_have_every_backend);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
