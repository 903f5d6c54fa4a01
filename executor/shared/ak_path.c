/* SPDX-License-Identifier: Apache-2.0 */
/* Path text: lexical only, nothing touches the file system. Any process, no privilege. */
#include "executor/shared/ak_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATH_LEN_MAX 4095 /* PATH_MAX counts the NUL: limits.h */

/*
 * Append the components of @path to the @len bytes in @out, which hold "" (the root) or "/a/b". @out has room
 * for all of
 * @path and a slash more.
 */
static size_t add_components(char *out, size_t len, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (len > 0 && out[--len] != '/')
				;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			out[len++] = '/';
			memcpy(out + len, path, n);
			len += n;
		}
		path += n + (path[n] == '/');
	}
	return len;
}

char *ak_path_normalize(const char *base, const char *path)
{
	bool absolute = path[0] == '/';

	if (path[0] == '\0' || (!absolute && (!base || base[0] != '/'))) {
		errno = EINVAL;
		return NULL;
	}

	char *out = malloc((absolute ? 0 : strlen(base)) + strlen(path) + 3);

	if (!out)
		return NULL; /* errno is ENOMEM */

	size_t len = absolute ? 0 : add_components(out, 0, base);

	len = add_components(out, len, path);
	if (len > PATH_LEN_MAX) {
		free(out);
		errno = ENAMETOOLONG;
		return NULL;
	}
	if (len == 0)
		out[len++] = '/';
	out[len] = '\0';
	return out;
}

bool ak_path_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	if (n == 1) /* "/" */
		return true;
	return strncmp(path, top, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

unsigned ak_path_depth(const char *path)
{
	unsigned depth = 0;

	for (const char *p = path; *p; p++)
		depth += p[0] == '/' && p[1] != '\0';
	return depth;
}
