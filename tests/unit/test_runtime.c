/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the runtime folder: who may own it, who may take a name, what a crash leaves, whom a client believes. */
#include "executor/runtime.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/runtime_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static char top[] = "/tmp/ak-unit-runtime-XXXXXX";
static char xdg[64], folder[80], path[128];
static struct hostinfo h;
static struct runtime rt = { .dir = -1 };
static struct ak_err e;

static const char *at(const char *below)
{
	(void)snprintf(path, sizeof(path), "%s/%s", folder, below);
	return path;
}

static void setup(void)
{
	static char *env[2];
	static char row[128];

	memcpy(top + strlen(top) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(top));
	(void)snprintf(xdg, sizeof(xdg), "%s/xdg", top);
	(void)snprintf(folder, sizeof(folder), "%s/xdg/ak", top);
	(void)snprintf(row, sizeof(row), "XDG_RUNTIME_DIR=%s", xdg);
	env[0] = row;
	ck_assert_int_eq(mkdir(xdg, 0700), 0);
	ck_assert_int_eq(hostinfo_get(env, &h, NULL), 0);
	e = (struct ak_err){ 0 };
}

static void teardown(void)
{
		pid_t pid;

	runtime_close(&rt);
	hostinfo_release(&h);
	pid = fork();
	if (pid == 0) {
		(void)execl("/bin/rm", "rm", "-rf", top, (char *)NULL);
		_exit(127);
	}
	(void)waitpid(pid, NULL, 0);
}

static struct runtime_facts some_facts(void)
{
	static char ws[] = "/srv/a b%\nc";
	struct runtime_facts f = { .version = "0.1.0", .pid = (uint32_t)getpid(), .created_s = 1764520000, .ttl_ms = 3600000,
				   .pool = 2, .uid = 1879048192, .gid = 4294967294, .workspace = ws };

	return f;
}

static void open_ok(void)
{
	ck_assert_msg(runtime_open(&h, true, &rt, &e) == 0, "%s", e.msg);
}

START_TEST(rules_of_a_name)
{
	static const char *const good[] = { "a", "A.b_c-9", "0", "_x", "a..", "a.d" };
	static const char *const bad[] = { "", ".", "..", ".a", "-a", "a/b", "a b", "a\n", "../x", "\xc3\xa4", "a\\", "a:", "~" };
	char longest[RUNTIME_NAME_MAX + 2];

	for (size_t i = 0; i < LEN(good); i++)
		ck_assert_msg(runtime_check_name(good[i], &e) == 0, "%s", good[i]);
	for (size_t i = 0; i < LEN(bad); i++) {
		ck_assert_msg(runtime_check_name(bad[i], &e) == -EINVAL, "%s", bad[i]);
		ck_assert(e.msg[0] && e.hint[0]);
	}
	memset(longest, 'x', sizeof(longest));
	longest[RUNTIME_NAME_MAX] = '\0';
	ck_assert_int_eq(runtime_check_name(longest, NULL), 0);
	longest[RUNTIME_NAME_MAX] = 'x';
	longest[RUNTIME_NAME_MAX + 1] = '\0';
	ck_assert_int_eq(runtime_check_name(longest, NULL), -EINVAL);
}
END_TEST

