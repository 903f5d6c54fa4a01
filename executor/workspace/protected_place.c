/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a workspace. Process and privilege: see the header. */
#include "executor/workspace/protected_place.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "executor/shared/ak_attr.h"
#include "executor/workspace/fsat.h"
#include "executor/workspace/protected_change.h"

/* is there @name in the folder that the first @len bytes of @path name? */
static bool has_entry(const char *path, size_t len, const char *name)
{
	char full[PATH_MAX] AK_UNINIT;
	struct stat st;

	return snprintf(full, sizeof(full), "%.*s/%s", (int)len, path, name) < (int)sizeof(full) && lstat(full, &st) == 0;
}

/* a repository that is not called .git, as git takes it for one (is_git_directory() in its setup.c) */
static bool is_bare(const char *path, size_t len)
{
	return has_entry(path, len, "HEAD") && has_entry(path, len, "objects") && has_entry(path, len, "refs");
}

/* Return: is the folder that ends at @len protected by its name, and the rest of @path not a project of its own? */
static enum protected_class class_of(const char *path, size_t from, size_t len)
{
	char name[NAME_MAX + 1];
	enum protected_class class;

	if (len - from >= sizeof(name))
		return PROTECTED_NO;
	memcpy(name, path + from, len - from);
	name[len - from] = '\0';
	class = protected_match(name);
	if (class != PROTECTED_BLOCK)
		return class == PROTECTED_GIT ? class : PROTECTED_NO;
	for (size_t at = len; path[at]; at += 1 + strcspn(path + at + 1, "/")) {
		if (at > len && has_entry(path, at, ".git"))
			return PROTECTED_NO;
	}
	return has_entry(path, strlen(path), ".git") ? PROTECTED_NO : class;
}

bool protected_place_prefix(const char *workspace, char *ret)
{
	size_t from = 1;

	ret[0] = '\0';
	while (workspace[0] == '/' && workspace[from]) {
		size_t n = strcspn(workspace + from, "/"), len = from + n;

		if (class_of(workspace, from, len) != PROTECTED_NO)
			return snprintf(ret, PATH_MAX, "%s", workspace + from) > 0;
		if (workspace[len] && is_bare(workspace, len))
			return snprintf(ret, PATH_MAX, ".git%s", workspace + len) > 0;
		from = len + (workspace[len] == '/');
	}
	return false;
}

void protected_place_find(struct protected_place *ret, const char *workspace)
{
	ret->hooks = (struct git_hooks){0};
	(void)snprintf(ret->workspace, sizeof(ret->workspace), "%s", workspace);
	(void)protected_place_prefix(workspace, ret->prefix);
	git_hooks_find(&ret->hooks, workspace);
}

void protected_place_release(struct protected_place *p)
{
	git_hooks_release(&p->hooks);
}

/* Return: @path as it is called from the protected folder; NULL: too long */
static const char *placed(const char *prefix, const char *path, char *buf, size_t size)
{
	if (!*prefix)
		return path;
	return snprintf(buf, size, "%s/%s", prefix, path) < (int)size ? buf : NULL;
}

enum protected_class protected_place_change(const struct protected_place *p, const char *path, bool folder)
{
	char full[PATH_MAX + WS_PATH_MAX + 2] AK_UNINIT;
	const char *at = placed(p->prefix, path, full, sizeof(full));

	if (!folder && git_hooks_has(&p->hooks, path))
		return PROTECTED_BLOCK;
	return at ? protected_change(at, folder) : PROTECTED_BLOCK;
}

bool protected_place_taken(const char *prefix, char *const *names, const char *path)
{
	char full[PATH_MAX + WS_PATH_MAX + 2] AK_UNINIT;
	const char *at = placed(prefix, path, full, sizeof(full));

	return protected_taken(names, path) || (at && at != path && protected_taken(names, at));
}
