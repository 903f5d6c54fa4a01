/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the requests and replies of ak-init's serve mode. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_init_serve.h"

static const char body_bytes[] = "any bytes";
static const char *argv_sample[] = { "sh", "-c", "", NULL };
static const char *envp_sample[] = { "A=1", "B=", NULL };
static const char *unset_sample[] = { "C", NULL };

static struct init_exec exec_sample(void)
{
	return (struct init_exec){
		.cwd = "/work",
		.argv = argv_sample,
		.argc = 3,
		.envp = envp_sample,
		.envc = 2,
		.unset = unset_sample,
		.unsetc = 1,
		.rlimits = { { 7, 1024, 4096 }, { 4, 1, UINT64_MAX } },
		.nrlimits = 2,
		.extra = { 3, 1023 },
		.nextra = 2,
	};
}

static struct init_req exec_req(uint32_t flags)
{
	return (struct init_req){ .type = INIT_REQ_EXEC, .id = 7, .flags = flags, .body = body_bytes, .body_len = sizeof(body_bytes), .nextra = 2 };
}

static struct init_req file_req(uint32_t op)
{
	return (struct init_req){ .type = INIT_REQ_FILE, .id = UINT32_MAX, .op = op, .path = "a", .path2 = op == INIT_FILE_RENAME ? "b" : NULL,
				  .offset = 1ull << 40, .limit = 9, .mode = 0777 };
}

/* Encodes, refuses each truncation and one byte more with the result untouched, and decodes */
static int req_again(const struct init_req *q, struct init_req *ret)
{
	static uint8_t buf[AK_INIT_REQ_MAX];
	long n = init_req_encode(q, buf, sizeof(buf));
	struct init_req d, before;

	memset(&d, 0xa5, sizeof(d));
	before = d;
	ck_assert_int_gt(n, 0);
	for (long i = 0; i < n; i++) {
		ck_assert_int_eq(init_req_decode(buf, (size_t)i, &d), -EBADMSG);
		ck_assert_int_eq(init_req_encode(q, buf + n, (size_t)i), -ENOBUFS);
	}
	buf[n] = 0;
	ck_assert_int_eq(init_req_decode(buf, (size_t)n + 1, &d), -EBADMSG);
	ck_assert_mem_eq(&d, &before, sizeof(d));
	return init_req_decode(buf, (size_t)n, ret);
}

START_TEST(request_decodes_to_what_was_encoded)
{
	struct init_req q = exec_req(INIT_EXEC_STDOUT | INIT_EXEC_SHELL | INIT_EXEC_SESSION | INIT_EXEC_RESET | INIT_EXEC_STARTED), d;

	q.session = AK_INIT_SESSIONS_MAX - 1;
	ck_assert_int_eq(req_again(&q, &d), 0);
	ck_assert_uint_eq(d.id, 7);
	ck_assert_uint_eq(d.flags, q.flags);
	ck_assert_uint_eq(d.nextra, 2);
	ck_assert_uint_eq(d.session, 7);
	ck_assert_uint_eq(d.body_len, sizeof(body_bytes));
	ck_assert_mem_eq(d.body, body_bytes, sizeof(body_bytes));
	q = exec_req(INIT_EXEC_TTY);
	q.rows = 65535;
	q.cols = 80;
	ck_assert_int_eq(req_again(&q, &d), 0);
	ck_assert_uint_eq(d.rows, 65535);
	ck_assert_uint_eq(d.cols, 80);
	q = (struct init_req){ .type = INIT_REQ_SIGNAL, .id = 1, .signo = 64 };
	ck_assert_int_eq(req_again(&q, &d), 0);
	ck_assert_uint_eq(d.signo, 64);
	for (uint32_t op = INIT_FILE_READ; op <= INIT_FILE_WALK; op++) {
		q = file_req(op);
		ck_assert_int_eq(req_again(&q, &d), 0);
		ck_assert_uint_eq(d.op, op);
		ck_assert_str_eq(d.path, "a");
		ck_assert(op == INIT_FILE_RENAME ? strcmp(d.path2, "b") == 0 : !d.path2);
		ck_assert(d.offset == 1ull << 40 && d.limit == 9 && d.mode == 0777);
	}
	for (uint32_t type = INIT_REQ_KILL; type <= INIT_REQ_LEAF; type++) {
		q = (struct init_req){ .type = type, .id = 3 };
		if (type != INIT_REQ_FILE)
			ck_assert_int_eq(req_again(&q, &d), 0);
	}
}
END_TEST

