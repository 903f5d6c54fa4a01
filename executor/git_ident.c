/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's name and mail in git. Process and privilege: see git_ident.h. */
#include "executor/git_ident.h"

#include <errno.h>
#include <limits.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/cache.h"
#include "executor/companion.h"
#include "executor/config.h"
#include "executor/hostinfo.h"
#include "executor/own_file.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_filter_file.h"
#include "executor/shared/ak_wire.h"

#define FILE_MAX (64u << 10)	/* of one configuration; a longer one says nothing */
#define CACHE "git-ident"	/* folder in the state folder */
#define CACHE_OLD "git"		/* entries of it held whole texts */
#define ENTRY_MAX (GIT_IDENT_ANSWER + 4096u)
#define MAGIC 0x33496b61u	/* "akI3" */

/* what was looked at; reading_release() */
struct reading {
	struct git_ident_files files;
	char *path[GIT_IDENT_FILES_MAX], *text[GIT_IDENT_FILES_MAX];	/* owned */
};

static void reading_release(struct reading *r)
{
	for (size_t i = 0; i < GIT_IDENT_FILES_MAX; i++) {
		free(r->path[i]);
		free(r->text[i]);
	}
}

/* one that is included is noted when it is not there, too, or not ours: it is not asked for again. Return: 0; -ENOMEM */
static int look(struct reading *r, const char *path, bool root)
{
	struct git_ident_files *f = &r->files;
	AK_AUTO_FD fd = own_file_open(path);
	size_t len = 0, i = f->n;
	char *text = NULL;

	if (fd >= 0 && cache_read_whole(fd, FILE_MAX, &text, &len) < 0)
		text = NULL;
	if ((root && !text) || i == GIT_IDENT_FILES_MAX) {
		free(text);
		return 0;
	}
	r->text[i] = text;
	r->path[i] = strdup(path);
	if (!r->path[i])
		return -ENOMEM;
	f->v[f->n++] = (struct git_ident_file){ .path = r->path[i], .text = text, .len = len, .root = root };
	return 0;
}

static int look_at_roots(const struct hostinfo *h, struct reading *r)
{
	const char *global = config_getenv(h->environ, "GIT_CONFIG_GLOBAL"), *xdg = config_getenv(h->environ, "XDG_CONFIG_HOME");
	char path[PATH_MAX] AK_UNINIT;
	int n, e = 0;

	r->files.home = h->home;
	if (global)
		return look(r, global, true);
	n = xdg && xdg[0] == '/' ? snprintf(path, sizeof(path), "%s/git/config", xdg)
				 : snprintf(path, sizeof(path), "%s/.config/git/config", h->home);
	if (n < (int)sizeof(path))
		e = look(r, path, true);
	if (e == 0 && snprintf(path, sizeof(path), "%s/.gitconfig", h->home) < (int)sizeof(path))
		e = look(r, path, true);
	return e;
}

/* the files that an answer wants. Return: how many; -ENOMEM; -EBADMSG: it wants what it was given */
static int look_at_more(struct reading *r, const char *more, const char *end)
{
	char path[GIT_IDENT_PATH_MAX] AK_UNINIT;
	int n = 0;

	while (git_ident_more(&more, end, path)) {
		if (git_ident_files_find(&r->files, path) || r->files.n == GIT_IDENT_FILES_MAX)
			return -EBADMSG;
		if (look(r, path, false) < 0)
			return -ENOMEM;
		n++;
	}
	return n;
}

/* all of it in one text. Return: 0; -ENOMEM */
static int pack(const struct reading *r, char **ret, size_t *ret_len)
{
	size_t cap = strlen(r->files.home) + 64;
	char *buf;
	long n;

	for (size_t i = 0; i < r->files.n; i++)
		cap += strlen(r->files.v[i].path) + r->files.v[i].len + 64;
	buf = malloc(cap);
	n = buf ? git_ident_files_encode(&r->files, buf, cap) : -ENOMEM;
	if (n < 0) {
		free(buf);
		return -ENOMEM;
	}
	*ret = buf;
	*ret_len = (size_t)n;
	return 0;
}

/* for the text in the cache: what else stands in it, like credentials, is nothing to keep */
static void hash_of(const char *text, size_t len, unsigned char ret[static SHA256_DIGEST_LENGTH])
{
	SHA2_CTX sum;

	SHA256Init(&sum);
	SHA256Update(&sum, (const uint8_t *)text, len);
	SHA256Final(ret, &sum);
}

