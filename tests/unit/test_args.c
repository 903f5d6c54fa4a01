/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the command line of `ak exec`. */
#include "executor/args.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "executor/args_int.h"
#include "executor/opts.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct exec_opts o;
static struct ak_err e;

static void teardown(void)
{
	exec_opts_release(&o);
}

static int parse_words(const char *const words[])
{
	int n = 0;

	while (words[n])
		n++;
	exec_opts_release(&o);
	e = (struct ak_err){0};
	return args_parse_exec(n, (char *const *)words, &o, &e);
}

#define PARSE(...) parse_words((const char *const[]){__VA_ARGS__, NULL})
#define OK(...) ck_assert_msg(PARSE(__VA_ARGS__) == 0, "%s", e.msg)
#define BAD(text, ...)                                                                                       \
	do {                                                                                                 \
		ck_assert_int_eq(PARSE(__VA_ARGS__), -EINVAL);                                               \
		ck_assert_str_eq(e.msg, text);                                                               \
		ck_assert_int_eq(e.code, EINVAL);                                                            \
	} while (0)

START_TEST(defaults)
{
	OK("true");
	ck_assert_int_eq(o.argc, 1);
	ck_assert_str_eq(o.argv[0], "true");
	ck_assert_ptr_null(o.argv[1]);
	ck_assert(!o.shell && !o.workspace && !o.workspace_given && !o.workdir && !o.rootfs && !o.report);
	ck_assert_int_eq(o.write, WRITE_DIRECT);
	ck_assert_int_eq(o.net, NET_NONE);
	ck_assert_int_eq(o.rootfs_write, ROOTFS_WRITE_NONE);
	ck_assert_int_eq(o.identity, IDENTITY_AUTO);
	ck_assert(!o.memory_bytes.given && !o.memory_bytes.max);
	ck_assert_uint_eq(o.memory_bytes.value, 512u << 20);
	ck_assert_uint_eq(o.cpu_milli.value, 1000);
	ck_assert_uint_eq(o.pids.value, 256);
	ck_assert_uint_eq(o.kill_after_ms, 2000);
	ck_assert_uint_eq(o.timeout_ms, 0);
	ck_assert_uint_eq(o.max_output_bytes, UINT64_MAX);
	ck_assert_str_eq(o.seccomp, "default");
	ck_assert(!o.json && !o.tty && !o.raw && !o.quiet && !o.verbose && !o.explain && !o.stdin_always);
	ck_assert_uint_eq(o.nbinds + o.nenv + o.nfds, 0);
}
END_TEST

START_TEST(command_arrives_byte_exact)
{
	static const char *const words[] = {"--", "printf", "[%s]", "a b",    "",  "x\ny",
					    "*",  "$HOME",  "it's", "--json", NULL};

	ck_assert_int_eq(parse_words(words), 0);
	ck_assert_int_eq(o.argc, 9);
	for (int i = 0; i < o.argc; i++)
		ck_assert_str_eq(o.argv[i], words[i + 1]);
	ck_assert_ptr_null(o.argv[o.argc]);
	ck_assert(!o.json);
}
END_TEST

START_TEST(options_end_at_the_command)
{
	OK("-q", "ls", "--json", "-m", "4m", "--");
	ck_assert_int_eq(o.argc, 5);
	ck_assert(!o.json && o.quiet && !o.memory_bytes.given);
	OK("-", "--json");
	ck_assert_str_eq(o.argv[0], "-");
	ck_assert(!o.json);
	OK("--", "--json");
	ck_assert_str_eq(o.argv[0], "--json");
	OK("--", "--");
	ck_assert_str_eq(o.argv[0], "--");
}
END_TEST

START_TEST(value_forms)
{
	static const char *const forms[][3] = {
		{"-m64m", NULL},     {"-m", "64m"},    {"--memory=64m", NULL},
		{"--memory", "64m"}, {"-qm64m", NULL}, {"-qim", "64m"},
	};

	for (size_t i = 0; i < LEN(forms); i++) {
		const char *words[] = {forms[i][0], forms[i][1] ? forms[i][1] : "c", forms[i][1] ? "c" : NULL,
				       NULL};

		ck_assert_msg(parse_words(words) == 0, "form %zu: %s", i, e.msg);
		ck_assert_uint_eq(o.memory_bytes.value, 64u << 20);
		ck_assert(o.memory_bytes.given);
		ck_assert_int_eq(o.argc, 1);
	}
	OK("--env=A=b=c", "c");
	ck_assert_str_eq(o.env[0].value, "b=c");
}
END_TEST

