/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox's own network namespace. Process: set-up child. Privilege: CAP_NET_ADMIN there. */
#ifndef AK_NS_NETNS_H
#define AK_NS_NETNS_H

#include <stdbool.h>
#include <stdint.h>

struct ak_err;

#define NETNS_STACK_BYTES 2048	/* for two system calls */

/**
 * struct netns_worker - a network namespace that a second thread makes while the caller mounts
 * It is by far the dearest namespace (260 us of a start of 2.5 ms), and needs nothing of what happens meanwhile.
 */
struct netns_worker {
	_Alignas(16) char stack[NETNS_STACK_BYTES];
	volatile uint32_t tid;	/* 0 once the thread is gone */
	volatile int result;	/* the namespace's descriptor, or negative errno */
	bool started;
};

/**
 * netns_begin() - start making it
 * @w:	must stay where it is until netns_join()
 * Without a stub for this architecture nothing is started and netns_join() makes the namespace itself.
 */
void netns_begin(struct netns_worker *w);

/**
 * netns_join() - wait for it and enter it
 * Requires: /proc of the host still reachable; CAP_SYS_ADMIN in the current user namespace. Leaves: one thread.
 * Return: 0 or negative errno; the hint names the sysctl that limits it.
 */
int netns_join(struct netns_worker *w, struct ak_err *err);

/**
 * netns_loopback_up() - bring up lo (RTM_NEWLINK through libnl-3)
 * 127.0.0.1/8 and ::1/128 come with it. Source: rtnetlink(7); net/ipv4/devinet.c, inetdev_event().
 * Return: 0 or negative errno.
 */
int netns_loopback_up(struct ak_err *err);

#endif
