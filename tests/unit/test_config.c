/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which config files are believed, and who overrules whom. Files are made by the test; what ak-policy would say about them is
 * given as it would come. Finding all of them at once is for the integration suite.
 */
#include "executor/config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/args.h"
#include "executor/args_agent.h"
#include "executor/opts.h"
#include "executor/run_words.h"
#include "executor/shared/ak_err.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static char dir[] = "/tmp/ak-test-config-XXXXXX";
static struct config_source src;
static struct ak_err e;

/* ---- the command line as far as files go ---- */

static struct config_scan scan_words(bool go_on, const char *const words[])
{
	struct config_scan s;
	int n = 0;

	while (words[n])
		n++;
	config_scan(n, (char *const *)words, go_on, &s);
	return s;
}

#define SCAN(...) scan_words(false, (const char *const[]){ __VA_ARGS__, NULL })

START_TEST(scan_finds_what_the_parser_will)
{
	struct config_scan s = SCAN("--config", "a", "-C", "w", "--profile=p", "c", "--config", "b");

	ck_assert_str_eq(s.config, "a");
	ck_assert_str_eq(s.workspace, "w");
	ck_assert_str_eq(s.profile, "p");
	ck_assert(!s.in && !s.help && !s.detach);
	s = SCAN("-qCw", "--memory", "--config", "-m--config", "--", "--config", "x");
	ck_assert_str_eq(s.workspace, "w");
	ck_assert_ptr_null(s.config);	/* it is the value of --memory, and behind -- */
	s = SCAN("--in", "n", "--detach", "-q");
	ck_assert(s.in && s.detach);
	s = SCAN("-h");
	ck_assert(s.help);
	s = SCAN("--config");
	ck_assert_ptr_null(s.config);
	s = SCAN("--workspace", "a", "--workspace", "b", "true", "--workspace", "c");
	ck_assert_str_eq(s.workspace, "b");
	s = scan_words(true, (const char *const[]){ "name", "--config", "x", NULL });
	ck_assert_str_eq(s.config, "x");
	s = scan_words(false, (const char *const[]){ "name", "--config", "x", NULL });
	ck_assert_ptr_null(s.config);
}
END_TEST

/* ---- opening ---- */

static void in_dir(void)
{
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	e = (struct ak_err){ 0 };
	src = (struct config_source){ 0 };
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void out_of_dir(void)
{
	free(src.text);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	(void)close(fd);
}

static int open_as(enum ak_cfg_layer layer, const char *path, bool named)
{
	static char name[64];

	free(src.text);
	(void)snprintf(name, sizeof(name), "%s", path);
	e = (struct ak_err){ 0 };
	src = (struct config_source){ .layer = layer, .path = name };
	return config_open(&src, AT_FDCWD, named, &e);
}

START_TEST(a_users_file_is_the_users)
{
	put("c", "{}", 0644);
	ck_assert_int_eq(open_as(AK_CFG_USER, "c", false), 0);
	ck_assert_uint_eq(src.len, 2);
	put("c", "{}", 0664);
	ck_assert_int_eq(open_as(AK_CFG_USER, "c", false), -EPERM);
	ck_assert_str_eq(e.msg, "c can be written by others (mode 664)");
	ck_assert_str_eq(e.hint, "run: chmod go-w c");
	put("c", "{}", 0602);
	ck_assert_int_eq(open_as(AK_CFG_USER, "c", true), -EPERM);
	if (geteuid() == 0) {
		put("c", "{}", 0600);
		ck_assert_int_eq(chown("c", 1234, 0), 0);
		ck_assert_int_eq(open_as(AK_CFG_USER, "c", false), -EPERM);
		ck_assert_str_eq(e.msg, "c belongs to uid 1234, neither to you nor to root");
		ck_assert_int_eq(open_as(AK_CFG_POLICY, "c", false), -EPERM);
		ck_assert_str_eq(e.msg, "c belongs to uid 1234, not to root");
		ck_assert_int_eq(open_as(AK_CFG_WORKSPACE, "c", false), 0);
		ck_assert_ptr_null(src.text);	/* that one has a fixed name */
	} else {
		put("c", "{}", 0600);
		ck_assert_int_eq(open_as(AK_CFG_POLICY, "c", false), -EPERM);
		printf("not tested as an ordinary user: a file of somebody else\n");
	}
}
END_TEST

START_TEST(missing_is_nothing_unless_named)
{
	ck_assert_int_eq(open_as(AK_CFG_USER, "none/at/all", false), 0);
	ck_assert_ptr_null(src.text);
	ck_assert_int_eq(open_as(AK_CFG_POLICY, "none", false), 0);
	ck_assert_int_eq(open_as(AK_CFG_WORKSPACE, "w", false), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "none", true), -ENOENT);
	ck_assert_int_eq(open_as(AK_CFG_USER, "/dev/null", true), 0);
	ck_assert_ptr_null(src.text);
	ck_assert_int_eq(open_as(AK_CFG_USER, "/dev/zero", true), -EINVAL);
	ck_assert_int_eq(open_as(AK_CFG_USER, "/dev/null", false), -EINVAL);
}
END_TEST

