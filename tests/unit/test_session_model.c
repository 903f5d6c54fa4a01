/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the model that a session goes on with. */
#include "agent/session_model.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/provider/registry.h"
#include "agent/transcript.h"
#include "executor/shared/ak_err.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static char *none[] = { NULL };

/* what a session used: provider, model, --api, --base-url */
struct used {
	const char *provider, *model, *api, *base;
};

static const struct used known = { "openrouter", "anthropic/claude-x", NULL, NULL }, old = { NULL, "claude-x", NULL, NULL },
			 server = { "h.example", "openai/x", "chat", "https://h.example/v1" }, hidden = { "h.example", "x", NULL, "" },
			 forced = { "anthropic", "x", "chat", NULL }, script = { "replay", "m", "replay", NULL }, gone = { "corp", "o1", NULL, NULL };

static struct transcript_head head_of(const struct used *u)
{
	return (struct transcript_head){ .model = TEXT(u->model), .provider = TEXT(u->provider), .api = TEXT(u->api), .base_url = TEXT(u->base) };
}

/* the session, what is said now, what comes of it; a NULL @name: no model is known */
static const struct {
	const struct used *was;
	const char *model, *base, *api;
	int taken;
	const char *name, *want_model, *want_base;
	enum wire_api want_api;
} rows[] = {
	/* nothing is said: all is the session's, and its model is no PROVIDER/MODEL */
	{ &known, NULL, NULL, NULL, 1, "openrouter", "anthropic/claude-x", "https://openrouter.ai/api/v1", WIRE_CHAT },
	{ &server, NULL, NULL, NULL, 1, "h.example", "openai/x", "https://h.example/v1", WIRE_CHAT },
	{ &forced, NULL, NULL, NULL, 1, "anthropic", "x", "https://api.anthropic.com", WIRE_CHAT },
	{ &script, NULL, NULL, NULL, 1, "replay", "m", "replay", WIRE_REPLAY },
	/* a model is said: nothing is the session's */
	{ &known, "gpt-x", NULL, NULL, 0, "openai", "gpt-x", "https://api.openai.com/v1", WIRE_RESPONSES },
	{ &server, "gpt-x", NULL, NULL, 0, "openai", "gpt-x", "https://api.openai.com/v1", WIRE_RESPONSES },
	{ &hidden, "gpt-x", NULL, NULL, 0, "openai", "gpt-x", "https://api.openai.com/v1", WIRE_RESPONSES },
	/* another place, another format: for its model */
	{ &known, NULL, "https://g.example", NULL, 1, "g.example", "anthropic/claude-x", "https://g.example", WIRE_CHAT },
	{ &server, NULL, "https://g.example", NULL, 1, "g.example", "openai/x", "https://g.example", WIRE_CHAT },
	{ &hidden, NULL, "https://g.example", NULL, 1, "g.example", "x", "https://g.example", WIRE_CHAT },
	{ &server, NULL, NULL, "responses", 1, "h.example", "openai/x", "https://h.example/v1", WIRE_RESPONSES },
	{ &forced, NULL, NULL, "anthropic", 1, "anthropic", "x", "https://api.anthropic.com", WIRE_ANTHROPIC },
	/* a script is no model, and a model is no script */
	{ &known, NULL, NULL, "replay", 0, "replay", "replay", "replay", WIRE_REPLAY },
	{ &script, NULL, NULL, "replay", 1, "replay", "m", "replay", WIRE_REPLAY },
	{ &script, NULL, NULL, "chat", 0, NULL, NULL, NULL, WIRE_NONE },
	{ &script, NULL, "https://g.example", NULL, 0, NULL, NULL, NULL, WIRE_NONE },
	/* it does not say whose the model was: it could be another's of the same name */
	{ &old, NULL, NULL, NULL, 0, NULL, NULL, NULL, WIRE_NONE },
};

