/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox's own network namespace. Process: set-up child. Privilege: CAP_NET_ADMIN there. */
#ifndef AK_NS_NETNS_H
#define AK_NS_NETNS_H

struct ak_err;

/**
 * netns_loopback_up() - bring up lo (RTM_NEWLINK through libnl-3)
 * 127.0.0.1/8 and ::1/128 come with it. Source: rtnetlink(7); net/ipv4/devinet.c, inetdev_event().
 * Return: 0 or negative errno.
 */
int netns_loopback_up(struct ak_err *err);

#endif
