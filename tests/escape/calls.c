/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that the filters must refuse, each with its exact errno, and some that must work.
 * Runs as a command in a sandbox. Every call is made in a child with arguments that do no harm where it is
 * let through.
 */
#include <linux/sched.h>
#include <sched.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include "tests/escape/esc.h"

#define BAD_FD ((long)-1)

struct row {
	const char *name; /* with the number of its requirement */
	long nr;
	int want;
	long a[6];
};

static char scratch[4096];
#define BUF ((long)scratch)
#define NOPATH ((long)"/nonexistent/ak")
#define DOT ((long)".")

/* numbers of calls newer than the headers of Debian 12; the same on every architecture from 424 on */
enum {
	NR_fchmodat2 = 452,
	NR_statmount = 457,
	NR_listmount = 458,
	NR_lsm_get_self_attr = 459,
	NR_lsm_set_self_attr = 460,
	NR_lsm_list_modules = 461,
	NR_open_tree_attr = 467,
	NR_memfd_secret = 447,
	NR_home_node = 450,
};

static const struct row rows[] = {
	/* mounts: no interface at all */
	{"43:mount", SYS_mount, EPERM, {0, NOPATH, 0, 0, 0}},
	{"43:umount2", SYS_umount2, EPERM, {NOPATH, 0}},
	{"43:pivot_root", SYS_pivot_root, EPERM, {NOPATH, NOPATH}},
	{"43:fsopen", SYS_fsopen, ENOSYS, {(long)"tmpfs", 0}},
	{"43:fsconfig", SYS_fsconfig, ENOSYS, {BAD_FD, 0, 0, 0, 0}},
	{"43:fsmount", SYS_fsmount, ENOSYS, {BAD_FD, 0, 0}},
	{"43:fspick", SYS_fspick, ENOSYS, {-100, NOPATH, 0}},
	{"43:open_tree", SYS_open_tree, ENOSYS, {-100, DOT, 0}},
	{"43:open_tree_clone", SYS_open_tree, ENOSYS, {-100, DOT, 1}},
	{"43:move_mount", SYS_move_mount, ENOSYS, {BAD_FD, NOPATH, BAD_FD, NOPATH, 0}},
	{"43:mount_setattr", SYS_mount_setattr, ENOSYS, {BAD_FD, NOPATH, 0, BUF, 32}},
	{"43:statmount", NR_statmount, ENOSYS, {BUF, BUF, 64, 0}},
	{"43:listmount", NR_listmount, ENOSYS, {BUF, BUF, 8, 0}},
	{"43:open_tree_attr", NR_open_tree_attr, ENOSYS, {-100, DOT, 0, 0, 0}},
	{"44:name_to_handle_at", SYS_name_to_handle_at, EPERM, {-100, DOT, BUF, BUF + 512, 0}},
	{"44:open_by_handle_at", SYS_open_by_handle_at, EPERM, {BAD_FD, BUF, 0}},
	{"45:chroot", SYS_chroot, EPERM, {NOPATH}},
	{"45:chroot_dot", SYS_chroot, EPERM, {DOT}},
	/* namespaces */
	{"53:unshare_files", SYS_unshare, EPERM, {CLONE_FILES}},
	{"53:unshare_user", SYS_unshare, EPERM, {CLONE_NEWUSER}},
	{"53:unshare_mount", SYS_unshare, EPERM, {CLONE_NEWNS}},
	{"53:unshare_pid", SYS_unshare, EPERM, {CLONE_NEWPID}},
	{"53:unshare_net", SYS_unshare, EPERM, {CLONE_NEWNET}},
	{"53:unshare_ipc", SYS_unshare, EPERM, {CLONE_NEWIPC}},
	{"53:unshare_uts", SYS_unshare, EPERM, {CLONE_NEWUTS}},
	{"53:unshare_cgroup", SYS_unshare, EPERM, {CLONE_NEWCGROUP}},
	{"53:unshare_time", SYS_unshare, EPERM, {CLONE_NEWTIME}},
	{"53:setns", SYS_setns, EPERM, {BAD_FD, 0}},
#ifdef __x86_64__
	{"53:clone_user", SYS_clone, EPERM, {CLONE_NEWUSER | SIGCHLD}},
	{"53:clone_mount", SYS_clone, EPERM, {CLONE_NEWNS | SIGCHLD}},
	{"53:clone_pid", SYS_clone, EPERM, {CLONE_NEWPID | SIGCHLD}},
	{"53:clone_net", SYS_clone, EPERM, {CLONE_NEWNET | SIGCHLD}},
	{"53:clone_ipc", SYS_clone, EPERM, {CLONE_NEWIPC | SIGCHLD}},
	{"53:clone_uts", SYS_clone, EPERM, {CLONE_NEWUTS | SIGCHLD}},
	{"53:clone_cgroup", SYS_clone, EPERM, {CLONE_NEWCGROUP | SIGCHLD}},
	{"53:clone_user_with_others",
	 SYS_clone,
	 EPERM,
	 {CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | SIGCHLD}},
#endif
	{"61:clone3", SYS_clone3, ENOSYS, {0, 0}},
	{"61:clone3_sized", SYS_clone3, ENOSYS, {BUF, 88}},
	{"57:sethostname", SYS_sethostname, EPERM, {BUF, -1}},
	{"57:setdomainname", SYS_setdomainname, EPERM, {BUF, -1}},
	/* unknown, new and optional calls */
	{"60:unknown", 100000, ENOSYS, {0}},
	{"60:unknown_next", 600, ENOSYS, {0}},
	{"63:io_uring_setup", SYS_io_uring_setup, ENOSYS, {8, BUF}},
	{"63:io_uring_enter", SYS_io_uring_enter, ENOSYS, {BAD_FD, 0, 0, 0, 0, 0}},
	{"63:io_uring_register", SYS_io_uring_register, ENOSYS, {BAD_FD, 0, 0, 0}},
	{"64:memfd_secret", NR_memfd_secret, ENOSYS, {0}},
	/* uretprobe (335) is not here: the kernel lets it pass every filter and kills whoever calls it
	   without a probe */
	/* tracing and other processes */
	{"19:process_vm_readv", SYS_process_vm_readv, EPERM, {0, 0, 0, 0, 0, 0}},
	{"19:process_vm_writev", SYS_process_vm_writev, EPERM, {0, 0, 0, 0, 0, 0}},
	{"19:pidfd_getfd", SYS_pidfd_getfd, EPERM, {BAD_FD, 0, 0}},
	{"19:kcmp", SYS_kcmp, EPERM, {1, 1, 0, 0, 0}},
	{"19:process_madvise", SYS_process_madvise, EPERM, {BAD_FD, 0, 0, 0, 0}},
	/* kernel surface nobody in a sandbox needs */
	{"64:bpf", SYS_bpf, EPERM, {0, 0, 0}},
	{"64:perf_event_open", SYS_perf_event_open, EPERM, {0, 0, -1, -1, 0}},
	{"64:userfaultfd", SYS_userfaultfd, EPERM, {1}},
	{"64:keyctl", SYS_keyctl, EPERM, {0, -3, 0}},
	{"64:add_key", SYS_add_key, EPERM, {0, 0, 0, 0, 0}},
	{"64:request_key", SYS_request_key, EPERM, {0, 0, 0, 0}},
	{"64:kexec_load", SYS_kexec_load, EPERM, {0, 0, 0, 0xffff}},
	{"64:kexec_file_load", SYS_kexec_file_load, EPERM, {BAD_FD, BAD_FD, 0, 0, 0xffff}},
	{"64:init_module", SYS_init_module, EPERM, {0, 0, 0}},
	{"64:finit_module", SYS_finit_module, EPERM, {BAD_FD, 0, 0}},
	{"64:delete_module", SYS_delete_module, EPERM, {(long)"ak_none", 0}},
	{"64:acct", SYS_acct, EPERM, {NOPATH}},
	{"64:swapon", SYS_swapon, EPERM, {NOPATH, 0}},
	{"64:swapoff", SYS_swapoff, EPERM, {NOPATH}},
	{"64:reboot", SYS_reboot, EPERM, {0, 0, 0, 0}},
	{"64:quotactl", SYS_quotactl, EPERM, {-1, 0, 0, 0}},
	{"64:quotactl_fd", SYS_quotactl_fd, EPERM, {BAD_FD, -1, 0, 0}},
	{"64:settimeofday", SYS_settimeofday, EPERM, {1, 0}},
	{"64:clock_settime", SYS_clock_settime, EPERM, {99, 0}},
	{"64:adjtimex", SYS_adjtimex, EPERM, {BUF}},
	{"64:clock_adjtime", SYS_clock_adjtime, EPERM, {0, BUF}},
	{"64:syslog", SYS_syslog, EPERM, {10, 0, 0}},
	{"64:vhangup", SYS_vhangup, EPERM, {0}},
	{"64:fanotify_init", SYS_fanotify_init, EPERM, {0x80000000L, 0}},
	{"64:fanotify_mark", SYS_fanotify_mark, EPERM, {BAD_FD, 0, 0, BAD_FD, 0}},
	{"64:lookup_dcookie", SYS_lookup_dcookie, EPERM, {0, 0, 0}},
	{"64:mbind", SYS_mbind, EPERM, {0, 0, 99, 0, 0, 0}},
	{"64:set_mempolicy", SYS_set_mempolicy, EPERM, {0, 0, 0}},
	{"64:set_mempolicy_home_node", NR_home_node, EPERM, {0, 0, 0, 1}},
	{"64:migrate_pages", SYS_migrate_pages, EPERM, {0, 0, 0, 0}},
	{"64:move_pages", SYS_move_pages, EPERM, {0, 0, 0, 0, 0, 0}},
	{"64:vmsplice", SYS_vmsplice, EPERM, {BAD_FD, 0, 0, 0}},
	{"64:lsm_get_self_attr", NR_lsm_get_self_attr, EPERM, {0, 0, 0, 0}},
	{"64:lsm_set_self_attr", NR_lsm_set_self_attr, EPERM, {0, 0, 0, 0}},
	{"64:lsm_list_modules", NR_lsm_list_modules, EPERM, {0, 0, 0}},
#ifdef __x86_64__
	{"64:iopl", SYS_iopl, EPERM, {0}},
	{"64:ioperm", SYS_ioperm, EPERM, {0, 1, 0}},
	{"64:modify_ldt", SYS_modify_ldt, EPERM, {0, BUF, 16}},
	{"64:uselib", SYS_uselib, EPERM, {NOPATH}},
	{"64:ustat", SYS_ustat, EPERM, {0, BUF}},
	{"64:sysfs", SYS_sysfs, EPERM, {3, 0, 0}},
#endif
	/* personality: query and plain Linux only; the value is an int, so the upper half must not matter */
	{"67:personality_no_randomize", SYS_personality, EPERM, {0x0040000}},
	{"67:personality_read_implies_exec", SYS_personality, EPERM, {0x0400000}},
	{"67:personality_linux32", SYS_personality, EPERM, {8}},
	{"67:personality_bsd", SYS_personality, EPERM, {6}},
	{"67:personality_high_bits", SYS_personality, EPERM, {0x7700000000L | 0x0040000}},
};

