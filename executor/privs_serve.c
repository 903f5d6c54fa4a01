/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Last privilege stage of an executor that serves. Process: executor. Privilege: what the caller has at the start, none on the host
 * at the end.
 *
 * A detached clone can be attached once. So that any number of sandboxes can be made after host root is gone, the clones are
 * attached below a tmpfs in a mount namespace of the executor's own, where each set-up child finds them by path as it does
 * without root; nothing else on the host sees them, and the kernel drops them with the executor.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/caps.h"
#include "executor/ns/sysmount.h"
#include "executor/plan.h"
#include "executor/privs.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_weaken.h"

static int keep_dir(struct ak_err *err)
{
	if (unshare(CLONE_NEWNS) < 0)
		return ak_err_sys(err, errno, "make a mount namespace");
	/* what is mounted and unmounted on the host still comes through, so that no mount is kept busy; nothing goes back */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return ak_err_sys(err, errno, "detach the mount namespace from the host's");
	if (mount("ak", PRIVS_RUN_DIR, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0711,size=1m") < 0)
		return ak_err_sys(err, errno, "mount a tmpfs on %s", PRIVS_RUN_DIR);
	return 0;
}

/* one clone gets a place; *@src is its path from now on */
static int keep(unsigned n, int *fd, char **src, struct ak_err *err)
{
	char path[64];
	char *copy;
	struct stat st;
	int r;

	(void)snprintf(path, sizeof(path), PRIVS_RUN_DIR "/%u", n);
	if (fstat(*fd, &st) < 0)
		return ak_err_sys(err, errno, "stat %s", *src);
	r = S_ISDIR(st.st_mode) ? mkdir(path, 0700) : mknod(path, S_IFREG | 0600, 0);
	if (r < 0)
		return ak_err_sys(err, errno, "make %s", path);
	if (sys_move_mount(*fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return ak_err_sys(err, errno, "keep a mount of %s", *src);
	copy = strdup(path);
	if (!copy)
		return ak_err_set(err, ENOMEM, "not enough memory for the plan");
	free(*src);
	*src = copy;
	ak_fd_close(fd);
	return 0;
}

int privs_keep_mounts(struct plan *plan, struct ak_err *err)
{
	unsigned n = 0;
	int r = keep_dir(err);

	if (r == 0 && plan->rootfs_fd >= 0)
		r = keep(n++, &plan->rootfs_fd, &plan->rootfs, err);
	for (size_t i = 0; r == 0 && i < plan->nmounts; i++)
		if (plan->mounts[i].src_fd >= 0)
			r = keep(n++, &plan->mounts[i].src_fd, &plan->mounts[i].src, err);
	if (r == 0 && plan->cow_layer_fd >= 0)
		r = keep(n++, &plan->cow_layer_fd, &plan->cow_layer, err);
	return r;
}

int privs_serving(struct privs *p, struct plan *plan, struct ak_err *err)
{
	int r;

	if (!AK_WEAK(ak_weaken_mask(), AK_WEAK_NNP) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "PR_SET_NO_NEW_PRIVS");
	if (plan->identity != PLAN_ID_RANGE)
		return 0;
	r = p->lock < 0 ? privs_reserve(p, err) : 0;	/* `ak create` had to know the ids before */
	if (r == 0)
		r = privs_prepare_mounts(p, plan, err);
	if (r == 0)
		r = privs_keep_mounts(plan, err);
	return r == 0 ? privs_enter(p, NULL, err) : r;
}
