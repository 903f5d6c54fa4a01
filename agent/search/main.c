/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ak-search files | text: what find_files and search_text run inside the sandbox. Static; links neither JSON nor network.
 * Process: in the sandbox. Privilege: none. Everything it reads is the sandbox's own, so it can be lied to, no more.
 *
 *   ak-search files PATTERN [PATH]
 *   ak-search text [-i] [-g GLOB] PATTERN [PATH]
 *
 * PATH: a folder or file below the working directory. Output: one path, or PATH:LINE: TEXT, a line; then, in brackets, what was
 * left out. Exit code: 0 found, 1 nothing found, 2 a fault, with one line on standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/search/glob.h"
#include "agent/search/text.h"
#include "agent/search/walk.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_path.h"

#define FILES_MAX 2000u
#define LINES_MAX 1000u
#define LINE_BYTES 400u /* of a line that are shown */

struct search {
	const char *pattern; /* files: of the name, or with a slash of the path from @skip on */
	const char *glob;    /* text: NULL or the same for the files looked into */
	size_t skip;
	struct text_search *text;
	const char *path;    /* text: of the file that is looked into */
	unsigned long found;
	bool more;
	unsigned long hard, large, unreadable;
	struct ak_buf out;
};

static bool name_matches(const char *glob, const char *name, const char *path)
{
	return glob_match(glob, strchr(glob, '/') ? path : name);
}

/* A path as a line of its own: what would break it, or a terminal, shows as '?' */
static void put_path(struct ak_buf *b, const char *path)
{
	size_t at = b->len;

	ak_buf_str(b, path);
	if (!b->failed && b->len > at)
		ak_text_clean(b->data + at);
}

static int found_file(void *ctx, int dir_fd, const char *name, const char *path, bool is_link)
{
	struct search *s = ctx;

	(void)dir_fd;
	(void)is_link;
	if (!name_matches(s->pattern, name, path + s->skip))
		return 0;
	s->more = s->found == FILES_MAX;
	if (s->more)
		return 1;
	s->found++;
	put_path(&s->out, path);
	ak_buf_str(&s->out, "\n");
	return s->out.failed ? -ENOMEM : 0;
}

static bool found_line(void *ctx, unsigned long number, const char *line, size_t len)
{
	struct search *s = ctx;
	size_t n = len < LINE_BYTES ? len : LINE_BYTES;

	s->more = s->found == LINES_MAX;
	if (s->more)
		return false;
	s->found++;
	put_path(&s->out, s->path);
	ak_buf_printf(&s->out, ":%lu: ", number);
	ak_buf_add(&s->out, line, n - (n < len ? ak_utf8_partial(line, n) : 0));
	ak_buf_str(&s->out, n < len ? "\xe2\x80\xa6\n" : "\n");
	return !s->out.failed;
}

static int look_into(void *ctx, int dir_fd, const char *name, const char *path, bool is_link)
{
	struct search *s = ctx;
	int fd;

	if (is_link || (s->glob && !name_matches(s->glob, name, path + s->skip)))
		return 0;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		s->unreadable++;
		return 0;
	}
	s->path = path;
	switch (text_file(s->text, fd, found_line, s, &s->hard)) {
	case TEXT_TOO_LARGE:
		s->large++;
		break;
	case TEXT_UNREADABLE:
		s->unreadable++;
		break;
	default:
		break;
	}
	ak_fd_close(&fd);
	return s->out.failed ? -ENOMEM : s->more;
}

/* A path below the working directory as walk() wants it. Absolute ones are taken from there, if they lie there. */
static char *below_here(const char *path, struct ak_err *err)
{
	char here[WALK_PATH_MAX];
	char *whole;
	char *rest = NULL;

	if (!getcwd(here, sizeof(here))) {
		(void)ak_err_sys(err, errno, "the working directory");
		return NULL;
	}
	whole = ak_path_normalize(here, path);
	if (!whole)
		(void)ak_err_sys(err, errno, "path %s", path);
	else if (!ak_path_below(whole, here))
		(void)ak_err_set(err, EINVAL, "path %s is not below %s", path, here);
	else
		rest = strdup(whole + strlen(here) + (whole[strlen(here)] == '/' && here[1] != '\0'));
	free(whole);
	return rest;
}

