/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, kills and removes groups. Process: executor. Privilege: to write in the place. */
#include "executor/ns/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_place.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_dir.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_weaken.h"

#define MAKE_TRIES 16
#define KILL_ROUNDS 1000	/* with a millisecond between them */
#define GONE_MS 2000
#define LIST_BYTES 4096	/* of cgroup.procs, read at a time */
#define SWEEP_MAX 64		/* leftovers looked at in one run */
#define BELOW_MAX 256		/* files and folders looked at in one of them */

static void nap_ms(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&t, NULL);
}

static void new_name(char name[CGROUP_NAME_MAX])
{
	uint64_t r = 0;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != (ssize_t)sizeof(r)) {
		struct timespec t = { 0 };

		/* only against chance: mkdir tells when the name is taken */
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		r = (uint64_t)t.tv_nsec;
	}
	snprintf(name, CGROUP_NAME_MAX, "ak-%d-%012llx", (int)getpid(), (unsigned long long)(r & 0xffffffffffffu));
}

void cgroup_close(struct cgroup *g)
{
	ak_fd_close(&g->dir);
	ak_fd_close(&g->kill);
	ak_fd_close(&g->freeze);
	g->parent = -1;
	g->have = 0;
}

/*
 * Between mkdir and flock another run may take the group for a leftover and remove it: then a file in it can no longer be
 * opened, and another name is tried. After that nobody touches it.
 */
