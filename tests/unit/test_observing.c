/* SPDX-License-Identifier: Apache-2.0 */
/* When refused calls are observed, and what `ak seccomp learn` takes. Process: unit tests. Privilege: none. */
#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "executor/learn.h"
#include "executor/observing.h"
#include "executor/opts.h"
#include "executor/plan.h"
#include "executor/shared/ak_canary.h"
#include "executor/shared/ak_err.h"
#include "seccomp/own_arch.h"
#include "seccomp/sim.h"

static struct observing ob;
static struct exec_opts o;
static struct plan p;
static struct ak_err err;

static void setup(void)
{
	ob = (struct observing)OBSERVING_NONE;
	o = (struct exec_opts){ .seccomp = "default" };
	p = (struct plan){ .seccomp = "default" };
	err = (struct ak_err){ 0 };
}

static void teardown(void)
{
	observing_release(&ob);
	plan_release(&p);
}

static uint32_t ask(int nr)
{
	const struct seccomp_data d = { .nr = nr, .arch = SECCOMP_OWN_ARCH };

	return bpf_sim_run((const struct sock_filter *)(const void *)p.joined, p.joined_count, &d);
}

/* a user's profile of these instructions, in the plan's memory */
static void bring(const struct sock_filter *f, size_t n)
{
	p.filter = malloc(n * sizeof(*f));
	ck_assert_ptr_nonnull(p.filter);
	memcpy(p.filter, f, n * sizeof(*f));
	p.filter_count = (uint32_t)n;
	p.seccomp = "my.json";
}

START_TEST(nobody_asks_nothing_is_observed)
{
	ck_assert_int_eq(observing_prepare(&ob, &o, false, &p, &err), 0);
	ck_assert_ptr_null(p.joined);
	ck_assert_uint_eq(p.nwarnings, 0);
	observing_told(&ob, &p);
	ck_assert_uint_eq(p.nwarnings, 0);
}
END_TEST

START_TEST(each_way_to_ask_is_enough)
{
	char name[] = "file";

	o.json = _i == 0;
	o.report = _i == 1 ? name : NULL;
	o.verbose = _i == 2;
	ck_assert_int_eq(observing_prepare(&ob, &o, false, &p, &err), 0);
	ck_assert_ptr_nonnull(p.joined);
	ck_assert(!p.learn);
	ck_assert_uint_eq(ask(SYS_getppid), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask(SYS_mount), SECCOMP_RET_USER_NOTIF);
	ck_assert_uint_eq(ob.denials.own, AK_CANARIES);
}
END_TEST

START_TEST(learning_traces)
{
	ck_assert_int_eq(observing_prepare(&ob, &o, true, &p, &err), 0);
	ck_assert(p.learn);
	ck_assert(ob.learn);
	ck_assert_uint_eq(ask(SYS_getppid), SECCOMP_RET_TRACE);
	ck_assert_uint_eq(ask(SYS_mount), SECCOMP_RET_USER_NOTIF);
}
END_TEST

START_TEST(self_tests_that_no_filter_refuses_are_not_waited_for)
{
	const struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };

	o.json = true;
	bring(all, 1);
	ck_assert_int_eq(observing_prepare(&ob, &o, false, &p, &err), 0);
	/* the kernel itself says that there is no call 100000 */
	ck_assert_uint_eq(ob.denials.own, AK_CANARIES - 1);
	plan_release(&p);
	observing_release(&ob);
	setup();
	o.json = true;
	p.canary_skip = 3;
	ck_assert_int_eq(observing_prepare(&ob, &o, false, &p, &err), 0);
	ck_assert_uint_eq(ob.denials.own, AK_CANARIES - 2);
}
END_TEST

START_TEST(profile_that_does_not_let_init_send_is_not_observed)
{
	/* sendmsg passes for some descriptors: init's may be another */
	const struct sock_filter some[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 5, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};

	o.json = true;
	bring(some, 6);
	ck_assert_int_eq(observing_prepare(&ob, &o, false, &p, &err), 0);
	ck_assert_ptr_null(p.joined);
	ck_assert_uint_eq(p.nwarnings, 1);
	ck_assert_ptr_nonnull(strstr(p.warnings[0], "not observed: the profile refuses"));
	observing_release(&ob);
	ck_assert_int_eq(observing_prepare(&ob, &o, true, &p, &err), -EINVAL);
	ck_assert_ptr_null(p.joined);
}
END_TEST

START_TEST(filters_that_are_too_long_together_are_not_observed)
{
	struct sock_filter *f = malloc(BPF_MAXINSNS * sizeof(*f));

	ck_assert_ptr_nonnull(f);
	for (size_t i = 0; i < BPF_MAXINSNS; i++)
		f[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	o.json = true;
	bring(f, BPF_MAXINSNS);
	free(f);
	ck_assert_int_eq(observing_prepare(&ob, &o, false, &p, &err), 0);
	ck_assert_ptr_null(p.joined);
	ck_assert_uint_eq(p.nwarnings, 1);
	ck_assert_ptr_nonnull(strstr(p.warnings[0], "longer than the kernel takes"));
}
END_TEST

START_TEST(a_kernel_without_a_listener_is_told)
{
	o.json = true;
	ck_assert_int_eq(observing_prepare(&ob, &o, false, &p, &err), 0);
	observing_told(&ob, &p);
	ck_assert_uint_eq(p.nwarnings, 0);
	ob.denials.why_not = EBUSY;
	observing_told(&ob, &p);
	ck_assert_ptr_nonnull(strstr(p.warnings[0], "one observer"));
	ob.denials.why_not = EINVAL;
	observing_told(&ob, &p);
	ck_assert_ptr_nonnull(strstr(p.warnings[1], "Invalid argument"));
}
END_TEST

START_TEST(learn_refuses_what_means_nothing_there)
{
	char file[] = "p.json";

	ck_assert_int_eq(learn_check(&o, &err), 0);
	o.json = true;
	ck_assert_int_eq(learn_check(&o, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "--json"));
	o = (struct exec_opts){ .in = file };
	ck_assert_int_eq(learn_check(&o, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "--in"));
	o = (struct exec_opts){ .report = file };
	ck_assert_int_eq(learn_check(&o, &err), -EINVAL);
	o = (struct exec_opts){ .explain = true };
	ck_assert_int_eq(learn_check(&o, &err), -EINVAL);
	o = (struct exec_opts){ .seccomp_file = file };
	ck_assert_int_eq(learn_check(&o, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "p.json"));
}
END_TEST

START_TEST(learn_writes_nothing_of_a_run_without_an_end)
{
	const struct learn none = LEARN_NONE;

	ck_assert_int_eq(learn_write(&none, &o, &ob, &err), -EPROTO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("observing");
	TCase *t = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nobody_asks_nothing_is_observed);
	tcase_add_loop_test(t, each_way_to_ask_is_enough, 0, 3);
	tcase_add_test(t, learning_traces);
	tcase_add_test(t, self_tests_that_no_filter_refuses_are_not_waited_for);
	tcase_add_test(t, profile_that_does_not_let_init_send_is_not_observed);
	tcase_add_test(t, filters_that_are_too_long_together_are_not_observed);
	tcase_add_test(t, a_kernel_without_a_listener_is_told);
	tcase_add_test(t, learn_refuses_what_means_nothing_there);
	tcase_add_test(t, learn_writes_nothing_of_a_run_without_an_end);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
