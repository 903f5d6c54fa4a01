/* SPDX-License-Identifier: Apache-2.0 */
/* Plays a scripted conversation, one step for each attempt. Process: agent. Privilege: none. */
#include "agent/provider/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "agent/provider/acc_int.h"
#include "agent/provider/call_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

#define LINE_MAX_BYTES (16u << 20)

struct step {
	struct cJSON *doc;
	unsigned line;
	uint64_t left; /* times a fault is still to happen; 1 for a reply */
};

struct replay {
	char *name;
	struct step *v;
	size_t n;
	size_t cap;
	size_t at;
};

/* --- members, and which there may be -------------------------------------------------------------------------------------- */

static const char *const step_members[] = { "reply", "fault", "match", "note", NULL };
static const char *const reply_members[] = { "text", "reasoning", "calls", "stop", "stop_detail", "usage", "cost_usd",
					     "raw",  "id",	  "model", NULL };
static const char *const call_members[] = { "id", "name", "args", "args_text", NULL };
static const char *const usage_members[] = { "input", "cache_read", "cache_write_5m", "cache_write_1h", "output",
					     "reasoning", NULL };
static const char *const fault_members[] = { "name", "status", "message", "type", "wait_ms", "times", NULL };
static const char *const match_members[] = { "user", "result", "model", "images", NULL };
static const char *const raw_members[] = { "api", "turn", NULL };

static int known(const struct cJSON *obj, const char *const *names, const char *where, struct ak_err *err)
{
	if (json_kind(obj) == JSON_ABSENT)
		return 0;
	if (json_kind(obj) != JSON_OBJECT)
		return ak_err_set(err, EBADMSG, "%s: expected an object", where);
	for (const struct cJSON *m = json_first(obj); m; m = json_next(m)) {
		size_t i = 0;

		while (names[i] && strcmp(names[i], json_name(m)) != 0)
			i++;
		if (!names[i])
			return ak_err_set(err, EBADMSG, "%s: \"%s\" is not known", where, json_name(m));
	}
	return 0;
}

/* --- a step to a reply ----------------------------------------------------------------------------------------------------- */

static int take_call(const struct cJSON *doc, struct completion *c, struct ak_err *err)
{
	const struct cJSON *args = json_get(doc, "args");
	const char *name = NULL;
	const char *id = NULL;
	const char *text = NULL;
	struct ak_buf buf = { 0 };
	const struct tool_call *call;
	int rc = known(doc, call_members, "calls", err);

	if (rc == 0)
		rc = json_need_str(doc, "name", &name, err);
	if (rc == 0)
		rc = json_opt_str(doc, "id", &id, err);
	if (rc == 0)
		rc = json_opt_str(doc, "args_text", &text, err);
	if (rc == 0 && text && json_kind(args) != JSON_ABSENT)
		rc = ak_err_set(err, EBADMSG, "calls: args and args_text exclude each other");
	if (rc < 0)
		return -EBADMSG;
	if (text)
		ak_buf_str(&buf, text);
	else if (json_kind(args) != JSON_ABSENT)
		json_print(args, 0, &buf);
	rc = acc_move_call(c, id, name, &buf, &call);
	ak_buf_release(&buf);
	return rc;
}

static int take_usage(const struct cJSON *doc, struct completion *c, struct ak_err *err)
{
	const struct cJSON *u = json_get(doc, "usage");
	struct usage *to = &c->usage;
	int rc = known(u, usage_members, "usage", err);

	if (rc == 0)
		rc = json_opt_u64(u, "input", &to->input_uncached, err);
	if (rc == 0)
		rc = json_opt_u64(u, "cache_read", &to->cache_read, err);
	if (rc == 0)
		rc = json_opt_u64(u, "cache_write_5m", &to->cache_write_5m, err);
	if (rc == 0)
		rc = json_opt_u64(u, "cache_write_1h", &to->cache_write_1h, err);
	if (rc == 0)
		rc = json_opt_u64(u, "output", &to->output, err);
	if (rc == 0)
		rc = json_opt_u64(u, "reasoning", &to->reasoning, err);
	if (rc == 0 && json_kind(json_get(doc, "cost_usd")) != JSON_ABSENT) {
		rc = json_need_scaled(doc, "cost_usd", 12, &to->cost_picousd, err);
		to->cost_source = COST_PROVIDER;
	}
	to->prompt_total = to->input_uncached + to->cache_read + to->cache_write_5m + to->cache_write_1h;
	to->estimated = json_kind(u) == JSON_ABSENT;
	return rc < 0 ? -EBADMSG : 0;
}

