/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of ak_proto.h as structs. Any process, no privilege; nothing is allocated, nothing is logged.
 *
 * Every struct T has two functions:
 *   long ak_T_encode(const struct ak_T *m, void *buf, size_t cap)
 *	Return: bytes; -ENOBUFS (does not fit), -EINVAL (ak_T_decode() would refuse it).
 *   int ak_T_decode(const void *buf, size_t len, struct ak_T *ret)
 *	Return: 0; -EBADMSG (too short or long, a count, length, flag or value out of its range, a text with a NUL inside,
 *	a reserved bit); *@ret is untouched then. Pointers of *@ret point into @buf.
 * Encoding is canonical: what decodes encodes back to the same bytes. A text that is NULL is written as "" and reads as "".
 * Ranges are those of ak_proto.h; what a value means is checked by who serves it, and refused, not treated as malformed.
 */
#ifndef AK_SHARED_AK_MSG_H
#define AK_SHARED_AK_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_proto.h"

#define AK_TEXT_MAX 1024u	/* bytes of an error text or hint, with its NUL */
#define AK_WARNINGS_MAX 32u

/* A list of strings: from an array when encoding, packed in the message's bytes when decoded */
struct ak_strs {
	const char *const *vec;	/* @count strings, borrowed; NULL: @packed is meant */
	const uint8_t *packed;	/* as ak_wr_str() writes them, one after the other */
	uint32_t packed_len;
	uint32_t count;
};

/** ak_strs_next() - the strings of a list in order; start with *@pos 0. Return: string, NULL at the end */
struct ak_strs_pos {
	uint32_t i;
	size_t at;
};
const char *ak_strs_next(const struct ak_strs *s, struct ak_strs_pos *pos);

struct ak_hello {
	uint32_t version;	/* AK_PROTO_VERSION */
	const char *client;	/* name for logs, at most AK_NAME_MAX */
};

/* a limit and what became of it */
struct ak_limit {
	uint8_t by;		/* enum ak_by; AK_BY_UNSET: no such limit, value 0 */
	uint8_t hit;		/* enum ak_hit */
	uint64_t value;		/* unit: enum ak_limit_kind */
};

/* what holds for every command of one sandbox */
struct ak_facts {
	uint8_t backend;	/* enum ak_backend: who holds it */
	uint8_t user_ns;	/* 1: ids are mapped */
	uint8_t net;		/* enum ak_net */
	uint8_t write;		/* enum ak_write */
	uint8_t identity;	/* enum ak_identity */
	uint8_t seccomp;	/* enum ak_seccomp */
	uint32_t landlock_abi;	/* 0: none */
	uint32_t uid, gid;	/* inside */
	const char *root;	/* "host"; or the root folder's path, "rootfs" where paths are not told; docker: the image */
	const char *workspace;	/* inside */
	const char *cwd;	/* inside */
	const char *user;	/* inside */
	const char *home;	/* inside */
	const char *changes;	/* AK_WRITE_COW: id of the changeset that takes the changes; else "" */
	struct ak_limit limit[AK_LIMITS];
	uint32_t nwarnings;
	const char *warning[AK_WARNINGS_MAX];
};

struct ak_hello_reply {
	uint32_t version;	/* AK_PROTO_VERSION */
	uint32_t pid;		/* of the executor */
	const char *program;	/* version of ak */
	uint32_t sandbox;	/* the named sandbox of this executor; 0: none */
	const char *name;	/* "" without one */
	uint64_t ttl_ms;	/* idle time after which the executor ends; 0: none */
	uint32_t pool;		/* prepared sandboxes it tries to keep */
	uint32_t pool_ready;	/* and has */
	uint32_t running;	/* commands, jobs included */
	uint32_t jobs;		/* jobs that run */
	uint64_t created_ms;	/* start of the executor, since 1970 */
	struct ak_facts facts;	/* of the named sandbox; without one, of the sealed policy */
};

/* A new sandbox. Numbers that are 0 and flags that are missing leave the policy's own value; only less can be asked for. */
struct ak_create {
	const char *name;	/* "": it belongs to this connection and ends with it; else it stays */
	uint32_t flags;		/* enum ak_narrow_flags */
	uint64_t memory_bytes;
	uint64_t cpu_milli;
	uint64_t pids;
	uint64_t cpu_time_ms;	/* of one command */
	uint64_t timeout_ms;	/* the longest a command may ask for, and what it gets when it does not ask */
	uint64_t max_output;	/* bytes per stream */
	uint64_t nofile;
	uint64_t fsize_bytes;
	uint32_t nunset;
	const char *unset[AK_UNSET_MAX];	/* variables its commands do not get */
};