static const struct row allowed[] = {
	{"67:personality_query", SYS_personality, 0, {0xffffffff}},
	{"67:personality_linux", SYS_personality, 0, {0}},
	{"60:membarrier", SYS_membarrier, 0, {0, 0, 0}},
	{"60:faccessat2", SYS_faccessat2, 0, {-100, DOT, 0, 0}},
	{"60:memfd_create", SYS_memfd_create, 0, {(long)"x", 0}},
	{"60:pidfd_open", SYS_pidfd_open, 0, {1, 0}},
	{"60:close_range", SYS_close_range, 0, {100, 200, 0}},
	{"60:landlock_version", SYS_landlock_create_ruleset, 0, {0, 0, 1}},
};

static long call(const void *arg)
{
	const struct row *r = arg;

	return syscall(r->nr, r->a[0], r->a[1], r->a[2], r->a[3], r->a[4], r->a[5]);
}

static void *thread_main(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	char v[64];
	pthread_t th;
	int sig;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		long rc = esc_forked(call, &rows[i], &sig);

		if (sig)
			esc_is(&e, rows[i].name, false, "killed by signal %d", sig);
		else
			esc_err(&e, rows[i].name, rc, rows[i].want);
	}
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		esc_need(&e, allowed[i].name, esc_forked(call, &allowed[i], &sig) == 0);
	errno = pthread_create(&th, NULL, thread_main, NULL);
	esc_need(&e, "61:threads", errno == 0 && pthread_join(th, NULL) == 0);
	esc_line("/proc/self/status", "Seccomp_filters:", v, sizeof(v));
	/* joined=1: both are one filter, as where refusals are observed */
	esc_is(&e, "59:two_filters", esc_num(v) >= (esc_arg(&e, "joined") ? 1 : 2), "%s", v);
	return esc_end(&e);
}
