/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least a sandbox of this kind can cost: every kernel step (seven namespaces, ids, pivot_root, /proc, /dev, /tmp, the
 * workspace, loopback, no capabilities, a filter) and nothing else: no plan, no init, no checks, no limits, and the command is
 * pid 1. A yardstick of bench.sh, started without privileges. Usage: floor WORKSPACE FILTER COMMAND...
 */
#include <err.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILTER_MAX 4096

static void must(long r, const char *what)
{
	if (r < 0)
		err(1, "%s", what);
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd, path);
	must(write(fd, text, strlen(text)), path);
	close(fd);
}

static void ids(unsigned uid, unsigned gid)
{
	char map[64];

	put("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	put("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	put("/proc/self/gid_map", map);
}

static void bind_at(const char *src, const char *dst, unsigned long flags)
{
	must(mkdir(dst, 0755), dst);
	must(mount(src, dst, NULL, MS_BIND | MS_REC, NULL), src);
	must(mount(NULL, dst, NULL, MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV | flags, NULL), dst);
}

static void make_dev(void)
{
	static const char *const nodes[] = { "null", "zero", "full", "random", "urandom", "tty" };
	char src[32];

	must(mkdir("dev", 0755), "dev");
	must(mount("tmpfs", "dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k"), "dev");
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		snprintf(src, sizeof(src), "/dev/%s", nodes[i]);
		must(mknod(src + 1, S_IFREG | 0666, 0), src);
		must(mount(src, src + 1, NULL, MS_BIND, NULL), src);
	}
	must(mkdir("dev/pts", 0755), "pts");
	must(mount("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"), "devpts");
}

static void make_root(const char *work)
{
	static const char *const links[] = { "bin", "sbin", "lib", "lib64" };
	char to[32];

	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
	must(mount("tmpfs", "/mnt", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"), "root");
	must(chdir("/mnt"), "chdir");
	bind_at("/usr", "usr", MS_RDONLY);
	bind_at("/etc", "etc", MS_RDONLY);
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(to, sizeof(to), "usr/%s", links[i]);
		must(symlink(to, links[i]), to);
	}
	must(mkdir("proc", 0755), "proc");
	must(mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "proc");
	make_dev();
	must(mkdir("tmp", 0755), "tmp");
	must(mount("tmpfs", "tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"), "tmp");
	bind_at(work, "work", 0);
	must(syscall(SYS_pivot_root, ".", "."), "pivot_root");
	must(umount2(".", MNT_DETACH), "umount");
	must(chdir("/work"), "/work");
}

static void loopback(void)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	must(s, "socket");
	must(ioctl(s, SIOCSIFFLAGS, &r), "lo");
	close(s);
}

static void drop(const char *file)
{
	static struct sock_filter insns[FILTER_MAX];
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	must(fd, file);
	n = read(fd, insns, sizeof(insns));
	must(n, file);
	close(fd);
	for (int i = 0; prctl(PR_CAPBSET_DROP, i, 0, 0, 0) == 0; i++)
		;
	must(syscall(SYS_capset, &h, d), "capset");
	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
	if (n > 0)	/* an empty file: none */
		must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
			     &(struct sock_fprog){ .len = (unsigned short)((size_t)n / sizeof(insns[0])), .filter = insns }), "seccomp");
}

static int open_filter(const char *file)
{
	int fd = open(file, O_RDONLY);

	must(fd, file);
	return fd;
}

int main(int argc, char **argv)
{
	struct clone_args a = { .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
					 CLONE_NEWCGROUP, .exit_signal = SIGCHLD };
	unsigned uid = getuid(), gid = getgid();
	char filter[32];
	int st;
	long pid;

	if (argc < 4)
		errx(2, "usage: floor WORKSPACE FILTER COMMAND...");
	snprintf(filter, sizeof(filter), "/proc/self/fd/%d", open_filter(argv[2]));
	pid = syscall(SYS_clone3, &a, sizeof(a));
	must(pid, "clone3");
	if (pid == 0) {
		ids(uid, gid);
		make_root(argv[1]);
		loopback();
		drop(filter);
		execv(argv[3], argv + 3);
		err(127, "%s", argv[3]);
	}
	must(waitpid((pid_t)pid, &st, 0), "wait");
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}
