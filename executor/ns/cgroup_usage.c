/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a group has used and which limit was hit. Process: executor. Privilege: none. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_place.h"
#include "executor/shared/ak_fd.h"

#define FILE_BYTES 4096
#define GROUPS_ABOVE_MAX 32

int cgroup_cpu_us(const struct cgroup *g, uint64_t *ret_us)
{
	return cgroup_read_key(g->dir, "cpu.stat", "usage_usec", ret_us);
}

static void read_cpu(const struct cgroup *g, struct cgroup_usage *u)
{
	char text[FILE_BYTES];
	long n = cgroup_read(g->dir, "cpu.stat", text, sizeof(text));

	if (n <= 0)
		return;
	u->cpu = cgroup_key_u64(text, (size_t)n, "usage_usec", &u->cpu_total_us) &&
		 cgroup_key_u64(text, (size_t)n, "user_usec", &u->cpu_user_us) &&
		 cgroup_key_u64(text, (size_t)n, "system_usec", &u->cpu_system_us);
	(void)cgroup_key_u64(text, (size_t)n, "nr_throttled", &u->throttled);
}

/*
 * "oom" counts how often the limit of a group stopped an allocation, "oom_kill" the processes of a group that were killed,
 * whoever's limit it was. The .local file leaves out what happened below (since 5.2); a group of ours has mostly nothing below.
 */
static void read_memory(const struct cgroup *g, struct cgroup_usage *u)
{
	char text[FILE_BYTES];
	uint64_t own = 0;
	long n;

	u->memory = cgroup_read_u64(g->dir, "memory.peak", &u->memory_peak_bytes) == 0;
	n = cgroup_read(g->dir, "memory.events", text, sizeof(text));
	if (n <= 0)
		return;
	(void)cgroup_key_u64(text, (size_t)n, "oom_kill", &u->oom_kills);
	(void)cgroup_key_u64(text, (size_t)n, "oom", &own);
	(void)cgroup_read_key(g->dir, "memory.events.local", "oom", &own);	/* untouched where there is no such file */
	u->oom_own = own > 0;
}

static void read_pids(const struct cgroup *g, struct cgroup_usage *u)
{
	u->pids = cgroup_read_u64(g->dir, "pids.peak", &u->pids_peak) == 0;
	/* without the .local file (before 6.12) forks are counted that were refused here whoever's limit it was */
	if (cgroup_read_key(g->dir, "pids.events.local", "max", &u->pids_refused) < 0)
		(void)cgroup_read_key(g->dir, "pids.events", "max", &u->pids_refused);
}

void cgroup_usage(const struct cgroup *g, struct cgroup_usage *ret)
{
	*ret = (struct cgroup_usage){ 0 };
	if (g->dir < 0)
		return;
	read_cpu(g, ret);
	if (g->have & CGROUP_MEMORY)
		read_memory(g, ret);
	if (g->have & CGROUP_PIDS)
		read_pids(g, ret);
}

static bool is_cgroup2(int fd)
{
	struct statfs s;

	return fstatfs(fd, &s) == 0 && s.f_type == CGROUP2_SUPER_MAGIC;
}

static bool hit_here(int dir)
{
	uint64_t max = UINT64_MAX, hits = 0;

	return cgroup_read_u64(dir, "memory.max", &max) == 0 && max != UINT64_MAX &&
	       cgroup_read_key(dir, "memory.events.local", "oom", &hits) == 0 && hits > 0;
}

bool cgroup_outer_oom(const struct cgroup *g, char *ret_path, unsigned long size)
{
	AK_AUTO_FD at = fcntl(g->parent, F_DUPFD_CLOEXEC, 3);

	for (int i = 0; at >= 0 && i < GROUPS_ABOVE_MAX && is_cgroup2(at); i++) {
		int above;

		if (hit_here(at)) {
			char link[32], path[PATH_MAX];
			ssize_t n;

			snprintf(link, sizeof(link), "/proc/self/fd/%d", at);
			n = readlink(link, path, sizeof(path) - 1);
			snprintf(ret_path, size, "%.*s", n > 0 ? (int)n : 0, path);
			return true;
		}
		above = openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ak_fd_close(&at);
		at = above;
	}
	return false;
}