START_TEST(names_are_never_abbreviated)
{
	ck_assert_int_eq(PARSE("--mem", "1m", "c"), -EINVAL);
	ck_assert_str_eq(e.msg, "unknown option --mem");
	ck_assert_int_eq(PARSE("--jso", "c"), -EINVAL);
	ck_assert_int_eq(PARSE("--v", "/a:/b", "c"), -EINVAL);
	ck_assert_int_eq(PARSE("--jsonx", "c"), -EINVAL);
}
END_TEST

START_TEST(unknown_options_name_what_was_meant)
{
	BAD("unknown option --memroy", "--memroy=1m", "c");
	ck_assert_str_eq(e.hint, "did you mean --memory?");
	BAD("unknown option --timout", "--timout", "1", "c");
	ck_assert_str_eq(e.hint, "did you mean --timeout?");
	BAD("unknown option -j", "-json", "c");
	ck_assert_str_eq(e.hint, "did you mean --json?");
	BAD("unknown option --frobnicate", "--frobnicate", "c");
	ck_assert_ptr_null(strstr(e.hint, "did you mean"));
	BAD("unknown option -Z", "-Z", "c");
	ck_assert_ptr_null(strstr(e.hint, "did you mean"));
}
END_TEST

START_TEST(kinds_of_isolation_exclude_each_other)
{
	OK("--isolation", "landlock", "c");
	ck_assert_int_eq(o.isolation, ISOLATION_LANDLOCK);
	ck_assert(!o.nesting);
	OK("--isolation", "landlock", "--isolation", "namespaces", "c");
	ck_assert_int_eq(o.isolation, ISOLATION_NAMESPACES);
	OK("--nesting", "c");
	ck_assert(o.nesting);
	ck_assert_str_eq(o.seccomp, "nested");
	OK("--nesting", "--seccomp", "nested", "c");
	ck_assert_str_eq(o.seccomp, "nested");
	OK("--nesting", "--seccomp", "/p.json", "c");
	ck_assert_ptr_null(o.seccomp);
	BAD("--nesting and --isolation landlock exclude each other: a Landlock domain forbids to mount", "--nesting",
	    "--isolation", "landlock", "c");
	BAD("--seccomp nested: this profile comes with --nesting only", "--seccomp", "nested", "c");
	BAD("--nesting: the profile strict forbids namespaces", "--nesting", "--seccomp", "strict", "c");
	BAD("--nesting: the profile default forbids namespaces", "--seccomp", "default", "--nesting", "c");
}
END_TEST

START_TEST(options_of_other_versions_are_unknown)
{
	static const char *const names[] = {"-p", "--hostname"};

	for (size_t i = 0; i < LEN(names); i++) {
		ck_assert_int_eq(PARSE(names[i], "x", "c"), -EINVAL);
		ck_assert_msg(strncmp(e.msg, "unknown option", 14) == 0, "%s: %s", names[i], e.msg);
	}
}
END_TEST

START_TEST(values_of_other_versions_are_refused)
{
	static const char *const rows[] = {
		"--net=allow=example.com", "--net=nat", "--network=allow=a:1,b"};

	for (size_t i = 0; i < LEN(rows); i++) {
		ck_assert_int_eq(PARSE(rows[i], "c"), -EINVAL);
		ck_assert_msg(strstr(e.msg, "not available in this version") != NULL, "%s", e.msg);
	}
	BAD("--write: \"x\" is not known (use direct, cow or none)", "--write", "x", "c");
	BAD("--apply: \"ask\" is not known (use always or never)", "--write=cow", "--apply=ask", "c");
	BAD("--write cow: --isolation landlock cannot mount a copy over the workspace", "--write=cow", "--isolation=landlock", "c");
	BAD("--isolation: \"x\" is not known (use namespaces or landlock)", "--isolation", "x", "c");
}
END_TEST

START_TEST(missing_and_unwanted_values)
{
	BAD("--memory: a value is missing", "--memory");
	BAD("--memory: a value is missing", "-m");
	BAD("--json takes no value", "--json=1", "c");
	BAD("no command given", "-q");
	BAD("no command given", "--");
	ck_assert_int_eq(args_parse_exec(0, (char *const[]){NULL}, &o, &e), -EINVAL);
	ck_assert_str_eq(e.msg, "no command given");
	BAD("--workdir: the value is empty", "-w", "", "c");
	BAD("--report: the value is empty", "--report=", "c");
	BAD("--hide: the value is empty", "--hide=", "c");
	BAD("--timeout: \"bash\" is not a duration (use seconds or ms, s, m, h, as in 1.5, 500ms, 5m)", "-it",
	    "bash");
	ck_assert_str_eq(e.hint, "-t is --timeout; a terminal for the command is --tty");
}
END_TEST

