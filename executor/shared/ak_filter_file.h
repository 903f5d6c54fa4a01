/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled user profile: what ak-policy hands to the executor, and what the executor keeps in its cache. Pure.
 */
#ifndef AK_SHARED_AK_FILTER_FILE_H
#define AK_SHARED_AK_FILTER_FILE_H

#include <stddef.h>
#include <stdint.h>

#define AK_FILTER_MAGIC 0x31466b61u	/* "akF1" */
#define AK_FILTER_NOTES_MAX 80u
#define AK_FILTER_SOURCE_MAX (1u << 20)
#define AK_FILTER_INSNS_MAX 4096u	/* BPF_MAXINSNS, linux/bpf_common.h */
#define AK_FILTER_FILE_MAX (AK_FILTER_SOURCE_MAX + 8u * AK_FILTER_INSNS_MAX + (64u << 10))

struct ak_filter_file {
	const char *maker;	/* version of ak that compiled it */
	const char *arch;	/* as uname -m */
	const char *release;	/* kernel release, for rules that ask for a least version */
	const void *source;	/* the profile as the user wrote it; may be empty */
	size_t source_len;
	const char *notes[AK_FILTER_NOTES_MAX];	/* remarks for the user */
	uint32_t n_notes;
	const void *insns;	/* count * 8 bytes: struct sock_filter */
	uint32_t count;
};

/**
 * ak_filter_file_encode() - wire form, closed by a check sum
 * Return: bytes written; -ENOBUFS (does not fit), -EINVAL (what decoding would refuse).
 */
long ak_filter_file_encode(const struct ak_filter_file *f, void *buf, size_t cap);

/**
 * ak_filter_file_decode() - read it; everything points into @buf
 * The check sum finds accidents, not attacks: what the filter does has to be looked at by the caller.
 * Return: 0 or -EBADMSG (malformed, a maximum exceeded, wrong check sum). @ret is untouched then.
 */
int ak_filter_file_decode(const void *buf, size_t len, struct ak_filter_file *ret);

/** ak_fnv64() - FNV-1a of bytes, for names of cache entries and check sums. Source: RFC 9923. */
uint64_t ak_fnv64(const void *p, size_t n);

#endif
