/* SPDX-License-Identifier: Apache-2.0 */
/* Files in, two lines out. Any process, no privilege, allocates nothing. */
#include "executor/shared/ak_git_ident.h"

#include <errno.h>
#include <string.h>

#include "executor/shared/ak_wire.h"

static int is_line(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return 0;
	return 1;
}

int git_ident_text_ok(const char *text, size_t len)
{
	return len < GIT_IDENT_MAX && is_line(text, len);
}

int git_ident_path_ok(const char *text, size_t len)
{
	return len > 0 && len < GIT_IDENT_PATH_MAX && is_line(text, len);
}

const struct git_ident_file *git_ident_files_find(const struct git_ident_files *f, const char *path)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->v[i].path, path) == 0)
			return &f->v[i];
	return NULL;
}

long git_ident_files_encode(const struct git_ident_files *f, void *buf, size_t cap)
{
	struct ak_wr w;

	ak_wr_init(&w, buf, cap);
	ak_wr_str(&w, f->home);
	ak_wr_u32(&w, (uint32_t)f->n);
	for (size_t i = 0; i < f->n; i++) {
		ak_wr_str(&w, f->v[i].path);
		ak_wr_u8(&w, f->v[i].root);
		ak_wr_u8(&w, f->v[i].text != NULL);
		ak_wr_bytes(&w, f->v[i].text ? f->v[i].text : "", f->v[i].text ? f->v[i].len : 0);
	}
	return ak_wr_done(&w);
}

int git_ident_files_decode(const void *buf, size_t len, struct git_ident_files *ret)
{
	struct git_ident_files f = { 0 };
	struct ak_rd r;
	bool good = true;
	uint32_t n;

	ak_rd_init(&r, buf, len);
	f.home = ak_rd_str(&r);
	n = ak_rd_u32(&r);
	if (!f.home || n > GIT_IDENT_FILES_MAX)
		return -EBADMSG;
	while (f.n < n) {
		struct git_ident_file *v = &f.v[f.n++];
		unsigned root, there;

		v->path = ak_rd_str(&r);
		root = ak_rd_u8(&r);
		there = ak_rd_u8(&r);
		v->text = ak_rd_bytes(&r, &v->len);
		good = good && v->path && root <= 1 && there <= 1 && (there || v->len == 0);
		v->root = root;
		v->text = there ? v->text : NULL;
	}
	if (ak_rd_done(&r) < 0 || !good)
		return -EBADMSG;
	*ret = f;
	return 0;
}

/* the lines behind the first two. Return: are they paths, and not too many? */
static bool more_ok(const char *text, const char *end)
{
	for (size_t n = 0; text < end; n++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));

		if (!nl || n == GIT_IDENT_FILES_MAX || !git_ident_path_ok(text, (size_t)(nl - text)))
			return false;
		text = nl + 1;
	}
	return true;
}

int git_ident_decode(const char *text, size_t len, struct git_ident *ret, const char **ret_more)
{
	struct git_ident id = { "", "" };
	const char *first = memchr(text, '\n', len);
	size_t n = first ? (size_t)(first - text) : 0;
	const char *second = first ? memchr(first + 1, '\n', len - n - 1) : NULL;
	size_t m = second ? (size_t)(second - first - 1) : 0;

	if (!second || !git_ident_text_ok(text, n) || !git_ident_text_ok(first + 1, m) || !more_ok(second + 1, text + len))
		return -EBADMSG;
	memcpy(id.name, text, n);
	memcpy(id.email, first + 1, m);
	*ret = id;
	*ret_more = second + 1;
	return 0;
}

bool git_ident_more(const char **at, const char *end, char ret[static GIT_IDENT_PATH_MAX])
{
	const char *nl = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;

	if (!nl || !git_ident_path_ok(*at, (size_t)(nl - *at)))
		return false;
	memcpy(ret, *at, (size_t)(nl - *at));
	ret[nl - *at] = '\0';
	*at = nl + 1;
	return true;
}
