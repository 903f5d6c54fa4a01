/* SPDX-License-Identifier: Apache-2.0 */
/* An approver for tests: rules from one text, a person and a judge that answer as told and remember what they were asked. */
#ifndef AK_TESTS_APPROVE_FIXTURE_H
#define AK_TESTS_APPROVE_FIXTURE_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/approve.h"
#include "agent/json.h"
#include "agent/shell/shell.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

struct desk {
	struct approver *a;
	struct approve_options o;
	unsigned asked;
	unsigned judged;
	enum approve_reply reply;
	bool opened;
	char tool[64];
	char shown[65536];
	char brief[65536];
	char why[512];
	char notes[4096];
	size_t hidden;
	bool may_remember;
	const char *judge_says; /* %s stands for the id; NULL: fails */
	char judge_user[65536];
	const char *link_from, *link_to; /* a link for resolve() */
};

static inline enum approve_reply desk_person(void *ctx, const struct approve_question *q, bool *ret_opened)
{
	struct desk *d = ctx;

	d->asked++;
	*ret_opened = d->opened;
	(void)snprintf(d->tool, sizeof(d->tool), "%s", q->tool);
	(void)snprintf(d->shown, sizeof(d->shown), "%.*s", (int)q->shown_len, q->shown);
	(void)snprintf(d->brief, sizeof(d->brief), "%.*s", (int)q->brief_len, q->brief);
	(void)snprintf(d->why, sizeof(d->why), "%s", q->why);
	d->notes[0] = '\0';
	for (size_t i = 0; i < q->n_notes; i++)
		(void)snprintf(d->notes + strlen(d->notes), sizeof(d->notes) - strlen(d->notes), "%s\n", q->notes[i]);
	d->hidden = q->hidden_bytes;
	d->may_remember = q->may_remember;
	return d->reply;
}

static inline int desk_judge(void *ctx, const char *system, const char *user, struct ak_buf *reply, struct ak_err *err)
{
	struct desk *d = ctx;
	const char *id = strstr(user, "\"id\":\"");

	ck_assert_ptr_nonnull(strstr(system, "verdict"));
	d->judged++;
	(void)snprintf(d->judge_user, sizeof(d->judge_user), "%s", user);
	if (!d->judge_says)
		return ak_err_set(err, EIO, "the provider is away");
	ck_assert_ptr_nonnull(id);
	for (const char *c = d->judge_says; *c; c++) {
		if (*c == '%')
			ak_buf_add(reply, id + 6, 16);
		else
			ak_buf_add(reply, c, 1);
	}
	return 0;
}

static inline int desk_resolve(void *ctx, const char *path, struct ak_buf *real)
{
	struct desk *d = ctx;
	size_t n = d->link_from ? strlen(d->link_from) : 0;

	if (n && strncmp(path, d->link_from, n) == 0 && (path[n] == '\0' || path[n] == '/')) {
		if (!d->link_to)
			return -EIO;
		ak_buf_printf(real, "%s%s", d->link_to, path + n);
	} else {
		ak_buf_str(real, path);
	}
	return 0;
}

/* @rules: "+bash(git status*)\n-bash(rm*)": + allows, - denies */
static inline void desk_rules(struct desk *d, const char *rules)
{
	char *copy = strdup(rules);
	char *save = NULL;
	struct ak_err err = { 0 };

	for (char *r = strtok_r(copy, "\n", &save); r; r = strtok_r(NULL, "\n", &save)) {
		int rc = approver_rule(d->a, r[0] == '-', r + 1, &err);

		ck_assert_msg(rc == 0, "rule %s: %s", r, err.msg);
	}
	free(copy);
}

static inline void desk_open(struct desk *d, enum approve_policy policy, const char *rules)
{
	memset(d, 0, sizeof(*d));
	d->o = (struct approve_options){
		.policy = policy,
		.workspace = "/ws",
		.session = "s-1",
		.person = { desk_person, d },
		.judge = { desk_judge, d },
		.files = { desk_resolve, d },
	};
	ck_assert_int_eq(approver_new(&d->o, &d->a, NULL), 0);
	desk_rules(d, rules);
}

static inline void desk_close(struct desk *d)
{
	approver_free(d->a);
	d->a = NULL;
}

static inline void desk_call(struct desk *d, const char *tool, const char *json, struct approve_answer *r)
{
	struct cJSON *args;

	ck_assert_int_eq(json_parse(json, strlen(json), 0, NULL, &args, NULL), 0);
	ck_assert_int_eq(approve_call(d->a, tool, args, r), 0);
	json_free(args);
}

static inline void desk_bash(struct desk *d, const char *command, struct approve_answer *r)
{
	struct cJSON *args = json_new_obj();

	ck_assert_int_eq(json_set(args, "command", json_new_str(command, strlen(command))), 0);
	ck_assert_int_eq(approve_call(d->a, "bash", args, r), 0);
	json_free(args);
}

/* 'A' allowed without a question, 'D' denied without one, '?' asked */
static inline char desk_verdict(struct desk *d, const struct approve_answer *r)
{
	if (d->asked + d->judged > 0)
		return '?';
	return r->verdict == APPROVE_ALLOW ? 'A' : 'D';
}

#endif
