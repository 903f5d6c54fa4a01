/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the kernel keeps by user namespace. Process: set-up child, either thread. Privilege: CAP_SYS_RESOURCE there. */
#include "executor/ns/nslimit.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "executor/ns/sysmount.h"
#include "executor/ns/vclone.h"
#include "executor/shared/ak_fd.h"

#define INOTIFY_INSTANCES "64"		/* half of the usual per-user pool of 128, so that one sandbox cannot take it all */

/* in no folder, and gone with its last descriptor; in a pid namespace of our own only */
static int own_procfs(void)
{
	AK_AUTO_FD fs = sys_fsopen("proc", FSOPEN_CLOEXEC);
	AK_AUTO_FD mount = -1;
	int fd;

	if (fs < 0 || sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		return -errno;
	mount = sys_fsmount(fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	fd = mount < 0 ? -1 : openat(mount, "sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int nslimit_open(void)
{
	AK_AUTO_FD fd = open("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statvfs v;

	if (fd < 0)
		return -errno;
	if (fstatvfs(fd, &v) == 0 && (v.f_flag & ST_RDONLY))
		return own_procfs();
	return ak_fd_take(&fd);
}

int nslimit_raw(void)
{
	static const char path[] = "/proc/sys/user";
	struct statfs fs;
	long fd = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0);
	long r = fd < 0 ? fd : vcall(SYS_fstatfs, fd, (long)(uintptr_t)&fs, 0, 0, 0);

	if (r == 0 && !(fs.f_flags & ST_RDONLY))
		return (int)fd;
	if (fd >= 0)
		(void)vcall(SYS_close, fd, 0, 0, 0, 0);
	return r < 0 ? (int)r : -EROFS;
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

int nslimit_first(int dir, const struct nslimit *l, const char **ret_name)
{
	/* the first is what matters: without nested user namespaces no command ever has the capability the others take */
	static const char *const names[] = {
		"max_user_namespaces", "max_pid_namespaces", "max_net_namespaces", "max_ipc_namespaces", "max_uts_namespaces",
	};
	int r = 0;

	(void)write_file(dir, "max_inotify_instances", INOTIFY_INSTANCES);	/* absent without inotify */
	if (!l->max)
		return 0;
	for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
		*ret_name = names[i];
		r = write_file(dir, names[i], l->max);
		if (r == -ENOENT && i > 0)
			r = 0;	/* a kind the kernel lacks has no file */
	}
	if (r == 0) {
		*ret_name = "max_cgroup_namespaces";
		r = write_file(dir, *ret_name, l->max_cgroup);
		r = r == -ENOENT ? 0 : r;
	}
	if (r == 0) {
		*ret_name = "max_time_namespaces";
		r = write_file(dir, *ret_name, "0");
		r = r == -ENOENT ? 0 : r;
	}
	return r;
}

int nslimit_last(int dir, const struct nslimit *l, const char **ret_name)
{
	*ret_name = "max_mnt_namespaces";
	return l->max ? write_file(dir, *ret_name, l->max) : 0;
}
