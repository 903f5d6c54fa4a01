/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the table that says which request is served when. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "executor/serve_int.h"
#include "tests/unit/msg_samples.h"

static uint8_t buf[AK_PAYLOAD_MAX];

START_TEST(only_hello_is_served_first_and_only_once)
{
	for (unsigned op = 0; op <= UINT16_MAX; op++) {
		for (size_t len = 0; len < 200; len++)
			if (dispatch_look(CONN_NEW, (uint16_t)op, len, 0) >= 0)
				ck_assert_uint_eq(op, AK_OP_HELLO);
	}
	ck_assert_int_ge(dispatch_look(CONN_NEW, AK_OP_HELLO, 12, 0), 0);
	ck_assert_int_eq(dispatch_look(CONN_READY, AK_OP_HELLO, 12, 0), -EBADMSG);
}
END_TEST

START_TEST(every_request_has_a_row_and_nothing_else_has)
{
	for (unsigned op = 0; op <= UINT16_MAX; op++) {
		bool any = false;

		for (size_t len = 0; len < 128 && !any; len++)
			any = dispatch_look(CONN_READY, (uint16_t)op, len, 0) >= 0 || dispatch_look(CONN_NEW, (uint16_t)op, len, 0) >= 0;
		ck_assert_msg(any == (op >= AK_OP_HELLO && op < AK_OP_REQUESTS_END), "op %u", op);
	}
}
END_TEST

START_TEST(descriptors_come_only_with_exec_and_file)
{
	for (uint16_t op = 0; op < AK_OP_REQUESTS_END; op++) {
		for (size_t len = 0; len < 128; len++) {
			if (dispatch_look(CONN_READY, op, len, 1) >= 0)
				ck_assert(op == AK_OP_EXEC || op == AK_OP_FILE);
		}
	}
	ck_assert_int_ge(dispatch_look(CONN_READY, AK_OP_EXEC, 100, AK_FDS_MAX), 0);
	ck_assert_int_eq(dispatch_look(CONN_READY, AK_OP_EXEC, 100, AK_FDS_MAX + 1), -EBADMSG);
	ck_assert_int_eq(dispatch_look(CONN_READY, AK_OP_FILE, 100, 2), -EBADMSG);
}
END_TEST

/* the least message of a kind passes, and one byte less does not */
static void least(enum conn_state state, uint16_t op, long n)
{
	ck_assert_int_gt(n, 0);
	ck_assert_msg(dispatch_look(state, op, (size_t)n, 0) >= 0, "op %u of %ld bytes is not served", op, n);
	ck_assert_msg(dispatch_look(state, op, (size_t)n - 1, 0) == -EBADMSG, "op %u of %ld bytes is served", op, n - 1);
}

START_TEST(sizes_are_those_of_the_messages)
{
	struct ak_hello hello = { 1, "" };
	struct ak_create create = { 0 };
	struct ak_exec exec = { .kind = AK_EXEC_ARGV, .flags = AK_EXEC_BODY_FD, .body_len = 1 };
	struct ak_file file = { .op = AK_FILE_STAT };
	struct ak_signal sig;
	struct ak_resize resize;
	struct ak_wait_req wait;
	struct ak_job_log log;
	struct ak_cmd_ref ref;
	struct ak_changes_req changes;
	struct ak_finish finish;
	struct ak_checkpoint checkpoint;
	struct ak_session session;
	struct ak_rollback rollback;

	sample_signal(&sig);
	sample_resize(&resize);
	sample_wait_req(&wait);
	sample_job_log(&log);
	sample_cmd_ref(&ref);
	sample_changes_req(&changes);
	sample_finish(&finish);
	sample_checkpoint(&checkpoint);
	sample_session(&session);
	sample_rollback(&rollback);
	least(CONN_NEW, AK_OP_HELLO, ak_hello_encode(&hello, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_CREATE, ak_create_encode(&create, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_EXEC, ak_exec_encode(&exec, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_FILE, ak_file_encode(&file, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_SIGNAL, ak_signal_encode(&sig, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_RESIZE, ak_resize_encode(&resize, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_WAIT, ak_wait_req_encode(&wait, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_JOB_LOG, ak_job_log_encode(&log, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_KILL, ak_cmd_ref_encode(&ref, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_CHANGES, ak_changes_req_encode(&changes, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_FINISH, ak_finish_encode(&finish, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_CHECKPOINT, ak_checkpoint_encode(&checkpoint, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_SESSION, ak_session_encode(&session, buf, sizeof(buf)));
	least(CONN_READY, AK_OP_ROLLBACK, ak_rollback_encode(&rollback, buf, sizeof(buf)));
	for (uint16_t op = AK_OP_STAT; op < AK_OP_REQUESTS_END; op++)
		ck_assert_int_eq(dispatch_look(CONN_READY, op, 5, 0), -EBADMSG);
	ck_assert_int_ge(dispatch_look(CONN_READY, AK_OP_LIST, 0, 0), 0);
	ck_assert_int_eq(dispatch_look(CONN_READY, AK_OP_EXEC, AK_PAYLOAD_MAX + 1, 0), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dispatch");
	TCase *tc = tcase_create("dispatch");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, only_hello_is_served_first_and_only_once);
	tcase_add_test(tc, every_request_has_a_row_and_nothing_else_has);
	tcase_add_test(tc, descriptors_come_only_with_exec_and_file);
	tcase_add_test(tc, sizes_are_those_of_the_messages);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