START_TEST(request_encode_refuses_what_decode_would)
{
	static char large[AK_INIT_PATH_MAX + 1];
	uint8_t buf[256];
	struct init_req q;

#define BAD(start, change)                                                                                           \
	do {                                                                                                         \
		q = start;                                                                                           \
		change;                                                                                              \
		ck_assert_int_eq(init_req_encode(&q, buf, sizeof(buf)), -EINVAL);                                    \
	} while (0)
	memset(large, 'x', sizeof(large) - 1);
	BAD(exec_req(0), q.type = 63);
	BAD(exec_req(0), q.type = 70);
	BAD(exec_req(0), q.id = 0);
	BAD(exec_req(INIT_EXEC_ALL + 1), );
	BAD(exec_req(INIT_EXEC_TTY | INIT_EXEC_STDIN), );
	BAD(exec_req(INIT_EXEC_SESSION), );
	BAD(exec_req(INIT_EXEC_SHELL | INIT_EXEC_RESET), );
	BAD(exec_req(INIT_EXEC_MEMFD), );
	BAD(exec_req(INIT_EXEC_PROGRAM | INIT_EXEC_SHELL), );
	BAD(exec_req(0), q.body_len = 0);
	BAD(exec_req(0), q.body_len = AK_INIT_EXEC_INLINE + 1);
	BAD(exec_req(0), q.nextra = AK_INIT_EXTRA_MAX + 1);
	BAD(exec_req(0), q.session = 1);
	BAD(exec_req(INIT_EXEC_SHELL | INIT_EXEC_SESSION), q.session = AK_INIT_SESSIONS_MAX);
	BAD(exec_req(0), q.cols = 80);
	BAD(((struct init_req){ .type = INIT_REQ_SIGNAL, .id = 1 }), );
	BAD(((struct init_req){ .type = INIT_REQ_SIGNAL, .id = 1, .signo = 65 }), );
	BAD(file_req(0), );
	BAD(file_req(INIT_FILE_WALK + 1), );
	BAD(file_req(INIT_FILE_READ), q.flags = INIT_FILE_EXCL);
	BAD(file_req(INIT_FILE_REMOVE), q.flags = INIT_FILE_PARENTS);
	BAD(file_req(INIT_FILE_READ), q.mode = 01000);
	BAD(file_req(INIT_FILE_READ), q.path = NULL);
	BAD(file_req(INIT_FILE_READ), q.path = "");
	BAD(file_req(INIT_FILE_READ), q.path = large);
	BAD(file_req(INIT_FILE_READ), q.path2 = "b");
	BAD(file_req(INIT_FILE_RENAME), q.path2 = NULL);
	BAD(file_req(INIT_FILE_WRITE), q.path2 = "b");
	BAD(file_req(INIT_FILE_WRITE), q.flags = INIT_FILE_KEPT; q.path2 = "");
	BAD(file_req(INIT_FILE_READ), q.flags = INIT_FILE_KEPT);
	q = file_req(INIT_FILE_WRITE);
	q.flags = INIT_FILE_KEPT;
	ck_assert_int_gt(init_req_encode(&q, buf, sizeof(buf)), 0);
	q.path2 = "b";
	ck_assert_int_gt(init_req_encode(&q, buf, sizeof(buf)), 0);
#undef BAD
}
END_TEST

START_TEST(request_says_how_many_descriptors_it_brings)
{
	struct init_req q = exec_req(INIT_EXEC_STDIN | INIT_EXEC_STDERR | INIT_EXEC_MEMFD);

	ck_assert_uint_eq(init_req_fds(&q), 5);
	q = exec_req(INIT_EXEC_STDOUT | INIT_EXEC_PROGRAM);
	ck_assert_uint_eq(init_req_fds(&q), 4);
	q = exec_req(INIT_EXEC_TTY | INIT_EXEC_SHELL | INIT_EXEC_SESSION);
	ck_assert_uint_eq(init_req_fds(&q), 2);
	for (uint32_t op = INIT_FILE_READ; op <= INIT_FILE_WALK; op++) {
		q = file_req(op);
		ck_assert_uint_eq(init_req_fds(&q), op == INIT_FILE_READ || op == INIT_FILE_WRITE || op == INIT_FILE_LIST || op == INIT_FILE_WALK);
	}
	q = (struct init_req){ .type = INIT_REQ_LEAF, .id = 1 };
	ck_assert_uint_eq(init_req_fds(&q), 1);
	q.type = INIT_REQ_KILL;
	ck_assert_uint_eq(init_req_fds(&q), 0);
}
END_TEST

