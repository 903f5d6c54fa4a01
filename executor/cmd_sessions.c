/* SPDX-License-Identifier: Apache-2.0 */
/* `ak sessions list|show|rm`: the changesets that are kept, and sessions of the agent. Process and privilege: see cmd_changes.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "executor/changes.h"
#include "executor/cmd_changes.h"
#include "executor/cmd_sessions_agent.h"
#include "executor/named.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_session_file.h"

#define NSEC 1000000000LL

static const char usage[] =
	"usage: ak sessions list [--json] | show ID [--json] | rm ID\n"
	"Changes of cow runs that were neither applied nor discarded (c-...), and sessions of ak run (s-...): list them, show one\n"
	"with its paths, remove one; a session goes with its changes.\n";

enum state { STATE_RUNNING, STATE_KEPT, STATE_APPLYING, STATE_BROKEN, STATE_UNREAD };

/* "unread": the run ended without writing its journal, so its changes will be read when they are needed */
static const char *const state_names[] = { "running", "kept", "applying", "incomplete", "unread" };

static enum state state_of(struct changeset *cs, int opened)
{
	if (opened < 0)
		return STATE_BROKEN;
	if (changeset_busy(cs))
		return STATE_RUNNING;
	if (changeset_has(cs, "applying"))
		return STATE_APPLYING;
	return changeset_has(cs, "journal") ? STATE_KEPT : STATE_UNREAD;
}

