/* SPDX-License-Identifier: Apache-2.0 */
/* Around a run without namespaces: private folder and end of the tree. Process: executor. Privilege: none. */
#include "executor/plain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/plan.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_no_space.h"
#include "executor/shared/ak_tree.h"
#include "executor/workspace/fsat.h"

#define KILL_ROUNDS 500		/* of two milliseconds */
#define KILL_AT_ONCE 3		/* rounds without freezing first */
#define LEFTOVERS_MAX 16	/* removed in one run */

/* --- the folder --- */

/* ours, and closed to everybody else */
static int check_own(int fd, const char *path, struct ak_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at %s", path);
	if (st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return 0;
	(void)ak_err_set(err, EPERM, "%s is not the caller's own folder with mode 0700", path);
	ak_err_hint(err, "remove it, or set XDG_STATE_HOME to a folder of your own");
	return -EPERM;
}

/* @path up to its last slash: the folder of all private folders */
static int open_base(struct plain *x, const char *path, struct ak_err *err)
{
	char base[4096];
	const char *slash = strrchr(path, '/');
	int n = snprintf(base, sizeof(base), "%.*s", (int)(slash - path), path);
	int made;

	if (n <= 0 || n >= (int)sizeof(base))
		return ak_err_set(err, ENAMETOOLONG, "the state folder's name is too long");
	made = hostinfo_make_path(base);
	x->base = open(base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (x->base < 0) {
		int e = errno == ENOENT && made < 0 ? -made : errno;

		(void)ak_err_sys(err, e, "open %s, in which commands without namespaces have a private folder", base);
		ak_no_space(err, AK_STATE_NO_SPACE);
		if (e != ENOSPC && e != EDQUOT)
			ak_err_hint(err, "set XDG_STATE_HOME to a folder that can be written to");
		return -e;
	}
	return check_own(x->base, base, err);
}

/* A folder whose lock nobody holds was left by a run that was killed. Taken while nobody can be between making and locking one */
struct leftover {
	int fd;		/* locked by us now */
	char name[64];
};

static bool take_leftover(int base, const char *name, struct leftover *ret)
{
	AK_AUTO_FD fd = -1;

	if (name[0] == '.' || strlen(name) >= sizeof(ret->name))
		return false;
	fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	ret->fd = ak_fd_take(&fd);
	memcpy(ret->name, name, strlen(name) + 1);
	return true;
}

static void remove_leftovers(int base)
{
	struct leftover found[LEFTOVERS_MAX];
	int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int n = 0;

	if (!d) {
		ak_fd_close(&fd);
		return;
	}
	if (flock(base, LOCK_EX | LOCK_NB) == 0) {	/* else the next run looks */
		while (n < LEFTOVERS_MAX && (e = readdir(d)))
			n += take_leftover(base, e->d_name, &found[n]);
		(void)flock(base, LOCK_UN);
	}
	(void)closedir(d);
	for (int i = 0; i < n; i++) {
		(void)ws_remove(base, found[i].name, NULL);
		ak_fd_close(&found[i].fd);
	}
}

static int make_scratch(struct plain *x, const char *path, struct ak_err *err)
{
	const char *name = strrchr(path, '/') + 1;
	int r = 0;

	if (flock(x->base, LOCK_SH) < 0 || mkdirat(x->base, name, 0700) < 0)
		r = ak_err_sys(err, errno, "make the private folder %s", path);
	if (r == 0)
		x->scratch = openat(x->base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r == 0 && (x->scratch < 0 || flock(x->scratch, LOCK_EX | LOCK_NB) < 0 || flock(x->base, LOCK_UN) < 0 ||
		       mkdirat(x->scratch, "home", 0700) < 0 || mkdirat(x->scratch, "tmp", 0700) < 0))
		r = ak_err_sys(err, errno, "make the private folder %s", path);
	ak_no_space(r < 0 ? err : NULL, AK_STATE_NO_SPACE);
	return r;
}

/* --- the tree --- */

static bool has_children(void)
{
	siginfo_t si;

	return waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

int plain_begin(struct plain *x, struct plan *p, struct ak_err *err)
{
	int r;

	x->reaper = !has_children() && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0;
	if (!x->reaper)
		plan_warn(p, "the caller of ak left it children of its own: what the command started survives if its init is killed");
	r = open_base(x, p->scratch, err);
	if (r < 0)
		return r;
	x->plan = p;
	remove_leftovers(x->base);
	return make_scratch(x, p->scratch, err);
}

/* those that have ended, but the one that is somebody else's to wait for */
static void reap_orphans(const struct plain *x)
{
	siginfo_t si = { 0 };

	while (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) == 0 && si.si_pid > 0 && si.si_pid != x->except) {
		(void)waitid(P_PID, (id_t)si.si_pid, &si, WEXITED | WNOHANG);
		si = (siginfo_t){ 0 };
	}
}

int plain_kill(const struct plain *x)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	struct ak_tree t = { .root = getpid(), .except = &x->except, .nexcept = x->except > 0 ? 1 : 0 };
	AK_AUTO_FD proc = -1;

	if (!x->reaper)
		return -ESRCH;
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return -errno;
	t.proc = proc;
	for (int i = 0; i < KILL_ROUNDS; i++) {
		int alive;

		t.at_once = i < KILL_AT_ONCE;
		alive = ak_tree_kill(&t);
		reap_orphans(x);
		if (alive == 0)
			return 0;
		(void)nanosleep(&nap, NULL);
	}
	return -EBUSY;
}

int plain_end(struct plain *x)
{
	int r = 0;

	if (x->plan && x->base >= 0)
		r = ws_remove(x->base, strrchr(x->plan->scratch, '/') + 1, NULL);
	x->plan = NULL;
	ak_fd_close(&x->scratch);
	ak_fd_close(&x->base);
	return r;
}
