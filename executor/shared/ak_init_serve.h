/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the executor and ak-init say to each other in serve mode (INIT_SERVE of ak_init_proto.h): requests go down, replies come
 * up, one SOCK_SEQPACKET message each on the same CTL socket. The first message up is INIT_MSG_FAILED (the set-up failed; the old
 * form) or INIT_REP_READY. Each request carries an id that the executor chose: unique among the commands and file operations that
 * run, never 0. Descriptors come only with the messages that say so, exactly as many as init_req_fds() gives.
 *
 * Answers. EXEC: [PTY] [STARTED] and then exactly one of FAILED and EXITED; FAILED may come after STARTED (the exec itself failed).
 * An EXITED with INIT_EXITED_LOST may come for a command whose EXITED or FAILED has come: its keeper was killed while it told.
 * FILE: exactly one FILE. STATS: exactly one STATS. SIGNAL, KILL and LEAF have none; an id that does not run any more is no error.
 * All orders, and what the executor makes of others: docs/init-serve.md.
 *
 * A request that does not decode, or brings other descriptors than it says, ends init, and the sandbox with it: the executor is
 * our own program. Bytes from init are read by the executor as written by an attacker (a command may have broken init).
 */
#ifndef AK_SHARED_AK_INIT_SERVE_H
#define AK_SHARED_AK_INIT_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_init_proto.h"

#define AK_INIT_REQ_MAX 65536u		/* one request on CTL */
#define AK_INIT_REP_MAX AK_INIT_MSG_MAX	/* one reply on CTL */
#define AK_INIT_EXEC_INLINE 49152u	/* a longer body of EXEC comes as a sealed memfd (INIT_EXEC_MEMFD) */
#define AK_INIT_EXEC_MAX (4u << 20)	/* a body of EXEC at all */
#define AK_INIT_COMMANDS_MAX 64u	/* commands at a time; one more is FAILED with EAGAIN */
#define AK_INIT_SPARES 3u		/* prepared commands that wait */
#define AK_INIT_FILES_MAX 8u		/* file operations at a time; one more is answered with EAGAIN */
/* cgroup leaves that wait for a command: one for each, and those ahead, should all of these commands fail before they use it */
#define AK_INIT_LEAVES_MAX (AK_INIT_COMMANDS_MAX + 8u)
#define AK_INIT_SESSIONS_MAX 8u		/* shell sessions of a sandbox */
#define AK_INIT_EXTRA_MAX 32u		/* descriptors of a command beside its three streams */
#define AK_INIT_REQ_FDS_MAX (5u + AK_INIT_EXTRA_MAX)
#define AK_INIT_PATH_MAX 4096u		/* with the NUL */
#define AK_INIT_FILE_MAX (64u << 20)	/* bytes of one READ, WRITE, LIST or WALK */
#define AK_INIT_ENTRIES_MAX 100000u	/* entries of one LIST or WALK */
#define AK_INIT_DEPTH_MAX 64u		/* folders below each other in WALK and a recursive REMOVE */
#define AK_INIT_STATE_MAX (1u << 20)	/* state of a shell session */
/*
 * Processes of our own in a sandbox with @n running commands: init, a keeper for each command, the spares with theirs, and file
 * operations. A pids limit of a cgroup has to be raised by this; RLIMIT_NPROC is raised by init itself
 */
#define AK_INIT_HELPERS(n) (1u + (n) + 2u * AK_INIT_SPARES + AK_INIT_FILES_MAX)

/* ---- down ---- */

enum init_req_type {
	INIT_REQ_EXEC = 64,	/* start a command */
	INIT_REQ_SIGNAL = 65,	/* a signal to a command's process group (SIGTERM is followed by SIGCONT) */
	INIT_REQ_KILL = 66,	/* end a command with everything below it, or a file operation */
	INIT_REQ_FILE = 67,	/* one file operation */
	INIT_REQ_STATS = 68,
	INIT_REQ_LEAF = 69,	/* one descriptor: the folder of a cgroup v2 leaf for a command to come; id names the leaf */
};