START_TEST(folder_is_made_closed)
{
	struct stat st;
	mode_t old = umask(0);

	ck_assert_int_eq(runtime_open(&h, false, &rt, &e), -ENOENT);
	ck_assert_int_eq(rt.dir, -1);
	open_ok();
	(void)umask(old);
	ck_assert_int_eq(stat(folder, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0700);
}
END_TEST

START_TEST(folder_open_to_others_is_refused)
{
	static const mode_t modes[] = { 0755, 0710, 0701, 0720, 0777 };

	ck_assert_int_eq(mkdir(folder, 0700), 0);
	for (size_t i = 0; i < LEN(modes); i++) {
		ck_assert_int_eq(chmod(folder, modes[i]), 0);
		ck_assert_int_eq(runtime_open(&h, true, &rt, &e), -EACCES);
		ck_assert_ptr_nonnull(strstr(e.msg, folder));
		ck_assert_ptr_nonnull(strstr(e.hint, "chmod 700"));
		ck_assert_int_eq(rt.dir, -1);
	}
	ck_assert_int_eq(chmod(folder, 0700), 0);
	open_ok();
}
END_TEST

START_TEST(folder_behind_a_link_is_refused)
{
	char elsewhere[64];

	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", top);
	ck_assert_int_eq(mkdir(elsewhere, 0700), 0);
	ck_assert_int_eq(symlink(elsewhere, folder), 0);
	ck_assert_int_eq(runtime_open(&h, true, &rt, &e), -ELOOP);
	ck_assert_int_eq(unlink(folder), 0);
	/* a link above it, put there after the look at the host */
	ck_assert_int_eq(rmdir(xdg), 0);
	ck_assert_int_eq(symlink(elsewhere, xdg), 0);
	ck_assert_int_eq(runtime_open(&h, true, &rt, &e), -ELOOP);
	ck_assert_int_eq(rt.dir, -1);
}
END_TEST

START_TEST(folder_that_is_none_is_refused)
{
	int fd = open(folder, O_CREAT | O_WRONLY, 0700);

	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	ck_assert_int_lt(runtime_open(&h, true, &rt, &e), 0);
	ck_assert_int_eq(rt.dir, -1);
}
END_TEST

START_TEST(missing_xdg_folder_is_not_made)
{
	ck_assert_int_eq(rmdir(xdg), 0);
	ck_assert_int_eq(runtime_open(&h, true, &rt, &e), -ENOENT);
	ck_assert_ptr_nonnull(strstr(e.hint, "XDG_RUNTIME_DIR"));
	ck_assert_int_ne(access(xdg, F_OK), 0);
}
END_TEST

START_TEST(somebody_elses_folder_is_refused)
{
	if (geteuid() != 0) {
		(void)fprintf(stderr, "not tested here: a folder of another owner (needs root)\n");
		return;
	}
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	ck_assert_int_eq(chown(folder, 12345, 12345), 0);
	ck_assert_int_eq(runtime_open(&h, true, &rt, &e), -EPERM);
	ck_assert_ptr_nonnull(strstr(e.msg, "12345"));
	ck_assert_int_eq(rt.dir, -1);
}
END_TEST

START_TEST(a_name_is_taken_once)
{
	struct runtime_slot a = RUNTIME_SLOT_NONE, b = RUNTIME_SLOT_NONE;

	open_ok();
	ck_assert_int_eq(runtime_claim(&rt, "../x", &a, &e), -EINVAL);
	ck_assert_int_eq(runtime_claim(&rt, "box", &a, &e), 0);
	ck_assert_int_eq(runtime_claim(&rt, "box", &b, &e), -EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "box"));
	ck_assert_int_eq(b.dir, -1);
	ck_assert_int_eq(runtime_claim(&rt, "box2", &b, &e), 0);
	runtime_drop(&b);
	runtime_drop(&a);
	runtime_drop(&a);
	ck_assert_int_ne(access(at("box.d"), F_OK), 0);
	ck_assert_int_eq(runtime_claim(&rt, "box", &a, &e), 0);
	runtime_drop(&a);
}
END_TEST

/* An executor that cannot remove its folder itself: it has no descriptor of it any more. It ends in order, or it does not */
static void guarded(bool in_order)
{
	pid_t pid = fork();

	if (pid == 0) {
		struct runtime_slot s = RUNTIME_SLOT_NONE;
		struct runtime_facts f = some_facts();

		if (runtime_claim(&rt, "box", &s, NULL) < 0 || runtime_listen(&s, &f, NULL) < 0 || runtime_guard(&s, NULL) < 0)
			_exit(1);
		ak_fd_close(&s.dir);
		if (in_order)
			runtime_drop(&s);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &(int){ 0 }, 0), pid);
}

START_TEST(who_is_left_removes_what_the_executor_cannot)
{
	struct runtime_slot s = RUNTIME_SLOT_NONE;

	open_ok();
	guarded(true);
	for (int i = 0; i < 3000 && access(at("box.d"), F_OK) == 0; i++)
		(void)usleep(10000);
	ck_assert_int_ne(access(at("box.d"), F_OK), 0);
	/* a crash is for the next command to tell */
	guarded(false);
	(void)usleep(200000);
	ck_assert_int_eq(access(at("box.d/facts"), F_OK), 0);
	ck_assert_int_eq(runtime_claim(&rt, "box", &s, &e), 0);
	runtime_drop(&s);
}
END_TEST