START_TEST(shell)
{
	OK("-c", "echo 'a b' | cat");
	ck_assert_int_eq(o.argc, 3);
	ck_assert_str_eq(o.argv[0], "sh");
	ck_assert_str_eq(o.argv[1], "-c");
	ck_assert_str_eq(o.argv[2], "echo 'a b' | cat");
	ck_assert(o.shell);
	OK("--shell=", "--json", "--");
	ck_assert_str_eq(o.argv[2], "");
	ck_assert(o.json);
	BAD("-c TEXT and a command (ls) exclude each other", "-c", "x", "ls");
}
END_TEST

START_TEST(flags_and_texts)
{
	OK("--json", "--tty", "--raw", "--explain", "-q", "--verbose", "-i", "--report", "r", "-C", "/w",
	   "-w", "/d", "c");
	ck_assert(o.json && o.tty && o.raw && o.explain && o.quiet && o.verbose && o.stdin_always &&
		  o.workspace_given);
	ck_assert_str_eq(o.report, "r");
	ck_assert_str_eq(o.workspace, "/w");
	ck_assert_str_eq(o.workdir, "/d");
	OK("--stdin", "--quiet", "--workspace=a", "--workspace=b", "c");
	ck_assert(o.stdin_always && o.quiet);
	ck_assert_str_eq(o.workspace, "b");
	OK("--rootfs", "/r", "--rootfs-write", "tmp", "--write=none", "--net=host", "--identity=root",
	   "--seccomp=strict", "--isolation=namespaces", "c");
	ck_assert_str_eq(o.rootfs, "/r");
	ck_assert_int_eq(o.rootfs_write, ROOTFS_WRITE_TMP);
	ck_assert_int_eq(o.write, WRITE_NONE);
	ck_assert_int_eq(o.net, NET_HOST);
	ck_assert_int_eq(o.identity, IDENTITY_ROOT);
	ck_assert_str_eq(o.seccomp, "strict");
	OK("--seccomp=/etc/p.json", "c");
	ck_assert_ptr_null(o.seccomp);
	ck_assert_str_eq(o.seccomp_file, "/etc/p.json");
	OK("--seccomp=/etc/p.json", "--seccomp", "default", "c");
	ck_assert_str_eq(o.seccomp, "default");
	ck_assert_ptr_null(o.seccomp_file);
	OK("--rootfs", "/r", "--rootfs=host", "--net=host", "--network", "none", "c");
	ck_assert_ptr_null(o.rootfs);
	ck_assert_int_eq(o.net, NET_NONE);
	OK("--allow-protected", ".git", "--allow-protected=.vscode", "c");
	ck_assert_str_eq(o.allow_protected[0], ".git");
	ck_assert_str_eq(o.allow_protected[1], ".vscode");
	ck_assert_ptr_null(o.allow_protected[2]);
	BAD("--allow-protected: the value is empty", "--allow-protected", "a", "--allow-protected=", "c");
}
END_TEST

START_TEST(limits)
{
	OK("-m", "max", "--cpus=max", "--pids=max", "c");
	ck_assert(o.memory_bytes.max && o.memory_bytes.given && o.cpu_milli.max && o.pids.max);
	OK("-m", "max", "-m", "1g", "--cpus", "0.001", "--pids-limit", "1", "c");
	ck_assert(!o.memory_bytes.max && o.memory_bytes.value == 1u << 30);
	ck_assert_uint_eq(o.cpu_milli.value, 1);
	ck_assert_uint_eq(o.pids.value, 1);
	OK("--cpus", "8192", "--pids", "4194304", "--nofile", "1073741816", "--fsize", "1", "--disk", "10m", "c");
	ck_assert_uint_eq(o.cpu_milli.value, 8192000);
	ck_assert_uint_eq(o.nofile, 1073741816);
	ck_assert_uint_eq(o.fsize_bytes, 1);
	ck_assert_uint_eq(o.disk_bytes, 10u << 20);
	OK("-t", "0.5", "--kill-after", "0", "--cpu-time=1h", "--max-output=1k", "--json", "c");
	ck_assert_uint_eq(o.timeout_ms, 500);
	ck_assert_uint_eq(o.kill_after_ms, 0);
	ck_assert_uint_eq(o.cpu_time_ms, 3600000);
	ck_assert_uint_eq(o.max_output_bytes, 1024);
	OK("--json", "c");
	ck_assert_uint_eq(o.max_output_bytes, 16u << 20);
}
END_TEST

