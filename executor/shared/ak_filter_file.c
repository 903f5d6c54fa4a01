/* SPDX-License-Identifier: Apache-2.0 */
/* Wire form of a compiled user profile. Any process, no privilege, allocates nothing. */
#include "executor/shared/ak_filter_file.h"

#include <errno.h>

#include "executor/shared/ak_wire.h"

#define SUM_BYTES 8u

uint64_t ak_fnv64(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 0x100000001b3u;
	return h;
}

static int valid(const struct ak_filter_file *f)
{
	if (!f->maker || !f->arch || !f->release || f->count == 0 || f->count > AK_FILTER_INSNS_MAX || !f->insns)
		return 0;
	if (f->source_len > AK_FILTER_SOURCE_MAX || f->n_notes > AK_FILTER_NOTES_MAX)
		return 0;
	for (uint32_t i = 0; i < f->n_notes; i++)
		if (!f->notes[i])
			return 0;
	return 1;
}

long ak_filter_file_encode(const struct ak_filter_file *f, void *buf, size_t cap)
{
	struct ak_wr w;

	if (!valid(f))
		return -EINVAL;
	ak_wr_init(&w, buf, cap);
	ak_wr_u32(&w, AK_FILTER_MAGIC);
	ak_wr_str(&w, f->maker);
	ak_wr_str(&w, f->arch);
	ak_wr_str(&w, f->release);
	ak_wr_bytes(&w, f->source, f->source_len);
	ak_wr_u32(&w, f->n_notes);
	for (uint32_t i = 0; i < f->n_notes; i++)
		ak_wr_str(&w, f->notes[i]);
	ak_wr_bytes(&w, f->insns, (size_t)f->count * 8);
	if (!w.failed)
		ak_wr_u64(&w, ak_fnv64(buf, w.len));
	return ak_wr_done(&w);
}

int ak_filter_file_decode(const void *buf, size_t len, struct ak_filter_file *ret)
{
	struct ak_filter_file f = { 0 };
	struct ak_rd r;
	size_t insns = 0;
	uint64_t sum;

	if (len <= SUM_BYTES)
		return -EBADMSG;
	ak_rd_init(&r, buf, len);
	if (ak_rd_u32(&r) != AK_FILTER_MAGIC)
		return -EBADMSG;
	f.maker = ak_rd_str(&r);
	f.arch = ak_rd_str(&r);
	f.release = ak_rd_str(&r);
	f.source = ak_rd_bytes(&r, &f.source_len);
	f.n_notes = ak_rd_u32(&r);
	if (f.n_notes > AK_FILTER_NOTES_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < f.n_notes; i++)
		f.notes[i] = ak_rd_str(&r);
	f.insns = ak_rd_bytes(&r, &insns);
	f.count = (uint32_t)(insns / 8);
	sum = ak_rd_u64(&r);
	if (ak_rd_done(&r) < 0 || insns % 8 || insns / 8 > AK_FILTER_INSNS_MAX || !valid(&f) ||
	    sum != ak_fnv64(buf, len - SUM_BYTES))
		return -EBADMSG;
	*ret = f;
	return 0;
}
