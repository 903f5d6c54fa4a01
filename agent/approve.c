/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a tool call may run: the order of what decides. Process: agent. Privilege: none. */
#include "agent/approve_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/json.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"

static const struct {
	const char *name;
	enum approve_policy policy;
} policies[] = {
	/* the first name of each is the one of CLI.md */
	{ "ask", APPROVE_ALWAYS_ASK },
	{ "always_ask", APPROVE_ALWAYS_ASK },
	{ "auto", APPROVE_AUTO_ALLOW },
	{ "auto_allow", APPROVE_AUTO_ALLOW },
	{ "deny-mutations", APPROVE_DENY_MUTATIONS },
	{ "deny_mutations", APPROVE_DENY_MUTATIONS },
	{ "smart", APPROVE_SMART },
};

#define N_POLICIES (sizeof(policies) / sizeof(policies[0]))

bool approve_policy_parse(const char *name, enum approve_policy *ret)
{
	for (size_t i = 0; i < N_POLICIES; i++) {
		if (strcmp(policies[i].name, name) == 0) {
			*ret = policies[i].policy;
			return true;
		}
	}
	return false;
}

const char *approve_policy_name(enum approve_policy policy)
{
	for (size_t i = 0; i < N_POLICIES; i++) {
		if (policies[i].policy == policy)
			return policies[i].name;
	}
	return "?";
}

const char *approve_by_name(enum approve_by by)
{
	static const char *const names[] = {
		[APPROVE_BY_UNGATED] = "ungated", [APPROVE_BY_RULE] = "rule",	  [APPROVE_BY_POLICY] = "policy",
		[APPROVE_BY_PERSON] = "person",	  [APPROVE_BY_MEMORY] = "memory", [APPROVE_BY_JUDGE] = "judge",
		[APPROVE_BY_NOBODY] = "nobody",	  [APPROVE_BY_PLAN] = "plan",
	};

	return (size_t)by < sizeof(names) / sizeof(names[0]) ? names[by] : "?";
}

int approver_new(const struct approve_options *o, struct approver **ret, struct ak_err *err)
{
	struct approver *a;

	if (!o->workspace || o->workspace[0] != '/' || !o->session)
		return ak_err_set(err, EINVAL, "approvals need an absolute workspace and a session");
	a = calloc(1, sizeof(*a));
	if (!a)
		return ak_err_set(err, ENOMEM, "no memory for approvals");
	a->o = *o;
	a->o.workspace = ak_path_normalize(NULL, o->workspace);
	a->o.session = strdup(o->session);
	a->plan_pending = o->plan;
	if (!a->o.workspace || !a->o.session || approver_folder(a, a->o.workspace) < 0) {
		approver_free(a);
		return ak_err_set(err, ENOMEM, "no memory for approvals");
	}
	*ret = a;
	return 0;
}

void approver_width(struct approver *a, unsigned width)
{
	a->o.width = width;
}

void approver_free(struct approver *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_remembered; i++)
		free(a->remembered[i]);
	free(a->remembered);
	free(a->remembered_len);
	rules_release(&a->rules);
	free((char *)a->o.workspace);
	free((char *)a->o.session);
	free(a->folder);
	free(a);
}

int approver_rule(struct approver *a, bool deny, const char *text, struct ak_err *err)
{
	return rules_add(&a->rules, deny, text, err);
}

int approver_folder(struct approver *a, const char *folder)
{
	char *copy = folder && folder[0] == '/' ? strdup(folder) : NULL;

	free(a->folder);
	a->folder = copy;
	return folder && folder[0] == '/' && !copy ? -ENOMEM : 0;
}

static bool one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

bool approve_gated(const char *tool, const struct cJSON *args)
{
	static const char *const reading[] = { "read_file", "list_dir", "find_files", "search_text", "file_info" };
	static const char *const looking[] = { "list", "logs", "status", "wait" };
	const char *action;

	if (one_of(tool, reading, sizeof(reading) / sizeof(reading[0])))
		return false;
	if (strcmp(tool, "job") != 0)
		return true;
	action = json_str(json_get(args, "action"));
	return !action || !one_of(action, looking, sizeof(looking) / sizeof(looking[0]));
}

/* Only the arguments of CLI.md: a rule for a command says nothing about what another argument would do */
static bool known_bash_arguments(const struct cJSON *args)
{
	static const char *const names[] = { "command", "timeout", "background" };

	for (const struct cJSON *item = json_first(args); item; item = json_next(item)) {
		if (!one_of(json_name(item), names, sizeof(names) / sizeof(names[0])))
			return false;
	}
	return true;
}

static void view_job(const struct approver *a, const struct cJSON *args, struct view *ret)
{
	struct ak_buf text = { .max = 1u << 16 };
	const char *action = json_str(json_get(args, "action"));
	const char *id = json_str(json_get(args, "id"));

	ak_buf_str(&text, action ? action : "");
	if (id)
		ak_buf_printf(&text, " %s", id);
	view_text(a, "job", text.data && !text.failed ? text.data : "", text.failed ? 0 : text.len, ret);
	ak_buf_release(&text);
}

static void view_call(const struct approver *a, const char *tool, const struct cJSON *args, struct view *ret)
{
	const char *command = json_str(json_get(args, "command"));
	const char *path = json_str(json_get(args, "path"));
	const char *to = json_str(json_get(args, "to"));

	if (strcmp(tool, "bash") == 0) {
		view_bash(a, command ? command : "", ret);
		if (ret->allow && (!command || !known_bash_arguments(args))) {
			ret->allow = false;
			(void)snprintf(ret->why, sizeof(ret->why), "no rule allows it: arguments no rule knows");
		}
	} else if (strcmp(tool, "job") == 0) {
		view_job(a, args, ret);
	} else if (strcmp(tool, "rollback") == 0) {
		view_text(a, tool, to ? to : "", to ? strlen(to) : 0, ret);
	} else if (!approve_gated(tool, args) || strcmp(tool, "write_file") == 0 || strcmp(tool, "edit_file") == 0) {
		view_path(a, tool, path ? path : ".", ret);
	} else {
		view_text(a, tool, "", 0, ret);
	}
}

