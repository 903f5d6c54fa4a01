/* SPDX-License-Identifier: Apache-2.0 */
/* The table of config keys: complete, in step with the options and their defaults, and what "looser" means. */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/args.h"
#include "executor/args_int.h"
#include "executor/opts.h"
#include "executor/run_words.h"
#include "executor/shared/ak_config_keys.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Options that concern one command line: a file must not change what a script gets, or what it runs where. -v is --rw and --ro */
static const char *const not_in_files[] = {
	"--shell", "--workspace", "-v", "--fd", "--in", "--fresh", "--detach", "--stdin", "--tty", "--json", "--report",
	"--explain", "--config", "--profile", "--help",
};

START_TEST(every_option_is_a_key_or_named_here_as_none)
{
	const struct arg_def *d;

	for (size_t i = 0; (d = arg_row(i)) != NULL; i++) {
		bool left_out = false;

		for (size_t n = 0; n < LEN(not_in_files); n++)
			left_out = left_out || strcmp(not_in_files[n], d->name) == 0;
		ck_assert_msg(left_out == !ak_cfg_by_option(AK_CFG_EXEC, d->name),
			      "%s: decide in ak_config_keys.c whether files may set it, and how it gets stricter", d->name);
	}
}
END_TEST

START_TEST(spellings_agree)
{
	const struct ak_cfg_key *k;

	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++) {
		static const char *const sections[AK_CFG_SECTIONS] = { "exec", "run" };
		char variable[64] = "AK_", option[64] = "--", full[64];
		size_t n = strlen(k->name);

		if (k->kind == AK_CFG_PROVIDERS) {	/* a section, no option */
			ck_assert_ptr_null(k->variable);
			ck_assert_str_eq(k->full[AK_CFG_RUN], "providers");
			continue;
		}
		for (size_t c = 0; c <= n; c++) {
			variable[3 + c] = (char)toupper((unsigned char)k->name[c]);
			option[2 + c] = k->name[c] == '_' ? '-' : k->name[c];
		}
		ck_assert_str_eq(k->variable, variable);
		ck_assert_str_eq(k->option, option);
		ck_assert_uint_eq(ak_cfg_index(k), i);
		ck_assert(ak_cfg_in(k, AK_CFG_EXEC) || ak_cfg_in(k, AK_CFG_RUN));
		for (unsigned s = 0; s < AK_CFG_SECTIONS; s++) {
			if (!ak_cfg_in(k, (enum ak_cfg_section)s)) {
				ck_assert_ptr_ne(ak_cfg_find((enum ak_cfg_section)s, k->name), k);
				continue;
			}
			(void)snprintf(full, sizeof(full), "%s.%s", sections[s], k->name);
			ck_assert_str_eq(k->full[s], full);
			ck_assert_ptr_eq(ak_cfg_find((enum ak_cfg_section)s, k->name), k);
			ck_assert_ptr_eq(ak_cfg_by_option((enum ak_cfg_section)s, k->option), k);
		}
	}
	ck_assert_ptr_null(ak_cfg_find(AK_CFG_EXEC, "memroy"));
	ck_assert_ptr_null(ak_cfg_find(AK_CFG_EXEC, ""));
	ck_assert_ptr_null(ak_cfg_by_option(AK_CFG_EXEC, "--json"));
	ck_assert_ptr_eq(ak_cfg_find(AK_CFG_EXEC, "network"), ak_cfg_find(AK_CFG_EXEC, "net"));
	ck_assert_ptr_eq(ak_cfg_by_option(AK_CFG_EXEC, "--pids-limit"), ak_cfg_find(AK_CFG_EXEC, "pids"));
	/* of ak run only the names that its command line knows */
	ck_assert_ptr_null(ak_cfg_find(AK_CFG_RUN, "network"));
	ck_assert_ptr_null(ak_cfg_find(AK_CFG_RUN, "ro_try"));
	ck_assert_ptr_null(ak_cfg_by_option(AK_CFG_RUN, "--pids-limit"));
}
END_TEST