/* A process that serves @name until it is killed. Return: its pid, once it listens. */
static pid_t server(const char *name)
{
	int p[2];
	char c = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		struct runtime_slot s = RUNTIME_SLOT_NONE;
		struct runtime_facts f = some_facts();

		if (runtime_claim(&rt, name, &s, NULL) == 0 && runtime_listen(&s, &f, NULL) == 0)
			(void)!write(p[1], "x", 1);
		(void)close(p[1]);
		for (;;)
			(void)pause();
	}
	(void)close(p[1]);
	ck_assert_int_eq(read(p[0], &c, 1), 1);
	(void)close(p[0]);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

START_TEST(a_client_finds_the_executor)
{
	struct runtime_peer p = RUNTIME_PEER_NONE;
	struct runtime_facts f = { 0 };
	struct runtime_names names;
	pid_t pid;

	open_ok();
	pid = server("box");
	ck_assert_msg(runtime_connect(&rt, "box", &p, &e) == 0, "%s", e.msg);
	ck_assert_int_ge(p.fd, 0);
	ck_assert_int_eq(p.pid, pid);
	ck_assert_int_eq(runtime_read_facts(&rt, "box", &f, &e), 0);
	ck_assert_uint_eq(f.pid, (uint32_t)pid);
	ck_assert_str_eq(f.workspace, "/srv/a b%\nc");
	runtime_facts_release(&f);
	ck_assert_int_eq(runtime_list(&rt, &names, &e), 0);
	ck_assert_uint_eq(names.n, 1);
	ck_assert_str_eq(names.name[0], "box");
	ck_assert_int_eq(runtime_wait_gone(&rt, "box", 20), -ETIMEDOUT);
	runtime_peer_close(&p);
	runtime_peer_close(&p);
	end(pid);
	ck_assert_int_eq(runtime_wait_gone(&rt, "box", 2000), 0);
	ck_assert_int_ne(access(at("box.d"), F_OK), 0);
}
END_TEST

START_TEST(what_a_crash_leaves_is_removed)
{
	struct runtime_peer p = RUNTIME_PEER_NONE;
	struct runtime_slot s = RUNTIME_SLOT_NONE;
	struct runtime_facts f = some_facts();
	struct runtime_names names;

	open_ok();
	end(server("box"));
	ck_assert_int_eq(access(at("box.d/sock"), F_OK), 0);
	ck_assert_int_eq(runtime_connect(&rt, "box", &p, &e), -EOWNERDEAD);
	ck_assert_int_eq(p.fd, -1);
	ck_assert_int_ne(access(at("box.d"), F_OK), 0);
	ck_assert_int_eq(runtime_connect(&rt, "box", &p, &e), -ENOENT);

	end(server("box"));
	ck_assert_int_eq(runtime_list(&rt, &names, &e), 0);
	ck_assert_uint_eq(names.n, 0);
	ck_assert_int_ne(access(at("box.d"), F_OK), 0);

	end(server("box"));
	ck_assert_msg(runtime_claim(&rt, "box", &s, &e) == 0, "%s", e.msg);
	ck_assert_msg(runtime_listen(&s, &f, &e) == 0, "%s", e.msg);
	runtime_drop(&s);
	ck_assert_int_ne(access(at("box.d"), F_OK), 0);
}
END_TEST

START_TEST(one_who_starts_or_ends_is_told_so)
{
	struct runtime_peer p = RUNTIME_PEER_NONE;
	struct runtime_slot s = RUNTIME_SLOT_NONE;

	open_ok();
	ck_assert_int_eq(runtime_claim(&rt, "box", &s, &e), 0);
	ck_assert_int_eq(runtime_connect(&rt, "box", &p, &e), -EAGAIN);
	runtime_drop(&s);
}
END_TEST

