/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the includes of a git configuration. Pure. Process: ak-policy. Privilege: none. */
#include "seccomp/gitident.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "seccomp/gitkeys.h"

struct follow {
	const struct git_ident_files *in;
	const struct git_ident_file *file;	/* that is being read */
	struct git_ident *out;
	struct gitident_wanted *wanted;
	unsigned depth, reads;
};

int gitident_path(const char *home, const char *from, const char *text, char ret[static GIT_IDENT_PATH_MAX])
{
	const char *slash = strrchr(from, '/');
	int n;

	if (strncmp(text, "%(prefix)/", 10) == 0 || (text[0] == '~' && text[1] != '/'))
		return -1;
	if (text[0] == '~')
		n = snprintf(ret, GIT_IDENT_PATH_MAX, "%s%s", home, text + 1);
	else if (text[0] == '/' || !slash)
		n = snprintf(ret, GIT_IDENT_PATH_MAX, "%s", text);
	else
		n = snprintf(ret, GIT_IDENT_PATH_MAX, "%.*s/%s", (int)(slash - from), from, text);
	return n > 0 && n < (int)GIT_IDENT_PATH_MAX && git_ident_path_ok(ret, (size_t)n) ? 0 : -1;
}

static void want(struct follow *f, const char *path)
{
	struct gitident_wanted *w = f->wanted;

	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->path[i], path) == 0)
			return;
	if (f->in->n + w->n < GIT_IDENT_FILES_MAX)
		memcpy(w->path[w->n++], path, strlen(path) + 1);
}

static void include(void *arg, const char *text);

static void read_one(struct follow *f, const struct git_ident_file *file)
{
	const struct git_ident_file *was = f->file;

	if (!file->text || f->depth > GITIDENT_DEPTH_MAX || f->reads == GITIDENT_READS_MAX)
		return;
	f->reads++;
	f->depth++;
	f->file = file;
	gitident_read(file->text, file->len, f->out, include, f);
	f->file = was;
	f->depth--;
}

static void include(void *arg, const char *text)
{
	struct follow *f = arg;
	char path[GIT_IDENT_PATH_MAX];
	const struct git_ident_file *file;

	if (gitident_path(f->in->home, f->file->path, text, path) < 0)
		return;
	file = git_ident_files_find(f->in, path);
	if (file)
		read_one(f, file);
	else
		want(f, path);
}

void gitident_files(const struct git_ident_files *in, struct git_ident *ret, struct gitident_wanted *wanted)
{
	struct follow f = { .in = in, .out = ret, .wanted = wanted };

	for (size_t i = 0; i < in->n; i++)
		if (in->v[i].root)
			read_one(&f, &in->v[i]);
}
