/* SPDX-License-Identifier: Apache-2.0 */
/* Where docker may be found, and what it learns of the caller's environment. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/docker/docker_find.h"
#include "executor/hostinfo.h"
#include "executor/shared/ak_err.h"

static char top[PATH_MAX];	/* a folder that only we can write */
static struct ak_err err;
static char *found;

/* below the build folder's place: /tmp itself is everybody's, and so nothing in it is trusted */
static void setup(void)
{
	char here[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here) - 64));
	(void)snprintf(top, sizeof(top), "%.3900s/build/find-XXXXXX", here);
	ck_assert_ptr_nonnull(mkdtemp(top));
	err = (struct ak_err){0};
	found = NULL;
}

static void put(const char *dir, mode_t dir_mode, mode_t mode)
{
	char path[PATH_MAX + 32];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", top, dir);
	ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
	(void)snprintf(path, sizeof(path), "%s/%s/docker", top, dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	(void)close(fd);
	(void)snprintf(path, sizeof(path), "%s/%s", top, dir);
	ck_assert_int_eq(chmod(path, dir_mode), 0);
}

static void clean(const char *dir)
{
	char path[PATH_MAX + 32];

	(void)snprintf(path, sizeof(path), "%s/%s/docker", top, dir);
	(void)unlink(path);
	(void)snprintf(path, sizeof(path), "%s/%s", top, dir);
	(void)rmdir(path);
}

static void teardown(void)
{
	static const char *const dirs[] = {"good", "open", "file", "ws", "link", "dead"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		clean(dirs[i]);
	(void)rmdir(top);
	free(found);
}

/* PATH of folders below @top; "/" at the start: as it is */
static int look(const char *a, const char *b, const char *workspace)
{
	char path[3 * PATH_MAX], ws[PATH_MAX + 16];

	(void)snprintf(path, sizeof(path), "%s%s%s:%s%s%s", top, "/", a, top, "/", b);
	(void)snprintf(ws, sizeof(ws), "%s/%s", top, workspace);
	free(found);
	found = NULL;
	return docker_find(path, ws, &found, &err);
}

START_TEST(the_first_that_can_be_trusted_is_taken)
{
	char want[PATH_MAX + 16];

	/* the tree may lie where others can write: then nothing in it is trusted, and there is nothing to test */
	put("good", 0755, 0755);
	if (look("none", "good", "ws") < 0) {
		ck_assert_int_eq(err.code, EPERM);
		return;
	}
	(void)snprintf(want, sizeof(want), "%s/good/docker", top);
	ck_assert_str_eq(found, want);
	put("open", 0777, 0755);
	ck_assert_int_eq(look("open", "good", "ws"), 0);
	ck_assert_str_eq(found, want);
	put("file", 0755, 0775 | S_IWOTH);
	ck_assert_int_eq(look("file", "good", "ws"), 0);
	ck_assert_str_eq(found, want);
	put("dead", 0755, 0644);	/* not executable */
	ck_assert_int_eq(look("dead", "good", "ws"), 0);
	ck_assert_str_eq(found, want);
}
END_TEST

START_TEST(what_others_can_write_is_refused_by_name)
{
	put("open", 0777, 0755);
	ck_assert_int_eq(look("open", "none", "ws"), -EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, "/open/docker is not started: others"));
	ck_assert_str_ne(err.hint, "");
}
END_TEST

START_TEST(nothing_of_the_workspace_is_started)
{
	char path[PATH_MAX + 16], target[PATH_MAX + 32];

	put("ws", 0755, 0755);
	ck_assert_int_eq(look("ws", "none", "ws"), -EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, "lies in the workspace"));
	/* nor by a link from elsewhere */
	(void)snprintf(path, sizeof(path), "%s/link", top);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	(void)snprintf(path, sizeof(path), "%s/link/docker", top);
	(void)snprintf(target, sizeof(target), "%s/ws/docker", top);
	ck_assert_int_eq(symlink(target, path), 0);
	ck_assert_int_eq(look("link", "none", "ws"), -EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, "lies in the workspace"));
}
END_TEST

START_TEST(relative_and_empty_folders_do_not_count)
{
	put("good", 0755, 0755);
	ck_assert_int_eq(chdir(top), 0);
	ck_assert_int_eq(docker_find("good:./good::.", "/nowhere", &found, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "not found"));
	ck_assert_int_eq(docker_find("", "/nowhere", &found, &err), -ENOENT);
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

static char **env_of(char *const vars[], const char *workspace, int want)
{
	struct hostinfo h = {.environ = vars};
	char **env = NULL;

	err = (struct ak_err){0};
	ck_assert_int_eq(docker_environment(&h, workspace, &env, &err), want);
	return env;
}

static bool has(char **env, const char *row)
{
	for (size_t i = 0; env[i]; i++)
		if (strcmp(env[i], row) == 0)
			return true;
	return false;
}

START_TEST(only_dockers_own_variables_are_passed)
{
	char *vars[] = {(char *)"PATH=/evil", (char *)"LD_PRELOAD=/x.so", (char *)"BASH_ENV=/x", (char *)"OPENAI_API_KEY=k",
			(char *)"HOME=/home/u", (char *)"DOCKER_HOST=unix:///s", (char *)"GIT_DIR=x", (char *)"HTTP_PROXY=x", NULL};
	char **env = env_of(vars, "/w", 0);
	size_t n = 0;

	ck_assert(has(env, "HOME=/home/u") && has(env, "DOCKER_HOST=unix:///s"));
	ck_assert(has(env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
	while (env[n])
		n++;
	ck_assert_uint_eq(n, 4);	/* and LC_ALL */
	docker_environment_free(env);
}
END_TEST

START_TEST(another_machine_is_refused)
{
	static const char *const hosts[] = {"DOCKER_HOST=tcp://10.0.0.1:2375", "DOCKER_HOST=ssh://x", "CONTAINER_HOST=ssh://x"};

	for (size_t i = 0; i < 3; i++) {
		char *vars[] = {(char *)hosts[i], NULL};

		(void)env_of(vars, "/w", -ENOTSUP);
		ck_assert_ptr_nonnull(strstr(err.msg, "another machine"));
	}
}
END_TEST

START_TEST(settings_in_the_workspace_are_refused)
{
	char config[PATH_MAX + 32];
	char *vars[] = {config, NULL};

	(void)snprintf(config, sizeof(config), "DOCKER_CONFIG=%s", top);
	(void)env_of(vars, top, -EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, "DOCKER_CONFIG"));
	docker_environment_free(env_of(vars, "/w", 0));
	vars[0] = (char *)"DOCKER_CONFIG=relative";
	(void)env_of(vars, "/w", -EPERM);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("docker_find");
	TCase *t = tcase_create("docker_find");
	SRunner *sr;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_first_that_can_be_trusted_is_taken);
	tcase_add_test(t, what_others_can_write_is_refused_by_name);
	tcase_add_test(t, nothing_of_the_workspace_is_started);
	tcase_add_test(t, relative_and_empty_folders_do_not_count);
	tcase_add_test(t, only_dockers_own_variables_are_passed);
	tcase_add_test(t, another_machine_is_refused);
	tcase_add_test(t, settings_in_the_workspace_are_refused);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
