/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the bytes of a config file to its settings, by ak-policy or from the cache. Process: executor. Privilege: the caller's.
 *
 * The cache is a folder of 256 files; a file's name is one byte of the hash of what was read, so the folder cannot grow without
 * end. An entry is believed only when it holds the very bytes, of the same layer, that are to be read now.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/companion.h"
#include "executor/config.h"
#include "executor/hostinfo.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_filter_file.h"
#include "executor/shared/ak_parse.h"

static const char *layer_word(enum ak_cfg_layer layer)
{
	return layer == AK_CFG_POLICY ? "policy" : layer == AK_CFG_USER ? "user" : "workspace";
}

/* Return: descriptor or negative errno */
static int cache_dir(const char *state, bool make)
{
	char path[4096];
	struct stat st;
	int fd;

	if (!state || snprintf(path, sizeof(path), "%s/config", state) >= (int)sizeof(path))
		return -ENOENT;
	if (make)
		hostinfo_make_path(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
		return fd;
	(void)close(fd);
	return -EPERM;
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

static bool cache_get(struct config_source *s, const char *state)
{
	AK_AUTO_FD dir = cache_dir(state, false);
	AK_AUTO_FD fd = -1;
	char name[32], own[32], *bytes = NULL;
	struct stat st;
	size_t len;

	if (dir < 0)
		return false;
	entry_name(s, name);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	(void)snprintf(own, sizeof(own), "/proc/self/fd/%d", fd);
	if (ak_read_file(own, AK_CFG_FILE_MAX, &bytes, &len) < 0)
		return false;
	if (take_answer(s, bytes, len, true))
		return true;
	free(bytes);
	return false;
}

/* best effort: without it the next run asks again. What is written beside the settings are our bytes and our layer */
static void cache_put(const struct config_source *s, const char *state)
{
	AK_AUTO_FD dir = cache_dir(state, true);
	AK_AUTO_FD fd = -1;
	char name[32], temp[64], *buf = dir < 0 ? NULL : malloc(AK_CFG_FILE_MAX);
	long n;

	if (!buf)
		return;
	s->file->source = s->text;
	s->file->source_len = s->len;
	n = ak_cfg_file_encode(s->file, buf, AK_CFG_FILE_MAX);
	entry_name(s, name);
	(void)snprintf(temp, sizeof(temp), ".%s.%d", name, getpid());
	if (n > 0)
		fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && (ak_write_all(fd, buf, (size_t)n) < 0 || renameat(dir, temp, dir, name) < 0))
		(void)unlinkat(dir, temp, 0);
	free(buf);
}

int config_settings(struct config_source *s, const char *state, struct ak_err *err)
{
	const char *const argv[] = { "ak-policy", "config", layer_word(s->layer), s->path, NULL };
	char *answer = NULL;
	size_t len = 0;
	int e;

	if (cache_get(s, state))
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
	cache_put(s, state);
	return 0;
}