/* what a workspace may do is the contract's list, nothing that happens to be in the table */
START_TEST(the_workspace_may_tighten_and_nothing_else)
{
	static const struct { enum ak_cfg_section section; const char *name; } may[] = {
		{ AK_CFG_EXEC, "write" }, { AK_CFG_EXEC, "apply" }, { AK_CFG_EXEC, "hide" }, { AK_CFG_EXEC, "net" },
		{ AK_CFG_EXEC, "memory" }, { AK_CFG_EXEC, "cpus" }, { AK_CFG_EXEC, "pids" }, { AK_CFG_EXEC, "cpu_time" },
		{ AK_CFG_EXEC, "nofile" }, { AK_CFG_EXEC, "fsize" }, { AK_CFG_EXEC, "disk" }, { AK_CFG_EXEC, "timeout" },
		{ AK_CFG_EXEC, "kill_after" }, { AK_CFG_EXEC, "max_output" }, { AK_CFG_EXEC, "ttl" },
		{ AK_CFG_RUN, "apply" }, { AK_CFG_RUN, "approval" }, { AK_CFG_RUN, "deny" }, { AK_CFG_RUN, "timeout" },
		{ AK_CFG_RUN, "tool_timeout" }, { AK_CFG_RUN, "max_tool_timeout" }, { AK_CFG_RUN, "max_response_tokens" },
		{ AK_CFG_RUN, "max_cost" }, { AK_CFG_RUN, "max_input_tokens" }, { AK_CFG_RUN, "max_output_tokens" },
		{ AK_CFG_RUN, "max_turns" }, { AK_CFG_RUN, "max_tool_calls" },
	};
	const struct ak_cfg_key *k;
	size_t n = 0;

	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++) {
		n += ak_cfg_may(k, AK_CFG_WORKSPACE);
		if (ak_cfg_may(k, AK_CFG_WORKSPACE))
			ck_assert(k->rule == AK_CFG_LOWER || k->rule == AK_CFG_RANK || k->rule == AK_CFG_MORE);
		if (k->rule == AK_CFG_FREE)
			ck_assert_msg(!ak_cfg_may(k, AK_CFG_POLICY), "%s: nothing to lock", k->name);
		ck_assert(ak_cfg_is_list(k) == (k->rule == AK_CFG_LESS || k->rule == AK_CFG_MORE || strcmp(k->name, "tmpfs") == 0));
		ck_assert((k->rule == AK_CFG_LESS) == (k->gives != 0));
		ck_assert(ak_cfg_may(k, AK_CFG_FLAG) && ak_cfg_may(k, AK_CFG_USER) && !ak_cfg_may(k, AK_CFG_DEFAULT));
	}
	ck_assert_uint_eq(n, LEN(may));
	for (size_t i = 0; i < LEN(may); i++)
		ck_assert_msg(ak_cfg_may(ak_cfg_find(may[i].section, may[i].name), AK_CFG_WORKSPACE), "%s", may[i].name);
}
END_TEST

static const struct { const char *text, *name; enum ak_cfg_provider_field field; const char *value; } entries[] = {
	{ "corp.base_url=https://h/?a=b", "corp", AK_CFG_PROVIDER_BASE_URL, "https://h/?a=b" },
	{ "a-1.api=chat", "a-1", AK_CFG_PROVIDER_API, "chat" },
	{ "x.api_key_file=/a.b=c", "x", AK_CFG_PROVIDER_KEY_FILE, "/a.b=c" },
	{ "", NULL, 0, NULL },
	{ "corp", NULL, 0, NULL },
	{ "corp.", NULL, 0, NULL },
	{ ".api=chat", NULL, 0, NULL },
	{ "corp.api", NULL, 0, NULL },
	{ "corp.api=", NULL, 0, NULL },
	{ "corp.ap=chat", NULL, 0, NULL },
	{ "corp.api_key=x", NULL, 0, NULL },
	{ "Corp.api=chat", NULL, 0, NULL },
	{ "a=b.api=chat", NULL, 0, NULL },
	{ "a123456789-123456789-123456789-12.api=chat", NULL, 0, NULL },
};

