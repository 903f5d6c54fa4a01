/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sandbox and its commands may have at most: sealed before the first request is read, and narrowed only.
 * Process: executor. Privilege: none.
 *
 * A policy is made once from the command line (policy_seal()). CREATE makes a narrower one from it (policy_narrow()), EXEC a
 * narrower set of limits for one command from that (policy_command()). No function here makes anything wider, and what a
 * request asks for above the policy is refused by name, never cut in silence.
 */
#ifndef AK_POLICY_H
#define AK_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/plan.h"
#include "executor/shared/ak_msg.h"

struct ak_err;
struct exec_opts;

#define POLICY_NONE UINT64_MAX	/* of a number: no limit */

struct policy {
	struct plan plan;	/* a view of the sealed plan: its pointers are the sealed plan's, but for what @owned holds */
	struct {
		struct plan_mount *mounts;	/* shallow: strings are the sealed plan's */
		struct init_path *paths;	/* the same */
		char **envp;			/* the same */
	} owned;		/* arrays that a narrowing has replaced; NULL: not replaced */
	uint64_t memory_bytes;	/* POLICY_NONE: no limit; so with all numbers */
	uint64_t cpu_milli;
	uint64_t pids;
	uint64_t cpu_time_ms;	/* of one command */
	uint64_t timeout_ms;	/* of one command: what it gets, and at most */
	uint64_t kill_after_ms;
	uint64_t max_output;	/* bytes per stream */
	uint64_t nofile;
	uint64_t fsize_bytes;
	bool given_output;	/* max_output was set by somebody */
	bool given_nofile;
	bool jobs;		/* may commands be jobs? */
	uint32_t cgroup;	/* enum cgroup_ctl: limits that a cgroup keeps; with the CPU one cpu_milli can be asked for */
	int landlock_abi;
	bool tell_paths;
	uint64_t disk_bytes;	/* --disk; POLICY_NONE */
	const char *changes;	/* id of the changeset of a copied workspace; borrowed; NULL */
	const char *root;	/* --rootfs as it was given; borrowed; NULL */
};

/** policy_seal() - the policy of a command line. @plan and @opts are borrowed as long as the policy and all made from it live. */
void policy_seal(struct policy *p, const struct plan *plan, const struct exec_opts *opts, int landlock_abi, bool tell_paths);

/**
 * policy_narrow() - the policy of one sandbox
 * @from:	borrowed as long as *@ret lives
 * @how:	what is asked for
 * @ret:	release with policy_release(); untouched on failure
 * Return: 0; -EPERM (more than @from allows), -EOPNOTSUPP (a limit that nothing here enforces), -EINVAL (a number or name that
 * makes no sense), -ENOMEM. @err names the field.
 */
int policy_narrow(const struct policy *from, const struct ak_create *how, struct policy *ret, struct ak_err *err);
void policy_release(struct policy *p);

/* the limits of one command */
struct policy_limits {
	uint64_t timeout_ms;	/* POLICY_NONE: none */
	uint64_t kill_after_ms;
	uint64_t cpu_time_ms;
	uint64_t max_output;	/* per stream */
	bool output_limited;
	uint32_t nrlimits;
	struct ak_rlimit rlimit[AK_EXEC_RLIMITS_MAX + 1];	/* on top of the sandbox's, all of them lower */
};

/**
 * policy_command() - the limits of one command within its sandbox's policy
 * Return: 0; -EPERM (higher than the sandbox's), -EINVAL.
 */
int policy_command(const struct policy *p, const struct ak_exec *m, struct policy_limits *ret, struct ak_err *err);

/** policy_facts() - the policy as clients are told; pointers are borrowed from @p */
void policy_facts(const struct policy *p, struct ak_facts *ret);

/** policy_limit_rows() - limits of a result; hits are AK_HIT_NO, or AK_HIT_UNKNOWN where nobody can tell. @l may be NULL. */
void policy_limit_rows(const struct policy *p, const struct policy_limits *l, struct ak_limit ret[AK_LIMITS]);

#endif
