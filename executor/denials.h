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

struct denials {
	int fd;				/* listener; owned; -1: not observed */
	bool observed;			/* a listener was there */
	struct observe_filters filters;	/* borrowed */
	unsigned own;			/* notifications of init's self-test that are still to come: not counted */
	uint16_t count[DENIALS_NUMBERS + 1];
};

/** denials_init() - nothing observed yet; @f borrowed for the life of @d; @own calls of init's self-test come first */
void denials_init(struct denials *d, const struct observe_filters *f, unsigned own);

/**
 * denials_listen() - take over the listener that init sent
 * @fd:	taken
 * Return: 0; -EBADMSG when it is no listener, or there was one already: the sandbox is not to be trusted then.
 */
int denials_listen(struct denials *d, int fd);

/** denials_ready() - answer what has come, at most DENIALS_BATCH; closes the listener when nobody is left who could call */
void denials_ready(struct denials *d, short revents);

void denials_release(struct denials *d);

struct denial {
	const char *name;	/* static; "#N" numbers are in @ret_buf of denials_list() */
	uint32_t count;
};

/**
 * denials_list() - what was refused, most often first
 * @buf:	room for the name of a number without one
 * Return: entries written, at most @max.
 */
size_t denials_list(const struct denials *d, struct denial *ret, size_t max, char buf[32]);

#endif
