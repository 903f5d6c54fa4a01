/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With --nesting: root of a user, mount and pid namespace inside the sandbox. What the sandbox covers or shows read-only must stay
 * so, and nothing of the host may come nearer. hide=PATH is a hidden file, ro=DIR a folder that is shown read-only (a mount of
 * its own), shown=DIR a writable mount.
 */
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "tests/escape/esc.h"

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool become_root(struct esc *e, int flags)
{
	char map[64];
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | flags) < 0) {
		esc_need(e, "USR:unshare", false);
		return false;
	}
	snprintf(map, sizeof(map), "0 %u 1", uid);
	bool ok = put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", map);

	snprintf(map, sizeof(map), "0 %u 1", gid);
	ok = ok && put("/proc/self/gid_map", map);
	esc_need(e, "USR:unshare", ok);
	return ok;
}

static void check_umount(struct esc *e, const char *name, const char *path)
{
	esc_err(e, name, umount2(path, MNT_DETACH), EINVAL);
}

static void check_locked(struct esc *e)
{
	const char *hide = esc_arg(e, "hide"), *ro = esc_arg(e, "ro"), *shown = esc_arg(e, "shown");
	struct mount_attr rw = {.attr_clr = MOUNT_ATTR_RDONLY};
	char copy[4096];

	check_umount(e, "USR:umount_proc_sys", "/proc/sys");
	check_umount(e, "USR:umount_kallsyms", "/proc/kallsyms");
	check_umount(e, "USR:umount_usr", "/usr");
	check_umount(e, "USR:umount_spare_cover", "/.ak-nesting");
	esc_err(e, "USR:remount_usr", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL), EPERM);
	esc_err(e, "USR:setattr_usr", syscall(SYS_mount_setattr, AT_FDCWD, "/usr", 0, &rw, sizeof(rw)), EPERM);
	esc_err(e, "USR:remount_root", mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL), EPERM);
	esc_err(e, "USR:bind_root_alone", mount("/", "/mnt", NULL, MS_BIND, NULL), EINVAL);
	esc_err(e, "USR:open_tree_alone", syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE), EINVAL);
	if (hide) {
		check_umount(e, "USR:umount_hidden", hide);
		esc_is(e, "USR:hidden_is_empty", open(hide, O_WRONLY | O_CLOEXEC) < 0, "%s", esc_errname(errno));
	}
	if (ro) {
		check_umount(e, "USR:umount_readonly", ro);
		esc_err(e, "USR:remount_readonly", mount(NULL, ro, NULL, MS_REMOUNT | MS_BIND, NULL), EPERM);
		snprintf(copy, sizeof(copy), "%s/new", ro);
		esc_err(e, "USR:write_readonly", open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), EROFS);
	}
	if (shown)
		esc_err(e, "USR:move_shown", mount(shown, "/mnt", NULL, MS_MOVE, NULL), EINVAL);
	/* a copy of everything takes the covers along */
	esc_need(e, "USR:bind_root_recursive", mount("/", "/mnt", NULL, MS_BIND | MS_REC, NULL) == 0);
	check_umount(e, "USR:umount_copied_proc_sys", "/mnt/proc/sys");
	check_umount(e, "USR:umount_copied_spare_cover", "/mnt/.ak-nesting");
	esc_err(e, "USR:remount_copied_usr", mount(NULL, "/mnt/usr", NULL, MS_REMOUNT | MS_BIND, NULL), EPERM);
	if (hide) {
		snprintf(copy, sizeof(copy), "/mnt%s", hide);
		check_umount(e, "USR:umount_copied_hidden", copy);
	}
	struct stat st;
	esc_is(e, "USR:spare_stays_out_of_reach", stat("/.ak-nesting/proc", &st) < 0 && stat("/mnt/.ak-nesting/proc", &st) < 0, "%s",
	       esc_errname(errno));
}

/* A procfs of our own has no covers, but its files have modes */
static void check_proc(struct esc *e)
{
	static const char *const files[] = {"/tmp/p/sys/kernel/core_pattern", "/tmp/p/sysrq-trigger", "/tmp/p/sys/vm/drop_caches",
					    "/tmp/p/1/root/../sys/kernel/modprobe", "/tmp/p/sys/kernel/hostname"};
	char name[64];

	mkdir("/tmp/p", 0700);
	esc_need(e, "USR:mount_proc", mount("proc", "/tmp/p", "proc", 0, NULL) == 0);
	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "USR:proc_write_%zu", i);
		esc_err2(e, name, open(files[i], O_WRONLY | O_CLOEXEC), EACCES, ENOENT);
	}
	esc_err2(e, "USR:proc_kcore", open("/tmp/p/kcore", O_RDONLY | O_CLOEXEC), EACCES, ENOENT);
	esc_err2(e, "USR:proc_kmsg", open("/tmp/p/kmsg", O_RDONLY | O_CLOEXEC), EACCES, EPERM);
}