START_TEST(only_regular_files_are_read)
{
	ck_assert_int_eq(mkfifo("f", 0600), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "f", false), -EINVAL);	/* and does not block */
	ck_assert_str_eq(e.msg, "f is not a regular file");
	ck_assert_int_eq(mkdir("d", 0700), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "d", true), -EINVAL);
}
END_TEST

START_TEST(links_are_followed_only_to_the_users_own_file)
{
	put("c", "{}", 0600);
	ck_assert_int_eq(symlink("c", "l"), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "l", false), 0);
	ck_assert_ptr_nonnull(src.text);
	ck_assert_int_eq(open_as(AK_CFG_USER, "l", true), -ELOOP);
	ck_assert_int_eq(mkdir(".ak", 0700), 0);
	ck_assert_int_eq(symlink("../c", ".ak/config.json"), 0);
	ck_assert_int_eq(open_as(AK_CFG_WORKSPACE, "W", false), -ELOOP);
	ck_assert_int_eq(unlink(".ak/config.json"), 0);
	ck_assert_int_eq(rmdir(".ak"), 0);
	ck_assert_int_eq(mkdir("other", 0700), 0);
	put("other/config.json", "{}", 0600);
	ck_assert_int_eq(symlink("other", ".ak"), 0);
	ck_assert_int_eq(open_as(AK_CFG_WORKSPACE, "W", false), -ELOOP);
	ck_assert_str_eq(e.msg, "W leads through a symbolic link, and is not read");
	ck_assert_int_eq(unlink(".ak"), 0);
	ck_assert_int_eq(rename("other", ".ak"), 0);
	ck_assert_int_eq(open_as(AK_CFG_WORKSPACE, "W", false), 0);	/* the control */
	ck_assert_ptr_nonnull(src.text);
	put(".ak/config.json", "{}", 0666);	/* a workspace's may belong to anybody: it only tightens */
	ck_assert_int_eq(open_as(AK_CFG_WORKSPACE, "W", false), 0);
}
END_TEST

START_TEST(a_link_of_another_leads_nowhere)
{
	if (geteuid() != 0) {
		printf("not tested as an ordinary user: a link of somebody else\n");
		return;
	}
	put("c", "{}", 0600);
	ck_assert_int_eq(symlink("c", "l"), 0);
	ck_assert_int_eq(lchown("l", 1234, 0), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "l", false), -EPERM);
	ck_assert_str_eq(e.msg, "l: its folder, or a symbolic link on the way, belongs neither to you nor to root");
	ck_assert_str_eq(e.hint, "--config FILE names another one, --config /dev/null none");
	ck_assert_int_eq(lchown("l", 0, 0), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "l", false), 0);	/* the control */
	ck_assert_int_eq(mkdir("secret", 0700), 0);
	put("secret/c", "{}", 0600);
	ck_assert_int_eq(symlink("secret", "theirs"), 0);
	ck_assert_int_eq(lchown("theirs", 1234, 0), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "theirs/c", false), -EPERM);
	ck_assert_ptr_null(src.text);
	ck_assert_int_eq(open_as(AK_CFG_USER, "secret/c", false), 0);
	ck_assert_int_eq(chown("secret", 1234, 0), 0);	/* who may have moved it there */
	ck_assert_int_eq(open_as(AK_CFG_USER, "secret/c", false), -EPERM);
	ck_assert_int_eq(symlink("circle", "circle"), 0);
	ck_assert_int_eq(open_as(AK_CFG_USER, "circle", false), -ELOOP);
	ck_assert_str_eq(e.msg, "circle leads through too many symbolic links");
}
END_TEST

START_TEST(size_has_a_maximum)
{
	char *text = malloc(AK_CFG_SOURCE_MAX + 2);

	ck_assert_ptr_nonnull(text);
	memset(text, ' ', AK_CFG_SOURCE_MAX + 1);
	text[AK_CFG_SOURCE_MAX + 1] = '\0';
	put("c", text, 0600);
	ck_assert_int_eq(open_as(AK_CFG_USER, "c", false), -EFBIG);
	text[AK_CFG_SOURCE_MAX] = '\0';
	put("c", text, 0600);
	ck_assert_int_eq(open_as(AK_CFG_USER, "c", false), 0);
	ck_assert_uint_eq(src.len, AK_CFG_SOURCE_MAX);
	free(text);
}
END_TEST

/* ---- who overrules whom ---- */

static struct ak_cfg_file files[CONFIG_FILES];
static struct config c;
static struct exec_opts o;

