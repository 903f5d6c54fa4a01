/* SPDX-License-Identifier: Apache-2.0 */
/* `ak apply` and `ak discard`. Process and privilege: see cmd_changes.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "executor/changes.h"
#include "executor/cmd_changes.h"
#include "executor/named.h"
#include "executor/shared/ak_attr.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/apply.h"
#include "executor/workspace/copy.h"
#include "executor/workspace/owner.h"
#include "executor/workspace/protected_place.h"

#define LIST_MAX 1000u	/* names on standard error; `ak diff --json` has all */
/* what the child ends with, beside 1 for a failure */
#define ALL_DONE 0
#define REST_KEPT 3	/* what was chosen is done, the rest was not chosen */
#define HELD_BACK 4	/* a protected name was chosen, but not named */

static const char apply_usage[] =
	"usage: ak apply [ID] [PATH...] [--force] [--allow-protected NAME]\n"
	"Take the changes of a cow run over into its workspace; without ID, of the newest run in this folder.\n"
	"PATH is relative to the workspace: only what is there or below it is taken, the rest stays in the changeset.\n"
	"If a chosen path was changed outside since, nothing is taken at all and the paths are listed.\n\n"
	"      --force                take paths that were changed outside, too\n"
	"      --allow-protected NAME take this protected name too (.git/hooks, .vscode, AGENTS.md, ...); PATH names one as well\n"
	"  -h, --help                 this text\n";

static const char discard_usage[] =
	"usage: ak discard [ID]\n"
	"Throw the changes of a cow run away; without ID, of the newest run in this folder.\n";

struct work {
	struct changes *c;
	const struct changes_args *args;
	const char *prefix;	/* of protected_place.h */
};

static void list(const struct apply *a, enum apply_state state, const char *what)
{
	size_t shown = 0, count = state == APPLY_PROTECTED ? apply_held(a) : a->n[state];

	for (size_t i = 0; i < a->j->n && shown < LIST_MAX; i++) {
		char path[WS_PATH_MAX + 1] AK_UNINIT;
		unsigned op = a->j->v[i].op;
		struct ak_buf b = { 0 };
		size_t n = journal_whole(a->j, i, &op);

		if (a->state[i] != state || (state == APPLY_PROTECTED && journal_follows(a->j, i) && a->state[i - 1] == state))
			continue;
		(void)snprintf(path, sizeof(path), "%.*s", n > 0 ? (int)n : (int)WS_PATH_MAX, a->j->v[i].path);
		changes_path(&b, path);
		ak_buf_printf(&b, " (%s%s)", change_op_name(op), n > 0 ? ", as a whole" : "");
		if (state == APPLY_PROTECTED)
			changes_by(&b, &a->j->v[i]);
		if (!b.failed)
			changes_say("%s: %s", what, b.data);
		ak_buf_release(&b);
		shown++;
	}
	if (count > shown)
		changes_say("%s: %zu more", what, count - shown);
}

static bool is_done(const struct change *c, void *arg)
{
	const struct apply *a = arg;
	enum apply_state s = a->state[c - a->j->v];

	return s == APPLY_DONE || s == APPLY_SPECIAL;
}

/* what is left stays a changeset. Return: ALL_DONE, REST_KEPT, HELD_BACK or 1 */
static int keep_rest(struct work *w, struct apply *a, struct ak_err *err)
{
	size_t held = apply_held(a);

	journal_drop(a->j, is_done, a);
	if (a->j->n == 0)
		return ALL_DONE;
	if (changeset_store(&w->c->cs, a->j, err) < 0 || changeset_mark(&w->c->cs, false, err) < 0)
		return named_fail(err);
	if (held)
		changes_say("%zu protected name%s kept in %s - name %s, or give --allow-protected NAME", held, held == 1 ? " is" : "s are",
			    w->c->cs.id, held == 1 ? "it" : "them");
	return held ? HELD_BACK : REST_KEPT;
}

static int refuse(const struct work *w, const struct apply *a)
{
	list(a, APPLY_PROTECTED, "protected");
	list(a, APPLY_CONFLICT, "changed outside");
	changes_say("nothing of %s was applied: %zu path%s changed outside meanwhile - choose others, or take %s with --force",
		    w->c->cs.id, a->n[APPLY_CONFLICT], a->n[APPLY_CONFLICT] == 1 ? " was" : "s were",
		    a->n[APPLY_CONFLICT] == 1 ? "it" : "them");
	return 1;
}