static void check_init(struct esc *e)
{
	static const char *const names[] = {"user", "mnt", "pid", "net"};
	char path[64], name[64];

	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "/proc/1/ns/%s", names[i]);
		snprintf(name, sizeof(name), "USR:init_ns_%s", names[i]);
		esc_err2(e, name, open(path, O_RDONLY | O_CLOEXEC), EACCES, EPERM);
	}
	esc_err2(e, "USR:init_root", open("/proc/1/root", O_RDONLY | O_CLOEXEC), EACCES, EPERM);
	esc_err2(e, "USR:init_environ", open("/proc/1/environ", O_RDONLY | O_CLOEXEC), EACCES, EPERM);
}

/* The floor for nesting */
static void check_floor(struct esc *e)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 04755};

	esc_err(e, "USR:keyctl", syscall(SYS_keyctl, 0, -3, 0), EPERM);
	esc_need(e, "USR:join_keyring", syscall(SYS_keyctl, 1, NULL) >= 0);
	esc_err(e, "USR:add_key", syscall(SYS_add_key, "user", "x", "x", 1, -3), EPERM);
	esc_err(e, "USR:bpf", syscall(SYS_bpf, 0, NULL, 0), EPERM);
	esc_err(e, "USR:perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0), EPERM);
	esc_err(e, "USR:io_uring", syscall(SYS_io_uring_setup, 1, NULL), ENOSYS);
	esc_err(e, "USR:open_by_handle_at", syscall(SYS_open_by_handle_at, -1, NULL, 0), EPERM);
	esc_err(e, "USR:sti", syscall(SYS_ioctl, -1, 0xdead00005412, ""), EPERM);
	esc_err(e, "USR:chmod_setuid", chmod(".", 04755), EPERM);
	esc_err(e, "USR:openat2", syscall(SYS_openat2, AT_FDCWD, "s", &how, sizeof(how)), ENOSYS);
	esc_err(e, "USR:mknod_device", mknod("/tmp/dev", S_IFBLK | 0600, 0x800), EPERM);
	esc_err(e, "USR:time_namespace", unshare(0x80), ENOSPC);
	esc_need(e, "USR:new_net", unshare(CLONE_NEWNET) == 0);
	esc_err(e, "USR:packet_socket", socket(AF_PACKET, SOCK_RAW, 0), EAFNOSUPPORT);
	esc_err(e, "USR:raw_socket", socket(AF_INET, SOCK_RAW, 1), EPERM);
	esc_err(e, "USR:netfilter_socket", socket(AF_NETLINK, SOCK_RAW, 12), EAFNOSUPPORT);
}

/* namespaces in namespaces come to an end long before the kernel's own maximum of 32 */
static void check_bound(struct esc *e)
{
	int n = 0;

	while (n < 200) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			if (unshare(CLONE_NEWUSER) < 0)
				_exit(errno == ENOSPC ? 77 : 1);
			pause();
		}
		usleep(1000);
		int st;
		n++;
		if (waitpid(pid, &st, WNOHANG) == pid) {
			esc_is(e, "USR:bounded", WIFEXITED(st) && WEXITSTATUS(st) == 77, "after %d: %d", n, st);
			return;
		}
	}
	esc_is(e, "USR:bounded", n < 200, "%d", n);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	bool root = esc_arg(&e, "root") != NULL;	/* the control has capabilities without a namespace */
	int st = 1;

	if (!root && !become_root(&e, CLONE_NEWNS | CLONE_NEWPID))
		return esc_end(&e);
	if (!root && esc_arg(&e, "bound")) {
		check_bound(&e);
		return esc_end(&e);
	}
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0) {
		check_locked(&e);
		if (!root) {
			check_proc(&e);
			check_init(&e);
			check_floor(&e);
		}
		fflush(stdout);
		_exit(esc_end(&e));
	}
	waitpid(pid, &st, 0);
	return WIFEXITED(st) ? WEXITSTATUS(st) | esc_end(&e) : 99;
}
