/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: what no profile can lift. Default ALLOW, so that "allowed except" is one masked rule each. Built
 * here, loaded after the profile, so that its errno is the one the command sees. Process: the build.
 * Privilege: none.
 *
 * Arguments the kernel reads as int are compared under a 32-bit mask: the filter sees 64 bits, the kernel
 * drops the upper ones, and a plain comparison would let the same call through with any of them set.
 */
#include "seccomp/compile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define INT_MASK 0xffffffffu
#define IS(arg, value) { (arg), SCMP_CMP_MASKED_EQ, INT_MASK, (value) }
#define HAS(arg, bits) { (arg), SCMP_CMP_MASKED_EQ, (bits), (bits) }
#define UNDER(arg, mask, value) { (arg), SCMP_CMP_MASKED_EQ, (mask), (value) }
#define NOT(arg, value) { (arg), SCMP_CMP_NE, (value), 0 }
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* numbers of the kernel's interface, the same on all our architectures */
enum {
	K_O_CREAT = 0100,
	K_O_TRUNC = 01000,
	K_O_TMPFILE = 020000000,	/* without the O_DIRECTORY that accompanies it */
	K_S_ISUID = 04000,
	K_S_ISGID = 02000,
	K_AF_UNIX = 1,
	K_AF_INET = 2,
	K_AF_INET6 = 10,
	K_AF_NETLINK = 16,
	K_IPPROTO_SMC = 256,
	K_PRIO_PROCESS = 0,
	K_PRIO_PGRP = 1,
	K_PRIO_USER = 2,
	K_IOPRIO_PROCESS = 1,
	K_IOPRIO_PGRP = 2,
	K_IOPRIO_USER = 3,
};

/* What makes sandboxes inside a sandbox: refused but for --nesting. */
static const char *const nesting_refused[] = {
	"mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "sethostname", "setdomainname", "keyctl",
};
static const char *const nesting_missing[] = {
	"fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "open_tree_attr", "move_mount", "mount_setattr",
	/* flags behind a pointer: the C libraries go back to clone */
	"clone3",
};

/* Known and dangerous: "not permitted" is true, and tools print a message people understand. */
static const char *const refused[] = {
	/* the machine */
	"swapon", "swapoff", "reboot", "kexec_load", "kexec_file_load", "init_module", "finit_module",
	"delete_module", "acct", "quotactl", "quotactl_fd",
	"settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "stime", "syslog", "vhangup",
	"iopl", "ioperm",
	/* kernel surface with a long record of holes, and no use here */
	"modify_ldt", "bpf", "perf_event_open", "userfaultfd", "add_key", "request_key",
	"vmsplice", "fanotify_init", "fanotify_mark", "mbind", "set_mempolicy", "set_mempolicy_home_node",
	"migrate_pages", "move_pages", "lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules",
	/* other processes; files past their path */
	"kcmp", "pidfd_getfd", "process_vm_readv", "process_vm_writev", "process_madvise",
	"name_to_handle_at", "open_by_handle_at",
	/* dead numbers */
	"uselib", "ustat", "sysfs", "_sysctl", "lookup_dcookie", "nfsservctl", "create_module",
	"get_kernel_syms", "query_module", "getpmsg", "putpmsg", "afs_syscall", "tuxcall", "security",
	"vserver", "epoll_ctl_old", "epoll_wait_old",
};

/* Optional features: callers probe for them and do without. */
static const char *const missing[] = {
	"statmount", "listmount", "memfd_secret", "uretprobe", "uprobe",
	/* a ring does opens, sends and connects that no filter sees */
	"io_uring_setup", "io_uring_enter", "io_uring_register",
};

/* Without namespaces: objects of the whole machine, which belong to the caller's other programs too. */
static const char *const plain_missing[] = {
	"shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd",
	"msgrcv", "msgctl", "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
};

struct row {
	const char *name;
	int err;
	unsigned int argc;
	struct scmp_arg_cmp args[2];
};

static const struct row clone_rows[] = {
	/* the seven namespace bits; CLONE_NEWTIME is part of the exit signal here and cannot be asked for */
	{ "clone", EPERM, 1, { HAS(0, 0x00020000) } },	/* mount */
	{ "clone", EPERM, 1, { HAS(0, 0x02000000) } },	/* cgroup */
	{ "clone", EPERM, 1, { HAS(0, 0x04000000) } },	/* uts */
	{ "clone", EPERM, 1, { HAS(0, 0x08000000) } },	/* ipc */
	{ "clone", EPERM, 1, { HAS(0, 0x10000000) } },	/* user */
	{ "clone", EPERM, 1, { HAS(0, 0x20000000) } },	/* pid */
	{ "clone", EPERM, 1, { HAS(0, 0x40000000) } },	/* net */
};

