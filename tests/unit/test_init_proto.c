/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of init's configuration and messages. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_init_proto.h"

#define CAP 4096

static const char *sample_argv[] = { "sh", "-c", "", NULL };
static const char *sample_envp[] = { "PATH=/bin", "A=l1\nl2=x", NULL };
static const uint8_t sample_insns[16] = { 6, 0, 0, 0, 0, 0, 0xff, 0x7f, 1, 2, 3, 4, 5, 6, 7, 8 };

static struct init_config sample(void)
{
	struct init_config c = {
		.flags = INIT_TTY | INIT_LANDLOCK,
		.weaken = 0x80000001u,
		.cwd = "/work",
		.argv = sample_argv,
		.argc = 3,
		.envp = sample_envp,
		.envc = 2,
		.landlock_abi = 7,
		.paths = { { "/usr", INIT_PATH_RX },
			   { "/work", INIT_PATH_RW },
			   { "/dev/null", INIT_PATH_DEV } },
		.npaths = 3,
		.rlimits = { { 7, 1024, 4096 }, { 4, 1, UINT64_MAX } },
		.nrlimits = 2,
		.profile = { sample_insns, 2 },
		.floor = { sample_insns + 8, 1 },
		.joined = { sample_insns, 1 },
		.keep_fds = { 3, INT32_MAX },
		.nkeep_fds = 2,
		.tty_rows = 24,
		.tty_cols = 65535,
	};

	return c;
}

static struct init_config serving(void)
{
	struct init_config c = sample();

	c.flags = INIT_SERVE | INIT_LATE_FILTERS | INIT_LEAVES | INIT_ONCE | INIT_LANDLOCK;
	c.argc = 0;
	c.nkeep_fds = 0;
	c.joined = (struct init_filter){ 0 };
	c.roots[0] = "/work";
	c.roots[1] = "/tmp";
	c.nroots = 2;
	return c;
}

/* nothing of a configuration that was refused can be taken for one */
static void expect_nothing(const struct init_config *c)
{
	static const struct init_config none;

	ck_assert_mem_eq(c, &none, offsetof(struct init_config, rlimits));
}

static int decode(const void *buf, size_t len, struct init_config *ret)
{
	static const char *strv[64];

	return init_config_decode(buf, len, strv, 64, ret);
}

