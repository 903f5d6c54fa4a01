/* SPDX-License-Identifier: Apache-2.0 */
/* Joined filters, and the list of what was refused. Process: unit tests. Privilege: none. */
#include <check.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/denials.h"
#include "seccomp/filters.h"
#include "seccomp/sim.h"

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#else
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

static struct observe_filters f;
static struct sock_filter joined[BPF_MAXINSNS];
static uint32_t n_joined;

static void load(const char *profile, enum seccomp_floor_kind kind)
{
	const struct seccomp_filter *p = seccomp_profile(profile), *fl = seccomp_floor(kind);

	f = (struct observe_filters){ (const struct sock_filter *)(const void *)p->insns, (const struct sock_filter *)(const void *)fl->insns,
				      p->count, fl->count };
	n_joined = observe_join(&f, joined, BPF_MAXINSNS);
	ck_assert_uint_eq(n_joined, p->count + fl->count);
	ck_assert(bpf_sim_check(joined, n_joined));
}

/* for every number and arguments that the filters ask for: what passes passes, what is refused is told, what kills kills */
static void compare(void)
{
	static const uint64_t v[] = { 0, 1, 2, 3, 10, 16, 17, 38, 40, 0x5412, 0x541c, 0xffffffff, 0x10000000, 0x7e020000, 04755, 02755, 0x8000000000005412 };

	for (int nr = -1; nr < 1030; nr++) {
		for (size_t i = 0; i < sizeof(v) / sizeof(v[0]) * 6; i++) {
			struct seccomp_data d = { .nr = nr, .arch = i == 5 ? OWN_ARCH ^ 1 : OWN_ARCH };
			uint32_t plain, told;

			d.args[i % 6] = v[i / 6];
			d.args[(i + 1) % 6] = v[(i * 7) % (sizeof(v) / sizeof(v[0]))];
			plain = bpf_sim_join(bpf_sim_run(f.floor, f.n_floor, &d), bpf_sim_run(f.profile, f.n_profile, &d));
			told = bpf_sim_run(joined, n_joined, &d);
			if ((plain & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO) {
				ck_assert_uint_eq(told, SECCOMP_RET_USER_NOTIF);
				ck_assert_int_eq(observe_errno(&f, &d), (int)(plain & SECCOMP_RET_DATA));
			} else {
				ck_assert_uint_eq(told, plain);
			}
		}
	}
}

START_TEST(joined_filter_refuses_the_same_and_tells)
{
	static const char *const profiles[] = { "default", "strict" };

	for (int p = 0; p < 2; p++) {
		for (int k = SECCOMP_FLOOR_USER; k <= SECCOMP_FLOOR_SETID; k++) {
			load(profiles[p], (enum seccomp_floor_kind)k);
			compare();
		}
	}
}
END_TEST

START_TEST(join_needs_room)
{
	load("default", SECCOMP_FLOOR_USER);
	ck_assert_uint_eq(observe_join(&f, joined, f.n_profile + f.n_floor), f.n_profile + f.n_floor);
	ck_assert_uint_eq(observe_join(&f, joined, f.n_profile + f.n_floor - 1), 0);
	ck_assert_uint_eq(observe_join(&f, joined, f.n_profile - 1), 0);
}
END_TEST

START_TEST(allows_asks_both)
{
	load("default", SECCOMP_FLOOR_USER);
	ck_assert(observe_allows(&f, OWN_ARCH, SYS_sendmsg));
	ck_assert(!observe_allows(&f, OWN_ARCH, SYS_keyctl));
	ck_assert(!observe_allows(&f, OWN_ARCH ^ 1, SYS_sendmsg));
}
END_TEST

START_TEST(list_is_sorted_and_bounded)
{
	struct denials d;
	struct denial list[3];
	char buf[32];

	denials_init(&d, NULL, 0);
	ck_assert_uint_eq(denials_list(&d, list, 3, buf), 0);
	d.count[SYS_mount] = 2;
	d.count[SYS_keyctl] = 9;
	d.count[DENIALS_NUMBERS] = 5;
	d.count[SYS_bpf] = 1;
	ck_assert_uint_eq(denials_list(&d, list, 3, buf), 3);
	ck_assert_str_eq(list[0].name, "keyctl");
	ck_assert_uint_eq(list[0].count, 9);
	ck_assert_str_eq(list[1].name, "other");
	ck_assert_str_eq(list[2].name, "mount");
}
END_TEST

START_TEST(what_is_no_listener_is_refused)
{
	struct denials d;
	int p[2];

	load("default", SECCOMP_FLOOR_USER);
	ck_assert_int_eq(pipe(p), 0);
	denials_init(&d, &f, 0);
	ck_assert_int_eq(denials_listen(&d, p[0]), -EBADMSG);
	ck_assert(!d.observed && d.fd == -1);
	ck_assert_int_lt(close(p[0]), 0);	/* was taken */
	(void)close(p[1]);
}
END_TEST

START_TEST(names_of_calls)
{
	ck_assert_str_eq(seccomp_call_name(SYS_mount), "mount");
	ck_assert_str_eq(seccomp_call_name(462), "mseal");
	ck_assert_ptr_null(seccomp_call_name(511));
	ck_assert_ptr_null(seccomp_call_name(100000));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("denials");
	TCase *t = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_test(t, joined_filter_refuses_the_same_and_tells);
	tcase_add_test(t, join_needs_room);
	tcase_add_test(t, allows_asks_both);
	tcase_add_test(t, list_is_sorted_and_bounded);
	tcase_add_test(t, what_is_no_listener_is_refused);
	tcase_add_test(t, names_of_calls);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
