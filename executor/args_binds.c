/* SPDX-License-Identifier: Apache-2.0 */
/* Options of `ak exec` that put something into the file tree. Process: executor. Privilege: none. */
#include "executor/args_int.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"
#include "executor/shared/ak_path.h"

#define Q "\"%.80s\""

/* Appends @row with copies of @src and @dst (their lengths given; NULL stays NULL) */
static int add_bind(struct args *a, struct bind_opt row, const char *src, size_t nsrc, const char *dst,
		    size_t ndst)
{
	struct exec_opts *o = a->o;
	struct bind_opt *binds = reallocarray(o->binds, o->nbinds + 1, sizeof(*binds));

	if (!binds)
		return ak_err_sys(a->err, ENOMEM, "%s", row.opt);
	o->binds = binds;
	row.src = src ? arg_copy(a, src, nsrc) : NULL;
	row.dst = dst ? arg_copy(a, dst, ndst) : NULL;
	if ((src && !row.src) || (dst && !row.dst)) {
		free(row.src);
		free(row.dst);
		return -ENOMEM;
	}
	binds[o->nbinds++] = row;
	return 0;
}

/* Length of SRC: up to the first ':' before a '/'; all of it when there is none. File names may hold colons.
 */
static size_t src_len(const char *value)
{
	const char *split = strstr(value, ":/");

	return split ? (size_t)(split - value) : strlen(value);
}

static int add_src_dst(struct args *a, const struct arg_def *d, const char *value, size_t len,
		       enum bind_kind kind, bool optional)
{
	size_t n = src_len(value);

	if (n == 0)
		return ak_err_set(a->err, EINVAL, "%s: " Q " has no source (use SRC or SRC:DST)", d->name,
				  value);

	struct bind_opt row = {.kind = kind, .optional = optional, .opt = d->name};

	if (n >= len)
		return add_bind(a, row, value, len, NULL, 0);
	return add_bind(a, row, value, n, value + n + 1, len - n - 1);
}

int arg_ro(struct args *a, const struct arg_def *d, const char *value)
{
	return add_src_dst(a, d, value, strlen(value), BIND_RO, false);
}

int arg_rw(struct args *a, const struct arg_def *d, const char *value)
{
	return add_src_dst(a, d, value, strlen(value), BIND_RW, false);
}

int arg_ro_try(struct args *a, const struct arg_def *d, const char *value)
{
	return add_src_dst(a, d, value, strlen(value), BIND_RO, true);
}

int arg_rw_try(struct args *a, const struct arg_def *d, const char *value)
{
	return add_src_dst(a, d, value, strlen(value), BIND_RW, true);
}

/* The last colon, unless a path goes on behind it; NULL when there is none */
static const char *last_part(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && !strchr(colon, '/') ? colon : NULL;
}

int arg_volume(struct args *a, const struct arg_def *d, const char *value)
{
	size_t n = src_len(value);
	size_t len = strlen(value);

	if (n == 0 || n == len)
		return ak_err_set(a->err, EINVAL, "%s: " Q " is not SRC:DST[:ro|:rw] with an absolute DST",
				  d->name, value);

	const char *mode = last_part(value + n + 1);

	if (!mode)
		return add_src_dst(a, d, value, len, BIND_RW, false);
	if (strcmp(mode, ":ro") != 0 && strcmp(mode, ":rw") != 0)
		return ak_err_set(a->err, EINVAL, "%s: " Q ": the third part is neither ro nor rw", d->name,
				  value);
	return add_src_dst(a, d, value, (size_t)(mode - value), mode[2] == 'o' ? BIND_RO : BIND_RW, false);
}

int arg_tmpfs(struct args *a, const struct arg_def *d, const char *value)
{
	struct bind_opt row = {.kind = BIND_TMPFS, .opt = d->name};
	const char *size = last_part(value);
	size_t len = size ? (size_t)(size - value) : strlen(value);

	if (len == 0)
		return ak_err_set(a->err, EINVAL, "%s: " Q " has no path (use DST or DST:SIZE)", d->name,
				  value);
	if (size && (ak_parse_size(size + 1, &row.size_bytes) < 0 || row.size_bytes == 0))
		return ak_err_set(a->err, EINVAL,
				  "%s: " Q ": " Q " is not a size above 0 (use bytes or k, m, g, as in 512m)",
				  d->name, value, size + 1);
	return add_bind(a, row, NULL, 0, value, len);
}

int arg_hide(struct args *a, const struct arg_def *d, const char *value)
{
	if (value[0] == '\0')
		return ak_err_set(a->err, EINVAL, "%s: the value is empty", d->name);
	return add_bind(a, (struct bind_opt){.kind = BIND_HIDE, .opt = d->name}, NULL, 0, value,
			strlen(value));
}

int arg_dev(struct args *a, const struct arg_def *d, const char *value)
{
	char *path = value[0] == '/' ? ak_path_normalize(NULL, value) : NULL;
	bool ok = path && ak_path_below(path, "/dev") && strcmp(path, "/dev") != 0;
	int rc;

	if (ok)
		rc = add_bind(a, (struct bind_opt){.kind = BIND_DEV, .opt = d->name}, path, strlen(path),
			      path, strlen(path));
	else
		rc = ak_err_set(a->err, EINVAL, "%s: " Q " is not the path of a device below /dev", d->name,
				value);
	free(path);
	return rc;
}
