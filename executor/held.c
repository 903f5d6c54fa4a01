/* SPDX-License-Identifier: Apache-2.0 */
/* Plans sandboxes that another backend holds, and starts their wardens. Process: executor. Privilege: the caller's. */
#include "executor/held.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "executor/exec_run.h"
#include "executor/prepare.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/warden.h"

struct held {
	const struct backend_ops *ops;
	struct exec_run r;	/* its options are a view of the owner's */
	struct held_place at;
};

/* what the policy is made of: where it is, not how it is built. Strings may be missing: then there was no memory */
static int plan(struct held *h, struct plan *p, struct ak_err *err)
{
	int r;

	*p = (struct plan){ .rootfs_fd = -1, .cow_layer_fd = -1, .write = h->r.opts.write, .net = h->r.opts.net, .seccomp = "default",
			    .hostname = "", .held = h->r.facts, .serve = true };
	r = h->ops->stay(&h->r, p, &h->at, err);
	if (r < 0)
		return r;
	p->identity = h->r.facts->root ? PLAN_ID_ROOT : PLAN_ID_SAME;
	p->uid = h->at.uid;
	p->gid = h->at.gid;
	p->user = strdup("");
	p->home = strdup("");
	while (p->envp && p->envp[p->envc])
		p->envc++;
	return p->user && p->home && p->workspace && p->cwd ? 0 : ak_err_set(err, ENOMEM, "not enough memory");
}

int held_open(const struct exec_opts *o, char *const env[], struct prepared *p, struct held **ret, struct ak_err *err)
{
	struct held *h = calloc(1, sizeof(*h));
	int e;

	if (!h)
		return ak_err_set(err, ENOMEM, "not enough memory");
	h->ops = backend_of(o->backend);
	h->r.opts = *o;
	e = hostinfo_get(env, &p->host, err);
	if (e == 0)
		e = h->ops->probe(&h->r, env, err);
	if (e == 0 && o->lowered)
		backend_warn(h->r.facts, "%.240s", o->lowered);
	if (e == 0) {
		p->have_plan = true;
		e = plan(h, &p->plan, err);
	}
	if (e < 0) {
		held_free(h);
		return e;
	}
	*ret = h;
	return 0;
}

void held_free(struct held *h)
{
	if (!h)
		return;
	h->ops->destroy(&h->r);
	free(h);
}

int held_start(struct held *h, const struct plan *p, struct sandbox *ret, struct ak_err *err)
{
	return h->ops->hold(&h->r, p, ret, err);
}

const char *held_workspace(const struct held *h)
{
	return h->at.workspace;
}

void held_user(const struct held *h, uint32_t *ret_uid, uint32_t *ret_gid)
{
	*ret_uid = h->at.uid;
	*ret_gid = h->at.gid;
}

/* ---- wardens ---- */

int held_signals(const struct held_job *job, struct ak_err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	/* as SIGTERM is blocked, the executor's end is a message like any other; it may have come before */
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return ak_err_sys(err, errno, "prepare to look after the sandbox");
	if (getppid() != job->executor)
		return ak_err_set(err, ECHILD, "the executor is gone");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? ak_err_sys(err, errno, "signalfd") : fd;
}

bool held_stopped(int fd)
{
	struct signalfd_siginfo si;
	bool stop = false;

	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		stop = stop || si.ssi_signo == SIGTERM;
	return stop;
}

int held_warden(struct exec_run *r, const struct plan *p, int (*main)(struct warden *w, void *job), struct sandbox *ret,
		struct ak_err *err)
{
	struct held_job job = { .r = r, .plan = p, .executor = getpid() };
	AK_AUTO_FD null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct streams st = { 0 };

	if (null < 0)
		return ak_err_sys(err, errno, "open /dev/null");
	for (int i = 0; i < 3; i++)
		st.s[i].child = null;
	return warden_start(main, &job, r->facts, &st, ret, err);
}