START_TEST(bad_numbers_name_option_and_value)
{
	BAD("--memory: \"10x\" is not a size (use bytes or k, m, g, as in 512m)", "--memory", "10x", "c");
	BAD("--memory: \"-1\" is not a size (use bytes or k, m, g, as in 512m)", "-m", "-1", "c");
	BAD("--memory: \"99999999999G\" is too large", "-m99999999999G", "c");
	OK("-m", "4m", "c");
	BAD("--memory: \"4095k\" is less than the sandbox itself needs", "-m", "4095k", "c");
	BAD("--memory: \"1\" is less than the sandbox itself needs", "-m", "1", "c");
	BAD("--fsize: \"max\" is not a size (use bytes or k, m, g, as in 512m)", "--fsize", "max", "c");
	BAD("--max-output: \"10x\" is not a size (use bytes or k, m, g, as in 512m)", "--max-output", "10x",
	    "c");
	BAD("--pids: \"4194305\" is not a whole number from 1 to 4194304", "--pids", "4194305", "c");
	BAD("--pids-limit: \"-1\" is not a whole number from 1 to 4194304", "--pids-limit", "-1", "c");
	BAD("--nofile: \"1.5\" is not a whole number from 8 to 1073741816", "--nofile", "1.5", "c");
	BAD("--nofile: \"7\" is not a whole number from 8 to 1073741816", "--nofile", "7", "c");
	BAD("--cpus: \"8192.001\" is too large (at most 8192)", "--cpus", "8192.001", "c");
	BAD("--cpus: \"x\" is not a number of processors (use one such as 2 or 0.5, or max)", "--cpus", "x",
	    "c");
	BAD("--timeout: \"1e12\" is not a duration (use seconds or ms, s, m, h, as in 1.5, 500ms, 5m)",
	    "-t1e12", "c");
	BAD("--timeout: \"999999999999\" is too long (at most ten years)", "-t", "999999999999", "c");
	BAD("--kill-after: \"-1\" is not a duration (use seconds or ms, s, m, h, as in 1.5, 500ms, 5m)",
	    "--kill-after=-1", "c");
}
END_TEST

START_TEST(zero_is_refused_where_it_means_nothing)
{
	static const char *const rows[] = {"--memory=0",    "--memory=0g",    "--cpus=0",   "--cpus=0.000",
					   "--pids=0",	    "--cpu-time=0",   "--nofile=0", "--timeout=0",
					   "--timeout=0ms", "--max-output=0", "--fsize=0", "--disk=0"};

	for (size_t i = 0; i < LEN(rows); i++) {
		char want[64];

		ck_assert_int_eq(PARSE(rows[i], "c"), -EINVAL);
		(void)snprintf(want, sizeof(want), "%.*s: 0 would allow nothing", (int)strcspn(rows[i], "="),
			       rows[i]);
		ck_assert_str_eq(e.msg, want);
		ck_assert_str_ne(e.hint, "");
	}
}
END_TEST

START_TEST(long_values_leave_room_for_the_explanation)
{
	char value[4000];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	ck_assert_int_eq(PARSE("--memory", value, "c"), -EINVAL);
	ck_assert_ptr_nonnull(strstr(e.msg, "is not a size (use bytes or k, m, g, as in 512m)"));
}
END_TEST

START_TEST(users)
{
	OK("-u", "0", "c");
	ck_assert(o.user_given && !o.gid_given && o.uid == 0);
	OK("--user=1:2", "c");
	ck_assert(o.gid_given && o.uid == 1 && o.gid == 2);
	OK("-u4294967294:4294967294", "c");
	ck_assert(o.uid == 4294967294u && o.gid == 4294967294u);
	static const char *const bad[] = {
		"",	 ":",  "1:",	     ":1",	     "root",
		"1:2:3", "-1", "4294967295", "1:4294967295", "00000000000000000001"};

	for (size_t i = 0; i < LEN(bad); i++) {
		ck_assert_int_eq(PARSE("-u", bad[i], "c"), -EINVAL);
		ck_assert_ptr_nonnull(strstr(e.msg, "is not UID[:GID]"));
	}
}
END_TEST

START_TEST(descriptors_are_sorted_and_unique)
{
	OK("--fd", "9", "--fd=3", "--fd", "5", "--fd", "3", "c");
	ck_assert_uint_eq(o.nfds, 3);
	ck_assert(o.fds[0] == 3 && o.fds[1] == 5 && o.fds[2] == 9);
	BAD("--fd: \"2\" is not a whole number from 3 to 2147483647", "--fd", "2", "c");
	BAD("--fd: \"0\" is not a whole number from 3 to 2147483647", "--fd", "0", "c");
	BAD("--fd: \"2147483648\" is not a whole number from 3 to 2147483647", "--fd", "2147483648", "c");
}
END_TEST

