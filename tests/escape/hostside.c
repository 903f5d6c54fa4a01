/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of the tests: things a sandbox must not reach, and callers with odd state. Not an attack
 *itself. hostside listen SOCKPATH	listeners; prints tcp=PORT udp=PORT abs=NAME; at end of stdin prints
 *"datagrams=N" hostside fds CMD...		descriptors 3 to 200 open on a file, a folder, a socket and
 *memory hostside signals CMD...		every signal ignored and blocked hostside objects CMD...
 *a shared segment (key 0x616b7401), a queue (/ak-test) and a key (ak-test); removed at the end hostside deny
 *NAMES CMD...	a filter that refuses: clone (new user namespaces; clone3: EPERM), docker (the same; clone3: ENOSYS), mount hostside socketpair CMD...
 *stdin and stdout are sockets; what CMD writes is copied to the real stdout
 */
#include <arpa/inet.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "tests/escape/esc.h"

#define SHM_KEY 0x616b7401

static int die(const char *what)
{
	fprintf(stderr, "hostside: %s: %s\n", what, strerror(errno));
	return 99;
}

static int run(char **argv)
{
	execvp(argv[0], argv);
	return die(argv[0]);
}

static int inet_listener(int type, int *ret_port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&a, len) || (type == SOCK_STREAM && listen(fd, 8)) ||
	    getsockname(fd, (struct sockaddr *)&a, &len))
		return -1;
	*ret_port = ntohs(a.sin_port);
	return fd;
}

static int unix_listener(const char *name, bool abstract)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path + abstract, sizeof(a.sun_path) - abstract, "%s", name);
	if (bind(fd, (struct sockaddr *)&a,
		 offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name) + !abstract) ||
	    listen(fd, 8))
		return -1;
	if (!abstract)
		chmod(name, 0777);
	return fd;
}

static int do_listen(const char *path)
{
	int tcp_port, udp_port, n = 0;
	char name[64], c;

	snprintf(name, sizeof(name), "ak-test-%d", getpid());
	int tcp = inet_listener(SOCK_STREAM, &tcp_port), udp = inet_listener(SOCK_DGRAM, &udp_port);
	if (tcp < 0 || udp < 0 || unix_listener(name, true) < 0 || unix_listener(path, false) < 0)
		return die("listen");
	printf("tcp=%d udp=%d abs=%s\n", tcp_port, udp_port, name);
	while (read(0, &c, 1) > 0)
		;
	while (recv(udp, &c, 1, MSG_DONTWAIT) >= 0)
		n++;
	printf("datagrams=%d\n", n);
	unlink(path);
	return 0;
}

static int do_fds(char **argv)
{
	int src[4] = {open("/etc/shadow", O_RDWR), open("/", O_RDONLY | O_DIRECTORY),
		      socket(AF_UNIX, SOCK_STREAM, 0), memfd_create("host", 0)};

	if (src[0] < 0)
		src[0] = open("/etc/passwd", O_RDONLY);
	for (int i = 0; i < 4; i++) {
		src[i] = fcntl(src[i], F_DUPFD, 210);
		if (src[i] < 0)
			return die("fds");
	}
	for (int fd = 3; fd <= 200; fd++)
		if (dup2(src[fd % 4], fd) < 0)
			return die("dup2");
	for (int i = 0; i < 4; i++)
		close(src[i]);
	return run(argv);
}

static int do_signals(char **argv)
{
	sigset_t all;

	for (int s = 1; s < 65; s++)
		signal(s, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	return run(argv);
}

static int do_objects(char **argv)
{
	int st = 0;

	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (syscall(SYS_add_key, "user", "ak-test", "secret", 6, -3) < 0)
		return die("add_key");
	int shm = shmget(SHM_KEY, 4096, IPC_CREAT | 0666);
	mqd_t mq = mq_open("/ak-test", O_CREAT | O_RDWR, 0666, NULL);
	if (shm < 0)
		return die("shmget");
	pid_t pid = fork();
	if (!pid)
		_exit(run(argv));
	waitpid(pid, &st, 0);
	shmctl(shm, IPC_RMID, NULL);
	if (mq >= 0)
		mq_unlink("/ak-test");
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

/* new user namespaces or mounts are refused with EPERM, everything else passes; x86_64 and others with flags
 * first in clone */
static int do_deny(const char *names, char **argv)
{
#define ON(nr, jt) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), (jt), 0)
	bool docker = strstr(names, "docker"), clone = docker || strstr(names, "clone"), mount = strstr(names, "mount");
	unsigned none = 0xffffffff;
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ON(docker ? (unsigned)SYS_clone3 : none, 10),
		ON(clone ? (unsigned)SYS_clone3 : none, 8),
		ON(clone ? (unsigned)SYS_unshare : none, 7),
		ON(mount ? (unsigned)SYS_mount : none, 6),
		ON(mount ? (unsigned)SYS_move_mount : none, 5),
		ON(mount ? (unsigned)SYS_fsmount : none, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, clone ? (unsigned)SYS_clone : none, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWUSER, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(*f), f};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return die("filter");
	return run(argv);
}

static int do_socketpair(char **argv)
{
	int sv[2], st = 0;
	char buf[65536];
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return die("socketpair");
	pid_t pid = fork();
	if (!pid) {
		dup2(sv[1], 0);
		dup2(sv[1], 1);
		_exit(run(argv));
	}
	close(sv[1]);
	if (write(sv[0], "hello\n", 6) != 6)
		return die("write");
	shutdown(sv[0], SHUT_WR);
	while ((n = read(sv[0], buf, sizeof(buf))) > 0)
		if (write(1, buf, n) != n)
			return die("write");
	waitpid(pid, &st, 0);
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "listen"))
		return do_listen(argv[2]);
	if (!strcmp(what, "fds"))
		return do_fds(argv + 2);
	if (!strcmp(what, "signals"))
		return do_signals(argv + 2);
	if (!strcmp(what, "objects"))
		return do_objects(argv + 2);
	if (!strcmp(what, "socketpair"))
		return do_socketpair(argv + 2);
	if (!strcmp(what, "deny") && argc > 3)
		return do_deny(argv[2], argv + 3);
	fprintf(stderr, "usage: hostside listen|fds|signals|objects|deny|socketpair ...\n");
	return 99;
}
