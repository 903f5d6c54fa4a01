/* SPDX-License-Identifier: Apache-2.0 */
/* `ak checkpoint list` and `diff`. Process and privilege: see cmd_checkpoint.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "executor/cmd_checkpoint.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"
#include "executor/workspace/ckpt_compare.h"

#define SECOND 1000000000u

/* local time, as the user's clock shows it */
static void put_time(struct ak_buf *out, uint64_t ns)
{
	time_t t = (time_t)(ns / SECOND);
	char text[32] = "?";
	struct tm tm;

	if (localtime_r(&t, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	ak_buf_printf(out, "%-20s", text);
}

static void put_row(const struct ckpt_row *r, struct ak_buf *out)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	uint64_t tenths = r->bytes * 10;
	char note[sizeof(r->note)];
	unsigned unit = 0;

	ak_buf_printf(out, "%-9s ", r->id);
	if (r->damaged) {
		ak_buf_str(out, "damaged\n");
		return;
	}
	put_time(out, r->made_ns);
	for (; tenths >= 10240 && unit < 4; unit++)
		tenths /= 1024;
	memcpy(note, r->note, sizeof(note));
	ak_text_clean(note);
	ak_buf_printf(out, "%8zu %6" PRIu64 ".%u %-4s %s%s%s\n", r->entries, tenths / 10, (unsigned)(tenths % 10), units[unit],
		      *r->before ? "before the restore of " : "", r->before, note);
}

static void put_row_json(const struct ckpt_row *r, struct ak_json *j)
{
	ak_json_obj(j, NULL);
	ak_json_str(j, "id", r->id);
	ak_json_bool(j, "damaged", r->damaged);
	if (!r->damaged) {
		ak_json_milli(j, "created", r->made_ns / 1000000);
		ak_json_u64(j, "entries", r->entries);
		ak_json_u64(j, "bytes", r->bytes);
		ak_json_str(j, "message", *r->note ? r->note : NULL);
		ak_json_str(j, "before_restore_of", *r->before ? r->before : NULL);
	}
	ak_json_obj_end(j);
}

static void begin_json(const struct checkpoint *c, const char *schema, struct ak_json *j, struct ak_buf *out)
{
	ak_json_init(j, out);
	ak_json_obj(j, NULL);
	ak_json_str(j, "schema", schema);
	ak_json_str(j, "workspace", c->workspace);
}

int checkpoint_list(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err)
{
	struct ckpt_row *rows = NULL;
	struct ak_json j;
	long n = checkpoint_open(c, env, false, false, false, err);

	if (n == -ENOENT && c->workspace && c->root >= 0)
		n = 0;	/* none was ever made */
	else if (n == 0)
		n = ckpt_store_list(&c->store, &rows, err);
	if (n < 0)
		return (int)n;
	if (!rows)
		n = 0;
	if (c->args->json) {
		begin_json(c, "ak-checkpoints/1", &j, out);
		ak_json_arr(&j, "checkpoints");
		for (long i = 0; i < n; i++)
			put_row_json(&rows[i], &j);
		ak_json_arr_end(&j);
		ak_json_obj_end(&j);
		ak_buf_str(out, "\n");
	} else if (n > 0) {
		ak_buf_printf(out, "%-9s %-20s%8s %8s %-4s %s\n", "ID", "MADE", "ENTRIES", "SIZE", "", "NOTE");
		for (long i = 0; i < n; i++)
			put_row(&rows[i], out);
	}
	free(rows);
	return 0;
}

/* the newest one that is whole */
static int newest(struct checkpoint *c, char ret[static CKPT_ID_MAX + 1], struct ak_err *err)
{
	struct ckpt_row *rows = NULL;
	long n = ckpt_store_list(&c->store, &rows, err);

	ret[0] = '\0';
	for (long i = 0; i < n; i++) {
		if (!rows[i].damaged)
			memcpy(ret, rows[i].id, CKPT_ID_MAX + 1);
	}
	free(rows);
	if (n >= 0 && !*ret) {
		(void)ak_err_set(err, ENOENT, "there is no checkpoint of %.300s", c->workspace);
		ak_err_hint(err, "`ak checkpoint save` makes one");
		return -ENOENT;
	}
	return n < 0 ? (int)n : 0;
}

static void put_path(struct ak_buf *out, const char *path)
{
	char *copy = strdup(path);

	if (copy)
		ak_text_clean(copy);
	ak_buf_str(out, copy && *copy ? copy : ".");
	free(copy);
}

static void put_difference(const struct ckpt_difference *d, struct ak_buf *out)
{
	ak_buf_printf(out, "%-9s ", ckpt_op_name(d->op));
	put_path(out, d->path);
	if (d->op == CKPT_MODE)
		ak_buf_printf(out, "  %04o -> %04o", d->old->id.mode & 07777, d->now->id.mode & 07777);
	else if (S_ISDIR((d->now ? d->now : d->old)->id.mode))
		ak_buf_str(out, "/");
	ak_buf_str(out, "\n");
}

static void put_side(struct ak_json *j, const char *key, const struct ckpt_entry *e)
{
	char mode[8];

	if (!e) {
		ak_json_null(j, key);
		return;
	}
	(void)snprintf(mode, sizeof(mode), "%04o", e->id.mode & 07777);
	ak_json_obj(j, key);
	ak_json_str(j, "type", S_ISREG(e->id.mode) ? "file" : S_ISDIR(e->id.mode) ? "folder" : S_ISLNK(e->id.mode) ? "link" : "other");
	ak_json_str(j, "mode", mode);
	if (S_ISREG(e->id.mode))
		ak_json_u64(j, "size", e->id.size);
	if (e->link)
		ak_json_str(j, "target", e->link);
	ak_json_obj_end(j);
}

static void put_json(const struct checkpoint *c, const char *from, const char *to, const struct ckpt_difference *d, long n,
		     struct ak_buf *out)
{
	struct ak_json j;

	begin_json(c, "ak-checkpoint-diff/1", &j, out);
	ak_json_str(&j, "from", from);
	ak_json_str(&j, "to", to);
	ak_json_arr(&j, "files");
	for (long i = 0; i < n; i++) {
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "path", *d[i].path ? d[i].path : ".");
		if (!ak_utf8_valid(d[i].path, strlen(d[i].path)))
			ak_json_base64(&j, "path_base64", d[i].path, strlen(d[i].path));
		ak_json_str(&j, "op", ckpt_op_name(d[i].op));
		put_side(&j, "old", d[i].old);
		put_side(&j, "new", d[i].now);
		ak_json_obj_end(&j);
	}
	ak_json_arr_end(&j);
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
}

