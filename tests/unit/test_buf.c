/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of ak_buf. */
#include "executor/shared/ak_buf.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

START_TEST(additions_follow_each_other)
{
	struct ak_buf b = {0};

	ck_assert_ptr_null(b.data);
	ak_buf_str(&b, "ab");
	ak_buf_add(&b, "c\0d", 3);
	ak_buf_printf(&b, "%d-%s", 42, "x");
	ck_assert_uint_eq(b.len, 9);
	ck_assert_int_eq(memcmp(b.data, "abc\0d42-x", 10), 0);
	ck_assert(!b.failed);
	ak_buf_release(&b);
	ck_assert_ptr_null(b.data);
	ck_assert_uint_eq(b.len, 0);
}
END_TEST

START_TEST(empty_addition_makes_an_empty_string)
{
	struct ak_buf b = {0};

	ak_buf_str(&b, "");
	ck_assert_str_eq(b.data, "");
	ak_buf_add(&b, NULL, 0);
	ck_assert_str_eq(b.data, "");
	ck_assert(!b.failed);
	ak_buf_release(&b);
}
END_TEST

START_TEST(the_maximum_is_exact_and_the_failure_latches)
{
	struct ak_buf b = {.max = 4};

	ak_buf_str(&b, "abcd");
	ck_assert(!b.failed);
	ak_buf_str(&b, "e");
	ck_assert(b.failed);
	ck_assert_str_eq(b.data, "abcd");
	ak_buf_str(&b, "");
	ak_buf_printf(&b, "%s", "");
	ck_assert_uint_eq(b.len, 4);
	ak_buf_release(&b);
	ck_assert(!b.failed);
	ck_assert_uint_eq(b.max, 4);
	ak_buf_printf(&b, "%s", "12345");
	ck_assert(b.failed);
	ck_assert_uint_eq(b.len, 0);
	ak_buf_release(&b);
}
END_TEST

START_TEST(an_addition_over_the_maximum_adds_nothing)
{
	struct ak_buf b = {.max = 4};

	ak_buf_str(&b, "abc");
	ak_buf_str(&b, "de");
	ck_assert_str_eq(b.data, "abc");
	ck_assert(b.failed);
	ak_buf_release(&b);
}
END_TEST

START_TEST(the_maximum_by_default)
{
	static char block[1 << 20];
	struct ak_buf b = {0};

	for (size_t n = 0; n < AK_BUF_MAX; n += sizeof(block))
		ak_buf_add(&b, block, sizeof(block));
	ck_assert(!b.failed);
	ck_assert_uint_eq(b.len, AK_BUF_MAX);
	ak_buf_add(&b, "x", 1);
	ck_assert(b.failed);
	ak_buf_release(&b);
}
END_TEST

START_TEST(a_length_that_would_overflow_is_a_failure)
{
	struct ak_buf b = {.max = SIZE_MAX};

	ak_buf_str(&b, "a");
	ak_buf_add(&b, "x", SIZE_MAX - 1);
	ck_assert(b.failed);
	ck_assert_str_eq(b.data, "a");
	ak_buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("buf");
	TCase *t = tcase_create("buf");

	tcase_add_test(t, additions_follow_each_other);
	tcase_add_test(t, empty_addition_makes_an_empty_string);
	tcase_add_test(t, the_maximum_is_exact_and_the_failure_latches);
	tcase_add_test(t, an_addition_over_the_maximum_adds_nothing);
	tcase_add_test(t, the_maximum_by_default);
	tcase_add_test(t, a_length_that_would_overflow_is_a_failure);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
