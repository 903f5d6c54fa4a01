/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `ak doctor` share: checks, rows, trials, facts. Process: executor. Privilege: the
 * caller's. */
#ifndef AK_DOCTOR_INT_H
#define AK_DOCTOR_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ak_buf;
struct ak_err;

/* One namespace kind: its clone flag, and the sysctl below /proc/sys/user that bounds it. */
struct doctor_ns {
	const char *name;
	uint64_t flag;
	const char *max_sysctl;
};

#define DOCTOR_NS_COUNT 7
extern const struct doctor_ns doctor_ns_table[DOCTOR_NS_COUNT];

/* What is read only to explain a failure; a number is -1 where the file is absent or unreadable. */
struct doctor_facts {
	long ns_max[DOCTOR_NS_COUNT]; /* user.max_*_namespaces, in the order of doctor_ns_table */
	long userns_clone;	      /* kernel.unprivileged_userns_clone (Debian's and others' patch) */
	long apparmor_userns;	      /* kernel.apparmor_restrict_unprivileged_userns */
	long memfd_noexec;	      /* vm.memfd_noexec */
	long seccomp_mode;	      /* of this process: 2 means a filter is already loaded */
	bool chrooted;		      /* no mount point is at the root folder */
	bool root;		      /* host root runs ak */
};

enum doctor_result { DOCTOR_OK, DOCTOR_FAIL, DOCTOR_WARN, DOCTOR_INFO, DOCTOR_SKIP };

struct doctor_row {
	const char *name; /* borrowed from the check */
	enum doctor_result result;
	int code;	  /* positive errno; 0 where none applies */
	char detail[400]; /* what it means */
	char fix[640];	  /* what to do; "" when there is nothing to do */
};

struct doctor_ctx {
	uid_t uid; /* effective */
	gid_t gid;
	bool root;
	uint32_t range_uid, range_gid; /* as root: first host ids of the 65536 that trials use */
	struct doctor_facts facts;
};

/* Where a trial stopped. */
enum trial_stage { TRIAL_DONE, TRIAL_CLONE, TRIAL_MAP, TRIAL_RUN };

struct trial {
	enum trial_stage stage;
	int code;	/* positive errno; 0 with TRIAL_DONE */
	int value;	/* what the trial found, such as an ABI number */
	char what[320]; /* the step that failed and its errno, as text */
};

/* Runs in a child, inside the namespaces asked for. Return: 0, or negative errno with @t->what set. */
typedef int (*trial_fn)(const struct doctor_ctx *ctx, struct trial *t);

enum doctor_when { DOCTOR_ALWAYS, DOCTOR_AS_ROOT, DOCTOR_AS_USER };

/*
 * One check: either a trial with its texts, or a function of its own. A check that is not needed never fails:
 * what it finds missing is a warning.
 */
struct doctor_check {
	const char *name;
	bool needed;
	enum doctor_when when;
	uint64_t ns;	/* clone flags of the trial's child */
	trial_fn trial; /* NULL: run() does it all */
	void (*run)(const struct doctor_ctx *ctx, struct doctor_row *row);
	const char *ok;	  /* trial: what its success means */
	const char *lost; /* trial: what its failure means */
	const char *fix;  /* trial: what to do; NULL where the stage explains itself */
};

/* Every namespace a sandbox is made of. */
#define DOCTOR_NS_ALL                                                                                        \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |           \
	 CLONE_NEWCGROUP)

/* --- doctor_try.c --- */

/**
 * doctor_try() - run one trial in a child inside new namespaces, with its id maps written
 * @ns:		clone flags; with CLONE_NEWUSER the maps are those of a sandbox: the caller's own id, or a
 * range for root
 * @ret:	filled
 *
 * The child is waited for; one that does not end within 5 seconds is killed and reported as ETIMEDOUT.
 * Return: 0 when the trial went well, else -1 with the stage, errno and step in @ret.
 */
int doctor_try(const struct doctor_ctx *ctx, uint64_t ns, trial_fn fn, struct trial *ret);

/** trial_fail() - note the step and errno of a failed system call. Return: negative errno. */
int trial_fail(struct trial *t, const char *what);
/** trial_err() - the same for a function that filled an error. Return: negative errno. */
int trial_err(struct trial *t, const struct ak_err *err);

/* --- doctor_explain.c --- */

/** doctor_facts_read() - read the sysctls and process facts; never fails, absent ones are -1; @f->root is the
 * caller's to set */
void doctor_facts_read(struct doctor_facts *f);

/**
 * doctor_explain() - why the kernel refused namespaces or rights in them, and what to do
 * @f:		facts; borrowed
 * @ns:		clone flags that were asked for
 * @stage:	TRIAL_CLONE, or a later one, where the cause is a namespace that came without rights
 * @code:	positive errno
 * @fix:	filled with one line; "" when the facts explain nothing
 */
