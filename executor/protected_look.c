/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a direct workspace before and after its command. Process: executor, or a client. Privilege: see the header. */
#include "executor/protected_look.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "executor/busy.h"
#include "executor/companion.h"
#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/privs.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/protected_keys.h"

#define OPEN_TOP (O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)

/*
 * git's lock of its index: who was ended in the middle of `git add` leaves it, and git works no more in that repository until
 * somebody removes it. Source: git 2.39, lockfile.h. Return: 1, 0, -1: not to be told.
 */
static int has_lock(int dir)
{
	AK_AUTO_FD fd = sys_openat2(dir, PROTECTED_LOOK_LOCK, O_PATH | O_NOFOLLOW | O_CLOEXEC,
				    AK_RESOLVE_BENEATH | AK_RESOLVE_NO_SYMLINKS);

	return fd >= 0 ? 1 : errno == ENOENT || errno == ENOTDIR ? 0 : -1;
}

static void begin(struct protected_look *l, int dir, const char *workspace)
{
	struct git_hooks hooks = { 0 };

	if (dir < 0)
		return;
	git_hooks_find(&hooks, workspace);
	protected_mark_set(&l->mark, dir, &hooks);
	l->lock_before = has_lock(dir) != 0;
}

/* In root mode through the clone that the sandbox gets: there its user owns what the workspace's owner does */
static int open_clone(const struct plan *plan)
{
	for (size_t i = 0; i < plan->nmounts; i++) {
		const struct plan_mount *m = &plan->mounts[i];

		if ((m->flags & PMF_WORKSPACE) && m->src_fd >= 0)
			return openat(m->src_fd, ".", OPEN_TOP);
	}
	return -1;
}

int protected_look_begin(struct protected_look *l, const struct plan *plan, const struct privs *p, struct ak_err *err)
{
	if (plan->write != WRITE_DIRECT)
		return 0;
	l->lend = p != NULL;
	if (p) {
		l->uid = p->uid_base + plan->uid;
		l->gid = p->gid_base + plan->gid;
		begin(l, open_clone(plan), plan->workspace);
		l->program = companion_open("ak-policy", NULL);
		if (l->program < 0)
			l->program = -1;
	} else {
		protected_look_begin_path(l, plan->workspace);
	}
	return l->mark.dir < 0 ? 0 : busy_share(l->mark.dir, plan->workspace, err);
}

void protected_look_begin_path(struct protected_look *l, const char *workspace)
{
	begin(l, sys_openat2(AT_FDCWD, workspace, OPEN_TOP, AK_RESOLVE_NO_SYMLINKS), workspace);
}

const struct protected_report *protected_look_end(struct protected_look *l)
{
	int uid = 0, gid = 0;

	if (l->mark.dir < 0)
		return NULL;
	/* the sandbox is gone: nobody is left who could use what its user may do. Refused ids leave ours, and less is seen */
	l->mark.cross = l->lend;	/* the sandbox's mounts may outlive it by a moment */
	if (l->lend) {
		gid = setfsgid(l->gid);
		uid = setfsuid(l->uid);
	}
	protected_scan(&l->mark, &l->report);
	l->lock_left = !l->lock_before && has_lock(l->mark.dir) == 1;
	if (l->lend) {
		(void)setfsuid((uid_t)uid);
		(void)setfsgid((gid_t)gid);
	}
	protected_keys(&l->mark, l->program, &l->report);
	return &l->report;
}

void protected_look_release(struct protected_look *l)
{
	protected_mark_release(&l->mark);
	protected_report_release(&l->report);
	ak_fd_close(&l->program);
}
