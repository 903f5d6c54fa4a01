/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of money: exact sums, no overflow, text. */
#include "agent/money.h"

#include <check.h>
#include <stdlib.h>

START_TEST(a_million_bookings_of_a_micro_dollar_are_a_dollar)
{
	uint64_t sum = 0;
	char text[MONEY_TEXT];

	for (unsigned i = 0; i < 1000000; i++)
		sum = money_add(sum, 1000000);
	ck_assert_uint_eq(sum, MONEY_USD);
	ck_assert_str_eq(money_format(sum, 6, text), "1.000000");
	ck_assert_str_eq(money_format_exact(sum, text), "1.00");
}
END_TEST

START_TEST(what_is_too_much_stays_at_the_maximum)
{
	ck_assert_uint_eq(money_add(MONEY_MAX, 1), MONEY_MAX);
	ck_assert_uint_eq(money_add(MONEY_MAX - 1, 1), MONEY_MAX);
	ck_assert_uint_eq(money_mul(UINT64_C(1) << 40, UINT64_C(1) << 30), MONEY_MAX);
	ck_assert_uint_eq(money_mul(UINT64_MAX, 0), 0);
	ck_assert_uint_eq(money_mul(1000000, 3000000), 3 * MONEY_USD);
}
END_TEST

START_TEST(text_is_rounded_to_nearest_but_never_to_nothing)
{
	static const struct {
		uint64_t v;
		unsigned places;
		const char *want;
	} rows[] = {
		{ 0, 2, "0.00" },
		{ 0, 0, "0" },
		{ 12300000000, 6, "0.012300" },
		{ 12345678901, 6, "0.012346" },
		{ 999999999999, 2, "1.00" },
		{ 1, 2, "0.000000000001" },
		{ 400000, 6, "0.0000004" },
		{ 500000, 6, "0.000001" },
		{ MONEY_USD * 1234, 2, "1234.00" },
		{ MONEY_USD / 2, 0, "1" },
		{ MONEY_MAX, 12, "18446744.073709551615" },
		{ 7, 99, "0.000000000007" },
	};
	char text[MONEY_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(money_format(rows[i].v, rows[i].places, text), rows[i].want);
}
END_TEST

START_TEST(exact_text_has_no_needless_zeros)
{
	char text[MONEY_TEXT];

	ck_assert_str_eq(money_format_exact(0, text), "0.00");
	ck_assert_str_eq(money_format_exact(1230000000, text), "0.00123");
	ck_assert_str_eq(money_format_exact(100000000000, text), "0.10");
	ck_assert_str_eq(money_format_exact(1, text), "0.000000000001");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("money");
	TCase *t = tcase_create("money");
	SRunner *r;
	int failed;

	tcase_add_test(t, a_million_bookings_of_a_micro_dollar_are_a_dollar);
	tcase_add_test(t, what_is_too_much_stays_at_the_maximum);
	tcase_add_test(t, text_is_rounded_to_nearest_but_never_to_nothing);
	tcase_add_test(t, exact_text_has_no_needless_zeros);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
