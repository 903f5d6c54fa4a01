/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a sandbox's mount namespace, off the way of whoever waits for ak. Process: executor. */
#ifndef AK_NS_MNT_LATE_H
#define AK_NS_MNT_LATE_H

#include <sys/types.h>

/* The namespace, in the queue of a socket; both sockets owned, -1: nothing is held */
struct mnt_late {
	int kept;	/* the queue is its own */
	int peer;	/* closed last: the kernel looks for sockets to collect when one ends */
};

#define MNT_LATE_NONE { .kept = -1, .peer = -1 }

/**
 * mnt_late_hold() - keep the mount namespace of @pid beyond the end of its processes, and what it executes
 * @pid:	our child, not waited for yet
 * @pidfd:	the same; borrowed
 * @image:	the memory file it was started from, which init's end would have to free; borrowed; -1: none
 *
 * Taking some fifty private mounts apart, and waiting for a grace period, takes a seventh of a start and an end, and is done by
 * the last process that is in them: init, which we wait for. Held like this they outlast it, until mnt_late_leave(). All but
 * the letting go is done here, while init is at work and nobody waits for us.
 * @ret:	MNT_LATE_NONE where there is nothing to hold: init takes the mounts apart as ever
 * Privilege: none; the child's user namespace is ours (ptrace(2), PTRACE_MODE_READ_FSCREDS).
 */
void mnt_late_hold(pid_t pid, int pidfd, int image, struct mnt_late *ret);

/**
 * mnt_late_leave() - let it go, in a way that leaves the work to a kernel thread
 * @l:		closed, becomes MNT_LATE_NONE; that does nothing
 *
 * The descriptor is left in the queue of a socket that only this queue holds: the kernel collects such sockets in a worker, and
 * what they hold with them, as it takes network namespaces apart in one. No process, no name and no mount that anybody sees is
 * left meanwhile, as a rule for less than a millisecond. Where the kernel collects at once, or the socket cannot be made, the
 * namespace ends here and now.
 * Must not be used where the next run needs the mounts to be gone: an overlay's upper folder is in use until then.
 * Source: unix(7), SCM_RIGHTS; net/unix/garbage.c, unix_gc(): a worker in current kernels, part of close() in older ones.
 */
void mnt_late_leave(struct mnt_late *l);

#endif
