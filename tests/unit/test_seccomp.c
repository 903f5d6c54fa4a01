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
#define KINDS 7	  /* of the floor, as in enum seccomp_floor_kind */
#define PROFILES 3	  /* default, strict, nested */

enum { P_DEFAULT, P_STRICT, P_NESTED };

/* Only in the test program, when the build links it: the filters of the architecture that this machine is
 * not. */
extern const struct seccomp_filter seccomp_other_profiles[] __attribute__((weak));
extern const struct seccomp_filter seccomp_other_floors[] __attribute__((weak));

struct arch {
	const char *name;
	uint32_t audit;
	const struct seccomp_filter *profiles; /* default, strict, nested */
	const struct seccomp_filter *floors;   /* by kind */
	/* looked up once, since the tables run some thousand times: */
	int nrs[COUNT(rows)];
	const char *names[NR_SWEEP];
	char at_zero[PROFILES][KINDS][NR_SWEEP][4]; /* [profile][kind][number] */
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

static bool nests(enum seccomp_floor_kind kind)
{
	return kind == SECCOMP_FLOOR_NESTED || kind == SECCOMP_FLOOR_NESTED_SETID;
}

static bool plain(enum seccomp_floor_kind kind)
{
	return kind == SECCOMP_FLOOR_PLAIN || kind == SECCOMP_FLOOR_PLAIN_NET;
}

static char profile_at_zero(const char *name, int profile)
{
	char c = IN(allowed, name) ? 'A' : IN(refused, name) || IN(nesting_refused, name) ? 'P' : 'N';

	if (profile == P_STRICT && c == 'A')
		c = IN(strict_refused, name) ? 'P' : IN(strict_missing, name) ? 'N' : 'A';
	if (profile == P_NESTED && (IN(nesting_refused, name) || IN(nesting_missing, name)))
		c = strcmp(name, "keyctl") ? 'A' : 'N';
	return c;
}

static char floor_at_zero(const char *name, enum seccomp_floor_kind kind)
{
	bool setid = kind == SECCOMP_FLOOR_SETID || kind == SECCOMP_FLOOR_NESTED_SETID;

	if (IN(refused, name) || !strcmp(name, "keyctl") || (IN(nesting_refused, name) && !nests(kind)))
		return 'P';
	if (IN(missing, name) || (IN(nesting_missing, name) && !nests(kind)) || (!strcmp(name, "openat2") && !setid))
		return 'N';
	if (plain(kind) && !strcmp(name, "truncate"))
		return 'P';
	if (plain(kind) && IN(plain_missing, name))
		return 'N';
	return !strcmp(name, "socket") || !strcmp(name, "socketpair") ? 'F' : 'A';
}

/* With every argument 0: a socket of family 0, a clone without flags, personality 0. */
static void expected_at_zero(const char *name, int profile, enum seccomp_floor_kind kind, char ret[4])
{
	ret[0] = profile_at_zero(name, profile);
	ret[1] = floor_at_zero(name, kind);
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
					    "keyctl",
					    "kill",
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
		for (int i = 0; i < PROFILES * KINDS; i++)
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

/* Which filters a table is run over; @modes: with the rows of set-id bits, to which floors answer differently */
struct pair {
	int profile;
	enum seccomp_floor_kind kind;
	bool modes;
};

/* What a row wants of them */
static const char *want_of(const struct row *r, const struct pair *p, char buf[4])
{
	if (p->profile == P_STRICT && r->strict)
		return r->strict;
	if (p->profile == P_NESTED && r->nested)
		return r->nested;
	if (!plain(p->kind))
		return r->want;
	(void)snprintf(buf, 4, "%s", r->plain ? r->plain : r->want);
	if (p->kind == SECCOMP_FLOOR_PLAIN && !strcmp(r->call, "socket"))
		buf[1] = buf[2] = 'F';	/* whatever it is */
	return buf;
}

/* Runs a table; returns how many rows differ. With @say each one is printed. */
static unsigned int run_rows(const struct arch *a, const struct seccomp_filter *profile,
			     const struct seccomp_filter *fl, const struct row *table, size_t n, const struct pair *p,
			     bool say)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		int nr = table == rows ? a->nrs[i] : number(a, table[i].call);
		struct seccomp_data d = {.nr = nr, .arch = a->audit};
		char got[4], buf[4];
		const char *want = want_of(&table[i], p, buf);

		if (nr < 0 || (!p->modes && gives_mode(table[i].call)))
			continue;
		memcpy(d.args, table[i].args, sizeof(d.args));
		answers(profile, fl, &d, got);
		if (!strcmp(got, want))
			continue;
		wrong++;
		if (say)
			fprintf(stderr, "%s profile %d floor %d %s(%#llx, %#llx, %#llx): %s, wanted %s\n", a->name,
				p->profile, (int)p->kind, table[i].call, d.args[0], d.args[1], d.args[2], got, want);
	}
	return wrong;
}

