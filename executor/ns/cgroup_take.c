/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a place ready: controllers are passed down, ak moves aside where it is alone, and back. Process: executor.
 * Privilege: the caller's.
 *
 * Moving is the one case in which a process of ours is written to cgroup.procs: a group that holds processes cannot pass
 * controllers down, and ak itself is in it. It costs 12-20 ms, twice.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_find.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static int move_to(int dir)
{
	return cgroup_write(dir, "cgroup.procs", "0");	/* 0: whoever writes */
}

/* the lock tells a later run that the group is not a leftover; it cannot be removed while we are in it anyway */
static int move_aside(struct cgroup_place *p, struct ak_err *err)
{
	int r;

	snprintf(p->aside_name, sizeof(p->aside_name), "ak-%d-" CGROUP_NAME_ASIDE, (int)getpid());
	if (mkdirat(p->dir, p->aside_name, 0755) < 0 && errno != EEXIST)
		return ak_err_sys(err, errno, "make a group to move ak to");
	p->aside = openat(p->dir, p->aside_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = p->aside < 0 ? -errno : 0;
	if (r == 0)
		(void)flock(p->aside, LOCK_EX | LOCK_NB);
	if (r == 0)
		r = move_to(p->aside);
	if (r < 0) {
		ak_fd_close(&p->aside);
		(void)unlinkat(p->dir, p->aside_name, AT_REMOVEDIR);
		return ak_err_sys(err, -r, "move ak to a group of its own below %.200s", p->path);
	}
	return 0;
}

int cgroup_place_leave(struct cgroup_place *p)
{
	char text[64];
	int r = 0;

	if (p->aside >= 0) {
		if (p->taken) {
			cgroup_ctl_enable_text(p->taken, '-', text, sizeof(text));
			r = cgroup_write(p->dir, "cgroup.subtree_control", text);
		}
		if (r == 0)
			r = move_to(p->dir);
		ak_fd_close(&p->aside);
		if (r == 0 && unlinkat(p->dir, p->aside_name, AT_REMOVEDIR) < 0)
			r = -errno;
	}
	ak_fd_close(&p->dir);
	p->have = 0;
	return r;
}

void cgroup_place_forget(struct cgroup_place *p)
{
	ak_fd_close(&p->aside);
	ak_fd_close(&p->dir);
	p->have = 0;
}

static int ready(struct cgroup_search *s, struct cgroup_trial *t, struct cgroup_place *ret, struct ak_err *err)
{
	struct cgroup_place p = CGROUP_PLACE_NONE;
	uint32_t wanted = s->want & t->can;
	int r = 0;

	p.kind = t->kind;
	p.dir = ak_fd_take(&t->dir);
	snprintf(p.path, sizeof(p.path), "%s", t->path);
	cgroup_sweep(p.dir);
	if (t->aside && (wanted & ~t->on))
		r = move_aside(&p, err);
	if (r == 0) {
		p.have = (wanted & ~t->on) ? cgroup_pass_down(p.dir, wanted, err) : t->on;
		p.taken = p.have & ~t->on;
		p.have &= s->want;
		if (wanted && !(p.have & wanted))
			r = err->code ? -err->code : -EBUSY;
	}
	if (r < 0) {
		(void)cgroup_place_leave(&p);
		return r;
	}
	*ret = p;
	return 1;
}

int cgroup_take(struct cgroup_search *s, struct cgroup_place *ret, struct ak_err *err)
{
	while (s->best >= 0) {
		struct cgroup_trial *t = &s->trial[s->best];
		struct ak_err e = { 0 };
		int r = ready(s, t, ret, &e);

		if (r > 0)
			return r;
		t->usable = false;
		t->code = -r;
		snprintf(t->why, sizeof(t->why), "%.300s", e.msg[0] ? e.msg : strerror(-r));
		snprintf(s->why, sizeof(s->why), "%s %.100s: %.190s", cgroup_kind_name(t->kind), t->path, t->why);
		if (t->kind == CGROUP_GIVEN)
			return ak_err_set(err, -r, CGROUP_ENV ": %.200s cannot be used: %s", t->path, t->why);
		cgroup_choose(s);
	}
	return 0;
}
