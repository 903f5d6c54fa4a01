/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the systemd user manager for a scope. Process: executor, rootless, before any other child. Privilege: none. */
#include "executor/ns/cgroup_scope.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/ns/cgroup_place.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"

#define ANSWER_MS 5000		/* for busctl, and again for the move */
#define SAID_MAX 300
#define NS_PER_MS 1000000u

static const char *const clients[] = { "/usr/bin/busctl", "/bin/busctl" };

static const char *client(void)
{
	for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
		if (access(clients[i], X_OK) == 0)
			return clients[i];
	return NULL;
}

static bool own_socket(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) && stat(path, &st) == 0 &&
	       S_ISSOCK(st.st_mode) && st.st_uid == geteuid();
}

bool cgroup_scope_possible(const char *runtime_dir, char *why, size_t size)
{
	why[0] = '\0';
	if (!runtime_dir || runtime_dir[0] != '/')
		snprintf(why, size, "no session: XDG_RUNTIME_DIR is not set");
	else if (!own_socket(runtime_dir, "bus") && !own_socket(runtime_dir, "systemd/private"))
		snprintf(why, size, "no systemd user manager at %.160s", runtime_dir);
	else if (!client())
		snprintf(why, size, "busctl of systemd is not installed");
	return !why[0];
}

static _Noreturn void exec_client(const char *path, const char *runtime_dir, const char *unit, const char *pid, int said)
{
	char dir[PATH_MAX + 20];
	char *env[] = { dir, NULL };
	const char *argv[] = {
		path, "--user", "--timeout=5", "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
		"org.freedesktop.systemd1.Manager", "StartTransientUnit", "ssa(sv)a(sa(sv))", unit, "fail", "4",
		"Description", "s", "sandbox of ak", "CollectMode", "s", "inactive-or-failed", "Delegate", "b", "true",
		"PIDs", "au", "1", pid, "0", NULL,
	};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	snprintf(dir, sizeof(dir), "XDG_RUNTIME_DIR=%s", runtime_dir);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(said, 2) < 0 ||
	    syscall(SYS_close_range, 3, ~0U, 0) < 0)
		_exit(126);
	(void)execve(path, (char *const *)(uintptr_t)argv, env);
	_exit(127);
}

/* what the client says on stderr, to its end or to the end of its time. Return: 0 or -ETIMEDOUT */
static int listen_to(int fd, char *said, size_t size)
{
	uint64_t end = ak_now_ns() + (uint64_t)ANSWER_MS * NS_PER_MS;
	size_t len = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		uint64_t now = ak_now_ns();
		char drop[256];
		bool full = len + 1 >= size;
		ssize_t n;

		if (now >= end || poll(&p, 1, (int)((end - now) / NS_PER_MS) + 1) == 0)
			return -ETIMEDOUT;
		n = read(fd, full ? drop : said + len, full ? sizeof(drop) : size - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += full ? 0 : (size_t)n;
	}
	said[len] = '\0';
	said[strcspn(said, "\n")] = '\0';
	ak_text_clean(said);
	return 0;
}

/* it has not been waited for, so the number is still its own */
static void end_client(pid_t child)
{
	AK_AUTO_FD pidfd = (int)syscall(SYS_pidfd_open, child, 0);

	if (pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

static int ask(const char *runtime_dir, const char *unit, struct ak_err *err)
{
	const char *path = client();
	char said[SAID_MAX] = "", pid[12];
	int p[2], status = 0, r;
	pid_t child;

	if (!path)
		return ak_err_set(err, ENOENT, "busctl of systemd is not installed");
	if (pipe2(p, O_CLOEXEC) < 0)
		return ak_err_sys(err, errno, "pipe");
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	child = fork();
	if (child == 0)
		exec_client(path, runtime_dir, unit, pid, p[1]);
	(void)close(p[1]);
	r = child < 0 ? -errno : listen_to(p[0], said, sizeof(said));
	(void)close(p[0]);
	if (child < 0)
		return ak_err_sys(err, -r, "fork");
	if (r < 0)
		end_client(child);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return ak_err_set(err, ETIMEDOUT, "the systemd user manager does not answer");
	if (status != 0)
		return ak_err_set(err, EACCES, "the systemd user manager gives no scope: %s", said[0] ? said : "busctl failed");
	return 0;
}

static bool in_unit(const char *unit)
{
	char *text = NULL, path[CGROUP_PATH_MAX];
	const char *last;
	size_t len;
	bool in = false;

	if (ak_read_file("/proc/self/cgroup", 1u << 20, &text, &len) == 0 && cgroup_own_path(text, len, path) == 0) {
		last = strrchr(path, '/');
		in = last && strcmp(last + 1, unit) == 0;
	}
	free(text);
	return in;
}

int cgroup_scope_enter(const char *runtime_dir, char *ret_name, size_t size, struct ak_err *err)
{
	char why[200], unit[64];
	uint64_t start = ak_now_ns();
	int r;

	if (!cgroup_scope_possible(runtime_dir, why, sizeof(why)))
		return ak_err_set(err, ENOENT, "%s", why);
	snprintf(unit, sizeof(unit), "ak-%d-%llx.scope", (int)getpid(), (unsigned long long)start);
	r = ask(runtime_dir, unit, err);
	/* the answer only says that the job was taken; the move is seen in /proc */
	for (int i = 0; r == 0 && !in_unit(unit); i++) {
		struct timespec nap = { .tv_nsec = 1000000 };

		if (i == ANSWER_MS)
			return ak_err_set(err, ETIMEDOUT, "the systemd user manager did not move ak to %s", unit);
		(void)nanosleep(&nap, NULL);
	}
	if (r == 0)
		snprintf(ret_name, size, "%s", unit);
	return r;
}
