/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the kernel keeps by user namespace. Process: set-up child, either thread. Privilege: CAP_SYS_RESOURCE there. */
#include "executor/ns/nslimit.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "executor/ns/vclone.h"

#define INOTIFY_INSTANCES "64"		/* half of the usual per-user pool of 128, so that one sandbox cannot take it all */

int nslimit_open(void)
{
	int fd = open("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int write_file(int dir, const char *name, const char *text)
{
	long fd = vcall(SYS_openat, dir, (long)(uintptr_t)name, O_WRONLY | O_CLOEXEC, 0, 0);
	long r;

	if (fd < 0)
		return (int)fd;
	r = vcall(SYS_write, fd, (long)(uintptr_t)text, (long)strlen(text), 0, 0);
	(void)vcall(SYS_close, fd, 0, 0, 0, 0);
	return r < 0 ? (int)r : 0;
}

int nslimit_first(int dir, bool zero, const char **ret_name)
{
	/* the first is what matters: without nested user namespaces no command ever has the capability the others take */
	static const char *const names[] = {
		"max_user_namespaces", "max_pid_namespaces",	"max_net_namespaces",  "max_ipc_namespaces",
		"max_uts_namespaces",  "max_cgroup_namespaces", "max_time_namespaces",
	};
	int r = 0;

	(void)write_file(dir, "max_inotify_instances", INOTIFY_INSTANCES);	/* absent without inotify */
	for (size_t i = 0; r == 0 && zero && i < sizeof(names) / sizeof(names[0]); i++) {
		*ret_name = names[i];
		r = write_file(dir, names[i], "0");
		if (r == -ENOENT && i > 0)
			r = 0;	/* a kind the kernel lacks has no file */
	}
	return r;
}

int nslimit_last(int dir, const char **ret_name)
{
	*ret_name = "max_mnt_namespaces";
	return write_file(dir, *ret_name, "0");
}
