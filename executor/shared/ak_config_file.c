/* SPDX-License-Identifier: Apache-2.0 */
/* Wire form of a config file. Any process, no privilege, allocates nothing. */
#include "executor/shared/ak_config_file.h"

#include <errno.h>
#include <string.h>

#include "executor/shared/ak_filter_file.h"
#include "executor/shared/ak_wire.h"

#define SUM_BYTES 8u

/* does the form of the value fit the key? */
static bool fits(const struct ak_cfg_item *i)
{
	bool list = ak_cfg_is_list(i->key);
	char name[AK_CFG_PROVIDER_NAME_MAX + 1];
	enum ak_cfg_provider_field field;

	switch (i->op) {
	case AK_CFG_IS:
		return i->value && i->key->kind != AK_CFG_BOOL &&
		       (i->key->kind != AK_CFG_PROVIDERS || ak_cfg_provider_split(i->value, name, &field));
	case AK_CFG_IS_TRUE:
	case AK_CFG_IS_FALSE:
		return !i->value && i->key->kind == AK_CFG_BOOL;
	case AK_CFG_IS_EMPTY:
		return !i->value && list;
	}
	return false;
}

static bool valid_item(const struct ak_cfg_file *f, const struct ak_cfg_item *i)
{
	return i->key && i->section < AK_CFG_SECTIONS && ak_cfg_in(i->key, i->section) && fits(i) && ak_cfg_may(i->key, i->profile ? AK_CFG_PROFILE : f->layer) && i->profile <= f->n_profiles &&
	       i->line > 0 && i->col > 0;
}

static bool valid(const struct ak_cfg_file *f)
{
	if (!f->maker || f->source_len > AK_CFG_SOURCE_MAX || f->n_profiles > AK_CFG_PROFILES_MAX || f->n_items > AK_CFG_ITEMS_MAX)
		return false;
	if (f->layer != AK_CFG_POLICY && f->layer != AK_CFG_USER && f->layer != AK_CFG_WORKSPACE)
		return false;
	if (f->n_profiles && f->layer != AK_CFG_USER)
		return false;
	for (uint32_t i = 0; i < f->n_profiles; i++)
		if (!f->profiles[i] || !ak_cfg_profile_name_ok(f->profiles[i]))
			return false;
	for (uint32_t i = 0; i < f->n_items; i++)
		if (!valid_item(f, &f->items[i]))
			return false;
	return true;
}

long ak_cfg_file_encode(const struct ak_cfg_file *f, void *buf, size_t cap)
{
	struct ak_wr w;

	if (!valid(f))
		return -EINVAL;
	ak_wr_init(&w, buf, cap);
	ak_wr_u32(&w, AK_CFG_MAGIC);
	ak_wr_str(&w, f->maker);
	ak_wr_u32(&w, f->layer);
	ak_wr_bytes(&w, f->source, f->source_len);
	ak_wr_u32(&w, f->n_profiles);
	for (uint32_t i = 0; i < f->n_profiles; i++)
		ak_wr_str(&w, f->profiles[i]);
	ak_wr_u32(&w, f->n_items);
	for (uint32_t i = 0; i < f->n_items; i++) {
		const struct ak_cfg_item *it = &f->items[i];

		ak_wr_u8(&w, (uint8_t)it->section);
		ak_wr_str(&w, it->key->name);
		ak_wr_u8(&w, (uint8_t)it->op);
		ak_wr_str(&w, it->value);
		ak_wr_u32(&w, it->profile);
		ak_wr_u32(&w, it->line);
		ak_wr_u32(&w, it->col);
	}
	if (!w.failed)
		ak_wr_u64(&w, ak_fnv64(buf, w.len));
	return ak_wr_done(&w);
}

/* Return: false when the reader has failed or the key is none */
static bool read_item(struct ak_rd *r, struct ak_cfg_item *ret)
{
	uint8_t section = ak_rd_u8(r);
	const char *name = ak_rd_str(r);
	uint8_t op = ak_rd_u8(r);

	ret->section = section < AK_CFG_SECTIONS ? (enum ak_cfg_section)section : AK_CFG_SECTIONS;
	ret->key = name && section < AK_CFG_SECTIONS ? ak_cfg_find(ret->section, name) : NULL;
	ret->value = ak_rd_str(r);
	ret->profile = ak_rd_u32(r);
	ret->line = ak_rd_u32(r);
	ret->col = ak_rd_u32(r);
	/* one spelling only: what decodes encodes to the same bytes */
	if (op > AK_CFG_IS_EMPTY || !ret->key || strcmp(ret->key->name, name) != 0)
		return false;
	ret->op = (enum ak_cfg_op)op;
	return !r->failed;
}

int ak_cfg_file_decode(const void *buf, size_t len, struct ak_cfg_file *ret)
{
	struct ak_rd r;
	uint32_t layer;
	uint64_t sum;

	if (len <= SUM_BYTES)
		return -EBADMSG;
	ak_rd_init(&r, buf, len);
	if (ak_rd_u32(&r) != AK_CFG_MAGIC)
		return -EBADMSG;
	ret->maker = ak_rd_str(&r);
	layer = ak_rd_u32(&r);
	ret->layer = layer < AK_CFG_LAYERS ? (enum ak_cfg_layer)layer : AK_CFG_DEFAULT;
	ret->source = ak_rd_bytes(&r, &ret->source_len);
	ret->n_profiles = ak_rd_u32(&r);
	if (ret->n_profiles > AK_CFG_PROFILES_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < ret->n_profiles; i++)
		ret->profiles[i] = ak_rd_str(&r);
	ret->n_items = ak_rd_u32(&r);
	if (r.failed || ret->n_items > AK_CFG_ITEMS_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < ret->n_items; i++)
		if (!read_item(&r, &ret->items[i]))
			return -EBADMSG;
	sum = ak_rd_u64(&r);
	if (ak_rd_done(&r) < 0 || !valid(ret) || sum != ak_fnv64(buf, len - SUM_BYTES))
		return -EBADMSG;
	return 0;
}