START_TEST(entries_of_providers)
{
	char name[AK_CFG_PROVIDER_NAME_MAX + 1], variable[AK_CFG_PROVIDER_NAME_MAX + 17];

	for (size_t i = 0; i < LEN(entries); i++) {
		enum ak_cfg_provider_field field = AK_CFG_PROVIDER_FIELDS;
		const char *value = ak_cfg_provider_split(entries[i].text, name, &field);

		ck_assert_msg((value == NULL) == (entries[i].name == NULL), "%s", entries[i].text);
		if (!value)
			continue;
		ck_assert_str_eq(name, entries[i].name);
		ck_assert_int_eq(field, entries[i].field);
		ck_assert_str_eq(value, entries[i].value);
	}
	ak_cfg_provider_variable("corp-gw2", "_API_KEY", variable);
	ck_assert_str_eq(variable, "CORP_GW2_API_KEY");
}
END_TEST

/* the default of a key, given as an option, changes nothing */
START_TEST(defaults_are_those_of_the_options)
{
	const struct ak_cfg_key *k;

	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++) {
		struct exec_opts a, b;
		int create = strcmp(k->name, "ttl") == 0 || strcmp(k->name, "pool") == 0;
		char option[64], value[64], word[] = "n";
		char *line[] = { option, value, word }, *plain[] = { word };

		if (!ak_cfg_in(k, AK_CFG_EXEC) || !k->initial || k->kind == AK_CFG_BOOL || !arg_by_name(k->option, strlen(k->option)))
			continue;
		(void)snprintf(option, sizeof(option), "%s", k->option);
		(void)snprintf(value, sizeof(value), "%s", k->initial);
		ck_assert_int_eq(args_parse(create ? ARGS_CREATE : ARGS_EXEC, 3, line, NULL, &a, NULL), 0);
		ck_assert_int_eq(args_parse(create ? ARGS_CREATE : ARGS_EXEC, 1, plain, NULL, &b, NULL), 0);
		ck_assert_msg(a.memory_bytes.value == b.memory_bytes.value && a.cpu_milli.value == b.cpu_milli.value &&
				      a.pids.value == b.pids.value && a.write == b.write && a.net == b.net &&
				      a.rootfs_write == b.rootfs_write && a.identity == b.identity && a.kill_after_ms == b.kill_after_ms &&
				      a.ttl_ms == b.ttl_ms && a.pool == b.pool && !a.rootfs && a.seccomp && b.seccomp &&
				      strcmp(a.seccomp, b.seccomp) == 0,
			      "%s", k->name);
		exec_opts_release(&a);
		exec_opts_release(&b);
	}
}
END_TEST

/* Options of ak run that no file has: they concern one command line, or one model */
static const char *const not_in_run[] = { "--replay", "--yes", "--price", "--output", "--json", "--output-last-message", "--output-schema",
					  "--attach", "--resume", "--continue", "--bare", "--help", "--config", "--profile", "--workspace" };

START_TEST(every_option_of_run_is_a_key_or_named_here_as_none)
{
	const char *name;

	for (size_t i = 0; (name = run_words_option(i)) != NULL; i++) {
		bool left_out = false;

		for (size_t n = 0; n < LEN(not_in_run); n++)
			left_out = left_out || strcmp(not_in_run[n], name) == 0;
		ck_assert_msg(left_out == !ak_cfg_by_option(AK_CFG_RUN, name), "%s: decide in ak_config_keys.c whether files may set it", name);
	}
}
END_TEST

static const struct ak_cfg_key *find(const char *full)
{
	return strncmp(full, "run.", 4) == 0 ? ak_cfg_find(AK_CFG_RUN, full + 4) : ak_cfg_find(AK_CFG_EXEC, full);
}

