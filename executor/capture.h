/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the head and the tail of a stream of any length in bounded memory.
 * Process: executor. Privilege: none.
 */
#ifndef AK_CAPTURE_H
#define AK_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

struct capture;

#define CAPTURE_DEFAULT_BYTES (16u << 20)	/* where no maximum was given */

struct capture_buf {
	uint8_t *head;
	size_t head_len, head_cap, head_max;
	uint8_t *tail;		/* linear until it has tail_max bytes, then a ring */
	size_t tail_len, tail_cap, tail_max;
	size_t tail_pos;	/* of the oldest byte, once the ring is full */
	uint64_t total;
};

/**
 * capture_init() - an empty capture
 * @max:	bytes to keep, half of them from the head; UINT64_MAX: CAPTURE_DEFAULT_BYTES
 * Memory is taken as bytes come.
 */
void capture_init(struct capture_buf *c, uint64_t max);

/**
 * capture_add() - the next bytes of the stream. When memory runs out less is kept and more is counted as
 * dropped.
 */
void capture_add(struct capture_buf *c, const uint8_t *p, size_t n);

/** capture_hold() - take no more memory: what comes goes into what is there, or is counted as dropped */
void capture_hold(struct capture_buf *c);

/** capture_bytes() - memory taken so far */
size_t capture_bytes(const struct capture_buf *c);

/**
 * capture_read() - copy kept bytes of a stream that may still grow
 * @offset:	of the stream; *@ret_at gets where the copied bytes begin: above @offset when those between were dropped
 * Return: bytes copied into @buf, at most @cap; 0 at the end.
 */
size_t capture_read(const struct capture_buf *c, uint64_t offset, uint8_t *buf, size_t cap, uint64_t *ret_at);

/**
 * capture_finish() - hand over what was kept
 * @ret:	takes the memory; head then tail are the whole stream when dropped is 0. When bytes were dropped, a UTF-8 character
 *		that the gap cuts in two is left out on both sides, so that text stays text.
 */
void capture_finish(struct capture_buf *c, struct capture *ret);

/** capture_release() - free what was not handed over; safe twice */
void capture_release(struct capture_buf *c);

#endif
