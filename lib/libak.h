/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libak: drive a serving ak executor from C. See ak(3) and docs/protocol.md. Any process, no privilege.
 *
 * A client is one connection; it is not safe for use by two threads at once. Calls that wait for an answer keep what comes
 * meanwhile for other requests, and ak_next() and ak_wait() hand it out later. Functions return 0 (or what they say) and a
 * negative errno on failure, with a line of text in @err (may be NULL): -EREMOTEIO when the executor refused, and then
 * ak_refusal() tells the code; -ECONNRESET when the executor is gone, and every later call gives the same.
 * What an executor says about a command was partly said by a hostile process: texts are clean for a terminal, sizes bounded.
 */
#ifndef AK_LIB_LIBAK_H
#define AK_LIB_LIBAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_msg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ak_client;

/* --- connections --- */

/**
 * ak_connect() - to the socket of a named executor
 * @who:	name of the client for the executor's log, or NULL
 * @ret:	owned; end with ak_close()
 * Return: 0; -ENOENT and -ECONNREFUSED (nobody serves there), -EPROTO (another version; @err says which), what connect(2) gives.
 */
int ak_connect(const char *path, const char *who, struct ak_client **ret, struct ak_err *err);

/** ak_connect_fd() - over a connected SOCK_SEQPACKET socket, such as an agent inherits; taken also on failure */
int ak_connect_fd(int fd, const char *who, struct ak_client **ret, struct ak_err *err);

/**
 * ak_spawn() - start an executor of one's own: `ak serve [exec's options]` with the socket as its standard input
 * @argv:	program and arguments, NULL-terminated; argv[0] is looked up in PATH
 * Its stdout is /dev/null, its stderr the caller's. ak_close() ends it and all its sandboxes, and waits for it.
 */
int ak_spawn(const char *const argv[], const char *who, struct ak_client **ret, struct ak_err *err);

/** ak_close() - end the connection; commands it started (jobs apart) and unnamed sandboxes it created end. NULL does nothing. */
void ak_close(struct ak_client *cl);

/** ak_hello_facts() - what the executor said first; borrowed as long as the client lives */
const struct ak_hello_reply *ak_hello_facts(const struct ak_client *cl);

/** ak_refusal() - code of the last refusal, 0: none; *@ret_err (may be NULL) gets the errno it came with */
enum ak_code ak_refusal(const struct ak_client *cl, int *ret_err);

/** ak_poll_fd() - readable when ak_next() has something to read; messages already read are not seen by poll: see ak_pending() */
int ak_poll_fd(const struct ak_client *cl);

/** ak_pending() - events that ak_next() gives without reading */
bool ak_pending(const struct ak_client *cl);

/* --- sandboxes; id 0 is the executor's named sandbox --- */

/** ak_create() - a sandbox within the executor's policy. @how: NULL: the policy itself */
int ak_create(struct ak_client *cl, const struct ak_create *how, uint32_t *ret_sandbox, struct ak_err *err);
/** ak_destroy() - end it with everything in it; returns when nothing is left */
int ak_destroy(struct ak_client *cl, uint32_t sandbox, struct ak_err *err);
/** ak_stat() - @cb is called once; what it is given lives during the call */
int ak_stat(struct ak_client *cl, uint32_t sandbox, void (*cb)(void *arg, const struct ak_stat *st), void *arg, struct ak_err *err);
/** ak_list() - sandboxes this connection may use; as ak_stat() */
int ak_list(struct ak_client *cl, void (*cb)(void *arg, const struct ak_sandboxes *list), void *arg, struct ak_err *err);
/** ak_shutdown() - end the executor; -EREMOTEIO with AK_CODE_BUSY when commands run and @force is false */
int ak_shutdown(struct ak_client *cl, bool force, struct ak_err *err);

/* --- commands --- */

/* a pipe the command gets beside its three streams */
struct ak_extra {
	int fd;			/* ours; borrowed; one end of a pipe */
	unsigned number;	/* its number inside, 3 or more, ascending in the list */
};

