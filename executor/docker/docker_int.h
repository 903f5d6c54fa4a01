/* SPDX-License-Identifier: Apache-2.0 */
/* What the executor's and the warden's side of the docker backend share: docker*.c only. */
#ifndef AK_DOCKER_INT_H
#define AK_DOCKER_INT_H

#include "executor/docker/docker_box.h"
#include "executor/docker/docker_files.h"
#include "executor/docker/docker_marks.h"
#include "executor/hostinfo.h"
#include "executor/plan.h"

struct backend_facts;
struct exec_opts;
struct exec_run;
struct sandbox;
struct warden;

/* One `ak exec --backend docker`, prepared by the executor and carried out by its warden */
struct docker_run {
	const struct exec_opts *opts;	/* borrowed */
	struct hostinfo host;
	struct plan folder;		/* the workspace and its protected names */
	struct docker_conf conf;
	struct docker_mount *mounts;	/* owned; of conf */
	size_t nmounts;
	char *workdir;			/* inside; owned */
	char *env_text;			/* owned; NULL: no variables */
	size_t env_len;
	struct runner_program program;
	char *path;			/* of docker; owned */
	char **envp;			/* of docker; owned */
	char user[32];			/* "UID:GID" */
};

/** docker_warden() - carry it out; see warden_start() */
int docker_warden(struct warden *w, void *run);

/** docker_add_mount() - one more mount; both paths are taken. Return: 0 or -ENOMEM. */
int docker_add_mount(struct docker_run *d, char *src, char *dst, bool ro, struct ak_err *err);

/** docker_hold() - a container that stays: see hold() of struct backend_ops */
int docker_hold(struct exec_run *r, const struct plan *p, struct sandbox *ret, struct ak_err *err);

/**
 * docker_ids() - ask docker what it is, and decide with which ids commands run: d->user, and facts about it in @f; nothing if it is known
 * Return: as docker_engine_look() and docker_choose_user().
 */
int docker_ids(struct docker_run *d, const struct runner *runner, struct backend_facts *f, struct ak_err *err);

/* What docker's daemon is, as far as it matters */
struct docker_engine {
	bool rootless;	/* it runs as the caller: uid 0 inside is the caller */
	bool remapped;	/* userns-remap: ids inside are nobody's outside */
};

/**
 * docker_engine_look() - ask the CLI what it talks to
 * Return: 0; -ECONNREFUSED, -EACCES, -EIO with what docker says.
 */
int docker_engine_look(const struct runner *runner, struct docker_engine *ret, struct ak_err *err);

/**
 * docker_choose_user() - with which ids the command runs, so that the files it makes are the caller's
 * @uid, @gid:	of the caller; @owner_uid, @owner_gid: of the workspace
 * @ret:	"UID:GID" for --user; *@ret_root: the command has host uid 0
 * Return: 0; -EPERM: the ids that were asked for, or host uid 0 unasked.
 */
int docker_choose_user(const struct exec_opts *o, const struct docker_engine *e, uint32_t uid, uint32_t gid, uint32_t owner_uid,
		       uint32_t owner_gid, char ret[32], bool *ret_root, struct ak_err *err);

/**
 * docker_check_facts() - are the limits held that were set?
 * @c:		as it was started; 0 where a limit was lifted
 * @f:		as read back inside; NULL: it could not be
 * A limit that the user gave and that is not held is an error, a default that is not held a warning in @ret.
 * Return: 0 or -EOPNOTSUPP.
 */
struct backend_facts;
int docker_check_facts(const struct exec_opts *o, const struct docker_conf *c, const struct docker_facts *f,
		       struct backend_facts *ret, struct ak_err *err);

#endif