static void fresh(void)
{
	static char paths[CONFIG_FILES][2] = { "P", "U", "W" }, home[] = "/home/u";
	static const enum ak_cfg_layer layers[CONFIG_FILES] = { AK_CFG_POLICY, AK_CFG_USER, AK_CFG_WORKSPACE };
	const struct ak_cfg_key *k;

	free(c.entries);
	for (size_t i = 0; i < AK_CFG_KEYS_MAX; i++)
		free(c.lines[i]);
	c = (struct config){ .home = home };
	for (size_t i = 0; i < CONFIG_FILES; i++) {
		files[i] = (struct ak_cfg_file){ .layer = layers[i] };
		c.source[i] = (struct config_source){ .layer = layers[i], .path = paths[i], .file = &files[i] };
	}
	for (size_t i = 0; (k = ak_cfg_key(i)) != NULL; i++)
		c.value[i].text = k->initial;
	exec_opts_release(&o);
	o = (struct exec_opts){ 0 };
	e = (struct ak_err){ 0 };
}

/* @file: 0 policy, 1 user, 2 workspace */
static void say(unsigned file, const char *key, const char *value)
{
	struct ak_cfg_file *f = &files[file];
	enum ak_cfg_section section = strncmp(key, "run.", 4) == 0 ? AK_CFG_RUN : AK_CFG_EXEC;
	const struct ak_cfg_key *k = ak_cfg_find(section, section == AK_CFG_RUN ? key + 4 : key);

	ck_assert_ptr_nonnull(k);
	f->items[f->n_items++] = (struct ak_cfg_item){
		.key = k, .section = section, .line = 4, .col = 2, .value = k->kind == AK_CFG_BOOL ? NULL : value,
		.op = k->kind == AK_CFG_BOOL ? (*value == 't' ? AK_CFG_IS_TRUE : AK_CFG_IS_FALSE) : value ? AK_CFG_IS : AK_CFG_IS_EMPTY,
	};
}

static int parse_words(const char *const words[])
{
	int n = 0;

	while (words[n])
		n++;
	return args_parse(ARGS_EXEC, n, (char *const *)words, &c, &o, &e);
}

/* as ak run does: @words are what shapes the sandbox, @run the agent's options */
static struct args_settings settings;

static int run_words(const char *const words[], const struct run_word *run, size_t n)
{
	int argc = 0, rc;

	while (words[argc])
		argc++;
	args_settings_release(&settings);
	c.section = AK_CFG_RUN;
	e = (struct ak_err){ 0 };
	rc = args_parse(ARGS_AGENT, argc, (char *const *)words, &c, &o, &e);
	if (rc == 0)
		rc = args_agent_apply(&c, &o, run, n, &e);
	return rc == 0 ? args_agent_settings(&c, &o, &settings, &e) : rc;
}

#define RUN(...) run_words((const char *const[]){ __VA_ARGS__ __VA_OPT__(,) NULL }, NULL, 0)
#define RUN_FLAG(option, value, said) run_words((const char *const[]){ NULL }, &(const struct run_word){ option, value, said }, 1)
#define RUN_BAD(code, text, call)                                                                           \
	do {                                                                                                 \
		ck_assert_int_eq(call, code);                                                                \
		ck_assert_str_eq(e.msg, text);                                                               \
	} while (0)

/* what the agent is told, joined */
static const char *told(void)
{
	static char text[2048];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < settings.n; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", settings.v[i], i % 2 ? "|" : " ");
	return text;
}

#define PARSE(...) parse_words((const char *const[]){ __VA_ARGS__, "true", NULL })
#define GOOD(...) ck_assert_msg(PARSE(__VA_ARGS__) == 0, "%s", e.msg)
#define GOOD0() ck_assert_msg(parse_words((const char *const[]){ "true", NULL }) == 0, "%s", e.msg)
#define BAD(code, text, ...)                                                                                 \
	do {                                                                                                 \
		ck_assert_int_eq(PARSE(__VA_ARGS__), code);                                                  \
		ck_assert_str_eq(e.msg, text);                                                               \
	} while (0)

START_TEST(order_of_layers)
{
	const char *const env[] = { "AK_PIDS=40", "AK_QUIET=0", "AK_MEMORY=", NULL };

	fresh();
	files[1].profiles[0] = "p";
	files[1].n_profiles = 1;
	say(1, "memory", "1g");
	say(1, "pids", "100");
	say(1, "timeout", "50");
	say(1, "cpus", "2");
	say(1, "quiet", "true");
	say(1, "timeout", "40");
	files[1].items[files[1].n_items - 1].profile = 1;
	say(2, "cpus", "1.5");
	c.env = (char *const *)env;
	GOOD("--nofile", "9");
	ck_assert_uint_eq(o.memory_bytes.value, 1u << 30);
	ck_assert(o.memory_bytes.given);
	ck_assert_uint_eq(o.pids.value, 40);
	ck_assert_uint_eq(o.timeout_ms, 50000);	/* no profile was chosen */
	ck_assert_uint_eq(o.cpu_milli.value, 1500);
	ck_assert_uint_eq(o.nofile, 9);
	ck_assert(!o.quiet);
	exec_opts_release(&o);
	c.profile_id = 1;
	for (size_t i = 0; i < AK_CFG_KEYS_MAX; i++)
		if (ak_cfg_key(i))
			c.value[i] = (struct config_value){ .text = ak_cfg_key(i)->initial };
	GOOD("--memory", "7m", "-q");
	ck_assert_uint_eq(o.timeout_ms, 40000);
	ck_assert_uint_eq(o.memory_bytes.value, 7u << 20);
	ck_assert(o.quiet);
	ck_assert_int_eq(c.value[ak_cfg_index(ak_cfg_find(AK_CFG_EXEC, "memory"))].layer, AK_CFG_FLAG);
	ck_assert_int_eq(c.value[ak_cfg_index(ak_cfg_find(AK_CFG_EXEC, "timeout"))].layer, AK_CFG_PROFILE);
}
END_TEST

