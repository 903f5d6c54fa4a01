/* SPDX-License-Identifier: Apache-2.0 */
/* What docker gives here, and with which ids: looked at, and judged. Process: warden. Privilege: none. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/backend.h"
#include "executor/docker/docker_int.h"
#include "executor/opts.h"

#define ASK_MS 20000u

/* Return: 0 with the result, else negative errno with what docker says */
static int ask(const struct runner *runner, struct docker_words w, struct runner_result *ret, struct ak_err *err)
{
	struct runner_call c = {.argv = w.v, .timeout_ms = ASK_MS, .fds = {-1, -1}};
	int r = w.failed ? ak_err_set(err, ENOMEM, "not enough memory") : runner->run(runner->ctx, &c, ret, err);

	docker_words_release(&w);
	if (r < 0 || (ret->code == 0 && !ret->timed_out))
		return r;
	(void)docker_start_failed(ret->code, false, ret->timed_out ? "the docker daemon does not answer" : ret->err, "IMAGE", err);
	return err ? -err->code : -EIO;
}

/* without a daemon some versions of the CLI stumble over the format; what `docker version` says is the cause then */
static int explain(const struct runner *runner, int why, struct ak_err *err)
{
	struct runner_result res = {0};
	struct ak_err first = err ? *err : (struct ak_err){0};
	int r = ask(runner, DOCKER_WORDS("version"), &res, err);

	runner_result_release(&res);
	if (r == 0 && err)
		*err = first;
	return r < 0 ? r : why;
}

int docker_engine_look(const struct runner *runner, struct docker_engine *ret, struct ak_err *err)
{
	struct docker_engine e = {0};
	struct runner_result res = {0};
	int r = ask(runner, DOCKER_WORDS("--version"), &res, err);
	bool podman = r == 0 && res.out && strstr(res.out, "podman");

	runner_result_release(&res);
	if (r < 0)
		return r;
	if (podman) {
		/* it has no daemon: it is what its caller is */
		e.rootless = geteuid() != 0;
	} else {
		r = ask(runner, DOCKER_WORDS("info", "--format", "{{range .SecurityOptions}}{{.}} {{end}}"), &res, err);
		if (r < 0)
			r = explain(runner, r, err);
		e.rootless = r == 0 && res.out && strstr(res.out, "name=rootless");
		e.remapped = r == 0 && res.out && strstr(res.out, "name=userns");
		runner_result_release(&res);
	}
	if (r == 0)
		*ret = e;
	return r;
}

static int refuse(struct ak_err *err, const char *text, const char *hint)
{
	(void)ak_err_set(err, EPERM, "%s", text);
	ak_err_hint(err, "%s", hint);
	return -EPERM;
}

static int take(uint32_t uid, uint32_t gid, char ret[32])
{
	(void)snprintf(ret, 32, "%" PRIu32 ":%" PRIu32, uid, gid);
	return 0;
}

int docker_choose_user(const struct exec_opts *o, const struct docker_engine *e, uint32_t uid, uint32_t gid, uint32_t owner_uid,
		       uint32_t owner_gid, char ret[32], bool *ret_root, struct ak_err *err)
{
	uint32_t want_gid = o->gid_given ? o->gid : o->uid;

	*ret_root = false;
	if (e->remapped)
		return refuse(err, "docker's daemon maps ids to others (userns-remap): files would not be yours",
			      "use a daemon without userns-remap, or leave --backend docker out");
	if (o->identity == IDENTITY_ROOT && uid != 0)
		return refuse(err, "--identity root: ak was not started by root", "leave it out");
	if (e->rootless) {
		if (o->user_given && o->uid != 0)
			return refuse(err, "--user: with a rootless docker uid 0 inside is you, and other ids are nobody's",
				      "leave --user out, or give --user 0");
		return take(0, 0, ret);
	}
	if (o->user_given && o->uid == 0 && !(uid == 0 && o->identity == IDENTITY_ROOT))
		return refuse(err, "--user 0: with docker that is the host's root",
			      uid == 0 ? "--identity root accepts that" : "leave --user out: you stay who you are");
	if (o->user_given && uid != 0 && (o->uid != uid || (o->gid_given && o->gid != gid)))
		return refuse(err, "--user: with docker ids inside are the host's, and you are none of that name",
			      "leave --user out: you stay who you are");
	if (uid != 0)
		return take(uid, gid, ret);
	if (o->user_given) {
		*ret_root = o->uid == 0;
		return take(o->uid, want_gid, ret);
	}
	if (o->identity == IDENTITY_ROOT) {
		*ret_root = true;
		return take(0, 0, ret);
	}
	if (owner_uid != 0)
		return take(owner_uid, owner_gid, ret);
	return refuse(err, "--backend docker: the workspace is root's, and the command would have the host's uid 0",
		      "accept that with --identity root, give --user UID[:GID], or leave --backend docker out");
}