struct ak_created {
	uint32_t sandbox;
	struct ak_facts facts;
};

struct ak_rlimit {
	uint32_t resource;	/* RLIMIT_*, below 16 */
	uint64_t value;		/* soft and hard; only lower than the sandbox's own */
};

/* argv, env and cwd of a command; a message part of its own, since it may come as a memfd */
struct ak_exec_body {
	const char *cwd;	/* inside, absolute; "": the sandbox's, or the session's */
	struct ak_strs argv;	/* one at least */
	struct ak_strs env;	/* "K=V" sets, "K" takes away; on top of the sandbox's environment */
};

/*
 * One command. Descriptors that come with it, in this order: [the body's memfd] [the program] [stdin] [stdout] [stderr], those with
 * AK_STREAM_FD, then the further pipes.
 */
struct ak_exec {
	uint32_t sandbox;
	uint8_t kind;		/* enum ak_exec_kind */
	uint8_t stream[3];	/* enum ak_stream */
	uint32_t flags;		/* enum ak_exec_flags */
	uint64_t timeout_ms;	/* 0 with AK_EXEC_TIMEOUT_SET: none, where the sandbox has none */
	uint64_t kill_after_ms;	/* between SIGTERM and SIGKILL after a timeout */
	uint64_t cpu_time_ms;	/* of the command and all it starts; 0: the sandbox's own */
	uint64_t max_output;	/* bytes kept of each captured stream; 0: the sandbox's, else AK_CAPTURE_DEFAULT */
	uint32_t session;	/* SESSION: below AK_SESSIONS_MAX; else 0 */
	uint32_t rows, cols;	/* pty, 0..65535; 0: 24 and 80 */
	uint32_t nrlimits;
	struct ak_rlimit rlimit[AK_EXEC_RLIMITS_MAX];
	uint32_t nextra;
	uint32_t extra[AK_EXEC_EXTRA_MAX];	/* numbers inside, 3 or more, ascending */
	uint32_t body_len;	/* with AK_EXEC_BODY_FD: bytes of the memfd that are meant; else 0 */
	struct ak_exec_body body;	/* meant without AK_EXEC_BODY_FD */
};

/** ak_exec_nfds() - how many descriptors come with @m */
size_t ak_exec_nfds(const struct ak_exec *m);

struct ak_started {
	uint32_t sandbox;
	uint32_t cmd;		/* id of the command or job; never used twice by one executor */
	uint32_t pid;		/* inside */
	uint32_t pty;		/* 1: the pty's master comes with it */
};

struct ak_shutdown { uint32_t force; /* 1: also when commands run; else refused with AK_CODE_BUSY */ };
struct ak_cmd_ref { uint32_t cmd; };
struct ak_sandbox_ref { uint32_t sandbox; /* 0: the named sandbox of this executor, everywhere */ };
struct ak_signal { uint32_t cmd, signo; };
struct ak_resize { uint32_t cmd, rows, cols; };
struct ak_wait_req { uint32_t cmd; uint64_t timeout_ms; /* UINT64_MAX: for ever */ };

enum ak_stage { AK_STAGE_NONE = 0, AK_STAGE_SETUP = 1, AK_STAGE_CONFINE = 2, AK_STAGE_CWD = 3, AK_STAGE_EXEC = 4, AK_STAGE_RELAY = 5,
		AK_STAGE_END };

/* one captured stream */
struct ak_output {
	uint8_t counted;	/* 1: total is known (it was captured or spooled) */
	uint8_t memfd;		/* 1: the bytes are in a sealed memfd that comes with the message (stdout's first) */
	uint64_t total;		/* bytes the command wrote */
	uint64_t dropped;	/* of them, between head and tail */
	uint64_t head_len, tail_len;	/* kept; head, then tail */
	const uint8_t *bytes;	/* head_len + tail_len bytes without memfd; NULL else */
	uint32_t bytes_len;
};