/* layer by layer, exec's before run's; flags are the agent's own to read */
START_TEST(run_has_settings_of_its_own_over_those_of_exec)
{
	const char *const env[] = { "AK_MAX_TURNS=9", "AK_PLAN=yes", "AK_TTL=5s", "AK_TIMEOUT=90", NULL };

	fresh();
	files[1].profiles[0] = "p";
	files[1].n_profiles = 1;
	say(1, "memory", "1g");
	say(1, "pids", "100");
	say(1, "ttl", "30s");
	say(1, "write", "direct");
	say(1, "apply", "never");
	say(1, "run.memory", "2g");
	say(1, "run.model", "x/y");
	say(1, "run.max_turns", "50");
	say(1, "run.deny", "bash(curl*)");
	say(1, "run.ca_file", "~/ca.pem");
	say(1, "run.quiet", "true");
	say(1, "memory", "3g");
	files[1].items[files[1].n_items - 1].profile = 1;
	say(2, "run.pids", "50");
	say(2, "run.max_cost", "1.5");
	say(2, "run.deny", "job");
	c.env = (char *const *)env;
	c.profile_id = 1;
	ck_assert_msg(RUN("--cpus", "2") == 0, "%s", e.msg);
	ck_assert_uint_eq(o.memory_bytes.value, UINT64_C(3) << 30);	/* the profile's layer is a later one */
	ck_assert_uint_eq(o.pids.value, 50);
	ck_assert_uint_eq(o.ttl_ms, 0);		/* about sandboxes that stay */
	ck_assert_int_eq(o.write, WRITE_COW);	/* run has a default of its own */
	ck_assert(args_agent_may_apply(&c, &o));
	ck_assert_str_eq(told(), "U:4:2: run.model --model=x/y|U:4:2: run.ca_file --ca-file=/home/u/ca.pem|AK_PLAN --plan|"
				 "W:4:2: run.max_cost --max-cost=1.5|AK_MAX_TURNS --max-turns=9|AK_TIMEOUT --timeout=90|"
				 "U:4:2: run.quiet --quiet|U:4:2: run.deny --deny=bash(curl*)|W:4:2: run.deny --deny=job|");
}
END_TEST

/* a limit of ak exec, which tightens that, is neither a loosening of ak run nor obeyed there */
START_TEST(what_a_workspace_says_to_exec_does_not_loosen_run)
{
	fresh();
	say(1, "run.pids", "50");
	say(2, "pids", "100");
	say(2, "memory", "100m");
	ck_assert_msg(RUN() == 0, "%s", e.msg);
	ck_assert_uint_eq(o.pids.value, 50);
	ck_assert_uint_eq(o.memory_bytes.value, 100u << 20);
	fresh();
	say(2, "pids", "300");
	ck_assert_int_eq(parse_words((const char *const[]){ "true", NULL }), -EPERM);
}
END_TEST

START_TEST(write_and_apply_of_run)
{
	fresh();
	say(1, "run.write", "direct");
	say(1, "run.apply", "ask");
	ck_assert_int_eq(RUN(), 0);
	ck_assert_int_eq(o.write, WRITE_DIRECT);
	ck_assert_str_eq(told(), "");	/* nothing to apply */
	fresh();
	say(1, "run.write", "direct");
	say(1, "run.apply", "ask");
	ck_assert_int_eq(RUN("--write", "cow"), 0);
	ck_assert_int_eq(o.write, WRITE_COW);
	ck_assert_str_eq(told(), "U:4:2: run.apply --apply=ask|");
	fresh();
	say(1, "run.apply", "never");
	ck_assert_int_eq(RUN(), 0);
	ck_assert(!args_agent_may_apply(&c, &o));
	/* with another backend what becomes of changes has to be said, by whatever layer */
	fresh();
	say(1, "backend", "local");
	RUN_BAD(-EINVAL, "run: --backend local: it cannot hold back what the agent changes, so --write has to be said", RUN());
	fresh();
	say(1, "run.backend", "local");
	say(1, "run.write", "direct");
	ck_assert_int_eq(RUN(), 0);
	ck_assert_int_eq(o.write, WRITE_DIRECT);
}
END_TEST

