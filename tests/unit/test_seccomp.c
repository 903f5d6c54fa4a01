/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled filters against tables of calls and answers, by a simulator of the kernel's rules, for both
 * architectures; and the pair of filters once in the kernel. Process: unit tests. Privilege: none.
 */
#include <check.h>
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "seccomp/filters.h"
#include "seccomp/filters_gen.h"
#include "seccomp/sim.h"
#include "tests/unit/test_seccomp_nr.h"
#include "tests/unit/test_seccomp_rows.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NR_SWEEP 1024 /* no architecture of ours has numbers above */
#define NR_X32 0x40000000
#define KINDS 3

/* Only in the test program, when the build links it: the filters of the architecture that this machine is
 * not. */
extern const struct seccomp_filter seccomp_other_profiles[] __attribute__((weak));
extern const struct seccomp_filter seccomp_other_floors[] __attribute__((weak));

struct arch {
	const char *name;
	uint32_t audit;
	const struct seccomp_filter *profiles; /* default, strict */
	const struct seccomp_filter *floors;   /* by kind */
	/* looked up once, since the tables run some thousand times: */
	int nrs[COUNT(rows)];
	const char *names[NR_SWEEP];
	char at_zero[2][KINDS][NR_SWEEP][4]; /* [strict][kind][number] */
	bool by_argument[NR_SWEEP];
};

static int number(const struct arch *a, const char *name)
{
	for (size_t i = 0; i < COUNT(nr_table); i++) {
		if (!strcmp(nr_table[i].name, name))
			return a->audit == AUDIT_ARCH_X86_64 ? nr_table[i].x86_64 : nr_table[i].aarch64;
	}
	ck_abort_msg("the number table lacks %s", name);
	return -1;
}

static uint32_t run(const struct seccomp_filter *f, const struct seccomp_data *d)
{
	return bpf_sim_run((const struct sock_filter *)(const void *)f->insns, f->count, d);
}

static char letter(uint32_t action)
{
	switch (action) {
	case SECCOMP_RET_ALLOW:
		return 'A';
	case SECCOMP_RET_KILL_PROCESS:
		return 'K';
	case SECCOMP_RET_ERRNO | EPERM:
		return 'P';
	case SECCOMP_RET_ERRNO | ENOSYS:
		return 'N';
	case SECCOMP_RET_ERRNO | EAFNOSUPPORT:
		return 'F';
	default:
		return '?';
	}
}

/* Answers of a profile, a floor, and the stack of both, as three letters. */
static void answers(const struct seccomp_filter *profile, const struct seccomp_filter *fl,
		    const struct seccomp_data *d, char ret[4])
{
	uint32_t p = run(profile, d), f = run(fl, d);

	ret[0] = letter(p);
	ret[1] = letter(f);
	ret[2] = letter(bpf_sim_join(f, p));
	ret[3] = '\0';
}

static bool in_list(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(list[i], name))
			return true;
	}
	return false;
}

#define IN(list, name) in_list(list, COUNT(list), name)

/* With every argument 0: a socket of family 0, a clone without flags, personality 0. */
static void expected_at_zero(const char *name, bool strict, enum seccomp_floor_kind kind, char ret[4])
{
	bool socket = !strcmp(name, "socket") || !strcmp(name, "socketpair");

	ret[0] = IN(allowed, name) ? 'A' : IN(refused, name) ? 'P' : 'N';
	if (strict && ret[0] == 'A')
		ret[0] = IN(strict_refused, name) ? 'P' : IN(strict_missing, name) ? 'N' : 'A';
	ret[1] = IN(refused, name) ? 'P' : IN(missing, name) ? 'N' : socket ? 'F' : 'A';
	if (!strcmp(name, "openat2") && kind != SECCOMP_FLOOR_SETID)
		ret[1] = 'N';
	ret[2] = ret[1] == 'A' ? ret[0] : ret[1];
	ret[3] = '\0';
}