void doctor_explain(const struct doctor_facts *f, uint64_t ns, enum trial_stage stage, int code, char *fix,
		    size_t n);

/* --- doctor_host.c --- */

/**
 * doctor_subid_find() - the first usable range of an owner in the text of /etc/subuid or /etc/subgid
 * @text:	the file; borrowed
 * @owner:	login name
 *
 * Usable: at least 65536 ids, none of them 0, all below 2^32 - 1. Lines that do not parse are skipped.
 * Return: 0; -ENOENT (no line of the owner); -ERANGE (lines, but none usable). Outputs are untouched on
 * failure.
 */
int doctor_subid_find(const char *text, size_t len, const char *owner, uint32_t *ret_first,
		      uint32_t *ret_count);

/**
 * doctor_subid_overlap() - does a line of another owner share ids with a range?
 * Return: true with the owner's name in @name.
 */
bool doctor_subid_overlap(const char *text, size_t len, const char *owner, uint32_t first, uint64_t count,
			  char *name, size_t n);

/** doctor_range() - first id of the last slot that sandboxes of root would take; @path is /etc/subuid or
 * /etc/subgid */
uint32_t doctor_range(const char *path);

/* --- checks, by concern; each is a trial or a run function of the table in doctor_table.c --- */

int try_nothing(const struct doctor_ctx *ctx, struct trial *t);
int try_ids(const struct doctor_ctx *ctx, struct trial *t);
int try_mount_call(const struct doctor_ctx *ctx, struct trial *t);
int try_tmpfs(const struct doctor_ctx *ctx, struct trial *t);
int try_setattr(const struct doctor_ctx *ctx, struct trial *t);
int try_proc(const struct doctor_ctx *ctx, struct trial *t);
int try_pivot(const struct doctor_ctx *ctx, struct trial *t);
int try_devpts(const struct doctor_ctx *ctx, struct trial *t);
int try_overlay(const struct doctor_ctx *ctx, struct trial *t);
int try_ns_limit(const struct doctor_ctx *ctx, struct trial *t);
int try_keyring(const struct doctor_ctx *ctx, struct trial *t);
int try_loopback(const struct doctor_ctx *ctx, struct trial *t);
int try_syscalls(const struct doctor_ctx *ctx, struct trial *t);
int try_caps(const struct doctor_ctx *ctx, struct trial *t);
int try_seccomp(const struct doctor_ctx *ctx, struct trial *t);
int try_memfd_exec(const struct doctor_ctx *ctx, struct trial *t);
int try_landlock(const struct doctor_ctx *ctx, struct trial *t);
int try_nproc(const struct doctor_ctx *ctx, struct trial *t);
int try_host_root(const struct doctor_ctx *ctx, struct trial *t);
int try_drop_groups(const struct doctor_ctx *ctx, struct trial *t);

void check_landlock(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_memfd(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_idmap(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_range(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_groups(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_apparmor(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_ns_limits(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_cgroup(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_plain(const struct doctor_ctx *ctx, struct doctor_row *row);
int try_nesting(const struct doctor_ctx *ctx, struct trial *t);
void check_cgroup_given(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_cgroup_own(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_cgroup_above(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_cgroup_top(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_cgroup_systemd(const struct doctor_ctx *ctx, struct doctor_row *row);
void check_protected(const struct doctor_ctx *ctx, struct doctor_row *row);

/* --- doctor_table.c --- */

/** doctor_checks() - the table of checks, in the order they are run and printed; @ret_n gets their number */
const struct doctor_check *doctor_checks(size_t *ret_n);

/** doctor_run_check() - fill @row by carrying out one check; DOCTOR_SKIP when it does not apply to this
 * caller */
void doctor_run_check(const struct doctor_check *c, const struct doctor_ctx *ctx, struct doctor_row *row);

/** row_set() - result, errno and meaning of a row */
void row_set(struct doctor_row *row, enum doctor_result result, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/** row_fix() - what to do about a row */
void row_fix(struct doctor_row *row, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** row_trial_failed() - describe a failed trial: @lost says what it means, @fix what to do where the stage
 * tells nothing */
void row_trial_failed(const struct doctor_ctx *ctx, struct doctor_row *row, uint64_t ns,
		      const struct trial *t, const char *lost, const char *fix);

/* --- doctor_print.c --- */

/** doctor_ok() - true when no row says fail */
bool doctor_ok(const struct doctor_row *rows, size_t n);
/** doctor_print_text() - aligned plain text for people */
void doctor_print_text(const struct doctor_row *rows, size_t n, uid_t uid, struct ak_buf *out);
/** doctor_print_json() - the document ak-doctor/1 and a newline */
void doctor_print_json(const struct doctor_row *rows, size_t n, uid_t uid, struct ak_buf *out);

#endif
