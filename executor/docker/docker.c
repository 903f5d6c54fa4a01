/* SPDX-License-Identifier: Apache-2.0 */
/* The docker backend, up to the warden that carries it out. Process: executor. Privilege: the caller's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/docker/docker_find.h"
#include "executor/docker/docker_int.h"
#include "executor/exec_run.h"
#include "executor/shared/ak_path.h"
#include "executor/warden.h"

/* /workspace/NAME for a path of the host in the workspace. Return: malloc'ed or NULL. */
static char *inside(const struct docker_run *d, const char *host)
{
	char *path = NULL;
	size_t n = strlen(d->folder.workspace);

	if (asprintf(&path, "%s%s", DOCKER_WORKDIR, strlen(host) > n ? host + n : "") < 0)
		path = NULL;
	return path;
}

int docker_add_mount(struct docker_run *d, char *src, char *dst, bool ro, struct ak_err *err)
{
	struct docker_mount *grown = src && dst ? reallocarray(d->mounts, d->nmounts + 1, sizeof(*grown)) : NULL;

	if (!grown) {
		free(src);
		free(dst);
		return ak_err_set(err, ENOMEM, "not enough memory");
	}
	d->mounts = grown;
	d->mounts[d->nmounts++] = (struct docker_mount){.src = src, .dst = dst, .ro = ro};
	return 0;
}

/* protected names of the workspace, mounted over themselves: read-only, or so that they cannot be renamed */
static int protect(struct docker_run *d, struct ak_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->folder.nmounts; i++) {
		const struct plan_mount *m = &d->folder.mounts[i];

		if (m->flags & PMF_PROTECT)
			r = docker_add_mount(d, strdup(m->src), inside(d, m->src), (m->flags & PMF_RO) != 0, err);
	}
	return r;
}

static int bind_target(const struct bind_opt *b, const char *src, char **ret, struct ak_err *err)
{
	*ret = ak_path_normalize(NULL, b->dst ? b->dst : src);
	if (*ret)
		return 0;
	return ak_err_set(err, EINVAL, "%s: \"%.100s\" is no absolute path inside", b->opt, b->dst ? b->dst : src);
}

/* --ro, --rw and -v of the user */
static int bind(struct docker_run *d, struct ak_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < d->opts->nbinds; i++) {
		const struct bind_opt *b = &d->opts->binds[i];
		char *src = b->src ? realpath(b->src, NULL) : NULL, *dst = NULL;

		if (!src && b->src && b->optional && errno == ENOENT)
			continue;
		if (!src) {
			r = ak_err_sys(err, errno, "%s \"%.200s\"", b->opt, b->src ? b->src : b->dst);
			break;
		}
		r = bind_target(b, src, &dst, err);
		if (r == 0)
			r = docker_add_mount(d, src, dst, b->kind == BIND_RO, err);
		else
			free(src);
	}
	return r;
}

static int find_workdir(struct docker_run *d, struct ak_err *err)
{
	const char *given = d->opts->workdir;

	d->workdir = ak_path_normalize(DOCKER_WORKDIR, given ? given : DOCKER_WORKDIR);
	if (!d->workdir)
		return ak_err_sys(err, errno, "--workdir \"%s\"", given ? given : "");
	return 0;
}

static void configure(struct docker_run *d)
{
	const struct exec_opts *o = d->opts;

	docker_conf_init(&d->conf, d->folder.workspace);
	d->conf.image = o->image;
	d->conf.network = o->net_name ? o->net_name : o->net == NET_HOST ? "host" : "none";
	d->conf.memory_bytes = o->memory_bytes.max ? 0 : o->memory_bytes.value;
	d->conf.cpu_milli = o->cpu_milli.max ? 0 : o->cpu_milli.value;
	d->conf.pids = o->pids.max ? 0 : o->pids.value;
	d->conf.read_only = o->write == WRITE_NONE;
	d->conf.mounts = d->mounts;
	d->conf.nmounts = d->nmounts;
	d->conf.uid = d->host.uid;
}

static int prepare(struct exec_run *r, char *const env[], struct ak_err *err)
{
	struct docker_run *d = r->docker;
	int e = hostinfo_get(env, &d->host, err);

	if (e == 0)
		e = plan_folder(d->opts, &d->host, &d->folder, err);
	if (e == 0 && strstr(d->folder.workspace, "\r\n"))
		e = ak_err_set(err, EINVAL, "workspace \"%.200s\": docker takes no path with a DOS line end", d->folder.workspace);
	if (e == 0)
		e = protect(d, err);
	if (e == 0)
		e = bind(d, err);
	if (e == 0)
		e = find_workdir(d, err);
	if (e == 0)
		e = docker_env_text(&d->host, d->opts->env, d->opts->nenv, &d->env_text, &d->env_len, err);
	if (e == 0)
		e = docker_environment(&d->host, d->folder.workspace, &d->envp, err);
	if (e == 0) {
		e = docker_find(d->host.path, d->folder.workspace, &d->path, err);
		if (e < 0)
			(void)ak_err_wrap(err, "docker sandbox unavailable");
	}
	return e;
}

