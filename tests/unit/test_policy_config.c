/* SPDX-License-Identifier: Apache-2.0 */
/* Config files as ak-policy reads them: what is accepted, and where and how the rest is refused. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seccomp/policy_config.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct json_doc doc;
static struct policy_config c;
static struct json_error err;

static void teardown(void)
{
	policy_config_release(&c);
	json_release(&doc);
}

static int read_as(enum ak_cfg_layer layer, const char *text)
{
	int rc;

	teardown();
	rc = json_read(text, strlen(text), JSON_RELAXED, &doc, &err);
	return rc < 0 ? rc : policy_config_read(&doc, layer, &c, &err);
}

/* "memory=1g raw=+ hide=[] ci/timeout=90": every item, in order */
static const char *items(void)
{
	static char out[1024];
	size_t n = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < c.f.n_items; i++) {
		const struct ak_cfg_item *it = &c.f.items[i];
		const char *v = it->op == AK_CFG_IS_TRUE ? "+" : it->op == AK_CFG_IS_FALSE ? "-" : it->op == AK_CFG_IS_EMPTY ? "[]" : it->value;

		n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%s%s%s=%s", i ? " " : "", it->profile ? c.f.profiles[it->profile - 1] : "",
				      it->profile ? "/" : "", it->section == AK_CFG_RUN ? it->key->full[AK_CFG_RUN] : it->key->name, v);
	}
	return out;
}

static const struct { const char *text, *items; } good[] = {
	{ "{}", "" },
	{ "// nothing\n{ /* at all */ }", "" },
	{ "{\"exec\":{}}", "" },
	{ "{\"exec\":{\"memory\":\"1g\",}, }", "memory=1g" },
	{ "{\"exec\":{\"memory\":1048576,\"cpus\":1.5,\"pids\":7,\"timeout\":90}}", "memory=1048576 cpus=1.5 pids=7 timeout=90" },
	{ "{\"exec\":{\"cpus\":\"max\",\"user\":1000}}", "cpus=max user=1000" },
	{ "{\"exec\":{\"raw\":true,\"quiet\":false}}", "raw=+ quiet=-" },
	{ "{\"exec\":{\"hide\":[\"/a\",\"b\"],\"ro\":\"/c\"}}", "hide=/a hide=b ro=/c" },
	{ "{\"exec\":{\"rw\":[]}}", "rw=[]" },
	{ "{\"exec\":{\"env\":{\"A\":\"b=c\",\"D\":\"\"}}}", "env=A=b=c env=D=" },
	{ "{\"exec\":{\"env\":[\"A=b\",\"HOME\"]}}", "env=A=b env=HOME" },
	{ "{\"exec\":{\"network\":\"host\",\"pids_limit\":3}}", "net=host pids=3" },
	{ "{\"run\":{\"model\":\"x/y\",\"max_cost\":0.25,\"deny\":[\"bash\"],\"memory\":\"1g\",\"timeout\":90}}",
	  "run.model=x/y run.max_cost=0.25 run.deny=bash run.memory=1g run.timeout=90" },
	{ "{\"profiles\":{\"ci\":{\"run\":{\"plan\":true,\"apply\":\"ask\"}}}}", "ci/run.plan=+ ci/run.apply=ask" },
	{ "{\"providers\":{}}", "providers=[]" },
	{ "{\"providers\":{\"corp-1\":{\"base_url\":\"https://h/v1\",\"api\":\"chat\",\"api_key_file\":\"~/k=1\"},\"openai\":{\"api\":\"responses\"}}}",
	  "providers=corp-1.base_url=https://h/v1 providers=corp-1.api=chat providers=corp-1.api_key_file=~/k=1 providers=openai.api=responses" },
	{ "{\"profiles\":{\"ci\":{\"exec\":{\"timeout\":\"5m\"}},\"x\":{}}, \"exec\":{\"net\":\"none\"}}", "ci/timeout=5m net=none" },
};

START_TEST(accepted)
{
	ck_assert_msg(read_as(AK_CFG_USER, good[_i].text) == 0, "%s: %s", good[_i].text, err.text);
	ck_assert_str_eq(items(), good[_i].items);
}
END_TEST

