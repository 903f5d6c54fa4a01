/* SPDX-License-Identifier: Apache-2.0 */
/* User namespaces and their id maps. Process: executor and set-up child. */
#ifndef AK_NS_USERNS_H
#define AK_NS_USERNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ak_err;

/* one line of uid_map or gid_map, user_namespaces(7) */
struct id_map {
	uint32_t inside;
	uint32_t outside;
	uint32_t count;
};

/**
 * userns_write_maps() - write setgroups, uid_map and gid_map of a process
 * @pid:	whose namespace; 0: our own
 * @deny_setgroups:	write "deny" first (needed without CAP_SETGID outside; wanted everywhere)
 * Requires: for a single line that maps the caller to itself nothing; else CAP_SETUID and CAP_SETGID in the parent namespace.
 * Return: 0 or negative errno.
 */
int userns_write_maps(pid_t pid, struct id_map uid, struct id_map gid, bool deny_setgroups, struct ak_err *err);

/**
 * userns_make() - a user namespace with these maps and nobody in it, for an idmapped mount
 * Requires: CAP_SETUID and CAP_SETGID in the current user namespace.
 * Return: a namespace descriptor, owned by the caller; negative errno.
 */
int userns_make(struct id_map uid, struct id_map gid, struct ak_err *err);

/**
 * userns_explain() - record that making namespaces failed, with a hint that names what forbids it
 * Return: -@code.
 */
int userns_explain(int code, struct ak_err *err);

/**
 * userns_clone() - clone3 as fork, with a pidfd
 * @flags:	CLONE_NEW* bits; CLONE_PARENT: the child is the caller's sibling
 * @cgroup:	directory of the group that the child is born in; -1: the caller's
 * Return: 0 in the child, the pid in the parent with *@ret_pidfd; negative errno with a message and a hint that name what
 * forbids it: the sysctl that is 0, a seccomp filter, a chroot, AppArmor.
 */
pid_t userns_clone(uint64_t flags, int cgroup, int *ret_pidfd, struct ak_err *err);

/**
 * userns_vclone() - the same, but the child runs @fn in the parent's memory while the parent waits for its exec or exit
 * @fn:	never returns; see vclone()
 * Return: the pid with *@ret_pidfd; negative errno, -ENOSYS also where the architecture has no stub for it.
 */
pid_t userns_vclone(uint64_t flags, int cgroup, void (*fn)(void *), void *arg, int *ret_pidfd, struct ak_err *err);

#endif
