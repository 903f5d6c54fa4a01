/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the key pool: sources, order, rotation; values in no message. */
#include "agent/keys.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"

#define ENV(rows) ((char *const *)(rows)) /* not written to */
#define N(a) (sizeof(a) / sizeof((a)[0]))

static const struct key_var vars[] = {
	{"ANTHROPIC_API_KEY", KEY_API},
	{"ANTHROPIC_AUTH_TOKEN", KEY_BEARER},
	{NULL, KEY_API},
};

static struct keys *pool(void)
{
	struct keys *k = NULL;

	ck_assert_int_eq(keys_new(&k, NULL), 0);
	return k;
}

static struct key current(const struct keys *k)
{
	struct key key;

	ck_assert(keys_current(k, &key));
	return key;
}

/* The pool's keys in turn: each is limited for ever, so the next one comes */
static void are(struct keys *k, const char *const *values)
{
	for (size_t i = 0; values[i]; i++) {
		ck_assert_str_eq(current(k).value, values[i]);
		(void)keys_limited(k, 1, 1000000);
	}
}

START_TEST(keys_come_from_lists_and_numbered_variables)
{
	const char *env[] = {"HOME=/x",
		       "ANTHROPIC_API_KEYS=no",
		       "ANTHROPIC_API_KEY_2= k4 ",
		       "ANTHROPIC_API_KEY=k1, k2,,k1 ,\tk3\n",
		       "ANTHROPIC_API_KEY_32=k5",
		       "ANTHROPIC_API_KEY_33=no",
		       "ANTHROPIC_AUTH_TOKEN=t1",
		       "ANTHROPIC_API_KEY_02=no",
		       NULL};
	struct keys *k = pool();

	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), 5);
	ck_assert_uint_eq(keys_count(k), 5);
	ck_assert_str_eq(current(k).name, "ANTHROPIC_API_KEY (1 of 3)");
	ck_assert_int_eq(current(k).scheme, KEY_API);
	are(k, (const char *const[]){"k1", "k2", "k3", "k4", "k5", NULL});
	keys_free(k);
}
END_TEST

START_TEST(the_first_variable_with_a_key_counts)
{
	const char *env[] = {"ANTHROPIC_API_KEY= , ", "ANTHROPIC_AUTH_TOKEN=t1", NULL};
	const char *none[] = {"ANTHROPIC_API_KEY=", "X=y", NULL};
	struct keys *k = pool();
	struct key key;

	ck_assert_int_eq(keys_add_env(k, vars, ENV(none), NULL), 0);
	ck_assert(!keys_current(k, &key));
	ck_assert_uint_eq(keys_limited(k, 5, 77), 77);
	ck_assert(!keys_refused(k));
	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), 1);
	ck_assert_str_eq(current(k).value, "t1");
	ck_assert_str_eq(current(k).name, "ANTHROPIC_AUTH_TOKEN");
	ck_assert_int_eq(current(k).scheme, KEY_BEARER);
	keys_free(k);
	keys_free(NULL);
}
END_TEST

START_TEST(a_value_that_cannot_stand_in_a_header_is_refused_and_not_shown)
{
	static const char *const bad[] = {"sec\rret", "sec\nret", "sec ret", "sec\x7fret", "secr\xc3\xa4t", "sec\tret"};
	struct keys *k = pool();
	struct ak_err err = {0};
	const char *env[] = {NULL, "ANTHROPIC_API_KEY_1=good", NULL};
	char text[200];

	for (size_t i = 0; i < N(bad); i++) {
		(void)snprintf(text, sizeof(text), "ANTHROPIC_API_KEY=ok,%s", bad[i]);
		env[0] = text;
		ck_assert_msg(keys_add_env(k, vars, ENV(env), &err) == -EINVAL, "%s", bad[i]);
		ck_assert_uint_eq(keys_count(k), 0);
		ck_assert_ptr_nonnull(strstr(err.msg, "ANTHROPIC_API_KEY:"));
		ck_assert_ptr_null(strstr(err.msg, "sec"));
		ck_assert_ptr_null(strstr(err.msg, "ret"));
	}
	keys_free(k);
}
END_TEST

