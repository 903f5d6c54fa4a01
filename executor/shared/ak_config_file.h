/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A config file as ak-policy hands it to the executor, and as the executor keeps it in its cache: names and texts, no JSON.
 * Pure; any process, no privilege, allocates nothing.
 */
#ifndef AK_SHARED_AK_CONFIG_FILE_H
#define AK_SHARED_AK_CONFIG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_config_keys.h"

#define AK_CFG_MAGIC 0x32436b61u	/* "akC2": the version is part of it */
#define AK_CFG_SOURCE_MAX (256u << 10)	/* bytes of a config file */
#define AK_CFG_ITEMS_MAX 1024u
#define AK_CFG_PROFILES_MAX 64u
/* every text of the file once more, with a name, numbers and lengths for each item, and a provider's name before its texts */
#define AK_CFG_FILE_MAX (2u * AK_CFG_SOURCE_MAX + 112u * AK_CFG_ITEMS_MAX + (16u << 10))

enum ak_cfg_op {
	AK_CFG_IS,	/* the value is @value; of a list: one entry */
	AK_CFG_IS_TRUE,
	AK_CFG_IS_FALSE,
	AK_CFG_IS_EMPTY	/* a list without entries, which a policy may mean */
};

/* One setting */
struct ak_cfg_item {
	const struct ak_cfg_key *key;
	enum ak_cfg_section section;	/* where it stands: one of the key's */
	enum ak_cfg_op op;
	const char *value;	/* NULL but for AK_CFG_IS */
	uint32_t profile;	/* 0: none, else the profile's index + 1 */
	uint32_t line, col;	/* in the file, from 1 */
};

struct ak_cfg_file {
	const char *maker;		/* version of ak */
	enum ak_cfg_layer layer;	/* AK_CFG_POLICY, AK_CFG_USER or AK_CFG_WORKSPACE */
	const void *source;		/* the file as it was; may be empty */
	size_t source_len;
	const char *profiles[AK_CFG_PROFILES_MAX];
	uint32_t n_profiles;
	struct ak_cfg_item items[AK_CFG_ITEMS_MAX];	/* in the order of the file */
	uint32_t n_items;
};

/**
 * ak_cfg_file_encode() - wire form, closed by a check sum
 * Return: bytes written; -ENOBUFS (does not fit), -EINVAL (what decoding would refuse).
 */
long ak_cfg_file_encode(const struct ak_cfg_file *f, void *buf, size_t cap);

/**
 * ak_cfg_file_decode() - read it; texts point into @buf, keys into the table
 * Who wrote it may have been taken over by the file it read. So what that file may not say is refused here once more: an unknown
 * key, one that @f->layer may not set, a form that is not the key's, profiles of anybody but the user.
 * Return: 0 or -EBADMSG (malformed, a maximum exceeded, wrong check sum, not allowed). @ret is undefined then.
 */
int ak_cfg_file_decode(const void *buf, size_t len, struct ak_cfg_file *ret);

#endif
