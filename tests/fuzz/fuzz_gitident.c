/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Laws of reading git configurations that include each other: it ends; name and mail are lines; what is wanted are paths, each once,
 * none of those that were given, and never more than there may be; the answer in its form is read again as it was. Bytes of value 1 part the
 * files: the first is the root, the others are called "/a", "/b" and so on; behind them stands a question of any bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/gitident.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check_wanted(const struct git_ident_files *in, const struct gitident_wanted *w)
{
	must(in->n + w->n <= GIT_IDENT_FILES_MAX || w->n == 0);
	for (size_t i = 0; i < w->n; i++) {
		must(git_ident_path_ok(w->path[i], strnlen(w->path[i], GIT_IDENT_PATH_MAX)));
		must(!git_ident_files_find(in, w->path[i]));
		for (size_t k = 0; k < i; k++)
			must(strcmp(w->path[i], w->path[k]) != 0);
	}
}

/* as ak-policy prints it */
static void check_answer(const struct git_ident *id, const struct gitident_wanted *w)
{
	char *text = malloc(GIT_IDENT_ANSWER + 1), path[GIT_IDENT_PATH_MAX];
	struct git_ident again;
	const char *more = NULL;
	size_t n;

	must(text != NULL);
	n = (size_t)snprintf(text, GIT_IDENT_ANSWER + 1, "%s\n%s\n", id->name, id->email);
	for (size_t i = 0; i < w->n && n <= GIT_IDENT_ANSWER; i++)
		n += (size_t)snprintf(text + n, GIT_IDENT_ANSWER + 1 - n, "%s\n", w->path[i]);
	must(n <= GIT_IDENT_ANSWER && git_ident_decode(text, n, &again, &more) == 0);
	must(strcmp(again.name, id->name) == 0 && strcmp(again.email, id->email) == 0);
	for (size_t i = 0; i < w->n; i++)
		must(git_ident_more(&more, text + n, path) && strcmp(path, w->path[i]) == 0);
	must(!git_ident_more(&more, text + n, path));
	free(text);
}

static void read_all(const struct git_ident_files *in)
{
	struct gitident_wanted *w = calloc(1, sizeof(*w));
	struct git_ident id = { "", "" };

	must(w != NULL);
	gitident_files(in, &id, w);
	must(git_ident_text_ok(id.name, strnlen(id.name, GIT_IDENT_MAX)) && git_ident_text_ok(id.email, strnlen(id.email, GIT_IDENT_MAX)));
	check_wanted(in, w);
	check_answer(&id, w);
	free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "/h/root", "/a", "/b", "/c", "/d", "/e", "/f" };
	struct git_ident_files in = { .home = "/h" };
	const char *at = (const char *)data, *end = at + size;

	if (git_ident_files_decode(data, size, &in) == 0)
		read_all(&in);
	in = (struct git_ident_files){ .home = "/h" };
	while (at <= end && in.n < sizeof(names) / sizeof(names[0])) {
		const char *next = at < end ? memchr(at, 1, (size_t)(end - at)) : NULL;
		size_t n = (size_t)((next ? next : end) - at);

		in.v[in.n] = (struct git_ident_file){ .path = names[in.n], .text = at, .len = n, .root = in.n == 0 };
		in.n++;
		at += n + 1;
	}
	read_all(&in);
	return 0;
}
