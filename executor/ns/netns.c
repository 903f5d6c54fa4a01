/* SPDX-License-Identifier: Apache-2.0 */
/* Brings loopback up in a new network namespace. Process: set-up child. Privilege: CAP_NET_ADMIN in its user namespace. */
#include "executor/ns/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/ns/vclone.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define LOOPBACK_IFINDEX 1	/* LOOPBACK_IFINDEX of include/net/flow.h: always the first device of a namespace */

static int send_up(struct nl_sock *sk)
{
	struct ifinfomsg ifi = { .ifi_family = AF_UNSPEC, .ifi_index = LOOPBACK_IFINDEX, .ifi_flags = IFF_UP,
				 .ifi_change = IFF_UP };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK);
	int r;

	if (!msg)
		return -NLE_NOMEM;
	r = nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO);
	if (r == 0)
		r = nl_send_auto(sk, msg);
	nlmsg_free(msg);
	return r < 0 ? r : nl_wait_for_ack(sk);
}

/* runs beside the set-up child and shares its memory: system calls only, nothing of libc */
static void make_netns(void *arg)
{
	static const char path[] = "/proc/thread-self/ns/net";
	struct netns_worker *w = arg;
	long r = vcall(SYS_unshare, CLONE_NEWNET, 0, 0, 0);

	if (r == 0)
		r = vcall(SYS_openat, AT_FDCWD, (long)(uintptr_t)path, O_RDONLY | O_CLOEXEC, 0);
	w->result = (int)r;
	vexit();
}

static int explain_netns(int code, struct ak_err *err)
{
	(void)ak_err_sys(err, code, "make the sandbox's network namespace");
	/* which of the two cannot be read from here: the file shows the limit of our own user namespace */
	if (code == ENOSPC || code == EUSERS)
		ak_err_hint(err, "the sysctl user.max_net_namespaces is 0 or its limit is reached here; --net host does without");
	return -code;
}

void netns_begin(struct netns_worker *w)
{
	w->result = -EAGAIN;
	w->started = vthread(w->stack, sizeof(w->stack), (uint32_t *)&w->tid, make_netns, w) == 0;
}

int netns_join(struct netns_worker *w, struct ak_err *err)
{
	AK_AUTO_FD fd = -1;
	uint32_t tid;

	if (!w->started)
		return unshare(CLONE_NEWNET) < 0 ? explain_netns(errno, err) : 0;
	while ((tid = w->tid) != 0)
		(void)syscall(SYS_futex, &w->tid, FUTEX_WAIT, tid, NULL, NULL, 0);
	fd = w->result;
	if (fd < 0)
		return explain_netns(-fd, err);
	if (setns(fd, CLONE_NEWNET) < 0)
		return ak_err_sys(err, errno, "enter the sandbox's network namespace");
	return 0;
}

int netns_loopback_up(struct ak_err *err)
{
	struct nl_sock *sk = nl_socket_alloc();
	int r;

	if (!sk)
		return ak_err_set(err, ENOMEM, "netlink socket: out of memory");
	r = nl_connect(sk, NETLINK_ROUTE);
	if (r == 0)
		r = send_up(sk);
	nl_socket_free(sk);
	if (r < 0)
		return ak_err_set(err, r == -NLE_PERM || r == -NLE_NOACCESS ? EPERM : EIO, "bring loopback up: %s", nl_geterror(r));
	return 0;
}
