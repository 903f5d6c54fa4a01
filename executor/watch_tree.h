/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of one tree, from /proc. Process: executor. Privilege: none. */
#ifndef AK_WATCH_TREE_H
#define AK_WATCH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_proc {
	int pid;
	uint64_t rss_pages;
	uint64_t shared_pages;
	uint64_t ticks;		/* user and system time of the process and of the children it has waited for */
};

struct tree {
	struct tree_proc *v;	/* owned; the root first, no process twice */
	size_t n;
	size_t cap;
	size_t tasks;		/* looked at so far */
};

/**
 * tree_read() - list the root and its descendants
 * @no_children:	set when the kernel has no children files, and then all of /proc is searched
 * What vanishes meanwhile is left out; memory running out ends the list early.
 */
void tree_read(struct tree *t, int root, bool *no_children);
void tree_release(struct tree *t);

/**
 * tree_read_file() - start of /proc/PID/NAME as text. Return: bytes, 0 when it cannot be read; @buf is
 * NUL-terminated.
 */
size_t tree_read_file(int pid, const char *name, char *buf, size_t cap);

/**
 * tree_parse_stat() - ppid and times of a /proc/PID/stat line; the name in it may hold anything. Return:
 * false if malformed.
 */
bool tree_parse_stat(const char *text, int *ret_ppid, uint64_t *ret_own_ticks, uint64_t *ret_waited_ticks);

#endif
