/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a process tree through /proc. Process: executor. Privilege: none.
 *
 * The tree changes while it is read. A parent is read before its children, so the time of a child that is
 * reaped meanwhile is missed once and never counted twice. A process that gets a new parent meanwhile may be
 * found twice: doubles are removed.
 * Source: proc(5), kernel Documentation/filesystems/proc.rst 3.7 (children), 1.1 (stat, statm).
 */
#include "executor/watch_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "executor/watch.h"

static size_t read_path(const char *path, char *buf, size_t cap)
{
	AK_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	while (fd >= 0 && n < cap - 1) {
		ssize_t r = read(fd, buf + n, cap - 1 - n);

		if (r <= 0)
			break;
		n += (size_t)r;
	}
	buf[n] = '\0';
	return n;
}

size_t tree_read_file(int pid, const char *name, char *buf, size_t cap)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return read_path(path, buf, cap);
}

/* The next number of a space-separated list. Return: false at its end. */
static bool next_number(const char **s, uint64_t *ret)
{
	const char *p = *s;
	uint64_t v = 0;

	while (*p == ' ')
		p++;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	*s = p;
	*ret = v;
	return true;
}

/* Skips @n fields, which may be negative numbers */
static bool skip_fields(const char **s, int n)
{
	const char *p = *s;

	while (n-- > 0) {
		while (*p == ' ')
			p++;
		if (!*p)
			return false;
		while (*p && *p != ' ')
			p++;
	}
	*s = p;
	return true;
}

bool tree_parse_stat(const char *text, int *ret_ppid, uint64_t *ret_own_ticks, uint64_t *ret_waited_ticks)
{
	/* the name is field 2, in parentheses, and may hold spaces and parentheses */
	const char *p = strrchr(text, ')');
	uint64_t ppid, t[4];

	if (!p || p[1] != ' ')
		return false;
	p += 2;
	if (!skip_fields(&p, 1) || !next_number(&p, &ppid) || !skip_fields(&p, 9))	/* 3; 4; 5 to 13 */
		return false;
	for (int i = 0; i < 4; i++)	/* 14 to 17: utime, stime, cutime, cstime */
		if (!next_number(&p, &t[i]))
			return false;
	*ret_ppid = (int)ppid;
	*ret_own_ticks = t[0] + t[1];
	*ret_waited_ticks = t[2] + t[3];
	return true;
}

static bool tree_add(struct tree *t, int pid)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		struct tree_proc *v;

		if (t->n >= WATCH_PROCS_MAX)
			return false;
		v = reallocarray(t->v, cap, sizeof(*v));
		if (!v)
			return false;
		t->v = v;
		t->cap = cap;
	}
	t->v[t->n++] = (struct tree_proc){ .pid = pid };
	return true;
}

/* Adds the pids of a children file, whose length has no bound: a number may be cut by a block's end */
static void add_children(struct tree *t, int fd)
{
	char buf[1024];
	uint64_t v = 0;
	bool in = false;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] >= '0' && buf[i] <= '9') {
				v = v * 10 + (uint64_t)(buf[i] - '0');
				in = true;
			} else if (in) {
				if (!tree_add(t, (int)v))
					return;
				in = false;
				v = 0;
			}
		}
	}
}

/* Return: false when the process has threads but none of them a children file: the kernel has none */
static bool walk_tasks(struct tree *t, int pid)
{
	char path[64];
	size_t seen = 0, opened = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return true;
	while ((e = readdir(d)) && t->tasks < WATCH_TASKS_MAX) {
		char *end;
		long tid = strtol(e->d_name, &end, 10);

		if (tid <= 0 || *end)
			continue;
		t->tasks++;
		seen++;
		snprintf(path, sizeof(path), "/proc/%d/task/%ld/children", pid, tid);

		AK_AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		opened++;
		add_children(t, fd);
	}
	(void)closedir(d);
	return opened > 0 || seen == 0;
}

