/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the planned environment: variables, PATH, toolchains. */
#include "plan_fixture.h"

#include <stdarg.h>

static struct env_opt asked[8];

static void ask(const char *name, const char *value)
{
	o.env = asked;
	ck_assert_uint_lt(o.nenv, LEN(asked));
	asked[o.nenv++] = (struct env_opt){.name = (char *)name, .value = (char *)value};
}

static const char *need_variable(const char *name)
{
	const char *value = variable(name);

	ck_assert_msg(value != NULL, "no %s", name);
	return value;
}

START_TEST(the_environment_is_built_from_nothing)
{
	static const char *const rows[] = {
		"OPENAI_API_KEY=a",
		"GITHUB_TOKEN=b",
		"AWS_SECRET_ACCESS_KEY=c",
		"LD_PRELOAD=/x.so",
		"BASH_ENV=/e",
		"ENV=/e",
		"PYTHONPATH=/x",
		"NODE_OPTIONS=--inspect",
		"GIT_DIR=/x",
		"SSH_AUTH_SOCK=/s",
		"XDG_RUNTIME_DIR=/r",
		"DISPLAY=:0",
		"JAVA_HOME=/nowhere",
		"CARGO_HOME=relative",
	};
	static const char *const want[] = {
		"GIT_TERMINAL_PROMPT",
		"HOME",
		"LANG",
		"LOGNAME",
		"PATH",
		"PWD",
		"SHELL",
		"TERM",
		"TMPDIR",
		"USER",
	};

	for (size_t i = 0; i < LEN(rows); i++)
		set_variable(rows[i]);
	plan_ok();
	ck_assert_uint_eq(p.envc, LEN(want));
	ck_assert_ptr_null(p.envp[p.envc]);
	for (size_t i = 0; i < LEN(want); i++) {
		ck_assert_uint_eq(strcspn(p.envp[i], "="), strlen(want[i]));
		ck_assert_int_eq(strncmp(p.envp[i], want[i], strlen(want[i])), 0);
	}
	ck_assert_str_eq(need_variable("HOME"), at("home"));
	ck_assert_str_eq(need_variable("PWD"), at("ws"));
	ck_assert_str_eq(need_variable("USER"), "alice");
	ck_assert_str_eq(need_variable("LOGNAME"), "alice");
	ck_assert_str_eq(need_variable("SHELL"), "/bin/sh");
	ck_assert_str_eq(need_variable("TMPDIR"), "/tmp");
	ck_assert_str_eq(need_variable("GIT_TERMINAL_PROMPT"), "0");
	ck_assert_str_eq(need_variable("PATH"), "/usr/bin:/bin");
}
END_TEST

