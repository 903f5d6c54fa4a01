/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of a run without namespaces (--isolation landlock). Runs as its command; outside=DIR is a folder of the caller's that is not
 * shown, with a file f; ro=DIR one that is shown read-only, with a file f; hostpid=N a live process of the same user; abi=N
 * Landlock's; net=host with --net host; sock=PATH and abs=NAME are UNIX sockets of the host.
 */
#include <linux/openat2.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "tests/escape/esc.h"

static void check_outside(struct esc *e, const char *dir)
{
	char f[4096], n[4096], here[] = "plain-here", self[64];
	int fd;

	snprintf(f, sizeof(f), "%s/f", dir);
	snprintf(n, sizeof(n), "%s/new", dir);
	esc_err(e, "USR:outside_read", open(f, O_RDONLY | O_CLOEXEC), EACCES);
	esc_err(e, "USR:outside_write", open(f, O_WRONLY | O_CLOEXEC), EACCES);
	esc_err(e, "USR:outside_create", open(n, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), EACCES);
	esc_err(e, "USR:outside_creat_trunc", open(f, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), EACCES);
	esc_err(e, "USR:outside_truncate", truncate(f, 0), EPERM);
	esc_err(e, "USR:outside_open_for_ioctl", open(f, 3 | O_CLOEXEC), EPERM);
	esc_err(e, "USR:outside_open_for_ioctl_and_truncate", open(f, 3 | O_TRUNC | O_CLOEXEC), EPERM);
	esc_err(e, "USR:outside_unlink", unlink(f), EACCES);
	esc_err(e, "USR:outside_mkdir", mkdir(n, 0700), EACCES);
	esc_err(e, "USR:outside_symlink", symlink("x", n), EACCES);
	esc_err(e, "USR:outside_fifo", mkfifo(n, 0600), EACCES);
	esc_err(e, "USR:outside_list", open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), EACCES);
	esc_err2(e, "USR:outside_link_in", link(f, here), EACCES, EXDEV);
	esc_err2(e, "USR:outside_rename_in", rename(f, here), EACCES, EXDEV);
	fd = open("mine", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	esc_need(e, "USR:workspace_create", fd >= 0);
	esc_err2(e, "USR:outside_rename_out", rename("mine", n), EACCES, EXDEV);
	esc_err2(e, "USR:outside_link_out", link("mine", n), EACCES, EXDEV);
	fd = open(f, O_PATH | O_CLOEXEC);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	esc_err(e, "USR:outside_by_o_path", open(self, O_RDONLY | O_CLOEXEC), EACCES);
	if (symlink(dir, "way") == 0)
		esc_err(e, "USR:outside_by_link", open("way/f", O_RDONLY | O_CLOEXEC), EACCES);
	struct open_how how = {.flags = O_RDWR};
	esc_err(e, "USR:openat2", syscall(SYS_openat2, AT_FDCWD, f, &how, sizeof(how)), ENOSYS);
}

static void check_readonly(struct esc *e, const char *dir)
{
	char f[4096];

	snprintf(f, sizeof(f), "%s/f", dir);
	esc_need(e, "USR:shown_read", open(f, O_RDONLY | O_CLOEXEC) >= 0);
	esc_err(e, "USR:shown_truncate_by_reader", open(f, O_RDONLY | O_TRUNC | O_CLOEXEC), EPERM);
	esc_err(e, "USR:shown_truncate", truncate(f, 0), EPERM);
	esc_err(e, "USR:shown_write", open(f, O_WRONLY | O_CLOEXEC), EACCES);
	esc_err(e, "USR:shown_unlink", unlink(f), EACCES);
}

static void check_other(struct esc *e, const char *who, pid_t pid, int abi)
{
	static const char *const files[] = {"environ", "mem", "maps", "fd/0", "root", "cwd", "root/etc/shadow"};
	char path[64], name[64];

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		snprintf(name, sizeof(name), "USR:%s_%s", who, files[i]);
		esc_err2(e, name, open(path, O_RDONLY | O_CLOEXEC), EACCES, EPERM);
	}
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	snprintf(name, sizeof(name), "USR:%s_oom_score", who);
	esc_err(e, name, open(path, O_WRONLY | O_CLOEXEC), EACCES);
	snprintf(name, sizeof(name), "USR:%s_ptrace", who);
	esc_err(e, name, ptrace(PTRACE_SEIZE, pid, 0, 0), EPERM);
	snprintf(name, sizeof(name), "USR:%s_signal", who);
	if (abi >= 6)
		esc_err(e, name, kill(pid, SIGCONT), EPERM);
	else
		esc_need(e, "USR:gap_signal", kill(pid, 0) == 0);
	snprintf(name, sizeof(name), "USR:%s_prlimit", who);
	esc_err(e, name, syscall(SYS_prlimit64, pid, 7, (uint64_t[2]){0, 0}, NULL), EPERM);
}

