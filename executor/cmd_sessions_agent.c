/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's sessions in `ak sessions`. Process: executor. Privilege: the caller's. */
#include "executor/cmd_sessions_agent.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/agent_session.h"
#include "executor/changes.h"
#include "executor/named.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define SESSIONS_MAX 10000u	/* listed */
#define NS_PER_MS 1000000

struct all {
	struct agent_session **v;	/* owned, each of them */
	size_t n, more;
	bool failed;
};

void kept_note(struct kept_list *k, const struct changeset *cs)
{
	const char *session = agent_session_of(&cs->meta);
	struct kept_pair *v = session ? reallocarray(k->v, k->n + 1, sizeof(*v)) : NULL;

	if (!v)
		return;
	k->v = v;
	(void)snprintf(v[k->n].session, sizeof(v[k->n].session), "%s", session);
	(void)snprintf(v[k->n].changeset, sizeof(v[k->n].changeset), "%s", cs->id);
	k->n++;
}

void kept_release(struct kept_list *k)
{
	free(k->v);
	*k = (struct kept_list){ 0 };
}

static const char *changeset_of(const struct kept_list *k, const char *session)
{
	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->v[i].session, session) == 0)
			return k->v[i].changeset;
	return NULL;
}

/* "old": of a version that left nothing for this list; its transcript is there all the same */
static const char *state_of(const struct agent_session *s, const char *changeset)
{
	if (s->busy)
		return "running";
	if (changeset)
		return "kept";
	if (!s->known)
		return "old";
	return s->about.exit_code == AK_SESSION_NOT_ENDED ? "killed" : "ended";
}

/* dollars with as many decimals as there are, two at least. Return: length; 0: unknown */
static size_t cost_text(uint64_t picousd, char ret[static 40])
{
	size_t n;

	if (picousd == AK_SESSION_COST_UNKNOWN)
		return 0;
	n = (size_t)snprintf(ret, 40, "%" PRIu64 ".%012" PRIu64, picousd / 1000000000000u, picousd % 1000000000000u);
	while (ret[n - 1] == '0' && ret[n - 3] != '.')
		ret[--n] = '\0';
	return n;
}

static void put_json(struct ak_json *j, const struct agent_session *s, const char *changeset)
{
	const struct ak_session_about *a = &s->about;
	char cost[40];
	size_t n = s->known ? cost_text(a->cost_picousd, cost) : 0;

	ak_json_str(j, "id", s->id);
	ak_json_str(j, "state", state_of(s, changeset));
	ak_json_str(j, "changeset", changeset);
	if (!s->known)
		return;
	ak_json_str(j, "workspace", a->workspace);
	ak_json_str(j, "model", a->model);
	ak_json_str(j, "task", a->task);
	ak_json_u64(j, "created", a->created_ms / 1000);
	ak_json_u64(j, "updated", a->updated_ms / 1000);
	ak_json_u64(j, "runs", a->runs);
	ak_json_u64(j, "num_turns", a->turns);
	ak_json_u64(j, "num_tool_calls", a->tool_calls);
	if (n)
		ak_json_raw(j, "total_cost_usd", cost, n);
	else
		ak_json_null(j, "total_cost_usd");
	if (a->exit_code == AK_SESSION_NOT_ENDED)
		ak_json_null(j, "exit_code");
	else
		ak_json_u64(j, "exit_code", a->exit_code);
}

static void put_row(struct ak_buf *out, const struct agent_session *s, const char *changeset)
{
	const struct ak_session_about *a = &s->about;
	char cost[40] = "?";

	ak_buf_printf(out, "%s %-8s ", s->id, state_of(s, changeset));
	if (!s->known) {
		ak_buf_str(out, "\n");
		return;
	}
	sessions_put_when(out, (int64_t)a->updated_ms * NS_PER_MS);
	(void)cost_text(a->cost_picousd, cost);
	ak_buf_printf(out, " %6" PRIu64 " %10s  %-9s  ", a->turns, cost, changeset ? changeset : "-");
	changes_path(out, a->workspace);
	ak_buf_str(out, "  ");
	changes_path(out, a->task);
	ak_buf_str(out, "\n");
}

static bool collect(void *arg, const struct agent_session *s)
{
	struct all *a = arg;
	struct agent_session **v, *copy;

	if (a->n == SESSIONS_MAX) {
		a->more++;
		return true;
	}
	v = reallocarray(a->v, a->n + 1, sizeof(struct agent_session *));
	if (v)
		a->v = v;
	copy = v ? malloc(sizeof(*copy)) : NULL;
	if (!copy) {
		a->failed = true;
		return false;
	}
	*copy = *s;
	if (copy->known) {
		/* its texts lie in its own bytes */
		copy->about.workspace = copy->bytes + (s->about.workspace - s->bytes);
		copy->about.model = copy->bytes + (s->about.model - s->bytes);
		copy->about.task = copy->bytes + (s->about.task - s->bytes);
	}
	a->v[a->n++] = copy;
	return true;
}