START_TEST(the_language_is_always_utf8)
{
	static const struct {
		const char *lang, *all, *want;
	} rows[] = {
		{NULL, NULL, "C.UTF-8"},
		{"LANG=de_DE.UTF-8", NULL, "de_DE.UTF-8"},
		{"LANG=de_DE.utf8", NULL, "de_DE.utf8"},
		{"LANG=de_DE.UTF-8", "LC_ALL=en_US.UTF-8", "en_US.UTF-8"},
		{"LANG=de_DE.UTF-8@euro", NULL, "de_DE.UTF-8@euro"},
		{"LANG=de_DE.UTF-8", "LC_ALL=C", "de_DE.UTF-8"},
		{"LANG=de_DE.ISO-8859-1", NULL, "C.UTF-8"},
		{"LANG=C", NULL, "C.UTF-8"},
		{"LANG=", NULL, "C.UTF-8"},
		{"LANG=.UTF-8x", NULL, "C.UTF-8"},
		{"LANG=../../x.UTF-8", NULL, "C.UTF-8"},
		{"LANG=de DE.UTF-8", NULL, "C.UTF-8"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char *env[3] = {NULL};
		size_t n = 0;

		if (rows[i].lang)
			env[n++] = (char *)rows[i].lang;
		if (rows[i].all)
			env[n++] = (char *)rows[i].all;
		h.environ = env;
		plan_ok();
		ck_assert_str_eq(need_variable("LANG"), rows[i].want);
		ck_assert_ptr_null(variable("LC_ALL"));
	}
	h.environ = environment;
}
END_TEST

START_TEST(the_terminal_is_a_plain_name)
{
	static const char *const rows[][2] = {
		{"TERM=xterm-256color", "xterm-256color"},
		{"TERM=", "dumb"},
		{"TERM=../x", "dumb"},
		{"TERM=a b", "dumb"},
		{"TERM=screen.xterm+x", "screen.xterm+x"},
		{"TERM=x\x1b[0m", "dumb"},
		{"TERM=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "dumb"},
	};

	plan_ok();
	ck_assert_str_eq(need_variable("TERM"), "dumb");
	for (size_t i = 0; i < LEN(rows); i++) {
		char *env[2] = {(char *)rows[i][0], NULL};

		h.environ = env;
		plan_ok();
		ck_assert_str_eq(need_variable("TERM"), rows[i][1]);
	}
	h.environ = environment;
}
END_TEST

START_TEST(what_is_asked_for_is_passed_byte_by_byte)
{
	set_variable("TAKEN=from=outside");
	ask("A", "l1\nl2=x\xff");
	ask("TAKEN", NULL);
	ask("NONE", NULL);
	ask("HOME", "/elsewhere");
	ask("A2", "first");
	ask("A2", "");
	plan_ok();
	ck_assert_str_eq(need_variable("A"), "l1\nl2=x\xff");
	ck_assert_str_eq(need_variable("TAKEN"), "from=outside");
	ck_assert_str_eq(need_variable("HOME"), "/elsewhere");
	ck_assert_str_eq(need_variable("A2"), "");
	ck_assert_ptr_null(variable("NONE"));
	ck_assert_str_eq(p.envp[0], "A=l1\nl2=x\xff");
	ck_assert_str_eq(p.envp[1], "A2=");
}
END_TEST

START_TEST(own_keys_never_pass)
{
	set_variable("ANTHROPIC_API_KEY=secret");
	ask("ANTHROPIC_API_KEY", NULL);
	plan_refused(EPERM, "--env ANTHROPIC_API_KEY");
	ck_assert_ptr_null(strstr(e.msg, "secret"));
	o.nenv = 0;
	ask("ANTHROPIC_API_KEY", "dummy");
	plan_ok();
	ck_assert_str_eq(need_variable("ANTHROPIC_API_KEY"), "dummy");
}
END_TEST

static char *long_text(size_t len)
{
	char *text = malloc(len + 1);

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', len);
	text[len] = '\0';
	return text;
}

START_TEST(one_string_has_a_maximum)
{
	char *fits = long_text((128u << 10) - 1 - 2), *over = long_text((128u << 10) - 2);
	char *argv[] = {(char *)"true", NULL, NULL};

	ask("A", fits);
	plan_ok();
	o.nenv = 0;
	ask("A", over);
	plan_refused(E2BIG, "--env A: over");
	o.nenv = 0;
	argv[1] = long_text(128u << 10);
	o.argv = argv;
	o.argc = 2;
	plan_refused(E2BIG, "an argument of the command");
	argv[1][(128u << 10) - 1] = '\0';
	plan_ok();
	free(argv[1]);
	free(fits);
	free(over);
}
END_TEST

START_TEST(all_strings_together_have_a_maximum)
{
	char *text = long_text(100000), *argv[23] = {NULL};

	for (size_t i = 0; i < 20; i++)
		argv[i] = text;
	o.argv = argv;
	o.argc = 20;
	plan_ok();
	ck_assert_uint_eq(p.argc, 20);
	argv[20] = text;
	o.argc = 21;
	plan_refused(E2BIG, "arguments and environment");
	free(text);
}
END_TEST

/* --- PATH and toolchains
 * ---------------------------------------------------------------------------------------------- */

static void path_is(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char path_text[8 * PATH_MAX];

static void path_is(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_lt(vsnprintf(path_text, sizeof(path_text), fmt, ap), (int)sizeof(path_text));
	va_end(ap);
	h.path = path_text;
}

/* PATH is the default, and nothing but the system, the workspace and what --ro names comes from the host */
static void path_shows_nothing(void)
{
	plan_ok();
	ck_assert_str_eq(need_variable("PATH"), "/usr/local/bin:/usr/bin:/bin");
	for (size_t i = 0; i < p.nmounts; i++)
		ck_assert_msg(p.mounts[i].kind != PM_BIND ||
				      (p.mounts[i].flags & (PMF_SYSTEM | PMF_USER | PMF_WORKSPACE)) ||
				      !ak_path_below(p.mounts[i].dst, top),
			      "%s is shown", p.mounts[i].dst);
}

START_TEST(path_without_entries_is_the_default)
{
	h.path = NULL;
	plan_ok();
	ck_assert_str_eq(need_variable("PATH"), "/usr/local/bin:/usr/bin:/bin");
	h.path = (char *)"";
	o.user_given = true;
	o.uid = 0;
	plan_ok();
	ck_assert_str_eq(need_variable("PATH"),
			 "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
}
END_TEST

START_TEST(path_keeps_what_is_visible)
{
	make_dir("ws/bin");
	make_file("ws/file", "");
	path_is("relative:.::%s:/usr/bin//:/none:%s:/bin:%s:/proc/self:/dev:/etc:/tmp:/", at("ws/bin"),
		at("ws/file"), at("home"));
	plan_ok();
	path_is("%s:/usr/bin:/bin", at("ws/bin"));
	ck_assert_str_eq(need_variable("PATH"), path_text);
	ck_assert_ptr_null(mount_at(at("ws/bin")));
}
END_TEST

START_TEST(another_folder_on_path_is_shown_alone)
{
	make_tool("tools/bin");
	make_dir("tools/lib");
	make_link("../tools/bin", "home/link");
	path_is("%s:/bin:%s", at("home/link"), at("tools/bin"));
	plan_ok();
	ck_assert_uint_eq(need(at("tools/bin"), PM_BIND)->flags, PMF_RO | PMF_OPTIONAL);
	ck_assert_ptr_null(mount_at(at("tools")));
	path_is("%s:/bin:%s", at("tools/bin"), at("tools/bin"));
	ck_assert_str_eq(need_variable("PATH"), path_text);
}
END_TEST

START_TEST(a_folder_within_another_is_not_mounted_twice)
{
	make_tool("tools/bin");
	make_tool("tools");
	path_is("%s:%s:%s", at("tools/bin"), at("tools"), at("tools/bin"));
	plan_ok();
	need(at("tools"), PM_BIND);
	ck_assert_ptr_null(mount_at(at("tools/bin")));
	ck_assert_str_eq(need_variable("PATH"), path_text);
}
END_TEST

START_TEST(the_home_and_what_holds_it_are_never_shown)
{
	make_tool("home/.config/ak/bin");
	make_dir("home/.local/state");
	path_is("%s:%s:%s:%s", at("home"), at(""), at("home/.config/ak/bin"), at("home/.local"));
	plan_ok();
	ck_assert_str_eq(need_variable("PATH"), "/usr/local/bin:/usr/bin:/bin");
	free(h.state_dir);
	free(h.config_dir);
	free(h.runtime_dir);
	h.state_dir = strdup("/none/s");
	h.config_dir = strdup("/none/c");
	h.runtime_dir = strdup("/none/r");
	path_is("%s:%s", at("home"), at(""));
	plan_ok();
	ck_assert_str_eq(need_variable("PATH"), "/usr/local/bin:/usr/bin:/bin");
	for (size_t i = 0; i < p.nmounts; i++)
		ck_assert(p.mounts[i].kind != PM_BIND || strcmp(p.mounts[i].dst, at("ws")) == 0 ||
			  (p.mounts[i].flags & PMF_SYSTEM));
}
END_TEST

START_TEST(a_toolchain_is_shown_whole_without_its_credentials)
{
	make_tool("home/.cargo/bin");
	make_dir("home/.rustup");
	make_dir("home/.pyenv/bin");
	make_tool("home/.nvm/versions/node/v20/bin");
	make_file("home/.cargo/credentials.toml", "");
	path_is("%s:%s:/bin:%s", at("home/.cargo/bin"), at("home/.nvm/versions/node/v20/bin"),
		at("home/.cargo/bin"));
	plan_ok();
	ck_assert_uint_eq(need(at("home/.cargo"), PM_BIND)->flags & (PMF_RO | PMF_SYSTEM), PMF_RO);
	need(at("home/.rustup"), PM_BIND);
	need(at("home/.nvm"), PM_BIND);
	ck_assert_ptr_null(mount_at(at("home/.pyenv")));
	ck_assert_ptr_null(mount_at(at("home/.cargo/bin")));
	need(at("home/.cargo/credentials.toml"), PM_HIDE);
	ck_assert_ptr_null(mount_at(at("home/.cargo/credentials")));
	ck_assert_str_eq(need_variable("PATH"), path_text);
	ck_assert_uint_lt(index_of(need(at("home"), PM_TMPFS)), index_of(need(at("home/.cargo"), PM_BIND)));
	parents_come_first();
}
END_TEST

START_TEST(a_toolchain_may_be_elsewhere)
{
	char row[PATH_MAX + 16];

	make_tool("data/pyenv/shims");
	make_tool("data/go/bin");
	make_link(at("data/go"), "home/go");
	ck_assert_int_lt(snprintf(row, sizeof(row), "PYENV_ROOT=%s", at("data/pyenv")), (int)sizeof(row));
	set_variable(row);
	path_is("%s:%s", at("data/pyenv/shims"), at("home/go/bin"));
	plan_ok();
	need(at("data/pyenv"), PM_BIND);
	ck_assert_str_eq(need_variable("PYENV_ROOT"), at("data/pyenv"));
	ck_assert_str_eq(need(at("home/go"), PM_BIND)->src, at("data/go"));
	ck_assert_str_eq(need_variable("PATH"), path_text);
}
END_TEST

START_TEST(a_toolchain_is_never_the_home)
{
	char row[PATH_MAX + 16];

	make_tool("home/bin");
	ck_assert_int_lt(snprintf(row, sizeof(row), "GOPATH=%s", at("home")), (int)sizeof(row));
	set_variable(row);
	path_is("%s", at("home/bin"));
	plan_ok();
	need(at("home"), PM_TMPFS);
	need(at("home/bin"), PM_BIND);
	ck_assert_ptr_null(variable("GOPATH"));
}
END_TEST

START_TEST(a_toolchain_in_the_workspace_is_not_mounted_again)
{
	make_tool("home/.cargo/bin");
	o.workspace = at("home");
	o.workspace_given = true;
	o.write = WRITE_NONE;
	path_is("%s", at("home/.cargo/bin"));
	plan_ok();
	ck_assert_ptr_null(mount_at(at("home/.cargo")));
	ck_assert_str_eq(need_variable("PATH"), path_text);
}
END_TEST

START_TEST(the_other_folders_of_local_bin_come_along)
{
	make_tool("home/.local/bin");
	make_dir("home/.local/lib/python3");
	make_dir("home/.local/share/pipx");
	make_dir("home/.local/share/secret");
	path_is("%s", at("home/.local/bin"));
	plan_ok();
	need(at("home/.local/bin"), PM_BIND);
	need(at("home/.local/lib"), PM_BIND);
	need(at("home/.local/share/pipx"), PM_BIND);
	ck_assert_ptr_null(mount_at(at("home/.local")));
	ck_assert_ptr_null(mount_at(at("home/.local/share/secret")));
}
END_TEST

/* the workspace's bin, as a command of an earlier run may have left it */
START_TEST(a_link_in_the_workspace_shows_nothing)
{
	static const enum opt_write modes[] = {WRITE_DIRECT, WRITE_NONE, WRITE_COW};

	make_tool("home/private");
	make_tool("home/.ssh");
	make_tool("home/.cargo/bin");
	make_dir("ws/.venv");
	make_link("../../home/private", "ws/.venv/bin");
	make_link("../home/.ssh", "ws/keys");
	make_link("../home/.cargo/bin", "ws/cargo");
	make_link("../home", "ws/up");
	make_link("../ws/.venv/bin", "home/bin");
	for (size_t i = 0; i < LEN(modes); i++) {
		o.write = modes[i];
		path_is("%s:%s:%s:%s:%s", at("ws/.venv/bin"), at("ws/keys"), at("ws/cargo"),
			at("ws/up/private"), at("home/bin"));
		path_shows_nothing();
		ck_assert(warned(at("ws/.venv/bin")));
		ck_assert(warned(at("home/private")));
		ck_assert_uint_ne(p.told, 0);
	}
}
END_TEST

START_TEST(what_is_shown_anyway_stays_on_path)
{
	make_tool("home/private");
	make_dir("ws/a");
	make_link("../home/private", "ws/bin");
	make_link("a", "ws/b");
	make_link("/usr/bin", "ws/c");
	add_bind(BIND_RO, "--ro", at("home/private"), NULL);
	path_is("%s:%s:%s", at("ws/bin"), at("ws/b"), at("ws/c"));
	plan_ok();
	ck_assert_uint_eq(need(at("home/private"), PM_BIND)->flags & PMF_USER, PMF_USER);
	path_is("%s:%s:/usr/bin", at("home/private"), at("ws/b"));
	ck_assert_str_eq(need_variable("PATH"), path_text);
	ck_assert_uint_eq(p.told, 0);
}
END_TEST

START_TEST(a_link_in_a_writable_folder_shows_nothing)
{
	make_tool("home/private");
	make_dir("home/w");
	make_link("../private", "home/w/bin");
	make_link("../home/private", "other/bin"); /* another's workspace, perhaps */
	add_bind(BIND_RW, "--rw", at("home/w"), NULL);
	path_is("%s", at("home/w/bin"));
	path_shows_nothing();
	o.nbinds = 0;
	path_is("%s:%s", at("home/w/bin"), at("other/bin"));
	path_shows_nothing();
	ck_assert(warned(at("home/w/bin")));
}
END_TEST

/* what moves a toolchain is the caller's; the folder that it names may have been replaced */
START_TEST(a_toolchain_that_is_a_link_in_the_workspace_shows_nothing)
{
	char row[PATH_MAX + 16];

	make_tool("home/private/bin");
	make_link("../home/private", "ws/venv");
	make_link("../home/private", "other/venv");
	ck_assert_int_lt(snprintf(row, sizeof(row), "VIRTUAL_ENV=%s", at("ws/venv")), (int)sizeof(row));
	set_variable(row);
	ck_assert_int_lt(snprintf(row, sizeof(row), "CONDA_PREFIX=%s", at("other/venv")), (int)sizeof(row));
	set_variable(row);
	path_is("%s:%s", at("ws/venv/bin"), at("other/venv/bin"));
	path_shows_nothing();
}
END_TEST

START_TEST(places_of_secrets_are_never_shown_for_path)
{
	char row[PATH_MAX + 16];

	make_tool("home/.ssh");
	make_tool("home/.aws/bin");
	make_tool("home/old/copy/.gnupg");
	make_tool("home/.config");
	make_dir("home/.config/gcloud");
	make_tool("home/copy");
	make_dir("home/copy/.ssh");
	make_tool("home/snap/bin");
	make_tool("home/secretd/bin");
	make_dir("home/secretd/.kube");
	ck_assert_int_lt(snprintf(row, sizeof(row), "GOPATH=%s", at("home/.aws")), (int)sizeof(row));
	set_variable(row);
	path_is("%s:%s:%s:%s", at("home/.ssh"), at("home/.aws/bin"), at("home/old/copy/.gnupg"),
		at("home/.config"));
	path_shows_nothing();
	ck_assert(warned(at("home/.ssh")));
	ck_assert_uint_eq(p.told, 0);
	path_is("%s:%s", at("home/copy"), at("home/snap/bin"));
	path_shows_nothing();
	/* beside a secret */
	path_is("%s", at("home/secretd/bin"));
	plan_ok();
	ck_assert_str_eq(need_variable("PATH"), path_text);
	need(at("home/secretd/bin"), PM_BIND);
	ck_assert_ptr_null(mount_at(at("home/secretd")));
}
END_TEST

START_TEST(a_folder_without_programs_is_not_shown)
{
	make_dir("home/docs/folder");
	make_file("home/docs/letter", "");
	make_file("home/data", "");
	path_is("%s", at("home/docs"));
	path_shows_nothing();
	ck_assert_int_eq(chmod(at("home/docs/letter"), 0755), 0);
	plan_ok();
	ck_assert_str_eq(need_variable("PATH"), path_text);
	need(at("home/docs"), PM_BIND);
}
END_TEST

/* nvm is a repository that has one */
START_TEST(a_toolchain_may_have_an_npmrc)
{
	make_tool("home/.nvm/versions/node/v20/bin");
	make_file("home/.nvm/.npmrc", "");
	path_is("%s", at("home/.nvm/versions/node/v20/bin"));
	plan_ok();
	need(at("home/.nvm"), PM_BIND);
	ck_assert_str_eq(need_variable("PATH"), path_text);
}
END_TEST

START_TEST(folder_variables_pass_when_visible)
{
	char row[PATH_MAX + 16];

	make_dir("ws/venv/bin");
	set_variable("JAVA_HOME=/usr/lib/jvm/x");
	set_variable("GRADLE_HOME=/home/none");
	ck_assert_int_lt(snprintf(row, sizeof(row), "VIRTUAL_ENV=%s", at("ws/venv")), (int)sizeof(row));
	set_variable(row);
	plan_ok();
	ck_assert_str_eq(need_variable("JAVA_HOME"), "/usr/lib/jvm/x");
	ck_assert_str_eq(need_variable("VIRTUAL_ENV"), at("ws/venv"));
	ck_assert_ptr_null(variable("GRADLE_HOME"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan_env");
	const TTest *tests[] = {
		the_environment_is_built_from_nothing,
		the_language_is_always_utf8,
		the_terminal_is_a_plain_name,
		what_is_asked_for_is_passed_byte_by_byte,
		own_keys_never_pass,
		one_string_has_a_maximum,
		all_strings_together_have_a_maximum,
		path_without_entries_is_the_default,
		path_keeps_what_is_visible,
		another_folder_on_path_is_shown_alone,
		a_folder_within_another_is_not_mounted_twice,
		the_home_and_what_holds_it_are_never_shown,
		a_toolchain_is_shown_whole_without_its_credentials,
		a_toolchain_may_be_elsewhere,
		a_toolchain_is_never_the_home,
		a_toolchain_in_the_workspace_is_not_mounted_again,
		the_other_folders_of_local_bin_come_along,
		a_link_in_the_workspace_shows_nothing,
		what_is_shown_anyway_stays_on_path,
		a_link_in_a_writable_folder_shows_nothing,
		a_toolchain_that_is_a_link_in_the_workspace_shows_nothing,
		places_of_secrets_are_never_shown_for_path,
		a_folder_without_programs_is_not_shown,
		a_toolchain_may_have_an_npmrc,
		folder_variables_pass_when_visible,
	};
	TCase *t = tcase_create("plan_env");

	tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
	for (size_t i = 0; i < LEN(tests); i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