START_TEST(what_is_not_said_is_the_sessions)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct transcript_head h = head_of(rows[i].was);
		struct provider_wish w = { .model = rows[i].model, .base_url = rows[i].base, .api = rows[i].api };
		struct provider_target t = { 0 };
		struct ak_err err = { 0 };

		ck_assert_msg(session_model_wish(&h, &w, &err) == rows[i].taken, "row %zu", i);
		ck_assert_msg(provider_resolve(&w, none, &t, &err) == (rows[i].name ? 0 : -EINVAL), "row %zu: %s", i, err.msg);
		if (!rows[i].name)
			continue;
		ck_assert_msg(strcmp(t.name, rows[i].name) == 0, "row %zu: %s", i, t.name);
		ck_assert_msg(strcmp(t.model, rows[i].want_model) == 0, "row %zu: %s", i, t.model);
		ck_assert_msg(strcmp(t.base_url, rows[i].want_base) == 0, "row %zu: %s", i, t.base_url);
		ck_assert_msg(t.api == rows[i].want_api, "row %zu", i);
		provider_target_release(&t);
	}
}
END_TEST

START_TEST(what_cannot_be_used_again_names_the_way_out)
{
	struct transcript_head h = head_of(&gone);
	struct provider_wish w = { 0 };
	struct provider_target t;
	struct ak_err err = { 0 };

	/* not OpenAI's, whose models are called like it */
	ck_assert_int_eq(session_model_wish(&h, &w, &err), 1);
	ck_assert_int_eq(provider_resolve(&w, none, &t, &err), -EINVAL);
	ck_assert_str_eq(err.msg, "there is no provider \"corp\"");
	ck_assert_ptr_nonnull(strstr(err.hint, "--model PROVIDER/MODEL"));
	ck_assert_ptr_nonnull(strstr(err.hint, "providers.corp.base_url"));
	h = head_of(&hidden);
	w = (struct provider_wish){ 0 };
	ck_assert_int_eq(session_model_wish(&h, &w, &err), -EINVAL);
	ck_assert_ptr_null(w.model);
	ck_assert_ptr_nonnull(strstr(err.hint, "--base-url"));
}
END_TEST

static void keep(struct transcript_head *h, const char *base, const char *api, const char *model, int want)
{
	struct provider_wish w = { .model = model, .base_url = base, .api = api };
	struct provider_target t;

	ck_assert_int_eq(provider_resolve(&w, none, &t, NULL), 0);
	ck_assert_int_eq(session_model_keep(h, &w, &t), want);
	provider_target_release(&t);
}

START_TEST(what_is_used_is_kept_without_what_may_be_a_key)
{
	struct transcript_head h = { .workspace = strdup("/w"), .system = strdup("s") };

	keep(&h, NULL, NULL, "openrouter/a/b", 1);
	ck_assert_str_eq(h.model, "a/b");
	ck_assert_str_eq(h.provider, "openrouter");
	ck_assert(!h.api && !h.base_url);
	ck_assert_str_eq(h.workspace, "/w");
	keep(&h, NULL, NULL, "openrouter/a/b", 0);
	keep(&h, "https://h.example/v1", "chat", "a/b", 1);
	ck_assert_str_eq(h.provider, "h.example");
	ck_assert_str_eq(h.base_url, "https://h.example/v1");
	ck_assert_str_eq(h.api, "chat");
	/* with what it said itself */
	keep(&h, h.base_url, h.api, "c", 1);
	ck_assert_str_eq(h.base_url, "https://h.example/v1");
	keep(&h, "https://h.example/v1?key=abc", NULL, "c", 1);
	ck_assert_str_eq(h.base_url, "");
	transcript_head_release(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session_model");
	TCase *tc = tcase_create("session_model");
	SRunner *sr = srunner_create(s);
	int failed;

	suite_add_tcase(s, tc);
	tcase_add_test(tc, what_is_not_said_is_the_sessions);
	tcase_add_test(tc, what_cannot_be_used_again_names_the_way_out);
	tcase_add_test(tc, what_is_used_is_kept_without_what_may_be_a_key);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