START_TEST(descriptors_have_a_maximum)
{
	char text[65][8];
	const char *words[2 * 65 + 2];
	size_t n = 0;

	for (int i = 0; i < 65; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "%d", 100 - i);
		words[n++] = "--fd";
		words[n++] = text[i];
	}
	words[n++] = "c";
	words[n] = NULL;
	ck_assert_int_eq(parse_words(words), -EINVAL);
	ck_assert_str_eq(e.msg, "--fd: more than 64 descriptors");
	ck_assert_int_eq(parse_words(words + 2), 0);
	ck_assert_uint_eq(o.nfds, 64);
}
END_TEST

static void check_bind(const char *opt, const char *value, enum bind_kind kind, bool optional,
		       const char *src, const char *dst)
{
	OK(opt, value, "c");
	ck_assert_uint_eq(o.nbinds, 1);
	ck_assert_int_eq(o.binds[0].kind, kind);
	ck_assert_int_eq(o.binds[0].optional, optional);
	ck_assert_str_eq(o.binds[0].opt, opt);
	ck_assert_pstr_eq(o.binds[0].src, src);
	ck_assert_pstr_eq(o.binds[0].dst, dst);
}

START_TEST(binds)
{
	check_bind("--ro", "/a", BIND_RO, false, "/a", NULL);
	check_bind("--rw", "a", BIND_RW, false, "a", NULL);
	check_bind("--ro-try", "/a:/b", BIND_RO, true, "/a", "/b");
	check_bind("--rw-try", "/a", BIND_RW, true, "/a", NULL);
	check_bind("--ro", "a:b", BIND_RO, false, "a:b", NULL);
	check_bind("--ro", "/x/a:b:/c:d", BIND_RO, false, "/x/a:b", "/c:d");
	check_bind("--ro", "/a:/b:/c", BIND_RO, false, "/a", "/b:/c");
	check_bind("--ro", "/a:ro", BIND_RO, false, "/a:ro", NULL);
	check_bind("-v", "/a:/b", BIND_RW, false, "/a", "/b");
	check_bind("-v", "/a:/b:ro", BIND_RO, false, "/a", "/b");
	check_bind("-v", "/a:/b:rw", BIND_RW, false, "/a", "/b");
	check_bind("-v", "a:1:/b:c/d", BIND_RW, false, "a:1", "/b:c/d");
	check_bind("-v", "/a:/", BIND_RW, false, "/a", "/");
	check_bind("--tmpfs", "/t", BIND_TMPFS, false, NULL, "/t");
	check_bind("--tmpfs", "/t:1m", BIND_TMPFS, false, NULL, "/t");
	ck_assert_uint_eq(o.binds[0].size_bytes, 1 << 20);
	check_bind("--tmpfs", "/t:x:64k", BIND_TMPFS, false, NULL, "/t:x");
	check_bind("--tmpfs", "/t:x/y", BIND_TMPFS, false, NULL, "/t:x/y");
	check_bind("--hide", "x:y", BIND_HIDE, false, NULL, "x:y");
	check_bind("--dev", "/dev//kvm", BIND_DEV, false, "/dev/kvm", "/dev/kvm");
}
END_TEST

START_TEST(binds_keep_their_order)
{
	OK("--ro", "/1", "-v/2:/2", "--hide=/3", "--tmpfs", "/4", "c");
	ck_assert_uint_eq(o.nbinds, 4);
	ck_assert_str_eq(o.binds[0].src, "/1");
	ck_assert_str_eq(o.binds[1].src, "/2");
	ck_assert_str_eq(o.binds[1].opt, "-v");
	ck_assert_str_eq(o.binds[2].dst, "/3");
	ck_assert_str_eq(o.binds[3].dst, "/4");
}
END_TEST