static void allow(struct approve_answer *r, enum approve_by by, const char *why)
{
	r->verdict = APPROVE_ALLOW;
	r->by = by;
	r->text = NULL;
	(void)snprintf(r->reason, sizeof(r->reason), "%s", why);
	ak_text_clean(r->reason);
}

static void deny(struct approve_answer *r, enum approve_by by, const char *text, const char *why)
{
	r->verdict = APPROVE_DENY;
	r->by = by;
	r->text = text;
	(void)snprintf(r->reason, sizeof(r->reason), "%s", why);
	ak_text_clean(r->reason);
}

/* A person, or nobody */
static void ask_person(struct approver *a, const char *tool, const struct cJSON *args, const char *why, struct approve_answer *r)
{
	enum approve_reply reply;

	if (!a->o.person.ask) {
		deny(r, APPROVE_BY_NOBODY, APPROVE_NOBODY, why);
		return;
	}
	reply = approve_ask(a, tool, args, why, a->folder && a->n_remembered < APPROVE_REMEMBERED_MAX);
	if (reply == APPROVE_YES_SESSION)
		(void)approve_remember(a, tool, args);
	if (reply == APPROVE_YES || reply == APPROVE_YES_SESSION)
		allow(r, APPROVE_BY_PERSON, "allowed by a person");
	else if (reply == APPROVE_NO_ANSWER)
		deny(r, APPROVE_BY_NOBODY, APPROVE_NOBODY, "the question was not answered");
	else
		deny(r, APPROVE_BY_PERSON, APPROVE_DENIED, "denied by a person");
}

static bool plan_in_the_way(const struct approver *a, struct approve_answer *r)
{
	if (!a->plan_pending)
		return false;
	if (!a->plan_refused && !a->o.person.ask)
		deny(r, APPROVE_BY_NOBODY, APPROVE_NOBODY, "plan mode, and nobody to approve a plan");
	else
		deny(r, APPROVE_BY_PLAN, APPROVE_PLAN_DENIED, a->plan_refused ? "the plan was refused" : "no plan was approved");
	return true;
}

/* What a rule, a plan or the memory says. Return: false when the policy has to decide */
static bool decided(struct approver *a, const char *tool, const struct cJSON *args, const struct view *v, struct approve_answer *r)
{
	if (v->deny == RULE_YES) {
		deny(r, APPROVE_BY_RULE, APPROVE_DENIED, v->why);
	} else if (!r->gated && v->deny == RULE_NO) {
		allow(r, APPROVE_BY_UNGATED, "changes nothing");
	} else if (r->gated && a->o.policy == APPROVE_DENY_MUTATIONS) {
		deny(r, APPROVE_BY_POLICY, APPROVE_DENIED, "the policy denies everything that changes something");
	} else if (r->gated && plan_in_the_way(a, r)) {
		return true;
	} else if (v->allow && v->deny == RULE_NO) {
		allow(r, APPROVE_BY_RULE, v->why);
	} else if (approve_is_remembered(a, tool, args)) {
		allow(r, APPROVE_BY_MEMORY, "allowed by a person for this session");
	} else {
		return false;
	}
	return true;
}

int approve_call(struct approver *a, const char *tool, const struct cJSON *args, struct approve_answer *ret)
{
	struct view v = { .deny = RULE_NO };
	char why[APPROVE_REASON_MAX] = "";

	*ret = (struct approve_answer){ .gated = approve_gated(tool, args) };
	view_call(a, tool, args, &v);
	if (decided(a, tool, args, &v, ret))
		return 0;
	if (v.deny == RULE_NO && a->o.policy == APPROVE_AUTO_ALLOW) {
		allow(ret, APPROVE_BY_POLICY, "the policy allows everything");
		return 0;
	}
	if (v.deny == RULE_NO && a->o.policy == APPROVE_SMART) {
		if (approve_judge(a, tool, args, why)) {
			allow(ret, APPROVE_BY_JUDGE, why);
			return 0;
		}
	} else {
		(void)snprintf(why, sizeof(why), "%s", v.why);
	}
	ask_person(a, tool, args, why, ret);
	return 0;
}

bool approve_plan_pending(const struct approver *a)
{
	return a->plan_pending;
}

int approve_plan(struct approver *a, const char *text, size_t len, struct approve_answer *ret)
{
	enum approve_reply reply;

	*ret = (struct approve_answer){ .gated = true };
	if (!a->plan_pending) {
		allow(ret, APPROVE_BY_PLAN, "no plan is wanted");
		return 0;
	}
	if (!a->o.person.ask) {
		deny(ret, APPROVE_BY_NOBODY, APPROVE_NOBODY, "plan mode, and nobody to approve a plan");
		return 0;
	}
	reply = approve_ask_plan(a, text, len);
	a->plan_refused = reply == APPROVE_NO;
	a->plan_pending = a->plan_refused || reply == APPROVE_NO_ANSWER;
	if (reply == APPROVE_NO_ANSWER)
		deny(ret, APPROVE_BY_NOBODY, APPROVE_NOBODY, "the question was not answered");
	else if (a->plan_refused)
		deny(ret, APPROVE_BY_PLAN, APPROVE_PLAN_DENIED, "the plan was refused");
	else
		allow(ret, APPROVE_BY_PERSON, "the plan was approved");
	return 0;
}
