/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client and a serving executor say to each other: numbers only. The messages are in ak_msg.h, the socket in
 * ak_chan.h, the rules in docs/protocol.md. Any process, no privilege.
 *
 * One SOCK_SEQPACKET packet is one frame: a header of AK_HDR_BYTES, then the payload. A request has a seq the client
 * chooses; every reply carries the seq of its request. A frame that is malformed, comes with other descriptors than its
 * message says, or is not served in the connection's state ends the connection and the sandboxes it created. Anything else
 * that cannot be done is answered by AK_OP_REFUSED, and nothing has changed then.
 */
#ifndef AK_SHARED_AK_PROTO_H
#define AK_SHARED_AK_PROTO_H

#define AK_PROTO_MAGIC 0x70316b61u	/* "ak1p" */
#define AK_PROTO_VERSION 3u
#define AK_HDR_BYTES 16u	/* u32 magic, u16 op, u16 flags (0), u32 seq, u32 payload bytes; little endian */
#define AK_MSG_MAX 65536u	/* one frame with its header; an unprivileged socket's buffer takes several */
#define AK_PAYLOAD_MAX (AK_MSG_MAX - AK_HDR_BYTES)

/* --- maxima: everything the other side can make grow --- */
#define AK_CONNECTIONS_MAX 64u
#define AK_SANDBOXES_MAX 64u		/* of one executor, prepared ones of the pool included */
#define AK_COMMANDS_MAX 256u	/* running at a time in one executor, jobs included; ak-init takes 64 in one sandbox */
#define AK_FILES_MAX 64u	/* file operations at a time in one executor */
#define AK_JOBS_MAX 64u			/* of one executor; an ended one makes room for a new one */
#define AK_JOB_LOG_MAX (4u << 20)	/* bytes kept of one job's output: half from the head, half from the tail */
#define AK_WAITS_MAX 64u		/* open WAIT requests of one executor */
#define AK_QUEUE_MAX 128u		/* replies waiting for one slow client; one more ends its connection */
#define AK_CAPTURE_MAX (64u << 20)	/* bytes captured of one stream */
#define AK_CAPTURE_DEFAULT (16u << 20)
#define AK_CAPTURE_TOTAL_MAX (256u << 20)	/* promised to all running commands of one executor together */
#define AK_CAPTURE_INLINE 32768u	/* captured bytes of both streams up to this come in the RESULT, else as memfds */
#define AK_EXEC_BODY_MAX (4u << 20)	/* argv, environment and cwd of one EXEC when they come as a memfd */
#define AK_EXEC_STRINGS_MAX 65536u	/* entries of argv or env */
#define AK_SESSIONS_MAX 8u	/* shell sessions of a sandbox */
#define AK_EXEC_RLIMITS_MAX 8u
#define AK_EXEC_EXTRA_MAX 16u		/* further pipes of one command (--fd) */
#define AK_EXTRA_FD_MAX 1023u		/* highest number such a pipe may have inside */
#define AK_PROGRAM_MAX (32u << 20)	/* bytes of a program that comes as a memory file (AK_EXEC_PROGRAM) */
#define AK_FDS_MAX (2u + 3u + AK_EXEC_EXTRA_MAX)	/* descriptors of one frame */
#define AK_UNSET_MAX 256u		/* variables one CREATE takes away */
#define AK_NAME_MAX 64u			/* bytes of a sandbox's name */
#define AK_SESSION_NAME 14u		/* of a client's session: "s-" and 12 digits, 0-9 and a-f */
#define AK_PATH_MAX 4096u		/* bytes of a path inside, with its NUL */
#define AK_FILE_INLINE 49152u		/* bytes of file data in a frame, else a memfd */
#define AK_FILE_MAX (64u << 20)		/* bytes of one read or write */
#define AK_WALK_MAX 100000u		/* entries of one LIST or WALK */
#define AK_LOG_CHUNK 49152u		/* bytes of one LOG_DATA */
#define AK_POOL_MAX 32u
#define AK_CHANGES_MAX 10000u		/* changed paths that one CHANGED names; all are counted */
#define AK_CHANGES_BYTES_MAX (8u << 20)	/* bytes of their entries */
#define AK_CHANGES_ID_MAX 16u		/* bytes of a changeset's id, with its NUL */
#define AK_TITLE_MAX 160u		/* bytes of a job's command that JOBS shows */
#define AK_TIMEOUT_MAX_MS (366ull * 86400 * 1000)

