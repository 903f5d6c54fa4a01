/* SPDX-License-Identifier: Apache-2.0 */
/* Brings loopback up in a new network namespace. Process: set-up child. Privilege: CAP_NET_ADMIN in its user namespace. */
#include "executor/ns/netns.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "executor/shared/ak_err.h"

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