static int probe(struct exec_run *r, char *const env[], struct ak_err *err)
{
	struct docker_run *d = calloc(1, sizeof(*d));
	int e;

	r->docker = d;
	r->facts = warden_facts(BACKEND_DOCKER);
	if (!d || !r->facts)
		return ak_err_set(err, ENOMEM, "not enough memory");
	d->opts = &r->opts;
	d->folder.rootfs_fd = -1;
	e = prepare(r, env, err);
	for (size_t i = 0; i < d->folder.nwarnings; i++)
		backend_warn(r->facts, "%s", d->folder.warnings[i]);
	if (e < 0)
		return e;
	configure(d);
	d->program = (struct runner_program){.path = d->path, .envp = d->envp};
	(void)strncpy(r->facts->network, d->conf.network, sizeof(r->facts->network) - 1);
	(void)strncpy(r->facts->image, d->conf.image, sizeof(r->facts->image) - 1);
	r->facts->read_only = d->conf.read_only;
	return 0;
}

static int create(struct exec_run *r, struct ak_err *err)
{
	int e = warden_start(docker_warden, r->docker, r->facts, &r->streams, &r->sb, err);

	if (e == 0)
		r->rs = (struct relay_sandbox){.pidfd = r->sb.pidfd, .pid = r->sb.pid, .ctl = r->sb.ctl, .warden = true,
					       .timed_out = &r->facts->timed_out};
	return e;
}

/* the warden keeps the time, which does not count before the container runs */
static int run(struct exec_run *r, struct ak_err *err)
{
	struct exec_opts o = r->opts;
	int e;

	o.timeout_ms = 0;
	e = relay_run(&r->rs, &o, &r->streams, r->signal_fd, &r->result, err);
	if (e == 0 && r->facts->timed_out && !r->result.interrupted &&
	    (r->result.status == RUN_EXITED || r->result.status == RUN_SIGNALED)) {
		r->result.status = RUN_TIMED_OUT;
		r->result.exit_code = 124;
		r->result.timeout_hit = true;
	}
	return e;
}

static void destroy(struct exec_run *r)
{
	struct docker_run *d = r->docker;

	if (d) {
		for (size_t i = 0; i < d->nmounts; i++) {
			free(d->mounts[i].src);
			free(d->mounts[i].dst);
		}
		free(d->mounts);
		free(d->workdir);
		free(d->env_text);
		free(d->path);
		docker_environment_free(d->envp);
		plan_release(&d->folder);
		hostinfo_release(&d->host);
		free(d);
	}
	r->docker = NULL;
	warden_facts_free(r->facts);
	r->facts = NULL;
}

/* whose files the commands' are is asked of docker now: clients have to know it before there is a container */
static int stay(struct exec_run *r, struct plan *p, struct held_place *ret, struct ak_err *err)
{
	struct docker_run *d = r->docker;
	const struct runner runner = {.run = runner_program_run, .ctx = &d->program};
	struct init_path *tmp = calloc(1, sizeof(*tmp));
	unsigned long uid, gid;
	char *end;
	int e;

	p->workspace = strdup(DOCKER_WORKDIR);
	p->cwd = strdup(d->workdir);
	p->paths = tmp;
	if (!tmp)
		return ak_err_set(err, ENOMEM, "not enough memory");
	*tmp = (struct init_path){.path = strdup("/tmp"), .access = INIT_PATH_RW};
	p->npaths = tmp->path ? 1 : 0;
	e = docker_ids(d, &runner, r->facts, err);
	if (e < 0)
		return e;
	uid = strtoul(d->user, &end, 10);
	gid = *end == ':' ? strtoul(end + 1, NULL, 10) : uid;
	*ret = (struct held_place){.workspace = d->folder.workspace, .uid = (uint32_t)uid, .gid = (uint32_t)gid};
	if (r->facts->user_namespace) {	/* uid 0 inside is the caller */
		ret->uid = d->host.uid;
		ret->gid = d->host.gid;
	}
	return 0;
}

const struct backend_ops backend_docker = {
	.name = "docker", .probe = probe, .create = create, .exec = run, .destroy = destroy, .stay = stay, .hold = docker_hold,
};
