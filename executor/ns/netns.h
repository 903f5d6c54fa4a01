/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox's own network namespace, made by a second thread. Process: set-up child. Privilege: CAP_NET_ADMIN there. */
#ifndef AK_NS_NETNS_H
#define AK_NS_NETNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/ns/nslimit.h"

struct ak_err;
struct nl_msg;

#define NETNS_STACK_BYTES 4096	/* for a few system calls */

/**
 * struct netns_job - what is wanted of the second thread
 * @loopback:	bring lo up
 * @limit_dir, @limits: what nslimit_first() takes; texts of @limits live as long as the thread
 * @after:	called at the end, with @arg; may be NULL. Restricted as vthread()'s function is.
 */
struct netns_job {
	bool loopback;
	int limit_dir;
	struct nslimit limits;
	void (*after)(void *arg);
	void *arg;
};

/**
 * struct netns_worker - a network namespace that a second thread makes while the caller mounts
 * It is by far the dearest namespace (a fifth of a start), and needs nothing of what happens meanwhile. Its loopback and the
 * limits of nslimit_first() go with it.
 */
struct netns_worker {
	_Alignas(16) char stack[NETNS_STACK_BYTES];
	volatile uint32_t tid;	/* 0 once the thread is gone */
	bool started;
	volatile bool began;	/* the thread has got a processor */
	pid_t id;
	struct netns_job job;
	struct nl_msg *up;	/* the request that brings loopback up; written before the thread starts */
	uint32_t done;		/* futex: not 0 once the results are there; job.after comes then */
	/* results: negative errno on failure */
	volatile int net;	/* the namespace's descriptor */
	volatile int lo;
	volatile int limit;
	const char *volatile limit_name;
};

/**
 * netns_begin() - start making it
 * @w:		must stay where it is until netns_end()
 * Without a stub for this architecture nothing is started and netns_enter() does it all itself.
 */
void netns_begin(struct netns_worker *w, const struct netns_job *job);

/**
 * netns_prepare(), netns_start(), netns_move_away() - netns_begin() in its three steps
 * Of these netns_start() is restricted as vthread()'s function is; job.limit_dir may be set before it, and negative where
 * somebody else sees to the limits. The last one keeps the thread off the caller's processor while there is another.
 */
void netns_prepare(struct netns_worker *w, const struct netns_job *job);
void netns_start(struct netns_worker *w);
void netns_move_away(struct netns_worker *w);

/** netns_release() - of a worker that nobody joins and whose thread is gone; safe twice */
void netns_release(struct netns_worker *w);

/**
 * netns_enter() - wait for it and enter it
 * Requires: CAP_SYS_ADMIN in the current user namespace. The thread may still be at work in job.after.
 * Return: 0 or negative errno; the hint names the sysctl that limits it.
 */
int netns_enter(struct netns_worker *w, struct ak_err *err);

/** netns_end() - wait for the thread's end. Leaves: one thread. Safe twice, and before netns_enter(). */
void netns_end(struct netns_worker *w);

/**
 * netns_loopback_up() - bring up lo of the current network namespace (RTM_NEWLINK, written by libnl-3)
 * 127.0.0.1/8 and ::1/128 come with it. Source: rtnetlink(7); net/ipv4/devinet.c, inetdev_event().
 * Return: 0 or negative errno.
 */
int netns_loopback_up(struct ak_err *err);

#endif