/* Calls to which the floors answer differently. */
static bool gives_mode(const char *name)
{
	static const char *const calls[] = {"chmod",   "fchmod", "fchmodat", "fchmodat2",
					    "creat",   "mknod",	 "mknodat",  "mkdir",
					    "mkdirat", "open",	 "openat",   "openat2"};

	return IN(calls, name);
}

/* Calls whose arguments some filter looks at. */
static bool by_argument(const char *name)
{
	static const char *const calls[] = {"clone",
					    "socket",
					    "socketpair",
					    "ioctl",
					    "personality",
					    "prlimit64",
					    "sched_setaffinity",
					    "sched_setparam",
					    "sched_setscheduler",
					    "sched_setattr",
					    "setpriority",
					    "ioprio_set",
					    "memfd_create",
					    "setresuid",
					    "setresgid"};

	return IN(calls, name) || gives_mode(name);
}

static void arch_fill(struct arch *a)
{
	for (int nr = 0; nr < NR_SWEEP; nr++)
		a->names[nr] = "";
	for (size_t i = 0; i < COUNT(nr_table); i++) {
		int nr = number(a, nr_table[i].name);

		if (nr >= 0)
			a->names[nr] = nr_table[i].name;
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		a->nrs[i] = number(a, rows[i].call);
	for (int nr = 0; nr < NR_SWEEP; nr++) {
		a->by_argument[nr] = by_argument(a->names[nr]);
		for (int i = 0; i < 2 * KINDS; i++)
			expected_at_zero(a->names[nr], i / KINDS, (enum seccomp_floor_kind)(i % KINDS),
					 a->at_zero[i / KINDS][i % KINDS][nr]);
	}
}

static size_t arches(struct arch ret[2])
{
	struct arch x86 = {"x86_64", AUDIT_ARCH_X86_64, seccomp_gen_profiles, seccomp_gen_floors};
	struct arch arm = {"aarch64", AUDIT_ARCH_AARCH64, seccomp_other_profiles, seccomp_other_floors};
	size_t n = 0;

#ifdef __aarch64__
	x86.profiles = seccomp_other_profiles;
	x86.floors = seccomp_other_floors;
	arm.profiles = seccomp_gen_profiles;
	arm.floors = seccomp_gen_floors;
#endif
	if (x86.profiles)
		ret[n++] = x86;
	if (arm.profiles)
		ret[n++] = arm;
	for (size_t i = 0; i < n; i++)
		arch_fill(&ret[i]);
	return n;
}

/* Runs a table; returns how many rows differ. With @say each one is printed. */
static unsigned int run_rows(const struct arch *a, const struct seccomp_filter *profile,
			     const struct seccomp_filter *fl, const struct row *table, size_t n, bool modes,
			     bool say)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		int nr = table == rows ? a->nrs[i] : number(a, table[i].call);
		struct seccomp_data d = {.nr = nr, .arch = a->audit};
		char got[4];

		if (nr < 0 || (!modes && gives_mode(table[i].call)))
			continue;
		memcpy(d.args, table[i].args, sizeof(d.args));
		answers(profile, fl, &d, got);
		if (!strcmp(got, table[i].want))
			continue;
		wrong++;
		if (say)
			fprintf(stderr, "%s %s(%#llx, %#llx, %#llx): %s, wanted %s\n", a->name, table[i].call,
				d.args[0], d.args[1], d.args[2], got, table[i].want);
	}
	return wrong;
}

/* Every number. Arguments that some other call is refused for make no difference to those without rules on
 * them. */
static unsigned int run_sweep(const struct arch *a, const struct seccomp_filter *profile, bool strict,
			      const struct seccomp_filter *fl, enum seccomp_floor_kind kind, bool say)
{
	static const uint64_t fill[] = {0, 1, 0x5412, UINT64_MAX};
	unsigned int wrong = 0;

	for (int nr = 0; nr < NR_SWEEP; nr++) {
		const char *name = a->names[nr], *want = a->at_zero[strict][kind][nr];
		char got[4];

		for (size_t i = 0; i < (a->by_argument[nr] ? 1 : COUNT(fill)); i++) {
			uint64_t x = fill[i];
			struct seccomp_data d = {.nr = nr, .arch = a->audit, .args = {x, x, x, x, x, x}};

			answers(profile, fl, &d, got);
			if (!strcmp(got, want))
				continue;
			wrong++;
			if (say)
				fprintf(stderr, "%s number %d (%s) with %#llx: %s, wanted %s\n", a->name, nr,
					name, (unsigned long long)x, got, want);
		}
	}
	return wrong;
}