enum ak_op {
	/* requests */
	AK_OP_HELLO = 1,	/* ak_hello -> HELLO_REPLY; first, and once */
	AK_OP_CREATE = 2,	/* ak_create -> CREATED */
	AK_OP_EXEC = 3,		/* ak_exec + descriptors -> STARTED, later RESULT (not for a job) */
	AK_OP_SIGNAL = 4,	/* ak_signal -> OK: to the command's process group */
	AK_OP_KILL = 5,		/* ak_cmd_ref -> OK: SIGKILL to the command and all it started */
	AK_OP_RESIZE = 6,	/* ak_resize -> OK: the pty's size */
	AK_OP_WAIT = 7,		/* ak_wait_req -> RESULT of a job, or REFUSED with AK_CODE_TIMEOUT */
	AK_OP_JOB_LIST = 8,	/* ak_sandbox_ref (0: all) -> JOBS */
	AK_OP_JOB_LOG = 9,	/* ak_job_log -> LOG_DATA */
	AK_OP_FILE = 10,	/* ak_file + memfd -> FILE_REPLY */
	AK_OP_STAT = 11,	/* ak_sandbox_ref -> SANDBOX */
	AK_OP_LIST = 12,	/* empty -> SANDBOXES */
	AK_OP_DESTROY = 13,	/* ak_sandbox_ref -> OK, when nothing of it is left */
	AK_OP_SHUTDOWN = 14,	/* ak_shutdown -> OK, when nothing of any sandbox is left; then the executor ends */
	AK_OP_CHANGES = 15,	/* ak_changes_req -> CHANGED: what the copy of the workspace has that the workspace has not */
	AK_OP_FINISH = 16,	/* ak_finish -> CHANGED, when the sandbox has ended and its changes were dealt with */
	AK_OP_CHECKPOINT = 17,	/* ak_checkpoint -> CHECKPOINTED: keep the copy as it is, to go back to with FINISH */
	AK_OP_SESSION = 18,	/* ak_session -> TOUCHED: what the client calls its session, for who tells the user how it ended. From then
				 * on what FILE writes replace in a workspace that is written directly is kept for it */
	AK_OP_ROLLBACK = 19,	/* ak_rollback -> TOUCHED: put that back */
	AK_OP_REQUESTS_END,

	/* replies */
	AK_OP_REFUSED = 64,	/* ak_refused: to any request */
	AK_OP_OK = 65,		/* empty */
	AK_OP_HELLO_REPLY = 66,	/* ak_hello_reply */
	AK_OP_CREATED = 67,	/* ak_created */
	AK_OP_STARTED = 68,	/* ak_started + the pty's master where one was asked for */
	AK_OP_RESULT = 69,	/* ak_result + up to two memfds */
	AK_OP_JOBS = 70,	/* ak_jobs */
	AK_OP_LOG_DATA = 71,	/* ak_log_data */
	AK_OP_FILE_REPLY = 72,	/* ak_file_reply + memfd */
	AK_OP_SANDBOX = 73,	/* ak_sandbox */
	AK_OP_SANDBOXES = 74,	/* ak_sandboxes */
	AK_OP_CHANGED = 75,	/* ak_changed + memfd */
	AK_OP_CHECKPOINTED = 76,	/* ak_checkpointed */
	AK_OP_TOUCHED = 77,	/* ak_touched */
};

