/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the links of a path. Process and privilege: see the header. */
#include "executor/workspace/link_trail.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/ns/sysmount.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_path.h"

/* Return: type bits of @path and, of a link, its text; 0: it is not there */
static mode_t look_in(int top, const char *path, char *text)
{
	AK_AUTO_FD fd = sys_openat2(top, path, O_PATH | O_NOFOLLOW | O_CLOEXEC, AK_RESOLVE_BENEATH | AK_RESOLVE_NO_MAGICLINKS);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	if (S_ISCHR(st.st_mode) && st.st_rdev == 0)
		return S_IFCHR;	/* a whiteout */
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", text, PATH_MAX - 1);
		if (n <= 0)
			return 0;
		text[n] = '\0';
	}
	return st.st_mode & S_IFMT;
}

static mode_t look(const struct link_view *v, const char *path, char *text)
{
	mode_t type = v->upper >= 0 ? look_in(v->upper, path, text) : 0;

	if (type)
		return type == S_IFCHR ? 0 : type;
	return look_in(v->lower, path, text);
}

/* the part of the absolute path @path that lies in the workspace, put into @ret. Return: false: it is elsewhere */
static bool come_back(const char *workspace, const char *path, char *ret)
{
	char *full = workspace ? ak_path_normalize(NULL, path) : NULL, real[PATH_MAX] AK_UNINIT;
	bool found = false;

	/* the host's own links lead there by some part of it; the first that does is where its links end and ours begin */
	for (char *end = full; end && !found; ) {
		char ch;

		end += 1;
		end += strcspn(end, "/");
		ch = *end;
		*end = '\0';
		found = realpath(full, real) && ak_path_below(real, workspace);
		*end = ch;
		if (found) {
			const char *in = real + strlen(workspace);

			in += *in == '/';
			found = snprintf(ret, PATH_MAX, "%s%s%s", in, *in && ch ? "/" : "", ch ? end + 1 : "") < PATH_MAX;
			break;
		}
		if (!ch)
			break;
	}
	free(full);
	return found;
}

/* @done leads above the workspace by what is in @rest, or @rest is absolute */
static bool outside(const struct link_view *v, const char *rest, bool up, char *ret)
{
	char path[2 * PATH_MAX] AK_UNINIT;

	if (!up)
		return come_back(v->workspace, rest, ret);
	return v->workspace && snprintf(path, sizeof(path), "%s/../%s", v->workspace, rest) < (int)sizeof(path) &&
	       come_back(v->workspace, path, ret);
}

/* the text of a link before what was still to go. Return: false: too long */
static bool prepend(char *rest, const char *text)
{
	char both[PATH_MAX] AK_UNINIT;

	if (snprintf(both, sizeof(both), "%s%s%s", text, *rest ? "/" : "", rest) >= (int)sizeof(both))
		return false;
	memcpy(rest, both, strlen(both) + 1);
	return true;
}

/* what is left of @rest behind its first part, which is put into @name. Return: false: too long */
static bool next_part(char *rest, char *name)
{
	size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/"), end = skip + n;

	if (n > NAME_MAX)
		return false;
	memcpy(name, rest + skip, n);
	name[n] = '\0';
	end += strspn(rest + end, "/");
	memmove(rest, rest + end, strlen(rest + end) + 1);
	return true;
}

int link_trail(const struct link_view *v, const char *path, void (*on_link)(void *arg, const char *link), void *arg, char *ret)
{
	char rest[PATH_MAX] AK_UNINIT, text[PATH_MAX] AK_UNINIT, name[NAME_MAX + 1] AK_UNINIT;
	mode_t type = S_IFDIR;
	unsigned links = 0;
	size_t len = 0;

	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return -1;
	ret[0] = '\0';
	while (*rest) {
		size_t n;

		if (!next_part(rest, name))
			return -1;
		if (!*name || strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0 && len == 0) {
			if (++links > LINK_TRAIL_MAX || !outside(v, rest, true, text))
				return -1;
			memcpy(rest, text, strlen(text) + 1);
			continue;
		}
		if (strcmp(name, "..") == 0) {
			char *slash = strrchr(ret, '/');

			len = slash ? (size_t)(slash - ret) : 0;
			ret[len] = '\0';
			type = S_IFDIR;
			continue;
		}
		n = strlen(name);
		if (len + n + 2 > PATH_MAX)
			return -1;
		if (snprintf(ret + len, PATH_MAX - len, "%s%s", len ? "/" : "", name) < 0)
			return -1;
		type = type ? look(v, ret, text) : 0;
		if (!S_ISLNK(type)) {
			len = strlen(ret);
			continue;
		}
		if (on_link)
			on_link(arg, ret);
		if (++links > LINK_TRAIL_MAX || !prepend(rest, text))
			return -1;
		ret[len] = '\0';
		type = S_IFDIR;
		if (*text != '/')
			continue;
		if (!outside(v, rest, false, text))
			return -1;
		memcpy(rest, text, strlen(text) + 1);
		ret[len = 0] = '\0';
	}
	return (int)type;
}