static const struct { const char *key, *value, *why; } loosening[] = {
	{ "run.max_turns", "26", "\"26\" is looser than \"25\"" },
	{ "run.tool_timeout", "61", "\"61\" is looser than \"60\"" },
	{ "run.approval", "auto", "\"auto\" is looser than \"smart\"" },
	{ "run.write", "direct", "\"direct\" is looser than \"cow\"" },
	{ "run.net", "host", "\"host\" is looser than \"none\"" },
	{ "run.memory", "1g", "\"1g\" is looser than \"512m\"" },
	{ "run.max_cost", "5.01", "\"5.01\" is looser than \"5\"" },
};

START_TEST(a_workspace_never_loosens_run)
{
	char want[200];

	fresh();
	say(1, "run.approval", "smart");
	say(1, "run.max_cost", "5");
	say(2, loosening[_i].key, loosening[_i].value);
	(void)snprintf(want, sizeof(want), "W:4:2: %s: %s, which holds without it: a workspace's file may only tighten", loosening[_i].key,
		       loosening[_i].why);
	RUN_BAD(-EPERM, want, RUN());
}
END_TEST

/* the default of approval hangs on the sandbox: to a workspace it is not auto where it is ask */
START_TEST(a_workspace_is_measured_by_the_default_that_holds)
{
	fresh();
	say(2, "run.approval", "auto");
	ck_assert_int_eq(RUN(), 0);
	fresh();
	say(2, "run.approval", "auto");
	RUN_BAD(-EPERM, "W:4:2: run.approval: \"auto\" is looser than \"ask\", which holds without it: a workspace's file may only tighten",
		RUN("--write", "direct"));
}
END_TEST

START_TEST(a_policy_binds_run)
{
	fresh();
	say(0, "run.max_cost", "2");
	say(0, "run.approval", "ask");
	say(0, "run.allow", NULL);
	ck_assert_int_eq(RUN(), 0);
	ck_assert_str_eq(told(), "P:4:2: run.approval --approval=ask|P:4:2: run.max_cost --max-cost=2|");
	RUN_BAD(-EPERM, "--max-cost: \"3\" is not allowed by P:4:2", RUN_FLAG("--max-cost", "3", "--max-cost"));
	ck_assert_int_eq(RUN_FLAG("--max-cost", "1", "--max-cost"), 0);
	RUN_BAD(-EPERM, "--yes: \"auto\" is not allowed by P:4:2", RUN_FLAG("--approval", "auto", "--yes"));
	RUN_BAD(-EPERM, "--allow: \"bash\" is not allowed by P:4:2", RUN_FLAG("--allow", "bash", "--allow"));
	ck_assert_int_eq(RUN_FLAG("--deny", "bash", "--deny"), 0);
	fresh();
	say(0, "apply", "never");
	say(0, "write", "cow");
	ck_assert_int_eq(RUN(), 0);
	ck_assert(!args_agent_may_apply(&c, &o));
	ck_assert_str_eq(told(), "P:4:2: run.apply --apply=never|");
	RUN_BAD(-EPERM, "--write: \"direct\" is not allowed by P:4:2", RUN("--write", "direct"));
	RUN_BAD(-EPERM, "--apply: \"always\" is not allowed by P:4:2", RUN_FLAG("--apply", "always", "--apply"));
}
END_TEST

/* settings of ak run mean nothing to ak exec */
START_TEST(exec_hears_nothing_of_run)
{
	const char *const env[] = { "AK_MAX_TURNS=many", NULL };

	fresh();
	say(0, "run.memory", "1m");
	say(1, "run.memory", "2g");
	say(2, "run.net", "host");
	say(2, "run.max_turns", "99");
	c.env = (char *const *)env;
	GOOD("--memory", "1g");
	ck_assert_uint_eq(o.memory_bytes.value, 1u << 30);
}
END_TEST

START_TEST(less_isolation_is_said_with_its_source)
{
	const char *const env[] = { "AK_BACKEND=local", "AK_IDENTITY=auto", NULL };
	const char *const open_env[] = { "AK_NET=host", "AK_RW=/tmp", "AK_ALLOW_PROTECTED=.envrc", "AK_SECCOMP=strict", NULL };

	fresh();
	say(1, "identity", "root");
	say(1, "timeout", "2");
	c.env = (char *const *)env;
	GOOD("-q");
	ck_assert_str_eq(o.lowered, "less isolation than the default: backend local by AK_BACKEND");	/* the variable took the other back */
	fresh();
	say(1, "identity", "root");
	say(1, "isolation", "landlock");
	GOOD("-q");
	ck_assert_ptr_nonnull(strstr(o.lowered, ": isolation landlock by "));
	ck_assert_ptr_nonnull(strstr(o.lowered, ":4:2, identity root by "));
	fresh();
	say(1, "identity", "root");
	GOOD("--identity", "auto");
	ck_assert_ptr_null(o.lowered);
	fresh();
	c.env = (char *const *)open_env;
	GOOD("-q");
	ck_assert_str_eq(o.lowered, "less isolation than the default: net host by AK_NET, rw /tmp by AK_RW, allow_protected .envrc by AK_ALLOW_PROTECTED");
	fresh();
	say(1, "net", "host");
	say(1, "rw", "/tmp");	/* a file is there to say such things */
	GOOD("-q");
	ck_assert_ptr_nonnull(strstr(o.lowered, ": net host by "));
	ck_assert_ptr_null(strstr(o.lowered, "rw "));
	fresh();
	c.env = (char *const *)open_env;
	GOOD("--net", "none");
	ck_assert_ptr_null(strstr(o.lowered, "net "));
	fresh();
	GOOD("--identity", "root");	/* who types it sees it */
	ck_assert_ptr_null(o.lowered);
}
END_TEST

