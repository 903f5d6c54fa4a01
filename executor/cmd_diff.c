/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `ak diff`: what a cow run changed. The text is made as diff_run.h says. Process and privilege: see cmd_changes.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/changes.h"
#include "executor/cmd_changes.h"
#include "executor/cmd_diff_stage.h"
#include "executor/diff_run.h"
#include "executor/named.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/workspace/apply.h"
#include "executor/workspace/owner.h"

static const char usage[] = "usage: ak diff [ID] [--stat | --json] [PATH...]\n"
			    "Show what a run with --write cow changed; without ID, the newest of this folder.\n"
			    "PATH is relative to the workspace: only what is there or below it is shown.\n\n"
			    "      --stat                 one line a path, with sizes\n"
			    "      --json                 one object with all paths\n"
			    "  -h, --help                 this text\n";

struct view {
	struct changes *c;
	const struct changes_args *args;
	int (*show)(struct changes *c, const struct apply *a, struct ak_buf *out);
	char *const *env;
};

static bool chosen(const struct changes_args *args, const struct change *ch)
{
	return !args->paths || apply_match(args->paths, ch->path);
}

static void put_size(struct ak_buf *out, const struct ws_ident *id)
{
	if (S_ISREG(id->mode))
		ak_buf_printf(out, "%" PRIu64, id->size);
	else
		ak_buf_str(out, !id->mode ? "-" : S_ISDIR(id->mode) ? "folder" : S_ISLNK(id->mode) ? "link" : "special");
}

static int show_stat(struct changes *c, const struct apply *a, struct ak_buf *out)
{
	size_t n = 0, held = 0, conflicts = 0;

	/* protected names first */
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < c->j.n; i++) {
			const struct change *ch = &c->j.v[i];
			bool protected = ch->flags & CHANGE_PROTECTED;

			if (a->state[i] == APPLY_NOT || protected != (pass == 0))
				continue;
			ak_buf_printf(out, " %-8s ", change_op_name(ch->op));
			changes_path(out, ch->path);
			ak_buf_str(out, " | ");
			put_size(out, &ch->old);
			ak_buf_str(out, " -> ");
			put_size(out, &ch->now);
			ak_buf_str(out, protected ? " [protected]" : "");
			changes_by(out, ch);
			ak_buf_printf(out, "%s%s\n",
				      a->state[i] == APPLY_CONFLICT ? " [changed outside]" : "",
				      ch->flags & CHANGE_SPECIAL ? " [never applied]" : "");
			n++;
			held += protected;
			conflicts += a->state[i] == APPLY_CONFLICT;
		}
	}
	ak_buf_printf(out, " %zu change%s", n, n == 1 ? "" : "s");
	if (held)
		ak_buf_printf(out, ", %zu protected", held);
	if (conflicts)
		ak_buf_printf(out, ", %zu changed outside since", conflicts);
	ak_buf_str(out, "\n");
	return 0;
}

static void put_side(struct ak_json *j, const char *key, const struct ws_ident *id)
{
	char mode[8];

	if (!id->mode) {
		ak_json_null(j, key);
		return;
	}
	(void)snprintf(mode, sizeof(mode), "%04o", id->mode & 07777);
	ak_json_obj(j, key);
	ak_json_str(j, "type", S_ISREG(id->mode) ? "file" : S_ISDIR(id->mode) ? "folder" : S_ISLNK(id->mode) ? "link" : "special");
	ak_json_str(j, "mode", mode);
	ak_json_u64(j, "size", S_ISDIR(id->mode) ? 0 : id->size);
	ak_json_obj_end(j);
}

/* the old side as it is now: a file that was changed outside meanwhile is shown as what would be replaced */
static uint32_t side_mode(void *arg, const struct change *ch, enum stage_side side)
{
	const struct changes *c = arg;
	struct ws_ident cur;

	if (side == STAGE_NEW)
		return ch->now.mode;
	return ws_stat_beneath(c->lower, ch->path, &cur) < 0 ? 0 : cur.mode;
}

static int open_side(const struct changes *c, const struct change *ch, enum stage_side side, const char **ret_name)
{
	int dir = ws_open_parent(side == STAGE_NEW ? c->cs.upper : c->lower, ch->path, ret_name);

	return dir < 0 ? -ENOENT : dir;
}

static int side_file(void *arg, const struct change *ch, enum stage_side side, struct ws_ident *ret)
{
	const char *name = NULL;
	AK_AUTO_FD dir = open_side(arg, ch, side, &name);

	return dir < 0 ? dir : ws_open_file(dir, name, ret);
}

static int side_link(void *arg, const struct change *ch, enum stage_side side, char *buf)
{
	const char *name = NULL;
	AK_AUTO_FD dir = open_side(arg, ch, side, &name);

	return dir < 0 ? dir : ws_read_link(dir, name, buf);
}

static void put_attribute(void *arg, const char *name, const char *what)
{
	struct ak_json *j = arg;

	ak_json_obj(j, NULL);
	ak_json_str(j, "name", name);
	ak_json_str(j, "op", what);
	ak_json_obj_end(j);
}