/* key, value, than, looser? */
static const struct { const char *key, *value, *than; bool looser; } rows[] = {
	{ "memory", "1g", "512m", true },
	{ "memory", "512m", "1g", false },
	{ "memory", "1024m", "1g", false },
	{ "memory", "max", "1g", true },
	{ "memory", "1g", "max", false },
	{ "memory", "max", "max", false },
	{ "timeout", "5m", NULL, false },
	{ "timeout", NULL, "5m", true },
	{ "timeout", "301", "5m", true },
	{ "timeout", "300000ms", "5m", false },
	{ "cpus", "0.5", "1", false },
	{ "cpus", "1.5", "1", true },
	{ "pids", "257", "256", true },
	{ "pids", "256", "256", false },
	{ "memory", "none of it", "1g", false },	/* for its option to refuse */
	{ "write", "direct", "cow", true },
	{ "write", "none", "direct", false },
	{ "write", "cow", "none", true },
	{ "net", "host", "none", true },
	{ "net", "none", "host", false },
	{ "net", "allow=a", "none", true },
	{ "net", "allow=a", "host", false },
	{ "net", "allow=a", "allow=a", false },
	{ "net", "allow=a,b", "allow=a", true },
	{ "net", "allow=a", "allow=a,b", true },	/* the sets are not compared: no order between two lists */
	{ "net", "something", "host", true },
	{ "run.approval", "auto", "smart", true },
	{ "run.approval", "smart", "ask", true },
	{ "run.approval", "ask", "deny-mutations", true },
	{ "run.approval", "deny-mutations", "auto", false },
	{ "run.approval", "always_ask", "ask", false },	/* one place with two spellings */
	{ "run.approval", "ask", "always_ask", false },
	{ "run.approval", "auto_allow", "ask", true },
	{ "run.approval", "deny", "auto", true },	/* no word at all is no order */
	{ "run.approval", "ask|always_ask", "ask", true },
	{ "run.apply", "always", "ask", true },
	{ "run.apply", "never", "ask", false },
	{ "run.apply", "ask", "never", true },
	{ "run.max_cost", "2", "1.5", true },
	{ "run.max_cost", "0.000000000002", "0.000000000001", true },
	{ "run.max_cost", "1.50", "1.5", false },
	{ "run.max_cost", NULL, "1", true },
	{ "run.max_cost", "0", NULL, false },
	{ "run.max_cost", "99999999999999999999", "18000000", true },
	{ "run.max_cost", "18000000", "99999999999999999999", false },
	{ "run.max_cost", "1e3", "1", false },	/* for its option to refuse */
	{ "run.max_turns", "26", "25", true },
	{ "run.max_turns", "25", "25", false },
	{ "run.timeout", "5m", "1h", false },
	{ "seccomp", "strict", "default", false },
	{ "seccomp", "default", "strict", true },
	{ "seccomp", "/p.json", "default", true },
	{ "seccomp", "/p.json", "/p.json", false },
	{ "seccomp", "default", "/p.json", true },
	{ "seccomp", "strict", "/p.json", true },
	{ "raw", "true", "false", true },
	{ "raw", "false", "true", false },
	{ "raw", "true", "true", false },
	{ "rootfs", "/a", "host", true },
	{ "rootfs", "host", "host", false },
	{ "user", "0", NULL, true },
	{ "quiet", "true", "false", false },
};

START_TEST(looser)
{
	const struct ak_cfg_key *k = find(rows[_i].key);

	ck_assert_ptr_nonnull(k);
	ck_assert_msg(ak_cfg_looser(k, rows[_i].value, rows[_i].than) == rows[_i].looser, "%s: %s than %s", rows[_i].key,
		      rows[_i].value ? rows[_i].value : "unset", rows[_i].than ? rows[_i].than : "unset");
}
END_TEST

START_TEST(profile_names)
{
	char name[66];

	memset(name, 'a', sizeof(name));
	name[64] = '\0';
	ck_assert(ak_cfg_profile_name_ok(name));
	name[64] = 'a';
	name[65] = '\0';
	ck_assert(!ak_cfg_profile_name_ok(name));
	ck_assert(ak_cfg_profile_name_ok("ci-2.x_Y"));
	ck_assert(!ak_cfg_profile_name_ok("") && !ak_cfg_profile_name_ok(".a") && !ak_cfg_profile_name_ok("-a") &&
		  !ak_cfg_profile_name_ok("a b") && !ak_cfg_profile_name_ok("a/b") && !ak_cfg_profile_name_ok("a\n"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("config_keys");
	TCase *tc = tcase_create("all");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_test(tc, entries_of_providers);
	tcase_add_test(tc, every_option_is_a_key_or_named_here_as_none);
	tcase_add_test(tc, every_option_of_run_is_a_key_or_named_here_as_none);
	tcase_add_test(tc, spellings_agree);
	tcase_add_test(tc, the_workspace_may_tighten_and_nothing_else);
	tcase_add_test(tc, defaults_are_those_of_the_options);
	tcase_add_loop_test(tc, looser, 0, (int)LEN(rows));
	tcase_add_test(tc, profile_names);
	suite_add_tcase(s, tc);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
