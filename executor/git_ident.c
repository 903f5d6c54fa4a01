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
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_filter_file.h"
#include "executor/shared/ak_wire.h"

#define FILE_MAX (64u << 10)	/* of one configuration; a longer one says nothing */
#define CACHE "git-ident"	/* folder in the state folder */
#define CACHE_OLD "git"		/* entries of it held whole texts */
#define ENTRY_MAX (GIT_IDENT_ANSWER + 4096u)
#define MAGIC 0x32496b61u	/* "akI2" */

/* what a file says, with a section of nobody's behind it: the next file begins without one. Nothing when it is not there, or not ours */
static void add_file(const char *path, struct ak_buf *out)
{
	AK_AUTO_FD fd = own_file_open(path);
	char *bytes = NULL;
	size_t len = 0;

	if (fd < 0 || cache_read_whole(fd, FILE_MAX, &bytes, &len) < 0)
		return;
	ak_buf_add(out, bytes, len);
	ak_buf_str(out, "\n[ak]\n");
	free(bytes);
}

static void read_files(const struct hostinfo *h, struct ak_buf *out)
{
	const char *global = config_getenv(h->environ, "GIT_CONFIG_GLOBAL"), *xdg = config_getenv(h->environ, "XDG_CONFIG_HOME");
	char path[PATH_MAX] AK_UNINIT;
	int n;

	if (global) {
		add_file(global, out);
		return;
	}
	n = xdg && xdg[0] == '/' ? snprintf(path, sizeof(path), "%s/git/config", xdg)
				 : snprintf(path, sizeof(path), "%s/.config/git/config", h->home);
	if (n < (int)sizeof(path))
		add_file(path, out);
	if (snprintf(path, sizeof(path), "%s/.gitconfig", h->home) < (int)sizeof(path))
		add_file(path, out);
}

/* for the text in the cache: what else stands in it, like credentials, is nothing to keep */
static void hash_of(const struct ak_buf *text, unsigned char ret[static SHA256_DIGEST_LENGTH])
{
	SHA2_CTX sum;

	SHA256Init(&sum);
	SHA256Update(&sum, (const uint8_t *)text->data, text->len);
	SHA256Final(ret, &sum);
}

static void entry_name(const unsigned char *hash, char ret[static 16])
{
	(void)snprintf(ret, 16, "%02x", hash[0]);
}

/* Return: whether the cache knows what the text of this hash says */
static bool from_cache(const char *state, const unsigned char *hash, struct git_ident *ret)
{
	char name[16], *bytes = NULL;
	size_t len = 0, hash_len, answer_len;
	const void *source, *answer;
	const char *maker;
	struct ak_rd r;
	bool good;

	entry_name(hash, name);
	if (cache_get(state, CACHE, name, ENTRY_MAX, &bytes, &len) < 0)
		return false;
	ak_rd_init(&r, bytes, len);
	good = ak_rd_u32(&r) == MAGIC;
	maker = ak_rd_str(&r);
	source = ak_rd_bytes(&r, &hash_len);
	answer = ak_rd_bytes(&r, &answer_len);
	good = ak_rd_done(&r) == 0 && good && maker && strcmp(maker, AK_VERSION) == 0 && hash_len == SHA256_DIGEST_LENGTH &&
	       memcmp(source, hash, hash_len) == 0 && git_ident_decode(answer, answer_len, ret) == 0;
	free(bytes);
	return good;
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

static int ask(const char *state, const unsigned char *hash, const struct ak_buf *text, struct git_ident *ret, struct ak_err *err)
{
	static const char *const argv[] = { "ak-policy", "gitident", "config", NULL };
	char *answer = NULL;
	size_t len = 0;
	int e = companion_run(argv, text->data, text->len, GIT_IDENT_ANSWER, &answer, &len, err);

	if (e == 0 && git_ident_decode(answer, len, ret) < 0)
		e = ak_err_set(err, EBADMSG, "ak-policy gave an answer that is none");
	if (e == 0)
		to_cache(state, hash, answer, len);
	free(answer);
	return e;
}

int git_ident_find(const struct hostinfo *h, struct git_ident *ret, struct ak_err *err)
{
	unsigned char hash[SHA256_DIGEST_LENGTH];
	struct ak_buf text = { 0 };
	char *state;
	int e = 0;

	*ret = (struct git_ident){ "", "" };
	read_files(h, &text);
	if (text.failed || text.len == 0) {
		ak_buf_release(&text);
		return 0;
	}
	state = config_cache_state(h->environ, h->home);
	hash_of(&text, hash);
	if (!from_cache(state, hash, ret))
		e = ask(state, hash, &text, ret, err);
	free(state);
	ak_buf_release(&text);
	return e;
}