static int take_raw(const struct cJSON *doc, struct completion *c, struct ak_err *err)
{
	const struct cJSON *raw = json_get(doc, "raw");
	const char *api = NULL;
	struct ak_buf text = { 0 };
	int rc = known(raw, raw_members, "raw", err);

	if (rc < 0 || json_kind(raw) == JSON_ABSENT)
		return rc;
	if (json_need_str(raw, "api", &api, err) < 0)
		return -EBADMSG;
	c->msg.raw_api = wire_api_parse(api);
	if (!provider_ops_of(c->msg.raw_api) || json_kind(json_get(raw, "turn")) == JSON_ABSENT)
		return ak_err_set(err, EBADMSG, "raw: expected api (anthropic, chat, responses) and turn");
	json_print(json_get(raw, "turn"), 0, &text);
	if (text.failed) {
		ak_buf_release(&text);
		return ak_err_set(err, ENOMEM, "no memory for the script");
	}
	c->msg.raw = text.data;
	c->msg.raw_len = text.len;
	return 0;
}

static int copy_str(const struct cJSON *doc, const char *name, char **ret, struct ak_err *err)
{
	const char *text = NULL;

	if (json_opt_str(doc, name, &text, err) < 0)
		return -EBADMSG;
	if (!text)
		return 0;
	*ret = strdup(text);
	return *ret ? 0 : ak_err_set(err, ENOMEM, "no memory for the script");
}

static int take_stop(const struct cJSON *doc, struct completion *c, struct ak_err *err)
{
	const char *word = NULL;

	if (json_opt_str(doc, "stop", &word, err) < 0)
		return -EBADMSG;
	c->stop = c->msg.ncalls > 0 ? STOP_TOOL_USE : STOP_END_TURN;
	if (!word)
		return 0;
	c->stop = stop_reason_parse(word);
	if (c->stop == STOP_UNKNOWN && strcmp(word, "unknown") != 0)
		return ak_err_set(err, EBADMSG, "stop: \"%s\" is not known", word);
	if (c->msg.ncalls > 0 && !acc_runnable(c->stop))
		return ak_err_set(err, EBADMSG, "stop: a reply that ended with %s has no calls", word);
	return 0;
}

static int make_reply(const struct cJSON *doc, struct completion *c, struct ak_err *err)
{
	int rc = known(doc, reply_members, "reply", err);

	c->msg.role = MSG_ASSISTANT;
	if (rc == 0)
		rc = copy_str(doc, "text", &c->msg.text, err);
	if (rc == 0)
		rc = copy_str(doc, "reasoning", &c->reasoning, err);
	if (rc == 0)
		rc = copy_str(doc, "stop_detail", &c->stop_detail, err);
	if (rc == 0)
		rc = copy_str(doc, "id", &c->id, err);
	if (rc == 0)
		rc = copy_str(doc, "model", &c->model, err);
	c->msg.text_len = c->msg.text ? strlen(c->msg.text) : 0;
	for (const struct cJSON *call = json_first(json_get(doc, "calls")); rc == 0 && call; call = json_next(call))
		rc = take_call(call, c, err);
	if (rc == 0)
		rc = take_stop(doc, c, err);
	if (rc == 0)
		rc = take_usage(doc, c, err);
	if (rc == 0)
		rc = take_raw(doc, c, err);
	if (rc < 0)
		completion_release(c);
	return rc;
}

static int make_fault(const struct cJSON *doc, struct provider_fault *f, struct retry_hint *hint, uint64_t *times,
		      struct ak_err *err)
{
	const char *name = NULL;
	const char *message = "scripted";
	const char *type = "";
	uint64_t status = 0;
	unsigned i = FAULT_NONE + 1;
	int rc = known(doc, fault_members, "fault", err);

	*hint = (struct retry_hint){ .should_retry = -1 };
	if (rc == 0)
		rc = json_need_str(doc, "name", &name, err);
	if (rc == 0)
		rc = json_opt_str(doc, "message", &message, err);
	if (rc == 0)
		rc = json_opt_str(doc, "type", &type, err);
	if (rc == 0)
		rc = json_opt_u64(doc, "status", &status, err);
	if (rc == 0)
		rc = json_opt_u64(doc, "times", times, err);
	if (rc == 0 && json_kind(json_get(doc, "wait_ms")) != JSON_ABSENT) {
		rc = json_need_u64(doc, "wait_ms", &hint->wait_ms, err);
		hint->has_wait = true;
	}
	if (rc < 0 || !name)
		return -EBADMSG;
	while (i < FAULT_COUNT && strcmp(fault_info((enum fault)i)->name, name) != 0)
		i++;
	if (i == FAULT_COUNT || status > 599 || *times == 0)
		return ak_err_set(err, EBADMSG, "fault: name \"%s\", status or times is out of range", name);
	*f = (struct provider_fault){ .fault = (enum fault)i, .status = (int)status };
	(void)snprintf(f->message, sizeof(f->message), "%s", message);
	(void)snprintf(f->type, sizeof(f->type), "%s", type);
	return 0;
}

