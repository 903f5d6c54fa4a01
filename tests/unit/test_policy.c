/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the sealed policy: a request only narrows, whatever field it tries. */
#include "executor/policy.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "executor/backend.h"
#include "executor/ns/cgroup_place.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"

static struct exec_opts o;
static struct plan p;
static struct policy sealed, got;
static struct ak_err err;
static struct plan_mount mounts[5];
static struct init_path paths[3];
static char *envp[4];

static void setup(void)
{
	o = (struct exec_opts){ .memory_bytes = { .value = 100u << 20 }, .cpu_milli = { .value = 1000 }, .pids = { .value = 50 },
				.cpu_time_ms = 5000, .timeout_ms = 60000, .kill_after_ms = 2000, .max_output_bytes = 4096, .nofile = 256,
				.fsize_bytes = 1u << 20, .seccomp = "default" };
	memset(mounts, 0, sizeof(mounts));
	mounts[0] = (struct plan_mount){ .kind = PM_BIND, .src = (char *)"/ws", .dst = (char *)"/ws", .flags = PMF_WORKSPACE };
	mounts[1] = (struct plan_mount){ .kind = PM_BIND, .src = (char *)"/ws/.git", .dst = (char *)"/ws/.git", .flags = PMF_PROTECT };
	mounts[2] = (struct plan_mount){ .kind = PM_TMPFS, .dst = (char *)"/tmp", .size_bytes = 64u << 20 };
	mounts[3] = (struct plan_mount){ .kind = PM_BIND, .src = (char *)"/data", .dst = (char *)"/ws/data", .flags = PMF_USER };
	mounts[4] = (struct plan_mount){ .kind = PM_BIND, .src = (char *)"/usr", .dst = (char *)"/usr", .flags = PMF_RO | PMF_SYSTEM };
	paths[0] = (struct init_path){ "/", INIT_PATH_RX };
	paths[1] = (struct init_path){ "/tmp", INIT_PATH_RW };
	paths[2] = (struct init_path){ "/ws", INIT_PATH_RW };
	envp[0] = (char *)"A=1";
	envp[1] = (char *)"AB=2";
	envp[2] = (char *)"PATH=/bin";
	envp[3] = NULL;
	p = (struct plan){ .mounts = mounts, .nmounts = 5, .workspace = (char *)"/ws", .cwd = (char *)"/ws", .user = (char *)"u",
			   .home = (char *)"/h", .net = NET_HOST, .envp = envp, .envc = 3, .paths = paths, .npaths = 3,
			   .seccomp = "default", .rlimits = { { RLIMIT_NPROC, 51, 51 }, { RLIMIT_NOFILE, 256, 256 }, { RLIMIT_FSIZE, 1u << 20, 1u << 20 },
			   { RLIMIT_CPU, 6, 7 } }, .nrlimits = 4, .rootfs_fd = -1 };
	policy_seal(&sealed, &p, &o, 7, false);
	memset(&got, 0xa5, sizeof(got));
	err = (struct ak_err){ 0 };
}

static int narrow(struct ak_create how)
{
	return policy_narrow(&sealed, &how, &got, &err);
}

static uint64_t hard(const struct policy *pol, uint32_t resource)
{
	for (size_t i = 0; i < pol->plan.nrlimits; i++)
		if (pol->plan.rlimits[i].resource == resource)
			return pol->plan.rlimits[i].hard;
	return UINT64_MAX;
}

