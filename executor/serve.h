/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor in serving state: sandboxes within one sealed policy, for clients that ask by message (docs/protocol.md).
 * Process: executor. Privilege: none (rootless), or CAP_SETUID and CAP_SETGID in its own user namespace (root mode).
 */
#ifndef AK_SERVE_H
#define AK_SERVE_H

#include <stdbool.h>
#include <stdint.h>

struct ak_err;
struct cow_close;
struct cow_stay;
struct exec_opts;
struct held;
struct plan;
struct privs;
struct protected_report;
struct touch_stay;

#define SERVE_SESSION 16u	/* a session's name with its NUL */

/* what came up while serving, for who has to tell it */
struct serve_seen {
	char session[SERVE_SESSION];	/* what the client called its session; "": it never did */
	bool stored;			/* and it can be gone on with */
	int signo;			/* the signal that ended serving; 0 */
	bool done;			/* the client has asked for the end: SHUTDOWN */
};

struct serve_opts {
	const struct exec_opts *opts;	/* borrowed: limits and times; its argv is not used */
	const struct plan *plan;	/* borrowed, finished; its argv is not used */
	const struct privs *privs;	/* already entered; NULL: rootless */
	int landlock_abi;
	const char *name;		/* of the sandbox made at the start, which stays; NULL: none is made */
	int listen_fd;			/* bound, listening, SOCK_SEQPACKET; borrowed; -1: none */
	int conn_fd;			/* one client that is there already, taken; its end is the end of serving; -1: none */
	int signal_fd;			/* SIGTERM, SIGINT, SIGHUP: orderly end; borrowed; -1 */
	int tell_fd;			/* a signal is told to the client by its number in one byte here, and serving ends when the client
					 * does, with the second signal, or SERVE_TOLD_MS later; borrowed; 0: a signal ends it at once */
	int tell_pidfd;			/* with @tell_fd: the client, which is continued when it is told, since a stopped one hears nothing;
					 * borrowed */
	struct serve_seen *seen;	/* filled in; borrowed; may be NULL */
	struct cow_close *left;		/* filled in when @changes are closed; borrowed; may be NULL */
	int follow_fd;			/* pidfd of a client that a person talks to; borrowed; 0: none. SIGINT is told to it, each time, and
					 * ends nothing; when it is stopped so are we. SIGCHLD has to be in @signal_fd, @tell_fd must not block */
	int alive_fd;			/* when its last name is removed (st_nlink 0) serving ends; borrowed; -1 */
	uint64_t ttl_ms;		/* idle time (nothing runs and nobody asks) after which serving ends; 0: none */
	int cgroup_dir;			/* place in which sandboxes get cgroups; borrowed; -1: none */
	uint32_t cgroup_have;		/* enum cgroup_ctl: controllers that groups made there get */
	struct cow_stay *changes;	/* begun; borrowed, closed at the end of serving; NULL: no --write cow */
	struct touch_stay *touched;	/* begun, or why not; borrowed; NULL: the workspace is not written directly, or nobody wants it */
	/* with a workspace that is written directly: which protected names have changed. Asked when no sandbox is left; NULL: not told */
	const struct protected_report *(*protected)(void *arg);
	void *protected_arg;
	bool may_apply;			/* clients may ask for its changes to be taken over */
	unsigned pool;			/* prepared sandboxes to keep; at most AK_POOL_MAX */
	bool tell_paths;		/* the client is the user's own: HELLO_REPLY names host paths such as --rootfs */
	struct held *held;		/* who makes the sandboxes, with another backend than native; borrowed; NULL: native */
	void (*ready)(void *arg);	/* called once: the first sandbox is up (or, without a name, requests are served); may be NULL */
	void *ready_arg;
};

/**
 * serve_run() - serve until the end
 *
 * Requires: no_new_privs; host privilege given up (root mode: privs_enter()); SIGPIPE and SIGXFSZ ignored, SIGCHLD default.
 * Return: 0 after an orderly end (SHUTDOWN, signal, ttl, end of conn_fd): nothing of any sandbox is left then. Negative errno:
 * the first sandbox could not be built (before ready() was called), or the loop itself cannot work.
 */
int serve_run(const struct serve_opts *so, struct ak_err *err);

#endif
