/* SPDX-License-Identifier: Apache-2.0 */
/* "changes" of the result object: what a cow run left in its changeset. Process: executor. Privilege: none. */
#include "executor/report.h"

#include <stdio.h>
#include <string.h>

#include "executor/cow.h"
#include "executor/report_int.h"
#include "executor/shared/ak_attr.h"

#define FILES_SHOWN 10000u	/* in the result object; `ak sessions show` and `ak diff` show all */

static void put_path(struct ak_json *j, const char *path)
{
	ak_json_str(j, "path", path);
	if (!ak_utf8_valid(path, strlen(path)))
		ak_json_base64(j, "path_base64", path, strlen(path));
}

static size_t shown(const struct cow *c)
{
	return c->changes.n < FILES_SHOWN ? c->changes.n : FILES_SHOWN;
}

static void put_files(struct ak_json *j, const struct cow *c)
{
	ak_json_arr(j, "files");
	for (size_t i = 0; i < shown(c); i++) {
		ak_json_obj(j, NULL);
		put_path(j, c->changes.v[i].path);
		ak_json_str(j, "op", change_op_name(c->changes.v[i].op));
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_protected(struct ak_json *j, const struct cow *c)
{
	char path[WS_PATH_MAX + 1] AK_UNINIT;
	size_t n = 0;

	ak_json_arr(j, "protected");
	for (size_t i = 0; i < c->changes.n && n < FILES_SHOWN; i++) {
		const struct change *ch = &c->changes.v[i];

		unsigned op = ch->op;
		size_t len = journal_whole(&c->changes, i, &op);

		/* a ".git" that is gone or replaced is named once */
		if (!(ch->flags & (CHANGE_PROTECTED | CHANGE_LISTED)) || journal_follows(&c->changes, i))
			continue;
		n++;
		(void)snprintf(path, sizeof(path), "%.*s", len > 0 ? (int)len : (int)WS_PATH_MAX, ch->path);
		ak_json_obj(j, NULL);
		put_path(j, path);
		ak_json_str(j, "op", change_op_name(op));
		if (ch->by)
			ak_json_str(j, "by", ch->by);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

bool report_put_cow(struct ak_json *j, const struct report *r)
{
	const struct cow *c = r->cow;

	if (!c || !c->on || !(c->known || c->kept))
		return false;
	ak_json_obj(j, "changes");
	ak_json_str(j, "id", c->kept || c->applied ? c->cs.id : NULL);
	if (c->known) {
		put_files(j, c);
		put_protected(j, c);
	} else {
		ak_json_null(j, "files");
		ak_json_null(j, "protected");
	}
	ak_json_u64(j, "count", c->changes.n + c->more);
	ak_json_bool(j, "applied", c->applied);
	ak_json_obj_end(j);
	return true;
}

size_t report_cow_bytes(const struct report *r)
{
	size_t bytes = 0;

	for (size_t i = 0; r->cow && i < shown(r->cow); i++)
		bytes += 12 * strlen(r->cow->changes.v[i].path) + 256;
	/* protected names are not among the first ones always */
	for (size_t i = 0; r->cow && i < r->cow->changes.n; i++)
		if (r->cow->changes.v[i].flags & (CHANGE_PROTECTED | CHANGE_LISTED))
			bytes += 12 * (strlen(r->cow->changes.v[i].path) + (r->cow->changes.v[i].by ? strlen(r->cow->changes.v[i].by) : 0)) + 256;
	return bytes;
}
