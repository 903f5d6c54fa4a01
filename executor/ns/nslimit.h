/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the kernel keeps by user namespace. Process: set-up child, either thread. Privilege: CAP_SYS_RESOURCE there. */
#ifndef AK_NS_NSLIMIT_H
#define AK_NS_NSLIMIT_H

/* How many namespaces may be made inside; NULL: as many as outside (a test build) */
struct nslimit {
	const char *max;	/* "0"; with --nesting a bound */
	const char *max_cgroup;	/* cgroup namespaces, through which limits could be reached */
};

/**
 * nslimit_open() - the folder whose files show the limits of the caller's user namespace
 * Requires: the host's /proc, since the sandbox's own has /proc/sys read-only; inside another sandbox, where the host's is that, a
 * procfs that is mounted nowhere. Return: O_PATH descriptor or negative errno.
 */
int nslimit_open(void);

/** nslimit_raw() - the same, restricted as vthread()'s function is; -EROFS where nslimit_open() would mount a procfs */
int nslimit_raw(void);

/**
 * nslimit_first() - inotify instances, and every kind of namespace but the mount kind: no further one of them
 * @dir:	of nslimit_open(); it may be out of reach by path meanwhile
 * @l:		how many; borrowed. Time namespaces: none
 * @ret_name:	on failure the file it was
 * Requires: the sandbox's namespaces made. System calls without errno only, for vthread(). Return: 0 or negative errno.
 */
int nslimit_first(int dir, const struct nslimit *l, const char **ret_name);

/**
 * nslimit_last() - the mount kind
 * Requires: also the last detached mount made: it counts as a mount namespace since Linux 6.x. Return: as nslimit_first().
 */
int nslimit_last(int dir, const struct nslimit *l, const char **ret_name);

#endif
