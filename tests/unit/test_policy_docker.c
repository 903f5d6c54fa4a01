/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker-format profiles: what is refused, and that the compiled filter does what the rules say, compared over every call and
 * the edges of every comparison with a direct evaluation of the rules. Process: unit tests. Privilege: none.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/docker.h"
#include "seccomp/policy.h"
#include "seccomp/sim.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINERS_PROFILE "/usr/share/containers/seccomp.json"	/* Debian: golang-github-containers-common */

struct built {
	struct json_doc doc;
	struct docker_profile p;
	struct docker_notes notes;
	struct prog prog;
	struct json_error err;
	struct docker_host host;
};

static struct built b;

static int build_for(const char *text, const char *arch, unsigned major, unsigned minor)
{
	int rc;

	docker_release(&b.p);
	docker_notes_release(&b.notes);
	json_release(&b.doc);
	b = (struct built){ .host = { target_find(arch), major, minor }, .notes = { .file = "f" } };
	rc = json_read(text, strlen(text), 0, &b.doc, &b.err);
	if (rc == 0)
		rc = docker_read(&b.doc, &b.host, &b.p, &b.notes, &b.err);
	if (rc == 0)
		rc = docker_compile(&b.p, &b.host, &b.prog, &b.notes, &b.err);
	if (rc == 0)
		ck_assert(bpf_sim_check(b.prog.insns, b.prog.count));
	return rc;
}

static int build(const char *text)
{
	return build_for(text, "x86_64", 6, 18);
}

static uint32_t ask6(const char *name, uint64_t a0, uint64_t a1, uint64_t a2)
{
	struct seccomp_data d = { .arch = b.host.target->scmp, .args = { a0, a1, a2 } };

	d.nr = nr_extra(b.host.target, name);
	if (d.nr < 0)
		d.nr = seccomp_syscall_resolve_name_arch(b.host.target->scmp, name);
	ck_assert_int_ge(d.nr, 0);
	return bpf_sim_run(b.prog.insns, b.prog.count, &d);
}

#define ERR(e) (uint32_t)(SECCOMP_RET_ERRNO | (e))
#define RULE(names, rest) "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[" names "]," rest "}]}"
#define ALLOW "\"action\":\"SCMP_ACT_ALLOW\""

