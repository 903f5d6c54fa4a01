/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the bytes of a config file to its settings, by ak-policy or from the cache. Process: executor. Privilege: the caller's.
 *
 * The cache is a folder of 256 files; a file's name is one byte of the hash of what was read, so the folder cannot grow without
 * end. An entry is believed only when it holds the very bytes, of the same layer, that are to be read now.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/cache.h"
#include "executor/companion.h"
#include "executor/config.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_filter_file.h"

#define CACHE "config"	/* folder in the state folder */

static const char *layer_word(enum ak_cfg_layer layer)
{
	return layer == AK_CFG_POLICY ? "policy" : layer == AK_CFG_USER ? "user" : "workspace";
}

static void entry_name(const struct config_source *s, char ret[32])
{
	uint64_t h = ak_fnv64(s->text, s->len);

	(void)snprintf(ret, 32, "%s-%02x", layer_word(s->layer), (unsigned)((h ^ (h >> 32)) & 0xff));
}

/* takes @bytes when they are good. Return: whether they are */
static bool take_answer(struct config_source *s, char *bytes, size_t len, bool cached)
{
	struct ak_cfg_file *f = malloc(sizeof(*f));
	bool good = f && ak_cfg_file_decode(bytes, len, f) == 0 && f->layer == s->layer && strcmp(f->maker, AK_VERSION) == 0;

	if (good && cached)
		good = f->source_len == s->len && (s->len == 0 || memcmp(f->source, s->text, s->len) == 0);
	if (!good) {
		free(f);
		return false;
	}
	s->answer = bytes;
	s->file = f;
	return true;
}

static bool from_cache(struct config_source *s, const char *state)
{
	char name[32], *bytes = NULL;
	size_t len = 0;

	entry_name(s, name);
	if (cache_get(state, CACHE, name, AK_CFG_FILE_MAX, &bytes, &len) < 0)
		return false;
	if (take_answer(s, bytes, len, true))
		return true;
	free(bytes);
	return false;
}

/* What is written beside the settings are our bytes and our layer */
static void to_cache(const struct config_source *s, const char *state)
{
	char name[32], *buf = state ? malloc(AK_CFG_FILE_MAX) : NULL;
	long n;

	if (!buf)
		return;
	s->file->source = s->text;
	s->file->source_len = s->len;
	n = ak_cfg_file_encode(s->file, buf, AK_CFG_FILE_MAX);
	entry_name(s, name);
	if (n > 0)
		cache_put(state, CACHE, name, buf, (size_t)n);
	free(buf);
}

int config_settings(struct config_source *s, const char *state, struct ak_err *err)
{
	const char *const argv[] = { "ak-policy", "config", layer_word(s->layer), s->path, NULL };
	char *answer = NULL;
	size_t len = 0;
	int e;

	if (from_cache(s, state))
		return 0;
	e = companion_run(argv, s->text, s->len, AK_CFG_FILE_MAX, &answer, &len, err);
	if (e < 0)
		return e;
	if (!take_answer(s, answer, len, false)) {
		free(answer);
		(void)ak_err_set(err, EBADMSG, "%s: ak-policy gave an answer that is none", s->path);
		ak_err_hint(err, "do ak and ak-policy belong to the same version?");
		return -EBADMSG;
	}
	to_cache(s, state);
	return 0;
}