START_TEST(command_decodes_to_what_was_encoded)
{
	struct init_exec e = exec_sample(), d, before;
	const char *strv[16];
	uint8_t buf[512];
	long n = init_exec_encode(&e, buf, sizeof(buf));

	memset(&d, 0xa5, sizeof(d));
	before = d;
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(init_exec_counts(buf, (size_t)n), 9);
	for (long i = 0; i < n; i++) {
		ck_assert_int_eq(init_exec_decode(buf, (size_t)i, strv, 16, &d), -EBADMSG);
		ck_assert_int_eq(init_exec_encode(&e, buf + n, (size_t)i), -ENOBUFS);
	}
	ck_assert_int_eq(init_exec_decode(buf, (size_t)n + 1, strv, 16, &d), -EBADMSG);
	ck_assert_int_eq(init_exec_decode(buf, (size_t)n, strv, 8, &d), -ENOSPC);
	ck_assert_mem_eq(&d, &before, sizeof(d));
	ck_assert_int_eq(init_exec_decode(buf, (size_t)n, strv, 9, &d), 0);
	ck_assert_str_eq(d.cwd, "/work");
	ck_assert_str_eq(d.argv[2], "");
	ck_assert_ptr_null(d.argv[3]);
	ck_assert_str_eq(d.envp[1], "B=");
	ck_assert_ptr_null(d.envp[2]);
	ck_assert_str_eq(d.unset[0], "C");
	ck_assert_ptr_null(d.unset[1]);
	ck_assert(d.nrlimits == 2 && d.rlimits[1].hard == UINT64_MAX);
	ck_assert(d.nextra == 2 && d.extra[1] == 1023);
}
END_TEST

START_TEST(command_encode_refuses_what_decode_would)
{
	static const char *hole[] = { "A=1", NULL, NULL }, *no_value[] = { "A", "B=1", NULL }, *no_name[] = { "=1", "B=1", NULL };
	static const char *with_value[] = { "C=1", NULL }, *empty[] = { "", NULL };
	uint8_t buf[512];
	struct init_exec e;

#define BAD(change, err)                                                                                             \
	do {                                                                                                         \
		e = exec_sample();                                                                                   \
		change;                                                                                              \
		ck_assert_int_eq(init_exec_encode(&e, buf, sizeof(buf)), err);                                       \
	} while (0)
	BAD(e.argc = 0, -EINVAL);
	BAD(e.argv = hole, -EINVAL);
	BAD(e.cwd = NULL, -EINVAL);
	BAD(e.cwd = "work", -EINVAL);
	BAD(e.envp = hole, -EINVAL);
	BAD(e.envp = no_value, -EINVAL);
	BAD(e.envp = no_name, -EINVAL);
	BAD(e.unset = with_value, -EINVAL);
	BAD(e.unset = empty, -EINVAL);
	BAD(e.rlimits[0].resource = AK_INIT_RLIMITS_MAX, -EINVAL);
	BAD(e.extra[0] = 2, -EINVAL);
	BAD(e.extra[0] = 1024, -EINVAL);
	BAD(e.extra[0] = 1023, -EINVAL);	/* twice */
	BAD(e.argc = AK_INIT_STRINGS_MAX + 1, -E2BIG);
	BAD(e.envc = AK_INIT_STRINGS_MAX + 1, -E2BIG);
	BAD(e.unsetc = AK_INIT_STRINGS_MAX + 1, -E2BIG);
	BAD(e.nrlimits = AK_INIT_RLIMITS_MAX + 1, -E2BIG);
	BAD(e.nextra = AK_INIT_EXTRA_MAX + 1, -E2BIG);
#undef BAD
	e = exec_sample();
	e.cwd = "";
	ck_assert_int_gt(init_exec_encode(&e, buf, sizeof(buf)), 0);
}
END_TEST

static int rep_again(const struct init_rep *m, struct init_rep *ret)
{
	static uint8_t buf[AK_INIT_REP_MAX + 1];
	long n = init_rep_encode(m, buf, sizeof(buf));
	struct init_rep d, before;

	memset(&d, 0xa5, sizeof(d));
	before = d;
	ck_assert_int_gt(n, 0);
	for (long i = 0; i < n; i++)
		ck_assert_int_eq(init_rep_decode(buf, (size_t)i, &d), -EBADMSG);
	ck_assert_int_eq(init_rep_decode(buf, (size_t)n + 1, &d), -EBADMSG);
	ck_assert_mem_eq(&d, &before, sizeof(d));
	ck_assert_uint_eq(init_msg_type(buf, (size_t)n), m->type);
	return init_rep_decode(buf, (size_t)n, ret);
}