static int compare(struct checkpoint *c, const char *from, const char *to, const struct ckpt_tree *a, const struct ckpt_tree *b,
		   char *const env[], struct ak_buf *out, struct ak_err *err)
{
	struct ckpt_difference *d = NULL;
	long n = ckpt_compare(a, b, &d);
	int r = 0;

	if (n < 0)
		return ak_err_set(err, ENOMEM, "out of memory");
	if (c->args->json)
		put_json(c, from, to, d, n, out);
	else if (!c->args->stat)
		r = checkpoint_text(c, d, (size_t)n, !to, env, err);
	for (long i = 0; c->args->stat && i < n; i++)
		put_difference(&d[i], out);
	free(d);
	return r;
}

int checkpoint_diff(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err)
{
	struct ckpt_scan s = {.look_only = true};
	struct ckpt_tree from = {0};
	char id[CKPT_ID_MAX + 1];
	int r = checkpoint_open(c, env, false, false, false, err);

	out->max = CKPT_FILE_BYTES;
	if (r == 0 && c->args->nwords == 0)
		r = newest(c, id, err);
	if (r == 0)
		r = ckpt_store_load(&c->store, c->args->nwords ? c->args->word[0] : id, &from, err);
	s.root = c->root;
	s.store = &c->store;
	if (r == 0)
		r = c->args->nwords == 2 ? ckpt_store_load(&c->store, c->args->word[1], &s.tree, err) : ckpt_scan(&s, err);
	if (r == 0 && ckpt_tree_index(&s.tree) < 0)
		r = ak_err_set(err, ENOMEM, "out of memory");
	if (r == 0) {
		checkpoint_tell_scan(c, &s);
		r = compare(c, c->args->nwords ? c->args->word[0] : id, c->args->nwords == 2 ? c->args->word[1] : NULL, &from, &s.tree, env,
			    out, err);
	}
	ckpt_scan_release(&s);
	ckpt_tree_release(&from);
	return r;
}