START_TEST(a_message_names_what_was_said)
{
	const char *const image[] = { "AK_IMAGE=-x", NULL }, *const net[] = { "AK_NET=bridge", NULL }, *const known[] = { "AK_IMAGE=x", NULL };

	fresh();
	c.env = (char *const *)image;
	BAD(-EINVAL, "AK_IMAGE: \"-x\" is not the name of an image", "-q");
	fresh();
	c.env = (char *const *)known;
	BAD(-EINVAL, "AK_IMAGE is not available in this version without --backend docker", "-q");
	fresh();
	c.env = (char *const *)net;
	BAD(-EINVAL, "AK_NET: \"bridge\" is not known (use none or host)", "-q");
	fresh();
	c.env = (char *const *)net;
	BAD(-EINVAL, "--net: \"br\" is not known (use none or host)", "--net", "br");
}
END_TEST

START_TEST(the_workspace_only_tightens)
{
	fresh();
	say(2, "memory", "1g");
	BAD(-EPERM, "W:4:2: exec.memory: \"1g\" is looser than \"512m\", which holds without it: a workspace's file may only tighten", "-q");
	fresh();
	say(1, "memory", "2g");
	say(2, "memory", "1g");
	say(2, "timeout", "5m");
	say(2, "write", "none");
	say(2, "net", "none");
	say(2, "hide", "sub");
	GOOD0();
	ck_assert_uint_eq(o.memory_bytes.value, 1u << 30);
	ck_assert_int_eq(o.write, WRITE_NONE);
	ck_assert_uint_eq(o.nbinds, 1);
	ck_assert_str_eq(o.binds[0].dst, "sub");
	fresh();
	say(2, "net", "host");
	BAD(-EPERM, "W:4:2: exec.net: \"host\" is looser than \"none\", which holds without it: a workspace's file may only tighten", "-q");
	fresh();
	say(1, "net", "host");
	say(2, "net", "host");	/* not looser than what holds */
	GOOD0();
	fresh();
	say(2, "pids", "10");
	GOOD("--pids", "300");	/* the command line counts more */
	ck_assert_uint_eq(o.pids.value, 300);
	fresh();
	say(2, "memory", "max");
	BAD(-EPERM, "W:4:2: exec.memory: \"max\" is looser than \"512m\", which holds without it: a workspace's file may only tighten", "-q");
	fresh();
	say(2, "memory", "lots");
	BAD(-EINVAL, "W:4:2: exec.memory: \"lots\" is not a size (use bytes or k, m, g, as in 512m)", "-q");
	fresh();
	say(2, "timeout", "0");
	BAD(-EINVAL, "W:4:2: exec.timeout: 0 would allow nothing", "-q");
}
END_TEST

START_TEST(the_policy_locks)
{
	const char *const env[] = { "AK_MEMORY=5g", NULL };

	fresh();
	say(0, "memory", "4g");
	GOOD0();	/* the default is stricter, so it stays, and counts as a default */
	ck_assert_uint_eq(o.memory_bytes.value, 512u << 20);
	ck_assert(!o.memory_bytes.given);
	fresh();
	say(0, "memory", "4g");
	GOOD("--memory", "4g");
	fresh();
	say(0, "memory", "4g");
	BAD(-EPERM, "--memory: \"5g\" is not allowed by P:4:2", "--memory", "5g");
	ck_assert_str_eq(e.hint, "the policy of this machine allows 4g, and what is stricter");
	fresh();
	say(0, "memory", "4g");
	BAD(-EPERM, "--memory: \"max\" is not allowed by P:4:2", "-m", "max");
	fresh();
	say(0, "memory", "4g");
	say(1, "memory", "5g");
	BAD(-EPERM, "U:4:2: exec.memory: \"5g\" is not allowed by P:4:2", "-q");
	fresh();
	say(0, "memory", "4g");
	c.env = (char *const *)env;
	BAD(-EPERM, "AK_MEMORY: \"5g\" is not allowed by P:4:2", "-q");
	fresh();
	say(0, "timeout", "60");
	GOOD0();
	ck_assert_uint_eq(o.timeout_ms, 60000);
	fresh();
	say(0, "memory", "4gg");	/* a lock that is none must not look like one */
	BAD(-EINVAL, "P:4:2: exec.memory: \"4gg\" is not a size (use bytes or k, m, g, as in 512m)", "-q");
	fresh();
	say(0, "seccomp", "strict");
	GOOD0();
	ck_assert_str_eq(o.seccomp, "strict");
	fresh();
	say(0, "seccomp", "strict");
	BAD(-EPERM, "--seccomp: \"default\" is not allowed by P:4:2", "--seccomp", "default");
	fresh();
	say(0, "raw", "false");
	BAD(-EPERM, "--raw: \"true\" is not allowed by P:4:2", "--raw");
	fresh();
	say(0, "net", "none");
	BAD(-EPERM, "--network: \"host\" is not allowed by P:4:2", "--network", "host");
}
END_TEST

