/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One container in which commands run: started once when first needed, reused, removed at the end. Process: warden.
 * Privilege: that of docker's socket, through the docker CLI.
 *
 * All that is done goes through a struct runner, so tests see each command line and answer it.
 */
#ifndef AK_DOCKER_BOX_H
#define AK_DOCKER_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/docker/docker_argv.h"
#include "executor/docker/docker_text.h"
#include "executor/runner.h"
#include "executor/shared/ak_err.h"

#define DOCKER_UNAVAILABLE_CODE 127	/* of a command whose container cannot be had */
#define DOCKER_SWEEP_MAX 64u		/* leftovers that one run removes */

struct docker_box {
	const struct docker_conf *conf;	/* borrowed */
	const struct runner *runner;	/* borrowed */
	char name[DOCKER_NAME_LEN + 1];
	bool started;
	bool dead;		/* killed: what runs in it is ending */
	bool has_shell;		/* with started */
	struct docker_facts facts;	/* with has_shell */
	struct docker_owner self;	/* who we are; for docker_box_sweep() */
	enum docker_why why;	/* of a failed start */
	const struct runner_hooks *hooks;	/* while a container is made: may end that; borrowed; NULL */
	void *ctx;		/* for them */
};

/** docker_box_init() - a box with a name of its own; nothing is started. Return: 0 or negative errno. */
int docker_box_init(struct docker_box *b, const struct docker_conf *conf, const struct runner *runner, struct ak_err *err);

/**
 * docker_box_start() - start the container unless it runs
 * Then it is asked whether it has a shell and by what it is confined: @b->facts.
 * Return: 0; negative errno with "could not start container: ..." (-ENOENT: docker itself is missing, image, network or folder;
 * -ECONNREFUSED: no daemon; -EACCES: its socket; -ENOEXEC: the image has no `sleep`; -ETIMEDOUT). What was half made is removed.
 */
int docker_box_start(struct docker_box *b, struct ak_err *err);

/* How a command in a box ended */
struct docker_outcome {
	int code;		/* the docker CLI's exit code; 127 when unavailable */
	bool unavailable;	/* there is no container; err_text says why */
	bool timed_out;		/* the CLI was killed after the command's time and the slack */
	struct runner_result r;	/* what was kept; release with runner_result_release() */
	struct ak_err err;	/* with unavailable: "docker sandbox unavailable: ..." */
};

/**
 * docker_box_run() - run a command, in a container that is started when there is none
 * @c:		the command; has_shell and has_timeout are set here from what the image has
 * @fds:	its standard input and output, or -1: see struct runner_call
 * @hooks:	may be NULL; with them the end of the command's time is their business
 * Never fails otherwise than by what @ret says.
 */
void docker_box_run(struct docker_box *b, struct docker_command *c, const int fds[2], const struct runner_hooks *hooks, void *ctx,
		    struct docker_outcome *ret);

/**
 * docker_box_direct() - run a command as the only process of a container of its own: the image has no `sleep` or no `sh`
 * @b:	not started; it counts as started afterwards, so that docker_box_close() removes it
 */
void docker_box_direct(struct docker_box *b, const struct docker_command *c, const int fds[2], const struct runner_hooks *hooks,
		       void *ctx, struct docker_outcome *ret);

/** docker_box_ran() - did the only process of a container start? If not, what the docker CLI said and gave is its own. */
bool docker_box_ran(struct docker_box *b);

/** docker_box_signal() - send a signal (its name without SIG) to all that runs in the container, pid 1 only if it is the command */
void docker_box_signal(struct docker_box *b, const char *signo);

/** docker_box_kill() - end all that runs in the container; it is then removed by docker. */
void docker_box_kill(struct docker_box *b);

/**
 * docker_box_close() - remove the container if one was started
 * Return: 0; negative errno: it may still be there.
 */
int docker_box_close(struct docker_box *b, struct ak_err *err);

/**
 * docker_box_sweep() - remove containers of this user whose makers have ended
 * @start_of:	start time of a process by its pid (0: none): of /proc, or of a test
 * Return: how many were removed.
 */
unsigned docker_box_sweep(struct docker_box *b, uint64_t (*start_of)(uint64_t pid));

#endif