START_TEST(refuses_with_the_place)
{
	static const struct { const char *s; const char *part; } rows[] = {
		{ "[]", "an object" },
		{ "{\"syscalls\":[]}", "defaultAction" },
		{ "{\"defaultAction\":\"SCMP_ACT_FOO\",\"syscalls\":[]}", "unknown action" },
		{ "{\"defaultAction\":\"SCMP_ACT_NOTIFY\",\"syscalls\":[]}", "SCMP_ACT_NOTIFY is not supported" },
		{ "{\"defaultAction\":\"SCMP_ACT_LOG\",\"syscalls\":[]}", "SCMP_ACT_LOG is not supported" },
		{ "{\"defaultAction\":\"SCMP_ACT_TRACE\",\"syscalls\":[]}", "SCMP_ACT_TRACE is not supported" },
		{ "{\"defaultAction\":\"SCMP_ACT_ALLOW\"}", "\"syscalls\"" },
		{ "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[],\"listenerPath\":\"/x\"}", "unknown key \"listenerPath\"" },
		{ "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":4096,\"syscalls\":[]}", "4095" },
		{ "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1.5,\"syscalls\":[]}", "whole number" },
		{ "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1,\"defaultErrno\":\"ENOSYS\",\"syscalls\":[]}", "which?" },
		{ "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"architectures\":[\"SCMP_ARCH_S390X\"],\"syscalls\":[]}", "other machines" },
		{ "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"architectures\":[\"SCMP_ARCH_X86_64\"],\"archMap\":[{\"architecture\":\"SCMP_ARCH_X86_64\"}],\"syscalls\":[]}", "both" },
		{ RULE("\"read\"", "\"action\":\"SCMP_ACT_ALLOW\",\"errnoRet\":1"), "\"errnoRet\" is for" },
		{ RULE("", ALLOW), "not empty" },
		{ RULE("3", ALLOW), "name of a system call" },
		{ RULE("\"read\"", ALLOW ",\"foo\":1"), "unknown key \"foo\"" },
		{ RULE("\"read\"", ALLOW ",\"args\":[{\"index\":6,\"value\":1,\"op\":\"SCMP_CMP_EQ\"}]"), "from 0 to 5" },
		{ RULE("\"read\"", ALLOW ",\"args\":[{\"index\":0,\"value\":18446744073709551616,\"op\":\"SCMP_CMP_EQ\"}]"), "whole number" },
		{ RULE("\"read\"", ALLOW ",\"args\":[{\"index\":0,\"value\":-1,\"op\":\"SCMP_CMP_EQ\"}]"), "whole number" },
		{ RULE("\"read\"", ALLOW ",\"args\":[{\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_XX\"}]"), "unknown comparison" },
		{ RULE("\"read\"", ALLOW ",\"args\":[{\"index\":0,\"op\":\"SCMP_CMP_EQ\"}]"), "\"value\" is missing" },
		{ RULE("\"read\"", ALLOW ",\"includes\":{\"minKernel\":\"new\"}"), "minKernel" },
		{ RULE("\"read\"", ALLOW ",\"includes\":{\"minKernel\":{}}"), "minKernel" },
		{ RULE("\"read\"", ALLOW ",\"includes\":{\"caps\":\"CAP_X\"}"), "a list" },
		{ RULE("\"read\"", ALLOW ",\"name\":\"write\""), "both \"name\"" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		ck_assert_msg(build(rows[i].s) < 0, "row %zu is taken: %s", i, rows[i].s);
		ck_assert_msg(strstr(b.err.text, rows[i].part) && b.err.line == 1 && b.err.col > 0, "row %zu: %u:%u %s", i, b.err.line, b.err.col, b.err.text);
	}
}
END_TEST

START_TEST(actions_errnos_and_the_stub)
{
	ck_assert_int_eq(build("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":["
			       "{\"names\":[\"read\",\"openat2\"],\"action\":\"SCMP_ACT_ALLOW\"},"
			       "{\"name\":\"write\",\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":5},"
			       "{\"names\":[\"close\"],\"action\":\"SCMP_ACT_ERRNO\",\"errno\":\"EBADF\"},"
			       "{\"names\":[\"dup\"],\"action\":\"SCMP_ACT_KILL\"},{\"names\":[\"dup2\"],\"action\":\"SCMP_ACT_TRAP\"}]}"), 0);
	ck_assert_uint_eq(ask6("read", 0, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("write", 0, 0, 0), ERR(5));
	ck_assert_uint_eq(ask6("close", 0, 0, 0), ERR(EBADF));
	ck_assert_uint_eq(ask6("dup", 0, 0, 0), SECCOMP_RET_KILL_PROCESS);
	ck_assert_uint_eq(ask6("dup2", 0, 0, 0), SECCOMP_RET_TRAP);
	ck_assert_uint_eq(ask6("mount", 0, 0, 0), ERR(EPERM));
	/* the newest that is named is openat2 (437): what comes after it does not exist, but x32 still kills */
	ck_assert_uint_eq(ask6("pidfd_getfd", 0, 0, 0), ERR(ENOSYS));
	ck_assert_uint_eq(ask6("mseal", 0, 0, 0), ERR(ENOSYS));
	ck_assert_uint_eq(ask6("seccomp", 0, 0, 0), SECCOMP_RET_ALLOW);
	for (uint32_t nr = 0x3fffffff; nr <= 0x40000001; nr++) {
		struct seccomp_data d = { .arch = SCMP_ARCH_X86_64, .nr = (int)nr };

		ck_assert_uint_eq(bpf_sim_run(b.prog.insns, b.prog.count, &d), nr < 0x40000000 ? ERR(ENOSYS) : SECCOMP_RET_KILL_PROCESS);
	}
	ck_assert_uint_eq(bpf_sim_run(b.prog.insns, b.prog.count, &(struct seccomp_data){ .arch = SCMP_ARCH_X86 }), SECCOMP_RET_KILL_PROCESS);
}
END_TEST

START_TEST(the_stub_on_a_machine_without_x32)
{
	struct seccomp_data d = { .arch = SCMP_ARCH_AARCH64, .nr = 0x7fffffff };

	ck_assert_int_eq(build_for(RULE("\"read\"", ALLOW), "aarch64", 6, 1), 0);
	ck_assert_uint_eq(ask6("read", 0, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("openat2", 0, 0, 0), ERR(ENOSYS));
	ck_assert_uint_eq(bpf_sim_run(b.prog.insns, b.prog.count, &d), ERR(ENOSYS));
}
END_TEST

START_TEST(includes_and_excludes)
{
	static const char s[] = "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":["
		"{\"names\":[\"mount\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"caps\":[\"CAP_SYS_ADMIN\"]}},"
		"{\"names\":[\"ptrace\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"minKernel\":\"4.8\"},\"excludes\":{}},"
		"{\"names\":[\"bpf\"],\"action\":\"SCMP_ACT_ALLOW\",\"excludes\":{\"caps\":[\"CAP_BPF\"]}},"
		"{\"names\":[\"arch_prctl\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"arches\":[\"amd64\",\"x32\"]}},"
		"{\"names\":[\"dup\"],\"action\":\"SCMP_ACT_ALLOW\",\"excludes\":{\"arches\":[\"amd64\"]}},"
		"{\"names\":[\"dup3\"],\"action\":\"SCMP_ACT_ALLOW\",\"excludes\":{\"minKernel\":\"5.0\"}},"
		"{\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\",\"includes\":{\"minKernel\":\"6.19\"}}]}";

	ck_assert_int_eq(build(s), 0);
	ck_assert_uint_eq(ask6("mount", 0, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("ptrace", 0, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("bpf", 0, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("arch_prctl", 0, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("dup", 0, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("dup3", 0, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("read", 0, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(b.p.skipped, 4);
	ck_assert_int_eq(build_for(s, "x86_64", 6, 19), 0);
	ck_assert_uint_eq(ask6("read", 0, 0, 0), SECCOMP_RET_ALLOW);
}
END_TEST

START_TEST(int_arguments_are_compared_under_32_bits)
{
	ck_assert_int_eq(build(RULE("\"socket\"", "\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":40,\"op\":\"SCMP_CMP_NE\"}]")), 0);
	ck_assert_uint_eq(ask6("socket", 40, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("socket", 0x1234567800000028, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("socket", 1, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_int_eq(build(RULE("\"ioctl\"", "\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":1,\"value\":21505,\"op\":\"SCMP_CMP_EQ\"}]")), 0);
	ck_assert_uint_eq(ask6("ioctl", 0, 0xdeadbeef00005401, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("ioctl", 0, 0x5402, 0), ERR(EPERM));
}
END_TEST

static bool holds(const struct docker_arg *a, uint64_t v, unsigned bits)
{
	uint64_t all = bits == 64 ? ~0ull : 0xffffffffull, k = a->value & all;

	v &= all;
	switch (a->op) {
	case DOCKER_NE: return v != k;
	case DOCKER_LT: return v < k;
	case DOCKER_LE: return v <= k;
	case DOCKER_EQ: return v == k;
	case DOCKER_GE: return v >= k;
	case DOCKER_GT: return v > k;
	default: return (v & k) == (a->value_two & all);
	}
}

START_TEST(expanded_comparisons_mean_the_same)
{
	static const uint64_t k[] = { 0, 1, 2, 3, 37, 38, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
				      0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff, 0x123456789abcdef0 };

	for (int op = DOCKER_NE; op <= DOCKER_MASKED_EQ; op++) {
		for (size_t i = 0; i < COUNT(k); i++) {
			for (size_t j = 0; j < COUNT(k) * 3; j++) {
				for (unsigned bits = 32; bits <= 64; bits += 32) {
					struct docker_arg a = { .op = (enum docker_op)op, .value = k[i], .value_two = k[(i * 7 + j) % COUNT(k)] & (j % 2 ? ~0ull : k[i]) };
					struct docker_masked m[64];
					uint64_t v = k[j / 3] + (uint64_t)(j % 3) - 1;
					size_t n = docker_expand(&a, bits, m);
					bool any = false;

					for (size_t x = 0; x < n; x++)
						any |= (v & m[x].mask) == m[x].datum;
					ck_assert_msg(any == holds(&a, v, bits), "op %d, %#llx, second %#llx, argument %#llx, %u bits", op,
						      (unsigned long long)k[i], (unsigned long long)a.value_two, (unsigned long long)v, bits);
				}
			}
		}
	}
}
END_TEST

/* What the rules say of one call, by looking at each; UINT32_MAX where conditional rules contradict each other */
static uint32_t direct(const char *name, int nr, int newest, const uint64_t args[6])
{
	uint32_t found = UINT32_MAX;
	bool clash = false;

	if (strcmp(name, "seccomp") == 0)
		return SECCOMP_RET_ALLOW;
	if (b.p.stub && nr > newest)
		return ERR(ENOSYS);
	for (int pass = 0; pass < 2 && found == UINT32_MAX; pass++) {
		for (size_t i = 0; i < b.p.n_rules; i++) {
			const struct docker_rule *r = &b.p.rules[i];
			bool named = false, all = true;

			for (size_t k = 0; k < r->n_names; k++)
				named |= strcmp(r->names[k], name) == 0;
			for (unsigned k = 0; k < r->argc; k++)
				all &= holds(&r->args[k], args[r->args[k].index], docker_arg_is_int(name, r->args[k].index) ? 32 : 64);
			if (!named || !all || (pass == 0) != (r->argc == 0) || r->action == b.p.def_action)
				continue;
			clash |= pass == 1 && found != UINT32_MAX && found != r->action;
			if (found == UINT32_MAX)
				found = r->action;
		}
	}
	return clash ? UINT32_MAX - 1 : found == UINT32_MAX ? b.p.def_action : found;
}

static int newest_named(void)
{
	int newest = seccomp_syscall_resolve_name_arch(b.host.target->scmp, "seccomp");

	for (size_t i = 0; i < b.p.n_names; i++) {
		int nr = nr_extra(b.host.target, b.p.names[i]);

		if (nr == -ENOENT)
			nr = seccomp_syscall_resolve_name_arch(b.host.target->scmp, b.p.names[i]);
		if (nr > newest)
			newest = nr;
	}
	return newest;
}

static bool has_condition(const char *name)
{
	for (size_t i = 0; i < b.p.n_rules; i++)
		for (size_t k = 0; b.p.rules[i].argc && k < b.p.rules[i].n_names; k++)
			if (strcmp(b.p.rules[i].names[k], name) == 0)
				return true;
	return false;
}

/* every number below 512 that has a name, with arguments at, below and above everything that is compared */
static unsigned compare_all(void)
{
	uint64_t v[512];
	size_t n_v = 0;
	unsigned rows = 0;
	int newest = newest_named();

	v[n_v++] = 0;
	for (size_t i = 0; i < b.p.n_rules; i++)
		for (unsigned k = 0; k < b.p.rules[i].argc && n_v + 8 < COUNT(v); k++)
			for (int d = -1; d <= 1; d++) {
				v[n_v++] = b.p.rules[i].args[k].value + (uint64_t)d;
				v[n_v++] = b.p.rules[i].args[k].value_two + (uint64_t)d + (1ull << 32);
			}
	for (int nr = 0; nr < 512; nr++) {
		const char *extra = nr_name(b.host.target, nr);
		char *lib = seccomp_syscall_resolve_num_arch(b.host.target->scmp, nr);

		for (size_t i = 0; (extra || lib) && i < (has_condition(extra ? extra : lib) ? n_v * 8 : 3); i++) {
			struct seccomp_data d = { .nr = nr, .arch = b.host.target->scmp,
						  .args = { v[i % n_v], v[(i * 7 + i / n_v) % n_v], v[(i * 3) % n_v], v[(i * 5) % n_v] } };
			uint64_t args[6] = { d.args[0], d.args[1], d.args[2], d.args[3] };
			uint32_t want = direct(extra ? extra : lib, nr, newest, args);

			if (want == UINT32_MAX - 1)
				continue;
			rows++;
			ck_assert_msg(bpf_sim_run(b.prog.insns, b.prog.count, &d) == want, "%s(%#llx, %#llx): %#x, wanted %#x", extra ? extra : lib,
				      (unsigned long long)args[0], (unsigned long long)args[1], bpf_sim_run(b.prog.insns, b.prog.count, &d), want);
		}
		free(lib);
	}
	return rows;
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "re");
	char *s = calloc(1, 1u << 20);

	if (!f || !s || !fread(s, 1, (1u << 20) - 1, f)) {
		free(s);
		s = NULL;
	}
	if (f)
		fclose(f);
	return s;
}

START_TEST(filter_agrees_with_the_rules_everywhere)
{
	static const char *const files[] = { CONTAINERS_PROFILE, "seccomp/profiles/default.json", "seccomp/profiles/strict.json" };
	static const char *const arches[] = { "x86_64", "aarch64" };

	for (size_t i = 0; i < COUNT(files); i++) {
		char *text = slurp(files[i]);

		if (!text && i == 0) {
			printf("not tested: %s is not installed\n", files[i]);
			continue;
		}
		ck_assert_ptr_nonnull(text);
		for (size_t a = 0; a < COUNT(arches); a++) {
			ck_assert_msg(build_for(text, arches[a], 6, 18) == 0, "%s: %u:%u %s", files[i], b.err.line, b.err.col, b.err.text);
			ck_assert_uint_ge(compare_all(), 200);
		}
		free(text);
	}
}
END_TEST

START_TEST(ordered_comparisons_agree_with_the_rules)
{
	ck_assert_int_eq(build("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":["
			       "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":38,\"op\":\"SCMP_CMP_LT\"}]},"
			       "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":39,\"op\":\"SCMP_CMP_EQ\"}]},"
			       "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":40,\"op\":\"SCMP_CMP_GT\"}]},"
			       "{\"names\":[\"lseek\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":1,\"value\":4294967296,\"op\":\"SCMP_CMP_GE\"},"
			       "{\"index\":2,\"value\":2,\"op\":\"SCMP_CMP_LE\"}]},"
			       "{\"names\":[\"kill\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":3,\"args\":[{\"index\":1,\"value\":9,\"op\":\"SCMP_CMP_NE\"}]}]}"), 0);
	ck_assert_uint_ge(compare_all(), 200);
	ck_assert_uint_eq(ask6("socket", 38, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("socket", 37, 0, 0), SECCOMP_RET_ALLOW);
}
END_TEST

START_TEST(remarks_tell_what_was_probably_not_meant)
{
	ck_assert_int_eq(build("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"archMap\":[{\"architecture\":\"SCMP_ARCH_X86_64\",\"subArchitectures\":[\"SCMP_ARCH_X86\"]}],\"syscalls\":["
			       "{\"names\":[\"read\",\"no_such_call\"],\"action\":\"SCMP_ACT_ALLOW\"},"
			       "{\"names\":[\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":5,\"args\":[{\"index\":0,\"value\":3,\"op\":\"SCMP_CMP_EQ\"}]},"
			       "{\"names\":[\"dup\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_EQ\"},{\"index\":0,\"value\":2,\"op\":\"SCMP_CMP_EQ\"}]},"
			       "{\"names\":[\"dup2\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":0,\"value\":1,\"valueTwo\":2,\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]}"), 0);
	ck_assert_uint_eq(b.notes.n, 5);
	ck_assert_ptr_nonnull(strstr(b.notes.line[0], "sub-architectures"));
	ck_assert_ptr_nonnull(strstr(b.notes.line[1], "\"no_such_call\""));
	ck_assert_ptr_nonnull(strstr(b.notes.line[2], "has no effect"));
	ck_assert_ptr_nonnull(strstr(b.notes.line[3], "compared twice"));
	ck_assert_ptr_nonnull(strstr(b.notes.line[4], "never true"));
	ck_assert_uint_eq(ask6("read", 3, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("dup", 1, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("dup", 2, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("dup", 3, 0, 0), ERR(EPERM));
}
END_TEST

/* ---- what a run has taught ---- */

static const char parent[] =
	"{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,\"syscalls\":["
	"{\"names\":[\"read\",\"getpid\",\"mseal\",\"execve\",\"exit_group\",\"write\",\"close\",\"rt_sigreturn\"]," ALLOW "},"
	"{\"names\":[\"socket\",\"socketpair\"]," ALLOW ",\"args\":[{\"index\":0,\"value\":4294967295,\"valueTwo\":1,\"op\":\"SCMP_CMP_MASKED_EQ\"}]},"
	"{\"names\":[\"socket\"]," ALLOW ",\"args\":[{\"index\":0,\"value\":4294967295,\"valueTwo\":16,\"op\":\"SCMP_CMP_MASKED_EQ\"},"
	"{\"index\":2,\"value\":4294967295,\"valueTwo\":0,\"op\":\"SCMP_CMP_MASKED_EQ\"}]},"
	"{\"names\":[\"mount\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1}]}";

static int nr_of(const char *name)
{
	int nr = nr_extra(b.host.target, name);

	return nr < 0 ? seccomp_syscall_resolve_name_arch(b.host.target->scmp, name) : nr;
}

static void use(struct ak_learned *l, const char *name)
{
	l->used[nr_of(name) / 8] |= (uint8_t)(1u << nr_of(name) % 8);
}

/* the profile of @l, compiled in the place of its parent */
static char *learned_profile(const struct ak_learned *l)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	policy_print_learned(&b.p, &b.host, l, out);
	fclose(out);
	ck_assert_msg(build(text) == 0, "%u:%u: %s in %s", b.err.line, b.err.col, b.err.text, text);
	ck_assert_uint_eq(b.notes.n, 0);
	return text;
}

START_TEST(learned_profile_allows_what_was_used_as_conditionally)
{
	struct ak_learned l = { 0 };

	ck_assert_int_eq(build(parent), 0);
	use(&l, "getpid");
	use(&l, "mseal");
	use(&l, "socket");
	use(&l, "mount");	/* says who lies: the parent never lets it through */
	use(&l, "kexec_load");
	l.refused[nr_of("io_uring_setup")] = ENOSYS;
	l.refused[nr_of("swapon")] = EPERM;
	l.refused[nr_of("socket")] = EAFNOSUPPORT;	/* allowed with other arguments: these decide */
	free(learned_profile(&l));
	ck_assert_uint_eq(ask6("getpid", 0, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("mseal", 0, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("read", 0, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("mount", 0, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("kexec_load", 0, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("socket", 1, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("socket", 0x700000001, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("socket", 2, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("socket", 16, 0, 0), SECCOMP_RET_ALLOW);
	ck_assert_uint_eq(ask6("socket", 16, 0, 1), ERR(EPERM));
	ck_assert_uint_eq(ask6("socketpair", 1, 0, 0), ERR(EPERM));
	ck_assert_uint_eq(ask6("io_uring_setup", 0, 0, 0), ERR(ENOSYS));
	ck_assert_uint_eq(ask6("swapon", 0, 0, 0), ERR(EPERM));
}
END_TEST

START_TEST(learned_profile_of_nothing_lets_a_command_start_and_end)
{
	static const char *const needed[] = { "execve", "exit_group", "write", "close", "rt_sigreturn" };
	struct ak_learned l = { 0 };
	char *text;

	ck_assert_int_eq(build(parent), 0);
	text = learned_profile(&l);
	for (size_t i = 0; i < COUNT(needed); i++)
		ck_assert_uint_eq(ask6(needed[i], 0, 0, 0), SECCOMP_RET_ALLOW);
	/* this parent has no sendmsg, so neither has the child */
	ck_assert_ptr_null(strstr(text, "sendmsg"));
	ck_assert_ptr_nonnull(strstr(text, "\"defaultErrnoRet\": 1"));
	free(text);
}
END_TEST

/* whatever a broken init says, the result is read again, and allows nothing that the parent refuses */
START_TEST(learned_profile_of_any_bytes_is_part_of_its_parent)
{
	struct ak_learned l;

	srand(7);
	for (int round = 0; round < 40; round++) {
		struct prog before;

		ck_assert_int_eq(build(parent), 0);
		before = b.prog;
		for (size_t i = 0; i < sizeof(l); i++)
			((uint8_t *)&l)[i] = (uint8_t)rand();
		free(learned_profile(&l));
		for (int nr = 0; nr < 600; nr++) {
			for (uint64_t v = 0; v < 18; v++) {
				struct seccomp_data d = { .arch = b.host.target->scmp, .nr = nr, .args = { v, 0, v / 17 } };

				if (nr != nr_of("seccomp") && bpf_sim_run(b.prog.insns, b.prog.count, &d) == SECCOMP_RET_ALLOW &&
				    bpf_sim_run(before.insns, before.count, &d) != SECCOMP_RET_ALLOW)
					ck_abort_msg("call %d", nr);
			}
		}
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_docker");
	TCase *t = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_test(t, refuses_with_the_place);
	tcase_add_test(t, actions_errnos_and_the_stub);
	tcase_add_test(t, the_stub_on_a_machine_without_x32);
	tcase_add_test(t, includes_and_excludes);
	tcase_add_test(t, int_arguments_are_compared_under_32_bits);
	tcase_add_test(t, expanded_comparisons_mean_the_same);
	tcase_add_test(t, filter_agrees_with_the_rules_everywhere);
	tcase_add_test(t, ordered_comparisons_agree_with_the_rules);
	tcase_add_test(t, remarks_tell_what_was_probably_not_meant);
	tcase_add_test(t, learned_profile_allows_what_was_used_as_conditionally);
	tcase_add_test(t, learned_profile_of_nothing_lets_a_command_start_and_end);
	tcase_add_test(t, learned_profile_of_any_bytes_is_part_of_its_parent);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
