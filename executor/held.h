/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sandboxes that stay and that another backend than native holds: a container, or a folder and a process tree without isolation.
 * An ak-init serves them as it serves a native one (executor/shared/ak_init_serve.h), so commands, jobs, terminals, shell sessions
 * and file operations are the same; what it is held by is the backend's. Beside it is a warden, which makes the sandbox, ends all
 * of it on SIGTERM or when the executor is gone, and removes what it made.
 * Process: executor. Privilege: the caller's, which is not given up: docker's CLI may need it.
 */
#ifndef AK_HELD_H
#define AK_HELD_H

#include <stdint.h>
#include <sys/types.h>

#include "executor/backend.h"

struct ak_err;
struct exec_opts;
struct plan;
struct prepared;
struct sandbox;
struct warden;

#define HELD_START_MS 150000u	/* for a container to be there, its image fetched */

struct held;

/* What a warden gets, from hold() of struct backend_ops */
struct held_job {
	struct exec_run *r;	/* borrowed */
	const struct plan *plan;	/* of this sandbox; borrowed */
	pid_t executor;
};

/**
 * held_open() - look whether what was asked for can be had, and plan it; makes nothing
 * @o:	with another backend than native; borrowed as long as @ret lives
 * @p:	gets host and plan; released by its owner after held_free()
 * Return: 0 with *@ret; as the backend's probe() (docker: also as docker_engine_look() and docker_choose_user()).
 */
int held_open(const struct exec_opts *o, char *const env[], struct prepared *p, struct held **ret, struct ak_err *err);
void held_free(struct held *h);

/** held_start() - make one sandbox by @plan: a view of held_open()'s. Return: 0 with *@ret, whose pidfd is the warden's. */
int held_start(struct held *h, const struct plan *plan, struct sandbox *ret, struct ak_err *err);

/** held_workspace() - the host's path of it; borrowed */
const char *held_workspace(const struct held *h);
/** held_user() - ids on the host of the commands */
void held_user(const struct held *h, uint32_t *ret_uid, uint32_t *ret_gid);

/**
 * held_signals() - in a warden: SIGCHLD and SIGTERM by descriptor; SIGTERM also when the executor goes
 * Return: signalfd, or negative errno.
 */
int held_signals(const struct held_job *job, struct ak_err *err);
/** held_stopped() - read what @fd has. Return: whether the sandbox is to end. */
bool held_stopped(int fd);

/** held_warden() - for hold(): start @main as warden on /dev/null. Return: as warden_start(). */
int held_warden(struct exec_run *r, const struct plan *plan, int (*main)(struct warden *w, void *job), struct sandbox *ret,
		struct ak_err *err);

#endif