static int newest_first(const void *x, const void *y)
{
	const struct agent_session *a = *(struct agent_session *const *)x, *b = *(struct agent_session *const *)y;
	uint64_t p = a->known ? a->about.updated_ms : 0, q = b->known ? b->about.updated_ms : 0;

	return p != q ? (p < q ? 1 : -1) : strcmp(a->id, b->id);
}

void sessions_agent_list(int sessions, const struct kept_list *k, struct ak_json *j, struct ak_buf *out)
{
	struct all a = { 0 };

	if (sessions >= 0)
		agent_session_each(sessions, collect, &a);
	out->failed = out->failed || a.failed;
	if (a.n > 0)
		qsort(a.v, a.n, sizeof(struct agent_session *), newest_first);
	if (!j && a.n > 0)
		ak_buf_printf(out, "%sSESSION        STATE    LAST USED            TURNS       COST  CHANGES    WORKSPACE  TASK\n",
			      out->len ? "\n" : "");
	for (size_t i = 0; i < a.n; i++) {
		const char *changeset = changeset_of(k, a.v[i]->id);

		if (j) {
			ak_json_obj(j, NULL);
			put_json(j, a.v[i], changeset);
			ak_json_obj_end(j);
		} else {
			put_row(out, a.v[i], changeset);
		}
		free(a.v[i]);
	}
	free(a.v);
	if (a.more)
		changes_say("%zu more sessions of the agent are not listed", a.more);
}

static int no_session(const char *id)
{
	struct ak_err err = { 0 };

	(void)ak_err_set(&err, ENOENT, "there is no session \"%.80s\"", id);
	ak_err_hint(&err, "`ak sessions list` shows those there are");
	return named_fail(&err);
}

static void show_text(const struct agent_session *s, const struct changes *c, const char *changeset, struct ak_buf *out)
{
	const struct ak_session_about *a = &s->about;
	char cost[40] = "unknown";

	ak_buf_printf(out, "id         %s\nstate      %s\n", s->id, state_of(s, changeset));
	if (s->known) {
		(void)cost_text(a->cost_picousd, cost);
		ak_buf_str(out, "workspace  ");
		changes_path(out, a->workspace);
		ak_buf_str(out, "\nmodel      ");
		changes_path(out, a->model);
		ak_buf_str(out, "\ntask       ");
		changes_path(out, a->task);
		ak_buf_str(out, "\nlast used  ");
		sessions_put_when(out, (int64_t)a->updated_ms * NS_PER_MS);
		ak_buf_printf(out, "\nruns       %" PRIu64 "\nturns      %" PRIu64 "\ncalls      %" PRIu64 "\ncost       %s\n", a->runs, a->turns,
			      a->tool_calls, cost);
	}
	if (changeset) {
		ak_buf_printf(out, "changes    %s: %zu\n", changeset, c->j.n);
		sessions_put_changes(c, NULL, out);
	}
}

int sessions_agent_show(struct changes *c, const char *id, bool json)
{
	struct agent_session *s = malloc(sizeof(*s));
	char changeset[CHANGESET_ID_MAX];
	struct ak_buf b = { .max = 2 * JOURNAL_BYTES_MAX };
	struct ak_err err = { 0 };
	struct changeset_meta m;
	struct ak_json j;
	int r = s && c->sessions >= 0 ? agent_session_read(c->sessions, id, s) : -ENOENT;
	bool kept;

	if (r < 0) {
		free(s);
		return no_session(id);
	}
	kept = agent_session_changeset(c->sessions, id, changeset, &m, NULL) == 0;
	/* while its run goes on they are the run's */
	if (kept && !s->busy)
		r = changes_find(c, changeset, &err);
	if (r == 0 && kept && !s->busy)
		r = changes_read(c, &err);
	if (r == 0 && json) {
		ak_json_init(&j, &b);
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "schema", "ak-agent-session/1");
		put_json(&j, s, kept ? changeset : NULL);
		sessions_put_changes(c, &j, &b);
		ak_json_obj_end(&j);
		ak_buf_str(&b, "\n");
	} else if (r == 0) {
		show_text(s, c, kept ? changeset : NULL, &b);
	}
	free(s);
	r = r < 0 ? named_fail(&err) : b.failed ? 1 : named_print(b.data, b.len);
	ak_buf_release(&b);
	return r;
}

int sessions_agent_rm(struct changes *c, const char *id)
{
	char changeset[CHANGESET_ID_MAX];
	struct ak_err err = { 0 };
	struct changeset_meta m;
	int r;

	if (c->sessions < 0)
		return no_session(id);
	c->removes = true;
	if (agent_session_idle(c->sessions, id, &err) < 0)
		return named_fail(&err);
	if (agent_session_changeset(c->sessions, id, changeset, &m, NULL) == 0) {
		r = changes_find(c, changeset, &err);
		if (r == 0 || (r == -EBADMSG && c->cs.lock >= 0))
			r = changes_remove(c, &err);
		if (r < 0)
			return named_fail(&err);
	}
	r = agent_session_remove(c->sessions, id, &err);
	return r < 0 ? named_fail(&err) : 0;
}