static int take(struct work *w, struct apply *a, struct ak_err *err)
{
	size_t todo = a->n[APPLY_DO], dropped = 0;
	int r;

	list(a, APPLY_PROTECTED, "protected");
	list(a, APPLY_SPECIAL, "left out, a special file");
	a->dropped = &dropped;
	r = changeset_mark(&w->c->cs, true, err);
	if (r == 0)
		r = apply_run(a, err);
	a->dropped = NULL;
	if (r < 0) {
		if (!err->hint[0])
			ak_err_hint(err, "`ak apply %s` goes on where this stopped", w->c->cs.id);
		return named_fail(err);
	}
	if (dropped)
		changes_say(WS_XATTR_DROPPED_FMT, dropped, dropped == 1 ? "" : "s");
	changes_say("%zu change%s applied to %s", todo, todo == 1 ? "" : "s", w->c->cs.meta.workspace);
	return keep_rest(w, a, err);
}

/* in the child that is the owner */
static int apply_as_owner(void *arg)
{
	struct work *w = arg;
	char temp[CHANGESET_ID_MAX + 16];
	struct apply a = { .upper = w->c->cs.upper, .lower = w->c->lower, .temp = temp, .j = &w->c->j, .paths = w->args->paths,
			   .allow = w->args->allow, .prefix = w->prefix, .force = w->args->force };
	struct ak_err err = { 0 };
	int r;

	(void)snprintf(temp, sizeof(temp), CHANGESET_TEMP_FMT, w->c->cs.id);
	a.resumed = changeset_has(&w->c->cs, "applying");
	if (a.resumed)
		apply_clean(&a);
	r = apply_check(&a, &err);
	if (r < 0)
		r = named_fail(&err);
	else
		r = a.n[APPLY_CONFLICT] ? refuse(w, &a) : take(w, &a, &err);
	apply_release(&a);
	return r;
}

static int do_apply(struct changes *c, const struct changes_args *args, struct ak_err *err)
{
	char prefix[PATH_MAX] AK_UNINIT;
	struct work w = { c, args, prefix };
	int r = changes_find(c, args->id, err);
	pid_t pid;

	if (r == 0)
		r = changes_read(c, err);
	if (r < 0)
		return named_fail(err);
	(void)protected_place_prefix(c->cs.meta.workspace, prefix);
	pid = owner_fork(c->cs.meta.uid, c->cs.meta.gid, apply_as_owner, &w, err);
	if (pid < 0)
		return named_fail(err);
	r = owner_wait(pid);
	if (r == ALL_DONE)
		return changes_remove(c, err) < 0 ? named_fail(err) : 0;
	if (r > 128)
		changes_say("applying %s was interrupted - `ak apply %s` goes on where it stopped", c->cs.id, c->cs.id);
	return r == REST_KEPT ? 0 : 1;
}

int cmd_apply(int argc, char *const argv[], char *const env[])
{
	struct changes c = CHANGES_NONE;
	struct changes_args args;
	struct ak_err err = { 0 };
	int r = changes_parse(argc, argv, apply_usage, "--force --allow-protected", true, &args, &err);

	if (r != 0) {
		changes_args_release(&args);
		return r == 1 ? 0 : named_usage(&err);
	}
	r = changes_begin(&c, env, &err);
	r = r < 0 && r != -ENOENT ? named_fail(&err) : do_apply(&c, &args, &err);
	changes_release(&c);
	changes_args_release(&args);
	return r;
}

/* which one it was is said, since the newest of the folder may not be the one that was meant */
static int discard(struct changes *c, bool whole, struct ak_err *err)
{
	struct ak_buf b = { 0 };
	int r;

	if (whole && changeset_load(&c->cs, &c->j, NULL) == 0)
		ak_buf_printf(&b, ": %zu change%s", c->j.n, c->j.n == 1 ? "" : "s");
	if (whole) {
		ak_buf_printf(&b, "%s in ", b.len ? "" : ":");
		changes_path(&b, c->cs.meta.workspace);
		ak_buf_str(&b, " by ");
		changes_path(&b, c->cs.meta.command);
	}
	r = changes_discard(c, err);
	if (r == 0)
		changes_say("discarded %s%s", c->cs.id, b.failed || !b.data ? "" : b.data);
	ak_buf_release(&b);
	return r;
}

int cmd_discard(int argc, char *const argv[], char *const env[])
{
	struct changes c = CHANGES_NONE;
	struct changes_args args;
	struct ak_err err = { 0 };
	int r = changes_parse(argc, argv, discard_usage, "", false, &args, &err);

	if (r != 0) {
		changes_args_release(&args);
		return r == 1 ? 0 : named_usage(&err);
	}
	c.removes = true;
	r = changes_begin(&c, env, &err);
	if (r == 0 || r == -ENOENT)
		r = changes_find(&c, args.id, &err);
	if (r == 0 || (r == -EBADMSG && c.cs.lock >= 0))
		r = discard(&c, r == 0, &err);
	changes_release(&c);
	changes_args_release(&args);
	return r < 0 ? named_fail(&err) : 0;
}