static unsigned int run_floor_rows(const struct arch *a, const struct seccomp_filter *const *floors, bool say)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < COUNT(floor_rows); i++) {
		int nr = number(a, floor_rows[i].call);
		struct seccomp_data d = {.nr = nr, .arch = a->audit};

		memcpy(d.args, floor_rows[i].args, sizeof(d.args));
		for (int kind = 0; kind < KINDS && nr >= 0; kind++) {
			char got = letter(run(floors[kind], &d));

			if (got == floor_rows[i].want[kind])
				continue;
			wrong++;
			if (say)
				fprintf(stderr, "%s floor %d row %zu %s: %c, wanted %c\n", a->name, kind, i,
					floor_rows[i].call, got, floor_rows[i].want[kind]);
		}
	}
	return wrong;
}

/* Other tables of calls: int 0x80, a 32-bit program, x32, and the numbers around it. */
static unsigned int run_foreign(const struct arch *a, const struct seccomp_filter *f, bool say)
{
	const uint32_t foreign[] = {AUDIT_ARCH_I386,
				    AUDIT_ARCH_ARM,
				    0,
				    UINT32_MAX,
				    a->audit ^ 1,
				    AUDIT_ARCH_X86_64 == a->audit ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64};
	unsigned int wrong = 0;

	for (size_t i = 0; i < COUNT(foreign); i++) {
		for (int nr = 0; nr < NR_SWEEP; nr++)
			wrong += run(f, &(struct seccomp_data){.nr = nr, .arch = foreign[i]}) !=
				 SECCOMP_RET_KILL_PROCESS;
	}
	for (int nr = 0; nr < NR_SWEEP && a->audit == AUDIT_ARCH_X86_64; nr++) {
		struct seccomp_data d = {.nr = nr | NR_X32, .arch = a->audit};

		wrong += run(f, &d) != SECCOMP_RET_KILL_PROCESS;
		d.nr |= (int)0x80000000;
		wrong += run(f, &d) != SECCOMP_RET_KILL_PROCESS;
	}
	if (wrong && say)
		fprintf(stderr, "%s %s: %u foreign calls are not killed\n", a->name, f->name, wrong);
	return wrong;
}

/* Numbers that no kernel has yet, and the one a tracer uses to skip a call. */
static unsigned int run_unknown(const struct arch *a, const struct seccomp_filter *profile,
				const struct seccomp_filter *fl, bool say)
{
	static const int unknown[] = {470, 999, 1024, 100000, 0x3fffffff, -1};
	unsigned int wrong = 0;

	for (size_t i = 0; i < COUNT(unknown); i++) {
		struct seccomp_data d = {.nr = unknown[i], .arch = a->audit};
		char got[4];

		answers(profile, fl, &d, got);
		if (!strcmp(got, "NAN"))
			continue;
		wrong++;
		if (say)
			fprintf(stderr, "%s number %d: %s, wanted NAN\n", a->name, unknown[i], got);
	}
	return wrong;
}

/* Everything the tables say about one architecture; returns how much is wrong; without @say, of the first
 * table that fails. */