static void one_list_lock(const char *key, const char *value, const char *option, const char *text, const char *wanted)
{
	fresh();
	say(0, key, value);
	if (wanted)
		BAD(-EPERM, wanted, option, text);
	else
		GOOD(option, text);
}

START_TEST(the_policy_closes_lists)
{
	one_list_lock("rw", NULL, "--rw", "/a", "--rw: \"/a\" is not allowed by P:4:2");
	one_list_lock("rw", NULL, "-v", "/a:/b", "-v: \"/a:/b\" is not allowed by P:4:2");
	one_list_lock("rw", NULL, "--rw-try", "/a", "--rw-try: \"/a\" is not allowed by P:4:2");
	one_list_lock("rw", NULL, "--ro", "/a", NULL);
	one_list_lock("rw", NULL, "-v", "/a:/b:ro", NULL);
	one_list_lock("rw", "/a", "--rw", "/a", NULL);
	one_list_lock("rw", "/a", "--rw", "/b", "--rw: \"/b\" is not allowed by P:4:2");
	one_list_lock("ro", NULL, "--rw", "/a", "--rw: \"/a\" is not allowed by P:4:2");
	one_list_lock("ro", NULL, "-v", "/a:/b:ro", "-v: \"/a:/b:ro\" is not allowed by P:4:2");
	one_list_lock("env", "A=1", "--env-file", "/dev/null", "--env-file: \"/dev/null\" is not allowed by P:4:2");
	one_list_lock("dev", NULL, "--dev", "/dev/fuse", "--dev: \"/dev/fuse\" is not allowed by P:4:2");
	one_list_lock("allow_protected", NULL, "--allow-protected", ".git", "--allow-protected: \".git\" is not allowed by P:4:2");
	one_list_lock("hide", "/a", "--hide", "/b", NULL);
	ck_assert_uint_eq(o.nbinds, 2);
}
END_TEST

START_TEST(paths_of_files)
{
	fresh();
	say(1, "hide", "~/.x");
	say(1, "hide", "here");
	say(1, "ro", "~/a:/b");
	say(1, "rootfs", "~");
	GOOD0();
	ck_assert_str_eq(o.binds[0].dst, "/home/u/.x");
	ck_assert_str_eq(o.binds[0].opt, "exec.hide");
	ck_assert_str_eq(o.binds[1].dst, "here");
	ck_assert_str_eq(o.binds[2].src, "/home/u/a");
	ck_assert_str_eq(o.binds[2].dst, "/b");
	ck_assert_str_eq(o.rootfs, "/home/u");
	fresh();
	say(1, "seccomp", "p.json");
	BAD(-EINVAL, "U:4:2: exec.seccomp: \"p.json\" is not absolute: in a config file a path of the host starts with / or ~/", "-q");
	fresh();
	say(1, "env_file", ".env");
	BAD(-EINVAL, "U:4:2: exec.env_file: \".env\" is not absolute: in a config file a path of the host starts with / or ~/", "-q");
	fresh();
	say(1, "rw", "a:/b");
	BAD(-EINVAL, "U:4:2: exec.rw: \"a:/b\" is not absolute: in a config file a path of the host starts with / or ~/", "-q");
	fresh();
	say(1, "ro", "~/a");
	c.home = NULL;
	BAD(-EINVAL, "U:4:2: exec.ro: \"~/a\" needs a home, and you have none", "-q");
	fresh();
	say(1, "seccomp", "strict");
	say(1, "seccomp", "/p.json");
	GOOD0();
	ck_assert_str_eq(o.seccomp_file, "/p.json");
	fresh();
	say(2, "hide", "sub");
	c.workspace = "/usr/../usr/bin/..";
	GOOD0();
	ck_assert_str_eq(o.binds[0].dst, "/usr/sub");
}
END_TEST