START_TEST(folders_of_a_name_are_checked_too)
{
	struct runtime_peer p = RUNTIME_PEER_NONE;
	struct runtime_slot s = RUNTIME_SLOT_NONE;
	struct runtime_names names;

	open_ok();
	ck_assert_int_eq(mkdir(at("box.d"), 0700), 0);
	ck_assert_int_eq(chmod(at("box.d"), 0755), 0);
	ck_assert_int_eq(runtime_claim(&rt, "box", &s, &e), -EACCES);
	ck_assert_int_eq(runtime_connect(&rt, "box", &p, &e), -EACCES);
	ck_assert_int_eq(symlink("/tmp", at("link.d")), 0);
	ck_assert_int_eq(runtime_claim(&rt, "link", &s, &e), -ELOOP);
	ck_assert_int_eq(runtime_connect(&rt, "link", &p, &e), -ELOOP);
	ck_assert_int_eq(runtime_list(&rt, &names, &e), 0);
	ck_assert_uint_eq(names.n, 0);
	ck_assert_int_eq(access(at("link.d"), F_OK), 0);
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chmod(at("box.d"), 0700), 0);
	ck_assert_int_eq(chown(at("box.d"), 12345, 12345), 0);
	ck_assert_int_eq(runtime_claim(&rt, "box", &s, &e), -EPERM);
	ck_assert_int_eq(runtime_connect(&rt, "box", &p, &e), -EPERM);
}
END_TEST

START_TEST(lock_that_is_a_link_is_refused)
{
	struct runtime_slot s = RUNTIME_SLOT_NONE;
	char target[64];

	open_ok();
	(void)snprintf(target, sizeof(target), "%s/target", top);
	ck_assert_int_eq(mkdir(at("box.d"), 0700), 0);
	ck_assert_int_eq(symlink(target, at("box.d/alive")), 0);
	ck_assert_int_lt(runtime_claim(&rt, "box", &s, &e), 0);
	ck_assert_int_ne(access(target, F_OK), 0);
	ck_assert_int_eq(unlink(at("box.d/alive")), 0);
	ck_assert_int_eq(mkfifo(at("box.d/alive"), 0600), 0);
	ck_assert_int_lt(runtime_claim(&rt, "box", &s, &e), 0);
	ck_assert_int_eq(s.dir, -1);
}
END_TEST

START_TEST(somebody_elses_socket_is_refused)
{
	struct runtime_peer p = RUNTIME_PEER_NONE;
	struct runtime_slot s = RUNTIME_SLOT_NONE;
	char c;
	int in[2];
	pid_t pid;

	if (geteuid() != 0) {
		(void)fprintf(stderr, "not tested here: a socket of another owner (needs root)\n");
		return;
	}
	open_ok();
	ck_assert_int_eq(runtime_claim(&rt, "box", &s, &e), 0);
	ck_assert_int_eq(pipe(in), 0);
	pid = fork();
	if (pid == 0) {
		struct sockaddr_un a;
		int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

		runtime_address(s.dir, &a);
		if (bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && setuid(12345) == 0 && listen(fd, 1) == 0)
			(void)!write(in[1], "x", 1);
		(void)close(in[1]);
		for (;;)
			(void)pause();
	}
	(void)close(in[1]);
	ck_assert_int_eq(read(in[0], &c, 1), 1);
	ck_assert_int_eq(runtime_connect(&rt, "box", &p, &e), -EPERM);
	ck_assert_ptr_nonnull(strstr(e.msg, "12345"));
	ck_assert_int_eq(p.fd, -1);
	end(pid);
	runtime_drop(&s);
}
END_TEST

START_TEST(list_is_sorted_and_takes_only_sandboxes)
{
	static const char *const live[] = { "b", "a.x", "c" };
	struct runtime_names names;
	pid_t pid[LEN(live)];

	open_ok();
	for (size_t i = 0; i < LEN(live); i++)
		pid[i] = server(live[i]);
	ck_assert_int_eq(mkdir(at("other"), 0700), 0);
	ck_assert_int_eq(mkdir(at("-x.d"), 0700), 0);
	end(pid[2]);
	ck_assert_int_eq(runtime_list(&rt, &names, &e), 0);
	ck_assert_uint_eq(names.n, 2);
	ck_assert_str_eq(names.name[0], "a.x");
	ck_assert_str_eq(names.name[1], "b");
	ck_assert_int_eq(access(at("other"), F_OK), 0);
	ck_assert_int_eq(access(at("-x.d"), F_OK), 0);
	end(pid[0]);
	end(pid[1]);
}
END_TEST

START_TEST(sixteen_at_once_and_one_wins)
{
	pid_t pid[16];
	int p[2], won = 0;
	char c;

	open_ok();
	ck_assert_int_eq(pipe(p), 0);
	for (size_t i = 0; i < LEN(pid); i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			struct runtime_slot s = RUNTIME_SLOT_NONE;
			int r = runtime_claim(&rt, "box", &s, NULL);

			(void)!write(p[1], r == 0 ? "1" : "0", 1);
			(void)close(p[1]);
			for (;;)
				(void)pause();
		}
	}
	for (size_t i = 0; i < LEN(pid); i++) {
		ck_assert_int_eq(read(p[0], &c, 1), 1);
		won += c == '1';
	}
	ck_assert_int_eq(won, 1);
	for (size_t i = 0; i < LEN(pid); i++)
		end(pid[i]);
}
END_TEST