static int lock_new(int parent, struct cgroup *g)
{
	g->dir = openat(parent, g->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (g->dir < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	if (flock(g->dir, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -ESTALE : -errno;
	if (faccessat(g->dir, "cgroup.procs", F_OK, 0) < 0)
		return errno == ENOENT || errno == ENODEV ? -ESTALE : -errno;
	return 0;
}

static int open_kill(struct cgroup *g)
{
	if (!AK_WEAK(ak_weaken_mask(), AK_WEAK_CGKILL))
		g->kill = openat(g->dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	else
		errno = ENOENT;
	if (g->kill >= 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	g->freeze = openat(g->dir, "cgroup.freeze", O_WRONLY | O_CLOEXEC);	/* absent before 5.2: then without */
	return 0;
}

static int make_dir(int parent, struct cgroup *g)
{
	int r = -ESTALE;

	for (int i = 0; i < MAKE_TRIES && r == -ESTALE; i++) {
		ak_fd_close(&g->dir);
		new_name(g->name);
		if (mkdirat(parent, g->name, 0755) < 0) {
			r = errno == EEXIST ? -ESTALE : -errno;
			if (r != -ESTALE)
				return r;
			continue;
		}
		r = lock_new(parent, g);
	}
	if (r == 0)
		r = open_kill(g);
	if (r < 0) {
		(void)unlinkat(parent, g->name, AT_REMOVEDIR);
		cgroup_close(g);
	}
	return r;
}

struct setting {
	uint32_t ctl;
	const char *file;
	bool needed;		/* others are left out where the kernel has no such file */
	uint64_t value;
};

int cgroup_limit(const struct cgroup *g, const struct cgroup_limits *l, struct ak_err *err)
{
	const struct setting memory[] = {
		{ CGROUP_MEMORY, "memory.max", true, l->memory_bytes },
		{ CGROUP_MEMORY, "memory.high", false, cgroup_high_bytes(l->memory_bytes) },
		{ CGROUP_MEMORY, "memory.swap.max", false, 0 },	/* no file: no swap accounting, or no swap at all */
		{ CGROUP_MEMORY, "memory.oom.group", false, 1 },
	};
	char text[64];
	int r = 0;

	for (size_t i = 0; l->memory_bytes && (g->have & CGROUP_MEMORY) && i < sizeof(memory) / sizeof(memory[0]); i++) {
		r = cgroup_write_u64(g->dir, memory[i].file, memory[i].value);
		if (r < 0 && (memory[i].needed || r != -ENOENT))
			return ak_err_sys(err, -r, "set %s of the sandbox's cgroup", memory[i].file);
	}
	if (l->pids && (g->have & CGROUP_PIDS)) {
		r = cgroup_write_u64(g->dir, "pids.max", l->pids);
		if (r < 0)
			return ak_err_sys(err, -r, "set pids.max of the sandbox's cgroup");
	}
	if (l->cpu_milli && (g->have & CGROUP_CPU)) {
		cgroup_cpu_text(l->cpu_milli, text, sizeof(text));
		r = cgroup_write(g->dir, "cpu.max", text);
		if (r < 0)
			return ak_err_sys(err, -r, "set cpu.max of the sandbox's cgroup");
	}
	return 0;
}

int cgroup_make(int parent, uint32_t have, const struct cgroup_limits *l, struct cgroup *ret, struct ak_err *err)
{
	struct cgroup g = CGROUP_NONE;
	int r = make_dir(parent, &g);

	if (r < 0)
		return ak_err_sys(err, -r, "make a cgroup for the sandbox");
	g.parent = parent;
	g.have = have;
	r = cgroup_limit(&g, l, err);
	if (r < 0) {
		(void)cgroup_remove(&g);
		return r;
	}
	*ret = g;
	return 0;
}

uint32_t cgroup_pass_down(int dir, uint32_t want, struct ak_err *err)
{
	char text[512];
	uint32_t have = 0;
	long n = cgroup_read(dir, "cgroup.subtree_control", text, sizeof(text));
	int r;

	if (n < 0) {
		(void)ak_err_sys(err, (int)-n, "read cgroup.subtree_control");
		return 0;
	}
	have = cgroup_ctl_mask(text, (size_t)n);
	if ((want & ~have) == 0)
		return have;
	cgroup_ctl_enable_text(want & ~have, '+', text, sizeof(text));
	r = cgroup_write(dir, "cgroup.subtree_control", text);
	if (r == 0)
		return have | want;
	/* one that cannot be had must not take the others with it */
	for (uint32_t bit = 1; bit <= CGROUP_ALL; bit <<= 1) {
		if (!(want & ~have & bit))
			continue;
		cgroup_ctl_enable_text(bit, '+', text, sizeof(text));
		r = cgroup_write(dir, "cgroup.subtree_control", text);
		if (r == 0)
			have |= bit;
		else
			(void)ak_err_sys(err, -r, "write %s to cgroup.subtree_control", text);
	}
	return have;
}

bool cgroup_empty(const struct cgroup *g)
{
	uint64_t populated = 1;

	return cgroup_read_key(g->dir, "cgroup.events", "populated", &populated) == 0 && populated == 0;
}

static bool still_listed(int dir, const char *num)
{
	char text[LIST_BYTES];
	long n = cgroup_read(dir, "cgroup.procs", text, sizeof(text));
	struct ak_lines l;
	const char *line;
	size_t len;

	ak_lines_init(&l, text, n > 0 ? (size_t)n : 0, sizeof(text));
	while (ak_lines_next(&l, &line, &len))
		if (len == strlen(num) && memcmp(line, num, len) == 0)
			return true;
	return false;
}

/* by descriptor: the number may belong to another process by now, unless it is still in the list when the descriptor is open */
static void kill_one(int dir, const char *num)
{
	AK_AUTO_FD pidfd = -1;
	uint64_t pid;

	if (ak_parse_u64(num, 2, INT32_MAX, &pid) < 0)
		return;
	pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (pidfd >= 0 && still_listed(dir, num))
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

/* kill what the list names now. Return: how many were named. */
static unsigned kill_listed(int dir)
{
	char text[LIST_BYTES];
	long n = cgroup_read(dir, "cgroup.procs", text, sizeof(text));
	struct ak_lines l;
	const char *line;
	size_t len;
	unsigned named = 0;

	if (n <= 0)
		return 0;
	ak_lines_init(&l, text, (size_t)n, sizeof(text));
	while (ak_lines_next(&l, &line, &len)) {
		char num[12];

		if (len >= sizeof(num))
			continue;
		memcpy(num, line, len);
		num[len] = '\0';
		named++;
		/* a number that the end of the buffer has cut is another process: only whole lines count */
		if ((size_t)(line - text) + len < (size_t)n)
			kill_one(dir, num);
	}
	return named;
}

/* before 5.14: what is frozen makes no new processes while the list is worked off; frozen processes can be killed */
static int kill_each(const struct cgroup *g)
{
	unsigned named = 1;

	for (int i = 0; named && i < KILL_ROUNDS; i++) {
		if (g->freeze >= 0)
			(void)!pwrite(g->freeze, "1", 1, 0);
		named = kill_listed(g->dir);
		if (named)
			nap_ms(1);
	}
	if (g->freeze >= 0)
		(void)!pwrite(g->freeze, "0", 1, 0);
	return named ? -EBUSY : 0;
}

int cgroup_kill(const struct cgroup *g)
{
	if (g->dir < 0)
		return 0;
	if (g->kill >= 0 && pwrite(g->kill, "1", 1, 0) == 1)
		return 0;
	return kill_each(g);
}

/* what was killed is gone when it was scheduled once more */
static int wait_empty(const struct cgroup *g)
{
	uint64_t end = ak_now_ns() + (uint64_t)GONE_MS * 1000000u;

	while (!cgroup_empty(g)) {
		if (ak_now_ns() >= end)
			return -EBUSY;
		nap_ms(1);
	}
	return 0;
}

int cgroup_remove(struct cgroup *g)
{
	int r = 0;

	if (g->dir < 0)
		return 0;
	if (unlinkat(g->parent, g->name, AT_REMOVEDIR) < 0)
		r = -errno;
	if (r == -EBUSY) {
		(void)cgroup_kill(g);
		(void)wait_empty(g);
		r = unlinkat(g->parent, g->name, AT_REMOVEDIR) < 0 ? -errno : 0;
	}
	cgroup_close(g);
	return r == -ENOENT ? 0 : r;
}

/* groups below one of ours: those of a sandbox that stayed (executor/serve_leaf.c) */
static void remove_below(int dir)
{
	struct ak_dir d = { .fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	const char *name;
	unsigned char type;
	unsigned n = 0;

	if (d.fd < 0)
		return;
	while (n++ < BELOW_MAX && ak_dir_next(&d, &name, &type))
		if (type == DT_DIR && name[0] != '.')
			(void)unlinkat(dir, name, AT_REMOVEDIR);
	ak_dir_close(&d);
}

static void sweep_one(int place, const char *name)
{
	struct cgroup g = CGROUP_NONE;
	struct stat st;

	g.parent = place;
	if (strlen(name) >= sizeof(g.name) || !cgroup_name_ok(name))
		return;
	memcpy(g.name, name, strlen(name) + 1);
	g.dir = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (g.dir < 0)
		return;
	if (flock(g.dir, LOCK_EX | LOCK_NB) == 0) {
		if (!cgroup_empty(&g)) {
			(void)open_kill(&g);
			(void)cgroup_kill(&g);
			(void)wait_empty(&g);
		}
		if (fstat(g.dir, &st) == 0 && st.st_nlink > 2)
			remove_below(g.dir);
		(void)cgroup_remove(&g);
	}
	cgroup_close(&g);
}

void cgroup_sweep(int place)
{
	struct ak_dir d;
	struct stat st;
	const char *name;
	unsigned char type;
	unsigned n = 0;

	/* kernfs counts the folders in a folder: the usual place has none, and is not read */
	if (fstat(place, &st) < 0 || st.st_nlink <= 2)
		return;
	d = (struct ak_dir){ .fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (d.fd < 0)
		return;
	while (n < SWEEP_MAX && ak_dir_next(&d, &name, &type))
		if (strncmp(name, "ak-", 3) == 0) {
			sweep_one(place, name);
			n++;
		}
	ak_dir_close(&d);
}