enum init_exec_flags {
	INIT_EXEC_STDIN = 1u << 0,	/* these streams come as descriptors, in this order; the others are /dev/null */
	INIT_EXEC_STDOUT = 1u << 1,
	INIT_EXEC_STDERR = 1u << 2,
	INIT_EXEC_MEMFD = 1u << 3,	/* the body is not in the message but in a sealed memfd, the first descriptor */
	INIT_EXEC_TTY = 1u << 4,	/* a pty of the sandbox's own for all three streams: none of the first three then */
	INIT_EXEC_SHELL = 1u << 5,	/* argv[0] is a shell text, the only argument: run by bash, or sh where there is no bash */
	INIT_EXEC_SESSION = 1u << 6,	/* with SHELL: in a session, whose state is taken and kept */
	INIT_EXEC_RESET = 1u << 7,	/* with SESSION: forget the session's state first */
	INIT_EXEC_STARTED = 1u << 8,	/* tell with INIT_REP_STARTED when the command was let go */
	INIT_EXEC_PROGRAM = 1u << 9,	/* not with SHELL: what is run is no file of the sandbox but comes as a descriptor; argv[0] is its name */
};
#define INIT_EXEC_ALL 0x3ffu

enum init_file_op {
	INIT_FILE_READ = 1,	/* path, offset, limit; one descriptor (pipe or memfd) that takes the bytes */
	INIT_FILE_WRITE = 2,	/* path, limit (most bytes accepted), mode; one descriptor that is read to its end. Atomic */
	INIT_FILE_LIST = 3,	/* path, limit (entries); one descriptor that takes the records: init_entry_next() */
	INIT_FILE_STAT = 4,	/* path */
	INIT_FILE_MKDIR = 5,	/* path, mode */
	INIT_FILE_REMOVE = 6,	/* path */
	INIT_FILE_RENAME = 7,	/* path, path2 */
	INIT_FILE_WALK = 8,	/* path, limit (entries); as LIST for all that is below; links are not followed */
};

enum init_file_flags {
	INIT_FILE_PARENTS = 1u << 0,	/* WRITE, MKDIR: make missing folders above; MKDIR of a folder that exists is no error then */
	INIT_FILE_RECURSIVE = 1u << 1,	/* REMOVE: a folder with its content */
	INIT_FILE_EXCL = 1u << 2,	/* WRITE, RENAME: fail with EEXIST instead of replacing */
	INIT_FILE_NOFOLLOW = 1u << 3,	/* STAT: the link itself */
	INIT_FILE_KEPT = 1u << 4,	/* WRITE: only there whose old state is kept: at path2, where path led to, which has no links; NULL: nowhere */
};
#define INIT_FILE_FLAGS_ALL 0xfu	/* that a client can ask for: not KEPT */

/**
 * struct init_req - one request; the fields of other types are 0
 * Pointers point into the buffer after decoding.
 */
struct init_req {
	uint32_t type;		/* enum init_req_type */
	uint32_t id;		/* of the command, file operation or leaf; STATS: any */
	uint32_t flags;		/* EXEC: enum init_exec_flags; FILE: enum init_file_flags */
	uint32_t signo;		/* SIGNAL: 1..64 */
	/* EXEC */
	uint32_t nextra;	/* descriptors after the streams, their numbers are in the body */
	uint32_t session;	/* with SESSION: below AK_INIT_SESSIONS_MAX; else 0 */
	uint16_t rows, cols;	/* with TTY; else 0 */
	const void *body;	/* wire form of a struct init_exec; NULL and 0 with INIT_EXEC_MEMFD */
	uint32_t body_len;
	/* FILE; a path is absolute or below the workspace */
	uint32_t op;		/* enum init_file_op */
	const char *path;
	const char *path2;	/* RENAME: the new path; WRITE with KEPT: see there; else NULL */
	uint64_t offset;
	uint64_t limit;
	uint32_t mode;		/* permission bits at most 0777 */
};

/**
 * init_req_encode() - wire form of a request, at most AK_INIT_REQ_MAX bytes
 * Return: bytes written, or -ENOBUFS (does not fit), -EINVAL (init_req_decode() would refuse it).
 */