START_TEST(reply_decodes_to_what_was_encoded)
{
	const struct init_rep ready = { .type = INIT_REP_READY }, pty = { .type = INIT_REP_PTY, .id = 5 }, leaves = { .type = INIT_REP_LEAVES };
	const struct init_rep started = { .type = INIT_REP_STARTED, .id = 5, .leaf = 6, .pid = 7 };
	const struct init_rep failed = { .type = INIT_REP_FAILED, .id = 5, .leaf = 6, .stage = INIT_STAGE_EXEC, .code = ENOENT, .exit_code = 127,
					 .text = "x: no\nt found", .hint = NULL };
	const struct init_rep exited = { .type = INIT_REP_EXITED, .id = 5, .flags = INIT_EXITED_ALL, .leaf = 1, .wstatus = 0x2a00, .start_ns = 1,
					 .end_ns = 2, .user_ns = 3, .system_ns = 4, .maxrss_bytes = UINT64_MAX };
	const struct init_rep file = { .type = INIT_REP_FILE, .id = 5, .flags = INIT_FILED_ALL, .kind = INIT_KIND_OTHER, .mode = 07777, .size = 1,
				       .mtime_ns = -1, .ino = 2, .done = 3 };
	const struct init_rep no_file = { .type = INIT_REP_FILE, .id = 5, .code = 4095, .text = "no", .hint = "why" };
	const struct init_rep stats = { .type = INIT_REP_STATS, .running = 1, .spares = 2, .files = 3, .processes = 4, .fds = 5, .commands = 6, .rss_bytes = 7 };
	struct init_rep d;

	ck_assert_int_eq(rep_again(&ready, &d), 0);
	ck_assert_int_eq(rep_again(&leaves, &d), 0);
	ck_assert_int_eq(rep_again(&pty, &d), 0);
	ck_assert_int_eq(rep_again(&started, &d), 0);
	ck_assert(d.leaf == 6 && d.pid == 7);
	ck_assert_int_eq(rep_again(&failed, &d), 0);
	ck_assert(d.leaf == 6 && d.stage == INIT_STAGE_EXEC && d.code == ENOENT && d.exit_code == 127);
	ck_assert_str_eq(d.text, "x: no?t found");
	ck_assert_str_eq(d.hint, "");
	ck_assert_int_eq(rep_again(&exited, &d), 0);
	ck_assert(d.flags == INIT_EXITED_ALL && d.leaf == 1 && d.wstatus == 0x2a00 && d.start_ns == 1 && d.end_ns == 2 && d.user_ns == 3 &&
		  d.system_ns == 4 && d.maxrss_bytes == UINT64_MAX);
	ck_assert_int_eq(rep_again(&file, &d), 0);
	ck_assert(d.flags == INIT_FILED_ALL && d.kind == INIT_KIND_OTHER && d.mode == 07777 && d.size == 1 && d.mtime_ns == -1 && d.ino == 2 && d.done == 3);
	ck_assert_int_eq(rep_again(&no_file, &d), 0);
	ck_assert(d.code == 4095 && d.flags == 0 && strcmp(d.hint, "why") == 0);
	ck_assert_int_eq(rep_again(&stats, &d), 0);
	ck_assert(d.running == 1 && d.spares == 2 && d.files == 3 && d.processes == 4 && d.fds == 5 && d.commands == 6 && d.rss_bytes == 7);
}
END_TEST

START_TEST(reply_encode_refuses_what_decode_would)
{
	const struct init_rep exited = { .type = INIT_REP_EXITED, .id = 5, .wstatus = 9, .start_ns = 1, .end_ns = 2 };
	const struct init_rep failed = { .type = INIT_REP_FAILED, .id = 5, .stage = INIT_STAGE_CWD, .exit_code = 125 };
	const struct init_rep file = { .type = INIT_REP_FILE, .id = 5, .kind = INIT_KIND_FILE };
	uint8_t buf[256];
	struct init_rep m;

#define BAD(start, change)                                                                                           \
	do {                                                                                                         \
		m = start;                                                                                           \
		change;                                                                                              \
		ck_assert_int_eq(init_rep_encode(&m, buf, sizeof(buf)), -EINVAL);                                    \
	} while (0)
	BAD(exited, m.type = 31);
	BAD(exited, m.type = 40);
	BAD(exited, m.type = INIT_MSG_EXITED);
	BAD(exited, m.id = 0);
	BAD(exited, m.flags = INIT_EXITED_ALL + 1);
	BAD(exited, m.wstatus = 0x137f);
	BAD(exited, m.end_ns = 0);
	BAD(failed, m.stage = 0);
	BAD(failed, m.stage = INIT_STAGE_EXEC + 1);
	BAD(failed, m.code = 4096);
	BAD(failed, m.exit_code = 124);
	BAD(file, m.kind = 0);
	BAD(file, m.kind = INIT_KIND_OTHER + 1);
	BAD(file, m.mode = 010000);
	BAD(file, m.flags = INIT_FILED_ALL + 1);
	BAD(file, m.code = 4096);
#undef BAD
}
END_TEST

