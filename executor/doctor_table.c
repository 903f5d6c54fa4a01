/* SPDX-License-Identifier: Apache-2.0 */
/* The table of checks of `ak doctor` and how one of them becomes a row. Privilege: the caller's. */
#include "executor/doctor_int.h"

#include <linux/sched.h>
#include <stdarg.h>
#include <stdio.h>

#define NS_MOUNT (CLONE_NEWUSER | CLONE_NEWNS)
#define FIX_KERNEL "use Linux 5.14 or newer; in a container, allow the call in its seccomp profile"
#define FIX_MOUNT                                                                                            \
	"allow the mount system calls: in a container, a seccomp profile without that rule (docker: "        \
	"--security-opt "                                                                                    \
	"seccomp=unconfined) and no AppArmor profile that denies mount (--security-opt apparmor=unconfined)"

/* namespaces alone, to name the culprit when all at once fail */
#define ALONE(name, flag)                                                                                    \
	{                                                                                                    \
		"namespace-" name, true, DOCTOR_ALWAYS, CLONE_NEWUSER | (flag), try_nothing, NULL,           \
			"can be made", "no sandbox without it", NULL                                         \
	}

static const struct doctor_check checks[] = {
	{"namespaces", true, DOCTOR_ALWAYS, DOCTOR_NS_ALL, try_nothing, NULL,
	 "all seven namespaces in one clone3", "no sandbox can be made", NULL},
	ALONE("user", 0),
	ALONE("mount", CLONE_NEWNS),
	ALONE("pid", CLONE_NEWPID),
	ALONE("net", CLONE_NEWNET),
	ALONE("ipc", CLONE_NEWIPC),
	ALONE("uts", CLONE_NEWUTS),
	ALONE("cgroup", CLONE_NEWCGROUP),
	{"id-maps", true, DOCTOR_ALWAYS, CLONE_NEWUSER, try_ids, NULL,
	 "ids are mapped; host uid 0 is not among them", "ids cannot be mapped", NULL},
	{"host-root", true, DOCTOR_AS_ROOT, 0, try_host_root, NULL,
	 "ak gives up host root for a reserved id range and cannot take it back",
	 "ak cannot give up host root",
	 "root needs CAP_SETUID, CAP_SETGID, a writable /run and a user namespace that maps the reserved ids "
	 "(id-range); in a "
	 "container without them, run ak as an ordinary user"},
	{"id-range", false, DOCTOR_AS_ROOT, 0, NULL, check_range, NULL, NULL, NULL},
	{"groups", true, DOCTOR_ALWAYS, 0, NULL, check_groups, NULL, NULL, NULL},
	{"system-calls", true, DOCTOR_ALWAYS, 0, try_syscalls, NULL, "openat2, close_range and pidfds work",
	 "a system call that ak cannot do without is missing", FIX_KERNEL},
	{"tmpfs", true, DOCTOR_ALWAYS, NS_MOUNT, try_tmpfs, NULL, "sized private file systems by descriptor",
	 "no private root, /tmp or /dev", FIX_MOUNT},
	{"read-only-tree", true, DOCTOR_ALWAYS, NS_MOUNT, try_setattr, NULL,
	 "the system is shown read-only and private, recursively", "the system cannot be shown read-only",
	 FIX_MOUNT},
	{"procfs", true, DOCTOR_ALWAYS, NS_MOUNT | CLONE_NEWPID, try_proc, NULL,
	 "a /proc of the sandbox's own",
	 "no /proc of the sandbox's own (EPERM: parts of this /proc are covered, as containers do, and the "
	 "kernel does not let "
	 "a new one show more)",
	 "start the container with an uncovered /proc (docker: --security-opt systempaths=unconfined; "
	 "podman: --security-opt "
	 "unmask=ALL; kubernetes: procMount: Unmasked)"},
	{"pivot-root", true, DOCTOR_ALWAYS, NS_MOUNT, try_pivot, NULL, "the host's root is detached",
	 "the host's root would stay reachable", FIX_MOUNT},
	{"mount-call", false, DOCTOR_ALWAYS, NS_MOUNT, try_mount_call, NULL,
	 "mount(2) works; ak itself uses the calls by descriptor that came after it",
	 "mount(2) fails; ak itself uses the calls by descriptor that came after it", FIX_MOUNT},
	{"devpts", false, DOCTOR_ALWAYS, NS_MOUNT, try_devpts, NULL, "terminals of the sandbox's own (--tty)",
	 "--tty does not work", FIX_MOUNT},
	{"overlay", false, DOCTOR_ALWAYS, NS_MOUNT, try_overlay, NULL,
	 "a writable layer over --rootfs (--rootfs-write tmp)",
	 "--rootfs-write tmp does not work, or not for removed folders",
	 "use Linux 6.6 or newer with overlayfs"},
	{"loopback", true, DOCTOR_ALWAYS, CLONE_NEWUSER | CLONE_NEWNET, try_loopback, NULL,
	 "lo is up in the sandbox's empty network", "lo stays down in the sandbox's network",
	 "allow RTM_NEWLINK on netlink sockets for ak"},
	{"nested-limit", true, DOCTOR_ALWAYS, CLONE_NEWUSER, try_ns_limit, NULL,
	 "a sandbox can be forbidden to make user namespaces of its own",
	 "a sandbox cannot be forbidden to make user namespaces of its own",
	 "start the container with a writable /proc/sys (docker: --security-opt systempaths=unconfined)"},
	{"keyring", true, DOCTOR_ALWAYS, CLONE_NEWUSER, try_keyring, NULL,
	 "the caller's session keyring is left behind", "the caller's session keyring would be shared",
	 "allow keyctl for ak: in a container, in its seccomp profile (docker: --security-opt "
	 "seccomp=unconfined)"},
	{"capabilities", true, DOCTOR_ALWAYS, CLONE_NEWUSER, try_caps, NULL,
	 "all five sets can be emptied and locked", "a command would keep capabilities",
	 "allow prctl and capset for ak"},
	{"seccomp", true, DOCTOR_ALWAYS, 0, try_seccomp, NULL, "system call filters can be loaded",
	 "system calls cannot be filtered",
	 "a kernel with CONFIG_SECCOMP_FILTER; in a container, allow the seccomp call"},
	{"memfd-exec", true, DOCTOR_ALWAYS, 0, NULL, check_memfd, NULL, NULL, NULL},
	{"landlock", false, DOCTOR_ALWAYS, 0, NULL, check_landlock, NULL, NULL, NULL},
	{"isolation-landlock", false, DOCTOR_ALWAYS, 0, NULL, check_plain, NULL, NULL, NULL},
	{"nesting", false, DOCTOR_ALWAYS, NS_MOUNT | CLONE_NEWPID, try_nesting, NULL,
	 "sandboxes can run inside a sandbox (--nesting)", "--nesting does not work", "raise user.max_user_namespaces"},
	{"process-limit", false, DOCTOR_ALWAYS, CLONE_NEWUSER | CLONE_NEWPID, try_nproc, NULL,
	 "RLIMIT_NPROC counts each sandbox by itself",
	 "RLIMIT_NPROC counts the caller's other processes too, so --pids cannot be kept",
	 "use Linux 5.14 or newer"},
	{"workspace-ids", true, DOCTOR_AS_ROOT, 0, NULL, check_idmap, NULL, NULL, NULL},
	{"cgroup", false, DOCTOR_ALWAYS, 0, NULL, check_cgroup, NULL, NULL, NULL},
	/* each place by itself, in the order in which they are tried; tells nothing where there is no such place */
	{"cgroup-given", false, DOCTOR_ALWAYS, 0, NULL, check_cgroup_given, NULL, NULL, NULL},
	{"cgroup-own", false, DOCTOR_ALWAYS, 0, NULL, check_cgroup_own, NULL, NULL, NULL},
	{"cgroup-above", false, DOCTOR_ALWAYS, 0, NULL, check_cgroup_above, NULL, NULL, NULL},
	{"cgroup-top", false, DOCTOR_ALWAYS, 0, NULL, check_cgroup_top, NULL, NULL, NULL},
	{"cgroup-systemd", false, DOCTOR_AS_USER, 0, NULL, check_cgroup_systemd, NULL, NULL, NULL},
	{"apparmor", false, DOCTOR_AS_USER, 0, NULL, check_apparmor, NULL, NULL, NULL},
	{"namespace-limits", false, DOCTOR_ALWAYS, 0, NULL, check_ns_limits, NULL, NULL, NULL},
	{"planted-files", false, DOCTOR_ALWAYS, 0, NULL, check_protected, NULL, NULL, NULL},
};