/* --- the script ------------------------------------------------------------------------------------------------------------ */

static int check_step(struct step *s, struct ak_err *err)
{
	const struct cJSON *reply = json_get(s->doc, "reply");
	const struct cJSON *fault = json_get(s->doc, "fault");
	struct completion c = { 0 };
	struct provider_fault f;
	struct retry_hint hint;
	uint64_t images = 0;
	int rc = known(s->doc, step_members, "step", err);

	if (rc == 0)
		rc = known(json_get(s->doc, "match"), match_members, "match", err);
	if (rc == 0 && json_opt_u64(json_get(s->doc, "match"), "images", &images, err) < 0)
		rc = -EBADMSG;
	if (rc < 0)
		return rc;
	if ((json_kind(reply) == JSON_OBJECT) == (json_kind(fault) == JSON_OBJECT))
		return ak_err_set(err, EBADMSG, "expected either a reply or a fault");
	s->left = 1;
	if (json_kind(fault) == JSON_OBJECT)
		return make_fault(fault, &f, &hint, &s->left, err);
	rc = make_reply(reply, &c, err);
	completion_release(&c);
	return rc;
}

static int add_step(struct replay *r, struct cJSON *doc, unsigned line, struct ak_err *err)
{
	struct step s = { .doc = doc, .line = line };
	int rc = check_step(&s, err);

	if (rc == 0 && r->n == REPLAY_STEPS_MAX)
		rc = ak_err_set(err, EBADMSG, "over %u steps", REPLAY_STEPS_MAX);
	if (rc == 0 && r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 16;
		struct step *v = reallocarray(r->v, cap, sizeof(*v));

		if (v) {
			r->v = v;
			r->cap = cap;
		} else {
			rc = ak_err_set(err, ENOMEM, "no memory for the script");
		}
	}
	if (rc < 0 || !r->v) {
		json_free(doc);
		return rc;
	}
	r->v[r->n++] = s;
	return 0;
}

static int take_line(struct replay *r, const char *line, size_t len, unsigned no, bool *head, struct ak_err *err)
{
	struct cJSON *doc = NULL;
	int rc;

	if (acc_blank(line, len) || line[0] == '#')
		return 0;
	rc = json_parse(line, len, JSON_REPAIR, NULL, &doc, err); /* a recorded turn may hold half a pair */
	if (rc < 0)
		return rc == -ENOMEM ? rc : -EBADMSG;
	if (*head)
		return add_step(r, doc, no, err);
	*head = json_is_str(json_get(doc, "schema"), "ak-replay/1");
	json_free(doc);
	return *head ? 0 : ak_err_set(err, EBADMSG, "expected {\"schema\":\"ak-replay/1\"}");
}

