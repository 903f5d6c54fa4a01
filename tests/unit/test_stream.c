/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the caller's descriptors are passed, and what the command gets in place of the others. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/stream.h"

static struct exec_opts o;
static struct streams st;
static struct ak_err err;

/* 0, 1 and 2 are /dev/null in each test before it begins */
static void setup(void)
{
	o = (struct exec_opts){ .max_output_bytes = UINT64_MAX };
	err = (struct ak_err){ 0 };
	for (int i = 0; i < 3; i++) {
		int fd = open("/dev/null", O_RDWR);

		dup2(fd, i);
		if (fd > 2)
			close(fd);
	}
}

static void place(int fd, int as)
{
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, as), as);
	close(fd);
}

static int temp_file(int flags)
{
	char name[] = "/tmp/ak-test-stream-XXXXXX";
	int fd = mkstemp(name), again;

	ck_assert_int_ge(fd, 0);
	again = open(name, flags);
	close(fd);
	unlink(name);
	return again;
}

static int fifo(int flags)
{
	char dir[] = "/tmp/ak-test-stream-XXXXXX", path[64];
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/f", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR);
	place(open(path, flags), 50);
	close(fd);
	unlink(path);
	rmdir(dir);
	return 50;
}

static int tty_slave(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);	/* stays open */

	ck_assert_int_eq(unlockpt(master), 0);
	return open(ptsname(master), O_RDWR | O_NOCTTY);
}

static void open_ok(unsigned closed)
{
	ck_assert_msg(streams_open(&o, closed, &st, &err) == 0, "%s", err.msg);
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	ck_assert_int_eq(fstat(a, &x), 0);
	ck_assert_int_eq(fstat(b, &y), 0);
	return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_null(int fd)
{
	struct stat s;

	return fstat(fd, &s) == 0 && S_ISCHR(s.st_mode) && s.st_rdev == 0x103;
}

static size_t open_fds(void)
{
	size_t n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) >= 0;
	return n;
}

START_TEST(one_way_pipes_are_passed)
{
	int in[2], out[2];

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	dup2(in[0], 0);
	dup2(out[1], 1);
	dup2(out[1], 2);
	open_ok(0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(st.s[i].mode, STREAM_PASS);
		ck_assert_int_eq(st.s[i].inner, -1);
		ck_assert(same_file(st.s[i].child, i));
		ck_assert_int_gt(st.s[i].child, 2);
		ck_assert_int_eq(fcntl(st.s[i].child, F_GETFD), FD_CLOEXEC);
	}
	streams_release(&st);
	ck_assert_int_ge(fcntl(1, F_GETFD), 0);
}
END_TEST

START_TEST(dev_null_is_passed)
{
	open_ok(0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(st.s[i].mode, STREAM_PASS);
		ck_assert(is_null(st.s[i].child));
	}
	streams_release(&st);
}
END_TEST

static int make_kind(int kind, bool in)
{
	int s[2];

	switch (kind) {
	case 0:
		return temp_file(in ? O_RDONLY : O_WRONLY);
	case 1:
		return temp_file(O_RDWR);
	case 2:
		return fifo(in ? O_RDONLY | O_NONBLOCK : O_WRONLY);
	case 3:
		return fifo(O_RDWR);
	case 4:
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
		return s[0];
	case 5:
		return open("/dev/zero", O_RDWR);
	case 6:	/* an anonymous pipe opened again for both directions */
		ck_assert_int_eq(pipe(s), 0);
		place(s[0], 100);
		return open("/proc/self/fd/100", O_RDWR);
	default:
		return in ? open("/dev/full", O_RDONLY) : tty_slave();
	}
}

START_TEST(everything_else_goes_through_a_pipe)
{
	for (int i = 0; i < 3; i++) {
		struct stat s;

		setup();
		place(make_kind(_i, i == 0), i);
		open_ok(0);
		ck_assert_int_eq(st.s[i].mode, STREAM_RELAY);
		ck_assert(!same_file(st.s[i].child, i));
		ck_assert_int_eq(fstat(st.s[i].child, &s), 0);
		ck_assert(S_ISFIFO(s.st_mode));
		ck_assert(same_file(st.s[i].child, st.s[i].inner));
		ck_assert_int_eq(fcntl(st.s[i].child, F_GETFL) & O_ACCMODE, i == 0 ? O_RDONLY : O_WRONLY);
		ck_assert_int_eq(fcntl(st.s[i].child, F_GETFL) & O_NONBLOCK, 0);
		ck_assert_int_ne(fcntl(st.s[i].inner, F_GETFL) & O_NONBLOCK, 0);
		ck_assert_int_eq(fcntl(st.s[i].inner, F_GETFD), FD_CLOEXEC);
		ck_assert_int_eq(fcntl(i, F_GETFL) & O_NONBLOCK, i == 0 && _i == 2 ? O_NONBLOCK : 0);
		streams_release(&st);
	}
}
END_TEST

