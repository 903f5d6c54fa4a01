/* SPDX-License-Identifier: Apache-2.0 */
/* Finds core.hooksPath. Process and privilege: see the header. */
#include "executor/workspace/git_hooks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/hostinfo.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"

#define KEY "hookspath"
#define KEY_LEN (sizeof(KEY) - 1)
#define GITDIR "gitdir:"
#define LINK_BYTES 4096u	/* of a file ".git" or "commondir" */

/* what is looked into: whose ids it is read with, and where what is found counts */
struct look {
	struct git_hooks *h;
	const char *top;	/* of the repository */
	const char *workspace;
	uid_t owner;		/* of the workspace */
	bool lent;		/* we are root, and have its owner's file ids for now */
};

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

/*
 * Only a regular file is opened: a device is not even by a link. Links are followed as git does, with the rights of the workspace's
 * owner: what is found has no other use than to protect more. Return: -1
 */
static int open_file(const struct look *l, const char *path, struct stat *st)
{
	AK_AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);
	char self[sizeof("/proc/self/fd/") + 12];

	if (fd < 0 || fstat(fd, st) < 0 || !S_ISREG(st->st_mode))
		return -1;
	/* a group of ours may still open it */
	if (l->lent && st->st_uid == 0 && !(st->st_mode & S_IROTH)) {
		errno = EACCES;
		return -1;
	}
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Return: malloc'ed bytes, or NULL. What is there and cannot be read in whole is not known */
static char *read_file(const struct look *l, const char *path, size_t max, size_t *ret_len)
{
	struct stat st;
	AK_AUTO_FD fd = (errno = 0, open_file(l, path, &st));
	ssize_t n = -1;
	char *buf;

	if (fd < 0) {
		l->h->unclear |= l->lent && errno == EACCES;
		return NULL;
	}
	l->h->unclear |= st.st_size > (off_t)max;
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

/* git obeys the last value: what is named again is put last, and where there is no room the first goes */
void git_hooks_note(struct git_hooks *h, const char *path)
{
	char *copy = strdup(path);
	size_t i = 0;

	if (!copy)
		return;
	while (i < h->n && strcmp(h->path[i], copy) != 0)
		i++;
	if (i == GIT_HOOKS_MAX) {
		h->unclear = true;
		i = 0;
	}
	if (i < h->n) {
		free(h->path[i]);
		memmove(&h->path[i], &h->path[i + 1], (--h->n - i) * sizeof(h->path[0]));
	}
	h->path[h->n++] = copy;
}

static void add_path(struct git_hooks *h, const char *path, const char *workspace)
{
	const char *rel = ak_path_below(path, workspace) ? path + strlen(workspace) : NULL;

	if (rel)
		git_hooks_note(h, rel + (*rel == '/'));
}

/* Return: @path with the links of what exists of it followed, malloc'ed; NULL: it cannot be told */
static char *real_of(const char *base, const char *path)
{
	char text[PATH_MAX] AK_UNINIT, real[PATH_MAX] AK_UNINIT;
	size_t len, end;

	if (snprintf(text, sizeof(text), "%s%s%s", *path == '/' ? "" : base, *path == '/' ? "" : "/", path) >= (int)sizeof(text))
		return NULL;
	for (len = end = strlen(text);; text[end] = '\0') {
		if (end == 0)
			return NULL;
		if (realpath(text, real))
			break;
		if (end < len)
			text[end] = '/';
		while (end > 0 && text[end - 1] == '/')
			end--;
		while (end > 0 && text[end - 1] != '/')
			end--;
		if (end > 1)
			end--;
		if (end == 1 && text[0] == '/')	/* "/x": the top, which is always there */
			return ak_path_normalize(NULL, text);
	}
	if (end == len)
		return ak_path_normalize(NULL, real);
	return ak_path_normalize(real, text + end + 1);
}

static void add_both(const struct look *l, const char *base, const char *value)
{
	char *path = ak_path_normalize(base, value), *real = real_of(base, value);

	if (path)
		add_path(l->h, path, l->workspace);
	if (real)
		add_path(l->h, real, l->workspace);
	free(real);
	free(path);
}

/* "~": the home of whoever runs git later. Known are the caller, by HOME and by passwd, and the workspace's owner */
static void add_home(const struct look *l, const char *rest)
{
	const char *env = getenv("HOME");
	char *homes[2] = {hostinfo_home_of(geteuid()), l->owner == geteuid() ? NULL : hostinfo_home_of(l->owner)};

	rest += strspn(rest, "/");
	if (!*rest)
		rest = ".";
	for (size_t i = 0; i < 2; i++) {
		if (homes[i])
			add_both(l, homes[i], rest);
		free(homes[i]);
	}
	if (env && *env == '/')
		add_both(l, env, rest);
}

static void add_folder(const struct look *l, const char *value)
{
	if (value[0] == '~' && (value[1] == '/' || value[1] == '\0'))
		add_home(l, value + 1);
	else if (value[0] == '~' || strncmp(value, "%(", 2) == 0 || strncmp(value, ":(", 2) == 0)
		l->h->unclear = true;	/* another's home, or what a git of its own knows */
	else
		add_both(l, l->top, value);
}

/* @git: a folder that holds a configuration */
static void look_into(const struct look *l, const char *git, const char *name)
{
	char path[PATH_MAX] AK_UNINIT, value[PATH_MAX] AK_UNINIT;
	size_t len, pos = 0;
	char *text;

	if (snprintf(path, sizeof(path), "%s/%s", git, name) >= (int)sizeof(path))
		return;
	text = read_file(l, path, GIT_HOOKS_CONFIG, &len);
	while (text && git_hooks_value(text, len, &pos, value, sizeof(value)))
		add_folder(l, value);
	free(text);
}

/* the first line of a small file, behind @label, as a path from @base. Return: malloc'ed, or NULL */
static char *path_in(const struct look *l, const char *file, const char *label, const char *base)
{
	size_t len, n = strlen(label);
	char *text = read_file(l, file, LINK_BYTES, &len), *path = NULL, *p;

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
static void add_linked(const struct look *l, const char *dotgit)
{
	char *git = path_in(l, dotgit, GITDIR, l->top), *common = NULL;
	char file[PATH_MAX] AK_UNINIT;

	if (git) {
		look_into(l, git, "config");
		look_into(l, git, "config.worktree");
		if (snprintf(file, sizeof(file), "%s/commondir", git) < (int)sizeof(file))
			common = path_in(l, file, "", git);
	}
	if (common)
		look_into(l, common, "config");
	free(common);
	free(git);
}

static void look_at(const struct look *l, const char *dotgit)
{
	struct stat st;

	if (stat(dotgit, &st) < 0)
		return;
	if (S_ISREG(st.st_mode)) {
		add_linked(l, dotgit);
	} else if (S_ISDIR(st.st_mode)) {
		look_into(l, dotgit, "config");
		look_into(l, dotgit, "config.worktree");
	}
}

void git_hooks_add(struct git_hooks *h, const char *top, const char *workspace)
{
	struct look l = {.h = h, .top = top, .workspace = workspace};
	char dotgit[PATH_MAX] AK_UNINIT;
	int uid = 0, gid = 0;
	struct stat st;

	if (snprintf(dotgit, sizeof(dotgit), "%s/.git", top) >= (int)sizeof(dotgit) || stat(dotgit, &st) < 0 || stat(workspace, &st) < 0)
		return;
	l.owner = st.st_uid;
	l.lent = geteuid() == 0 && l.owner != 0;
	if (l.lent) {
		gid = setfsgid(st.st_gid);
		uid = setfsuid(st.st_uid);
	}
	look_at(&l, dotgit);
	if (l.lent) {
		(void)setfsuid((uid_t)uid);
		(void)setfsgid((gid_t)gid);
	}
}

void git_hooks_find(struct git_hooks *h, const char *workspace)
{
	char top[PATH_MAX] AK_UNINIT;
	char *slash;

	free(h->workspace);
	h->workspace = strdup(workspace);
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
	const char *slash = strrchr(path, '/');

	if (h->unclear && is_hook_name(slash ? slash + 1 : path))
		return true;
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
	free(h->workspace);
	*h = (struct git_hooks){0};
}