START_TEST(bad_binds)
{
	BAD("--ro: \"\" has no source (use SRC or SRC:DST)", "--ro", "", "c");
	BAD("--ro: \":/a\" has no source (use SRC or SRC:DST)", "--ro", ":/a", "c");
	BAD("-v: \"/a\" is not SRC:DST[:ro|:rw] with an absolute DST", "-v", "/a", "c");
	BAD("-v: \"/a:b\" is not SRC:DST[:ro|:rw] with an absolute DST", "-v", "/a:b", "c");
	BAD("-v: \":/b\" is not SRC:DST[:ro|:rw] with an absolute DST", "-v", ":/b", "c");
	BAD("-v: \"/a:/b:z\": the third part is neither ro nor rw", "-v", "/a:/b:z", "c");
	BAD("-v: \"/a:/b:\": the third part is neither ro nor rw", "-v", "/a:/b:", "c");
	BAD("--tmpfs: \":1m\" has no path (use DST or DST:SIZE)", "--tmpfs", ":1m", "c");
	BAD("--tmpfs: \"\" has no path (use DST or DST:SIZE)", "--tmpfs=", "c");
	BAD("--tmpfs: \"/t:0\": \"0\" is not a size above 0 (use bytes or k, m, g, as in 512m)", "--tmpfs",
	    "/t:0", "c");
	BAD("--tmpfs: \"/t:\": \"\" is not a size above 0 (use bytes or k, m, g, as in 512m)", "--tmpfs",
	    "/t:", "c");
	static const char *const bad_devs[] = {"",     "kvm",  "/dev", "/dev/", "/dev/../etc/passwd",
					       "/etc", "/devx"};

	for (size_t i = 0; i < LEN(bad_devs); i++) {
		ck_assert_int_eq(PARSE("--dev", bad_devs[i], "c"), -EINVAL);
		ck_assert_ptr_nonnull(strstr(e.msg, "is not the path of a device below /dev"));
	}
}
END_TEST

START_TEST(variables)
{
	OK("-e", "A=l1\nl2=x", "-eB=", "--env", "C", "--env=A=2", "c");
	ck_assert_uint_eq(o.nenv, 4);
	ck_assert_str_eq(o.env[0].name, "A");
	ck_assert_str_eq(o.env[0].value, "l1\nl2=x");
	ck_assert_str_eq(o.env[1].value, "");
	ck_assert_str_eq(o.env[2].name, "C");
	ck_assert_ptr_null(o.env[2].value);
	ck_assert_str_eq(o.env[3].value, "2");
	BAD("--env: \"1A\" is not a variable's name", "-e", "1A=secret", "c");
	BAD("--env: \"\" is not a variable's name", "-e", "=x", "c");
	BAD("--env: \"\" is not a variable's name", "-e", "", "c");
}
END_TEST

START_TEST(own_keys_never_pass)
{
	static const char *const names[] = {"ANTHROPIC_API_KEY",
					    "OPENAI_API_KEY",
					    "OPENROUTER_API_KEY",
					    "DEEPSEEK_API_KEY",
					    "GEMINI_API_KEY",
					    "OLLAMA_API_KEY",
					    "ANTHROPIC_AUTH_TOKEN",
					    "OPENAI_API_KEY_2",
					    "ANTHROPIC_AUTH_TOKEN_31",
					    "AK_X",
					    "AK_"};

	for (size_t i = 0; i < LEN(names); i++) {
		char set[64];

		(void)snprintf(set, sizeof(set), "%s=v", names[i]);
		ck_assert_int_eq(PARSE("-e", names[i], "c"), -EINVAL);
		ck_assert_ptr_nonnull(strstr(e.msg, "never passed"));
		ck_assert_int_eq(PARSE("-e", set, "c"), -EINVAL);
		ck_assert_ptr_nonnull(strstr(e.msg, "never passed"));
	}
	OK("-e", "AKA=1", "-e", "MY_OPENAI_API_KEY=1", "-e", "OPENAI_API_KEYS=1", "-e", "OPENAI_API_KEY_X=1", "-e", "OPENAI_API_KEY1=1", "-e", "OTHER_API_KEY", "c");
}
END_TEST

START_TEST(variables_have_the_kernels_maximum)
{
	char *text = malloc(131073);

	memset(text, 'x', 131073);
	memcpy(text, "A=", 2);
	text[131071] = '\0';
	OK("-e", text, "c");
	ck_assert_uint_eq(strlen(o.env[0].value), 131069);
	text[131071] = 'x';
	text[131072] = '\0';
	BAD("--env: A=... is 131072 bytes; the kernel takes at most 131071 in one variable", "-e", text, "c");
	free(text);
}
END_TEST

/* Writes an env file, parses with it; the result is in o and e */
/* as inside a sandbox: then a file is never opened, which is right but leaves nothing to test */
static bool openat2_is_refused(void)
{
	return syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0) < 0 && errno == ENOSYS;
}

static int with_env_file(const char *text, size_t len, char path[64])
{
	(void)snprintf(path, 64, "/tmp/ak-test-args-XXXXXX");

	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ak_write_all(fd, text, len), 0);
	close(fd);

	int rc = PARSE("-e", "FIRST=1", "--env-file", path, "-e", "LAST=1", "c");

	unlink(path);
	return rc;
}