/* why a request is refused; the text says it for people */
enum ak_code {
	AK_CODE_BAD_VALUE = 1,	/* a value makes no sense: path, name, signal, size */
	AK_CODE_NOT_ALLOWED = 2,	/* more than the sealed policy allows */
	AK_CODE_NO_SANDBOX = 3,	/* no such sandbox, or it is not yours */
	AK_CODE_NO_COMMAND = 4,	/* no such running command or job, or it is not yours */
	AK_CODE_NAME_TAKEN = 5,
	AK_CODE_TOO_MANY = 6,	/* a maximum above is reached */
	AK_CODE_TOO_LARGE = 7,
	AK_CODE_STREAM = 8,	/* a descriptor that may not be passed */
	AK_CODE_DEAD = 9,	/* the sandbox has ended */
	AK_CODE_START = 10,	/* the sandbox could not be built */
	AK_CODE_FILE = 11,	/* a file operation failed: err says how */
	AK_CODE_TIMEOUT = 12,	/* WAIT: the job still runs */
	AK_CODE_VERSION = 13,	/* the client speaks another version of the protocol */
	AK_CODE_INTERNAL = 14,	/* the executor lacks memory or descriptors */
	AK_CODE_BUSY = 15,	/* commands or jobs run */
	AK_CODE_NO_CHANGES = 16,	/* the workspace is no copy here, or its changes were dealt with already */
	AK_CODE_CHANGES = 17,	/* the changes could not be read */
	AK_CODE_TOUCHED = 18,	/* what a write would replace could not be kept: it was not done */
	AK_CODE_END,
};

enum ak_session_flags {
	AK_SESSION_STORED = 1u << 0,	/* it is on the disk, and can be gone on with */
};
#define AK_SESSION_FLAGS_ALL 1u

enum ak_rollback_flags {
	AK_ROLLBACK_FORGET = 1u << 0,	/* nothing is put back: what is there is good, and nothing of before is kept */
};
#define AK_ROLLBACK_FLAGS_ALL 1u

enum ak_exec_kind {
	AK_EXEC_ARGV = 1,	/* argv as it is */
	AK_EXEC_SHELL = 2,	/* argv[0], the only entry, is the text of a script for bash, or sh where there is none */
	AK_EXEC_SESSION = 3,	/* as SHELL; cwd, exported variables and functions carry over within the session @session */
	/*
	 * as ARGV, but the program is no file of the sandbox: it comes as a sealed memory file with a mode of 0111, so that nothing in the
	 * sandbox can replace, change, trace or read it. argv[0] is only its name
	 */
	AK_EXEC_PROGRAM = 4,
};

enum ak_exec_flags {
	AK_EXEC_JOB = 1u << 0,		/* goes on without its client; output is spooled, streams must be NULL */
	AK_EXEC_FRESH = 1u << 1,	/* in a sandbox of its own from the pool, destroyed with the command */
	AK_EXEC_BODY_FD = 1u << 2,	/* argv, env and cwd are in a sealed memfd, the first descriptor */
	AK_EXEC_NO_STARTED = 1u << 3,	/* only the RESULT is wanted (not with a pty or a job) */
	AK_EXEC_MERGE = 1u << 4,	/* stderr goes where stdout goes, in the order of writes; stream[2] must be NULL */
	AK_EXEC_TIMEOUT_SET = 1u << 5,	/* timeout_ms is meant; else the sandbox's own timeout holds */
	AK_EXEC_RESET = 1u << 6,	/* SESSION: forget the session's state first */
};
#define AK_EXEC_FLAGS_ALL 0x7fu

enum ak_stream {
	AK_STREAM_NULL = 0,	/* /dev/null */
	AK_STREAM_FD = 1,	/* a descriptor comes with the request: one end of a pipe, or /dev/null */
	AK_STREAM_CAPTURE = 2,	/* the executor keeps the bytes for the RESULT; not for stdin */
	AK_STREAM_PTY = 3,	/* all three, or none */
};

