/* SPDX-License-Identifier: Apache-2.0 */
/* The set-up child, born before it is known what it has to set up. Process: executor; set-up child. Privilege: see below. */
#ifndef AK_NS_AHEAD_H
#define AK_NS_AHEAD_H

#include <stdint.h>
#include <sys/types.h>

#include "executor/ns/netns.h"

struct setup;

/*
 * A new network namespace takes longer than anything else of a start, and needs nothing of the plan; a second processor is idle
 * while the executor makes that. So the child is cloned first, into the executor's memory, starts its second thread, which makes
 * the network namespace, and waits. What keeps them apart until ahead_go(): child and thread make system calls and touch nothing of
 * libc (as vthread()'s functions), and write no memory but their stacks and struct ahead. From ahead_go() on it is as with
 * vclone(): the executor is suspended until the child's exec. What was opened meanwhile is sent to the child.
 */
struct ahead {
	pid_t pid;			/* 0: there is none */
	int pidfd;			/* owned; -1 */
	int sock[2];			/* the executor's and the child's end; owned; -1 */
	void *stack;			/* owned; NULL */
	volatile uint32_t tid;		/* futex: not 0 while the child uses our memory */
	const struct setup *s;		/* set before the message that says go */
	struct netns_worker net;	/* its job's limit_dir is negative where the limits are left to the child */
	uint32_t ready;			/* futex: what the thread goes on with is known */
	void (*after)(void *arg);
	void *arg;
};

#define AHEAD_NONE { .pidfd = -1, .sock = { -1, -1 } }

/**
 * ahead_begin() - clone the child into namespaces of these kinds
 * @a:		AHEAD_NONE; must stay where it is until ahead_end()
 * @flags:	CLONE_NEWUSER | CLONE_NEWPID | ... but not CLONE_NEWNET
 * It dies with the executor. Where it cannot be made there is none: whoever needs a child clones one then, and is told why not.
 * Requires: descriptors that are not the sandbox's are closed. Privilege: none.
 */
void ahead_begin(struct ahead *a, uint64_t flags);

/**
 * ahead_go() - let it become the sandbox: setup_child(@s); returns when it has become ak-init, or ended
 * Requires: @s->ahead is @a; ids inside that are not 0, a network of its own, no nesting, no cgroup of its own.
 * @ret_pidfd:	the caller's
 * Return: its pid; negative errno when its descriptors could not be sent: ahead_end() then, and clone another one.
 */
pid_t ahead_go(struct ahead *a, const struct setup *s, int *ret_pidfd);

/** ahead_end() - a child that was not needed is killed and waited for; releases everything; safe twice */
void ahead_end(struct ahead *a);

/**
 * ahead_beside() - what the second thread does when it is done with the network
 * @fn:		restricted as vthread()'s function is; called once
 * Process: set-up child, after ahead_go(). The thread is for netns_join() to wait for.
 */
void ahead_beside(struct ahead *a, void (*fn)(void *arg), void *arg);

#endif