START_TEST(env_file_lines)
{
	static const char text[] =
		"# comment\n\n  \t\n  A=1\r\nB=\"q\" # no comment\n\tC\n#D=1\nE=\n\r\nF= x ";
	char path[64];

	ck_assert_int_eq(with_env_file(text, sizeof(text) - 1, path), 0);
	ck_assert_uint_eq(o.nenv, 7);
	ck_assert_str_eq(o.env[0].name, "FIRST");
	ck_assert_str_eq(o.env[1].value, "1");
	ck_assert_str_eq(o.env[2].value, "\"q\" # no comment");
	ck_assert_str_eq(o.env[3].name, "C");
	ck_assert_ptr_null(o.env[3].value);
	ck_assert_str_eq(o.env[4].name, "E");
	ck_assert_str_eq(o.env[4].value, "");
	ck_assert_str_eq(o.env[5].value, " x ");
	ck_assert_str_eq(o.env[6].name, "LAST");
}
END_TEST

START_TEST(env_file_errors_name_file_and_line)
{
	char *big = malloc(140000);
	char path[64];
	char want[256];
	const struct {
		const char *text;
		size_t len;
		const char *why;
		int line;
	} rows[] = {
		{"A=1\nsk-secret-token\n", 20, "no variable's name", 2},
		{"\n\nA B=1", 7, "no variable's name", 3},
		{"OPENAI_API_KEY=x\n", 17,
		 "OPENAI_API_KEY is one of ak's own variables and never passed to a command", 1},
		{"A=\0\n", 4, "the line holds a NUL byte", 1},
		{big, 140000, "the line is over 131071 bytes, which the kernel does not take", 1},
		{big, 131072, "A=... is 131072 bytes; the kernel takes at most 131071 in one variable", 1},
	};

	memset(big, 'x', 140000);
	memcpy(big, "A=", 2);
	for (size_t i = 0; i < LEN(rows); i++) {
		ck_assert_int_eq(with_env_file(rows[i].text, rows[i].len, path), -EINVAL);
		(void)snprintf(want, sizeof(want), "--env-file: %s:%d: %s", path, rows[i].line, rows[i].why);
		ck_assert_str_eq(e.msg, want);
	}
	free(big);
}
END_TEST

START_TEST(env_file_that_cannot_be_read)
{
	char closed[] = "/tmp/ak-test-args-XXXXXX";
	int fd, r;

	ck_assert_int_eq(PARSE("--env-file", "/nonexistent/e", "c"), -ENOENT);
	ck_assert_str_eq(e.msg, "--env-file: read /nonexistent/e: No such file or directory (ENOENT)");
	ck_assert_int_eq(PARSE("--env-file", "/", "c"), -EISDIR);
	ck_assert_int_eq(PARSE("--env-file", "/dev/zero", "c"), -EINVAL);
	if (geteuid() == 0) {
		(void)fprintf(stderr, "not tested as root: EACCES of an --env-file\n");
		return;
	}
	fd = mkstemp(closed);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0), 0);
	(void)close(fd);
	r = PARSE("--env-file", closed, "c");
	(void)unlink(closed);
	ck_assert_int_eq(r, -EACCES);
}
END_TEST

START_TEST(json_is_known_after_an_error)
{
	ck_assert_int_eq(PARSE("--bogus", "--json", "c"), -EINVAL);
	ck_assert(o.json);
	ck_assert_int_eq(PARSE("--json", "--bogus", "c"), -EINVAL);
	ck_assert(o.json);
	ck_assert_int_eq(PARSE("--hostname", "x", "--json", "--report", "r", "--", "c"), -EINVAL);
	ck_assert(o.json);
	ck_assert_str_eq(o.report, "r");
	ck_assert_str_eq(e.msg, "unknown option --hostname");
	ck_assert_int_eq(PARSE("-m", "--json", "--pids", "x", "c"), -EINVAL);
	ck_assert(!o.json);
	ck_assert_str_eq(e.msg, "--memory: \"--json\" is not a size (use bytes or k, m, g, as in 512m)");
	ck_assert_int_eq(PARSE("-m", "x", "c", "--json"), -EINVAL);
	ck_assert(!o.json);
	ck_assert_int_eq(PARSE("-m", "x", "--", "--json"), -EINVAL);
	ck_assert(!o.json);
}
END_TEST

START_TEST(help_wins_where_it_stands_first)
{
	ck_assert_int_eq(PARSE("--help"), 1);
	ck_assert_int_eq(PARSE("-h", "--bogus"), 1);
	ck_assert_int_eq(PARSE("-qh"), 1);
	ck_assert_int_eq(PARSE("--bogus", "--help"), -EINVAL);
	OK("ls", "--help");
}
END_TEST