int replay_parse(const char *text, size_t len, const char *name, struct replay **ret, struct ak_err *err)
{
	struct replay *r = calloc(1, sizeof(*r));
	struct ak_lines lines;
	const char *line;
	size_t n;
	bool head = false;
	int rc = 0;

	if (!r || !(r->name = strdup(name))) {
		free(r);
		return ak_err_set(err, ENOMEM, "no memory for the script");
	}
	ak_lines_init(&lines, text, len, LINE_MAX_BYTES);
	while (rc == 0 && ak_lines_next(&lines, &line, &n))
		rc = take_line(r, line, n, lines.line_no, &head, err);
	if (rc == 0 && lines.error < 0)
		rc = ak_err_set(err, EBADMSG, "too long, or holds NUL");
	if (rc == 0 && !head)
		rc = ak_err_set(err, EBADMSG, "empty");
	if (rc < 0) {
		(void)ak_err_wrap(err, "%s, line %u", name, lines.line_no);
		replay_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

int replay_open(const char *path, struct replay **ret, struct ak_err *err)
{
	char *text;
	size_t len;
	int rc;

	if (!path || !*path)
		return ak_err_set(err, EINVAL, "--api replay needs --replay FILE");
	rc = ak_read_file(path, REPLAY_FILE_MAX, &text, &len);
	if (rc < 0)
		return ak_err_sys(err, -rc, "--replay: %s", path);
	rc = replay_parse(text, len, path, ret, err);
	free(text);
	return rc;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		json_free(r->v[i].doc);
	free(r->v);
	free(r->name);
	free(r);
}

/* --- playing --------------------------------------------------------------------------------------------------------------- */

static bool has(const char *text, const char *part)
{
	return !part || (text && strstr(text, part));
}

static bool results_have(const struct msg *m, const char *part)
{
	for (size_t i = 0; part && i < m->nresults; i++)
		if (strstr(m->results[i].text, part))
			return true;
	return !part;
}

static bool images_are(const struct provider_req *rq, const struct cJSON *match)
{
	uint64_t want = 0, n = 0;

	for (size_t i = 0; i < rq->nmsgs; i++)
		n += rq->msgs[i].nimages;
	return json_kind(json_get(match, "images")) == JSON_ABSENT || (json_opt_u64(match, "images", &want, NULL) == 0 && n == want);
}

/* Does the request fit what the script expects of it? The last text of the user's may lie some turns back. */
static bool matches(const struct step *s, const struct provider_req *rq)
{
	const struct cJSON *m = json_get(s->doc, "match");
	const char *user = json_str(json_get(m, "user"));
	const struct msg *last = rq->nmsgs > 0 ? &rq->msgs[rq->nmsgs - 1] : NULL;
	const char *text = NULL;

	for (size_t i = 0; i < rq->nmsgs; i++)
		if (rq->msgs[i].role == MSG_USER && rq->msgs[i].text)
			text = rq->msgs[i].text;
	return has(text, user) && images_are(rq, m) && has(rq->model, json_str(json_get(m, "model"))) &&
	       (last ? results_have(last, json_str(json_get(m, "result"))) : !json_get(m, "result"));
}

static void fail(struct attempt *at, enum fault fault, const char *name, unsigned line, const char *text)
{
	at->fault = (struct provider_fault){ .fault = fault };
	if (line)
		(void)ak_err_set(&at->err, EIO, "%s, line %u: %s", name, line, text);
	else
		(void)ak_err_set(&at->err, EIO, "%s: %s", name, text);
}

static void estimate(const struct provider_req *rq, struct completion *c)
{
	uint64_t prompt = rq->system ? strlen(rq->system) : 0;
	struct usage u;

	for (size_t i = 0; i < rq->nmsgs; i++) {
		prompt += rq->msgs[i].text_len + rq->msgs[i].raw_len;
		for (size_t k = 0; k < rq->msgs[i].nresults; k++)
			prompt += rq->msgs[i].results[k].text_len;
	}
	usage_estimate(prompt, c->msg.text_len, &u);
	u.cost_source = c->usage.cost_source;
	u.cost_picousd = c->usage.cost_picousd;
	c->usage = u;
}

void replay_next(struct replay *r, const struct provider_req *rq, const struct call_hooks *hooks, struct attempt *at)
{
	struct step *s = r->at < r->n ? &r->v[r->at] : NULL;
	uint64_t times = 1;
	struct completion *c = &at->reply;

	*at = (struct attempt){ .hint.should_retry = -1 };
	if (!s) {
		fail(at, FAULT_REQUEST, r->name, 0, "the script has no step left");
		return;
	}
	if (!matches(s, rq)) {
		fail(at, FAULT_REQUEST, r->name, s->line, "the request does not match");
		return;
	}
	if (--s->left == 0)
		r->at++;
	if (json_kind(json_get(s->doc, "fault")) == JSON_OBJECT) {
		(void)make_fault(json_get(s->doc, "fault"), &at->fault, &at->hint, &times, NULL);
		(void)ak_err_set(&at->err, EIO, "%s", at->fault.message);
		return;
	}
	if (make_reply(json_get(s->doc, "reply"), c, NULL) < 0) {
		fail(at, FAULT_INTERNAL, r->name, s->line, "no memory");
		return;
	}
	if (c->usage.estimated)
		estimate(rq, c);
	if (hooks && hooks->on_delta && c->reasoning)
		hooks->on_delta(hooks->ctx, DELTA_REASONING, c->reasoning);
	if (hooks && hooks->on_delta && c->msg.text)
		hooks->on_delta(hooks->ctx, DELTA_TEXT, c->msg.text);
}
