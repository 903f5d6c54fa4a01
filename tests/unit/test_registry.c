/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of where a model is asked: provider, base, wire format, whose keys. */
#include "agent/provider/registry.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/shared/ak_err.h"

static char *env[] = { (char *)"OPENAI_BASE_URL=http://127.0.0.1:9/v1/", (char *)"DEEPSEEK_BASE_URL=", NULL };
static char *none[] = { NULL };

static const struct {
	const char *model, *base, *api;
	char **env;
	const char *name, *want_model, *want_base;
	enum wire_api want_api;
	const char *info;
	bool custom;
} rows[] = {
	{ "anthropic/claude-x", NULL, NULL, none, "anthropic", "claude-x", "https://api.anthropic.com", WIRE_ANTHROPIC, "anthropic", false },
	{ "claude-x", NULL, NULL, none, "anthropic", "claude-x", "https://api.anthropic.com", WIRE_ANTHROPIC, "anthropic", false },
	{ "openai/gpt-x", NULL, NULL, none, "openai", "gpt-x", "https://api.openai.com/v1", WIRE_RESPONSES, "openai", false },
	{ "openai/gpt-x", NULL, "chat", none, "openai", "gpt-x", "https://api.openai.com/v1", WIRE_CHAT, "openai", false },
	{ "gpt-x", NULL, NULL, env, "openai", "gpt-x", "http://127.0.0.1:9/v1", WIRE_CHAT, "openai", true },
	{ "openrouter/a/b:free", NULL, NULL, none, "openrouter", "a/b:free", "https://openrouter.ai/api/v1", WIRE_CHAT, "openrouter", false },
	{ "deepseek/d", NULL, NULL, env, "deepseek", "d", "https://api.deepseek.com", WIRE_CHAT, "deepseek", false },
	{ "gemini/g", NULL, NULL, none, "gemini", "g", "https://generativelanguage.googleapis.com/v1beta/openai", WIRE_CHAT, "gemini", false },
	{ "ollama/q:7b", NULL, NULL, none, "ollama", "q:7b", "http://127.0.0.1:11434/v1", WIRE_CHAT, "ollama", false },
	{ "anthropic/x", "https://h.example:8/v1//", NULL, none, "h.example:8", "anthropic/x", "https://h.example:8/v1", WIRE_CHAT, "openai", true },
	{ "x", "https://h.example/", "anthropic", none, "h.example", "x", "https://h.example", WIRE_ANTHROPIC, "anthropic", true },
	{ "x", "https://api.openai.com/v1", NULL, none, "api.openai.com", "x", "https://api.openai.com/v1", WIRE_RESPONSES, "openai", true },
	{ "x", "https://api.anthropic.com", NULL, none, "api.anthropic.com", "x", "https://api.anthropic.com", WIRE_ANTHROPIC, "anthropic", true },
	{ NULL, NULL, "replay", none, "replay", "replay", "replay", WIRE_REPLAY, NULL, false },
};

START_TEST(wishes)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct provider_wish w = { .model = rows[i].model, .base_url = rows[i].base, .api = rows[i].api };
		struct provider_target t;
		struct ak_err err = { 0 };

		ck_assert_msg(provider_resolve(&w, rows[i].env, &t, &err) == 0, "row %zu: %s", i, err.msg);
		ck_assert_str_eq(t.name, rows[i].name);
		ck_assert_str_eq(t.model, rows[i].want_model);
		ck_assert_str_eq(t.base_url, rows[i].want_base);
		ck_assert_int_eq(t.api, rows[i].want_api);
		ck_assert_int_eq(t.custom, rows[i].custom);
		ck_assert(rows[i].info ? t.info && strcmp(t.info->name, rows[i].info) == 0 : !t.info);
		provider_target_release(&t);
	}
}
END_TEST