/* one limit: held, lifted, or not */
static int judge(const char *option, bool given, uint64_t want, bool known, uint64_t have, bool *ret_held,
		 struct backend_facts *ret, struct ak_err *err)
{
	*ret_held = false;
	if (want == 0)
		return 0;
	if (known && have <= want) {
		*ret_held = true;
		return 0;
	}
	if (given) {
		(void)ak_err_set(err, EOPNOTSUPP, "%s: docker does not hold this limit here", option);
		ak_err_hint(err, "a rootless docker needs cgroup v2 with delegated controllers; %s max goes without", option);
		return -EOPNOTSUPP;
	}
	backend_warn(ret, "%s: docker does not hold the default limit here", option);
	return 0;
}

int docker_check_facts(const struct exec_opts *o, const struct docker_conf *c, const struct docker_facts *f,
		       struct backend_facts *ret, struct ak_err *err)
{
	int r;

	if (!f) {
		ret->memory_held = c->memory_bytes != 0;
		ret->pids_held = c->pids != 0;
		ret->cpus_held = c->cpu_milli != 0;
		backend_warn(ret, "the image has no shell, so it was not read back whether docker holds the limits");
		return 0;
	}
	r = judge("--memory", o->memory_bytes.given, c->memory_bytes, f->has_memory, f->memory_bytes,
		  &ret->memory_held, ret, err);
	if (r == 0)
		r = judge("--pids", o->pids.given, c->pids, f->has_pids, f->pids, &ret->pids_held, ret, err);
	if (r == 0)
		r = judge("--cpus", o->cpu_milli.given, c->cpu_milli, f->has_cpu, f->cpu_milli, &ret->cpus_held, ret, err);
	if (r < 0)
		return r;
	ret->seccomp = f->has_seccomp && f->seccomp == 2;
	if (!ret->seccomp)
		backend_warn(ret, "docker has put no system call filter on the container");
	if (f->has_nnp && f->nnp != 1)
		return ak_err_set(err, EOPNOTSUPP, "docker did not set no_new_privs in the container");
	if (f->has_caps && f->caps != 0)
		return ak_err_set(err, EOPNOTSUPP, "docker did not take all capabilities from the container");
	return 0;
}

int docker_ids(struct docker_run *d, const struct runner *runner, struct backend_facts *f, struct ak_err *err)
{
	struct docker_engine engine;
	struct stat st;
	int r = d->user[0] ? 0 : docker_engine_look(runner, &engine, err);

	d->conf.user = d->user;
	if (d->user[0])
		return 0;
	if (r < 0)
		return ak_err_wrap(err, "docker sandbox unavailable");
	if (stat(d->folder.workspace, &st) < 0)
		return ak_err_sys(err, errno, "workspace \"%s\"", d->folder.workspace);
	f->user_namespace = engine.rootless;
	return docker_choose_user(d->opts, &engine, d->host.uid, d->host.gid, st.st_uid, st.st_gid, d->user, &f->root, err);
}