struct ak_result {
	uint32_t cmd, sandbox;
	uint8_t status;		/* enum ak_status */
	uint32_t exit_code;	/* 0..255, as CLI.md gives it: 124, 125, 126, 127, 128+N */
	uint32_t signal;	/* 0: none */
	uint64_t setup_ns;	/* from the request's arrival to the command's start */
	uint64_t duration_ns;	/* 0: never ran */
	uint64_t user_us, system_us;	/* of the command and all it started, as far as it was waited for */
	uint64_t memory_peak_bytes;	/* 0: unknown */
	uint32_t pids_peak;	/* 0: unknown */
	struct ak_limit limit[AK_LIMITS];
	uint8_t stage;		/* enum ak_stage of the error; AK_STAGE_NONE: no error */
	uint32_t err;		/* errno; 0: no system call failed */
	const char *text;	/* clean, one line */
	const char *hint;
	uint32_t nwarnings;
	const char *warning[AK_WARNINGS_MAX];
	struct ak_output out[2];
};

/** ak_result_nfds() - how many descriptors come with @m */
size_t ak_result_nfds(const struct ak_result *m);

struct ak_job {
	uint32_t cmd, sandbox;
	uint8_t running;	/* 1; 0: ended, and the next two say how */
	uint8_t status;
	uint32_t exit_code;
	uint64_t started_ms;	/* since 1970 */
	uint64_t runtime_ms;	/* so far, or in all */
	uint64_t log_bytes;	/* written by it */
	const char *title;	/* start of its command, clean, at most AK_TITLE_MAX */
};

struct ak_jobs {
	uint32_t count;
	struct ak_job job[AK_JOBS_MAX];	/* oldest first */
};

struct ak_job_log { uint32_t cmd; uint64_t offset; uint32_t limit; /* bytes; 0: AK_LOG_CHUNK */ };

struct ak_log_data {
	uint32_t cmd;
	uint8_t running;
	uint64_t offset;	/* of the first byte here; above the asked one when bytes between were dropped */
	uint64_t total;		/* bytes the job has written */
	const uint8_t *bytes;
	uint32_t bytes_len;	/* 0: nothing there yet, or the end */
};

struct ak_file {
	uint32_t sandbox;
	uint8_t op;		/* enum ak_file_op */
	uint32_t flags;		/* enum ak_file_flags */
	const char *path;	/* inside: absolute, or from the workspace */
	const char *path2;	/* RENAME; else "" */
	uint64_t offset;	/* READ: bytes */
	uint64_t limit;		/* READ: bytes; LIST, WALK: entries; 0: the maximum */
	uint32_t mode;		/* WRITE, MKDIR: permission bits */
	const uint8_t *bytes;	/* WRITE without AK_FILE_DATA_FD, at most AK_FILE_INLINE */
	uint32_t bytes_len;
};

struct ak_file_reply {
	uint32_t flags;		/* enum ak_file_reply_flags */
	uint8_t kind;		/* enum ak_file_kind */
	uint32_t mode;		/* permission bits */
	uint64_t size;
	int64_t mtime_ns;	/* since 1970 */
	uint32_t entries;	/* LIST, WALK: how many */
	uint32_t created;	/* WRITE, MKDIR: 1: it did not exist before */
	uint64_t data_len;	/* bytes of data, here or in the memfd, which may be longer */
	const uint8_t *bytes;	/* without AK_REPLY_DATA_FD */
	uint32_t bytes_len;
};

/* one entry of LIST and WALK; they stand one after the other in the data */
struct ak_entry {
	uint32_t kind;		/* enum ak_file_kind */
	uint32_t mode;
	uint64_t size;
	int64_t mtime_ns;	/* since 1970 */
	const char *name;	/* any bytes but NUL. LIST: a name; WALK: a path from where it began */
};

struct ak_sandbox {
	uint32_t id;
	const char *name;
	uint32_t pid;		/* of its init, on the host */
	uint8_t state;		/* enum ak_sandbox_state */
	uint32_t running;	/* commands, jobs included */
	uint32_t jobs;		/* jobs that run */
	uint64_t age_ms, idle_ms;
};
enum ak_sandbox_state { AK_SANDBOX_STARTING = 0, AK_SANDBOX_READY = 1, AK_SANDBOX_POOLED = 2, AK_SANDBOX_ENDING = 3, AK_SANDBOX_STATES };

struct ak_sandboxes {
	uint32_t count;
	struct ak_sandbox sandbox[AK_SANDBOXES_MAX];
};

struct ak_stat {
	struct ak_sandbox sandbox;
	struct ak_facts facts;
	uint64_t memory_bytes, memory_peak_bytes;	/* 0: unknown */
	uint32_t pids;		/* processes inside, init not counted; 0: none or unknown */
};