/**
 * ak_program() - a program for AK_EXEC_PROGRAM: a sealed memory file that can be executed and not read
 * @name:	for /proc/PID/exe and the like
 * @fd:		regular file, read from its start; borrowed
 * What runs it is not dumpable, so that other commands of its sandbox can neither trace it nor reach its descriptors; nobody can
 * change its bytes. Source: execve(2), "non-readable executables"; memfd_create(2).
 * Return: descriptor, close-on-exec, owned by the caller; negative errno: -EFBIG (over AK_PROGRAM_MAX), -ENOEXEC (empty, or no
 * regular file), -EACCES (the sysctl vm.memfd_noexec is 2), others of read(2), memfd_create(2) and fcntl(2).
 */
int ak_program(const char *name, int fd, struct ak_err *err);

/* what to run. Zero bytes are a good start: an empty environment on top of the sandbox's, /dev/null streams. */
struct ak_request {
	uint32_t sandbox;		/* 0: the named one */
	enum ak_exec_kind kind;		/* 0: AK_EXEC_ARGV */
	uint32_t flags;			/* enum ak_exec_flags; AK_EXEC_BODY_FD is the library's own */
	const char *const *argv;	/* NULL-terminated; text first for SHELL and SESSION */
	const char *const *env;		/* NULL-terminated or NULL: "K=V" sets, "K" takes away */
	int program;			/* with AK_EXEC_PROGRAM: a sealed memory file, ak_program(); borrowed */
	const char *cwd;		/* NULL: the sandbox's, or the session's */
	enum ak_stream stream[3];
	int fd[3];			/* with AK_STREAM_FD; borrowed */
	const struct ak_extra *extra;
	size_t nextra;
	uint64_t timeout_ms;		/* with AK_EXEC_TIMEOUT_SET */
	uint64_t kill_after_ms;
	uint64_t cpu_time_ms;
	uint64_t max_output;
	unsigned session;		/* with AK_EXEC_SESSION */
	unsigned rows, cols;
	const struct ak_rlimit *rlimits;
	size_t nrlimits;
};

/* the end of a command: the message, with memory of its own behind its pointers */
struct ak_done {
	struct ak_result r;	/* out[].bytes is set when the output came inline; see ak_done_output() */
	void *storage;		/* owned */
	void *map[2];		/* owned: mapped memfds */
	size_t map_len[2];
};

enum ak_event_type {
	AK_EVENT_STARTED = 1,
	AK_EVENT_DONE = 2,
	AK_EVENT_REFUSED = 3,	/* the request @tag was refused; err says why */
};

struct ak_event {
	enum ak_event_type type;
	uint32_t tag;		/* from ak_exec_start() or ak_wait_start() */
	uint32_t cmd, sandbox, pid;	/* STARTED */
	int pty;		/* STARTED with a pty: its master; owned by whoever got the event; -1 */
	struct ak_done done;	/* DONE: ak_done_release() */
	enum ak_code code;	/* REFUSED */
	struct ak_err err;	/* REFUSED */
};

/**
 * ak_exec_start() - ask for a command; answers come as events with *@ret_tag
 * Return: 0; -EINVAL (streams or lists that no executor would take), -E2BIG (arguments and environment over AK_EXEC_BODY_MAX).
 */
int ak_exec_start(struct ak_client *cl, const struct ak_request *req, uint32_t *ret_tag, struct ak_err *err);

/** ak_wait_start() - ask for the end of a job; comes as a DONE event (or REFUSED with AK_CODE_TIMEOUT) with *@ret_tag */
int ak_wait_start(struct ak_client *cl, uint32_t cmd, uint64_t timeout_ms, uint32_t *ret_tag, struct ak_err *err);

/**
 * ak_next() - the next event
 * @timeout_ms:	-1: wait for ever; 0: do not wait
 * Return: 1 with an event, 0 when the time passed, negative errno.
 */
int ak_next(struct ak_client *cl, struct ak_event *ret, int timeout_ms, struct ak_err *err);

/** ak_exec() - ak_exec_start(), then wait for the end; events of other requests stay for ak_next() */
int ak_exec(struct ak_client *cl, const struct ak_request *req, struct ak_done *ret, struct ak_err *err);

/** ak_exec_job() - start with AK_EXEC_JOB; Return: 0 with the job's id */
int ak_exec_job(struct ak_client *cl, const struct ak_request *req, uint32_t *ret_job, struct ak_err *err);