/* how a command ended; the names are those of ak-exec/1 */
enum ak_status {
	AK_STATUS_EXITED = 0,
	AK_STATUS_SIGNALED = 1,
	AK_STATUS_TIMED_OUT = 2,
	AK_STATUS_OOM_KILLED = 3,
	AK_STATUS_CPU_TIME = 4,
	AK_STATUS_OUTPUT_CLOSED = 5,
	AK_STATUS_FAILED = 6,	/* not run, or its result is unknown */
	AK_STATUS_END,
};

enum ak_limit_kind {
	AK_LIMIT_MEMORY = 0,	/* bytes */
	AK_LIMIT_PIDS = 1,
	AK_LIMIT_CPUS = 2,	/* thousandths */
	AK_LIMIT_TIMEOUT = 3,	/* ms */
	AK_LIMIT_CPU_TIME = 4,	/* ms */
	AK_LIMIT_NOFILE = 5,
	AK_LIMIT_FSIZE = 6,	/* bytes */
	AK_LIMIT_OUTPUT = 7,	/* bytes per stream */
	AK_LIMIT_DISK = 8,	/* bytes that commands may add: counted in a copy of the workspace */
	AK_LIMITS,
};

enum ak_by { AK_BY_UNSET = 0, AK_BY_NONE = 1, AK_BY_CGROUP = 2, AK_BY_RLIMIT = 3, AK_BY_AK = 4, AK_BY_DOCKER = 5, AK_BY_END };
enum ak_hit { AK_HIT_NO = 0, AK_HIT_YES = 1, AK_HIT_UNKNOWN = 2, AK_HIT_END };

enum ak_net { AK_NET_NONE = 0, AK_NET_HOST = 1, AK_NET_END };
enum ak_write { AK_WRITE_DIRECT = 0, AK_WRITE_NONE = 1, AK_WRITE_COW = 2, AK_WRITE_END };
enum ak_identity { AK_IDENTITY_SAME = 0, AK_IDENTITY_RANGE = 1, AK_IDENTITY_ROOT = 2, AK_IDENTITY_END };
/* DOCKER: docker's own filter, or none that was seen: NONE */
enum ak_seccomp { AK_SECCOMP_DEFAULT = 0, AK_SECCOMP_STRICT = 1, AK_SECCOMP_DOCKER = 2, AK_SECCOMP_NONE = 3, AK_SECCOMP_END };
enum ak_backend { AK_BACKEND_NATIVE = 0, AK_BACKEND_DOCKER = 1, AK_BACKEND_LOCAL = 2, AK_BACKEND_END };

enum ak_narrow_flags {
	AK_NARROW_NET_NONE = 1u << 0,
	AK_NARROW_WRITE_NONE = 1u << 1,
	AK_NARROW_STRICT = 1u << 2,	/* seccomp profile strict */
	AK_NARROW_NO_JOBS = 1u << 3,
};
#define AK_NARROW_FLAGS_ALL 0xfu

enum ak_file_op {
	AK_FILE_READ = 1,	/* path, offset, limit -> data */
	AK_FILE_WRITE = 2,	/* path, data, mode; whole file, atomic by rename */
	AK_FILE_LIST = 3,	/* path, limit (entries) -> entries of one folder */
	AK_FILE_STAT = 4,
	AK_FILE_MKDIR = 5,	/* path, mode; AK_FILE_PARENTS */
	AK_FILE_REMOVE = 6,	/* file, link or empty folder; AK_FILE_RECURSIVE */
	AK_FILE_RENAME = 7,	/* path to path2 */
	AK_FILE_WALK = 8,	/* path, limit (entries) -> entries of the tree below */
	AK_FILE_OP_END,
};

enum ak_file_flags {
	AK_FILE_PARENTS = 1u << 0,	/* WRITE, MKDIR: make missing folders; MKDIR of one that exists is no error then */
	AK_FILE_RECURSIVE = 1u << 1,	/* REMOVE */
	AK_FILE_EXCL = 1u << 2,		/* WRITE, RENAME: the target must not exist */
	AK_FILE_NOFOLLOW = 1u << 3,	/* STAT: the link itself */
	AK_FILE_DATA_FD = 1u << 4,	/* WRITE: data is in a sealed memfd */
};
#define AK_FILE_FLAGS_ALL 0x1fu

