/* SPDX-License-Identifier: Apache-2.0 */
/* What a direct run changed of the protected names: for the result object and for people. Process: executor. Privilege: none. */
#include <string.h>

#include "executor/opts.h"
#include "executor/report.h"
#include "executor/report_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/protected.h"
#include "executor/workspace/protected_scan.h"

#define TOLD_MAX 6u	 /* names in the line for people */
#define TOLD_PATH_MAX 80 /* bytes of one of them */

static void put_change(struct ak_json *j, const struct protected_change *c)
{
	ak_json_obj(j, NULL);
	ak_json_str(j, "path", c->path);
	ak_json_str(j, "op", c->op == PROTECTED_ADDED ? "added" : "modified");
	if (c->config && c->keys_unknown) {
		ak_json_null(j, "keys");
	} else if (c->config) {
		ak_json_arr(j, "keys");
		for (char **k = c->keys; k && *k; k++)
			ak_json_str(j, NULL, *k);
		ak_json_arr_end(j);
	}
	ak_json_obj_end(j);
}

void report_put_protected(struct ak_json *j, const struct protected_report *p)
{
	if (!p || (p->n == 0 && p->more == 0)) {
		ak_json_null(j, "changes");
		return;
	}
	ak_json_obj(j, "changes");
	ak_json_null(j, "id");
	ak_json_null(j, "files");	/* not observed */
	ak_json_arr(j, "protected");
	for (size_t i = 0; i < p->n; i++)
		put_change(j, &p->list[i]);
	ak_json_arr_end(j);
	if (p->more > 0)
		ak_json_u64(j, "protected_more", p->more);
	ak_json_obj_end(j);
}

/* did the user say so? Any component of the path may be the name that was allowed */
static bool allowed(char *const *allow, const char *path)
{
	char part[256];

	if (!allow)
		return false;
	if (strncmp(path, PROTECTED_GIT_HOOKS "/", sizeof(PROTECTED_GIT_HOOKS)) == 0 && protected_allowed(allow, PROTECTED_GIT_HOOKS))
		return true;
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n < sizeof(part)) {
			memcpy(part, path, n);
			part[n] = '\0';
			if (protected_allowed(allow, part))
				return true;
		}
		path += n + (path[n] == '/');
	}
	return false;
}

static void add_one(struct ak_buf *out, const struct protected_change *c)
{
	size_t n = strlen(c->path);

	if (n > TOLD_PATH_MAX)	/* the end of a path says more than its beginning */
		ak_buf_printf(out, "...%s", c->path + n - TOLD_PATH_MAX);
	else
		ak_buf_str(out, c->path);
	if (c->keys) {
		ak_buf_str(out, " (sets");
		for (char **k = c->keys; *k; k++)
			ak_buf_printf(out, "%s %s", k == c->keys ? "" : ",", *k);
		ak_buf_str(out, ")");
	} else if (c->keys_unknown) {
		ak_buf_str(out, " (not looked into)");
	} else if (c->op == PROTECTED_ADDED) {
		ak_buf_str(out, " (new)");
	}
}

void report_protected_text(const struct report *r, struct ak_buf *out)
{
	const struct protected_report *p = r->protected;
	size_t start = out->len, told = 0, rest = p ? p->more : 0;

	for (size_t i = 0; p && i < p->n; i++) {
		if (r->opts && allowed(r->opts->allow_protected, p->list[i].path))
			continue;
		if (told == TOLD_MAX) {
			rest++;
			continue;
		}
		ak_buf_str(out, told++ == 0 ? "protected names changed: " : ", ");
		add_one(out, &p->list[i]);
	}
	if (told > 0 && rest > 0)
		ak_buf_printf(out, " and %zu more", rest);
	/* a command can make a tree that takes too long, and then change what comes after it */
	if (p && p->cut)
		ak_buf_printf(out, "%snot all of the workspace was looked through for changed protected names", told > 0 ? "; " : "");
	if (told > 0 && !out->failed)
		ak_text_clean(out->data + start);
}
