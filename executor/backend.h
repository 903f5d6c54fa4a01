/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs a command: the kernel by way of ak-init (native), the docker CLI (docker), or nothing at all (local). One table says
 * how each is asked. Process: executor.
 *
 * The relay (executor/relay.h) moves bytes, keeps time and passes signals on for all of them; it needs a process that it can wait
 * for and a control socket on which that process says how the command ended. For native that is ak-init, for the others a warden
 * (executor/warden.h).
 */
#ifndef AK_BACKEND_H
#define AK_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/opts.h"

struct ak_err;
struct exec_run;
struct plan;
struct sandbox;

#define BACKEND_WARNINGS_MAX 12
#define BACKEND_WARNING_BYTES 256
#define BACKEND_NAME_BYTES 256

/* What a backend other than native has really done: `limits` and `isolation` of the result. In memory shared with the warden. */
struct backend_facts {
	enum opt_backend backend;
	bool isolated;			/* there is a container: the fields below say what is known of it */
	bool memory_held, pids_held, cpus_held;	/* by docker, as read back inside */
	bool seccomp;			/* docker's own filter was seen */
	bool user_namespace;		/* docker runs without root: ids are mapped */
	bool root;			/* the command has host uid 0 */
	bool read_only;			/* the workspace */
	bool usage;			/* what the warden has used is what the command has used */
	char network[BACKEND_NAME_BYTES];
	char image[BACKEND_NAME_BYTES];
	bool timed_out;			/* the backend kept the time itself, and it was over */
	uint32_t nwarnings;
	char warning[BACKEND_WARNINGS_MAX][BACKEND_WARNING_BYTES];
};

/** backend_warn() - add a warning; over the maximum they are dropped */
void backend_warn(struct backend_facts *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Where a sandbox that stays is; strings are borrowed from the run */
struct held_place {
	const char *workspace;	/* the host's path of it */
	uint32_t uid, gid;	/* on the host, of its commands */
};

/*
 * Each function returns 0 or negative errno with a message. For one command: probe, create, exec, destroy. For sandboxes that stay:
 * probe, stay, then hold for each of them; destroy at the end. destroy also after a failure.
 */
struct backend_ops {
	const char *name;
	/** what was asked for can be done here; makes nothing */
	int (*probe)(struct exec_run *r, char *const env[], struct ak_err *err);
	/** make the sandbox and start its command; r->rs says how the relay reaches it */
	int (*create)(struct exec_run *r, struct ak_err *err);
	/** see the command through to its end: r->result */
	int (*exec)(struct exec_run *r, struct ak_err *err);
	/** nothing of it is left; safe twice */
	void (*destroy)(struct exec_run *r);
	/*
	 * How its tree is ended at once is part of r->rs: by the kernel (its cgroup and pid namespace) for native, else by its
	 * warden.
	 */

	/* --- sandboxes that stay (executor/held.h); NULL for native, whose plan says how they are built (executor/sandbox.h) --- */

	/** after probe: workspace, cwd, variables and the places of file operations in @p; makes nothing */
	int (*stay)(struct exec_run *r, struct plan *p, struct held_place *ret, struct ak_err *err);
	/**
	 * make one. Commands and file operations are requests to ak-init on ret->ctl (executor/shared/ak_init_serve.h), which looks
	 * paths up where the commands run, below the places of the plan. SIGTERM to ret->pidfd ends all of it: the kill of one
	 * command is a request.
	 */
	int (*hold)(struct exec_run *r, const struct plan *p, struct sandbox *ret, struct ak_err *err);
};

extern const struct backend_ops backend_native, backend_docker, backend_local;

/** backend_of() - the table's row */
const struct backend_ops *backend_of(enum opt_backend b);

/** backend_name() - "native", "docker", "local" */
const char *backend_name(enum opt_backend b);

#endif