/* no field of @n is wider than the sealed one's */
static void not_wider(const struct policy *n)
{
	ck_assert_uint_le(n->memory_bytes, sealed.memory_bytes);
	ck_assert_uint_le(n->cpu_milli, sealed.cpu_milli);
	ck_assert_uint_le(n->pids, sealed.pids);
	ck_assert_uint_le(n->cpu_time_ms, sealed.cpu_time_ms);
	ck_assert_uint_le(n->timeout_ms, sealed.timeout_ms);
	ck_assert_uint_le(n->max_output, sealed.max_output);
	ck_assert_uint_le(n->fsize_bytes, sealed.fsize_bytes);
	for (uint32_t i = 0; i < 16; i++)
		ck_assert_uint_le(hard(n, i), hard(&sealed, i));
	ck_assert(n->plan.net == sealed.plan.net || n->plan.net == NET_NONE);
	ck_assert(n->plan.write == sealed.plan.write || n->plan.write == WRITE_NONE);
	ck_assert(!n->jobs || sealed.jobs);
	ck_assert_uint_eq(n->plan.nmounts, sealed.plan.nmounts);
	for (size_t i = 0; i < n->plan.nmounts; i++) {
		ck_assert_str_eq(n->plan.mounts[i].dst, sealed.plan.mounts[i].dst);
		ck_assert_uint_eq(n->plan.mounts[i].flags & sealed.plan.mounts[i].flags, sealed.plan.mounts[i].flags);
		ck_assert_uint_le(n->plan.mounts[i].size_bytes, sealed.plan.mounts[i].size_bytes);
	}
	ck_assert_uint_le(n->plan.envc, sealed.plan.envc);
	ck_assert(!n->plan.allow_setid || sealed.plan.allow_setid);
}

START_TEST(nothing_asked_leaves_everything_as_it_is)
{
	ck_assert_int_eq(narrow((struct ak_create){ 0 }), 0);
	not_wider(&got);
	ck_assert_uint_eq(got.memory_bytes, sealed.memory_bytes);
	ck_assert_uint_eq(got.plan.envc, 3);
	ck_assert_uint_eq(got.plan.write, WRITE_DIRECT);
	policy_release(&got);
}
END_TEST

/* each number: equal passes, one more does not, UINT64_MAX (no limit at all) neither; nothing is touched then */
static void widen(const char *name, struct ak_create equal, struct ak_create more, struct ak_create all)
{
	static struct policy untouched;

	memset(&untouched, 0xa5, sizeof(untouched));
	ck_assert_msg(narrow(equal) == 0, "%s: its own value is refused: %s", name, err.msg);
	not_wider(&got);
	policy_release(&got);
	got = untouched;
	ck_assert_msg(narrow(more) == -EPERM, "%s could be widened by one", name);
	ck_assert_msg(strstr(err.msg, name) != NULL, "the refusal does not name %s: %s", name, err.msg);
	ck_assert_msg(narrow(all) == -EPERM, "%s could be lifted", name);
	ck_assert_mem_eq(&got, &untouched, sizeof(got));
}

#define WIDEN(text, field, own) \
	widen(text, (struct ak_create){ .field = (own) }, (struct ak_create){ .field = (own) + 1 }, (struct ak_create){ .field = UINT64_MAX })

START_TEST(no_number_can_be_widened)
{
	WIDEN("memory", memory_bytes, 100u << 20);
	WIDEN("pids", pids, 50u);
	WIDEN("cpu_time", cpu_time_ms, 5000u);
	WIDEN("timeout", timeout_ms, 60000u);
	WIDEN("max_output", max_output, 4096u);
	WIDEN("nofile", nofile, 256u);
	WIDEN("fsize", fsize_bytes, 1u << 20);
	sealed.cgroup = CGROUP_ALL;
	WIDEN("cpus", cpu_milli, 1000u);
}
END_TEST

START_TEST(a_limit_that_nothing_enforces_is_refused)
{
	ck_assert_int_eq(narrow((struct ak_create){ .cpu_milli = 500 }), -EOPNOTSUPP);
	sealed.plan.identity = PLAN_ID_ROOT;
	ck_assert_int_eq(narrow((struct ak_create){ .pids = 5 }), -EOPNOTSUPP);
	ck_assert_int_eq(narrow((struct ak_create){ .memory_bytes = 1 }), -EINVAL);
}
END_TEST

