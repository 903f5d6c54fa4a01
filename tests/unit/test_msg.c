/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the protocol's messages. */
#include "executor/shared/ak_msg.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/msg_samples.h"

static uint8_t buf[AK_PAYLOAD_MAX], again[AK_PAYLOAD_MAX];

/* for every message the same laws */
#define LAWS(T)                                                                                                     \
	static void laws_##T(void)                                                                                  \
	{                                                                                                           \
		struct ak_##T m, d;                                                                                 \
		long n;                                                                                             \
                                                                                                                    \
		sample_##T(&m);                                                                                     \
		n = ak_##T##_encode(&m, buf, sizeof(buf));                                                          \
		ck_assert_msg(n > 0, #T " does not encode: %ld", n);                                                \
		ck_assert_msg(ak_##T##_decode(buf, (size_t)n, &d) == 0, #T " does not decode");                     \
		ck_assert_int_eq(ak_##T##_encode(&d, again, sizeof(again)), n);                                     \
		ck_assert_mem_eq(buf, again, (size_t)n);                                                            \
		for (long k = 0; k < n; k++) {                                                                      \
			uint8_t *cut = malloc((size_t)k + 1);                                                       \
                                                                                                                    \
			memcpy(cut, buf, (size_t)k);                                                                \
			memset(&d, 0xa5, sizeof(d));                                                                \
			ck_assert_msg(ak_##T##_decode(cut, (size_t)k, &d) == -EBADMSG, #T " cut at %ld decodes", k);\
			ck_assert_msg(((uint8_t *)&d)[0] == 0xa5, #T " was touched");                               \
			free(cut);                                                                                  \
			ck_assert_int_eq(ak_##T##_encode(&m, again, (size_t)k), -ENOBUFS);                          \
		}                                                                                                   \
		buf[n] = 0;                                                                                         \
		ck_assert_int_eq(ak_##T##_decode(buf, (size_t)n + 1, &d), -EBADMSG);                                \
		for (long k = 0; k < n; k++) {                                                                      \
			for (int bit = 0; bit < 8; bit++) {                                                         \
				buf[k] ^= (uint8_t)(1 << bit);                                                      \
				if (ak_##T##_decode(buf, (size_t)n, &d) == 0) {                                     \
					ck_assert_int_eq(ak_##T##_encode(&d, again, sizeof(again)), n);             \
					ck_assert_mem_eq(buf, again, (size_t)n);                                    \
				}                                                                                   \
				buf[k] ^= (uint8_t)(1 << bit);                                                      \
			}                                                                                           \
		}                                                                                                   \
	}                                                                                                           \
	_Static_assert(1, "")

AK_MSG_EACH(LAWS);

START_TEST(what_decodes_encodes_back_and_every_truncation_is_rejected)
{
#define RUN(T) laws_##T()
	AK_MSG_EACH(RUN);
}
END_TEST

START_TEST(decoded_fields_are_what_was_encoded)
{
	struct ak_exec m, d;
	struct ak_strs_pos pos = { 0 };
	long n;

	sample_exec(&m);
	n = ak_exec_encode(&m, buf, sizeof(buf));
	ck_assert_int_eq(ak_exec_decode(buf, (size_t)n, &d), 0);
	ck_assert_uint_eq(d.kind, AK_EXEC_SESSION);
	ck_assert_uint_eq(d.flags, m.flags);
	ck_assert_uint_eq(d.rlimit[0].value, 64);
	ck_assert_uint_eq(d.extra[1], 9);
	ck_assert_str_eq(d.body.cwd, "/tmp");
	for (unsigned i = 0; i < 4; i++)
		ck_assert_str_eq(ak_strs_next(&d.body.argv, &pos), sample_argv[i]);
	ck_assert_ptr_null(ak_strs_next(&d.body.argv, &pos));
	ck_assert_uint_eq(ak_exec_nfds(&d), 3);
	d.kind = AK_EXEC_PROGRAM;
	ck_assert_uint_eq(ak_exec_nfds(&d), 4);
}
END_TEST

/* an EXEC that is changed before it is encoded must be refused by both directions */
static void exec_refused(void (*change)(struct ak_exec *m))
{
	struct ak_exec m;

	sample_exec(&m);
	change(&m);
	ck_assert_int_eq(ak_exec_encode(&m, buf, sizeof(buf)), -EINVAL);
}

static void bad_kind(struct ak_exec *m) { m->kind = 0; }
static void bad_flag(struct ak_exec *m) { m->flags = 1u << 31; }
static void bad_stdin(struct ak_exec *m) { m->stream[0] = AK_STREAM_CAPTURE; }
static void bad_pty(struct ak_exec *m) { m->stream[1] = AK_STREAM_PTY; }
static void bad_merge(struct ak_exec *m) { m->stream[2] = AK_STREAM_CAPTURE; }
static void bad_resource(struct ak_exec *m) { m->rlimit[0].resource = 16; }
static void bad_extra(struct ak_exec *m) { m->extra[0] = 2; }
static void bad_order(struct ak_exec *m) { m->extra[1] = 3; }
static void bad_argv(struct ak_exec *m) { m->body.argv.count = 0; }
static void bad_body(struct ak_exec *m) { m->body_len = 5; }
static void bad_session(struct ak_exec *m) { m->kind = AK_EXEC_SHELL; m->session = 1; m->flags = 0; m->stream[2] = 0; }
static void bad_rows(struct ak_exec *m) { m->rows = 65536; }

START_TEST(exec_has_ranges)
{
	exec_refused(bad_kind);
	exec_refused(bad_flag);
	exec_refused(bad_stdin);
	exec_refused(bad_pty);
	exec_refused(bad_merge);
	exec_refused(bad_resource);
	exec_refused(bad_extra);
	exec_refused(bad_order);
	exec_refused(bad_argv);
	exec_refused(bad_body);
	exec_refused(bad_session);
	exec_refused(bad_rows);
}
END_TEST

START_TEST(counts_are_bounded_before_anything_is_read)
{
	struct ak_create m = { 0 }, d;
	long n;

	m.nunset = AK_UNSET_MAX + 1;
	ck_assert_int_eq(ak_create_encode(&m, buf, sizeof(buf)), -EINVAL);
	m.nunset = 0;
	n = ak_create_encode(&m, buf, sizeof(buf));
	memset(buf + n - 4, 0xff, 4);
	ck_assert_int_eq(ak_create_decode(buf, (size_t)n, &d), -EBADMSG);
}
END_TEST

START_TEST(texts_are_bounded_and_have_one_nul)
{
	char name[AK_NAME_MAX + 1];
	struct ak_hello m = { 1, name }, d;
	long n;

	memset(name, 'x', sizeof(name));
	name[AK_NAME_MAX] = '\0';
	ck_assert_int_eq(ak_hello_encode(&m, buf, sizeof(buf)), -EINVAL);
	name[AK_NAME_MAX - 1] = '\0';
	n = ak_hello_encode(&m, buf, sizeof(buf));
	ck_assert_int_gt(n, 0);
	buf[10] = '\0';
	ck_assert_int_eq(ak_hello_decode(buf, (size_t)n, &d), -EBADMSG);
}
END_TEST

START_TEST(output_lengths_agree)
{
	struct ak_result m;

	sample_result(&m);
	m.out[0].bytes_len = 3;
	ck_assert_int_eq(ak_result_encode(&m, buf, sizeof(buf)), -EINVAL);
	sample_result(&m);
	m.out[0].counted = 0;
	ck_assert_int_eq(ak_result_encode(&m, buf, sizeof(buf)), -EINVAL);
	sample_result(&m);
	ck_assert_uint_eq(ak_result_nfds(&m), 1);
}
END_TEST

START_TEST(entries_are_below_what_was_listed)
{
	static const char *const bad[] = { "", "/etc", "..", "a/../b", "a//b", "../x" };
	struct ak_entry m, d;
	size_t pos;
	long n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sample_entry(&m);
		m.name = bad[i];
		n = ak_entry_encode(&m, buf, sizeof(buf));
		ck_assert_int_gt(n, 0);
		pos = 0;
		ck_assert_msg(ak_entry_next(buf, (size_t)n, &pos, &d) == -EBADMSG, "\"%s\" was taken", bad[i]);
		ck_assert_uint_eq(pos, 0);
	}
	sample_entry(&m);
	n = ak_entry_encode(&m, buf, sizeof(buf));
	memcpy(buf + n, buf, (size_t)n);
	pos = 0;
	ck_assert_int_eq(ak_entry_next(buf, 2 * (size_t)n, &pos, &d), 1);
	ck_assert_int_eq(ak_entry_next(buf, 2 * (size_t)n, &pos, &d), 1);
	ck_assert_str_eq(d.name, "d/e");
	ck_assert_int_eq(ak_entry_next(buf, 2 * (size_t)n, &pos, &d), 0);
}
END_TEST

START_TEST(changes_add_up_and_are_below_the_workspace)
{
	static const char *const bad[] = { "", "/etc", "..", "a/../b", "a//b", "../x" };
	struct ak_changed m;
	struct ak_change c, d;
	size_t pos;
	long n;

#define CHANGED_REFUSED(change)                                                           \
	do {                                                                              \
		sample_changed(&m);                                                       \
		change;                                                                   \
		ck_assert_int_eq(ak_changed_encode(&m, buf, sizeof(buf)), -EINVAL);       \
	} while (0)
	CHANGED_REFUSED(m.flags = 0);			/* more there are than are named, and it is not said */
	CHANGED_REFUSED(m.total = 1);			/* the other way round */
	CHANGED_REFUSED(m.nprotected = 10);
	CHANGED_REFUSED(m.nconflicts = 10);
	CHANGED_REFUSED(m.entries = AK_CHANGES_MAX + 1);
	CHANGED_REFUSED(m.data_len = 5);
	CHANGED_REFUSED(m.flags |= AK_CHANGED_DATA_FD);	/* bytes in both places */
	CHANGED_REFUSED(m.outcome = AK_OUTCOME_END);
	CHANGED_REFUSED(m.id = "c-1234567890123456");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sample_change(&c);
		c.path = bad[i];
		n = ak_change_encode(&c, buf, sizeof(buf));
		pos = 0;
		ck_assert_msg(ak_change_next(buf, (size_t)n, &pos, &d) == -EBADMSG, "\"%s\" was taken", bad[i]);
	}
	sample_change(&c);
	n = ak_change_encode(&c, buf, sizeof(buf));
	pos = 0;
	ck_assert_int_eq(ak_change_next(buf, (size_t)n, &pos, &d), 1);
	ck_assert(strcmp(d.path, "d/e") == 0 && d.op == AK_CHANGE_MODIFIED && d.mode == 0100644 && d.size == 7);
	ck_assert_int_eq(ak_change_next(buf, (size_t)n, &pos, &d), 0);
	pos = 0;
	ck_assert_int_eq(ak_change_next(buf, (size_t)n - 1, &pos, &d), -EBADMSG);
}
END_TEST

START_TEST(only_restore_names_a_checkpoint)
{
	struct ak_finish m;

	sample_finish(&m);
	m.point = 0;
	ck_assert_int_eq(ak_finish_encode(&m, buf, sizeof(buf)), -EINVAL);
	sample_finish(&m);
	m.action = AK_FINISH_APPLY;
	ck_assert_int_eq(ak_finish_encode(&m, buf, sizeof(buf)), -EINVAL);
}
END_TEST

START_TEST(a_session_has_one_form)
{
	static const char *const bad[] = { "", "s-", "s-0123456789a", "s-0123456789abc", "s-0123456789aB", "s-../456789ab", "c-0123456789ab" };
	struct ak_session m = { 0, "s-0123456789ab" };

	ck_assert_int_gt(ak_session_encode(&m, buf, sizeof(buf)), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		m.name = bad[i];
		ck_assert_int_eq(ak_session_encode(&m, buf, sizeof(buf)), -EINVAL);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("msg");
	TCase *tc = tcase_create("msg");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, what_decodes_encodes_back_and_every_truncation_is_rejected);
	tcase_add_test(tc, decoded_fields_are_what_was_encoded);
	tcase_add_test(tc, exec_has_ranges);
	tcase_add_test(tc, counts_are_bounded_before_anything_is_read);
	tcase_add_test(tc, texts_are_bounded_and_have_one_nul);
	tcase_add_test(tc, output_lengths_agree);
	tcase_add_test(tc, entries_are_below_what_was_listed);
	tcase_add_test(tc, only_restore_names_a_checkpoint);
	tcase_add_test(tc, a_session_has_one_form);
	tcase_add_test(tc, changes_add_up_and_are_below_the_workspace);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