START_TEST(json_captures_both_outputs)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	place(p[1], 1);
	o.json = true;
	open_ok(1u << 2);
	ck_assert_int_eq(st.s[0].mode, STREAM_PASS);
	ck_assert_int_eq(st.s[1].mode, STREAM_CAPTURE);
	ck_assert_int_eq(st.s[2].mode, STREAM_CAPTURE);
	ck_assert(!st.s[2].merged);
	ck_assert_int_eq(st.s[2].outer, -1);
	streams_release(&st);
}
END_TEST

START_TEST(maximum_relays_what_would_be_passed)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	place(p[1], 1);
	o.max_output_bytes = 10;
	open_ok(0);
	ck_assert_int_eq(st.s[0].mode, STREAM_PASS);
	ck_assert_int_eq(st.s[1].mode, STREAM_RELAY);
	ck_assert_int_eq(st.s[2].mode, STREAM_RELAY);
	ck_assert(!st.s[2].merged);
	streams_release(&st);
}
END_TEST

START_TEST(terminal_as_input_only_when_asked_for)
{
	char c;

	place(tty_slave(), 0);
	open_ok(0);
	ck_assert_int_eq(st.s[0].mode, STREAM_NULL);
	ck_assert(is_null(st.s[0].child));
	ck_assert_int_eq(read(st.s[0].child, &c, 1), 0);
	streams_release(&st);
	o.stdin_always = true;
	open_ok(0);
	ck_assert_int_eq(st.s[0].mode, STREAM_RELAY);
	ck_assert(st.s[0].outer_tty);
	ck_assert_int_ge(st.s[0].nb, 3);
	ck_assert_int_ne(fcntl(st.s[0].nb, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(0, F_GETFL) & O_NONBLOCK, 0);
	streams_release(&st);
}
END_TEST

START_TEST(tty_makes_all_three_the_pty)
{
	o.tty = true;
	o.json = _i;
	open_ok(1);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(st.s[i].mode, STREAM_PTY);
		ck_assert_int_eq(st.s[i].child, -1);
	}
	ck_assert_int_eq(st.s[0].outer, -1);
	streams_release(&st);
}
END_TEST

START_TEST(master_side_is_not_opened_again)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	place(master, 1);
	open_ok(0);
	ck_assert_int_eq(st.s[1].mode, STREAM_RELAY);
	ck_assert_int_eq(st.s[1].nb, -1);
	streams_release(&st);
}
END_TEST

START_TEST(closed_streams_become_dev_null)
{
	unsigned closed = 99;

	for (int i = 0; i < 3; i++)
		if (_i & (1 << i))
			close(i);
	ck_assert_int_eq(streams_fix_stdio(&closed, &err), 0);
	ck_assert_uint_eq(closed, (unsigned)_i);
	for (int i = 0; i < 3; i++)
		ck_assert(is_null(i));
	open_ok(closed);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(st.s[i].mode, _i & (1 << i) ? STREAM_NULL : STREAM_PASS);
		ck_assert_int_eq(st.s[i].outer, _i & (1 << i) ? -1 : i);
		ck_assert(is_null(st.s[i].child));
	}
	streams_release(&st);
}
END_TEST

START_TEST(wrong_direction_gives_the_same_error_inside)
{
	char c = 'x';

	place(temp_file(O_WRONLY), 0);
	place(temp_file(O_RDONLY), 1);
	open_ok(0);
	ck_assert_int_eq(read(st.s[0].child, &c, 1), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_eq(write(st.s[1].child, &c, 1), -1);
	ck_assert_int_eq(errno, EBADF);
	streams_release(&st);
}
END_TEST

START_TEST(directory_is_refused_by_name)
{
	static const char *const names[] = { "standard input", "standard output", "standard error" };
	int n = _i % 3;
	size_t before;

	o.tty = _i >= 6;
	o.json = _i >= 3;
	place(open("/", (_i % 2 ? O_PATH : O_RDONLY) | O_DIRECTORY), n);
	before = open_fds();
	ck_assert_int_eq(streams_open(&o, 0, &st, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, names[n]));
	ck_assert_ptr_nonnull(strstr(err.msg, "directory"));
	streams_release(&st);
	ck_assert_uint_eq(open_fds(), before);
}
END_TEST

START_TEST(release_twice_leaks_nothing)
{
	size_t before = open_fds();

	for (int i = 0; i < 3; i++)
		place(temp_file(O_RDWR), i);
	open_ok(0);
	streams_close_child_ends(&st);
	ck_assert_int_eq(st.s[0].child, -1);
	ck_assert_int_ge(st.s[0].keep, 3);
	streams_release(&st);
	streams_release(&st);
	ck_assert_uint_eq(open_fds(), before);
}
END_TEST

START_TEST(same_target_is_merged)
{
	switch (_i) {
	case 0:
		place(temp_file(O_WRONLY), 1);
		dup2(1, 2);
		break;
	case 1:
		place(tty_slave(), 1);
		place(open("/proc/self/fd/1", O_WRONLY | O_NOCTTY), 2);
		break;
	case 2: {
		int p[2];

		ck_assert_int_eq(pipe(p), 0);
		place(p[1], 1);
		dup2(1, 2);
		o.max_output_bytes = 100;
		break;
	}
	default: {
		int s[2];

		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
		place(s[0], 1);
		dup2(1, 2);
	}
	}
	open_ok(0);
	ck_assert(st.s[2].merged);
	ck_assert_int_eq(st.s[2].inner, -1);
	ck_assert(same_file(st.s[1].child, st.s[2].child));
	streams_release(&st);
}
END_TEST

static bool kcmp_works(void)
{
	return syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 0, 0) == 0;
}

