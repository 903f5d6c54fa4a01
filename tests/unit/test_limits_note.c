/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of what is told about limits: each that was met has its line and its name, and no other. */
#include "agent/limits_note.h"

#include <check.h>
#include <string.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_msg.h"

static struct ak_result res;
static char text[LIMITS_NOTE_MAX];

static void limit(unsigned kind, uint64_t value, enum ak_hit hit)
{
	res.limit[kind] = (struct ak_limit){ .by = AK_BY_AK, .hit = (uint8_t)hit, .value = value };
}

static void says(uint32_t want, const char *line)
{
	ck_assert_uint_eq(limits_note(&res, text, sizeof(text)), want);
	ck_assert_str_eq(text, line);
	res = (struct ak_result){ 0 };
}

START_TEST(each_limit_has_its_line)
{
	says(0, "");
	limit(AK_LIMIT_DISK, 24u << 20, AK_HIT_YES);
	says(1u << AK_LIMIT_DISK, "[too much was written: the limit (--disk), of which private file systems have a part, is 24 MiB]");
	limit(AK_LIMIT_CPU_TIME, 1500, AK_HIT_YES);
	says(1u << AK_LIMIT_CPU_TIME, "[killed: its processor time is used up, the limit (--cpu-time) is 1.5 s]");
	limit(AK_LIMIT_FSIZE, 1000, AK_HIT_YES);
	says(1u << AK_LIMIT_FSIZE, "[a file became too large: the limit (--fsize) is 1000 bytes]");
	limit(AK_LIMIT_PIDS, 7, AK_HIT_YES);
	says(1u << AK_LIMIT_PIDS, "[no more processes could be started: the limit (--pids) is 7]");
	limit(AK_LIMIT_MEMORY, 64u << 20, AK_HIT_NO);
	res.status = AK_STATUS_OOM_KILLED;
	says(1u << AK_LIMIT_MEMORY, "[killed: out of memory, the limit is 64 MiB]");
}
END_TEST

START_TEST(what_is_told_elsewhere_has_its_name_only)
{
	limit(AK_LIMIT_TIMEOUT, 1000, AK_HIT_YES);
	limit(AK_LIMIT_OUTPUT, 1000, AK_HIT_YES);
	says(1u << AK_LIMIT_TIMEOUT | 1u << AK_LIMIT_OUTPUT, "");
}
END_TEST

START_TEST(what_was_not_met_is_not_told)
{
	for (unsigned i = 0; i < AK_LIMITS; i++)
		limit(i, 5, i % 2 ? AK_HIT_NO : AK_HIT_UNKNOWN);
	says(0, "");
	res.limit[AK_LIMIT_DISK] = (struct ak_limit){ .by = AK_BY_UNSET, .hit = AK_HIT_YES };
	says(0, "");
}
END_TEST

START_TEST(all_of_them_fit)
{
	for (unsigned i = 0; i < AK_LIMITS; i++)
		limit(i, UINT64_MAX, AK_HIT_YES);
	ck_assert_uint_eq(limits_note(&res, text, sizeof(text)), (1u << AK_LIMITS) - 1);
	ck_assert_uint_lt(strlen(text), sizeof(text) - 1);
	ck_assert_int_eq(text[strlen(text) - 1], ']');
	ck_assert_uint_eq(limits_note(&res, text, 10), (1u << AK_LIMITS) - 1);
	ck_assert_uint_lt(strlen(text), 10);
	res = (struct ak_result){ 0 };
}
END_TEST

START_TEST(names_are_those_of_ak_exec)
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	limits_note_json(&j, (1u << AK_LIMITS) - 1);
	ak_json_obj_end(&j);
	ak_buf_add(&b, "", 1);
	ck_assert_str_eq(b.data, "{\"limits_hit\":[\"memory\",\"pids\",\"cpus\",\"timeout\",\"cpu_time\",\"nofile\",\"fsize\",\"output\",\"disk\"]}");
	ak_buf_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("limits_note");
	TCase *tc = tcase_create("limits_note");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, each_limit_has_its_line);
	tcase_add_test(tc, what_is_told_elsewhere_has_its_name_only);
	tcase_add_test(tc, what_was_not_met_is_not_told);
	tcase_add_test(tc, all_of_them_fit);
	tcase_add_test(tc, names_are_those_of_ak_exec);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? 1 : 0;
}
