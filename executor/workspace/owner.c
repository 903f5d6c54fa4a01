/* SPDX-License-Identifier: Apache-2.0 */
/* The child that is the owner of a workspace. Process and privilege: see owner.h. */
#include "executor/workspace/owner.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/ns/userns.h"
#include "executor/shared/ak_err.h"

int owner_become(uint32_t uid, uint32_t gid, struct ak_err *err)
{
	if (geteuid() == 0 && (uid != 0 || gid != 0)) {
		if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
			return ak_err_sys(err, errno, "become the owner of the workspace (%u:%u)", uid, gid);
		/* changing ids made us non-dumpable, and our files in /proc root's: the maps could not be written */
		(void)prctl(PR_SET_DUMPABLE, 1);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "PR_SET_NO_NEW_PRIVS");
	if (unshare(CLONE_NEWUSER) < 0)
		return 0;
	return userns_write_maps(0, (struct id_map){ uid, uid, 1 }, (struct id_map){ gid, gid, 1 }, true, err);
}

pid_t owner_fork(uint32_t uid, uint32_t gid, int (*fn)(void *arg), void *arg, struct ak_err *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return ak_err_sys(err, errno, "fork");
	if (pid == 0) {
		struct ak_err own = { 0 };

		if (owner_become(uid, gid, &own) < 0) {
			(void)dprintf(STDERR_FILENO, "ak: %s\n", own.msg);
			_exit(1);
		}
		_exit(fn(arg));
	}
	return pid;
}

int owner_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
