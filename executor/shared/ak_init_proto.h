/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the executor and ak-init say to each other.
 *
 * ak-init is started as `ak-init CTL CONFIG`: two decimal descriptor numbers. CONFIG is a sealed memfd that holds one
 * struct init_config in wire form; CTL is a SOCK_SEQPACKET socket whose other end only the executor holds. End of file on
 * CTL means that the executor is gone: init exits, and the kernel ends everything in the pid namespace.
 * Bytes from init are read by the executor as written by an attacker (a command may have broken init).
 */
#ifndef AK_SHARED_AK_INIT_PROTO_H
#define AK_SHARED_AK_INIT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AK_INIT_MAGIC 0x31496b61u	/* "akI1" */
#define AK_INIT_CONFIG_MAX (4u << 20)	/* argv, env and filters together; ARG_MAX is 2 MiB with the default stack */
#define AK_INIT_STRINGS_MAX 65536u	/* entries of argv or envp */
#define AK_INIT_PATHS_MAX 512u		/* Landlock rules */
#define AK_INIT_RLIMITS_MAX 16u
#define AK_INIT_FDS_MAX 64u
#define AK_INIT_ROOTS_MAX 128u		/* writable places that file operations may work below */
#define AK_INIT_FILTER_MAX 4096u	/* instructions: BPF_MAXINSNS, linux/bpf_common.h */
#define AK_INIT_MSG_MAX 1400u		/* one message on CTL */
#define AK_INIT_LEARNED_BYTES 64u	/* a bit for each number below 512, where those of both architectures end */

enum init_config_flags {
	INIT_TTY = 1u << 0,		/* give the command a pty of the sandbox's own as stdin, stdout and stderr */
	INIT_LANDLOCK = 1u << 1,	/* the landlock fields are meant */
	/* serve mode: no argv; commands, signals and file operations come as requests (ak_init_serve.h) */
	INIT_SERVE = 1u << 2,
	/*
	 * with INIT_SERVE: load the profile filter only when a command is started, not ahead. For a profile that is not our own and
	 * may forbid what a parked command does after its filters (futex, close_range, dup3, chdir, ...). Costs some 0.05 ms a command
	 */
	INIT_LATE_FILTERS = 1u << 3,
	INIT_LEAVES = 1u << 4,		/* with INIT_SERVE: every command is born in a cgroup leaf that INIT_REQ_LEAF brought */
	/* trace the command and all it starts, and say which calls they made. joined answers with SECCOMP_RET_TRACE to what passes */
	INIT_LEARN = 1u << 5,
	INIT_ONCE = 1u << 6,		/* with INIT_SERVE: one command is expected, so only one is prepared ahead; more are served */
	/*
	 * No namespaces, so init is not pid 1: it becomes a subreaper, ends the tree itself when the command has ended or the executor
	 * is gone, and ignores signals. Not with INIT_SERVE
	 */
	INIT_PLAIN = 1u << 7,
	INIT_NO_TCP = 1u << 8,		/* with INIT_LANDLOCK: no TCP either, where the ABI has it */
	INIT_SCOPES = 1u << 9,		/* with INIT_LANDLOCK: scopes only, no file rules (which would forbid mounts) */
	/*
	 * with INIT_SERVE: what holds the commands, if anything, is not ours: a container, or nothing with the local backend. No Landlock,
	 * no filters, no self-test; init is not pid 1, so it is a subreaper and ends the tree itself when the executor is gone
	 */
	INIT_BARE = 1u << 10,
	INIT_OWN_ENV = 1u << 11,	/* with INIT_BARE: the environment is the one that init was started with; no envp */
};
#define INIT_FLAGS_ALL                                                                                                   \
	(INIT_TTY | INIT_LANDLOCK | INIT_SERVE | INIT_LATE_FILTERS | INIT_LEAVES | INIT_LEARN | INIT_ONCE | INIT_PLAIN | INIT_NO_TCP | \
	 INIT_SCOPES | INIT_BARE | INIT_OWN_ENV)

/* How a command may use what lies below a path; init turns it into Landlock rights the kernel's ABI knows */
enum init_path_access {
	INIT_PATH_RX = 1,	/* read files and folders, execute */
	INIT_PATH_RW = 2,	/* all of the above, write, truncate, create, remove, link, rename */
	INIT_PATH_DEV = 3,	/* read and write existing files, device ioctl */
};

struct init_path {
	const char *path;	/* inside the sandbox; a path that does not open is skipped */
	uint32_t access;	/* enum init_path_access */
};

struct init_rlimit {
	uint32_t resource;	/* RLIMIT_* */
	uint64_t soft;
	uint64_t hard;
};

struct init_filter {
	const uint8_t *insns;	/* count * 8 bytes, struct sock_filter in host order */
	uint32_t count;		/* 0: no such filter (test builds only) */
};

/**
 * struct init_config - one command and what it is confined by
 *
 * After decoding every pointer points into the mapped CONFIG; the pointer arrays are the caller's.
 */
