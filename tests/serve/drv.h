/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives ak-init in serve mode without the executor's serving part: starts a sandbox as `ak exec` would, sends requests, collects
 * replies and output. For tests; what the library says about the peer is not promised to anybody.
 */
#ifndef AK_TESTS_SERVE_DRV_H
#define AK_TESTS_SERVE_DRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/sandbox.h"
#include "executor/shared/ak_init_serve.h"

#define DRV_CALLS 128
#define DRV_OUT_MAX (1u << 20)

/* One command under way */
struct call {
	uint32_t id;	/* 0: free */
	bool done, wants_pid, wants_pty;
	struct init_rep end;	/* FAILED or EXITED */
	char text[700], hint[300];
	uint32_t pid;	/* with INIT_EXEC_STARTED */
	int pty;	/* -1 */
	int fd[2];	/* stdout, stderr; -1: at its end */
	char *data[2];
	size_t len[2];
};

/* What to run */
struct spec {
	const char *const *argv;	/* NULL-terminated; with INIT_EXEC_SHELL the text alone */
	const char *const *env;		/* NULL: none */
	const char *const *unset;
	const char *cwd;		/* NULL: default */
	uint32_t flags;			/* STDOUT and STDERR are added but with TTY or @no_output */
	uint32_t session;
	const struct init_rlimit *rlimits;
	uint32_t nrlimits;
	int in;				/* with INIT_EXEC_STDIN; borrowed */
	const int *extra;		/* borrowed descriptors and their numbers inside */
	const int *extra_to;
	uint32_t nextra;
	bool memfd;			/* send the body as a file whatever its size */
	bool no_output;
};

struct drv {
	struct sandbox sb;
	uint32_t next;
	struct call calls[DRV_CALLS];
	struct init_rep file, stats;	/* the last ones that came */
	bool have_file, have_stats, ready, dead;
	char file_text[700], file_hint[300];
	struct init_msg failed;		/* of the set-up */
	char failed_text[700];
	size_t bad;			/* messages that did not decode or had no call */
};

/** drv_start() - a sandbox as `ak exec ARGS` would make it; ends the program when it cannot. As root: with the reserved ids. */
void drv_start(struct drv *d, int argc, char *const argv[]);
/** drv_start_leaves() - the same with INIT_LEAVES: every command wants a leaf */
void drv_start_with(struct drv *d, int argc, char *const argv[], bool late_filters, bool leaves);
/** drv_stop() - close the socket, wait for init; Return: milliseconds until it was gone, -1 after 20 s. */
int drv_stop(struct drv *d);

/** drv_send() - one request with borrowed descriptors; Return: 0 or negative errno. */
int drv_send(struct drv *d, const struct init_req *q, const int *fds, size_t nfds);
/** drv_exec() - start a command. Return: its call, NULL when the request could not be sent. */
struct call *drv_exec(struct drv *d, const struct spec *s);
/** drv_pump() - read what there is; waits up to @ms for something. Return: false when init is gone. */
bool drv_pump(struct drv *d, int ms);
/** drv_wait() - until @c has ended and its output was read as far as it is there. Return: false after @ms or when init is gone. */
bool drv_wait(struct drv *d, struct call *c, int ms);
/** drv_free() - forget a call */
void drv_free(struct call *c);
/** drv_run() - start and wait at most a minute */
struct call *drv_run(struct drv *d, const struct spec *s);
/** drv_sh() - drv_run() of `sh -c TEXT`; drv_text() of a shell text with flags (SHELL is added) */
struct call *drv_sh(struct drv *d, const char *text);
struct call *drv_text(struct drv *d, const char *text, uint32_t flags);
/** drv_stats() - ask and wait. */
bool drv_stats(struct drv *d);
/**
 * drv_settle() - wait until no command runs and all is prepared: three commands with their keepers, and no more keepers waiting than that
 * Return: false after 20 s.
 */
bool drv_settle(struct drv *d);
/** drv_file() - one file operation; the data descriptor is borrowed (-1: none). Return: errno of the answer, -1: none came. */
int drv_file(struct drv *d, struct init_req q, int fd);
/** drv_code() - shell-like exit code of a call: code, 128 + signal, 1000 + exit_code for FAILED, -1: not ended */
int drv_code(const struct call *c);

#endif