long init_req_encode(const struct init_req *q, void *buf, size_t cap);

/**
 * init_req_decode() - read a request
 * The body of EXEC is not looked at. Return: 0 or -EBADMSG (unknown type, op or flag, id 0, a signal not 1..64, flags that
 * contradict each other, a path that is missing, empty, too long or of another operation). @ret is untouched then.
 */
int init_req_decode(const void *buf, size_t len, struct init_req *ret);

/** init_req_fds() - Return: how many descriptors come with a valid request: [memfd] [program] [stdin] [stdout] [stderr] [extra...]. */
uint32_t init_req_fds(const struct init_req *q);

/**
 * struct init_exec - the body of EXEC: one command
 *
 * The environment is the sandbox's own (init_config.envp), without the names of unset, with the entries of envp set or added.
 */
struct init_exec {
	const char *cwd;	/* absolute; "": the sandbox's own, or the session's */
	const char **argv;	/* argc entries, at least one, then NULL */
	uint32_t argc;
	const char **envp;	/* envc entries NAME=VALUE, NAME not empty, then NULL */
	uint32_t envc;
	const char **unset;	/* unsetc names without '=', not empty, then NULL */
	uint32_t unsetc;
	struct init_rlimit rlimits[AK_INIT_RLIMITS_MAX];	/* only lower: what would raise a limit is FAILED with EPERM */
	uint32_t nrlimits;
	int32_t extra[AK_INIT_EXTRA_MAX];	/* numbers under which the command sees the extra descriptors: 3..1023, no two alike */
	uint32_t nextra;	/* the same as in the request */
};

/**
 * init_exec_encode() - wire form of a command
 * Return: bytes written, or -ENOBUFS (does not fit), -E2BIG (a count or the whole is over its maximum), -EINVAL
 * (init_exec_decode() would refuse it).
 */
long init_exec_encode(const struct init_exec *e, void *buf, size_t cap);

/** init_exec_counts() - Return: pointers that init_exec_decode() needs (argc + envc + unsetc + 3), or -EBADMSG. */
long init_exec_counts(const void *buf, size_t len);

/**
 * init_exec_decode() - read a command
 * @strv:	room for the pointer arrays; caller's
 * @nstrv:	entries in @strv
 * Return: 0; -EBADMSG (malformed, or not as the members' comments say), -ENOSPC (@strv too small). @ret is untouched then.
 */
int init_exec_decode(const void *buf, size_t len, const char **strv, size_t nstrv, struct init_exec *ret);

/* ---- up ---- */

enum init_rep_type {
	INIT_REP_READY = 32,	/* the first command is prepared: confinement works. With INIT_LEAVES after the first LEAF */
	INIT_REP_STARTED = 33,
	INIT_REP_FAILED = 34,	/* the command was not started */
	INIT_REP_PTY = 35,	/* carries one descriptor: the pty's master, which also takes TIOCSWINSZ */
	INIT_REP_EXITED = 36,	/* the command ended, and what it left was ended */
	INIT_REP_FILE = 37,
	INIT_REP_STATS = 38,
	INIT_REP_LEAVES = 39,	/* with INIT_LEAVES, first of all: init is the only process of its group, and its cgroup namespace is made */
};

enum init_exited_flags {
	INIT_EXITED_LOST = 1u << 0,	/* the command killed its keeper: wstatus is SIGKILL, the usage is unknown; the rest was ended */
	INIT_EXITED_SWEPT = 1u << 1,	/* it had left processes, which were ended */
	INIT_EXITED_LEFT = 1u << 2,	/* some could not be ended in time (blocked in the kernel); init keeps at it */
	INIT_EXITED_KILLED = 1u << 3,	/* by INIT_REQ_KILL */
	INIT_EXITED_STATE = 1u << 4,	/* SESSION: the state was kept (else the old one stays) */
};
#define INIT_EXITED_ALL 0x1fu

