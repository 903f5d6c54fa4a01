/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Privilege stages of the executor when root runs it. Process: executor.
 *
 * Order: privs_reserve(), privs_prepare_mounts(), privs_enter(). After the last one the process is root of nothing: it
 * lives in a user namespace that maps one slot of the reserved range and not host uid 0, so setuid(0) is EINVAL.
 */
#ifndef AK_PRIVS_H
#define AK_PRIVS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ak_err;
struct plan;

#define PRIVS_SLOT_IDS 65536u
#define PRIVS_SLOTS_MAX 4096u
#define PRIVS_DEFAULT_BASE 1879048192u	/* 0x70000000: above systemd-nspawn's container range, below 2^31 */
#define PRIVS_OWN_ID 65535u		/* of a slot: the executor's; the sandbox gets 0..65534 */
#define PRIVS_NOT_HOST_ROOT                                                                                          \
	"ak as root needs the host's root and its range of ids, not a container's or a user namespace's: run it as an "  \
	"ordinary user, or with --identity root"
#define PRIVS_RUN_DIR "/run/ak"

struct privs {
	uint32_t uid_base, gid_base;	/* first host id of our slot */
	unsigned slot;
	int lock;			/* /run/ak/slots with our slot's byte locked; owned; -1 */
};

/**
 * privs_reserve() - take a free slot of the reserved range
 * The range is the line for "ak" in /etc/subuid and /etc/subgid, else PRIVS_DEFAULT_BASE. The slot is held by an OFD lock
 * on one byte of /run/ak/slots, which the kernel drops when the process ends, however it ends.
 * Requires: root. Return: 0; -EBUSY (all slots taken), -EPERM (/run/ak belongs to somebody else or others may write it),
 * -EINVAL (range too small, or one file without the other).
 */
int privs_reserve(struct privs *p, struct ak_err *err);

/**
 * privs_prepare_mounts() - detached clones of every mount source that only root may reach, idmapped where the plan says
 * Fills src_fd of the rows (and rootfs_fd); the set-up child attaches them.
 * Requires: CAP_SYS_ADMIN in the host's user namespace. Return: 0; -EINVAL or -EOPNOTSUPP with the two ways out when the
 * file system cannot be idmapped.
 */
int privs_prepare_mounts(const struct privs *p, struct plan *plan, struct ak_err *err);

/*
 * An errand of the helper that writes our id maps. It is born in a cgroup while we are still host root, which the executor may not
 * enter afterwards, and runs @fn once we have left host root and it has too: as our equal, in our user namespace.
 */
struct privs_errand {
	int cgroup;			/* directory of the group that the helper is born in; borrowed */
	void (*fn)(void *arg, int sock);	/* in the helper; @sock leads to the executor; ends by returning */
	void *arg;
	/* out: filled by privs_enter() */
	int sock;			/* to the helper; owned; -1 */
	pid_t pid;			/* to be waited for by privs_errand_end() */
};

/** privs_errand_end() - close the socket and wait for the helper; safe when there was none */
void privs_errand_end(struct privs_errand *e);

/**
 * privs_enter() - leave host root for good
 * @e:	NULL: none
 * Requires: nothing that needs host privilege is left to do. Leaves: CAP_SETUID and CAP_SETGID in our own user namespace
 * (they write the id maps of sandboxes), no supplementary groups, no_new_privs. Must not: keep a path of the host.
 */
int privs_enter(const struct privs *p, struct privs_errand *e, struct ak_err *err);

/**
 * privs_serving() - last reduction before the first request is read
 *
 * Requires: policy and plan are made, streams and sockets are open. Called once, by an executor that will make any number of
 * sandboxes from @plan: in root mode the clones of its mount sources are attached in a mount namespace of the executor's own, and
 * the rows of @plan name them there (privs_keep_mounts()).
 * Leaves:   no capability in the host's user namespace. Rootless: none at all, the caller's ids. Root mode: CAP_SETUID and
 *	     CAP_SETGID in the executor's own user namespace, which write the id maps of sandboxes. no_new_privs.
 * Must not: load a Landlock domain or an allow-list filter: both are inherited by what is started, and forbid making sandboxes.
 * Return: 0; what privs_reserve(), privs_prepare_mounts(), privs_keep_mounts() and privs_enter() give.
 */
int privs_serving(struct privs *p, struct plan *plan, struct ak_err *err);

/**
 * privs_keep_mounts() - make the clones of privs_prepare_mounts() usable more than once
 * They are attached below PRIVS_RUN_DIR on a tmpfs in a new mount namespace; rows get that path as src, and src_fd -1.
 * Requires: CAP_SYS_ADMIN on the host. Return: 0 or negative errno.
 */
int privs_keep_mounts(struct plan *plan, struct ak_err *err);

void privs_release(struct privs *p);

#endif
