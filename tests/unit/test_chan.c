/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of frames and of the descriptors that come with them. */
#include "executor/shared/ak_chan.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static int sock[2];
static uint8_t buf[AK_MSG_MAX];

static void setup(void)
{
	ck_assert_int_eq(ak_chan_pair(sock, NULL), 0);
}

static void teardown(void)
{
	ak_fd_close(&sock[0]);
	ak_fd_close(&sock[1]);
}

static unsigned open_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 512; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

START_TEST(a_frame_arrives_as_it_was_sent)
{
	struct ak_frame f;

	ck_assert_int_eq(ak_chan_send(sock[0], 7, 42, "abc", 3, (int[]){ 0, 1 }, 2, 0), 0);
	ck_assert_int_eq(ak_chan_recv(sock[1], buf, &f, 0), 1);
	ck_assert_uint_eq(f.op, 7);
	ck_assert_uint_eq(f.seq, 42);
	ck_assert_uint_eq(f.len, 3);
	ck_assert_mem_eq(f.payload, "abc", 3);
	ck_assert_uint_eq(f.nfds, 2);
	ck_assert_int_ne(fcntl(f.fds[0], F_GETFD) & FD_CLOEXEC, 0);
	ak_frame_release(&f);
	ck_assert_int_eq(ak_chan_recv(sock[1], buf, &f, MSG_DONTWAIT), -EAGAIN);
	ak_fd_close(&sock[0]);
	ck_assert_int_eq(ak_chan_recv(sock[1], buf, &f, 0), 0);
}
END_TEST

START_TEST(largest_frame_passes_and_one_byte_more_does_not)
{
	static uint8_t big[AK_PAYLOAD_MAX + 1];
	struct ak_frame f;

	ck_assert_int_eq(ak_chan_send(sock[0], 1, 1, big, AK_PAYLOAD_MAX, NULL, 0, 0), 0);
	ck_assert_int_eq(ak_chan_recv(sock[1], buf, &f, 0), 1);
	ck_assert_uint_eq(f.len, AK_PAYLOAD_MAX);
	ck_assert_int_eq(ak_chan_send(sock[0], 1, 1, big, AK_PAYLOAD_MAX + 1, NULL, 0, 0), -EMSGSIZE);
}
END_TEST

START_TEST(malformed_headers_are_rejected_and_lose_their_descriptors)
{
	uint8_t h[AK_HDR_BYTES + 4] = { 0x61, 0x6b, 0x31, 0x70, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0 };
	struct ak_frame f = { .nfds = 77 };
	unsigned before = open_fds();

	for (size_t n = 0; n <= sizeof(h) + 1; n++) {
		for (int flip = -1; flip < (int)AK_HDR_BYTES; flip++) {
			union {
				char space[CMSG_SPACE(sizeof(int))];
				struct cmsghdr align;
			} c = { 0 };
			uint8_t copy[sizeof(h) + 1] = { 0 };
			struct iovec iov = { copy, n };
			struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
			bool good = n == sizeof(h) && (flip < 0 || flip == 4 || flip == 5 || (flip >= 8 && flip < 12));
			int zero = 0, r;

			memcpy(copy, h, sizeof(h));
			if (flip >= 0)
				copy[flip] ^= 0x40;
			c.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int)) };
			memcpy(CMSG_DATA(&c.align), &zero, sizeof(zero));
			ck_assert_int_eq(sendmsg(sock[0], &m, 0), (ssize_t)n);
			r = ak_chan_recv(sock[1], buf, &f, 0);
			ck_assert_msg(r == (good ? 1 : -EBADMSG), "%zu bytes, byte %d changed: %d", n, flip, r);
			if (r == 1)
				ak_frame_release(&f);
			f.nfds = 77;
			ck_assert_uint_eq(open_fds(), before);
		}
	}
}
END_TEST