/* Every number. Arguments that some other call is refused for make no difference to those without rules on
 * them. */
static unsigned int run_sweep(const struct arch *a, const struct seccomp_filter *profile,
			      const struct seccomp_filter *fl, const struct pair *p, bool say)
{
	static const uint64_t fill[] = {0, 1, 0x5412, UINT64_MAX};
	unsigned int wrong = 0;

	for (int nr = 0; nr < NR_SWEEP; nr++) {
		const char *name = a->names[nr], *want = a->at_zero[p->profile][p->kind][nr];
		char got[4];

		for (size_t i = 0; i < (a->by_argument[nr] ? 1 : COUNT(fill)); i++) {
			uint64_t x = fill[i];
			struct seccomp_data d = {.nr = nr, .arch = a->audit, .args = {x, x, x, x, x, x}};

			answers(profile, fl, &d, got);
			if (!strcmp(got, want))
				continue;
			wrong++;
			if (say)
				fprintf(stderr, "%s profile %d floor %d number %d (%s) with %#llx: %s, wanted %s\n",
					a->name, p->profile, (int)p->kind, nr, name, (unsigned long long)x, got, want);
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

static bool lets_setid(enum seccomp_floor_kind kind)
{
	return kind == SECCOMP_FLOOR_SETID || kind == SECCOMP_FLOOR_NESTED_SETID;
}

/* What a floor says to an open; a mode counts only where a file is made */
static char open_wanted(enum seccomp_floor_kind kind, uint64_t flags, uint64_t mode)
{
	bool makes = flags & (0100 | 020000000);

	if (plain(kind) && ((flags & 3) == 3 || (flags & 01003) == 01000))
		return 'P';
	if (makes && !lets_setid(kind) && (mode & 04000))
		return 'P';
	return makes && !lets_setid(kind) && kind != SECCOMP_FLOOR_USER && (mode & 02000) ? 'P' : 'A';
}

static char socket_wanted(enum seccomp_floor_kind kind, uint64_t family, uint64_t type, uint64_t protocol)
{
	bool inet = family == 2 || family == 10;

	if (kind == SECCOMP_FLOOR_PLAIN || (plain(kind) && family == 1))
		return 'F';
	if (!inet && family != 1 && family != 16)
		return 'F';
	if (family == 16)
		return protocol & 31 ? 'F' : 'A';
	if (inet && protocol == 256)
		return 'F';
	return inet && ((type & 15) == 3 || (type & 15) == 10) ? 'P' : 'A';
}

static char pair_wanted(enum seccomp_floor_kind kind, uint64_t family, uint64_t type)
{
	if (plain(kind) && (type & 14) == 2)
		return 'P';
	return family != 1 ? 'F' : 'A';
}

static unsigned int differs(const struct arch *a, const struct seccomp_filter *f, enum seccomp_floor_kind kind,
			    const struct seccomp_data *d, char want, bool say)
{
	char got = letter(run(f, d));

	if (got != want && say)
		fprintf(stderr, "%s floor %d number %d (%#llx, %#llx, %#llx, %#llx): %c, wanted %c\n", a->name, (int)kind,
			d->nr, d->args[0], d->args[1], d->args[2], d->args[3], got, want);
	return got != want;
}

/* Every combination of what the rules look at, beside the rows */
static unsigned int run_open_grid(const struct arch *a, const struct seccomp_filter *f, enum seccomp_floor_kind kind, bool say)
{
	static const uint64_t modes[] = {0, 0644, 02755, 04755, 06755, HIGH | 01777};
	int open_nr = number(a, "open"), openat_nr = number(a, "openat");
	unsigned int wrong = 0;

	for (uint64_t bits = 0; bits < 64; bits++) {
		uint64_t flags = (bits & 3) | (bits & 4 ? 0100 : 0) | (bits & 8 ? 01000 : 0) | (bits & 16 ? 020000000 : 0) |
				 (bits & 32 ? HIGH | 02000000 : 0);

		for (size_t i = 0; i < COUNT(modes); i++) {
			char want = open_wanted(kind, flags, modes[i]);
			struct seccomp_data o = {.nr = open_nr, .arch = a->audit, .args = {4, flags, modes[i], UINT64_MAX}};
			struct seccomp_data at = {.nr = openat_nr, .arch = a->audit, .args = {3, 4, flags, modes[i]}};

			if (open_nr >= 0)
				wrong += differs(a, f, kind, &o, want, say);
			wrong += differs(a, f, kind, &at, want, say);
		}
	}
	return wrong;
}

static unsigned int run_socket_grid(const struct arch *a, const struct seccomp_filter *f, enum seccomp_floor_kind kind, bool say)
{
	static const uint64_t families[] = {0, 1, 2, 3, 10, 16, 17, 38};
	static const uint64_t types[] = {1, 2, 3, 5, 6, 10, HIGH | 0x80801, 0x80803};
	static const uint64_t protocols[] = {0, 1, 6, 16, 256};
	int socket_nr = number(a, "socket"), pair_nr = number(a, "socketpair");
	unsigned int wrong = 0;

	for (size_t i = 0; i < COUNT(families) * COUNT(types) * COUNT(protocols); i++) {
		uint64_t family = families[i % COUNT(families)], type = types[i / COUNT(families) % COUNT(types)];
		uint64_t protocol = protocols[i / COUNT(families) / COUNT(types)];
		struct seccomp_data s = {.nr = socket_nr, .arch = a->audit, .args = {family, type, protocol}};
		struct seccomp_data p = {.nr = pair_nr, .arch = a->audit, .args = {family, type, protocol}};

		wrong += differs(a, f, kind, &s, socket_wanted(kind, family, type, protocol), say);
		wrong += differs(a, f, kind, &p, pair_wanted(kind, family, type), say);
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

/* The pairs that runs use */
static const struct pair pairs[] = {
	{P_STRICT, SECCOMP_FLOOR_USER, true},
	{P_DEFAULT, SECCOMP_FLOOR_USER, true},
	{P_DEFAULT, SECCOMP_FLOOR_ROOT, false},
	{P_DEFAULT, SECCOMP_FLOOR_SETID, false},
	{P_NESTED, SECCOMP_FLOOR_NESTED, false},
	{P_NESTED, SECCOMP_FLOOR_NESTED_SETID, false},
	{P_DEFAULT, SECCOMP_FLOOR_PLAIN, false},
	{P_DEFAULT, SECCOMP_FLOOR_PLAIN_NET, false},
};

/* The one filter that was changed, so that tables over others need not be run again; -1: none of that kind */
struct focus {
	int profile;
	int kind;
};
static const struct focus everything = {-1, -1};

static bool concerns(const struct focus *f, const struct pair *p)
{
	return (f->profile < 0 && f->kind < 0) || p->profile == f->profile || (int)p->kind == f->kind;
}

static bool concerns_profile(const struct focus *f, int profile)
{
	return f->kind < 0 && (f->profile < 0 || f->profile == profile);
}

static bool concerns_floor(const struct focus *f, int kind)
{
	return f->profile < 0 && (f->kind < 0 || f->kind == kind);
}

/* @only: what is looked at; @say: everything that is wrong, else the first table that fails is enough */
static unsigned int run_tables(const struct arch *a, const struct seccomp_filter *const profiles[PROFILES],
			       const struct seccomp_filter *const floors[KINDS], const struct focus *only, bool say)
{
	static const struct pair strict = {P_STRICT, SECCOMP_FLOOR_USER, true}, nested = {P_NESTED, SECCOMP_FLOOR_NESTED, true};
	unsigned int wrong = run_floor_rows(a, floors, say);

	for (int kind = 0; kind < KINDS && (say || !wrong); kind++) {
		if (concerns_floor(only, kind))
			wrong += run_open_grid(a, floors[kind], (enum seccomp_floor_kind)kind, say) +
				 run_socket_grid(a, floors[kind], (enum seccomp_floor_kind)kind, say);
	}
	if ((say || !wrong) && concerns(only, &strict))
		wrong += run_rows(a, profiles[P_STRICT], floors[0], strict_rows, COUNT(strict_rows), &strict, say);
	if ((say || !wrong) && concerns(only, &nested))
		wrong += run_rows(a, profiles[P_NESTED], floors[SECCOMP_FLOOR_NESTED], nested_rows, COUNT(nested_rows),
				  &nested, say);
	for (size_t i = 0; i < COUNT(pairs) && (say || !wrong); i++) {
		if (concerns(only, &pairs[i]))
			wrong += run_rows(a, profiles[pairs[i].profile], floors[pairs[i].kind], rows, COUNT(rows), &pairs[i], say);
	}
	return wrong;
}

/* Everything the tables say about one architecture; returns how much is wrong. */
static unsigned int run_all(const struct arch *a, const struct seccomp_filter *const profiles[PROFILES],
			    const struct seccomp_filter *const floors[KINDS], const struct focus *only, bool say)
{
	unsigned int wrong = run_tables(a, profiles, floors, only, say);

	for (size_t i = 0; i < COUNT(pairs) && (say || !wrong); i++) {
		if (concerns(only, &pairs[i]))
			wrong += run_sweep(a, profiles[pairs[i].profile], floors[pairs[i].kind], &pairs[i], say);
	}
	for (int p = 0; p < PROFILES && (say || !wrong); p++) {
		if (concerns_profile(only, p))
			wrong += run_foreign(a, profiles[p], say) + run_unknown(a, profiles[p], floors[0], say);
	}
	for (int kind = 0; kind < KINDS && (say || !wrong); kind++) {
		if (concerns_floor(only, kind))
			wrong += run_foreign(a, floors[kind], say) + run_unknown(a, profiles[0], floors[kind], say);
	}
	return wrong;
}

static void set_of(const struct arch *a, const struct seccomp_filter *profiles[PROFILES],
		   const struct seccomp_filter *floors[KINDS])
{
	for (int i = 0; i < PROFILES; i++)
		profiles[i] = &a->profiles[i];
	for (int i = 0; i < KINDS; i++)
		floors[i] = &a->floors[i];
}

START_TEST(lookup_finds_the_shipped_filters_only)
{
	ck_assert_str_eq(seccomp_profile("default")->name, "default");
	ck_assert_str_eq(seccomp_profile("strict")->name, "strict");
	ck_assert_str_eq(seccomp_profile("nested")->name, "nested");
	ck_assert_ptr_null(seccomp_profile("Default"));
	ck_assert_ptr_null(seccomp_profile(""));
	ck_assert_ptr_null(seccomp_profile("floor-user"));
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_USER)->name, "floor-user");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_ROOT)->name, "floor-root");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_SETID)->name, "floor-setid");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_NESTED)->name, "floor-nested");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_NESTED_SETID)->name, "floor-nested_setid");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_PLAIN)->name, "floor-plain");
	ck_assert_str_eq(seccomp_floor(SECCOMP_FLOOR_PLAIN_NET)->name, "floor-plain_net");
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
	const struct seccomp_filter *profiles[PROFILES], *floors[KINDS];
	struct arch a[2];
	size_t n = arches(a);

	for (size_t i = 0; i < n; i++) {
		set_of(&a[i], profiles, floors);
		ck_assert_uint_eq(run_all(&a[i], profiles, floors, &everything, true), 0);
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
	static const struct pair usual = {P_DEFAULT, SECCOMP_FLOOR_USER, true};
	struct arch a[2];
	unsigned int floor_says = 0;

	arches(a);
	for (size_t i = 0; i < COUNT(rows); i++)
		floor_says += number(&a[0], rows[i].call) >= 0 && rows[i].want[1] != 'A';
	ck_assert_uint_gt(COUNT(rows), 200);
	ck_assert_uint_gt(floor_says, 150);
	ck_assert_uint_eq(run_rows(&a[0], &a[0].profiles[0], &none, rows, COUNT(rows), &usual, false), floor_says);
}
END_TEST

/* Copies a filter, makes one conditional jump go one way, and runs every table over it. */
static unsigned int survivors(const struct arch *a, const struct seccomp_filter *profiles[PROFILES],
			      const struct seccomp_filter *floors[KINDS], const struct seccomp_filter **slot,
			      const struct focus *only)
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
		if (run_all(a, profiles, floors, only, false))
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
	const struct seccomp_filter *profiles[PROFILES], *floors[KINDS];
	unsigned int alive = 0;
	struct arch a[2];

	if ((size_t)_i >= arches(a))
		return;
	set_of(&a[_i], profiles, floors);
	ck_assert_uint_eq(run_all(&a[_i], profiles, floors, &everything, false),
			  0); /* or every change would seem noticed */
	for (int i = 0; i < PROFILES; i++)
		alive += survivors(&a[_i], profiles, floors, &profiles[i], &(struct focus){i, -1});
	for (int i = 0; i < KINDS; i++)
		alive += survivors(&a[_i], profiles, floors, &floors[i], &(struct focus){-1, i});
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