static const struct { const char *text; unsigned line, col; const char *why; } refused[] = {
	{ "[]", 1, 1, "an object is expected" },
	{ "{\"exec\":[]}", 1, 9, "exec: an object is expected" },
	{ "{\n  \"exec\": {\n    \"memroy\": 1\n  }\n}", 3, 15, "exec.memroy: unknown key" },
	{ "{\"memory\":1}", 1, 11, "memory: unknown key" },
	{ "{\"Exec\":{}}", 1, 9, "Exec: unknown key" },
	{ "{\"exec\":{\"Memory\":1}}", 1, 19, "exec.Memory: unknown key" },
	{ "{\"exec\":{\"cpu-time\":1}}", 1, 21, "exec.cpu-time: unknown key" },
	{ "{\"exec\":{\"json\":true}}", 1, 17, "exec.json: unknown key" },
	{ "{\"exec\":{\"memory\":true}}", 1, 19, "exec.memory: a size is expected" },
	{ "{\"exec\":{\"memory\":null}}", 1, 19, "exec.memory: a size is expected" },
	{ "{\"exec\":{\"memory\":[1]}}", 1, 19, "exec.memory: a size is expected" },
	{ "{\"exec\":{\"raw\":\"true\"}}", 1, 16, "exec.raw: true or false is expected" },
	{ "{\"exec\":{\"raw\":1}}", 1, 16, "exec.raw: true or false is expected" },
	{ "{\"exec\":{\"write\":1}}", 1, 18, "exec.write: a text is expected" },
	{ "{\"exec\":{\"hide\":{\"a\":\"b\"}}}", 1, 17, "exec.hide: an array of texts is expected" },
	{ "{\"exec\":{\"hide\":[\"a\",1]}}", 1, 22, "exec.hide: an array of texts is expected" },
	{ "{\"exec\":{\"hide\":[[\"a\"]]}}", 1, 18, "exec.hide: an array of texts is expected" },
	{ "{\"exec\":{\"env\":{\"A\":1}}}", 1, 21, "exec.env: the value of a variable is a text" },
	{ "{\"exec\":{\"env\":{\"A=\":\"\"}}}", 1, 22, "exec.env: no variable's name" },
	{ "{\"exec\":{\"env\":{\"\":\"\"}}}", 1, 20, "exec.env: no variable's name" },
	{ "{\"exec\":{\"net\":\"none\",\"network\":\"host\"}}", 1, 33, "exec.network: the same as net, which is set too" },
	{ "{\"exec\":{\"memory\":1,\"memory\":2}}", 1, 29, "key \"memory\" twice" },
	{ "{\"run\":{\"modle\":\"x\"}}", 1, 17, "run.modle: unknown key" },
	{ "{\"run\":{\"ro_try\":\"/x\"}}", 1, 18, "run.ro_try: unknown key" },
	{ "{\"run\":{\"network\":\"none\"}}", 1, 19, "run.network: unknown key" },
	{ "{\"run\":{\"output\":\"json\"}}", 1, 18, "run.output: unknown key: this option is for one command line" },
	{ "{\"run\":{\"max_turns\":true}}", 1, 21, "run.max_turns: a number is expected" },
	{ "{\"run\":{\"max_cost\":[1]}}", 1, 20, "run.max_cost: an amount of dollars is expected" },
	{ "{\"run\":7}", 1, 8, "run: an object is expected" },
	{ "{\"exec\":{\"model\":\"x\"}}", 1, 18, "exec.model: unknown key" },
	{ "{\"providers\":[]}", 1, 14, "providers: an object is expected" },
	{ "{\"providers\":{\"x\":{}}}", 1, 19, "providers.x: an object with base_url" },
	{ "{\"providers\":{\"x\":\"https://h\"}}", 1, 19, "providers.x: an object with base_url" },
	{ "{\"providers\":{\"X\":{\"api\":\"chat\"}}}", 1, 19, "providers: \"X\" is no name" },
	{ "{\"providers\":{\"a_b\":{\"api\":\"chat\"}}}", 1, 21, "providers: \"a_b\" is no name" },
	{ "{\"providers\":{\"1a\":{\"api\":\"chat\"}}}", 1, 20, "providers: \"1a\" is no name" },
	{ "{\"providers\":{\"\":{\"api\":\"chat\"}}}", 1, 18, "providers: \"\" is no name" },
	{ "{\"providers\":{\"a/b\":{\"api\":\"chat\"}}}", 1, 21, "providers: \"a/b\" is no name" },
	{ "{\"providers\":{\"x\":{\"bas_url\":\"https://h\"}}}", 1, 30, "providers.x.bas_url: unknown key: base_url, api and api_key_file" },
	{ "{\"providers\":{\"x\":{\"api_key\":\"sk-1\"}}}", 1, 30, "providers.x.api_key: a key is not for a config file" },
	{ "{\"providers\":{\"x\":{\"api\":\"replay\"}}}", 1, 26, "providers.x.api: anthropic, chat or responses" },
	{ "{\"providers\":{\"x\":{\"api\":1}}}", 1, 26, "providers.x.api: a text is expected" },
	{ "{\"providers\":{\"x\":{\"base_url\":\"\"}}}", 1, 31, "providers.x.base_url: empty" },
	{ "{\"providers\":{\"x\":{\"base_url\":\"h/v1\"}}}", 1, 31, "providers.x.base_url: a URL that starts with https://" },
	{ "{\"providers\":{\"x\":{\"base_url\":\"https://h/ v\"}}}", 1, 31, "providers.x.base_url: a text with a control character" },
	{ "{\"providers\":{\"x\":{\"base_url\":\"https://u:p@h/v1\"}}}", 1, 31, "providers.x.base_url: a URL without a user and a password" },
	{ "{\"providers\":{\"x\":{\"api_key_file\":\"k\"}}}", 1, 35, "providers.x.api_key_file: a path that starts with / or ~/" },
	{ "{\"providers\":{\"x\":{\"api_key_file\":\"/a\\nb\"}}}", 1, 35, "providers.x.api_key_file: a text with a control character" },
	{ "{\"run\":{\"providers\":[\"x.api=chat\"]}}", 1, 21, "run.providers: unknown key: providers is a section" },
	{ "{\"exec\":{\"providers\":[]}}", 1, 22, "exec.providers: unknown key" },
	{ "{\"profiles\":{\"p\":{\"providers\":{}}}}", 1, 31, "profiles.p.providers: providers are for all profiles" },
	{ "{\"prices\":1}", 1, 11, "prices: not in this file: prices belong into ~/.config/ak/prices.json" },
	{ "{\"profiles\":{\"p\":{\"prices\":{}}}}", 1, 28, "profiles.p.prices: not in this file" },
	{ "{\"profiles\":[]}", 1, 13, "profiles: an object is expected" },
	{ "{\"profiles\":{\"a b\":{}}}", 1, 20, "profiles: \"a b\" is no name" },
	{ "{\"profiles\":{\"a\":1}}", 1, 18, "profiles.a: an object with the sections exec and run is expected" },
	{ "{\"profiles\":{\"a\":{\"memory\":1}}}", 1, 28, "profiles.a.memory: unknown key" },
	{ "{\"profiles\":{\"a\":{\"exec\":{\"x\":1}}}}", 1, 31, "profiles.a.exec.x: unknown key" },
	{ "{\"profiles\":{\"a\":{\"run\":{\"x\":1}}}}", 1, 30, "profiles.a.run.x: unknown key" },
	{ "", 1, 1, "the text ends too early" },
	{ "{} {}", 1, 4, "something follows the value" },
};