static unsigned int run_all(const struct arch *a, const struct seccomp_filter *const profiles[2],
			    const struct seccomp_filter *const floors[KINDS], bool say)
{
	unsigned int wrong = run_floor_rows(a, floors, say);

	if (say || !wrong)
		wrong += run_rows(a, profiles[1], floors[0], strict_rows, COUNT(strict_rows), true, say);
	for (int kind = 0; kind < KINDS && (say || !wrong); kind++)
		wrong += run_rows(a, profiles[0], floors[kind], rows, COUNT(rows), kind == SECCOMP_FLOOR_USER,
				  say);
	for (int kind = 0; kind < KINDS && (say || !wrong); kind++)
		wrong += run_sweep(a, profiles[0], false, floors[kind], (enum seccomp_floor_kind)kind, say);
	if (say || !wrong)
		wrong += run_sweep(a, profiles[1], true, floors[0], SECCOMP_FLOOR_USER, say);
	for (int p = 0; p < 2 && (say || !wrong); p++)
		wrong += run_foreign(a, profiles[p], say) + run_unknown(a, profiles[p], floors[0], say);
	for (int kind = 0; kind < KINDS && (say || !wrong); kind++)
		wrong += run_foreign(a, floors[kind], say) + run_unknown(a, profiles[0], floors[kind], say);
	return wrong;
}

static void set_of(const struct arch *a, const struct seccomp_filter *profiles[2],
		   const struct seccomp_filter *floors[KINDS])
{
	for (int i = 0; i < 2; i++)
		profiles[i] = &a->profiles[i];
	for (int i = 0; i < KINDS; i++)
		floors[i] = &a->floors[i];
}

START_TEST(lookup_finds_the_shipped_filters_only)
{
	ck_assert_str_eq(seccomp_profile("default")->name, "default");
	ck_assert_str_eq(seccomp_profile("strict")->name, "strict");
	ck_assert_ptr_null(seccomp_profile("Default"));
	ck_assert_ptr_null(seccomp_profile(""));
	ck_assert_ptr_null(seccomp_profile("floor-user"));
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_USER)->name, "floor-user");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_ROOT)->name, "floor-root");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_SETID)->name, "floor-setid");
}
END_TEST

START_TEST(filters_are_programs_the_kernel_takes)
{
	struct arch a[2];
	size_t n = arches(a);

	for (size_t i = 0; i < n; i++) {
		for (const struct seccomp_filter *f = a[i].profiles; f->name; f++)
			ck_assert(
				bpf_sim_check((const struct sock_filter *)(const void *)f->insns, f->count));
		for (const struct seccomp_filter *f = a[i].floors; f->name; f++)
			ck_assert(
				bpf_sim_check((const struct sock_filter *)(const void *)f->insns, f->count));
	}
}
END_TEST

START_TEST(filters_answer_as_the_tables_say)
{
	const struct seccomp_filter *profiles[2], *floors[KINDS];
	struct arch a[2];
	size_t n = arches(a);

	for (size_t i = 0; i < n; i++) {
		set_of(&a[i], profiles, floors);
		ck_assert_uint_eq(run_all(&a[i], profiles, floors, true), 0);
	}
	if (n < 2)
		printf("SKIP: filters of the other architecture are not linked, so they were not checked\n");
}
END_TEST

/* The tables would notice a floor that is not loaded: its rows have other answers without it. */
START_TEST(rows_fail_without_the_floor)
{
	static const uint64_t allow_insn = (uint64_t)SECCOMP_RET_ALLOW << 32 | (BPF_RET | BPF_K);
	const struct seccomp_filter none = {"none", (const uint8_t *)&allow_insn, 1};
	struct arch a[2];
	unsigned int floor_says = 0;

	arches(a);
	for (size_t i = 0; i < COUNT(rows); i++)
		floor_says += number(&a[0], rows[i].call) >= 0 && rows[i].want[1] != 'A';
	ck_assert_uint_gt(COUNT(rows), 200);
	ck_assert_uint_gt(floor_says, 150);
	ck_assert_uint_eq(run_rows(&a[0], &a[0].profiles[0], &none, rows, COUNT(rows), true, false),
			  floor_says);
}
END_TEST