START_TEST(numbers_reach_what_enforces_them)
{
	ck_assert_int_eq(narrow((struct ak_create){ .memory_bytes = 8u << 20, .pids = 5, .cpu_time_ms = 1500, .nofile = 32, .fsize_bytes = 99 }), 0);
	not_wider(&got);
	ck_assert_uint_eq(got.plan.mounts[2].size_bytes, 8u << 20);
	ck_assert_uint_eq(hard(&got, RLIMIT_NPROC), 6);
	ck_assert_uint_eq(hard(&got, RLIMIT_NOFILE), 32);
	ck_assert_uint_eq(hard(&got, RLIMIT_FSIZE), 99);
	ck_assert_uint_eq(hard(&got, RLIMIT_CPU), 4);
	policy_release(&got);
	/* the sealed one is what it was */
	ck_assert_uint_eq(sealed.plan.mounts[2].size_bytes, 64u << 20);
	ck_assert_uint_eq(hard(&sealed, RLIMIT_NPROC), 51);
}
END_TEST

START_TEST(flags_only_take_away)
{
	ck_assert_int_eq(narrow((struct ak_create){ .flags = AK_NARROW_FLAGS_ALL }), 0);
	not_wider(&got);
	ck_assert_uint_eq(got.plan.net, NET_NONE);
	ck_assert_uint_eq(got.plan.write, WRITE_NONE);
	ck_assert_str_eq(got.plan.seccomp, "strict");
	ck_assert(!got.jobs);
	policy_release(&got);
	ck_assert_uint_eq(sealed.plan.net, NET_HOST);
}
END_TEST

START_TEST(write_none_makes_the_workspace_read_only_and_leaves_the_rest)
{
	ck_assert_int_eq(narrow((struct ak_create){ .flags = AK_NARROW_WRITE_NONE }), 0);
	ck_assert(got.plan.mounts[0].flags & PMF_RO);
	ck_assert(got.plan.mounts[1].flags & PMF_RO);
	ck_assert(!(got.plan.mounts[2].flags & PMF_RO));
	ck_assert(!(got.plan.mounts[3].flags & PMF_RO));
	ck_assert_uint_eq(got.plan.paths[2].access, INIT_PATH_RX);
	ck_assert_uint_eq(got.plan.npaths, 4);
	ck_assert_str_eq(got.plan.paths[3].path, "/ws/data");
	ck_assert(!(mounts[0].flags & PMF_RO));
	policy_release(&got);
}
END_TEST

START_TEST(variables_are_taken_away_by_their_whole_name)
{
	ck_assert_int_eq(narrow((struct ak_create){ .nunset = 2, .unset = { "A", "NONE" } }), 0);
	ck_assert_uint_eq(got.plan.envc, 2);
	ck_assert_str_eq(got.plan.envp[0], "AB=2");
	ck_assert_ptr_null(got.plan.envp[2]);
	policy_release(&got);
	ck_assert_int_eq(narrow((struct ak_create){ .nunset = 1, .unset = { "A=1" } }), -EINVAL);
	ck_assert_int_eq(narrow((struct ak_create){ .nunset = 1, .unset = { "" } }), -EINVAL);
}
END_TEST

START_TEST(a_narrower_policy_narrows_again_and_never_back)
{
	struct policy second;

	ck_assert_int_eq(narrow((struct ak_create){ .pids = 10, .flags = AK_NARROW_NET_NONE }), 0);
	ck_assert_int_eq(policy_narrow(&got, &(struct ak_create){ .pids = 11 }, &second, &err), -EPERM);
	ck_assert_int_eq(policy_narrow(&got, &(struct ak_create){ .pids = 10 }, &second, &err), 0);
	ck_assert_uint_eq(second.plan.net, NET_NONE);
	policy_release(&second);
	policy_release(&got);
}
END_TEST