static void read_usage(struct tree_proc *p)
{
	char buf[1024];
	const char *s = buf;
	uint64_t size, own, waited;
	int ppid;

	if (tree_read_file(p->pid, "statm", buf, sizeof(buf)) && next_number(&s, &size) &&
	    next_number(&s, &p->rss_pages))
		(void)next_number(&s, &p->shared_pages);
	if (tree_read_file(p->pid, "stat", buf, sizeof(buf)) && tree_parse_stat(buf, &ppid, &own, &waited))
		p->ticks = own + waited;
}

struct link {
	int pid;
	int parent;
	enum { LINK_UNKNOWN, LINK_IN, LINK_OUT } where;
};

static int by_pid(const void *a, const void *b)
{
	/* pid is the first member of both structs sorted here */
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

/* Every process of the host with its parent. Return: how many; *@ret is the caller's to free. */
static size_t read_links(struct link **ret)
{
	struct link *v = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d)) && n < WATCH_PROCS_MAX) {
		char buf[1024], *end;
		long pid = strtol(e->d_name, &end, 10);
		uint64_t a, b;
		int ppid;

		if (pid <= 0 || *end || !tree_read_file((int)pid, "stat", buf, sizeof(buf)) ||
		    !tree_parse_stat(buf, &ppid, &a, &b))
			continue;
		if (n == cap) {
			struct link *w = reallocarray(v, cap ? cap * 2 : 256, sizeof(*v));

			if (!w)
				break;
			v = w;
			cap = cap ? cap * 2 : 256;
		}
		v[n++] = (struct link){ .pid = (int)pid, .parent = ppid };
	}
	if (d)
		(void)closedir(d);
	*ret = v;
	return n;
}

/*
 * Climbs from @l to a process whose place is known and writes the place into all on the way; at most @n steps
 */
static void place(struct link *l, struct link *v, size_t n, int root)
{
	struct link *p = l;
	int where = LINK_OUT;

	for (size_t i = 0; p && i <= n; i++) {
		if (p->pid == root || p->where != LINK_UNKNOWN) {
			where = p->pid == root ? LINK_IN : p->where;
			break;
		}
		p = p->parent > 0 ? bsearch(&p->parent, v, n, sizeof(*v), by_pid) : NULL;
	}
	for (p = l; p && p->where == LINK_UNKNOWN;) {
		p->where = where;
		p = p->parent > 0 && p->pid != root ? bsearch(&p->parent, v, n, sizeof(*v), by_pid) : NULL;
	}
}

/* Without children files: who descends from the root, by parent links */
static void search_all(struct tree *t, int root)
{
	struct link *v = NULL;
	size_t n = read_links(&v);

	if (n)
		qsort(v, n, sizeof(*v), by_pid);
	for (size_t i = 0; i < n; i++) {
		place(&v[i], v, n, root);
		if (v[i].where == LINK_IN && v[i].pid != root && !tree_add(t, v[i].pid))
			break;
	}
	free(v);
}

static void remove_doubles(struct tree *t)
{
	size_t w = 1;

	if (t->n < 3)
		return;
	qsort(t->v + 1, t->n - 1, sizeof(*t->v), by_pid);	/* the root stays first */
	for (size_t i = 1; i < t->n; i++)
		if (t->v[i].pid != t->v[w - 1].pid && t->v[i].pid != t->v[0].pid)
			t->v[w++] = t->v[i];
	t->n = w;
}

void tree_read(struct tree *t, int root, bool *no_children)
{
	*t = (struct tree){ 0 };
	if (!tree_add(t, root))
		return;
	if (!*no_children && !walk_tasks(t, root))
		*no_children = true;
	if (*no_children)
		search_all(t, root);
	for (size_t i = 0; i < t->n; i++) {
		read_usage(&t->v[i]);
		if (i > 0 && !*no_children)
			(void)walk_tasks(t, t->v[i].pid);
	}
	remove_doubles(t);
}

void tree_release(struct tree *t)
{
	free(t->v);
	*t = (struct tree){ 0 };
}