static const struct row rows[] = {
	/* typing into the terminal, switching its line discipline, taking over the console */
	{ "ioctl", EPERM, 1, { IS(1, 0x5412) } },	/* TIOCSTI */
	{ "ioctl", EPERM, 1, { IS(1, 0x541C) } },	/* TIOCLINUX */
	{ "ioctl", EPERM, 1, { IS(1, 0x5423) } },	/* TIOCSETD */
	{ "ioctl", EPERM, 1, { IS(1, 0x541D) } },	/* TIOCCONS */

	{ "socketpair", EAFNOSUPPORT, 1, { IS(0, 0) } },

	/* pid 1 is ours: its limits, its scheduling, its priority. 0 is the caller. */
	{ "prlimit64", EPERM, 2, { NOT(0, 0), NOT(2, 0) } },
	{ "sched_setaffinity", EPERM, 1, { IS(0, 1) } },
	{ "sched_setparam", EPERM, 1, { IS(0, 1) } },
	{ "sched_setscheduler", EPERM, 1, { IS(0, 1) } },
	{ "sched_setattr", EPERM, 1, { IS(0, 1) } },
	{ "setpriority", EPERM, 2, { IS(0, K_PRIO_PROCESS), IS(1, 1) } },
	{ "setpriority", EPERM, 2, { IS(0, K_PRIO_PGRP), IS(1, 1) } },
	{ "setpriority", EPERM, 1, { IS(0, K_PRIO_USER) } },
	{ "ioprio_set", EPERM, 2, { IS(0, K_IOPRIO_PROCESS), IS(1, 1) } },
	{ "ioprio_set", EPERM, 2, { IS(0, K_IOPRIO_PGRP), IS(1, 1) } },
	{ "ioprio_set", EPERM, 1, { IS(0, K_IOPRIO_USER) } },
};

static const struct row socket_rows[] = {
	/* families: every value but 1, 2, 10 and 16, in aligned blocks; family_rows() adds 32 and more */
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK, 0) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK, 3) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK & ~3u, 4) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK & ~1u, 8) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK, 11) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK & ~3u, 12) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK, 17) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK & ~1u, 18) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK & ~3u, 20) } },
	{ "socket", EAFNOSUPPORT, 1, { UNDER(0, INT_MASK & ~7u, 24) } },
	/* raw and packet types of the internet families; the upper bits of the type are flags */
	{ "socket", EPERM, 2, { IS(0, K_AF_INET), UNDER(1, 15, 3) } },
	{ "socket", EPERM, 2, { IS(0, K_AF_INET), UNDER(1, 15, 10) } },
	{ "socket", EPERM, 2, { IS(0, K_AF_INET6), UNDER(1, 15, 3) } },
	{ "socket", EPERM, 2, { IS(0, K_AF_INET6), UNDER(1, 15, 10) } },
	/* AF_SMC by its other door */
	{ "socket", EAFNOSUPPORT, 2, { IS(0, K_AF_INET), IS(2, K_IPPROTO_SMC) } },
	{ "socket", EAFNOSUPPORT, 2, { IS(0, K_AF_INET6), IS(2, K_IPPROTO_SMC) } },
};

/*
 * Without a mount and network namespace the sockets of the host have their names here, and Landlock does not look at them: D-Bus
 * would start programs outside, an agent would sign. A pair cannot reach them, but for datagram pairs, which take an address.
 */
static const struct row plain_rows[] = {
	/* every process of the caller's */
	{ "kill", EPERM, 1, { IS(0, INT_MASK) } },
	/* before ABI 3 Landlock does not look at truncation, and never at descriptors for ioctl alone */
	{ "truncate", EPERM, 0, { { 0 } } },
	{ "open", EPERM, 1, { UNDER(1, K_O_TRUNC | 3, K_O_TRUNC) } },
	{ "open", EPERM, 1, { UNDER(1, 3, 3) } },
	{ "openat", EPERM, 1, { UNDER(2, K_O_TRUNC | 3, K_O_TRUNC) } },
	{ "openat", EPERM, 1, { UNDER(2, 3, 3) } },
};
/* the same by rules of our own, since the library would merge them with those for other families */
static const struct row plain_pair_rows[] = {
	{ "socketpair", EPERM, 1, { UNDER(1, 14, 2) } },	/* 3, raw, becomes a datagram pair */
};
static const struct row plain_socket_rows[] = {
	{ "socket", EAFNOSUPPORT, 1, { IS(0, K_AF_UNIX) } },
};

