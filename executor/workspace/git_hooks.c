/* SPDX-License-Identifier: Apache-2.0 */
/* Finds core.hooksPath. Process and privilege: see the header. */
#include "executor/workspace/git_hooks.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"

#define KEY "hookspath"
#define KEY_LEN (sizeof(KEY) - 1)
#define GITDIR "gitdir:"
#define LINK_BYTES 4096u	/* of a file ".git" or "commondir" */

/* A key stands at the start of a line, or behind the "]" of its section. Which section it is does not matter: too much is safe */
static bool key_at(const char *text, size_t at)
{
	while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
		at--;
	return at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r' || text[at - 1] == ']';
}

/* the value that starts at @at, up to the end of its line. Return: its length */
static size_t take_value(const char *text, size_t len, size_t at, char *ret, size_t size)
{
	size_t n = 0, kept = 0;
	bool quoted = false;

	for (; at < len && text[at] != '\n' && text[at] != '\0' && n + 1 < size; at++) {
		char ch = text[at];

		if (!quoted && (ch == '#' || ch == ';'))
			break;
		if (ch == '"') {
			quoted = !quoted;
			kept = n;
			continue;
		}
		if (ch == '\\' && at + 1 < len) {
			ch = text[++at];
			if (ch == '\n')	/* goes on in the next line */
				continue;
			if (ch == '\0')	/* no path has it */
				return 0;
			ch = ch == 'n' ? '\n' : ch == 't' ? '\t' : ch;
		}
		ret[n++] = ch;
		if (quoted || !isspace((unsigned char)ch))
			kept = n;
	}
	ret[kept] = '\0';
	return at < len && text[at] != '\n' && text[at] != '\0' && text[at] != '#' && text[at] != ';' ? 0 : kept;
}

bool git_hooks_value(const char *text, size_t len, size_t *pos, char *ret, size_t size)
{
	for (size_t i = *pos; i + KEY_LEN < len; i++) {
		size_t at = i + KEY_LEN;

		if (strncasecmp(text + i, KEY, KEY_LEN) != 0 || !key_at(text, i))
			continue;
		while (at < len && (text[at] == ' ' || text[at] == '\t'))
			at++;
		if (at == len || text[at] != '=')
			continue;
		at++;
		while (at < len && (text[at] == ' ' || text[at] == '\t'))
			at++;
		*pos = at;
		if (take_value(text, len, at, ret, size) > 0)
			return true;
	}
	*pos = len;
	return false;
}

/* Return: malloc'ed bytes, or NULL. A link is followed as git does: what is found has no other use than to protect more */
static char *read_file(const char *path, size_t max, size_t *ret_len)
{
	AK_AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;
	char *buf;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	buf = malloc(max + 1);
	if (buf)
		n = read(fd, buf, max);
	if (n < 0) {
		free(buf);
		return NULL;
	}
	buf[n] = '\0';
	*ret_len = (size_t)n;
	return buf;
}

static void add_folder(struct git_hooks *h, const char *value, const char *top, const char *workspace)
{
	char *path = *value == '~' ? NULL : ak_path_normalize(top, value);
	const char *rel = path && ak_path_below(path, workspace) ? path + strlen(workspace) : NULL;
	char *copy = NULL;

	if (rel && h->n < GIT_HOOKS_MAX)
		copy = strdup(rel + (*rel == '/'));
	for (size_t i = 0; copy && i < h->n; i++) {
		if (strcmp(h->path[i], copy) == 0) {
			free(copy);
			copy = NULL;
		}
	}
	if (copy)
		h->path[h->n++] = copy;
	free(path);
}

/* @git: a folder that holds a configuration */
static void look_into(struct git_hooks *h, const char *git, const char *name, const char *top, const char *workspace)
{
	char path[PATH_MAX] AK_UNINIT, value[PATH_MAX] AK_UNINIT;
	size_t len, pos = 0;
	char *text;

	if (snprintf(path, sizeof(path), "%s/%s", git, name) >= (int)sizeof(path))
		return;
	text = read_file(path, GIT_HOOKS_CONFIG, &len);
	while (text && git_hooks_value(text, len, &pos, value, sizeof(value)))
		add_folder(h, value, top, workspace);
	free(text);
}

/* the first line of a small file, behind @label, as a path from @base. Return: malloc'ed, or NULL */
static char *path_in(const char *file, const char *label, const char *base)
{
	size_t len, n = strlen(label);
	char *text = read_file(file, LINK_BYTES, &len), *path = NULL, *p;

	if (text && strncmp(text, label, n) == 0) {
		p = text + n;
		p += strspn(p, " \t");
		p[strcspn(p, "\r\n")] = '\0';
		path = *p ? ak_path_normalize(base, p) : NULL;
	}
	free(text);
	return path;
}

/* a linked worktree or a submodule: ".git" is a file that says where its folder is, and that one where the common one is */
static void add_linked(struct git_hooks *h, const char *dotgit, const char *top, const char *workspace)
{
	char *git = path_in(dotgit, GITDIR, top), *common = NULL;
	char file[PATH_MAX] AK_UNINIT;

	if (git) {
		look_into(h, git, "config", top, workspace);
		look_into(h, git, "config.worktree", top, workspace);
		if (snprintf(file, sizeof(file), "%s/commondir", git) < (int)sizeof(file))
			common = path_in(file, "", git);
	}
	if (common)
		look_into(h, common, "config", top, workspace);
	free(common);
	free(git);
}

void git_hooks_add(struct git_hooks *h, const char *top, const char *workspace)
{
	char dotgit[PATH_MAX] AK_UNINIT;
	struct stat st;

	if (snprintf(dotgit, sizeof(dotgit), "%s/.git", top) >= (int)sizeof(dotgit) || stat(dotgit, &st) < 0)
		return;
	if (S_ISREG(st.st_mode)) {
		add_linked(h, dotgit, top, workspace);
	} else if (S_ISDIR(st.st_mode)) {
		look_into(h, dotgit, "config", top, workspace);
		look_into(h, dotgit, "config.worktree", top, workspace);
	}
}

void git_hooks_find(struct git_hooks *h, const char *workspace)
{
	char top[PATH_MAX] AK_UNINIT;
	char *slash;

	if (snprintf(top, sizeof(top), "%s", workspace) >= (int)sizeof(top))
		return;
	do {
		git_hooks_add(h, top, workspace);
		slash = strrchr(top, '/');
		if (slash)
			*slash = '\0';
	} while (slash && slash != top);
}

static bool is_hook_name(const char *name)
{
	/* githooks(5) */
	static const char *const names[] = {
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
		"commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
		"proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
		"post-rewrite", "sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist",
		"p4-post-changelist", "p4-pre-submit", "post-index-change",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcasecmp(names[i], name) == 0)
			return true;
	}
	return false;
}

bool git_hooks_has(const struct git_hooks *h, const char *path)
{
	for (size_t i = 0; i < h->n; i++) {
		size_t n = strlen(h->path[i]);

		if (n == 0 ? is_hook_name(path) : strncasecmp(path, h->path[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
			return true;
	}
	return false;
}

void git_hooks_release(struct git_hooks *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->path[i]);
	*h = (struct git_hooks){0};
}