START_TEST(apply_is_for_copies)
{
	OK("--write=cow", "c");
	ck_assert_int_eq(o.write, WRITE_COW);
	ck_assert(!o.apply);
	OK("--apply", "always", "--write=cow", "c");
	ck_assert(o.apply);
	OK("--apply", "always", "--apply=never", "--write=cow", "c");
	ck_assert(!o.apply);
	OK("--apply=never", "c");	/* the default, said aloud */
	BAD("--apply: there is nothing to apply without --write cow", "--apply=always", "--write=none", "c");
}
END_TEST

START_TEST(help_names_every_option)
{
	static const char *const names[] = {
		"-c, --shell",	  "-C, --workspace",
		"--write",	  "--allow-protected", "--apply",
		"-w, --workdir",  "--rootfs ",
		"--rootfs-write", "--ro ",
		"--rw ",	  "--ro-try",
		"--rw-try",	  "-v SRC",
		"--tmpfs",	  "--hide",
		"--dev",	  "-e, --env ",
		"--env-file",	  "--net ",
		"--network",	  "-m, --memory",
		"--cpus",	  "--pids ",
		"--pids-limit",	  "--cpu-time",
		"--nofile",	  "--fsize",
		"-t, --timeout",  "--kill-after",
		"--max-output",	  "--seccomp",
		"--isolation",	  "-u, --user",
		"--identity",	  "--fd",
		"-i, --stdin",	  "--tty",
		"--raw",	  "--json",
		"--report",	  "--explain",
		"-q, --quiet",	  "--verbose",
		"-h, --help",	  "--in NAME",
		"--fresh",	  "--detach",
	};
	const char *help = args_exec_help();

	for (size_t i = 0; i < LEN(names); i++)
		ck_assert_msg(strstr(help, names[i]) != NULL, "%s", names[i]);
	for (const char *p = help; *p;) {
		size_t n = strcspn(p, "\n");

		ck_assert_msg(n <= 110, "%.*s", (int)n, p);
		p += n + 1;
	}
}
END_TEST

START_TEST(null_error_and_double_release_are_allowed)
{
	static char option[] = "--memory", value[] = "x";

	exec_opts_release(&o);
	ck_assert_int_eq(args_parse_exec(2, (char *const[]){option, value, NULL}, &o, NULL), -EINVAL);
	exec_opts_release(&o);
	exec_opts_release(&o);
}
END_TEST

START_TEST(nearest_names)
{
	ck_assert_str_eq(arg_nearest("--time-out"), "--timeout");
	ck_assert_str_eq(arg_nearest("--envfile=x"), "--env-file");
	ck_assert_ptr_null(arg_nearest("--x"));
	ck_assert_ptr_null(arg_nearest("--"));
	ck_assert_ptr_null(arg_nearest("--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("args");
	TCase *t = tcase_create("args");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, defaults);
	tcase_add_test(t, command_arrives_byte_exact);
	tcase_add_test(t, options_end_at_the_command);
	tcase_add_test(t, value_forms);
	tcase_add_test(t, names_are_never_abbreviated);
	tcase_add_test(t, unknown_options_name_what_was_meant);
	tcase_add_test(t, kinds_of_isolation_exclude_each_other);
	tcase_add_test(t, options_of_other_versions_are_unknown);
	tcase_add_test(t, values_of_other_versions_are_refused);
	tcase_add_test(t, missing_and_unwanted_values);
	tcase_add_test(t, shell);
	tcase_add_test(t, flags_and_texts);
	tcase_add_test(t, limits);
	tcase_add_test(t, bad_numbers_name_option_and_value);
	tcase_add_test(t, zero_is_refused_where_it_means_nothing);
	tcase_add_test(t, long_values_leave_room_for_the_explanation);
	tcase_add_test(t, users);
	tcase_add_test(t, descriptors_are_sorted_and_unique);
	tcase_add_test(t, descriptors_have_a_maximum);
	tcase_add_test(t, binds);
	tcase_add_test(t, binds_keep_their_order);
	tcase_add_test(t, bad_binds);
	tcase_add_test(t, variables);
	tcase_add_test(t, own_keys_never_pass);
	tcase_add_test(t, variables_have_the_kernels_maximum);
	if (openat2_is_refused()) {
		(void)fprintf(stderr, "not tested here: --env-file (openat2 is refused)\n");
	} else {
		tcase_add_test(t, env_file_lines);
		tcase_add_test(t, env_file_errors_name_file_and_line);
		tcase_add_test(t, env_file_that_cannot_be_read);
	}
	tcase_add_test(t, json_is_known_after_an_error);
	tcase_add_test(t, help_wins_where_it_stands_first);
	tcase_add_test(t, apply_is_for_copies);
	tcase_add_test(t, help_names_every_option);
	tcase_add_test(t, null_error_and_double_release_are_allowed);
	tcase_add_test(t, nearest_names);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