static int show_json(struct changes *c, const struct apply *a, struct ak_buf *out)
{
	const struct stage_source src = { c, side_mode, side_file, side_link, true };
	struct ak_json j;

	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-diff/1");
	ak_json_str(&j, "id", c->cs.id);
	ak_json_str(&j, "workspace", c->cs.meta.workspace);
	ak_json_arr(&j, "files");
	for (size_t i = 0; i < c->j.n; i++) {
		const struct change *ch = &c->j.v[i];

		if (a->state[i] == APPLY_NOT)
			continue;
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "path", ch->path);
		if (!ak_utf8_valid(ch->path, strlen(ch->path)))
			ak_json_base64(&j, "path_base64", ch->path, strlen(ch->path));
		ak_json_str(&j, "op", change_op_name(ch->op));
		put_side(&j, "old", &ch->old);
		put_side(&j, "new", &ch->now);
		ak_json_arr(&j, "attributes");
		stage_attributes(&src, ch, put_attribute, &j);
		ak_json_arr_end(&j);
		ak_json_bool(&j, "protected", ch->flags & (CHANGE_PROTECTED | CHANGE_LISTED));
		if (ch->by)
			ak_json_str(&j, "protected_by", ch->by);
		ak_json_bool(&j, "conflict", a->state[i] == APPLY_CONFLICT);
		ak_json_bool(&j, "applied", a->state[i] == APPLY_DONE);
		ak_json_obj_end(&j);
	}
	ak_json_arr_end(&j);
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
	return 0;
}

/* in the child that is the owner: what stands against each path is looked up as for an apply */
static int list_as_owner(void *arg)
{
	struct view *v = arg;
	char *const all[] = { (char *)"", NULL };
	struct apply a = { .upper = v->c->cs.upper, .lower = v->c->lower, .temp = "", .j = &v->c->j, .paths = v->args->paths,
			   .allow = all, .prefix = "" };
	struct ak_buf b = { .max = 2 * JOURNAL_BYTES_MAX };
	struct ak_err err = { 0 };
	int r = apply_check(&a, &err);

	if (r == 0)
		r = v->show(v->c, &a, &b);
	if (r < 0)
		r = named_fail(&err);
	else
		r = b.failed ? 1 : named_print(b.data, b.len);
	ak_buf_release(&b);
	apply_release(&a);
	return r;
}

#define NO_TEXT 3	/* of the child that makes the copies: there is nothing to compare */

static int stage_as_owner(void *arg)
{
	struct view *v = arg;
	struct ak_buf notes = { 0 };
	struct ak_err err = { 0 };
	size_t files = 0;
	const struct stage_source src = { v->c, side_mode, side_file, side_link, true };
	int r = stage_make(v->c->cs.dir, v->c->j.v, v->c->j.n, &src, v->args->paths, &notes, &files, &err);

	if (r < 0)
		r = named_fail(&err);
	else
		r = notes.len ? named_print(notes.data, notes.len) : 0;
	ak_buf_release(&notes);
	return r == 0 && files == 0 ? NO_TEXT : r;
}

static int run_diff(struct view *v, struct ak_err *err)
{
	char *where = NULL;
	int r;

	if (asprintf(&where, "%s/sessions/%s/" STAGE, v->c->host.state_dir, v->c->cs.id) < 0)
		return 1;
	r = diff_run(where, v->env, err);
	free(where);
	return r < 0 ? named_fail(err) : r;
}

static int show_text(struct view *v, struct ak_err *err)
{
	struct changes *c = v->c;
	pid_t pid = owner_fork(c->cs.meta.uid, c->cs.meta.gid, stage_as_owner, v, err);
	int r;

	if (pid < 0)
		return named_fail(err);
	r = owner_wait(pid);
	if (r == 0)
		r = run_diff(v, err);
	if (ws_remove(c->cs.dir, STAGE, err) < 0)
		return named_fail(err);
	return r == NO_TEXT ? 0 : r;
}

static int do_diff(struct view *v, struct ak_err *err)
{
	struct changes *c = v->c;
	int r = changes_find(c, v->args->id, err);
	bool any = !v->args->paths;
	pid_t pid;

	if (r == 0)
		r = changes_read(c, err);
	if (r < 0)
		return named_fail(err);
	for (size_t i = 0; !any && i < c->j.n; i++)
		any = chosen(v->args, &c->j.v[i]);
	if (!any) {
		(void)ak_err_set(err, ENOENT, "nothing was changed at \"%.200s\"", v->args->paths[0]);
		return named_fail(err);
	}
	if (!v->args->stat && !v->args->json)
		return show_text(v, err);
	v->show = v->args->json ? show_json : show_stat;
	pid = owner_fork(c->cs.meta.uid, c->cs.meta.gid, list_as_owner, v, err);
	return pid < 0 ? named_fail(err) : owner_wait(pid) == 0 ? 0 : 1;
}

int cmd_diff(int argc, char *const argv[], char *const env[])
{
	struct changes c = CHANGES_NONE;
	struct changes_args args;
	struct view v = { .c = &c, .args = &args, .env = env };
	struct ak_err err = { 0 };
	int r = changes_parse(argc, argv, usage, "--stat --json", true, &args, &err);

	if (r == 0 && args.stat && args.json)
		r = ak_err_set(&err, EINVAL, "--stat and --json exclude each other");
	if (r != 0) {
		changes_args_release(&args);
		return r == 1 ? 0 : named_usage(&err);
	}
	r = changes_begin(&c, env, &err);
	r = r < 0 && r != -ENOENT ? named_fail(&err) : do_diff(&v, &err);
	changes_release(&c);
	changes_args_release(&args);
	return r;
}