START_TEST(what_cannot_be_placed_is_an_error_with_advice)
{
	static const struct {
		struct provider_wish w;
		const char *says;
	} bad[] = {
		{ { NULL, NULL, NULL }, "no model" },	       { { "", NULL, NULL }, "no model" },
		{ { "llama", NULL, NULL }, "names no provider" }, { { "nobody/x", NULL, NULL }, "names no provider" },
		{ { "openai/", NULL, NULL }, "no model behind" }, { { "x", "", NULL }, "--base-url" },
		{ { "gpt-x", NULL, "http" }, "--api" },	       { { NULL, "https://x", NULL }, "no model" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct provider_target t = { .model = (char *)"untouched" };
		struct ak_err err = { 0 };

		ck_assert_int_eq(provider_resolve(&bad[i].w, none, &t, &err), -EINVAL);
		ck_assert_msg(strstr(err.msg, bad[i].says), "%s", err.msg);
		ck_assert_str_eq(t.model, "untouched");
	}
}
END_TEST

static struct providers own_of(const char *const *texts)
{
	struct providers p = { 0 };

	for (; *texts; texts++)
		ck_assert_int_eq(providers_add(&p, *texts, "FILE:1:2: providers", NULL), 0);
	return p;
}

static const char *const own_texts[] = { "corp-gw.base_url=https://old/", "corp-gw.base_url=https://gw.example/v1/", "corp-gw.api=responses", "corp-gw.api_key_file=/k",
					 "anthropic.base_url=https://proxy.example", "openai.api_key_file=/o", "bare.api=chat", NULL };
static char *corp_env[] = { (char *)"CORP_GW_BASE_URL=http://127.0.0.1:9", NULL };

static const struct {
	const char *model, *base, *api;
	char **env;
	const char *name, *want_model, *want_base;
	enum wire_api want_api;
	const char *key, *key_file;
	bool custom, of_file;
} own_rows[] = {
	{ "corp-gw/a/b", NULL, NULL, none, "corp-gw", "a/b", "https://gw.example/v1", WIRE_RESPONSES, "CORP_GW_API_KEY", "/k", true, true },
	{ "corp-gw/a", NULL, "chat", none, "corp-gw", "a", "https://gw.example/v1", WIRE_CHAT, "CORP_GW_API_KEY", "/k", true, true },
	{ "corp-gw/a", NULL, NULL, corp_env, "corp-gw", "a", "http://127.0.0.1:9", WIRE_RESPONSES, "CORP_GW_API_KEY", "/k", true, false },
	{ "claude-x", NULL, NULL, none, "anthropic", "claude-x", "https://proxy.example", WIRE_ANTHROPIC, "ANTHROPIC_API_KEY", NULL, true, true },
	{ "gpt-x", NULL, NULL, none, "openai", "gpt-x", "https://api.openai.com/v1", WIRE_RESPONSES, "OPENAI_API_KEY", "/o", false, false },
	/* with a base URL the whole text is the model, and a file's key is not for it */
	{ "corp-gw/a", "https://h.example", NULL, none, "h.example", "corp-gw/a", "https://h.example", WIRE_CHAT, "OPENAI_API_KEY", NULL, true, false },
};

START_TEST(providers_of_files)
{
	struct providers own = own_of(own_texts);

	for (size_t i = 0; i < sizeof(own_rows) / sizeof(own_rows[0]); i++) {
		struct provider_wish w = { .model = own_rows[i].model, .base_url = own_rows[i].base, .api = own_rows[i].api, .own = &own };
		struct provider_target t;
		struct ak_err err = { 0 };

		ck_assert_msg(provider_resolve(&w, own_rows[i].env, &t, &err) == 0, "row %zu: %s", i, err.msg);
		ck_assert_str_eq(t.name, own_rows[i].name);
		ck_assert_str_eq(t.model, own_rows[i].want_model);
		ck_assert_str_eq(t.base_url, own_rows[i].want_base);
		ck_assert_int_eq(t.api, own_rows[i].want_api);
		ck_assert_str_eq(t.info->keys[0].name, own_rows[i].key);
		ck_assert_int_eq(t.custom, own_rows[i].custom);
		ck_assert_int_eq(t.base_place != NULL, own_rows[i].of_file);
		ck_assert(own_rows[i].key_file ? t.own && strcmp(t.own->key_file, own_rows[i].key_file) == 0 : !t.own || !t.own->key_file);
		provider_target_release(&t);
	}
	providers_release(&own);
	ck_assert_uint_eq(own.n, 0);
}
END_TEST

START_TEST(bad_providers_of_files)
{
	struct providers own = own_of(own_texts);
	struct provider_wish w = { .model = "bare/x", .own = &own };
	struct provider_target t;
	struct ak_err err = { 0 };

	ck_assert_int_eq(provider_resolve(&w, none, &t, &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, "FILE:1:2: providers.bare: it has no base_url") == err.msg, "%s", err.msg);
	ck_assert_msg(strstr(err.hint, "BARE_BASE_URL"), "%s", err.hint);
	ck_assert_int_eq(providers_add(&own, "x.api=replay", "P", &err), -EINVAL);
	ck_assert_int_eq(providers_add(&own, "x.key=1", "P", &err), -EINVAL);
	ck_assert_int_eq(providers_add(&own, "", "P", &err), -EINVAL);
	providers_release(&own);
	for (unsigned i = 0; i <= PROVIDERS_OWN_MAX; i++) {
		char text[32];

		(void)snprintf(text, sizeof(text), "p%u.api=chat", i);
		ck_assert_int_eq(providers_add(&own, text, "P", &err), i < PROVIDERS_OWN_MAX ? 0 : -E2BIG);
	}
	providers_release(&own);
}
END_TEST

START_TEST(the_table_can_be_walked)
{
	size_t n = 0;

	for (const struct provider_info *i = provider_info_next(NULL); i; i = provider_info_next(i), n++)
		ck_assert_ptr_eq(provider_info_find(i->name), i);
	ck_assert_uint_eq(n, 6);
	ck_assert_ptr_null(provider_info_find("anthropi"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("registry");
	TCase *c = tcase_create("registry");
	SRunner *r;
	int failed;

	tcase_add_test(c, wishes);
	tcase_add_test(c, what_cannot_be_placed_is_an_error_with_advice);
	tcase_add_test(c, providers_of_files);
	tcase_add_test(c, bad_providers_of_files);
	tcase_add_test(c, the_table_can_be_walked);
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