/* Calls that can give a file its mode: the place of the mode, and of the flags that say whether it counts. */
static const struct {
	const char *name;
	unsigned int mode_arg;
	int flags_arg;	/* -1: the mode always counts */
} mode_calls[] = {
	{ "chmod", 1, -1 }, { "fchmod", 1, -1 }, { "fchmodat", 2, -1 }, { "fchmodat2", 2, -1 },
	{ "creat", 1, -1 }, { "mknod", 1, -1 }, { "mknodat", 2, -1 }, { "mkdir", 1, -1 }, { "mkdirat", 2, -1 },
	{ "open", 2, 1 }, { "openat", 3, 2 },
};

/* clang-format on */

static int add(struct builder *b, const struct row *r)
{
	int rc = builder_rule(b, r->name, SCMP_ACT_ERRNO((uint32_t)r->err), r->args, r->argc);

	if (rc < 0)
		fprintf(stderr, "compile: floor: %s: %s\n", r->name, strerror(-rc));
	return rc < 0 ? rc : 0;
}

static int add_names(struct builder *b, const char *const *names, size_t n, int err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = add(b, &(struct row){.name = names[i], .err = err});
	return rc;
}

static int add_rows(struct builder *b, const struct row *r, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = add(b, &r[i]);
	return rc;
}

/* Rows that the builder asks before those of the library */
static int add_own_rows(struct builder *b, const struct row *r, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = builder_rule_int(b, r[i].name, SCMP_ACT_ERRNO((uint32_t)r[i].err), r[i].args, r[i].argc);
	return rc < 0 ? rc : 0;
}

/* Any bit set that the allowed families do not have: 32 and more for socket, 2 and more for socketpair. */
static int family_rows(struct builder *b, const char *name, unsigned int from)
{
	int rc = 0;

	for (unsigned int bit = from; bit < 32 && !rc; bit++)
		rc = add(b, &(struct row){name, EAFNOSUPPORT, 1, {HAS(0, 1u << bit)}});
	return rc;
}

/* Only protocol 0 (routing); the kernel itself refuses 32 and more. */
static int netlink_rows(struct builder *b)
{
	int rc = 0;

	for (unsigned int bit = 0; bit < 5 && !rc; bit++)
		rc = add(b,
			 &(struct row){"socket", EAFNOSUPPORT, 2, {IS(0, K_AF_NETLINK), HAS(2, 1u << bit)}});
	return rc;
}

/* Anything but 0 and 0xffffffff (a query). */
static int personality_rows(struct builder *b)
{
	static const struct scmp_arg_cmp args[] = {NOT(0, 0), NOT(0, INT_MASK)};
	int rc = builder_rule_int(b, "personality", SCMP_ACT_ERRNO(EPERM), args, COUNT(args));

	if (rc < 0)
		fprintf(stderr, "compile: floor: personality: %s\n", strerror(-rc));
	return rc < 0 ? rc : 0;
}

/* Without O_CREAT or O_TMPFILE the mode of open is whatever the register held, so it must not be looked at.
 */
static int mode_rows(struct builder *b, uint32_t bit)
{
	static const uint32_t creating[] = {K_O_CREAT, K_O_TMPFILE};
	int rc = 0;

	for (size_t i = 0; i < COUNT(mode_calls) && !rc; i++) {
		unsigned int mode = mode_calls[i].mode_arg;

		if (mode_calls[i].flags_arg < 0) {
			rc = add(b, &(struct row){mode_calls[i].name, EPERM, 1, {HAS(mode, bit)}});
			continue;
		}
		for (size_t k = 0; k < COUNT(creating) && !rc; k++) {
			unsigned int flags = (unsigned int)mode_calls[i].flags_arg;

			rc = add(b, &(struct row){mode_calls[i].name,
						  EPERM,
						  2,
						  {HAS(flags, creating[k]), HAS(mode, bit)}});
		}
	}
	return rc;
}