int ak_signal(struct ak_client *cl, uint32_t cmd, int signo, struct ak_err *err);
int ak_kill(struct ak_client *cl, uint32_t cmd, struct ak_err *err);	/* the command and all it started */
int ak_resize(struct ak_client *cl, uint32_t cmd, unsigned rows, unsigned cols, struct ak_err *err);

/** ak_done_output() - head and tail of stream @i (0: stdout, 1: stderr); borrowed from @d; what lies between was dropped */
void ak_done_output(const struct ak_done *d, unsigned i, const uint8_t **ret_head, size_t *ret_head_len, const uint8_t **ret_tail,
		    size_t *ret_tail_len);
void ak_done_release(struct ak_done *d);
/** ak_event_release() - close and free what an event owns */
void ak_event_release(struct ak_event *ev);

/* --- jobs --- */

/** ak_job_list() - @cb gets every job, oldest first */
int ak_job_list(struct ak_client *cl, uint32_t sandbox, void (*cb)(void *arg, const struct ak_job *job), void *arg, struct ak_err *err);
/** ak_job_log() - bytes of a job's output from @offset; *@ret (its bytes point into the client) is good until the next call */
int ak_job_log(struct ak_client *cl, uint32_t job, uint64_t offset, struct ak_log_data *ret, struct ak_err *err);
/** ak_job_wait() - Return: 0; -EREMOTEIO with AK_CODE_TIMEOUT while it runs */
int ak_job_wait(struct ak_client *cl, uint32_t job, uint64_t timeout_ms, struct ak_done *ret, struct ak_err *err);

/* --- files inside: paths are absolute or from the workspace; links are never followed out of it --- */

struct ak_bytes {
	uint8_t *data;		/* owned; NUL-terminated beyond @len */
	size_t len;
	bool more;		/* the file goes on, or entries were left out */
	struct ak_file_reply st;	/* size, mode, kind, mtime; its bytes are not set */
};
void ak_bytes_release(struct ak_bytes *b);

/** ak_file_read() - @limit 0: AK_FILE_MAX. Refused with AK_CODE_FILE and an errno: ENOENT, EISDIR, ELOOP, EXDEV, ... */
int ak_file_read(struct ak_client *cl, uint32_t sandbox, const char *path, uint64_t offset, uint64_t limit, struct ak_bytes *ret,
		 struct ak_err *err);
/** ak_file_write() - the whole file at once, by rename. @flags: AK_FILE_PARENTS, AK_FILE_EXCL */
int ak_file_write(struct ak_client *cl, uint32_t sandbox, const char *path, const void *data, size_t len, unsigned mode,
		  uint32_t flags, struct ak_err *err);
/** ak_file_list() - entries for ak_entry_next(); @recursive: the whole tree below, as WALK */
int ak_file_list(struct ak_client *cl, uint32_t sandbox, const char *path, bool recursive, uint64_t limit, struct ak_bytes *ret,
		 struct ak_err *err);
int ak_file_stat(struct ak_client *cl, uint32_t sandbox, const char *path, struct ak_file_reply *ret, struct ak_err *err);
int ak_file_mkdir(struct ak_client *cl, uint32_t sandbox, const char *path, unsigned mode, bool parents, struct ak_err *err);
int ak_file_remove(struct ak_client *cl, uint32_t sandbox, const char *path, bool recursive, struct ak_err *err);
int ak_file_rename(struct ak_client *cl, uint32_t sandbox, const char *from, const char *to, bool excl, struct ak_err *err);

/* --- the copy of the workspace: executors with --write cow; there is one copy, and one sandbox at a time has it --- */

struct ak_change_set {
	enum ak_outcome outcome;
	char id[AK_CHANGES_ID_MAX];	/* of the changeset */
	uint64_t total, nprotected, nconflicts;
	uint32_t point;		/* ak_restore(): checkpoint of what was there before */
	bool more;		/* not all of @total are in @data */
	uint32_t entries;
	uint8_t *data;		/* owned: entries for ak_change_next() */
	size_t len;
	struct ak_err why;	/* code not 0: APPLY was not done, and all is kept; 0 and a text: it was, and what was left out */
};
void ak_change_set_release(struct ak_change_set *s);

/** ak_change_op_name() - "added", "modified", "deleted", "mode", "type": as in ak-exec/1 */
const char *ak_change_op_name(unsigned op);