static void entry_name(const unsigned char *hash, char ret[static 16])
{
	(void)snprintf(ret, 16, "%02x", hash[0]);
}

/* Return: 0: the cache knows what the text of this hash says, and *@ret is malloc'ed; -ENOENT */
static int from_cache(const char *state, const unsigned char *hash, char **ret, size_t *ret_len)
{
	char name[16], *bytes = NULL;
	size_t len = 0, hash_len, answer_len;
	const void *source, *answer;
	const char *maker, *more;
	struct git_ident id;
	struct ak_rd r;
	bool good;

	entry_name(hash, name);
	if (cache_get(state, CACHE, name, ENTRY_MAX, &bytes, &len) < 0)
		return -ENOENT;
	ak_rd_init(&r, bytes, len);
	good = ak_rd_u32(&r) == MAGIC;
	maker = ak_rd_str(&r);
	source = ak_rd_bytes(&r, &hash_len);
	answer = ak_rd_bytes(&r, &answer_len);
	good = ak_rd_done(&r) == 0 && good && maker && strcmp(maker, AK_VERSION) == 0 && hash_len == SHA256_DIGEST_LENGTH &&
	       memcmp(source, hash, hash_len) == 0 && git_ident_decode(answer, answer_len, &id, &more) == 0;
	if (good) {	/* the answer is the end of it */
		memmove(bytes, answer, answer_len);
		*ret = bytes;
		*ret_len = answer_len;
		return 0;
	}
	free(bytes);
	return -ENOENT;
}

static void to_cache(const char *state, const unsigned char *hash, const char *answer, size_t len)
{
	char name[16], buf[ENTRY_MAX] AK_UNINIT;
	struct ak_wr w;
	long n;

	if (!state)
		return;
	ak_wr_init(&w, buf, sizeof(buf));
	ak_wr_u32(&w, MAGIC);
	ak_wr_str(&w, AK_VERSION);
	ak_wr_bytes(&w, hash, SHA256_DIGEST_LENGTH);
	ak_wr_bytes(&w, answer, len);
	n = ak_wr_done(&w);
	entry_name(hash, name);
	if (n > 0)
		cache_put(state, CACHE, name, buf, (size_t)n);
	cache_drop(state, CACHE_OLD);
}

/* what ak-policy says of the files that were looked at so far. Return: 0, *@ret is malloc'ed; negative errno, with @err but for -ENOMEM */
static int answer_of(const char *state, const struct reading *r, char **ret, size_t *ret_len, struct ak_err *err)
{
	static const char *const argv[] = { "ak-policy", "gitident", "config", NULL };
	unsigned char hash[SHA256_DIGEST_LENGTH];
	char *text = NULL;
	size_t len = 0;
	int e = pack(r, &text, &len);

	if (e < 0)
		return e;
	hash_of(text, len, hash);
	if (from_cache(state, hash, ret, ret_len) < 0) {
		e = companion_run(argv, text, len, GIT_IDENT_ANSWER, ret, ret_len, err);
		if (e == 0)
			to_cache(state, hash, *ret, *ret_len);
	}
	free(text);
	return e;
}

/* asks until nothing more is wanted: each time at least one file more was looked at, of no more than GIT_IDENT_FILES_MAX */
static int ask(const char *state, struct reading *r, struct git_ident *ret, struct ak_err *err)
{
	int more;

	do {
		char *answer = NULL;
		const char *at = NULL;
		size_t len = 0;
		int e = answer_of(state, r, &answer, &len, err);

		if (e < 0)
			return e;
		more = git_ident_decode(answer, len, ret, &at);
		if (more == 0)
			more = look_at_more(r, at, answer + len);
		free(answer);
	} while (more > 0);
	return more == -EBADMSG ? ak_err_set(err, EBADMSG, "ak-policy gave an answer that is none") : more;
}

int git_ident_find(const struct hostinfo *h, struct git_ident *ret, struct ak_err *err)
{
	struct git_ident id = { "", "" };
	struct reading r = { .files = { .n = 0 } };
	char *state = NULL;
	int e = look_at_roots(h, &r);

	*ret = id;
	if (e == 0 && r.files.n > 0) {
		state = config_cache_state(h->environ, h->home);
		e = ask(state, &r, &id, err);
	}
	if (e == -ENOMEM)
		e = ak_err_set(err, ENOMEM, "no memory for a git configuration");
	if (e == 0)
		*ret = id;
	free(state);
	reading_release(&r);
	return e;
}
