/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator that the filters are tested with, on programs written by hand. Process: unit tests.
 * Privilege: none. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "seccomp/sim.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

START_TEST(simulator_runs_each_instruction)
{
	const struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 5, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 100, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 100, 0, 4),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 6, 2, 0),
		BPF_STMT(BPF_JMP | BPF_JA, 3),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG),
	};
	const struct {
		int nr;
		uint64_t arg1;
		uint32_t want;
	} cases[] = {
		{5, 0, SECCOMP_RET_ERRNO | EPERM},  {101, 0, SECCOMP_RET_ALLOW},
		{100, 0, SECCOMP_RET_KILL_PROCESS}, {-1, 0, SECCOMP_RET_ALLOW},
		{4, 6, SECCOMP_RET_TRAP}, /* only the upper half is loaded */
		{4, 4ull << 32, SECCOMP_RET_LOG},   {4, 2ull << 32, SECCOMP_RET_TRAP},
		{99, 6ull << 32, SECCOMP_RET_LOG},  {0, 8ull << 32, SECCOMP_RET_TRAP},
	};

	ck_assert(bpf_sim_check(f, COUNT(f)));
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct seccomp_data d = {.nr = cases[i].nr, .args = {0, cases[i].arg1}};

		ck_assert_msg(bpf_sim_run(f, COUNT(f), &d) == cases[i].want, "case %zu", i);
	}
	ck_assert_uint_eq(bpf_sim_run(f, 1, &(struct seccomp_data){0}), BPF_SIM_INVALID);
}
END_TEST

START_TEST(simulator_refuses_what_the_kernel_refuses)
{
	struct sock_filter ok[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
				   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0),
				   BPF_STMT(BPF_RET | BPF_K, 0)};

	ck_assert(bpf_sim_check(ok, 3));
	ck_assert(!bpf_sim_check(ok, 0));
	ck_assert(!bpf_sim_check(ok, 2)); /* no return at the end */
	ok[1].jt = 1;
	ck_assert(!bpf_sim_check(ok, 3));
	ok[1].jt = 0;
	ok[1].jf = 1;
	ck_assert(!bpf_sim_check(ok, 3));
	ok[1] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1);
	ck_assert(!bpf_sim_check(ok, 3));
	ok[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2);
	ck_assert(!bpf_sim_check(ok, 3));
	ok[1].k = sizeof(struct seccomp_data);
	ck_assert(!bpf_sim_check(ok, 3));
	ok[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0);
	ck_assert(!bpf_sim_check(ok, 3));
}
END_TEST

START_TEST(strictest_answer_wins_and_ties_go_to_the_newest)
{
	const uint32_t perm = SECCOMP_RET_ERRNO | EPERM, nosys = SECCOMP_RET_ERRNO | ENOSYS;

	ck_assert_uint_eq(bpf_sim_join(perm, nosys), perm);
	ck_assert_uint_eq(bpf_sim_join(nosys, perm), nosys);
	ck_assert_uint_eq(bpf_sim_join(SECCOMP_RET_ALLOW, nosys), nosys);
	ck_assert_uint_eq(bpf_sim_join(perm, SECCOMP_RET_ALLOW), perm);
	ck_assert_uint_eq(bpf_sim_join(SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD),
			  SECCOMP_RET_KILL_PROCESS);
	ck_assert_uint_eq(bpf_sim_join(perm, SECCOMP_RET_KILL_PROCESS), SECCOMP_RET_KILL_PROCESS);
	ck_assert_uint_eq(bpf_sim_join(SECCOMP_RET_LOG, SECCOMP_RET_USER_NOTIF), SECCOMP_RET_USER_NOTIF);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("bpf_sim");
	TCase *tc = tcase_create("simulator");
	SRunner *sr;
	int failed;

	tcase_add_test(tc, simulator_runs_each_instruction);
	tcase_add_test(tc, simulator_refuses_what_the_kernel_refuses);
	tcase_add_test(tc, strictest_answer_wins_and_ties_go_to_the_newest);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