const struct doctor_check *doctor_checks(size_t *ret_n)
{
	*ret_n = sizeof(checks) / sizeof(checks[0]);
	return checks;
}

void row_set(struct doctor_row *row, enum doctor_result result, int code, const char *fmt, ...)
{
	va_list ap;

	row->result = result;
	row->code = code;
	row->fix[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(row->detail, sizeof(row->detail), fmt, ap);
	va_end(ap);
}

void row_fix(struct doctor_row *row, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(row->fix, sizeof(row->fix), fmt, ap);
	va_end(ap);
}

/* A namespace row explains why it failed; what needs that namespace only points there. */
static void fix_of_stage(const struct doctor_ctx *ctx, struct doctor_row *row, uint64_t ns,
			 const struct trial *t)
{
	char why[sizeof(row->fix)];

	doctor_explain(&ctx->facts, ns, t->stage, t->code, why, sizeof(why));
	if (why[0] || t->stage == TRIAL_CLONE)
		row_fix(row, "%s", why);
	else if (ctx->root)
		row_fix(row, "root needs CAP_SETUID, CAP_SETGID and a user namespace that maps the reserved "
			     "ids (see id-range); "
			     "in a container without them, run ak as an ordinary user");
	else
		row_fix(row, "run ak outside of the container or service that forbids to write id maps");
}

void row_trial_failed(const struct doctor_ctx *ctx, struct doctor_row *row, uint64_t ns,
		      const struct trial *t, const char *lost, const char *fix)
{
	char why[sizeof(row->fix)];

	if (fix && t->stage != TRIAL_RUN) {
		row_set(row, DOCTOR_FAIL, t->code,
			"not tried, since its process and namespaces cannot be made: %s", t->what);
		row_fix(row, "see the namespace rows");
		return;
	}
	row_set(row, DOCTOR_FAIL, t->code, "%s: %s", lost, t->what);
	if (!fix) {
		fix_of_stage(ctx, row, ns, t);
		return;
	}
	doctor_explain(&ctx->facts, ns, t->stage, t->code, why, sizeof(why));
	row_fix(row, "%s", why[0] ? why : fix);
}

void doctor_run_check(const struct doctor_check *c, const struct doctor_ctx *ctx, struct doctor_row *row)
{
	struct trial t;

	*row = (struct doctor_row){.name = c->name, .result = DOCTOR_SKIP};
	if ((c->when == DOCTOR_AS_ROOT && !ctx->root) || (c->when == DOCTOR_AS_USER && ctx->root))
		return;
	if (!c->trial)
		c->run(ctx, row);
	else if (doctor_try(ctx, c->ns, c->trial, &t) == 0)
		row_set(row, DOCTOR_OK, 0, "%s", c->ok);
	else
		row_trial_failed(ctx, row, c->ns, &t, c->lost, c->fix);
	if (row->result == DOCTOR_FAIL && !c->needed)
		row->result = DOCTOR_WARN;
}
