/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of `ak create` and of `ak exec --in`: which options mean something where. */
#include "executor/args.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args_int.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

typedef int parse_fn(int argc, char *const argv[], struct exec_opts *ret, struct ak_err *err);

static struct exec_opts o;
static struct ak_err e;

static void teardown(void)
{
	exec_opts_release(&o);
}

static int parse_words(parse_fn *parse, const char *const words[])
{
	int n = 0;

	while (words[n])
		n++;
	exec_opts_release(&o);
	e = (struct ak_err){0};
	return parse(n, (char *const *)words, &o, &e);
}

#define EXEC(...) parse_words(args_parse_exec, (const char *const[]){__VA_ARGS__, NULL})
#define CREATE(...) parse_words(args_parse_create, (const char *const[]){__VA_ARGS__, NULL})
#define OK(x) ck_assert_msg((x) == 0, "%s", e.msg)
#define BAD(text, x)                                                                                         \
	do {                                                                                                 \
		ck_assert_int_eq(x, -EINVAL);                                                                \
		ck_assert_str_eq(e.msg, text);                                                               \
	} while (0)

START_TEST(create_takes_a_name_anywhere)
{
	OK(CREATE("box"));
	ck_assert_str_eq(o.name, "box");
	ck_assert_uint_eq(o.ttl_ms, 3600000);
	ck_assert_uint_eq(o.pool, 0);
	ck_assert(!o.argv && o.argc == 0);
	OK(CREATE("-m", "1g", "box", "--pool=3", "--ttl", "5m"));
	ck_assert_str_eq(o.name, "box");
	ck_assert(o.memory_bytes.given && o.memory_bytes.value == UINT64_C(1) << 30);
	ck_assert_uint_eq(o.pool, 3);
	ck_assert_uint_eq(o.ttl_ms, 300000);
	OK(CREATE("--net=host", "--", "box"));
	ck_assert_str_eq(o.name, "box");
	ck_assert_int_eq(CREATE("--help"), 1);
}
END_TEST

START_TEST(create_refuses_what_is_no_name)
{
	BAD("no NAME given", CREATE(NULL));
	BAD("no NAME given", CREATE("-m1g"));
	BAD("one NAME is taken, and \"two\" is one too many", CREATE("one", "two"));
	BAD("one NAME is taken, and \"two\" is one too many", CREATE("one", "--", "two"));
	BAD("\"a/b\" is no name of a sandbox", CREATE("a/b"));
	BAD("\"-\" is no name of a sandbox", CREATE("-"));
	BAD("\"--ttl\" is no name of a sandbox", CREATE("--", "--ttl"));
	BAD("unknown option --frob", CREATE("box", "--frob"));
	ck_assert_ptr_nonnull(strstr(e.hint, "ak create --help"));
}
END_TEST