START_TEST(more_descriptors_than_a_frame_has_end_it)
{
	union {
		char space[CMSG_SPACE((AK_FDS_MAX + 1) * sizeof(int))];
		struct cmsghdr align;
	} c = { 0 };
	uint8_t h[AK_HDR_BYTES] = { 0x61, 0x6b, 0x31, 0x70, 1 };
	struct iovec iov = { h, sizeof(h) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	unsigned before = open_fds();
	struct ak_frame f;

	c.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN((AK_FDS_MAX + 1) * sizeof(int)) };
	ck_assert_int_eq(sendmsg(sock[0], &m, 0), (ssize_t)sizeof(h));
	ck_assert_int_eq(ak_chan_recv(sock[1], buf, &f, 0), -EBADMSG);
	ck_assert_uint_eq(open_fds(), before);
}
END_TEST

START_TEST(descriptors_that_could_not_be_made_end_it)
{
	struct rlimit old, low;
	unsigned before = open_fds();
	int r, free_below = 0, limit = 0;
	struct ak_frame f;

	while (free_below < 2)	/* room for two of six */
		free_below += fcntl(limit++, F_GETFD) < 0;
	ck_assert_int_eq(ak_chan_send(sock[0], 1, 1, NULL, 0, (int[]){ 0, 0, 0, 0, 0, 0 }, 6, 0), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = (struct rlimit){ (rlim_t)limit, old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	r = ak_chan_recv(sock[1], buf, &f, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	ck_assert_int_eq(r, -EBADMSG);
	ck_assert_uint_eq(open_fds(), before);
}
END_TEST

START_TEST(memory_files_are_believed_only_when_sealed)
{
	int fd = ak_memfd_sealed2("x", "ab", 2, "cd", 2), plain = memfd_create("y", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char got[5] = "";

	ck_assert_int_eq(ak_memfd_check(fd, 4), 4);
	ck_assert_int_eq(ak_memfd_check(fd, 3), -EFBIG);
	ck_assert_int_eq(pread(fd, got, 4, 0), 4);
	ck_assert_str_eq(got, "abcd");
	ck_assert_int_lt(write(fd, "x", 1), 0);
	ck_assert_int_eq(ak_memfd_check(plain, 4), -EINVAL);
	ck_assert_int_eq(ak_memfd_check(file, SIZE_MAX), -EINVAL);
	ck_assert_int_eq(ak_memfd_check(-1, 4), -EINVAL);
	ak_fd_close(&fd);
	ak_fd_close(&plain);
	ak_fd_close(&file);
}
END_TEST

START_TEST(only_a_connected_seqpacket_socket_will_do)
{
	int other[2], lone = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, other), 0);
	ck_assert_int_eq(ak_chan_check(sock[0], NULL), 0);
	ck_assert_int_eq(ak_chan_check(other[0], NULL), -EPROTOTYPE);
	ck_assert_int_eq(ak_chan_check(lone, NULL), -ENOTCONN);
	ck_assert_int_eq(ak_chan_check(open("/dev/null", O_RDONLY | O_CLOEXEC), NULL), -ENOTSOCK);
	ak_fd_close(&other[0]);
	ak_fd_close(&other[1]);
	ak_fd_close(&lone);
}
END_TEST

START_TEST(long_paths_are_reached)
{
	char top[] = "/tmp/ak-chan-XXXXXX", path[512], dir[400];
	struct ak_err err = { 0 };

	ck_assert_ptr_nonnull(mkdtemp(top));
	(void)snprintf(dir, sizeof(dir), "%s/%0150d", top, 0);
	(void)snprintf(path, sizeof(path), "%s/sock", dir);
	ck_assert_int_eq(ak_chan_connect(path, &err), -ENOENT);
	ck_assert_int_eq(rmdir(top), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("chan");
	TCase *tc = tcase_create("chan");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_frame_arrives_as_it_was_sent);
	tcase_add_test(tc, largest_frame_passes_and_one_byte_more_does_not);
	tcase_add_test(tc, malformed_headers_are_rejected_and_lose_their_descriptors);
	tcase_add_test(tc, more_descriptors_than_a_frame_has_end_it);
	tcase_add_test(tc, descriptors_that_could_not_be_made_end_it);
	tcase_add_test(tc, memory_files_are_believed_only_when_sealed);
	tcase_add_test(tc, only_a_connected_seqpacket_socket_will_do);
	tcase_add_test(tc, long_paths_are_reached);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
