/* SPDX-License-Identifier: Apache-2.0 */
/* `ak checkpoint save`, `restore` and `rm`. Process and privilege: see cmd_checkpoint.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/cmd_checkpoint.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_path.h"
#include "executor/workspace/ckpt_compare.h"
#include "executor/workspace/ckpt_restore.h"
#include "executor/workspace/copy.h"

#define TMP_PREFIX ".ak-restore-"
#define TMP_BYTES (sizeof(TMP_PREFIX) + CKPT_ID_MAX)

static int check_count(struct checkpoint *c, struct ak_err *err)
{
	long n = ckpt_store_count(&c->store);

	if (n < (long)CKPT_MAX)
		return 0;
	(void)ak_err_set(err, EMFILE, "there are %ld checkpoints of this workspace, the most that are kept", n);
	ak_err_hint(err, "`ak checkpoint list` shows them, `ak checkpoint rm ID` removes one");
	return -EMFILE;
}

int checkpoint_save_tree(struct checkpoint *c, struct ckpt_scan *s, const char *note, const char *before,
			 char ret_id[static CKPT_ID_MAX + 1], struct ak_err *err)
{
	int r = check_count(c, err);

	if (r < 0)
		return r;
	(void)snprintf(s->tree.note, sizeof(s->tree.note), "%s", note ? note : "");
	(void)snprintf(s->tree.before, sizeof(s->tree.before), "%s", before ? before : "");
	return ckpt_store_save(&c->store, &s->tree, ret_id, err);
}

/* a restore that was killed: the next one, or the user, has to finish it */
static void tell_unfinished(const struct checkpoint *c, const struct ckpt_journal *j)
{
	if (*j->id)
		checkpoint_tell(c, "a restore of %s was not finished: `ak checkpoint restore %s` goes on with it, `ak checkpoint restore %s` takes it back",
				j->id, j->id, j->before);
}

static void tmp_name(const char *id, char ret[TMP_BYTES])
{
	(void)snprintf(ret, TMP_BYTES, TMP_PREFIX "%s", id);
}

static int scan(struct checkpoint *c, struct ckpt_scan *s, const struct ckpt_journal *j, struct ak_err *err)
{
	char drop[TMP_BYTES];

	tmp_name(j->before, drop);
	*s = (struct ckpt_scan){.root = c->root, .store = &c->store, .drop = *j->before ? drop : NULL};
	return ckpt_scan(s, err);
}

int checkpoint_save(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err)
{
	struct ckpt_scan s = {0};
	struct ckpt_journal j;
	char id[CKPT_ID_MAX + 1];
	struct ak_json js;
	int r = checkpoint_open(c, env, true, true, false, err);

	if (r < 0)
		return r;
	ckpt_store_journal(&c->store, &j);
	r = scan(c, &s, &j, err);
	if (r == 0)
		r = checkpoint_save_tree(c, &s, c->args->note, NULL, id, err);
	if (r == 0) {
		tell_unfinished(c, &j);
		checkpoint_tell_scan(c, &s);
		if (c->args->json) {
			ak_json_init(&js, out);
			ak_json_obj(&js, NULL);
			ak_json_str(&js, "schema", "ak-checkpoint-save/1");
			ak_json_str(&js, "workspace", c->workspace);
			ak_json_str(&js, "id", id);
			ak_json_u64(&js, "entries", s.tree.n - 1);
			ak_json_u64(&js, "files_read", s.read);
			ak_json_u64(&js, "bytes_new", c->store.objects.bytes_new);
			ak_json_u64(&js, "not_kept", s.left);
			ak_json_u64(&js, "changed_while_read", s.busy);
			ak_json_obj_end(&js);
			ak_buf_str(out, "\n");
		} else {
			ak_buf_printf(out, "%s\n", id);
		}
	}
	ckpt_scan_release(&s);
	return r;
}

/* --- restore --- */

/* Paths as the user wrote them, relative to the workspace; absolute ones must lie in it. Each is malloc'ed. */
static int take_paths(const struct checkpoint *c, const char *paths[CHECKPOINT_WORDS + 1], struct ak_err *err)
{
	for (size_t i = 1; i < c->args->nwords; i++) {
		const char *word = c->args->word[i];
		char *path = ak_path_normalize(c->workspace, word);
		size_t n = strlen(c->workspace);

		if (!path || !ak_path_below(path, c->workspace)) {
			free(path);
			(void)ak_err_set(err, EINVAL, "\"%.200s\" is no path in the workspace %.200s", word, c->workspace);
			ak_err_hint(err, "paths are relative to the workspace");
			return -EINVAL;
		}
		paths[i - 1] = strdup(path[n] ? path + n + 1 : "");
		free(path);
		if (!paths[i - 1])
			return ak_err_set(err, ENOMEM, "out of memory");
	}
	return 0;
}

/* a path that neither side knows is a slip of the pen */
static int check_paths(const char *const *paths, const struct ckpt_tree *now, const struct ckpt_tree *want, const char *id,
		       struct ak_err *err)
{
	for (; *paths; paths++) {
		if (!ckpt_tree_find(now, *paths) && !ckpt_tree_find(want, *paths))
			return ak_err_set(err, ENOENT, "\"%.200s\" is neither in checkpoint %s nor in the workspace", *paths, id);
	}
	return 0;
}

/* what is still not as it was: something was at work meanwhile, or could not be set */
static size_t differences(const struct ckpt_scan *s, const struct ckpt_tree *want, const char *const *paths)
{
	struct ckpt_difference *d = NULL;
	long n = ckpt_compare(want, &s->tree, &d);
	size_t found = n < 0;

	for (long i = 0; i < n; i++)
		found += ckpt_in_scope(paths, d[i].path);
	free(d);
	return found;
}

