/* SPDX-License-Identifier: Apache-2.0 */
/* Sandboxes that stay and that another backend holds: how they are planned, and what a container is shown. */
#include "executor/held.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "executor/docker/docker_files.h"
#include "executor/opts.h"
#include "executor/prepare.h"
#include "executor/shared/ak_err.h"

static char dir[] = "/tmp/ak-test-held-XXXXXX";
static struct ak_err err;
static char *const env[] = { (char *)"PATH=/bin", (char *)"HOME=/", (char *)"MY_TOKEN=x", (char *)"KEPT=1", NULL };

static int open_local(struct exec_opts *o, struct prepared *p, struct held **h)
{
	o->backend = BACKEND_LOCAL;
	o->identity = geteuid() == 0 ? IDENTITY_ROOT : IDENTITY_AUTO;
	err = (struct ak_err){ 0 };
	return held_open(o, env, p, h, &err);
}

START_TEST(a_local_one_is_a_folder_and_an_environment)
{
	struct exec_opts o = { .workspace = dir, .workdir = (char *)"sub", .lowered = (char *)"said by a file" };
	struct prepared p = PREPARED_NONE;
	struct held *h = NULL;
	uint32_t uid, gid;

	ck_assert_int_eq(open_local(&o, &p, &h), 0);
	ck_assert_str_eq(p.plan.workspace, dir);
	ck_assert_str_eq(held_workspace(h), dir);
	ck_assert_int_eq(strncmp(p.plan.cwd, dir, strlen(dir)), 0);
	ck_assert_str_eq(p.plan.cwd + strlen(dir), "/sub");
	ck_assert_int_eq(p.plan.net, NET_HOST);
	ck_assert_uint_eq(p.plan.envc, 3);	/* without the secret */
	held_user(h, &uid, &gid);
	ck_assert_uint_eq(uid, geteuid());
	ck_assert_ptr_nonnull(p.plan.held);
	ck_assert_uint_eq(p.plan.held->nwarnings, 3);
	ck_assert_ptr_nonnull(strstr(p.plan.held->warning[0], "no isolation"));
	ck_assert_str_eq(p.plan.held->warning[2], "said by a file");
	prepared_release(&p);
	held_free(h);
}
END_TEST

START_TEST(what_cannot_be_had_is_refused_and_leaves_nothing)
{
	struct exec_opts o = { .workspace = (char *)"/nonexistent" };
	struct prepared p = PREPARED_NONE;
	struct held *h = NULL;

	ck_assert_int_eq(open_local(&o, &p, &h), -ENOENT);
	ck_assert_ptr_null(h);
	prepared_release(&p);
	o = (struct exec_opts){ .workspace = dir, .backend = BACKEND_LOCAL, .identity = geteuid() == 0 ? IDENTITY_AUTO : IDENTITY_ROOT };
	ck_assert_int_eq(held_open(&o, env, &p, &h, &err), -EPERM);
	ck_assert_ptr_null(h);
	prepared_release(&p);
	o = (struct exec_opts){ .workspace = dir, .backend = BACKEND_DOCKER, .image = (char *)"x" };
	p = (struct prepared)PREPARED_NONE;
	ck_assert_int_lt(held_open(&o, (char *const[]){ (char *)"PATH=/nonexistent", NULL }, &p, &h, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, "docker"));
	prepared_release(&p);
	held_free(NULL);
}
END_TEST

START_TEST(warnings_are_said_once)
{
	static struct backend_facts f;

	backend_warn(&f, "a %d", 1);
	backend_warn(&f, "a %d", 2);
	backend_warn(&f, "a %d", 1);
	ck_assert_uint_eq(f.nwarnings, 2);
	for (int i = 0; i < 100; i++)
		backend_warn(&f, "b %d", i);
	ck_assert_uint_eq(f.nwarnings, BACKEND_WARNINGS_MAX);
}
END_TEST

/* a state folder with a long name: its socket's path does not fit into an address */
START_TEST(a_container_is_shown_init_and_a_socket)
{
	struct docker_owner self;
	struct docker_files f;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char state[300], path[PATH_MAX + 8], was[PATH_MAX];
	struct stat st;
	int fd, client;

	(void)snprintf(state, sizeof(state), "%s/%0*d", dir, 150, 0);
	ck_assert_int_eq(docker_owner_self(&self, &err), 0);
	ck_assert_int_eq(docker_files_make(state, &self, NULL, 0, &f, &err), 0);
	(void)umask(077);
	fd = docker_files_box(&self, "bytes", 5, &f, &err);
	ck_assert_msg(fd >= 0, "%s", err.msg);
	(void)snprintf(path, sizeof(path), "%s/init", f.box);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0555);
	ck_assert_int_eq(st.st_size, 5);
	ck_assert_int_eq(stat(f.box, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	(void)snprintf(path, sizeof(path), "%s/ctl", f.box);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0666);
	ck_assert_ptr_nonnull(getcwd(was, sizeof(was)));
	ck_assert_int_eq(chdir(f.box), 0);
	memcpy(a.sun_path, "ctl", 4);
	client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(client, (const struct sockaddr *)&a, sizeof(a)), 0);
	docker_files_taken(&f);
	ck_assert_int_eq(connect(client, (const struct sockaddr *)&a, sizeof(a)) < 0 && stat(path, &st) < 0, 1);
	ck_assert_int_eq(chdir(was), 0);
	close(client);
	close(fd);
	ck_assert_int_lt(docker_files_box(&self, "x", 1, &f, &err), 0);	/* one for each process */
	(void)snprintf(path, sizeof(path), "%s", f.box);
	docker_files_remove(&f);
	ck_assert_int_lt(stat(path, &st), 0);
	(void)snprintf(path, sizeof(path), "%s/docker", state);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rmdir(state), 0);
}
END_TEST

START_TEST(what_ended_runs_left_is_removed)
{
	struct docker_owner self, dead;
	struct docker_files f, mine;
	char state[300];
	struct stat st;
	int fd;

	(void)snprintf(state, sizeof(state), "%s/s", dir);
	ck_assert_int_eq(docker_owner_self(&self, &err), 0);
	dead = self;
	dead.start++;	/* another process had this number */
	ck_assert_int_eq(docker_files_make(state, &dead, NULL, 0, &f, &err), 0);
	fd = docker_files_box(&dead, "x", 1, &f, &err);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(stat(f.box, &st), 0);
	ck_assert_int_eq(docker_files_make(state, &self, NULL, 0, &mine, &err), 0);
	ck_assert_int_lt(stat(f.box, &st), 0);
	docker_files_remove(&mine);
	ck_assert_int_eq(rmdir(f.dir), 0);
	ck_assert_int_eq(rmdir(state), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("held");
	TCase *t = tcase_create("held");
	SRunner *sr = srunner_create(s);
	int failed;

	if (!mkdtemp(dir))
		return 1;
	suite_add_tcase(s, t);
	tcase_add_test(t, a_local_one_is_a_folder_and_an_environment);
	tcase_add_test(t, what_cannot_be_had_is_refused_and_leaves_nothing);
	tcase_add_test(t, warnings_are_said_once);
	tcase_add_test(t, a_container_is_shown_init_and_a_socket);
	tcase_add_test(t, what_ended_runs_left_is_removed);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	(void)rmdir(dir);
	return failed ? 1 : 0;
}