enum init_file_kind {
	INIT_KIND_FILE = 1,
	INIT_KIND_DIR = 2,
	INIT_KIND_LINK = 3,
	INIT_KIND_OTHER = 4,	/* FIFO, socket or device */
};

/* flags of INIT_REP_FILE */
enum init_filed_flags {
	INIT_FILED_MORE = 1u << 0,	/* READ: the file goes on behind what was given; LIST, WALK: entries were left out */
	INIT_FILED_NEW = 1u << 1,	/* WRITE, MKDIR: it did not exist before */
};
#define INIT_FILED_ALL 0x3u

/* struct init_rep - one reply; the fields of other types are 0 */
struct init_rep {
	uint32_t type;		/* enum init_rep_type */
	uint32_t id;		/* of the request; READY, LEAVES and STATS: as asked or 0 */
	uint32_t flags;		/* EXITED: enum init_exited_flags; FILE: enum init_filed_flags */
	uint32_t leaf;		/* STARTED, FAILED, EXITED: id of the cgroup leaf that was used up; 0: none */
	uint32_t pid;		/* STARTED: inside the sandbox */
	/* FAILED, and FILE with code not 0 */
	uint32_t stage;		/* FAILED: enum init_stage */
	uint32_t code;		/* positive errno; FILE: 0 is success */
	uint32_t exit_code;	/* FAILED: 125, 126, 127 */
	const char *text;	/* one line without control bytes; points into the buffer after decoding */
	const char *hint;
	/* EXITED */
	uint32_t wstatus;	/* of the command itself */
	uint64_t start_ns;	/* CLOCK_MONOTONIC when it was let go */
	uint64_t end_ns;	/* when its end was seen */
	uint64_t user_ns;	/* of the command and all it left that was waited for by anyone below its keeper */
	uint64_t system_ns;
	uint64_t maxrss_bytes;	/* largest of one process */
	/* FILE with code 0: the file as it is after the operation */
	uint32_t kind;		/* enum init_file_kind */
	uint32_t mode;		/* permission bits with set-id and sticky ones: at most 07777 */
	uint64_t size;
	int64_t mtime_ns;	/* since 1970 */
	uint64_t ino;
	uint64_t done;		/* READ, WRITE: bytes; LIST, WALK: records; REMOVE: names removed */
	/* STATS */
	uint32_t running;	/* commands */
	uint32_t spares;	/* prepared ones */
	uint32_t files;		/* file operations */
	uint32_t processes;	/* in the sandbox, init included */
	uint32_t fds;		/* open in init */
	uint64_t commands;	/* ended since the start */
	uint64_t rss_bytes;	/* of init */
};

/** init_rep_encode() - as init_msg_encode(), at most AK_INIT_REP_MAX bytes */
long init_rep_encode(const struct init_rep *m, void *buf, size_t cap);

/**
 * init_rep_decode() - read a reply; INIT_MSG_FAILED of the set-up is none of these: see init_msg_type()
 * Return: 0 or -EBADMSG (unknown type or flag, wrong size, values out of their range, control bytes in a text, a wait status that
 * is not an end, end before start). @ret is untouched then.
 */
int init_rep_decode(const void *buf, size_t len, struct init_rep *ret);

/** init_msg_type() - Return: the type that any message on CTL begins with, 0 if it is too short. */
uint32_t init_msg_type(const void *buf, size_t len);

/* ---- records of LIST and WALK ---- */

struct init_entry {
	uint32_t kind;		/* enum init_file_kind */
	uint32_t mode;
	uint64_t size;
	int64_t mtime_ns;
	const char *name;	/* LIST: one name; WALK: relative to what was walked. Any bytes but NUL; not empty, not absolute, no ".." */
};

/** init_entry_encode() - Return: bytes written, -ENOBUFS or -EINVAL. */
long init_entry_encode(const struct init_entry *e, void *buf, size_t cap);

/**
 * init_entry_next() - read the record at *@pos and move it on
 * Return: 1; 0 at the end; -EBADMSG (@ret and @pos are untouched then).
 */
int init_entry_next(const void *buf, size_t len, size_t *pos, struct init_entry *ret);

#endif