START_TEST(variables)
{
	const char *const lists[] = { "AK_HIDE=/a\n\n/b c", "AK_ENV=K=V", "AK_SECCOMP=own.json", "AK_VERBOSE=yes", "AK_CGROUP=/x", "AK_MEMROY=1", NULL };
	const char *const bad[] = { "AK_RAW=maybe", NULL }, *const size[] = { "AK_MEMORY=x", NULL }, *const later[] = { "AK_IMAGE=x", NULL };

	fresh();
	c.env = (char *const *)lists;
	GOOD0();
	ck_assert_uint_eq(o.nbinds, 2);
	ck_assert_str_eq(o.binds[1].dst, "/b c");
	ck_assert_str_eq(o.binds[1].opt, "AK_HIDE");
	ck_assert_uint_eq(o.nenv, 1);
	ck_assert_str_eq(o.seccomp_file, "own.json");	/* from a shell, as an option is */
	ck_assert(o.verbose);
	fresh();
	c.env = (char *const *)bad;
	BAD(-EINVAL, "AK_RAW: \"maybe\" is neither true nor false", "-q");
	fresh();
	c.env = (char *const *)size;
	BAD(-EINVAL, "AK_MEMORY: \"x\" is not a size (use bytes or k, m, g, as in 512m)", "-q");
	fresh();
	c.env = (char *const *)later;
	BAD(-EINVAL, "AK_IMAGE is not available in this version without --backend docker", "-q");
}
END_TEST

/* settings of a shape say nothing about a sandbox that is there; flags are refused there as ever */
START_TEST(what_belongs_to_other_commands_is_left_out)
{
	fresh();
	say(1, "memory", "1g");
	say(1, "timeout", "9");
	say(1, "ttl", "5m");
	c.in = true;
	GOOD("--in", "n");
	ck_assert(!o.memory_bytes.given);
	ck_assert_uint_eq(o.timeout_ms, 9000);
	fresh();
	c.in = true;
	ck_assert_int_eq(PARSE("--in", "n", "-m", "1g"), -EINVAL);
	fresh();
	say(1, "timeout", "9");
	say(1, "ttl", "5m");
	ck_assert_int_eq(args_parse(ARGS_CREATE, 1, (char *[]){ dir }, &c, &o, &e), -EINVAL);
	exec_opts_release(&o);
	ck_assert_int_eq(args_parse(ARGS_CREATE, 1, (char *[]){ dir + 5 }, &c, &o, &e), 0);
	ck_assert_uint_eq(o.ttl_ms, 300000);
	ck_assert_uint_eq(o.timeout_ms, 0);
}
END_TEST

/* --json and --report are known although the settings are no good */
START_TEST(a_bad_setting_leaves_the_report_possible)
{
	fresh();
	say(1, "memory", "x");
	ck_assert_int_eq(PARSE("--json", "--report", "r", "--nonsense"), -EINVAL);
	ck_assert_str_eq(e.msg, "U:4:2: exec.memory: \"x\" is not a size (use bytes or k, m, g, as in 512m)");
	ck_assert(o.json);
	ck_assert_str_eq(o.report, "r");
}
END_TEST

static void end(void)
{
	fresh();
}

int main(void)
{
	Suite *s = suite_create("config");
	TCase *files_case = tcase_create("files"), *rules = tcase_create("rules");
	SRunner *r = srunner_create(s);
	int bad;

	tcase_add_checked_fixture(files_case, in_dir, out_of_dir);
	tcase_add_test(files_case, scan_finds_what_the_parser_will);
	tcase_add_test(files_case, a_users_file_is_the_users);
	tcase_add_test(files_case, missing_is_nothing_unless_named);
	tcase_add_test(files_case, only_regular_files_are_read);
	tcase_add_test(files_case, links_are_followed_only_to_the_users_own_file);
	tcase_add_test(files_case, a_link_of_another_leads_nowhere);
	tcase_add_test(files_case, size_has_a_maximum);
	tcase_add_checked_fixture(rules, NULL, end);
	tcase_add_test(rules, order_of_layers);
	tcase_add_test(rules, the_workspace_only_tightens);
	tcase_add_test(rules, run_has_settings_of_its_own_over_those_of_exec);
	tcase_add_test(rules, what_a_workspace_says_to_exec_does_not_loosen_run);
	tcase_add_test(rules, write_and_apply_of_run);
	tcase_add_loop_test(rules, a_workspace_never_loosens_run, 0, (int)(sizeof(loosening) / sizeof(loosening[0])));
	tcase_add_test(rules, a_workspace_is_measured_by_the_default_that_holds);
	tcase_add_test(rules, a_policy_binds_run);
	tcase_add_test(rules, exec_hears_nothing_of_run);
	tcase_add_test(rules, less_isolation_is_said_with_its_source);
	tcase_add_test(rules, a_message_names_what_was_said);
	tcase_add_test(rules, the_policy_locks);
	tcase_add_test(rules, the_policy_closes_lists);
	tcase_add_test(rules, paths_of_files);
	tcase_add_test(rules, variables);
	tcase_add_test(rules, what_belongs_to_other_commands_is_left_out);
	tcase_add_test(rules, a_bad_setting_leaves_the_report_possible);
	suite_add_tcase(s, files_case);
	suite_add_tcase(s, rules);
	srunner_run_all(r, CK_NORMAL);
	bad = srunner_ntests_failed(r);
	srunner_free(r);
	return bad != 0;
}