/* numbers as ak-init writes them into the entries of LIST and WALK: ak_init_serve.h */
enum ak_file_kind {
	AK_KIND_NONE = 0,
	AK_KIND_FILE = 1,
	AK_KIND_DIR = 2,
	AK_KIND_LINK = 3,
	AK_KIND_OTHER = 4,	/* FIFO, socket or device */
	AK_KIND_END,
};

enum ak_file_reply_flags {
	AK_REPLY_DATA_FD = 1u << 0,	/* data is in a memfd that came with the reply */
	AK_REPLY_MORE = 1u << 1,	/* READ: the file goes on; LIST, WALK: entries were left out */
};
#define AK_REPLY_FLAGS_ALL 0x3u

/* what becomes of the changes in the copy of the workspace (--write cow) */
enum ak_finish_action {
	AK_FINISH_KEEP = 1,	/* as a changeset: `ak diff`, `ak apply`, `ak discard` later */
	AK_FINISH_APPLY = 2,	/* taken over into the workspace, all or nothing; where something is against it they are kept */
	AK_FINISH_DISCARD = 3,	/* thrown away */
	AK_FINISH_RESTORE = 4,	/* the copy becomes what it was at a checkpoint; the next sandbox goes on with that */
	AK_FINISH_END,
};

enum ak_finish_flags {
	AK_FINISH_FORCE = 1u << 0,	/* also while commands or jobs run; else refused with AK_CODE_BUSY */
};
#define AK_FINISH_FLAGS_ALL 0x1u

enum ak_checkpoint_flags {
	AK_CHECKPOINT_LIVE = 1u << 0,	/* also while commands or jobs run; else refused with AK_CODE_BUSY */
};
#define AK_CHECKPOINT_FLAGS_ALL 0x1u

/* what has become of them */
enum ak_outcome {
	AK_CHANGES_OPEN = 0,	/* nothing yet: CHANGES, and FINISH with RESTORE */
	AK_CHANGES_NONE = 1,	/* there were none; nothing is kept */
	AK_CHANGES_KEPT = 2,	/* as changeset `id`; with an error when they should have been applied */
	AK_CHANGES_APPLIED = 3,
	AK_CHANGES_DISCARDED = 4,
	AK_OUTCOME_END,
};

/* the names are those of ak-exec/1; the numbers are the journal's */
enum ak_change_op {
	AK_CHANGE_ADDED = 1,
	AK_CHANGE_MODIFIED = 2,
	AK_CHANGE_DELETED = 3,
	AK_CHANGE_MODE = 4,	/* the mode only */
	AK_CHANGE_TYPE = 5,	/* a file where a folder was, a link where a file was, ... */
	AK_CHANGE_OP_END,
};

enum ak_change_flags {
	AK_CHANGE_PROTECTED = 1u << 0,	/* runs, or is obeyed, on the host later: held back by APPLY unless the user named it */
	AK_CHANGE_TOUCHED = 1u << 1,	/* what was there before was changed outside meanwhile */
	AK_CHANGE_SPECIAL = 1u << 2,	/* a FIFO, socket or device: never taken over */
	AK_CHANGE_LISTED = 1u << 3,	/* a protected name of the kind that is named but not held back */
	AK_CHANGE_WHOLE = 1u << 4,	/* it, or a folder above it, is a ".git" that is gone or replaced: one protected thing */
	AK_CHANGE_CONFLICT = 1u << 5,	/* APPLY: stands against taking the changes over */
};
#define AK_CHANGE_FLAGS_ALL 0x3fu

enum ak_changed_flags {
	AK_CHANGED_DATA_FD = 1u << 0,	/* entries are in a sealed memfd that came with the reply */
	AK_CHANGED_MORE = 1u << 1,	/* not all are named; protected ones are left out last */
};
#define AK_CHANGED_FLAGS_ALL 0x3u

#endif