START_TEST(ttl_and_pool_have_their_ranges)
{
	BAD("--ttl: 0 would allow nothing", CREATE("box", "--ttl=0"));
	ck_assert_int_eq(CREATE("box", "--ttl", "soon"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(e.msg, "--ttl: \"soon\""));
	OK(CREATE("box", "--pool", "0"));
	OK(CREATE("box", "--pool", "16"));
	ck_assert_uint_eq(o.pool, 16);
	BAD("--pool: \"17\" is not a whole number from 0 to 16", CREATE("box", "--pool", "17"));
	BAD("--pool: \"-1\" is not a whole number from 0 to 16", CREATE("box", "--pool", "-1"));
}
END_TEST

/* A good value for each option that takes one, by what is needed only here */
static const char *value_of(const struct arg_def *d)
{
	static const char *const rows[][2] = {
		{"--write", "none"}, {"--rootfs-write", "tmp"}, {"-v", "/a:/b"}, {"--tmpfs", "/t"}, {"--net", "host"},
		{"--network", "host"}, {"--cpus", "1"}, {"--seccomp", "strict"}, {"--isolation", "namespaces"}, {"--user", "1"},
		{"--identity", "root"}, {"--fd", "5"}, {"--env", "A=1"}, {"--in", "box"}, {"--dev", "/dev/null"}, {"--ro", "/a"},
		{"--rw", "/a"}, {"--ro-try", "/a"}, {"--rw-try", "/a"}, {"--hide", "/a"}, {"--workspace", "/a"}, {"--workdir", "/a"},
		{"--rootfs", "/a"}, {"--env-file", "/dev/null"}, {"--allow-protected", ".git"}, {"--report", "r"}, {"--shell", "t"}, {"--memory", "64m"}, {"--disk", "64m"},
		{"--backend", "native"}, {"--nofile", "64"},
		{"--apply", "never"},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		if (strcmp(rows[i][0], d->name) == 0)
			return rows[i][1];
	return "2";
}

/* Every row of the table, on a command line of kind @where: taken where the row says so, else refused by name */
static void try_row(const struct arg_def *d, unsigned where)
{
	const char *words[10];
	size_t n = 0;
	int rc;

	/* names a container's image, so it needs a backend that `ak create` does not have */
	if (strcmp(d->name, "--image") == 0 && where == ARG_CREATE)
		return;
	if (strcmp(d->name, "--image") == 0 && where == ARG_RUN)
		words[n++] = "--backend=docker";
	/* means something with a copy only */
	if (where == ARG_RUN && strcmp(d->name, "--apply") == 0) {
		words[n++] = "--write";
		words[n++] = "cow";
	}
	if (where == ARG_CREATE)
		words[n++] = "box";
	if ((where & (ARG_IN | ARG_JOB)) && strcmp(d->name, "--in") != 0) {
		words[n++] = "--in";
		words[n++] = "box";
	}
	if (where == ARG_JOB && strcmp(d->name, "--detach") != 0)
		words[n++] = "--detach";
	words[n++] = d->name;
	if (d->has_value)
		words[n++] = value_of(d);
	if (where != ARG_CREATE && strcmp(d->name, "--shell") != 0)
		words[n++] = "true";
	words[n] = NULL;
	rc = parse_words(where == ARG_CREATE ? args_parse_create : args_parse_exec, words);
	if (where == ARG_CREATE && strcmp(d->name, "--nesting") == 0) {
		ck_assert_int_eq(rc, -EINVAL);	/* not in this version */
		return;
	}
	if (d->where & where) {
		ck_assert_msg(rc == 0, "%s on %u: %s", d->name, where, e.msg);
		return;
	}
	ck_assert_msg(rc == -EINVAL, "%s is taken on %u", d->name, where);
	ck_assert_msg(strncmp(e.msg, d->name, strlen(d->name)) == 0 && e.msg[strlen(d->name)] == ' ', "%s on %u: %s", d->name, where,
		      e.msg);
	ck_assert_msg(e.hint[0], "%s on %u has no hint", d->name, where);
}

START_TEST(each_option_is_taken_or_refused_by_name)
{
	static const unsigned kinds[] = {ARG_RUN, ARG_IN, ARG_JOB, ARG_CREATE};
	const struct arg_def *d;
	size_t refused = 0, taken = 0;

	for (size_t i = 0; (d = arg_row(i)) != NULL; i++) {
		ck_assert_uint_eq(arg_index(d), i);
		for (size_t k = 0; k < LEN(kinds); k++) {
			if (strcmp(d->name, "--help") == 0 || strcmp(d->name, "--env-file") == 0)
				continue;
			/* these make the command line another kind */
			if (kinds[k] == ARG_RUN && strcmp(d->name, "--in") == 0)
				continue;
			if (kinds[k] == ARG_IN && strcmp(d->name, "--detach") == 0)
				continue;
			try_row(d, kinds[k]);
			taken += (d->where & kinds[k]) != 0;
			refused += (d->where & kinds[k]) == 0;
		}
	}
	ck_assert_uint_gt(taken, 60);
	ck_assert_uint_gt(refused, 60);
}
END_TEST

START_TEST(all_offenders_are_named)
{
	BAD("--write, --net, --memory cannot be given with --in: the sandbox exists already",
	    EXEC("--memory", "1g", "--net=host", "--in", "box", "--write", "none", "c"));
	BAD("--timeout, --json says how one command runs, and `ak create` runs none", CREATE("box", "--json", "-t1"));
	BAD("--tty cannot be given with --detach: a job runs without its caller", EXEC("--in=box", "--tty", "--detach", "c"));
	BAD("--fresh, --detach needs --in NAME", EXEC("--detach", "--fresh", "c"));
	BAD("--ttl belongs to `ak create`", EXEC("--ttl=1", "c"));
}
END_TEST

START_TEST(in_takes_a_name_and_a_command)
{
	OK(EXEC("--in", "box", "--", "ls", "-l"));
	ck_assert_str_eq(o.in, "box");
	ck_assert_int_eq(o.argc, 2);
	ck_assert(!o.fresh && !o.detach);
	OK(EXEC("--in=box", "--fresh", "-c", "cd /tmp"));
	ck_assert(o.fresh && o.shell);
	ck_assert_str_eq(o.argv[2], "cd /tmp");
	BAD("--in: \"../x\" is no name of a sandbox", EXEC("--in", "../x", "c"));
	BAD("no command given", EXEC("--in", "box"));
	OK(EXEC("--in=a", "--in=b", "c"));
	ck_assert_str_eq(o.in, "b");
}
END_TEST

START_TEST(create_help_names_what_create_takes)
{
	const char *help = args_create_help();
	const struct arg_def *d;

	for (const char *p = help; *p;) {
		size_t n = strcspn(p, "\n");

		ck_assert_msg(n <= 110, "%.*s", (int)n, p);
		p += n + 1;
	}
	for (size_t i = 0; (d = arg_row(i)) != NULL; i++) {
		char first[64], second[64];
		bool synonym = strcmp(d->name, "--network") == 0 || strcmp(d->name, "--pids-limit") == 0;
		bool shown;

		(void)snprintf(first, sizeof(first), "  %s ", d->name);
		(void)snprintf(second, sizeof(second), ", %s ", d->name);
		shown = strstr(help, first) != NULL || strstr(help, second) != NULL;
		if (!synonym)
			ck_assert_msg(shown == ((d->where & ARG_CREATE) != 0), "%s", d->name);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("args_named");
	TCase *t = tcase_create("args_named");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, create_takes_a_name_anywhere);
	tcase_add_test(t, create_refuses_what_is_no_name);
	tcase_add_test(t, ttl_and_pool_have_their_ranges);
	tcase_add_test(t, each_option_is_taken_or_refused_by_name);
	tcase_add_test(t, all_offenders_are_named);
	tcase_add_test(t, in_takes_a_name_and_a_command);
	tcase_add_test(t, create_help_names_what_create_takes);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