START_TEST(different_targets_are_not_merged)
{
	if (_i == 0) {
		place(temp_file(O_WRONLY), 1);
		place(temp_file(O_WRONLY), 2);
	} else if (_i == 1) {
		if (!kcmp_works())
			return;	/* then what has the same file and flags is taken for one opening */
		place(temp_file(O_WRONLY), 1);
		place(open("/proc/self/fd/1", O_WRONLY), 2);	/* the same file, with an offset of its own */
	} else {
		place(tty_slave(), 1);
		place(tty_slave(), 2);
	}
	open_ok(0);
	ck_assert(!st.s[2].merged);
	ck_assert(!same_file(st.s[1].child, st.s[2].child));
	streams_release(&st);
}
END_TEST

static mode_t mode_of(int fd, gid_t *gid)
{
	struct stat s;

	ck_assert_int_eq(fstat(fd, &s), 0);
	*gid = s.st_gid;
	return s.st_mode & 0777;
}

START_TEST(other_ids_may_open_their_streams_again_in_one_direction)
{
	int in[2];
	gid_t gid;
	int fd;

	ck_assert_int_eq(pipe(in), 0);
	place(in[0], 0);
	place(temp_file(O_WRONLY), 1);
	open_ok(0);
	ck_assert_int_eq(streams_chown(&st, getuid(), 4242), 0);	/* the owner needs nothing */
	ck_assert_uint_eq(mode_of(st.s[0].child, &gid), 0600);
	if (geteuid() != 0) {
		streams_release(&st);
		return;	/* what follows takes CAP_CHOWN; the first half was run */
	}
	ck_assert_int_eq(streams_chown(&st, 4241, 4242), 0);
	ck_assert_uint_eq(mode_of(st.s[0].child, &gid), 0640);
	ck_assert_uint_eq(gid, 4242);
	ck_assert_uint_eq(mode_of(st.s[1].child, &gid), 0620);
	ck_assert(is_null(st.s[2].child));
	ck_assert_uint_ne(mode_of(st.s[2].child, &gid) & 0006, 0);
	ck_assert_uint_ne(gid, 4242);	/* /dev/null is not touched */
	dup2(st.s[0].child, 60);
	dup2(st.s[1].child, 61);
	ck_assert_int_eq(setgid(4242), 0);
	ck_assert_int_eq(setuid(4241), 0);
	fd = open("/proc/self/fd/60", O_RDONLY);
	if (fd < 0)	/* the process became undumpable with its new id: /proc is closed to it */
		return;
	ck_assert_int_lt(open("/proc/self/fd/60", O_WRONLY), 0);
	ck_assert_int_ge(open("/proc/self/fd/61", O_WRONLY), 0);
	ck_assert_int_lt(open("/proc/self/fd/61", O_RDONLY), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stream");
	TCase *t = tcase_create("stream");
	SRunner *sr;
	int failed;

	if (!kcmp_works())
		(void)fprintf(stderr, "not tested here: two openings of one file (kcmp is refused)\n");
	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, one_way_pipes_are_passed);
	tcase_add_test(t, dev_null_is_passed);
	tcase_add_loop_test(t, everything_else_goes_through_a_pipe, 0, 8);
	tcase_add_test(t, json_captures_both_outputs);
	tcase_add_test(t, maximum_relays_what_would_be_passed);
	tcase_add_test(t, terminal_as_input_only_when_asked_for);
	tcase_add_loop_test(t, tty_makes_all_three_the_pty, 0, 2);
	tcase_add_test(t, master_side_is_not_opened_again);
	tcase_add_loop_test(t, closed_streams_become_dev_null, 0, 8);
	tcase_add_test(t, wrong_direction_gives_the_same_error_inside);
	tcase_add_loop_test(t, directory_is_refused_by_name, 0, 9);
	tcase_add_test(t, release_twice_leaks_nothing);
	tcase_add_loop_test(t, same_target_is_merged, 0, 4);
	tcase_add_loop_test(t, different_targets_are_not_merged, 0, 3);
	tcase_add_test(t, other_ids_may_open_their_streams_again_in_one_direction);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed != 0;
}
