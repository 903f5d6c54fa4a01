/* SPDX-License-Identifier: Apache-2.0 */
/* One command in a container on its way: what docker_warden.c and docker_direct.c share. Process: warden. */
#ifndef AK_DOCKER_SESSION_H
#define AK_DOCKER_SESSION_H

#include "executor/docker/docker_int.h"

enum phase { PHASE_START, PHASE_RUN, PHASE_END, PHASE_KILLED };

struct session {
	struct warden *w;
	struct docker_run *d;
	struct docker_box box;
	struct docker_marks marks;
	struct docker_files files;
	enum phase phase;
	bool cancelled;		/* the executor wants it ended at once, or is gone */
	int early_signal;	/* came before the command ran; 0: none */
	bool overdue;		/* we ended it for its time */
	bool ctl_open;
	bool mute;		/* nobody reads standard error any more, or what comes is no longer the command's */
	uint64_t spawn_ns, start_ns, end_ns;
	uint64_t deadline_ns;	/* 0: none */
	bool direct;		/* the command is the container's only process: docker_direct.c */
	bool command_ran;	/* with direct: it was started */
	bool ran;		/* @out is filled */
	struct docker_outcome out;
	/* a sandbox that stays: what its container is shown is made here, before it is; NULL */
	int (*prepare)(struct session *s, struct ak_err *err);
};

/** session_after_ms() - a time so long from now, of CLOCK_MONOTONIC in ns */
uint64_t session_after_ms(uint64_t ms);

/* for struct runner_hooks; @ctx is the session */
bool session_readable(void *ctx);
uint64_t session_deadline(void *ctx);
bool session_expired(void *ctx);

/** session_unwanted() - the container is to go. One that is being made gets DOCKER_UNWANTED_S to be made, by deadline_ns */
void session_unwanted(struct session *s);

/** session_pass_on() - bytes of the command's standard error to its reader; time and executor are looked at meanwhile */
void session_pass_on(struct session *s, const uint8_t *p, size_t n);

/** session_has_stdin() - is descriptor 0 anything but /dev/null? */
bool session_has_stdin(void);

/**
 * session_make_box() - make the container
 * @owner:	filled; what d->conf.owner points to from then on
 * Return: 0 when it runs, is held by what was asked for, and leftovers are gone, or when it was cancelled meanwhile; negative errno.
 */
int session_make_box(struct session *s, const struct runner *runner, char owner[DOCKER_OWNER_BYTES], struct ak_err *err);

/** session_exited() - tell the executor how the command ended */
void session_exited(struct session *s, int wstatus);
/** session_docker_failed() - tell it that docker itself failed with @code; what it said is in the marks' `before` */
void session_docker_failed(struct session *s, int code);

/* docker_direct.c */

/** session_prepare_direct() - refuse what cannot be done without a shell, and forget the container that only waits. Return: 0 or negative errno. */
int session_prepare_direct(struct session *s, struct ak_err *err);
void session_run_direct(struct session *s);
void session_tell_direct(struct session *s);

#endif