START_TEST(reply_texts_hold_no_control_bytes_and_are_cut)
{
	struct init_rep m = { .type = INIT_REP_FAILED, .id = 1, .stage = INIT_STAGE_CWD, .exit_code = 125, .text = "abc" }, d;
	static char large[4000];
	uint8_t buf[AK_INIT_REP_MAX + 64];
	long n = init_rep_encode(&m, buf, sizeof(buf));

	ck_assert_int_eq(init_rep_decode(buf, (size_t)n, &d), 0);
	buf[28] = 0x1b; /* the text's first byte: six numbers and the length stand before it */
	ck_assert_int_eq(init_rep_decode(buf, (size_t)n, &d), -EBADMSG);
	memset(large, 'x', sizeof(large) - 1);
	m.text = large;
	m.hint = large;
	n = init_rep_encode(&m, buf, sizeof(buf));
	ck_assert_int_eq(n, AK_INIT_REP_MAX);
	ck_assert_int_eq(init_rep_decode(buf, (size_t)n, &d), 0);
	ck_assert_str_eq(d.hint, "");
}
END_TEST

START_TEST(type_of_a_short_message_is_none)
{
	ck_assert_uint_eq(init_msg_type("\x22\0\0", 3), 0);
	ck_assert_uint_eq(init_msg_type("\x22\0\0\0", 4), INIT_REP_FAILED);
}
END_TEST

START_TEST(entries_follow_each_other)
{
	const struct init_entry a = { .kind = INIT_KIND_FILE, .mode = 0644, .size = 5, .mtime_ns = -7, .name = "a\nb" };
	const struct init_entry b = { .kind = INIT_KIND_DIR, .mode = 0755, .name = "x/.../y" };
	struct init_entry e;
	uint8_t buf[256];
	long n = init_entry_encode(&a, buf, sizeof(buf)), m = init_entry_encode(&b, buf + n, sizeof(buf) - (size_t)n);
	size_t pos = 0;

	ck_assert(n > 0 && m > 0);
	for (long i = 1; i < n; i++) {
		ck_assert_int_eq(init_entry_next(buf, (size_t)i, &pos, &e), -EBADMSG);
		ck_assert_uint_eq(pos, 0);
	}
	ck_assert_int_eq(init_entry_next(buf, (size_t)(n + m), &pos, &e), 1);
	ck_assert(e.size == 5 && e.mtime_ns == -7 && strcmp(e.name, "a\nb") == 0);
	ck_assert_int_eq(init_entry_next(buf, (size_t)(n + m), &pos, &e), 1);
	ck_assert_str_eq(e.name, "x/.../y");
	ck_assert_int_eq(init_entry_next(buf, (size_t)(n + m), &pos, &e), 0);
	ck_assert_int_eq(init_entry_encode(&a, buf, (size_t)n - 1), -ENOBUFS);
}
END_TEST

START_TEST(entry_names_lead_nowhere_else)
{
	static const char *const bad[] = { "", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b" };
	struct init_entry e = { .kind = INIT_KIND_FILE };
	uint8_t buf[64];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		e.name = bad[i];
		ck_assert_int_eq(init_entry_encode(&e, buf, sizeof(buf)), -EINVAL);
	}
	e.name = "..a/b..";
	ck_assert_int_gt(init_entry_encode(&e, buf, sizeof(buf)), 0);
	e.kind = 0;
	ck_assert_int_eq(init_entry_encode(&e, buf, sizeof(buf)), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_serve");
	TCase *tc = tcase_create("init_serve");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, request_decodes_to_what_was_encoded);
	tcase_add_test(tc, request_encode_refuses_what_decode_would);
	tcase_add_test(tc, request_says_how_many_descriptors_it_brings);
	tcase_add_test(tc, command_decodes_to_what_was_encoded);
	tcase_add_test(tc, command_encode_refuses_what_decode_would);
	tcase_add_test(tc, reply_decodes_to_what_was_encoded);
	tcase_add_test(tc, reply_encode_refuses_what_decode_would);
	tcase_add_test(tc, reply_texts_hold_no_control_bytes_and_are_cut);
	tcase_add_test(tc, type_of_a_short_message_is_none);
	tcase_add_test(tc, entries_follow_each_other);
	tcase_add_test(tc, entry_names_lead_nowhere_else);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed > 0;
}
