/* SPDX-License-Identifier: Apache-2.0 */
/* The set-up child, born before it is known what it has to set up. Process: executor; set-up child. Privilege: see below. */
#ifndef AK_NS_AHEAD_H
#define AK_NS_AHEAD_H

#include <linux/sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "executor/ns/netns.h"
#include "executor/ns/prework.h"

struct setup;

/*
 * A new network namespace takes longer than anything else of a start, and needs nothing of the plan; a second processor is idle
 * while the executor makes that. So the child is cloned first, into the executor's memory, starts its second thread, which makes
 * the network namespace, does what else needs no plan (prework.h), and waits. What keeps them apart until ahead_go(): child and thread
 * make system calls and touch nothing of libc (as vthread()'s functions), and write no memory but their stacks and struct ahead. From
 * ahead_go() on it is as with vclone(): the executor is suspended until the child's exec. What was opened meanwhile is sent to the child.
 */
struct ahead {
	pid_t pid;			/* 0: there is none */
	int pidfd;			/* owned; -1 */
	int sock[2];			/* the executor's and the child's end; owned; -1 */
	int far;			/* the child's end, as it is numbered in the child */
	void *stack;			/* owned; NULL */
	volatile uint32_t tid;		/* futex: not 0 while the child uses our memory */
	const struct setup *s;		/* set before the message that says go */
	struct netns_worker net;	/* its job's limit_dir is negative where the limits are left to the child */
	uint32_t ready;			/* futex: what the thread goes on with is known */
	void (*after)(void *arg);
	void *arg;
	unsigned uid, gid;		/* the executor's */
	struct prework done;		/* by the child before the message comes */
	volatile bool took;		/* by the child: it has got the message, and whatever goes wrong is told by it */
};

/*
 * It is born into these; it makes the others itself, while the executor goes on, and its thread the dearest, the network's: netns.h.
 * A process cannot enter a pid namespace of its own making.
 */
#define AHEAD_BORN (CLONE_NEWUSER | CLONE_NEWPID)
#define AHEAD_MADE (CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

#define AHEAD_NONE { .pidfd = -1, .sock = { -1, -1 } }

/**
 * ahead_begin() - clone the child
 * @a:		AHEAD_NONE; must stay where it is until ahead_end()
 * @born:	AHEAD_BORN
 * It dies with the executor. Where it cannot be made there is none: whoever needs a child clones one then, and is told why not.
 * Requires: descriptors that are not the sandbox's are closed. Privilege: none.
 */
void ahead_begin(struct ahead *a, uint64_t born);

/**
 * ahead_go() - let it become the sandbox: setup_child(@s); returns when it has become ak-init, or ended
 * Requires: @s->ahead is @a; ids inside as outside, not 0; the usual root view with a /proc and a /dev; a network of its own, no
 * nesting, no cgroup of its own.
 * @ret_pidfd:	the caller's
 * Return: its pid; negative errno when its descriptors could not be sent or it could not do its prework: ahead_end() then, and clone
 * another one, which may tell why.
 */
pid_t ahead_go(struct ahead *a, const struct setup *s, int *ret_pidfd);

/** ahead_end() - a child that was not needed is killed and waited for; releases everything; safe twice */
void ahead_end(struct ahead *a);

/**
 * ahead_beside() - what the second thread does when it is done with the network
 * @fn:		restricted as vthread()'s function is; called once
 * Process: set-up child, after ahead_go(). The thread is for netns_end() to wait for.
 */
void ahead_beside(struct ahead *a, void (*fn)(void *arg), void *arg);

#endif