/* An address of the host's, by a pair that was made without one */
static void check_pairs(struct esc *e, const char *sock)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int p[2];

	esc_err(e, "USR:pair_dgram", socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, p), EPERM);
	esc_err(e, "USR:pair_raw", socketpair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC, 0, p), EPERM);
	esc_need(e, "USR:pair_stream", socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p) == 0);
	if (!sock)
		return;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", sock);
	esc_err2(e, "USR:pair_stream_connect", connect(p[0], (struct sockaddr *)&a, sizeof(a)), EISCONN, EINVAL);
	esc_need(e, "USR:pair_seqpacket", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p) == 0);
	esc_err2(e, "USR:pair_seqpacket_connect", connect(p[0], (struct sockaddr *)&a, sizeof(a)), EISCONN, EPROTOTYPE);
}

static void check_unix(struct esc *e, const char *sock, const char *abs)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX}, b = a;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	esc_err(e, "USR:unix_socket", fd, EAFNOSUPPORT);
	if (fd < 0)
		return;
	/* the test build: what the socket would reach */
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", sock ? sock : "");
	esc_err(e, "USR:unix_connect_path", connect(fd, (struct sockaddr *)&a, sizeof(a)), EACCES);
	snprintf(b.sun_path + 1, sizeof(b.sun_path) - 1, "%s", abs ? abs : "");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	esc_err(e, "USR:unix_connect_abstract",
		connect(fd, (struct sockaddr *)&b, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abs ? abs : "")), EPERM);
}

static void check_sockets(struct esc *e, bool host, int abi)
{
	if (host) {
		esc_need(e, "USR:tcp_socket", socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0);
		return;
	}
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	esc_err(e, "USR:tcp_socket", fd, EAFNOSUPPORT);
	if (fd >= 0 && abi >= 4) {	/* the test build: the lock behind the filter */
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

		esc_err(e, "USR:tcp_connect", connect(fd, (struct sockaddr *)&a, sizeof(a)), EACCES);
		esc_err(e, "USR:tcp_bind", bind(fd, (struct sockaddr *)&a, sizeof(a)), EACCES);
	}
	esc_err(e, "USR:udp_socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), EAFNOSUPPORT);
	esc_err(e, "USR:udp6_socket", socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), EAFNOSUPPORT);
	esc_err(e, "USR:netlink_socket", socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0), EAFNOSUPPORT);
	esc_err(e, "USR:udp_socket_high_bits", syscall(SYS_socket, 0xdead00000002, SOCK_DGRAM, 0), EAFNOSUPPORT);
}

/* What everybody on the machine shares */
static void check_shared(struct esc *e)
{
	esc_err(e, "USR:shm", shmget(IPC_PRIVATE, 4096, 0600), ENOSYS);
	esc_err(e, "USR:mq", mq_open("/ak-plain", O_RDWR | O_CREAT, 0600, NULL), ENOSYS);
	esc_err(e, "USR:dev_shm", open("/dev/shm/ak-plain", O_RDWR | O_CREAT | O_CLOEXEC, 0600), EACCES);
	esc_err(e, "USR:tmp", open("/tmp/ak-plain", O_RDWR | O_CREAT | O_CLOEXEC, 0600), EACCES);
	esc_err(e, "USR:terminals", open("/dev/pts", O_RDONLY | O_DIRECTORY | O_CLOEXEC), EACCES);
	esc_err2(e, "USR:ptmx", open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), EACCES, ENOENT);
	esc_err(e, "USR:shadow", open("/etc/shadow", O_RDONLY | O_CLOEXEC), EACCES);
	esc_err(e, "USR:sys", open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC), EACCES);
	esc_err(e, "USR:core_pattern", open("/proc/sys/kernel/core_pattern", O_WRONLY | O_CLOEXEC), EACCES);
	esc_err(e, "USR:kill_all", kill(-1, 0), EPERM);
	esc_err(e, "USR:unshare", syscall(SYS_unshare, 0x10000000), EPERM);
}

static void check_works(struct esc *e)
{
	static const char *const names[] = {"HOME", "TMPDIR"};
	char path[4096], name[32];

	for (size_t i = 0; i < 2; i++) {
		const char *dir = getenv(names[i]);

		snprintf(path, sizeof(path), "%s/f", dir ? dir : "");
		snprintf(name, sizeof(name), "USR:write_%s", names[i]);
		esc_need(e, name, open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) >= 0);
	}
	esc_need(e, "USR:read_self", open("/proc/self/maps", O_RDONLY | O_CLOEXEC) >= 0);
	esc_need(e, "USR:null", open("/dev/null", O_RDWR | O_CLOEXEC) >= 0);
	esc_is(e, "USR:own_session", getsid(0) == getpid() && getpgrp() == getpid(), "sid %d pid %d", getsid(0), getpid());
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	const char *outside = esc_arg(&e, "outside"), *ro = esc_arg(&e, "ro"), *pid = esc_arg(&e, "hostpid");
	const char *abi = esc_arg(&e, "abi"), *sock = esc_arg(&e, "sock");

	if (outside)
		check_outside(&e, outside);
	if (ro)
		check_readonly(&e, ro);
	if (pid)
		check_other(&e, "host", esc_num(pid), abi ? esc_num(abi) : 0);
	check_other(&e, "init", getppid(), abi ? esc_num(abi) : 0);
	check_pairs(&e, sock);
	check_unix(&e, sock, esc_arg(&e, "abs"));
	check_sockets(&e, esc_arg(&e, "net") != NULL, abi ? esc_num(abi) : 0);
	check_shared(&e);
	check_works(&e);
	return esc_end(&e);
}