START_TEST(lengths_and_numbers_have_a_maximum)
{
	char *text = malloc(KEYS_VALUE_MAX + 100);
	char *env[] = {text, NULL};
	struct keys *k = pool();
	size_t n = (size_t)snprintf(text, 100, "ANTHROPIC_API_KEY=");

	memset(text + n, 'k', KEYS_VALUE_MAX + 1);
	text[n + KEYS_VALUE_MAX + 1] = '\0';
	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), -EINVAL);
	text[n + KEYS_VALUE_MAX] = '\0';
	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), 1);
	keys_free(k);

	k = pool();
	for (unsigned i = 0; i < KEYS_MAX; i++)
		n += (size_t)snprintf(text + n, 20, "key%u,", i);
	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), (int)KEYS_MAX);
	keys_free(k);
	k = pool();
	(void)snprintf(text + n, 20, "more");
	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), -E2BIG);
	ck_assert_uint_eq(keys_count(k), 0);
	keys_free(k);
	free(text);
}
END_TEST

static struct keys *three(void)
{
	const char *env[] = {"ANTHROPIC_API_KEY=a,b,c", NULL};
	struct keys *k = pool();

	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), 3);
	return k;
}

START_TEST(a_limited_key_makes_room_for_the_next_one_in_turn)
{
	struct keys *k = three();

	ck_assert_uint_eq(keys_limited(k, 1000, 500), 0);
	ck_assert_str_eq(current(k).value, "b");
	ck_assert_uint_eq(keys_limited(k, 1000, 300), 0);
	ck_assert_str_eq(current(k).value, "c");
	/* all are limited: the one that is free first, after the rest of its time */
	ck_assert_uint_eq(keys_limited(k, 1100, 900), 200);
	ck_assert_str_eq(current(k).value, "b");
	/* a is free by now */
	ck_assert_uint_eq(keys_limited(k, 1600, 10000), 0);
	ck_assert_str_eq(current(k).value, "a");
	ck_assert_uint_eq(keys_limited(k, 1600, UINT64_MAX), 400);
	ck_assert_str_eq(current(k).value, "c");
	keys_free(k);
}
END_TEST

START_TEST(one_key_waits_for_itself)
{
	const char *env[] = {"ANTHROPIC_API_KEY=a", NULL};
	struct keys *k = pool();

	ck_assert_int_eq(keys_add_env(k, vars, ENV(env), NULL), 1);
	ck_assert_uint_eq(keys_limited(k, 1000, 500), 500);
	ck_assert_str_eq(current(k).value, "a");
	ck_assert_str_eq(current(k).name, "ANTHROPIC_API_KEY");
	ck_assert_uint_eq(keys_limited(k, 1000, 0), 0);
	keys_free(k);
}
END_TEST

START_TEST(a_refused_key_is_never_used_again)
{
	struct keys *k = three();
	struct key key;

	ck_assert(keys_refused(k));
	ck_assert_str_eq(current(k).value, "b");
	ck_assert_uint_eq(keys_limited(k, 10, 500), 0);
	ck_assert_str_eq(current(k).value, "c");
	ck_assert_uint_eq(keys_limited(k, 20, 800), 490);
	ck_assert_str_eq(current(k).value, "b");
	ck_assert(keys_refused(k));
	ck_assert_str_eq(current(k).value, "c");
	ck_assert(!keys_refused(k));
	ck_assert(!keys_current(k, &key));
	ck_assert_uint_eq(keys_count(k), 3);
	keys_free(k);
}
END_TEST

START_TEST(variables_are_wiped_where_they_stand)
{
	char a[] = "ANTHROPIC_API_KEY=secret";
	char b[] = "ANTHROPIC_AUTH_TOKEN_7=secret";
	char c[] = "OTHER_API_KEY=secret";
	char *env[] = {a, b, c, NULL};

	keys_wipe_env(vars, env);
	ck_assert_int_eq(memcmp(a, "ANTHROPIC_API_KEY=\0\0\0\0\0\0", sizeof(a)), 0);
	ck_assert_int_eq(memcmp(b, "ANTHROPIC_AUTH_TOKEN_7=\0\0\0\0\0\0", sizeof(b)), 0);
	ck_assert_str_eq(c, "OTHER_API_KEY=secret");
}
END_TEST