struct init_config {
	uint32_t flags;			/* enum init_config_flags */
	uint32_t weaken;		/* enum ak_weaken; only the test build of ak-init acts on it */
	const char *cwd;		/* absolute, inside the sandbox */
	const char **argv;		/* argc entries, then NULL; at least one, with INIT_SERVE none */
	uint32_t argc;
	const char **envp;		/* envc entries, then NULL */
	uint32_t envc;
	uint32_t landlock_abi;		/* as the executor found it; 0 without Landlock */
	uint32_t npaths;
	uint32_t nrlimits;
	struct init_filter profile;	/* loaded first */
	struct init_filter floor;	/* loaded second, so that its errno wins a tie */
	struct init_filter joined;	/* loaded in their place where a listener can be had; count 0: refusals are not observed */
	uint32_t canary_skip;		/* bit n: ak_canaries[n] is not tried */
	uint32_t nkeep_fds;
	uint32_t nroots;
	uint16_t tty_rows, tty_cols;
	/* the long ones last, and no more of them is written than there is: a page that init does not touch costs nothing */
	struct init_rlimit rlimits[AK_INIT_RLIMITS_MAX];
	int32_t keep_fds[AK_INIT_FDS_MAX];	/* 3 or more; passed to the command under the same number (--fd) */
	struct init_path paths[AK_INIT_PATHS_MAX];
	const char *roots[AK_INIT_ROOTS_MAX];	/* INIT_SERVE only: absolute, inside; the first is the workspace */
};

/**
 * init_config_encode() - wire form of a configuration
 * Return: bytes written, or -ENOBUFS (does not fit), -E2BIG (a count or the whole is over its maximum),
 * -EINVAL (what init_config_decode() would refuse: no argv[0], cwd not absolute, unknown flag, access class or
 * resource, a kept descriptor below 3; with INIT_SERVE an argv, INIT_TTY, INIT_PLAIN, a joined filter or a kept descriptor; without it
 * its other flags or a root; INIT_LEARN without a joined filter; a flag for Landlock without INIT_LANDLOCK; INIT_BARE with a filter,
 * Landlock or leaves; INIT_OWN_ENV without INIT_BARE or with an envp).
 */
long init_config_encode(const struct init_config *c, void *buf, size_t cap);

/**
 * init_config_decode() - read a configuration
 * @strv:	room for the argv and envp pointer arrays; caller's
 * @nstrv:	entries in @strv; argc + envc + 2 are needed
 * @ret:	what is beyond a count is not written
 * Return: 0; -EBADMSG (malformed, wrong magic, count over its maximum), -ENOSPC (@strv too small). Every count, flag and pointer of
 * @ret is 0 then.
 */
int init_config_decode(const void *buf, size_t len, const char **strv, size_t nstrv, struct init_config *ret);

/**
 * init_config_counts() - argc + envc of a configuration, so that the caller can size @strv
 * Return: the sum, or -EBADMSG.
 */
long init_config_counts(const void *buf, size_t len);

enum init_msg_type {
	/* set-up child or init -> executor */
	INIT_MSG_FAILED = 1,	/* the command was not started; last message but EXITED */
	INIT_MSG_PTY = 2,	/* carries one descriptor: the pty's master */
	/* the command ended; init exits after it. A pty may still hold unread output: read it to EIO */
	INIT_MSG_EXITED = 3,
	/*
	 * the joined filter is loaded, and its listener comes along as the one descriptor. With a code: no listener could be had, the
	 * two filters are loaded, refusals are not observed
	 */
	INIT_MSG_LISTENER = 4,
	INIT_MSG_LEARNED = 5,	/* before EXITED with INIT_LEARN */
	/* executor -> set-up child or init */
	INIT_MSG_GO = 16,	/* the id maps are written (root mode) */
	INIT_MSG_SIGNAL = 17,	/* send a signal to the command's process group */
};

/* What the set-up child or init was doing when it failed; the names are the result object's `error.stage` */
enum init_stage {
	INIT_STAGE_SETUP = 1,	/* namespaces, mounts, network, capabilities: exit 125 */
	INIT_STAGE_CONFINE = 2,	/* rlimits, Landlock, filters, canary: exit 125 */
	INIT_STAGE_CWD = 3,	/* working directory: exit 125 */
	INIT_STAGE_EXEC = 4,	/* the command itself: exit 126 or 127 */
};

struct init_msg {
	uint32_t type;		/* enum init_msg_type */
	/* FAILED */
	uint32_t stage;		/* enum init_stage */
	uint32_t code;		/* positive errno; 0: no system call failed. Also LISTENER */
	uint32_t exit_code;	/* 125, 126, 127 */
	const char *text;	/* one line without control bytes; points into the buffer after decoding */
	const char *hint;	/* the same; may be "" */
	/* EXITED */
	uint32_t wstatus;	/* wait status of the command, as wait(2) gives it */
	uint64_t start_ns;	/* CLOCK_MONOTONIC just before the command's fork */
	uint64_t end_ns;	/* and when its end was seen */
	/* SIGNAL */
	uint32_t signo;
	/* LEARNED: bit N of byte N / 8 for call N; AK_INIT_LEARNED_BYTES; points into the buffer after decoding */
	const uint8_t *learned;
};

/**
 * init_msg_encode() - wire form of a message, at most AK_INIT_MSG_MAX bytes
 * Texts are cut to fit (first the hint, then the text, never inside a UTF-8 sequence); control bytes become '?',
 * NULL is "".
 * Return: bytes written, or -ENOBUFS (not even empty texts fit), -EINVAL (init_msg_decode() would refuse it).
 */
long init_msg_encode(const struct init_msg *m, void *buf, size_t cap);

/**
 * init_msg_decode() - read a message; the fields of other types are 0
 * Return: 0 or -EBADMSG (unknown type, wrong size, exit_code not 125..127, unknown stage, code over 4095, control
 * bytes in a text, a wait status that is not an end, end before start, signal not 1..64). @ret is untouched then.
 */
int init_msg_decode(const void *buf, size_t len, struct init_msg *ret);

#endif
