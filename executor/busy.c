/* SPDX-License-Identifier: Apache-2.0 */
/* Locks on workspaces. Process: executor; the commands around checkpoints. Privilege: the caller's. */
#include "executor/busy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/lock_holder.h"
#include "executor/runtime.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"

#define WAIT_STEP_MS 5

static int lock_or_wait(int dir, int op, unsigned wait_ms)
{
	for (unsigned waited = 0; flock(dir, op | LOCK_NB) < 0; waited += WAIT_STEP_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0;	/* no locks here (some network file systems): nothing can be told */
		if (waited >= wait_ms)
			return -EBUSY;
		(void)usleep(WAIT_STEP_MS * 1000);
	}
	return 0;
}

static int refuse(int dir, const char *workspace, const char *what, struct ak_err *err)
{
	pid_t pid = lock_holder(dir);

	if (pid)
		(void)ak_err_set(err, EBUSY, "workspace \"%.300s\": %s (process %d)", workspace, what, (int)pid);
	else
		(void)ak_err_set(err, EBUSY, "workspace \"%.300s\": %s", workspace, what);
	return -EBUSY;
}

int busy_share(int dir, const char *workspace, struct ak_err *err)
{
	int r = lock_or_wait(dir, LOCK_SH, BUSY_WAIT_MS);

	if (r < 0) {
		(void)refuse(dir, workspace, "it is being restored, or a process holds a lock on it", err);
		ak_err_hint(err, "wait for the end of that process, or end it");
	}
	return r;
}

static int check_sandboxes(const struct runtime *rt, const char *workspace, struct ak_err *err)
{
	struct runtime_names *names = calloc(1, sizeof(*names));
	int r = names ? runtime_list(rt, names, NULL) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < names->n; i++) {
		struct runtime_facts f = {0};

		if (runtime_read_facts(rt, names->name[i], &f, NULL) < 0)
			continue;
		if (f.workspace && (ak_path_below(f.workspace, workspace) || ak_path_below(workspace, f.workspace))) {
			r = ak_err_set(err, EBUSY, "workspace \"%.300s\": sandbox %s (process %u) may be at work in it", workspace,
				       names->name[i], f.pid);
			ak_err_hint(err, "end it (ak rm %s), or go on all the same with --live", names->name[i]);
		}
		runtime_facts_release(&f);
	}
	free(names);
	return r == -EBUSY ? r : 0;	/* what cannot be listed is not there */
}

int busy_alone(const struct hostinfo *h, int dir, const char *workspace, bool stay, struct ak_err *err)
{
	struct runtime rt = {.dir = -1};
	int r = 0;

	if (runtime_open(h, false, &rt, NULL) == 0)
		r = check_sandboxes(&rt, workspace, err);
	runtime_close(&rt);
	if (r == 0) {
		r = lock_or_wait(dir, LOCK_EX, 0);
		if (r < 0) {
			(void)refuse(dir, workspace, "a command is at work in it", err);
			ak_err_hint(err, "wait for its end, or end it; or go on all the same with --live");
		}
	}
	if (r == 0 && !stay)
		(void)flock(dir, LOCK_SH);	/* never waits: we have it */
	return r;
}