START_TEST(whatever_is_called_a_key_is_wiped)
{
	char a[] = "OTHER_API_KEY=s=t", b[] = "OTHER_API_KEY_12=s", c[] = "OTHER_API_KEYS=s", d[] = "_API_KEY=s", e[] = "X_API_KEY", f[] = "=s", g[] = "X=A_API_KEY=";
	char *env[] = {a, b, c, d, e, f, g, NULL};

	keys_wipe_all(env);
	ck_assert_mem_eq(a, "OTHER_API_KEY=\0\0\0", sizeof(a));
	ck_assert_mem_eq(b, "OTHER_API_KEY_12=\0", sizeof(b));
	ck_assert_str_eq(c, "OTHER_API_KEYS=s");
	ck_assert_str_eq(d, "_API_KEY=s");
	ck_assert_str_eq(e, "X_API_KEY");
	ck_assert_str_eq(f, "=s");
	ck_assert_str_eq(g, "X=A_API_KEY=");
}
END_TEST

static char path[] = "/tmp/ak-test-keys-XXXXXX";

static void write_file(const char *text, size_t len, mode_t mode)
{
	int fd;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	(void)close(fd);
}

START_TEST(a_file_of_keys_is_read_only_if_it_is_closed_to_others)
{
	static const char text[] = "# my keys\nk1\r\n\nk2 , k3\nk1";
	struct ak_err err = {0};
	struct keys *k = pool();
	int fd = mkstemp(path);
	char *big;

	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	write_file(text, sizeof(text) - 1, 0600);
	ck_assert_int_eq(keys_add_file(k, path, KEY_BEARER, &err), 3);
	ck_assert_str_eq(current(k).name, "api_key_file (1 of 3)");
	ck_assert_int_eq(current(k).scheme, KEY_BEARER);
	ck_assert_int_eq(keys_add_file(k, path, KEY_BEARER, &err), -ENODATA);
	are(k, (const char *const[]){"k1", "k2", "k3", NULL});
	keys_free(k);

	k = pool();
	static const mode_t open_modes[] = {0640, 0604, 0620, 0602, 0644, 0777};

	for (size_t i = 0; i < N(open_modes); i++) {
		write_file(text, sizeof(text) - 1, open_modes[i]);
		ck_assert_int_eq(keys_add_file(k, path, KEY_API, &err), -EPERM);
		ck_assert_ptr_nonnull(strstr(err.hint, "chmod 600"));
	}
	write_file("# nothing\n", 10, 0400);
	ck_assert_int_eq(keys_add_file(k, path, KEY_API, &err), -ENODATA);
	write_file("k1\nsec\0ret\n", 11, 0600);
	ck_assert_int_eq(keys_add_file(k, path, KEY_API, &err), -EINVAL);
	ck_assert_ptr_null(strstr(err.msg, "ret"));
	ck_assert_uint_eq(keys_count(k), 0);
	big = malloc(70000);
	memset(big, '\n', 70000);
	write_file(big, 65536, 0600);
	ck_assert_int_eq(keys_add_file(k, path, KEY_API, &err), -ENODATA);
	write_file(big, 65537, 0600);
	ck_assert_int_eq(keys_add_file(k, path, KEY_API, &err), -EFBIG);
	free(big);
	(void)unlink(path);
	ck_assert_int_eq(keys_add_file(k, path, KEY_API, &err), -ENOENT);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(keys_add_file(k, path, KEY_API, &err), -EPERM);
	(void)unlink(path);
	keys_free(k);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("keys");
	TCase *t = tcase_create("keys");

	tcase_add_test(t, keys_come_from_lists_and_numbered_variables);
	tcase_add_test(t, the_first_variable_with_a_key_counts);
	tcase_add_test(t, a_value_that_cannot_stand_in_a_header_is_refused_and_not_shown);
	tcase_add_test(t, lengths_and_numbers_have_a_maximum);
	tcase_add_test(t, a_limited_key_makes_room_for_the_next_one_in_turn);
	tcase_add_test(t, one_key_waits_for_itself);
	tcase_add_test(t, a_refused_key_is_never_used_again);
	tcase_add_test(t, variables_are_wiped_where_they_stand);
	tcase_add_test(t, whatever_is_called_a_key_is_wiped);
	tcase_add_test(t, a_file_of_keys_is_read_only_if_it_is_closed_to_others);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
