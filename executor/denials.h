/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the filters refuse, as they happen: answered, counted, named. Process: executor. Privilege: none; it only decides
 * between errors, never lets a call through, so what it is told by a hostile process cannot matter.
 */
#ifndef AK_DENIALS_H
#define AK_DENIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seccomp/observe.h"

#define DENIALS_NUMBERS 512u	/* numbers of both architectures end below; larger ones are counted together */
#define DENIALS_COUNT_MAX 10000u	/* per call: "10000" in a report means at least so many */
#define DENIALS_BATCH 64u	/* notifications answered before the loop looks at anything else */
#define DENIALS_NAME_MAX 32u
/*
 * A flood costs the executor time that no limit of the sandbox counts. So after this many answers they get one part in DENIALS_PART
 * of one processor, looked at each time DENIALS_LOOK_NS of it are used up
 */
#define DENIALS_FREE 20000u
#define DENIALS_PART 4u
#define DENIALS_LOOK_NS 2000000u

/* What is known of one call; @count 0: it was never refused */
struct denial_count {
	uint16_t count;
	uint16_t err;		/* the errno that was given last */
	bool by_floor;		/* and the floor refused it: no profile could allow it */
	uint64_t when;		/* order of the last refusal: larger is later */
};

struct denials {
	int fd;				/* listener; owned; -1: none now */
	bool observed;			/* a listener was there */
	int why_not;			/* errno with which the kernel refused one; 0 */
	struct observe_filters filters;	/* borrowed */
	unsigned own;			/* notifications of init's self-test that are still to come: not counted */
	uint64_t answered;		/* all of them */
	uint64_t rest_ns;		/* CLOCK_MONOTONIC until which nothing is to be answered; 0: no rest */
	uint64_t since_ns, used_ns;	/* when DENIALS_LOOK_NS began, and what is used up of it */
	struct denial_count calls[DENIALS_NUMBERS + 1];
};

/** denials_init() - nothing observed yet; @f borrowed for the life of @d; @own calls of init's self-test come first */
void denials_init(struct denials *d, const struct observe_filters *f, unsigned own);

/**
 * denials_listen() - take over the listener that init sent
 * @fd:	taken
 * Return: 0; -EBADMSG when it is no listener, or there was one already: the sandbox is not to be trusted then.
 * Source: seccomp_unotify(2).
 */
int denials_listen(struct denials *d, int fd);

/**
 * denials_ready() - answer what has come, at most DENIALS_BATCH; closes the listener when nobody is left who could call
 * Sets rest_ns: the caller does not wait for the listener before.
 */
void denials_ready(struct denials *d, short revents);

void denials_release(struct denials *d);

struct denial {
	char name[DENIALS_NAME_MAX];	/* "#N" for a number without a name, "other" for those from DENIALS_NUMBERS up */
	uint32_t count;			/* at most DENIALS_COUNT_MAX, which means so many or more */
	int err;
	bool by_floor;
	uint64_t when;
};

/**
 * denials_list() - what was refused, most often first
 * Return: entries written, at most @max.
 */
size_t denials_list(const struct denials *d, struct denial *ret, size_t max);

/**
 * denials_explain() - which refusal probably made the command fail
 * The last one with an errno other than ENOSYS, which is what programs that only ask what there is expect; without one, the last
 * of those, unless it is a call that programs are known to ask for.
 * Return: false: none.
 */
bool denials_explain(const struct denials *d, struct denial *ret);

#endif
