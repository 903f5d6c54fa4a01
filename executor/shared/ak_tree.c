/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends process trees by what /proc says: keepers, init, the executor; no privilege. A process that is frozen can neither fork nor be
 * missed, so a tree that grows is frozen first, until a look finds nothing new. Everything is bounded; the callers repeat.
 *
 * A number read from /proc may be another process's when it is used. So it is taken as a pidfd, and the parent is read again
 * behind that: whoever has the number now is signalled only if its parent is one that we mean, and then it is ours, too.
 */
#include "executor/shared/ak_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROCS_MAX 32768		/* looked at in one round; the usual maximum of a machine */
#define FREEZES_MAX 32		/* looks of one round */

struct proc {
	pid_t pid;
	pid_t parent;
	char state;	/* proc(5): R, S, D, T, Z, ... */
	bool ours;
	bool threads;	/* more than one */
};

struct procs {
	size_t n;
	struct proc at[PROCS_MAX];
};

/* ---- /proc ---- */

static pid_t number(const char *s)
{
	pid_t n = 0;

	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || n > INT32_MAX / 10 - 1)
			return -1;
		n = n * 10 + (*s - '0');
	}
	return n;
}

static void name_of(pid_t pid, char ret[32])
{
	static const char tail[] = "/stat";
	char digits[16];
	size_t n = 0, at = 0;

	for (; pid > 0 && n < sizeof(digits); pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	while (n > 0)
		ret[at++] = digits[--n];
	memcpy(ret + at, tail, sizeof(tail));
}

/* The number behind the blanks at *@p; its sign is skipped. Not strtol(3), which brings a part of stdio along */
static uint64_t next_number(const char **p)
{
	uint64_t n = 0;

	while (**p == ' ' || **p == '-')
		++*p;
	for (; **p >= '0' && **p <= '9'; ++*p)
		n = n * 10 + (uint64_t)(**p - '0');
	return n;
}

/* State and parent; the command's name in parentheses may hold anything. Source: proc(5), /proc/PID/stat */
static bool read_stat(int proc, pid_t pid, struct proc *ret)
{
	char name[32], buf[512];
	const char *p;
	ssize_t n;
	int fd;

	name_of(pid, name);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	buf[n] = 0;
	p = strrchr(buf, ')');
	if (!p || p[1] != ' ' || !p[2] || p[3] != ' ')
		return false;
	*ret = (struct proc){ .pid = pid, .state = p[2] };
	p += 3;
	/* the parent is field 4, the number of threads field 20; those between may be negative */
	ret->parent = (pid_t)next_number(&p);
	for (int field = 5; field <= 20; field++)
		ret->threads = next_number(&p) > 1;
	return true;
}

struct kernel_dirent {	/* getdents64(2) */
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* Calls back for every process, in ascending order as the kernel lists them */
static void each_process(int proc, void (*each)(int proc, pid_t pid, void *arg), void *arg)
{
	_Alignas(struct kernel_dirent) char buf[4096];
	int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return;
	while ((n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct kernel_dirent *d = (const struct kernel_dirent *)(const void *)(buf + at);
			pid_t pid = number(d->name);

			if (pid > 0)
				each(proc, pid, arg);
			at += d->reclen;
		}
	}
	(void)close(fd);
}

static void take(int proc, pid_t pid, void *arg)
{
	struct procs *all = arg;

	if (all->n < PROCS_MAX && read_stat(proc, pid, &all->at[all->n]))
		all->n++;
}

static void count(int proc, pid_t pid, void *arg)
{
	uint32_t *n = arg;

	(void)proc;
	(void)pid;
	++*n;
}

uint32_t ak_tree_count(int proc)
{
	uint32_t n = 0;

	each_process(proc, count, &n);
	return n;
}

/* ---- trees ---- */

static const struct proc *find(const struct procs *all, pid_t pid)
{
	size_t lo = 0, hi = all->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all->at[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < all->n && all->at[lo].pid == pid ? &all->at[lo] : NULL;
}

static bool excepted(const struct ak_tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->nexcept; i++) {
		if (t->except[i] == pid)
			return true;
	}
	return false;
}

static bool below(const struct ak_tree *t, const struct procs *all, pid_t parent)
{
	const struct proc *p;

	if (parent == t->root)
		return true;
	p = find(all, parent);
	return p && p->ours;
}

/* Marks the descendants; parents mostly have the lower number, so that a pass or two suffice */
static void mark(const struct ak_tree *t, struct procs *all)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < all->n; i++) {
			struct proc *p = &all->at[i];

			if (p->ours || p->pid == t->root || excepted(t, p->pid) || !below(t, all, p->parent))
				continue;
			p->ours = true;
			more = true;
		}
	}
}

static void look(const struct ak_tree *t, struct procs *all)
{
	all->n = 0;
	each_process(t->proc, take, all);
	mark(t, all);
}

static void signal_one(const struct ak_tree *t, const struct procs *all, const struct proc *p, int signo)
{
	int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	struct proc now;

	if (fd < 0)
		return;
	if (read_stat(t->proc, p->pid, &now) && below(t, all, now.parent) && !excepted(t, p->pid))
		(void)syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0);
	(void)close(fd);
}

/* A process whose first thread ended is shown as a zombie while others of it run */
static bool alive(const struct proc *p)
{
	return p->ours && ((p->state != 'Z' && p->state != 'X') || p->threads);
}

static int freeze_round(const struct ak_tree *t, const struct procs *all)
{
	int n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct proc *p = &all->at[i];

		if (!alive(p) || p->state == 'T' || p->state == 't' || p->state == 'Z')
			continue;
		signal_one(t, all, p, SIGSTOP);
		n++;
	}
	return n;
}

int ak_tree_kill(const struct ak_tree *t)
{
	struct procs all;
	int n = 0;

	look(t, &all);
	for (int i = 0; i < FREEZES_MAX && !t->at_once && freeze_round(t, &all) > 0; i++)
		look(t, &all);
	for (size_t i = 0; i < all.n; i++) {
		if (!alive(&all.at[i]))
			continue;
		signal_one(t, &all, &all.at[i], SIGKILL);
		n++;
	}
	return n;
}