void sessions_put_when(struct ak_buf *out, int64_t ns)
{
	time_t t = (time_t)(ns / NSEC);
	char text[32] = "-";
	struct tm tm;

	if (localtime_r(&t, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	ak_buf_str(out, text);
}

static void put_facts(struct ak_json *j, const struct changeset *cs, enum state s)
{
	ak_json_str(j, "id", cs->id);
	ak_json_str(j, "state", state_names[s]);
	if (s == STATE_BROKEN)
		return;
	ak_json_str(j, "workspace", cs->meta.workspace);
	ak_json_i64(j, "created", cs->meta.start_ns / NSEC);
	ak_json_str(j, "command", cs->meta.command);
}

static void put_row(struct ak_buf *out, const struct changeset *cs, enum state s, size_t n, bool counted)
{
	ak_buf_printf(out, "%-10s %-10s ", cs->id, state_names[s]);
	if (s == STATE_BROKEN) {
		ak_buf_str(out, "\n");
		return;
	}
	sessions_put_when(out, cs->meta.start_ns);
	if (counted)
		ak_buf_printf(out, " %8zu  ", n);
	else
		ak_buf_str(out, "        -  ");
	changes_path(out, cs->meta.workspace);
	ak_buf_str(out, "  ");
	changes_path(out, cs->meta.command);
	ak_buf_str(out, "\n");
}

static void list_one(const struct changes *c, const char *id, struct kept_list *kept, struct ak_json *j, struct ak_buf *out)
{
	struct changeset cs = CHANGESET_NONE;
	struct journal journal = { 0 };
	int r = changeset_open(c->sessions, id, CHANGESET_LOOK, &cs, NULL);
	bool counted;
	enum state s;

	if (r == -ENOENT)
		return;	/* gone since */
	s = state_of(&cs, r);
	if (r == 0)
		kept_note(kept, &cs);
	counted = r == 0 && changeset_load(&cs, &journal, NULL) == 0;
	if (j) {
		ak_json_obj(j, NULL);
		put_facts(j, &cs, s);
		if (counted)
			ak_json_u64(j, "count", journal.n);
		else
			ak_json_null(j, "count");
		ak_json_obj_end(j);
	} else {
		put_row(out, &cs, s, journal.n, counted);
	}
	journal_release(&journal);
	changeset_close(&cs);
}

static int do_list(struct changes *c, bool json, struct ak_err *err)
{
	struct kept_list kept = { 0 };
	struct ak_buf b = { 0 };
	struct ak_json j;
	char **ids = NULL;
	size_t more = 0;
	int r = c->sessions < 0 ? 0 : changeset_ids(c->sessions, &ids, &more, err);

	if (r < 0)
		return named_fail(err);
	ak_json_init(&j, &b);
	if (json) {
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "schema", "ak-sessions/1");
		ak_json_arr(&j, "sessions");
	} else if (ids && ids[0]) {
		ak_buf_str(&b, "ID         STATE      CREATED              CHANGES  WORKSPACE  COMMAND\n");
	}
	for (size_t i = 0; ids && ids[i]; i++)
		list_one(c, ids[i], &kept, json ? &j : NULL, &b);
	if (json) {
		ak_json_arr_end(&j);
		ak_json_arr(&j, "agent_sessions");
	}
	sessions_agent_list(c->sessions, &kept, json ? &j : NULL, &b);
	if (json) {
		ak_json_arr_end(&j);
		ak_json_obj_end(&j);
		ak_buf_str(&b, "\n");
	}
	changeset_ids_free(ids);
	kept_release(&kept);
	if (more)
		changes_say("%zu more are not listed", more);
	r = b.failed ? 1 : named_print(b.data ? b.data : "", b.len);
	ak_buf_release(&b);
	return r;
}

static void changes_json(const struct journal *journal, struct ak_json *j)
{
	ak_json_arr(j, "files");
	for (size_t i = 0; i < journal->n; i++) {
		const struct change *ch = &journal->v[i];

		ak_json_obj(j, NULL);
		ak_json_str(j, "path", ch->path);
		if (!ak_utf8_valid(ch->path, strlen(ch->path)))
			ak_json_base64(j, "path_base64", ch->path, strlen(ch->path));
		ak_json_str(j, "op", change_op_name(ch->op));
		ak_json_bool(j, "protected", ch->flags & (CHANGE_PROTECTED | CHANGE_LISTED));
		if (ch->by)
			ak_json_str(j, "protected_by", ch->by);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

void sessions_put_changes(const struct changes *c, struct ak_json *j, struct ak_buf *out)
{
	if (j) {
		changes_json(&c->j, j);
		return;
	}
	for (size_t i = 0; i < c->j.n; i++) {
		const struct change *ch = &c->j.v[i];

		ak_buf_printf(out, "  %-8s %s", change_op_name(ch->op), ch->flags & CHANGE_PROTECTED ? "[protected] " : "");
		changes_path(out, ch->path);
		changes_by(out, ch);
		ak_buf_str(out, "\n");
	}
}

static void show_text(const struct changes *c, struct ak_buf *out)
{
	ak_buf_printf(out, "id         %s\ncreated    ", c->cs.id);
	sessions_put_when(out, c->cs.meta.start_ns);
	ak_buf_str(out, "\nworkspace  ");
	changes_path(out, c->cs.meta.workspace);
	ak_buf_str(out, "\ncommand    ");
	changes_path(out, c->cs.meta.command);
	ak_buf_printf(out, "\nchanges    %zu\n", c->j.n);
	sessions_put_changes(c, NULL, out);
}

static int do_show(struct changes *c, const char *id, bool json, struct ak_err *err)
{
	struct ak_buf b = { .max = 2 * JOURNAL_BYTES_MAX };
	struct ak_json j;
	enum state s;
	int r = changes_find(c, id, err);

	if (r == 0)
		r = changes_read(c, err);
	if (r < 0)
		return named_fail(err);
	s = changeset_has(&c->cs, "applying") ? STATE_APPLYING : STATE_KEPT;
	if (json) {
		ak_json_init(&j, &b);
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "schema", "ak-session/1");
		put_facts(&j, &c->cs, s);
		sessions_put_changes(c, &j, &b);
		ak_json_obj_end(&j);
		ak_buf_str(&b, "\n");
	} else {
		show_text(c, &b);
	}
	r = b.failed ? 1 : named_print(b.data, b.len);
	ak_buf_release(&b);
	return r;
}

static int do_rm(struct changes *c, const char *id, struct ak_err *err)
{
	int r;

	c->removes = true;
	r = changes_find(c, id, err);
	if (r == 0 || (r == -EBADMSG && c->cs.lock >= 0))
		r = changes_discard(c, err);
	return r < 0 ? named_fail(err) : 0;
}

static int run(const char *word, const struct changes_args *a, char *const env[])
{
	struct changes c = CHANGES_NONE;
	struct ak_err err = { 0 };
	int r = changes_begin(&c, env, &err);

	if (r < 0 && r != -ENOENT)
		r = named_fail(&err);
	else if (strcmp(word, "list") == 0)
		r = do_list(&c, a->json, &err);
	else if (a->id && ak_session_id_ok(a->id))
		r = strcmp(word, "show") == 0 ? sessions_agent_show(&c, a->id, a->json) : sessions_agent_rm(&c, a->id);
	else if (strcmp(word, "show") == 0)
		r = do_show(&c, a->id, a->json, &err);
	else
		r = do_rm(&c, a->id, &err);
	changes_release(&c);
	return r;
}

int cmd_sessions(int argc, char *const argv[], char *const env[])
{
	const char *word = argc > 0 ? argv[0] : "";
	bool is_list = strcmp(word, "list") == 0, is_rm = strcmp(word, "rm") == 0;
	struct changes_args a;
	struct ak_err err = { 0 };
	int r;

	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return named_print(usage, strlen(usage));
	if (!is_list && !is_rm && strcmp(word, "show") != 0) {
		(void)ak_err_set(&err, EINVAL, "%s%.60s", argc > 0 ? "unknown word " : "list, show or rm is missing", word);
		ak_err_hint(&err, "%.*s", (int)strcspn(usage, "\n"), usage);
		return named_usage(&err);
	}
	r = changes_parse(argc - 1, argv + 1, usage, is_rm ? "" : "--json", false, &a, &err);
	if (r == 0 && is_list == (a.id != NULL))
		r = ak_err_set(&err, EINVAL, is_list ? "`ak sessions list` takes no ID" : "an ID is missing");
	if (r == 0)
		r = run(word, &a, env);
	else
		r = r == 1 ? 0 : named_usage(&err);
	changes_args_release(&a);
	return r;
}
