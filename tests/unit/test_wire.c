/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the typed writer and the latching reader. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_wire.h"

START_TEST(numbers_are_little_endian)
{
	static const uint8_t want[] = { 0xab, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1 };
	uint8_t buf[sizeof(want)];
	struct ak_wr w;

	ak_wr_init(&w, buf, sizeof(buf));
	ak_wr_u8(&w, 0xab);
	ak_wr_u32(&w, 0x01020304);
	ak_wr_u64(&w, 0x0102030405060708);
	ck_assert_int_eq(ak_wr_done(&w), (long)sizeof(want));
	ck_assert_mem_eq(buf, want, sizeof(want));
}
END_TEST

START_TEST(what_is_written_is_read)
{
	uint8_t buf[128];
	struct ak_wr w;
	struct ak_rd r;
	const void *p;
	size_t n;

	ak_wr_init(&w, buf, sizeof(buf));
	ak_wr_u8(&w, UINT8_MAX);
	ak_wr_u32(&w, UINT32_MAX);
	ak_wr_u64(&w, UINT64_MAX);
	ak_wr_bytes(&w, "a\0b", 3);
	ak_wr_bytes(&w, NULL, 0);
	ak_wr_str(&w, "text");
	ak_wr_str(&w, "");
	ak_wr_str(&w, NULL);
	ck_assert_int_gt(ak_wr_done(&w), 0);

	ak_rd_init(&r, buf, w.len);
	ck_assert_uint_eq(ak_rd_u8(&r), UINT8_MAX);
	ck_assert_uint_eq(ak_rd_u32(&r), UINT32_MAX);
	ck_assert(ak_rd_u64(&r) == UINT64_MAX);
	p = ak_rd_bytes(&r, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert_mem_eq(p, "a\0b", 3);
	ck_assert_ptr_nonnull(ak_rd_bytes(&r, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_str_eq(ak_rd_str(&r), "text");
	ck_assert_str_eq(ak_rd_str(&r), "");
	ck_assert_ptr_null(ak_rd_str(&r));
	ck_assert_int_eq(ak_rd_done(&r), 0);
}
END_TEST

START_TEST(writer_refuses_what_does_not_fit_and_latches)
{
	uint8_t buf[8] = { 0 };
	struct ak_wr w;

	ak_wr_init(&w, buf, 5);
	ak_wr_u8(&w, 1);
	ak_wr_u64(&w, 2);
	ak_wr_u8(&w, 0xee); /* would fit, but stands after a gap */
	ck_assert_int_eq(ak_wr_done(&w), -ENOBUFS);
	ck_assert_uint_eq(buf[1], 0);
	ck_assert_uint_eq(w.len, 1);
}
END_TEST

START_TEST(writer_fills_the_buffer_to_its_last_byte)
{
	uint8_t buf[8] = { 0 };
	struct ak_wr w;

	ak_wr_init(&w, buf, 7);
	ak_wr_str(&w, "ab");
	ck_assert_int_eq(ak_wr_done(&w), 7);
	ak_wr_init(&w, buf, 6);
	ak_wr_str(&w, "ab");
	ck_assert_int_eq(ak_wr_done(&w), -ENOBUFS);
	ak_wr_init(&w, NULL, 0);
	ck_assert_int_eq(ak_wr_done(&w), 0);
	ak_wr_u8(&w, 1);
	ck_assert_int_eq(ak_wr_done(&w), -ENOBUFS);
}
END_TEST

START_TEST(reader_latches_and_gives_zero_after_a_failure)
{
	static const uint8_t buf[] = { 1, 2, 3 };
	struct ak_rd r;
	size_t n = 7;

	ak_rd_init(&r, buf, sizeof(buf));
	ck_assert_uint_eq(ak_rd_u32(&r), 0);
	ck_assert_uint_eq(ak_rd_u8(&r), 0);
	ck_assert_ptr_null(ak_rd_bytes(&r, &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_ptr_null(ak_rd_str(&r));
	ck_assert_int_eq(ak_rd_done(&r), -EBADMSG);
}
END_TEST

START_TEST(reader_refuses_lengths_beyond_the_end)
{
	static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff, 'a', 0 };
	static const uint8_t one_more[] = { 3, 0, 0, 0, 'a', 0 };
	struct ak_rd r;
	size_t n;

	ak_rd_init(&r, huge, sizeof(huge));
	ck_assert_ptr_null(ak_rd_bytes(&r, &n));
	ck_assert_int_eq(ak_rd_done(&r), -EBADMSG);
	ak_rd_init(&r, one_more, sizeof(one_more));
	ck_assert_ptr_null(ak_rd_str(&r));
	ck_assert_int_eq(ak_rd_done(&r), -EBADMSG);
}
END_TEST

START_TEST(string_has_one_nul_and_it_is_last)
{
	static const uint8_t none[] = { 2, 0, 0, 0, 'a', 'b' };
	static const uint8_t inside[] = { 3, 0, 0, 0, 'a', 0, 0 };
	struct ak_rd r;

	ak_rd_init(&r, none, sizeof(none));
	ck_assert_ptr_null(ak_rd_str(&r));
	ck_assert_int_eq(ak_rd_done(&r), -EBADMSG);
	ak_rd_init(&r, inside, sizeof(inside));
	ck_assert_ptr_null(ak_rd_str(&r));
	ck_assert_int_eq(ak_rd_done(&r), -EBADMSG);
}
END_TEST

START_TEST(done_wants_every_byte_read)
{
	static const uint8_t buf[] = { 1, 2 };
	struct ak_rd r;

	ak_rd_init(&r, buf, sizeof(buf));
	(void)ak_rd_u8(&r);
	ck_assert_int_eq(ak_rd_done(&r), -EBADMSG);
	(void)ak_rd_u8(&r);
	ck_assert_int_eq(ak_rd_done(&r), 0);
	ak_rd_init(&r, NULL, 0);
	ck_assert_int_eq(ak_rd_done(&r), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wire");
	TCase *tc = tcase_create("wire");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, numbers_are_little_endian);
	tcase_add_test(tc, what_is_written_is_read);
	tcase_add_test(tc, writer_refuses_what_does_not_fit_and_latches);
	tcase_add_test(tc, writer_fills_the_buffer_to_its_last_byte);
	tcase_add_test(tc, reader_latches_and_gives_zero_after_a_failure);
	tcase_add_test(tc, reader_refuses_lengths_beyond_the_end);
	tcase_add_test(tc, string_has_one_nul_and_it_is_last);
	tcase_add_test(tc, done_wants_every_byte_read);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