START_TEST(refused_with_place_and_key)
{
	int rc = read_as(AK_CFG_USER, refused[_i].text);

	ck_assert_int_lt(rc, 0);
	ck_assert_msg(strstr(err.text, refused[_i].why) == err.text, "%s: \"%s\"", refused[_i].text, err.text);
	ck_assert_msg(err.line == refused[_i].line && (err.col == refused[_i].col || strstr(err.text, "twice")), "%s: %u:%u", refused[_i].text,
		      err.line, err.col);
}
END_TEST

START_TEST(a_workspace_may_not_say_this)
{
	const struct ak_cfg_key *k;

	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++) {
		bool run = !ak_cfg_in(k, AK_CFG_EXEC);
		char text[128];
		int rc;

		if (k->kind == AK_CFG_PROVIDERS)
			continue;
		(void)snprintf(text, sizeof(text), "{\"%s\":{\"%s\":%s}}", run ? "run" : "exec", k->name, k->kind == AK_CFG_BOOL ? "true" : "\"1\"");
		rc = read_as(AK_CFG_WORKSPACE, text);
		ck_assert_int_eq(rc, ak_cfg_may(k, AK_CFG_WORKSPACE) ? 0 : -EINVAL);
		ck_assert(rc == 0 || (strstr(err.text, k->full[run ? AK_CFG_RUN : AK_CFG_EXEC]) == err.text && strstr(err.text, "not for a workspace's file")));
		rc = read_as(AK_CFG_POLICY, text);
		ck_assert_int_eq(rc, ak_cfg_may(k, AK_CFG_POLICY) ? 0 : -EINVAL);
		ck_assert_int_eq(read_as(AK_CFG_USER, text), 0);
	}
	ck_assert_int_eq(read_as(AK_CFG_WORKSPACE, "{\"providers\":{\"x\":{\"api\":\"chat\"}}}"), -EINVAL);
	ck_assert_ptr_eq(strstr(err.text, "providers.x: not for a workspace's file"), err.text);
	ck_assert_int_eq(read_as(AK_CFG_WORKSPACE, "{\"providers\":{}}"), -EINVAL);
	ck_assert_int_eq(read_as(AK_CFG_POLICY, "{\"providers\":{\"x\":{\"api\":\"chat\"}}}"), 0);
	ck_assert_int_eq(read_as(AK_CFG_WORKSPACE, "{\"profiles\":{}}"), -EINVAL);
	ck_assert_int_eq(read_as(AK_CFG_POLICY, "{\"profiles\":{}}"), -EINVAL);
	ck_assert_int_eq(read_as(AK_CFG_WORKSPACE, "{\"model\":\"x\"}"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "model"));
}
END_TEST