/* The folder that @start lies in, and its own name there */
static int open_parent(int top, const char *start, const char **ret_name, struct ak_err *err)
{
	const char *slash = strrchr(start, '/');
	char *parent = strndup(start, slash ? (size_t)(slash - start) : 0);
	int fd = parent ? walk_open(top, parent, err) : ak_err_set(err, ENOMEM, "no memory");

	free(parent);
	*ret_name = slash ? slash + 1 : start;
	return fd;
}

/* @start may be a file: then only that */
static int go(struct search *s, walk_fn *fn, const char *start, struct walk_notes *notes, struct ak_err *err)
{
	AK_AUTO_FD top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AK_AUTO_FD parent = -1;
	const char *name;
	struct stat st;

	if (top < 0)
		return ak_err_sys(err, errno, "the working directory");
	if (!*start)
		return walk(top, start, fn, s, notes, err);
	parent = open_parent(top, start, &name, err);
	if (parent < 0)
		return parent;
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ak_err_sys(err, errno, "%s", start);
	s->skip = strlen(start) + 1;
	if (S_ISDIR(st.st_mode))
		return walk(top, start, fn, s, notes, err);
	s->skip = (size_t)(name - start);
	return fn(s, parent, name, start, S_ISLNK(st.st_mode));
}

static void put_notes(struct search *s, const struct walk_notes *n)
{
	if (s->more)
		ak_buf_str(&s->out, "[more were found than are shown; use a narrower pattern or path]\n");
	if (n->unreadable + s->unreadable)
		ak_buf_printf(&s->out, "[%lu could not be read]\n", n->unreadable + s->unreadable);
	if (n->deep)
		ak_buf_printf(&s->out, "[%lu left out: too deep, or too many names]\n", n->deep);
	if (s->large)
		ak_buf_printf(&s->out, "[%lu files over %u MiB were left out]\n", s->large, TEXT_FILE_MAX >> 20);
	if (s->hard)
		ak_buf_printf(&s->out, "[on %lu lines the pattern took too long; they count as not matching]\n", s->hard);
}

static int fail(const struct ak_err *err)
{
	(void)fprintf(stderr, "ak-search: %s\n", err->msg);
	return 2;
}

static int run(struct search *s, walk_fn *fn, const char *path)
{
	struct ak_err err = { 0 };
	struct walk_notes notes = { 0 };
	char *start = below_here(path ? path : ".", &err);
	int rc = start ? go(s, fn, start, &notes, &err) : -EINVAL;

	free(start);
	if (rc < 0 && err.code == 0)
		(void)ak_err_sys(&err, -rc, "search");
	if (rc < 0)
		return fail(&err);
	put_notes(s, &notes);
	rc = s->out.failed ? -ENOMEM : ak_write_all(STDOUT_FILENO, s->out.data, s->out.len);
	if (rc < 0) {
		(void)ak_err_sys(&err, -rc, "standard output");
		return fail(&err);
	}
	return s->found > 0 ? 0 : 1;
}

static int usage(void)
{
	(void)fprintf(stderr, "ak-search: usage: ak-search files PATTERN [PATH] | text [-i] [-g GLOB] PATTERN [PATH]\n");
	return 2;
}

int main(int argc, char *argv[])
{
	struct search s = { 0 };
	struct ak_err err = { 0 };
	bool files = argc > 1 && strcmp(argv[1], "files") == 0;
	bool ignore_case = false;
	int opt;
	int rc;

	if (!files && (argc < 2 || strcmp(argv[1], "text") != 0))
		return usage();
	opterr = 0;
	optind = 2;
	while ((opt = getopt(argc, argv, files ? "+" : "+ig:")) != -1) {
		if (opt == '?')
			return usage();
		ignore_case = ignore_case || opt == 'i';
		s.glob = opt == 'g' ? optarg : s.glob;
	}
	if (argc - optind < 1 || argc - optind > 2)
		return usage();
	s.pattern = argv[optind];
	if (!files && text_new(s.pattern, ignore_case, &s.text, &err) < 0)
		return fail(&err);
	rc = run(&s, files ? found_file : look_into, argc - optind == 2 ? argv[optind + 1] : NULL);
	text_free(s.text);
	ak_buf_release(&s.out);
	return rc;
}
