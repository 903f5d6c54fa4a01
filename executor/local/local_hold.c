/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local sandbox that stays: an ak-init without any confinement below a warden, which ends the tree. Process: warden. Privilege:
 * the caller's.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/held.h"
#include "executor/local/local_int.h"
#include "executor/ns/init_image.h"
#include "executor/sandbox.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_init_proto.h"
#include "executor/warden.h"

static int image_open(struct ak_err *err)
{
	size_t len;
	const void *bytes = init_image_held(&len);

	return sealed_memfd("ak-init", bytes, len, true, err);
}

static _Noreturn void become_init(const struct warden *w, int image, int config)
{
	char name[] = "ak-init", ctl_text[12], config_text[12];
	char *argv[] = { name, ctl_text, config_text, NULL };
	char *envp[] = { NULL };
	sigset_t none;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)snprintf(ctl_text, sizeof(ctl_text), "%d", w->ctl);
	(void)snprintf(config_text, sizeof(config_text), "%d", config);
	if (fcntl(w->ctl, F_SETFD, 0) == 0 && fcntl(config, F_SETFD, 0) == 0)
		(void)syscall(SYS_execveat, image, "", argv, envp, AT_EMPTY_PATH);
	_exit(125);
}

/* Return: pid of init, or negative errno */
static pid_t start_init(struct warden *w, const struct plan *p, struct ak_err *err)
{
	AK_AUTO_FD config = sandbox_config_open(p, 0, err);
	AK_AUTO_FD image = config < 0 ? -1 : image_open(err);
	pid_t pid;

	if (config < 0 || image < 0)
		return config < 0 ? config : image;
	pid = fork();
	if (pid == 0)
		become_init(w, image, config);
	return pid < 0 ? ak_err_sys(err, errno, "fork") : pid;
}

/* until init has ended, or all of it is to end; orphans of the sandbox come to us */
static void watch(int fd, pid_t init)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		pid_t pid;

		if ((poll(&p, 1, -1) < 0 && errno != EINTR) || held_stopped(fd))
			return;
		while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			if (pid == init)
				return;
	}
}

static int hold_main(struct warden *w, void *arg)
{
	const struct held_job *job = arg;
	struct ak_err err = { 0 };
	pid_t init = -1;
	int fd = held_signals(job, &err);

	if (fd >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		(void)ak_err_sys(&err, errno, "become a subreaper");
	else if (fd >= 0)
		init = start_init(w, job->plan, &err);
	if (init < 0) {
		warden_failed(w, INIT_STAGE_SETUP, 125, &err);
		return 125;
	}
	ak_fd_close(&w->ctl);	/* init's alone: its end is to be seen */
	watch(fd, init);
	return local_end_children() ? 0 : 125;
}

int local_hold(struct exec_run *r, const struct plan *p, struct sandbox *ret, struct ak_err *err)
{
	return held_warden(r, p, hold_main, ret, err);
}