/* @head, @n times "aN with @one behind it, and a comma; then @tail; malloc'ed */
static char *repeated(const char *head, const char *one, unsigned n, const char *tail)
{
	size_t cap = strlen(head) + n * (strlen(one) + 16) + strlen(tail) + 1, at = 0;
	char *text = malloc(cap);

	ck_assert_ptr_nonnull(text);
	at += (size_t)snprintf(text, cap, "%s", head);
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(text + at, cap - at, "\"a%u\"%s,", i, one);
	(void)snprintf(text + at, cap - at, "%s", tail);
	return text;
}

static int read_repeated(const char *head, const char *one, unsigned n, const char *tail)
{
	char *text = repeated(head, one, n, tail);
	int rc = read_as(AK_CFG_USER, text);

	free(text);
	return rc;
}

START_TEST(maxima)
{
	ck_assert_int_eq(read_repeated("{\"exec\":{\"hide\":[", "", AK_CFG_ITEMS_MAX, "]}}"), 0);
	ck_assert_uint_eq(c.f.n_items, AK_CFG_ITEMS_MAX);
	ck_assert_int_eq(read_repeated("{\"exec\":{\"hide\":[", "", AK_CFG_ITEMS_MAX + 1, "]}}"), -E2BIG);
	ck_assert_int_eq(read_repeated("{\"profiles\":{", ":{}", AK_CFG_PROFILES_MAX, "}}"), 0);
	ck_assert_int_eq(read_repeated("{\"profiles\":{", ":{}", AK_CFG_PROFILES_MAX + 1, "}}"), -E2BIG);
}
END_TEST

/* the name stands before each text, so this is longer than the file */
START_TEST(long_names_have_room)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "{\"providers\":{\"%s\":{\"api\":\"chat\",\"base_url\":\"http://h\",\"api_key_file\":\"/k\"}}}",
		       "a123456789-123456789-123456789-1");
	ck_assert_msg(read_as(AK_CFG_USER, text) == 0, "%s", err.text);
	ck_assert_uint_eq(c.f.n_items, 3);
	(void)snprintf(text, sizeof(text), "{\"providers\":{\"%s\":{\"api\":\"chat\"}}}", "a123456789-123456789-123456789-12");
	ck_assert_int_eq(read_as(AK_CFG_USER, text), -EINVAL);
}
END_TEST

START_TEST(layers_by_word)
{
	ck_assert_int_eq(policy_config_layer("policy"), AK_CFG_POLICY);
	ck_assert_int_eq(policy_config_layer("user"), AK_CFG_USER);
	ck_assert_int_eq(policy_config_layer("workspace"), AK_CFG_WORKSPACE);
	ck_assert_int_eq(policy_config_layer("flag"), AK_CFG_DEFAULT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_config");
	TCase *tc = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, accepted, 0, (int)LEN(good));
	tcase_add_loop_test(tc, refused_with_place_and_key, 0, (int)LEN(refused));
	tcase_add_test(tc, a_workspace_may_not_say_this);
	tcase_add_test(tc, maxima);
	tcase_add_test(tc, long_names_have_room);
	tcase_add_test(tc, layers_by_word);
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