/* Copies a filter, makes one conditional jump go one way, and runs every table over it. */
static unsigned int survivors(const struct arch *a, const struct seccomp_filter *profiles[2],
			      const struct seccomp_filter *floors[KINDS], const struct seccomp_filter **slot)
{
	const struct seccomp_filter *orig = *slot;
	size_t size = orig->count * sizeof(struct sock_filter);
	struct sock_filter *copy = malloc(size);
	struct seccomp_filter changed = {orig->name, (const uint8_t *)copy, orig->count};
	unsigned int alive = 0;

	ck_assert_ptr_nonnull(copy);
	*slot = &changed;
	for (uint32_t i = 0; i < orig->count * 2; i++) {
		struct sock_filter *s = &copy[i / 2];

		memcpy(copy, orig->insns, size);
		if (BPF_CLASS(s->code) != BPF_JMP || BPF_OP(s->code) == BPF_JA)
			continue;
		if (i % 2)
			s->jt = s->jf;
		else
			s->jf = s->jt;
		if (run_all(a, profiles, floors, false))
			continue;
		alive++;
		fprintf(stderr, "%s %s: nobody misses instruction %u (code %#x, k %#x, way %u)\n", a->name,
			orig->name, i / 2, s->code, s->k, i % 2);
	}
	*slot = orig;
	free(copy);
	return alive;
}

/* @_i: which architecture */
START_TEST(every_branch_of_every_filter_is_missed_when_gone)
{
	const struct seccomp_filter *profiles[2], *floors[KINDS];
	unsigned int alive = 0;
	struct arch a[2];

	if ((size_t)_i >= arches(a))
		return;
	set_of(&a[_i], profiles, floors);
	ck_assert_uint_eq(run_all(&a[_i], profiles, floors, false),
			  0); /* or every change would seem noticed */
	for (int i = 0; i < 2; i++)
		alive += survivors(&a[_i], profiles, floors, &profiles[i]);
	for (int i = 0; i < KINDS; i++)
		alive += survivors(&a[_i], profiles, floors, &floors[i]);
	ck_assert_uint_eq(alive, 0);
}
END_TEST

static int load(const struct seccomp_filter *f)
{
	struct sock_fprog p = {(unsigned short)f->count, (struct sock_filter *)(uintptr_t)f->insns};

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p);
}

static bool fails_with(long rc, int err)
{
	return rc == -1 && errno == err;
}

/* In the child: number of the first thing that is not as it should be, 0 when all is well. */
static int under_both_filters(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || load(seccomp_profile("default")) ||
	    load(seccomp_floor(SECCOMP_FLOOR_USER)))
		return 1;
	if (!fails_with(syscall(SYS_keyctl, 0, 0), EPERM) || !fails_with(syscall(SYS_unshare, 0), EPERM))
		return 2;
	if (!fails_with(syscall(SYS_clone3, 0, 0), ENOSYS) || !fails_with(syscall(100000), ENOSYS))
		return 3;
	if (!fails_with(syscall(SYS_socket, HIGH | 40, 1, 0), EAFNOSUPPORT))
		return 4;
	if (!fails_with(syscall(SYS_ioctl, 0, HIGH | TIOCSTI, ""), EPERM))
		return 5;
	if (!fails_with(syscall(SYS_fchmod, -1, 04755), EPERM) ||
	    !fails_with(syscall(SYS_fchmod, -1, 0755), EBADF))
		return 6;
	if (getppid() <= 0 || !fails_with(close(-1), EBADF))
		return 7;
	return 0;
}

START_TEST(the_kernel_takes_both_and_answers_the_same)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(under_both_filters());
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("seccomp");
	TCase *tc = tcase_create("filters");
	SRunner *sr;
	int failed;

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, lookup_finds_the_shipped_filters_only);
	tcase_add_test(tc, filters_are_programs_the_kernel_takes);
	tcase_add_test(tc, filters_answer_as_the_tables_say);
	tcase_add_test(tc, rows_fail_without_the_floor);
	tcase_add_loop_test(tc, every_branch_of_every_filter_is_missed_when_gone, 0, 2);
	tcase_add_test(tc, the_kernel_takes_both_and_answers_the_same);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