static void put_result(const struct checkpoint *c, const struct ckpt_restore *r, const char *id, const char *before, size_t differ,
		       struct ak_buf *out)
{
	struct ak_json j;

	if (!c->args->json) {
		ak_buf_printf(out, "restored %s: %zu written, %zu removed, %zu adjusted; before it: %s\n", id, r->written, r->removed,
			      r->adjusted, before);
		return;
	}
	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-checkpoint-restore/1");
	ak_json_str(&j, "workspace", c->workspace);
	ak_json_str(&j, "id", id);
	ak_json_str(&j, "before", before);
	ak_json_u64(&j, "written", r->written);
	ak_json_u64(&j, "removed", r->removed);
	ak_json_u64(&j, "adjusted", r->adjusted);
	ak_json_u64(&j, "left", r->kept);
	ak_json_u64(&j, "differences", differ);
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
}

static void tell_dropped(const struct checkpoint *c, size_t n)
{
	if (n > 0)
		checkpoint_tell(c, WS_XATTR_DROPPED_FMT, n, n == 1 ? "" : "s");
}

/* Return: 0; 1 when something is not as it was */
static int verify(struct checkpoint *c, struct ckpt_restore *r, const char *id, const char *before, struct ak_buf *out, struct ak_err *err)
{
	struct ckpt_scan s;
	const struct ckpt_journal none = {0};
	int e = scan(c, &s, &none, err);
	size_t differ = 0;

	if (e == 0 && ckpt_tree_index(&s.tree) < 0)
		e = ak_err_set(err, ENOMEM, "not enough memory for the tree");
	if (e == 0) {
		ckpt_store_put_stat(&c->store, &s.tree);
		differ = differences(&s, r->want, r->paths);
		for (size_t i = 0; i < r->ntold; i++)
			checkpoint_tell(c, "left as it is: %s", r->told[i]);
		if (r->kept > r->ntold)
			checkpoint_tell(c, "and %zu more", r->kept - r->ntold);
		if (differ > 0)
			checkpoint_tell(c, "%zu paths are not as they were; `ak checkpoint diff --stat %s` lists them", differ, id);
		tell_dropped(c, ckpt_overlay_lost(r->want, &s.tree, r->paths));
		put_result(c, r, id, before, differ, out);
	}
	ckpt_scan_release(&s);
	return e < 0 ? e : r->kept > 0 || differ > 0;
}

static int apply(struct checkpoint *c, struct ckpt_restore *r, const struct ckpt_journal *j, struct ak_buf *out, struct ak_err *err)
{
	int e = ckpt_restore_check(r, err);

	if (e == 0)
		e = ckpt_store_begin(&c->store, j, err);
	if (e < 0)
		return e;
	e = ckpt_restore_run(r, err);
	if (e == 0)
		ckpt_store_end(&c->store);
	return e < 0 ? e : verify(c, r, j->id, j->before, out, err);
}

int checkpoint_restore(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err)
{
	const char *id = c->args->word[0], *paths[CHECKPOINT_WORDS + 1] = {0};
	struct ckpt_journal old, j = {0};
	struct ckpt_tree want = {0};
	struct ckpt_restore r = {0};
	struct ckpt_scan s = {0};
	char tmp[TMP_BYTES];
	int e = checkpoint_open(c, env, false, true, true, err);

	if (e == 0)
		e = take_paths(c, paths, err);
	if (e == 0)
		e = ckpt_store_load(&c->store, id, &want, err);
	if (e == 0) {
		ckpt_store_journal(&c->store, &old);
		e = scan(c, &s, &old, err);
	}
	if (e == 0 && ckpt_tree_index(&s.tree) < 0)
		e = ak_err_set(err, ENOMEM, "not enough memory for the tree");
	if (e == 0)
		e = check_paths(paths, &s.tree, &want, id, err);
	if (e == 0)
		e = checkpoint_save_tree(c, &s, NULL, id, j.before, err);
	if (e == 0) {
		checkpoint_tell_scan(c, &s);
		(void)snprintf(j.id, sizeof(j.id), "%s", id);
		tmp_name(j.before, tmp);
		r = (struct ckpt_restore){.root = c->root, .store = &c->store, .now = &s.tree, .want = &want, .tmp = tmp,
					  .paths = paths[0] ? paths : NULL};
		e = apply(c, &r, &j, out, err);
	}
	for (size_t i = 0; paths[i]; i++)
		free((char *)paths[i]);
	ckpt_restore_release(&r);
	ckpt_scan_release(&s);
	ckpt_tree_release(&want);
	return e;
}

int checkpoint_rm(struct checkpoint *c, char *const env[], struct ak_buf *out, struct ak_err *err)
{
	struct ckpt_journal j;
	int r = checkpoint_open(c, env, false, false, false, err);
	long n;

	(void)out;
	if (r < 0)
		return r;
	ckpt_store_journal(&c->store, &j);
	for (size_t i = 0; r == 0 && i < c->args->nwords; i++) {
		if (strcmp(c->args->word[i], j.id) == 0 || strcmp(c->args->word[i], j.before) == 0) {
			tell_unfinished(c, &j);
			return ak_err_set(err, EBUSY, "checkpoint %s is needed by a restore that was not finished", c->args->word[i]);
		}
		r = ckpt_store_remove(&c->store, c->args->word[i], err);
	}
	n = ckpt_store_sweep(&c->store, r < 0 ? NULL : err);
	return r < 0 ? r : n < 0 ? (int)n : 0;
}
