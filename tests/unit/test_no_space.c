/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the advice for a full disk. */
#include "executor/shared/ak_no_space.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "executor/shared/ak_err.h"

START_TEST(only_a_full_disk_without_advice_gets_it)
{
	static const int codes[] = { ENOSPC, EDQUOT, EACCES, 0 };
	struct ak_err err;

	for (size_t i = 0; i < 4; i++) {
		err = (struct ak_err){ .code = codes[i] };
		ak_no_space(&err, AK_STATE_NO_SPACE_KEPT_FMT, "c-1");
		ck_assert_int_eq(err.hint[0] != '\0', i < 2);
	}
	err = (struct ak_err){ .code = ENOSPC, .hint = "another" };
	ak_no_space(&err, AK_STATE_NO_SPACE);
	ck_assert_str_eq(err.hint, "another");
	ak_no_space(NULL, AK_STATE_NO_SPACE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("no_space");
	TCase *t = tcase_create("rules");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, only_a_full_disk_without_advice_gets_it);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