START_TEST(config_decodes_to_what_was_encoded)
{
	struct init_config c = sample(), d;
	uint8_t buf[CAP];
	long n = init_config_encode(&c, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(init_config_counts(buf, (size_t)n), 5);
	ck_assert_int_eq(decode(buf, (size_t)n, &d), 0);
	ck_assert_uint_eq(d.flags, c.flags);
	ck_assert_uint_eq(d.weaken, c.weaken);
	ck_assert_str_eq(d.cwd, "/work");
	ck_assert_uint_eq(d.argc, 3);
	ck_assert_str_eq(d.argv[2], "");
	ck_assert_ptr_null(d.argv[3]);
	ck_assert_uint_eq(d.envc, 2);
	ck_assert_str_eq(d.envp[1], "A=l1\nl2=x");
	ck_assert_ptr_null(d.envp[2]);
	ck_assert_uint_eq(d.landlock_abi, 7);
	ck_assert_uint_eq(d.npaths, 3);
	ck_assert_str_eq(d.paths[2].path, "/dev/null");
	ck_assert_uint_eq(d.paths[2].access, INIT_PATH_DEV);
	ck_assert_uint_eq(d.nrlimits, 2);
	ck_assert_uint_eq(d.rlimits[0].resource, 7);
	ck_assert_uint_eq(d.rlimits[0].soft, 1024);
	ck_assert(d.rlimits[1].hard == UINT64_MAX);
	ck_assert_uint_eq(d.profile.count, 2);
	ck_assert_mem_eq(d.profile.insns, sample_insns, 16);
	ck_assert_uint_eq(d.floor.count, 1);
	ck_assert_mem_eq(d.floor.insns, sample_insns + 8, 8);
	ck_assert_uint_eq(d.joined.count, 1);
	ck_assert_mem_eq(d.joined.insns, sample_insns, 8);
	ck_assert_uint_eq(d.nkeep_fds, 2);
	ck_assert_int_eq(d.keep_fds[1], INT32_MAX);
	ck_assert_uint_eq(d.tty_rows, 24);
	ck_assert_uint_eq(d.tty_cols, 65535);
}
END_TEST

/* what others hold: no filter, no Landlock */
static struct init_config bare(void)
{
	struct init_config c = serving();

	c.flags = INIT_SERVE | INIT_BARE;
	c.npaths = 0;
	c.profile.count = c.floor.count = c.joined.count = 0;
	return c;
}

START_TEST(config_of_what_others_hold_has_nothing_of_ours)
{
	struct init_config c = bare(), d;
	uint8_t buf[CAP] = { 0 };

	ck_assert_int_gt(init_config_encode(&c, buf, sizeof(buf)), 0);
	c.envc = 0;
	c.flags |= INIT_OWN_ENV | INIT_ONCE;
	ck_assert_int_eq(decode(buf, (size_t)init_config_encode(&c, buf, sizeof(buf)), &d), 0);
	ck_assert_uint_eq(d.flags, c.flags);
	ck_assert_uint_eq(d.envc, 0);
}
END_TEST

START_TEST(config_of_serve_mode_has_roots_and_no_argv)
{
	struct init_config c = serving(), d;
	uint8_t buf[CAP] = { 0 };
	long n = init_config_encode(&c, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	for (long i = 0; i < n; i++)
		ck_assert_int_eq(decode(buf, (size_t)i, &d), -EBADMSG);
	ck_assert_int_eq(decode(buf, (size_t)n, &d), 0);
	ck_assert_uint_eq(d.flags, c.flags);
	ck_assert_uint_eq(d.argc, 0);
	ck_assert_ptr_null(d.argv[0]);
	ck_assert_uint_eq(d.envc, 2);
	ck_assert_uint_eq(d.nroots, 2);
	ck_assert_str_eq(d.roots[0], "/work");
	ck_assert_str_eq(d.roots[1], "/tmp");
}
END_TEST

START_TEST(config_decode_rejects_every_truncation_and_addition)
{
	struct init_config c = sample(), d;
	uint8_t buf[CAP] = { 0 };
	long n = init_config_encode(&c, buf, sizeof(buf));

	for (long i = 0; i <= n + 1; i++) {
		memset(&d, 0xa5, sizeof(d));
		ck_assert_int_eq(decode(buf, (size_t)i, &d), i == n ? 0 : -EBADMSG);
		if (i != n)
			expect_nothing(&d);
	}
}
END_TEST

START_TEST(config_decode_wants_room_for_the_strings)
{
	struct init_config c = sample(), d = { 0 };
	const char *strv[7];
	uint8_t buf[CAP];
	long n = init_config_encode(&c, buf, sizeof(buf));

	ck_assert_int_eq(init_config_decode(buf, (size_t)n, strv, 6, &d), -ENOSPC);
	ck_assert_ptr_null(d.cwd);
	ck_assert_int_eq(init_config_decode(buf, (size_t)n, strv, 7, &d), 0);
}
END_TEST

START_TEST(config_decode_rejects_magic_and_counts)
{
	struct init_config c = sample(), d;
	uint8_t buf[CAP];
	long n = init_config_encode(&c, buf, sizeof(buf));

	buf[0] ^= 1;
	ck_assert_int_eq(decode(buf, (size_t)n, &d), -EBADMSG);
	ck_assert_int_eq(init_config_counts(buf, (size_t)n), -EBADMSG);
	buf[0] ^= 1;
	buf[6] = 2; /* argc 0x20003 */
	ck_assert_int_eq(decode(buf, (size_t)n, &d), -EBADMSG);
	ck_assert_int_eq(init_config_counts(buf, (size_t)n), -EBADMSG);
	ck_assert_int_eq(init_config_counts(buf, 11), -EBADMSG);
}
END_TEST

START_TEST(config_encode_refuses_what_does_not_fit)
{
	struct init_config c = sample();
	uint8_t buf[CAP];
	long n = init_config_encode(&c, buf, sizeof(buf));

	ck_assert_int_eq(init_config_encode(&c, buf, (size_t)n), n);
	for (long i = 0; i < n; i++)
		ck_assert_int_eq(init_config_encode(&c, buf, (size_t)i), -ENOBUFS);
}
END_TEST

/* One field over its maximum at a time; the arrays behind are not touched, so they may be short */
START_TEST(config_encode_refuses_counts_over_their_maximum)
{
	uint8_t buf[CAP];
	struct init_config c;

#define OVER(field, max)                                                                                     \
	do {                                                                                                 \
		c = sample();                                                                                \
		c.field = (max) + 1;                                                                         \
		ck_assert_int_eq(init_config_encode(&c, buf, sizeof(buf)), -E2BIG);                          \
	} while (0)
	OVER(argc, AK_INIT_STRINGS_MAX);
	OVER(envc, AK_INIT_STRINGS_MAX);
	OVER(npaths, AK_INIT_PATHS_MAX);
	OVER(nrlimits, AK_INIT_RLIMITS_MAX);
	OVER(nkeep_fds, AK_INIT_FDS_MAX);
	OVER(profile.count, AK_INIT_FILTER_MAX);
	OVER(floor.count, AK_INIT_FILTER_MAX);
	OVER(joined.count, AK_INIT_FILTER_MAX);
	OVER(nroots, AK_INIT_ROOTS_MAX);
#undef OVER
}
END_TEST

START_TEST(config_encode_refuses_more_than_init_reads)
{
	struct init_config c = sample();
	size_t cap = (size_t)AK_INIT_CONFIG_MAX + CAP;
	char *big = malloc(AK_INIT_CONFIG_MAX + 1);
	uint8_t *buf = malloc(cap);
	const char *argv[] = { big, NULL };

	ck_assert(big && buf);
	memset(big, 'x', AK_INIT_CONFIG_MAX);
	big[AK_INIT_CONFIG_MAX] = 0;
	c.argv = argv;
	c.argc = 1;
	ck_assert_int_eq(init_config_encode(&c, buf, cap), -E2BIG);
	free(big);
	free(buf);
}
END_TEST

START_TEST(config_encode_refuses_what_init_would)
{
	static const char *hole[] = { "sh", NULL, "x", NULL };
	uint8_t buf[CAP];
	struct init_config c;

#define BAD(assignment)                                                                                      \
	do {                                                                                                 \
		c = sample();                                                                                \
		assignment;                                                                                  \
		ck_assert_int_eq(init_config_encode(&c, buf, sizeof(buf)), -EINVAL);                         \
	} while (0)
	BAD((c.flags |= INIT_LEARN, c.joined.count = 0));
	BAD((c = serving(), c.joined = (struct init_filter){ sample_insns, 1 }));
	BAD((c = serving(), c.flags |= INIT_LEARN));
	BAD(c.flags = 1u << 12);
	BAD(c.flags |= INIT_BARE);	/* of serve mode only */
	BAD((c = bare(), c.flags |= INIT_LANDLOCK));
	BAD((c = bare(), c.flags |= INIT_LATE_FILTERS));
	BAD((c = bare(), c.flags |= INIT_LEAVES));
	BAD((c = bare(), c.profile = (struct init_filter){ sample_insns, 1 }));
	BAD((c = bare(), c.floor = (struct init_filter){ sample_insns, 1 }));
	BAD((c = bare(), c.flags |= INIT_OWN_ENV));	/* with an environment */
	BAD((c = serving(), c.envc = 0, c.flags |= INIT_OWN_ENV));
	BAD(c.flags = (c.flags & ~(uint32_t)INIT_LANDLOCK) | INIT_NO_TCP);
	BAD(c.flags = (c.flags & ~(uint32_t)INIT_LANDLOCK) | INIT_SCOPES);
	BAD(c.flags |= INIT_LATE_FILTERS);
	BAD(c.flags |= INIT_LEAVES);
	BAD(c.flags |= INIT_ONCE);
	BAD((c.roots[0] = "/work", c.nroots = 1));
	BAD(c.flags = INIT_SERVE);	/* with an argv and kept descriptors */
	BAD((c = serving(), c.argc = 1));
	BAD((c = serving(), c.nkeep_fds = 1));
	BAD((c = serving(), c.flags |= INIT_TTY));
	BAD((c = serving(), c.flags |= INIT_PLAIN));
	BAD((c = serving(), c.roots[1] = "tmp"));
	BAD((c = serving(), c.roots[1] = NULL));
	BAD(c.argc = 0);
	BAD(c.argv = hole);
	BAD(c.cwd = NULL);
	BAD(c.cwd = "");
	BAD(c.cwd = "work");
	BAD(c.paths[0].path = NULL);
	BAD(c.paths[0].access = 0);
	BAD(c.paths[0].access = INIT_PATH_DEV + 1);
	BAD(c.rlimits[1].resource = AK_INIT_RLIMITS_MAX);
	BAD(c.keep_fds[0] = 2);
	BAD(c.keep_fds[0] = -1);
#undef BAD
}
END_TEST

static int msg_again(const struct init_msg *m, struct init_msg *ret)
{
	static uint8_t buf[AK_INIT_MSG_MAX];
	long n = init_msg_encode(m, buf, sizeof(buf));

	ck_assert_int_gt(n, 0);
	for (long i = 0; i < n; i++)
		ck_assert_int_eq(init_msg_decode(buf, (size_t)i, ret), -EBADMSG);
	if (n < (long)sizeof(buf))
		ck_assert_int_eq(init_msg_decode(buf, (size_t)n + 1, ret), -EBADMSG);
	return init_msg_decode(buf, (size_t)n, ret);
}

START_TEST(message_decodes_to_what_was_encoded)
{
	const struct init_msg failed = { .type = INIT_MSG_FAILED,
					 .stage = INIT_STAGE_EXEC,
					 .code = ENOENT,
					 .exit_code = 127,
					 .text = "nope: not found",
					 .hint = "" };
	const struct init_msg exited = {
		.type = INIT_MSG_EXITED, .wstatus = 0x2a00, .start_ns = 1, .end_ns = UINT64_MAX
	};
	const struct init_msg sig = { .type = INIT_MSG_SIGNAL, .signo = 64 };
	const struct init_msg pty = { .type = INIT_MSG_PTY }, go = { .type = INIT_MSG_GO };
	const struct init_msg listener = { .type = INIT_MSG_LISTENER, .code = EBUSY };
	const uint8_t bits[AK_INIT_LEARNED_BYTES] = { 1, 2, [AK_INIT_LEARNED_BYTES - 1] = 255 };
	const struct init_msg learned = { .type = INIT_MSG_LEARNED, .learned = bits };
	struct init_msg m;

	ck_assert_int_eq(msg_again(&failed, &m), 0);
	ck_assert_uint_eq(m.stage, INIT_STAGE_EXEC);
	ck_assert_uint_eq(m.code, ENOENT);
	ck_assert_uint_eq(m.exit_code, 127);
	ck_assert_str_eq(m.text, "nope: not found");
	ck_assert_str_eq(m.hint, "");
	ck_assert_int_eq(msg_again(&exited, &m), 0);
	ck_assert_uint_eq(m.wstatus, 0x2a00);
	ck_assert_uint_eq(m.start_ns, 1);
	ck_assert(m.end_ns == UINT64_MAX);
	ck_assert_int_eq(msg_again(&sig, &m), 0);
	ck_assert_uint_eq(m.signo, 64);
	ck_assert_int_eq(msg_again(&listener, &m), 0);
	ck_assert_uint_eq(m.code, EBUSY);
	ck_assert_int_eq(msg_again(&learned, &m), 0);
	ck_assert_mem_eq(m.learned, bits, sizeof(bits));
	ck_assert_int_eq(msg_again(&pty, &m), 0);
	ck_assert_uint_eq(m.type, INIT_MSG_PTY);
	ck_assert_int_eq(msg_again(&go, &m), 0);
	ck_assert_uint_eq(m.type, INIT_MSG_GO);
}
END_TEST

START_TEST(message_text_is_cut_to_fit_and_hint_goes_first)
{
	struct init_msg m = {
		.type = INIT_MSG_FAILED, .stage = INIT_STAGE_CWD, .exit_code = 125, .hint = "hint"
	};
	char text[2 * AK_INIT_MSG_MAX + 1];
	uint8_t buf[AK_INIT_MSG_MAX + 100];
	struct init_msg d;
	long n;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	m.text = text;
	n = init_msg_encode(&m, buf, sizeof(buf));
	ck_assert_int_eq(n, AK_INIT_MSG_MAX);
	ck_assert_int_eq(init_msg_decode(buf, (size_t)n, &d), 0);
	ck_assert_uint_eq(strlen(d.text), AK_INIT_MSG_MAX - 26);
	ck_assert_str_eq(d.hint, "");
	/* the smallest frame holds two empty texts */
	ck_assert_int_eq(init_msg_encode(&m, buf, 26), 26);
	ck_assert_int_eq(init_msg_encode(&m, buf, 25), -ENOBUFS);
	ck_assert_int_eq(init_msg_encode(&m, buf, 0), -ENOBUFS);
}
END_TEST

START_TEST(message_text_is_not_cut_inside_a_character)
{
	struct init_msg m = { .type = INIT_MSG_FAILED, .stage = INIT_STAGE_CWD, .exit_code = 125 };
	uint8_t buf[64];
	struct init_msg d;
	long n;

	m.text = "a\xe2\x82\xac";
	n = init_msg_encode(&m, buf, 26 + 3);
	ck_assert_int_eq(init_msg_decode(buf, (size_t)n, &d), 0);
	ck_assert_str_eq(d.text, "a");
	n = init_msg_encode(&m, buf, 26 + 4);
	ck_assert_int_eq(init_msg_decode(buf, (size_t)n, &d), 0);
	ck_assert_str_eq(d.text, "a\xe2\x82\xac");
}
END_TEST

START_TEST(message_texts_hold_no_control_bytes)
{
	struct init_msg m = { .type = INIT_MSG_FAILED,
			      .stage = INIT_STAGE_CWD,
			      .exit_code = 125,
			      .text = "a\033]0;b\nc\177",
			      .hint = NULL };
	uint8_t buf[128];
	long n = init_msg_encode(&m, buf, sizeof(buf));
	struct init_msg d;

	ck_assert_int_eq(init_msg_decode(buf, (size_t)n, &d), 0);
	ck_assert_str_eq(d.text, "a?]0;b?c?");
	ck_assert_str_eq(d.hint, "");
	buf[20] = 0x1b; /* the text's first byte: type, stage, code, exit code and length stand before it */
	ck_assert_int_eq(init_msg_decode(buf, (size_t)n, &d), -EBADMSG);
}
END_TEST

/* Changes one number of a valid message, as an attacker would, and wants it refused with the result untouched
 */
static void refused(const struct init_msg *m, size_t at, uint32_t value)
{
	uint8_t buf[AK_INIT_MSG_MAX];
	long n = init_msg_encode(m, buf, sizeof(buf));
	struct init_msg d, before;

	memset(&d, 0xa5, sizeof(d));
	before = d;
	ck_assert_int_gt(n, (long)at + 3);
	for (size_t i = 0; i < 4; i++)
		buf[at + i] = (uint8_t)(value >> (8 * i));
	ck_assert_int_eq(init_msg_decode(buf, (size_t)n, &d), -EBADMSG);
	ck_assert_mem_eq(&d, &before, sizeof(d));
}

START_TEST(message_decode_rejects_what_cannot_be)
{
	const struct init_msg failed = { .type = INIT_MSG_FAILED,
					 .stage = INIT_STAGE_EXEC,
					 .exit_code = 127 };
	const struct init_msg exited = { .type = INIT_MSG_EXITED, .wstatus = 9, .start_ns = 5, .end_ns = 6 };
	const struct init_msg sig = { .type = INIT_MSG_SIGNAL, .signo = 1 };
	const struct init_msg listener = { .type = INIT_MSG_LISTENER };
	const uint8_t bits[AK_INIT_LEARNED_BYTES] = { 0 };
	const struct init_msg learned = { .type = INIT_MSG_LEARNED, .learned = bits };
	static const uint32_t no_end[] = { 0x7f, 0x137f, 0xff, 0xffff, 0x80, 0x109, 0x10000 };

	refused(&failed, 0, 0);
	refused(&failed, 0, 4);
	refused(&failed, 0, INIT_MSG_GO);
	refused(&failed, 4, 0);
	refused(&failed, 4, INIT_STAGE_EXEC + 1);
	refused(&failed, 8, 4096);
	refused(&failed, 12, 124);
	refused(&failed, 12, 128);
	for (size_t i = 0; i < sizeof(no_end) / sizeof(no_end[0]); i++)
		refused(&exited, 4, no_end[i]);
	refused(&exited, 8, 7); /* starts after its end */
	refused(&sig, 4, 0);
	refused(&sig, 4, 65);
	refused(&listener, 4, 4096);
	refused(&learned, 4, AK_INIT_LEARNED_BYTES - 1);
	refused(&learned, 4, 0);
}
END_TEST

START_TEST(message_encode_refuses_what_decode_would)
{
	const struct init_msg unknown = { .type = 99 }, sig = { .type = INIT_MSG_SIGNAL };
	const struct init_msg stopped = { .type = INIT_MSG_EXITED, .wstatus = 0x137f };
	const struct init_msg failed = { .type = INIT_MSG_FAILED, .stage = INIT_STAGE_CWD, .exit_code = 1 };
	const struct init_msg learned = { .type = INIT_MSG_LEARNED }, listener = { .type = INIT_MSG_LISTENER, .code = 4096 };
	uint8_t buf[64];

	ck_assert_int_eq(init_msg_encode(&learned, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(init_msg_encode(&listener, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(init_msg_encode(&unknown, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(init_msg_encode(&sig, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(init_msg_encode(&stopped, buf, sizeof(buf)), -EINVAL);
	ck_assert_int_eq(init_msg_encode(&failed, buf, sizeof(buf)), -EINVAL);
}
END_TEST

START_TEST(message_decode_rejects_more_than_the_maximum)
{
	uint8_t buf[AK_INIT_MSG_MAX + 1] = { INIT_MSG_GO };
	struct init_msg d;

	ck_assert_int_eq(init_msg_decode(buf, sizeof(buf), &d), -EBADMSG);
	ck_assert_int_eq(init_msg_decode(buf, 4, &d), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("init_proto");
	TCase *tc = tcase_create("init_proto");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, config_decodes_to_what_was_encoded);
	tcase_add_test(tc, config_of_serve_mode_has_roots_and_no_argv);
	tcase_add_test(tc, config_of_what_others_hold_has_nothing_of_ours);
	tcase_add_test(tc, config_decode_rejects_every_truncation_and_addition);
	tcase_add_test(tc, config_decode_wants_room_for_the_strings);
	tcase_add_test(tc, config_decode_rejects_magic_and_counts);
	tcase_add_test(tc, config_encode_refuses_what_does_not_fit);
	tcase_add_test(tc, config_encode_refuses_counts_over_their_maximum);
	tcase_add_test(tc, config_encode_refuses_more_than_init_reads);
	tcase_add_test(tc, config_encode_refuses_what_init_would);
	tcase_add_test(tc, message_decodes_to_what_was_encoded);
	tcase_add_test(tc, message_text_is_cut_to_fit_and_hint_goes_first);
	tcase_add_test(tc, message_text_is_not_cut_inside_a_character);
	tcase_add_test(tc, message_texts_hold_no_control_bytes);
	tcase_add_test(tc, message_decode_rejects_what_cannot_be);
	tcase_add_test(tc, message_encode_refuses_what_decode_would);
	tcase_add_test(tc, message_decode_rejects_more_than_the_maximum);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