static int command(struct ak_exec m, struct policy_limits *l)
{
	return policy_command(&sealed, &m, l, &err);
}

START_TEST(a_command_cannot_widen_either)
{
	struct policy_limits l = { 0 };

	ck_assert_int_eq(command((struct ak_exec){ 0 }, &l), 0);
	ck_assert_uint_eq(l.timeout_ms, 60000);
	ck_assert_uint_eq(l.max_output, 4096);
	ck_assert_int_eq(command((struct ak_exec){ .flags = AK_EXEC_TIMEOUT_SET, .timeout_ms = 60001 }, &l), -EPERM);
	ck_assert_int_eq(command((struct ak_exec){ .flags = AK_EXEC_TIMEOUT_SET, .timeout_ms = 0 }, &l), -EPERM);
	ck_assert_int_eq(command((struct ak_exec){ .cpu_time_ms = 5001 }, &l), -EPERM);
	ck_assert_int_eq(command((struct ak_exec){ .max_output = 4097 }, &l), -EPERM);
	for (uint32_t i = 0; i < sealed.plan.nrlimits; i++) {
		struct ak_exec m = { .nrlimits = 1, .rlimit = { { sealed.plan.rlimits[i].resource, sealed.plan.rlimits[i].hard + 1 } } };

		ck_assert_int_eq(command(m, &l), -EPERM);
		m.rlimit[0].value--;
		ck_assert_int_eq(command(m, &l), 0);
	}
	ck_assert_int_eq(command((struct ak_exec){ .kill_after_ms = UINT64_MAX }, &l), 0);
	ck_assert_uint_eq(l.kill_after_ms, 2000);
	sealed.timeout_ms = POLICY_NONE;
	ck_assert_int_eq(command((struct ak_exec){ .flags = AK_EXEC_TIMEOUT_SET, .timeout_ms = AK_TIMEOUT_MAX_MS + 1 }, &l), -EINVAL);
}
END_TEST

START_TEST(captured_output_has_a_bound_where_nobody_gave_one)
{
	struct policy_limits l = { 0 };

	o.max_output_bytes = UINT64_MAX;
	policy_seal(&sealed, &p, &o, 7, false);
	ck_assert_int_eq(command((struct ak_exec){ 0 }, &l), 0);
	ck_assert_uint_eq(l.max_output, AK_CAPTURE_DEFAULT);
	ck_assert_int_eq(command((struct ak_exec){ .max_output = UINT64_MAX }, &l), 0);
	ck_assert_uint_eq(l.max_output, AK_CAPTURE_MAX);
}
END_TEST

START_TEST(facts_name_no_host_path_to_an_agent)
{
	struct ak_facts f;

	o.rootfs = (char *)"/srv/root";
	p.rootfs = (char *)"/srv/root";
	policy_seal(&sealed, &p, &o, 7, false);
	policy_facts(&sealed, &f);
	ck_assert_str_eq(f.root, "rootfs");
	policy_seal(&sealed, &p, &o, 7, true);
	policy_facts(&sealed, &f);
	ck_assert_str_eq(f.root, "/srv/root");
	ck_assert_uint_eq(f.limit[AK_LIMIT_CPUS].by, AK_BY_NONE);
	ck_assert_uint_eq(f.limit[AK_LIMIT_PIDS].by, AK_BY_RLIMIT);
	ck_assert_uint_eq(f.limit[AK_LIMIT_MEMORY].by, AK_BY_AK);
}
END_TEST

static bool refused(struct ak_create how, const char *what)
{
	err = (struct ak_err){ 0 };
	return narrow(how) == -EOPNOTSUPP && strncmp(err.msg, what, strlen(what)) == 0;
}

