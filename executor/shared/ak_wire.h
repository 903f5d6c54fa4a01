/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed writer and latching reader for bytes between our own processes. Little endian, fixed widths, no alignment.
 * Neither allocates. An error latches: later calls do nothing, and the end is asked once with ak_wr_done()/ak_rd_done().
 * Any process, no privilege; also linked into ak-init, so no libc beyond string.h.
 */
#ifndef AK_SHARED_AK_WIRE_H
#define AK_SHARED_AK_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ak_wr {
	uint8_t *buf;	/* borrowed */
	size_t cap;
	size_t len;
	bool failed;
};

struct ak_rd {
	const uint8_t *buf;	/* borrowed; what ak_rd_bytes() and ak_rd_str() return points into it */
	size_t len;
	size_t pos;
	bool failed;
};

void ak_wr_init(struct ak_wr *w, void *buf, size_t cap);
void ak_wr_u8(struct ak_wr *w, uint8_t v);
void ak_wr_u32(struct ak_wr *w, uint32_t v);
void ak_wr_u64(struct ak_wr *w, uint64_t v);
/** ak_wr_bytes() - u32 length, then the bytes */
void ak_wr_bytes(struct ak_wr *w, const void *p, size_t n);
/** ak_wr_str() - u32 length including the final NUL, then the string with its NUL; NULL is written as length 0 */
void ak_wr_str(struct ak_wr *w, const char *s);
/** ak_wr_done() - Return: bytes written, or -ENOBUFS if something did not fit. */
long ak_wr_done(const struct ak_wr *w);

void ak_rd_init(struct ak_rd *r, const void *buf, size_t len);
uint8_t ak_rd_u8(struct ak_rd *r);
uint32_t ak_rd_u32(struct ak_rd *r);
uint64_t ak_rd_u64(struct ak_rd *r);
/** ak_rd_bytes() - Return: pointer into the buffer and *@ret_len; NULL and 0 after a failure. */
const void *ak_rd_bytes(struct ak_rd *r, size_t *ret_len);
/**
 * ak_rd_str() - a string that ak_wr_str() wrote
 * Return: pointer into the buffer; NULL for a string written as NULL or after a failure. Fails when the last byte is
 * not NUL or a NUL stands before it.
 */
const char *ak_rd_str(struct ak_rd *r);
/** ak_rd_done() - Return: 0 when every byte was read and nothing failed, else -EBADMSG. */
int ak_rd_done(const struct ak_rd *r);

#endif