/**
 * ak_changes() - what was changed so far
 * @sandbox:	0: the one that has the copy, or had it last
 * @limit:	entries wanted; 0: AK_CHANGES_MAX. Numbers are always of all
 * What commands change meanwhile may be in it or not. Return: 0; -EREMOTEIO with AK_CODE_NO_CHANGES (no copy, or FINISH is done),
 * AK_CODE_BUSY (FINISH goes on), AK_CODE_CHANGES.
 */
int ak_changes(struct ak_client *cl, uint32_t sandbox, uint32_t limit, struct ak_change_set *ret, struct ak_err *err);

/**
 * ak_finish() - end the sandbox with everything in it, then keep, apply or discard its changes
 * @action:	AK_FINISH_APPLY is refused with AK_CODE_NOT_ALLOWED unless the executor was started with --apply always
 * @flags:	enum ak_finish_flags
 * Also when the sandbox has ended already. After APPLY or DISCARD the next sandbox begins anew on the workspace; what was kept is
 * left as changeset ret->id, and FINISH can be asked for again, but no sandbox.
 * Return: 0 when it is done, and then @ret->outcome says what: an APPLY that changes outside or protected names stand against
 * gives AK_CHANGES_KEPT, @ret->why, and AK_CHANGE_CONFLICT or AK_CHANGE_PROTECTED at the entries. Else as ak_changes().
 */
int ak_finish(struct ak_client *cl, uint32_t sandbox, enum ak_finish_action action, uint32_t flags, struct ak_change_set *ret,
	      struct ak_err *err);

/**
 * ak_checkpoint() - keep the copy as it is now, whoever changed it: commands, jobs, file operations
 * @flags:	enum ak_checkpoint_flags. With AK_CHECKPOINT_LIVE what runs is frozen meanwhile where the sandbox has a cgroup; without
 *		one a file that is being written may be kept half
 * @ret:	its number is good until the executor ends, or the changes were applied or discarded
 * Cost grows with what was changed since the one before. Return: as ak_changes(); AK_CODE_BUSY also while commands run.
 */
int ak_checkpoint(struct ak_client *cl, uint32_t sandbox, uint32_t flags, struct ak_checkpointed *ret, struct ak_err *err);

/**
 * ak_session() - tell the executor what the client's session is called, so that `ak` can name it if the client dies
 * @name:	AK_SESSION_NAME bytes
 * @flags:	enum ak_session_flags
 * @ret:	files that ak_rollback() can put back already, since the session's last run did not come to a good end
 * With a workspace that `ak run` writes directly, what ak_file_write() replaces is kept from now on.
 * Return: 0; -EINVAL (no such name); -EREMOTEIO: refused, with AK_CODE_CHANGES when nothing can be kept: then
 * ak_file_write() is refused with AK_CODE_TOUCHED; as ak_stat().
 */
int ak_session(struct ak_client *cl, const char *name, uint32_t flags, struct ak_touched *ret, struct ak_err *err);

/**
 * ak_rollback() - put back what ak_file_write() has replaced since ak_session(), and remove what it has made; or forget it
 * @flags:	enum ak_rollback_flags
 * Return: 0; -EREMOTEIO: refused, with AK_CODE_NO_CHANGES when nothing is kept, AK_CODE_CHANGES when it could not be done: it can be
 * asked for again then. As ak_stat().
 */
int ak_rollback(struct ak_client *cl, uint32_t flags, struct ak_touched *ret, struct ak_err *err);

/**
 * ak_restore() - end the sandbox with everything in it, and make the copy what it was at a checkpoint
 * @point:	its number
 * @flags:	enum ak_finish_flags
 * @ret:	changes as they are then; @ret->point is a checkpoint of what was there before
 * The sandbox's processes, /tmp and sessions are gone; the next ak_create() goes on with the copy. Not for a named executor's own
 * sandbox. Return: as ak_finish(); AK_CODE_CHANGES with ENOENT: no such checkpoint, and nothing but the sandbox has changed.
 */
int ak_restore(struct ak_client *cl, uint32_t sandbox, uint32_t point, uint32_t flags, struct ak_change_set *ret, struct ak_err *err);

#ifdef __cplusplus
}
#endif

#endif