START_TEST(what_another_backend_holds_is_not_narrowed)
{
	struct backend_facts held = { .backend = BACKEND_DOCKER, .memory_held = true, .seccomp = true, .user_namespace = true, .image = "img",
				      .nwarnings = 1, .warning = { "w" } };
	struct policy_limits l = { 0 };
	struct ak_facts f;

	p.held = &held;
	policy_seal(&sealed, &p, &o, 0, false);
	ck_assert(refused((struct ak_create){ .memory_bytes = 50u << 20 }, "memory:"));
	ck_assert(refused((struct ak_create){ .pids = 4 }, "pids:"));
	ck_assert(refused((struct ak_create){ .cpu_milli = 4 }, "cpus:"));
	ck_assert(refused((struct ak_create){ .flags = AK_NARROW_STRICT }, "the profile strict:"));
	ck_assert(refused((struct ak_create){ .flags = AK_NARROW_WRITE_NONE }, "a read-only workspace:"));
	ck_assert(refused((struct ak_create){ .flags = AK_NARROW_NET_NONE }, "no network:"));
	ck_assert(refused((struct ak_create){ .nunset = 1, .unset = { "A" } }, "fewer variables:"));
	ck_assert(refused((struct ak_create){ .cpu_time_ms = 1 }, "cpu_time:"));
	/* fewer than anything starts with */
	ck_assert_int_eq(narrow((struct ak_create){ .nofile = 7 }), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "nofile:"));
	ck_assert_int_eq(narrow((struct ak_create){ .timeout_ms = 5, .max_output = 7, .nofile = 8, .flags = AK_NARROW_NO_JOBS }), 0);
	policy_release(&got);
	ck_assert_int_eq(command((struct ak_exec){ .cpu_time_ms = 1 }, &l), -EOPNOTSUPP);
	policy_facts(&sealed, &f);
	ck_assert_uint_eq(f.backend, AK_BACKEND_DOCKER);
	ck_assert_uint_eq(f.user_ns, 1);
	ck_assert_uint_eq(f.seccomp, AK_SECCOMP_DOCKER);
	ck_assert_str_eq(f.root, "img");
	ck_assert_str_eq(f.warning[f.nwarnings - 1], "w");
	ck_assert_uint_eq(f.limit[AK_LIMIT_MEMORY].by, AK_BY_DOCKER);
	ck_assert_uint_eq(f.limit[AK_LIMIT_MEMORY].hit, AK_HIT_UNKNOWN);
	ck_assert_uint_eq(f.limit[AK_LIMIT_PIDS].by, AK_BY_NONE);
	held = (struct backend_facts){ .backend = BACKEND_LOCAL, .root = true };
	ck_assert_int_eq(narrow((struct ak_create){ .nunset = 1, .unset = { "A" } }), 0);
	policy_release(&got);
	policy_facts(&sealed, &f);
	ck_assert_uint_eq(f.backend, AK_BACKEND_LOCAL);
	ck_assert_uint_eq(f.identity, AK_IDENTITY_ROOT);
	ck_assert_uint_eq(f.seccomp, AK_SECCOMP_NONE);
	ck_assert_str_eq(f.root, "host");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy");
	TCase *tc = tcase_create("policy");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, nothing_asked_leaves_everything_as_it_is);
	tcase_add_test(tc, no_number_can_be_widened);
	tcase_add_test(tc, a_limit_that_nothing_enforces_is_refused);
	tcase_add_test(tc, numbers_reach_what_enforces_them);
	tcase_add_test(tc, flags_only_take_away);
	tcase_add_test(tc, write_none_makes_the_workspace_read_only_and_leaves_the_rest);
	tcase_add_test(tc, variables_are_taken_away_by_their_whole_name);
	tcase_add_test(tc, a_narrower_policy_narrows_again_and_never_back);
	tcase_add_test(tc, a_command_cannot_widen_either);
	tcase_add_test(tc, captured_output_has_a_bound_where_nobody_gave_one);
	tcase_add_test(tc, facts_name_no_host_path_to_an_agent);
	tcase_add_test(tc, what_another_backend_holds_is_not_narrowed);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