struct ak_refused {
	uint32_t code;		/* enum ak_code */
	uint32_t err;		/* errno; 0: none */
	const char *text;	/* clean, one line */
	const char *hint;
};

struct ak_changes_req {
	uint32_t sandbox;	/* 0: whichever has the copy of the workspace, or had it */
	uint32_t limit;		/* entries; 0: AK_CHANGES_MAX */
};

struct ak_finish {
	uint32_t sandbox;	/* as above */
	uint8_t action;		/* enum ak_finish_action */
	uint32_t flags;		/* enum ak_finish_flags */
	uint32_t point;		/* RESTORE: number of the checkpoint; else 0 */
};

struct ak_checkpoint {
	uint32_t sandbox;	/* as above */
	uint32_t flags;		/* enum ak_checkpoint_flags */
};

struct ak_checkpointed {
	uint32_t point;		/* its number, 1 or more; never used twice by one executor */
	uint64_t entries;	/* of the layer: what was changed, with the folders it is in */
	uint64_t bytes;		/* that all checkpoints together take at most */
};

struct ak_session {
	uint32_t flags;		/* enum ak_session_flags */
	const char *name;	/* AK_SESSION_NAME bytes, as they have to be */
};

struct ak_rollback {
	uint32_t flags;		/* enum ak_rollback_flags */
};

struct ak_touched {
	uint64_t pending;	/* files that can be put back; of ROLLBACK: that were to be */
	uint64_t count;		/* that ROLLBACK has put back, or removed */
};

/* changes in the copy of the workspace, and what became of them */
struct ak_changed {
	uint32_t flags;		/* enum ak_changed_flags */
	uint8_t outcome;	/* enum ak_outcome */
	const char *id;		/* of the changeset, also when it is gone */
	uint64_t total;		/* changed paths */
	uint64_t nprotected;	/* of them, AK_CHANGE_PROTECTED */
	uint64_t nconflicts;	/* of them, AK_CHANGE_CONFLICT */
	uint32_t point;		/* FINISH with RESTORE: checkpoint of what was there before; else 0 */
	uint32_t err;		/* errno why APPLY was not done; 0: it was, or was not asked for */
	const char *text;	/* the same in words; clean, one line */
	const char *hint;
	uint32_t entries;	/* how many are named */
	uint32_t data_len;	/* bytes of them, here or in the memfd */
	const uint8_t *bytes;	/* without AK_CHANGED_DATA_FD */
	uint32_t bytes_len;
};

/* one changed path; they stand one after the other in the data, in the order of paths, a folder before what is in it */
struct ak_change {
	uint8_t op;		/* enum ak_change_op */
	uint32_t flags;		/* enum ak_change_flags */
	uint32_t mode;		/* type and permission bits as they are now; 0: nothing is there */
	uint64_t size;		/* now */
	const char *path;	/* from the workspace, any bytes but NUL */
};

#define AK_MSG_DECLARE(T)                                                       \
	long ak_##T##_encode(const struct ak_##T *m, void *buf, size_t cap);    \
	int ak_##T##_decode(const void *buf, size_t len, struct ak_##T *ret)
/* messages, and the parts that also stand alone */
#define AK_MSG_EACH(X)                                                                                                       \
	X(hello); X(hello_reply); X(create); X(created); X(exec_body); X(exec); X(started); X(cmd_ref); X(sandbox_ref);      \
	X(shutdown); X(signal); X(resize); X(wait_req); X(result); X(jobs); X(job_log); X(log_data); X(file); X(file_reply); X(entry);    \
	X(sandboxes); X(stat); X(refused); X(changes_req); X(finish); X(changed); X(change); X(checkpoint); X(checkpointed);   \
	X(session); X(rollback); X(touched)

AK_MSG_EACH(AK_MSG_DECLARE);

/**
 * ak_entry_next() - the next entry of the data of LIST or WALK
 * @pos:	bytes read so far; start with 0
 * Return: 1 with an entry (its name points into @data), 0 at the end, -EBADMSG (also for a name that is empty, absolute or has a
 * ".." in it: entries are written by the sandbox).
 */
int ak_entry_next(const void *data, size_t len, size_t *pos, struct ak_entry *ret);

/** ak_change_next() - the next entry of the data of CHANGED; as ak_entry_next() */
int ak_change_next(const void *data, size_t len, size_t *pos, struct ak_change *ret);

#endif