static int read_text(const char *text, struct runtime_facts *f)
{
	return runtime_facts_read(text, strlen(text), f, &e);
}

START_TEST(facts_read_what_was_written)
{
	struct runtime_facts f = some_facts(), g = { 0 };
	struct ak_buf b = { 0 };

	runtime_facts_write(&f, &b);
	ck_assert_int_eq(runtime_facts_read(b.data, b.len, &g, &e), 0);
	ck_assert_str_eq(g.version, f.version);
	ck_assert_str_eq(g.workspace, f.workspace);
	ck_assert(g.pid == f.pid && g.created_s == f.created_s && g.ttl_ms == f.ttl_ms && g.pool == f.pool);
	ck_assert(g.uid == f.uid && g.gid == f.gid);
	runtime_facts_release(&g);
	for (size_t n = 0; n < b.len; n++)
		ck_assert_msg(runtime_facts_read(b.data, n, &g, &e) == -EBADMSG, "%zu bytes", n);
	ak_buf_release(&b);
}
END_TEST

#define HEAD "version 1\npid 2\ncreated 3\nttl_ms 4\npool 5\nuid 6\ngid 7\n"

START_TEST(facts_that_were_not_written_so_are_refused)
{
	static const char *const bad[] = {
		"", "\n", HEAD, HEAD "workspace \n", HEAD "workspace a\n", HEAD "workspace /%\n", HEAD "workspace /%4\n",
		HEAD "workspace /%41\n", HEAD "workspace /%00\n", HEAD "workspace /%0a\n", HEAD "workspace /a b\n",
		HEAD "pid 2\nworkspace /\n", HEAD "workspace /\nworkspace /\n", "version \npid 2\ncreated 3\nttl_ms 4\npool 5\nuid 6\ngid 7\nworkspace /\n",
		"version 1\npid -2\ncreated 3\nttl_ms 4\npool 5\nuid 6\ngid 7\nworkspace /\n",
		"version 1\npid 4294967296\ncreated 3\nttl_ms 4\npool 5\nuid 6\ngid 7\nworkspace /\n", HEAD "workspace /\n\n", HEAD "workspace /\nx\n",
	};
	struct runtime_facts f = { .pid = 77 };

	for (size_t i = 0; i < LEN(bad); i++) {
		ck_assert_msg(read_text(bad[i], &f) == -EBADMSG, "%zu", i);
		ck_assert_uint_eq(f.pid, 77);
	}
	ck_assert_int_eq(read_text(HEAD "later x\nworkspace /%0A%25\n", &f), 0);
	ck_assert_str_eq(f.workspace, "/\n%");
	runtime_facts_release(&f);
	runtime_facts_release(&f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runtime");
	TCase *t = tcase_create("runtime");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, rules_of_a_name);
	tcase_add_test(t, folder_is_made_closed);
	tcase_add_test(t, folder_open_to_others_is_refused);
	tcase_add_test(t, folder_behind_a_link_is_refused);
	tcase_add_test(t, folder_that_is_none_is_refused);
	tcase_add_test(t, missing_xdg_folder_is_not_made);
	tcase_add_test(t, somebody_elses_folder_is_refused);
	tcase_add_test(t, a_name_is_taken_once);
	tcase_add_test(t, a_client_finds_the_executor);
	tcase_add_test(t, what_a_crash_leaves_is_removed);
	tcase_add_test(t, one_who_starts_or_ends_is_told_so);
	tcase_add_test(t, folders_of_a_name_are_checked_too);
	tcase_add_test(t, lock_that_is_a_link_is_refused);
	tcase_add_test(t, who_is_left_removes_what_the_executor_cannot);
	tcase_add_test(t, somebody_elses_socket_is_refused);
	tcase_add_test(t, list_is_sorted_and_takes_only_sandboxes);
	tcase_add_test(t, sixteen_at_once_and_one_wins);
	tcase_add_test(t, facts_read_what_was_written);
	tcase_add_test(t, facts_that_were_not_written_so_are_refused);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