/* What a variant of the floor is made of */
enum part {
	PART_SUID = 1u << 0,	/* refuses set-user-id modes, and openat2, which has its mode behind a pointer */
	PART_SGID = 1u << 1,	/* and set-group-id modes */
	PART_NESTING = 1u << 2, /* leaves out what makes sandboxes inside */
	PART_PLAIN = 1u << 3,	/* without namespaces */
	PART_NO_SOCKET = 1u << 4,
};

static const unsigned int parts[] = {
	[SECCOMP_FLOOR_USER] = PART_SUID,
	[SECCOMP_FLOOR_ROOT] = PART_SUID | PART_SGID,
	[SECCOMP_FLOOR_SETID] = 0,
	[SECCOMP_FLOOR_NESTED] = PART_SUID | PART_SGID | PART_NESTING,
	[SECCOMP_FLOOR_NESTED_SETID] = PART_NESTING,
	[SECCOMP_FLOOR_PLAIN] = PART_SUID | PART_SGID | PART_PLAIN | PART_NO_SOCKET,
	[SECCOMP_FLOOR_PLAIN_NET] = PART_SUID | PART_SGID | PART_PLAIN,
};

/* Joining a new session keyring is what a sandbox inside has to do; every other use of keys stays refused. */
static int nesting_rows(struct builder *b, unsigned int part)
{
	static const struct scmp_arg_cmp not_join[] = {NOT(0, 1)};
	int rc;

	if (part & PART_NESTING) {
		rc = builder_rule_int(b, "keyctl", SCMP_ACT_ERRNO(EPERM), not_join, COUNT(not_join));
		return rc < 0 ? rc : 0;
	}
	rc = add_names(b, nesting_refused, COUNT(nesting_refused), EPERM);
	if (!rc)
		rc = add_names(b, nesting_missing, COUNT(nesting_missing), ENOSYS);
	return rc ? rc : add_rows(b, clone_rows, COUNT(clone_rows));
}

static int all_socket_rows(struct builder *b, unsigned int part)
{
	static const char *const none[] = {"socket"};
	int rc;

	if (part & PART_NO_SOCKET)
		return add_names(b, none, COUNT(none), EAFNOSUPPORT);
	rc = add_rows(b, socket_rows, COUNT(socket_rows));
	if (!rc && (part & PART_PLAIN))
		rc = add_own_rows(b, plain_socket_rows, COUNT(plain_socket_rows));
	if (!rc)
		rc = family_rows(b, "socket", 5);
	return rc ? rc : netlink_rows(b);
}

static int plain_floor_rows(struct builder *b)
{
	int rc = add_names(b, plain_missing, COUNT(plain_missing), ENOSYS);

	if (!rc)
		rc = add_own_rows(b, plain_pair_rows, COUNT(plain_pair_rows));
	return rc ? rc : add_rows(b, plain_rows, COUNT(plain_rows));
}

static int floor_rows(struct builder *b, unsigned int part)
{
	static const char *const unfiltered_open[] = {"openat2"}; /* mode behind a pointer */
	int rc = add_names(b, refused, COUNT(refused), EPERM);

	if (!rc)
		rc = add_names(b, missing, COUNT(missing), ENOSYS);
	if (!rc)
		rc = nesting_rows(b, part);
	if (!rc)
		rc = add_rows(b, rows, COUNT(rows));
	if (!rc)
		rc = all_socket_rows(b, part);
	if (!rc)
		rc = family_rows(b, "socketpair", 1);
	if (!rc)
		rc = personality_rows(b);
	if (!rc && (part & PART_PLAIN))
		rc = plain_floor_rows(b);
	if (!rc && (part & PART_SUID))
		rc = add_names(b, unfiltered_open, COUNT(unfiltered_open), ENOSYS);
	if (!rc && (part & PART_SUID))
		rc = mode_rows(b, K_S_ISUID);
	if (!rc && (part & PART_SGID))
		rc = mode_rows(b, K_S_ISGID);
	return rc;
}

int floor_compile(enum seccomp_floor_kind kind, const struct target *t, struct prog *ret)
{
	struct builder b;
	int rc = builder_init(&b, t, SCMP_ACT_ALLOW);

	if (!rc)
		rc = floor_rows(&b, parts[kind]);
	if (!rc)
		rc = builder_export(&b, ret);
	builder_release(&b);
	if (rc < 0)
		fprintf(stderr, "compile: floor %d: %s\n", (int)kind, strerror(-rc));
	return rc;
}
