/* SPDX-License-Identifier: Apache-2.0 */
/* Where a cgroup may be, what its files say, and what is written into them: over texts, and over a folder with made-up files. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/limits_advice.h"
#include "executor/ns/cgroup.h"
#include "executor/ns/cgroup_file.h"
#include "executor/ns/cgroup_find.h"
#include "executor/ns/cgroup_place.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_parse.h"

/* --- texts --- */

static int own(const char *text, char *path)
{
	return cgroup_own_path(text, strlen(text), path);
}

START_TEST(own_path_is_the_line_of_hierarchy_zero)
{
	char path[CGROUP_PATH_MAX] = "untouched";

	ck_assert_int_eq(own("", path), -ENOENT);
	ck_assert_int_eq(own("4:memory:/x\n1:name=systemd:/y\n", path), -ENOENT);
	ck_assert_int_eq(own("10::/x\n", path), -ENOENT);
	ck_assert_int_eq(own("0::\n", path), -EINVAL);
	ck_assert_int_eq(own("0::x\n", path), -EINVAL);
	ck_assert_int_eq(own("0::/..\n", path), -EXDEV);
	ck_assert_int_eq(own("0::/../x\n", path), -EXDEV);
	ck_assert_str_eq(path, "untouched");
	ck_assert_int_eq(own("0::/..x\n", path), 0);
	ck_assert_str_eq(path, "/..x");
	ck_assert_int_eq(own("4:memory:/x\n0::/user.slice/a b:c", path), 0);
	ck_assert_str_eq(path, "/user.slice/a b:c");
	ck_assert_int_eq(own("0::/", path), 0);
	ck_assert_str_eq(path, "/");
}
END_TEST

START_TEST(own_path_that_is_too_long_is_refused)
{
	static char text[CGROUP_PATH_MAX + 16];
	char path[CGROUP_PATH_MAX] = "";
	size_t n = CGROUP_PATH_MAX - 1;

	memcpy(text, "0::", 3);
	memset(text + 3, '/', n);
	ck_assert_int_eq(cgroup_own_path(text, 3 + n, path), 0);
	ck_assert_uint_eq(strlen(path), n);
	text[3 + n] = '/';
	ck_assert_int_eq(cgroup_own_path(text, 4 + n, path), -ENAMETOOLONG);
}
END_TEST

#define V1 "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
#define V2 "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:7 master:3 - cgroup2 cgroup2 rw\n"
#define PART "42 31 0:38 /docker/ab /part rw,relatime - cgroup2 cgroup2 rw\n"
#define BLANK "43 31 0:38 / /a\\040b\\134c rw - cgroup2 none rw\n"

static int mount_of(const char *text, struct cgroup_mount *m)
{
	return cgroup_find_mount(text, strlen(text), m);
}

START_TEST(mount_is_found_by_its_type)
{
	struct cgroup_mount m = { .point = "untouched" };

	ck_assert_int_eq(mount_of("", &m), -ENOENT);
	ck_assert_int_eq(mount_of(V1, &m), -ENOENT);
	ck_assert_int_eq(mount_of("41 31 0:38 / /x rw\n", &m), -ENOENT);
	ck_assert_int_eq(mount_of("41 31 0:38 / /x rw -\n", &m), -ENOENT);
	ck_assert_int_eq(mount_of("1 2 3 / /cgroup2 rw - tmpfs cgroup2 rw\n", &m), -ENOENT);
	ck_assert_str_eq(m.point, "untouched");
	ck_assert_int_eq(mount_of(V1 V2, &m), 0);
	ck_assert_str_eq(m.point, "/sys/fs/cgroup/unified");
	ck_assert_str_eq(m.root, "/");
	ck_assert_int_eq(mount_of(BLANK, &m), 0);
	ck_assert_str_eq(m.point, "/a b\\c");
}
END_TEST

START_TEST(mount_that_shows_everything_is_preferred)
{
	struct cgroup_mount m;

	ck_assert_int_eq(mount_of(PART, &m), 0);
	ck_assert_str_eq(m.root, "/docker/ab");
	ck_assert_int_eq(mount_of(PART V2, &m), 0);
	ck_assert_str_eq(m.root, "/");
	ck_assert_int_eq(mount_of(V2 PART, &m), 0);
	ck_assert_str_eq(m.point, "/sys/fs/cgroup/unified");
}
END_TEST

START_TEST(group_is_found_below_its_mount)
{
	struct cgroup_mount all = { .point = "/sys/fs/cgroup", .root = "/" }, part = { .point = "/p", .root = "/docker/ab" };
	char path[CGROUP_PATH_MAX] = "untouched";

	ck_assert_int_eq(cgroup_below_mount(&part, "/docker", path), -ENOENT);
	ck_assert_int_eq(cgroup_below_mount(&part, "/docker/abc", path), -ENOENT);
	ck_assert_str_eq(path, "untouched");
	ck_assert_int_eq(cgroup_below_mount(&part, "/docker/ab", path), 0);
	ck_assert_str_eq(path, "/p");
	ck_assert_int_eq(cgroup_below_mount(&part, "/docker/ab/x", path), 0);
	ck_assert_str_eq(path, "/p/x");
	ck_assert_int_eq(cgroup_below_mount(&all, "/", path), 0);
	ck_assert_str_eq(path, "/sys/fs/cgroup");
	ck_assert_int_eq(cgroup_below_mount(&all, "/x/y", path), 0);
	ck_assert_str_eq(path, "/sys/fs/cgroup/x/y");
}
END_TEST

static void candidates_are(const char *from, bool root, const char *want)
{
	struct cgroup_candidate c[CGROUP_CANDIDATES_MAX];
	size_t n = cgroup_candidates(from, root, c);
	char got[2048] = "";

	for (size_t i = 0; i < n; i++) {
		size_t at = strlen(got);

		snprintf(got + at, sizeof(got) - at, "%s%c%s", i ? " " : "", "goatS"[c[i].kind], c[i].path);
	}
	ck_assert_str_eq(got, want);
}

START_TEST(candidates_go_up_from_the_own_group)
{
	candidates_are("/a/b/c", true, "o/a/b/c a/a/b a/a t/");
	candidates_are("/a/b/c", false, "o/a/b/c a/a/b a/a t/");
	candidates_are("/", true, "o/");
	candidates_are("/", false, "o/");
	candidates_are(NULL, true, "t/");
	candidates_are(NULL, false, "");
}
END_TEST

START_TEST(an_ordinary_user_stays_in_the_own_unit)
{
	candidates_are("/user.slice/user-1.slice/user@1.service/app.slice/x.scope/in", false,
		       "o/user.slice/user-1.slice/user@1.service/app.slice/x.scope/in "
		       "a/user.slice/user-1.slice/user@1.service/app.slice/x.scope");
	candidates_are("/system.slice/x.service", false, "o/system.slice/x.service");
	candidates_are("/system.slice/x.service", true, "o/system.slice/x.service a/system.slice t/");
	candidates_are("/x.serviceable/y", false, "o/x.serviceable/y a/x.serviceable t/");
}
END_TEST

START_TEST(a_deep_group_leaves_room_for_the_top)
{
	struct cgroup_candidate c[CGROUP_CANDIDATES_MAX];

	ck_assert_uint_eq(cgroup_candidates("/1/2/3/4/5/6/7/8/9/10/11/12/13/14", true, c), CGROUP_CANDIDATES_MAX);
	ck_assert_str_eq(c[CGROUP_CANDIDATES_MAX - 1].path, "/");
	ck_assert_int_eq(c[CGROUP_CANDIDATES_MAX - 1].kind, CGROUP_ROOT);
}
END_TEST

START_TEST(controllers_by_name)
{
	char buf[64];

	ck_assert_uint_eq(cgroup_ctl_mask("", 0), 0);
	ck_assert_uint_eq(cgroup_ctl_mask("hugetlb cpuset\n", 15), 0);
	ck_assert_uint_eq(cgroup_ctl_mask("cpuset cpu io memory pids\n", 26), CGROUP_ALL);
	ck_assert_uint_eq(cgroup_ctl_mask("cpu", 3), CGROUP_CPU);
	cgroup_ctl_names(CGROUP_MEMORY | CGROUP_CPU, buf, sizeof(buf));
	ck_assert_str_eq(buf, "memory, cpu");
	cgroup_ctl_names(0, buf, sizeof(buf));
	ck_assert_str_eq(buf, "none");
	cgroup_ctl_enable_text(CGROUP_ALL, '+', buf, sizeof(buf));
	ck_assert_str_eq(buf, "+memory +pids +cpu");
	cgroup_ctl_enable_text(CGROUP_PIDS, '-', buf, sizeof(buf));
	ck_assert_str_eq(buf, "-pids");
}
END_TEST

START_TEST(keys_of_a_flat_file)
{
	static const char text[] = "low 0\noom 2\noom_kill 17\noom_group_kill x\nbig 18446744073709551616\n";
	uint64_t v = 99;

	ck_assert(!cgroup_key_u64(text, sizeof(text) - 1, "high", &v));
	ck_assert(!cgroup_key_u64(text, sizeof(text) - 1, "oom_group_kill", &v));
	ck_assert(!cgroup_key_u64(text, sizeof(text) - 1, "big", &v));
	ck_assert(!cgroup_key_u64(text, sizeof(text) - 1, "oo", &v));
	ck_assert_uint_eq(v, 99);
	ck_assert(cgroup_key_u64(text, sizeof(text) - 1, "oom", &v) && v == 2);
	ck_assert(cgroup_key_u64(text, sizeof(text) - 1, "oom_kill", &v) && v == 17);
}
END_TEST

START_TEST(processor_share_as_quota_and_period)
{
	char buf[64];

	cgroup_cpu_text(1000, buf, sizeof(buf));
	ck_assert_str_eq(buf, "100000 100000");
	cgroup_cpu_text(10, buf, sizeof(buf));
	ck_assert_str_eq(buf, "1000 100000");
	cgroup_cpu_text(9, buf, sizeof(buf));
	ck_assert_str_eq(buf, "9000 1000000");
	cgroup_cpu_text(1, buf, sizeof(buf));
	ck_assert_str_eq(buf, "1000 1000000");
	cgroup_cpu_text(8192000, buf, sizeof(buf));
	ck_assert_str_eq(buf, "819200000 100000");
}
END_TEST

START_TEST(memory_high_is_slightly_lower)
{
	ck_assert_uint_eq(cgroup_high_bytes(64u << 20), 63u << 20);
	ck_assert_uint_eq(cgroup_high_bytes(512u << 20), 504u << 20);
	ck_assert_uint_eq(cgroup_high_bytes(UINT64_C(1) << 40), (UINT64_C(1) << 40) - (16u << 20));
	ck_assert_uint_lt(cgroup_high_bytes(4u << 20), 4u << 20);
}
END_TEST

START_TEST(only_names_that_a_run_makes_are_swept)
{
	ck_assert(cgroup_name_ok("ak-1-0123456789ab"));
	ck_assert(cgroup_name_ok("ak-4194304-ffffffffffff"));
	ck_assert(cgroup_name_ok("ak-12-aside"));
	ck_assert(!cgroup_name_ok("ak-"));
	ck_assert(!cgroup_name_ok("ak-tests"));
	ck_assert(!cgroup_name_ok("ak-1"));
	ck_assert(!cgroup_name_ok("ak-1-"));
	ck_assert(!cgroup_name_ok("ak-1-0123456789a"));
	ck_assert(!cgroup_name_ok("ak-1-0123456789abc"));
	ck_assert(!cgroup_name_ok("ak-1-0123456789aB"));
	ck_assert(!cgroup_name_ok("ak--0123456789ab"));
	ck_assert(!cgroup_name_ok("ak-12345678901-0123456789ab"));
	ck_assert(!cgroup_name_ok("xak-1-0123456789ab"));
	ck_assert(!cgroup_name_ok("ak-1-aside2"));
}
END_TEST

/* --- a folder with made-up files --- */

static char folder[64];
static struct cgroup g;

static void folder_setup(void)
{
	snprintf(folder, sizeof(folder), "/tmp/test_cgroup.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	g = (struct cgroup)CGROUP_NONE;
	g.dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	g.have = CGROUP_ALL;
	ck_assert_int_ge(g.dir, 0);
}

static const char *const files[] = {
	"memory.max",	      "memory.high", "memory.swap.max", "memory.oom.group", "memory.peak", "memory.events",
	"memory.events.local", "pids.max",    "pids.peak",	 "pids.events",	     "cpu.max",	    "cpu.stat",
	"cgroup.events",       "cgroup.procs", "cgroup.subtree_control", "pids.events.local", "n",
};

static void folder_teardown(void)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		(void)unlinkat(g.dir, files[i], 0);
	cgroup_close(&g);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void put(const char *name, const char *text)
{
	int fd = openat(g.dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (long)strlen(text));
	close(fd);
}

static void file_is(const char *name, const char *want)
{
	char buf[256];

	ck_assert_int_ge(cgroup_read(g.dir, name, buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, want);
}

START_TEST(numbers_of_files)
{
	uint64_t v = 7;

	ck_assert_int_eq(cgroup_read_u64(g.dir, "n", &v), -ENOENT);
	put("n", "x\n");
	ck_assert_int_eq(cgroup_read_u64(g.dir, "n", &v), -EINVAL);
	put("n", "");
	ck_assert_int_eq(cgroup_read_u64(g.dir, "n", &v), -EINVAL);
	ck_assert_uint_eq(v, 7);
	put("n", "max\n");
	ck_assert_int_eq(cgroup_read_u64(g.dir, "n", &v), 0);
	ck_assert_uint_eq(v, UINT64_MAX);
	put("n", "42\n");
	ck_assert_int_eq(cgroup_read_u64(g.dir, "n", &v), 0);
	ck_assert_uint_eq(v, 42);
}
END_TEST

START_TEST(processes_other_than_the_caller_are_counted)
{
	char text[64];
	unsigned others = 9;
	bool self = true;

	ck_assert_int_eq(cgroup_procs(g.dir, &others, &self), -ENOENT);
	put("cgroup.procs", "");
	ck_assert_int_eq(cgroup_procs(g.dir, &others, &self), 0);
	ck_assert(others == 0 && !self);
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	put("cgroup.procs", text);
	ck_assert_int_eq(cgroup_procs(g.dir, &others, &self), 0);
	ck_assert(others == 0 && self);
	snprintf(text, sizeof(text), "0\n%d\n0\n", (int)getpid());	/* 0: of another pid namespace */
	put("cgroup.procs", text);
	ck_assert_int_eq(cgroup_procs(g.dir, &others, &self), 0);
	ck_assert(others == 2 && self);
}
END_TEST

static const struct cgroup_limits some = { .memory_bytes = 64u << 20, .pids = 51, .cpu_milli = 500 };

START_TEST(limits_are_written)
{
	struct ak_err e = { 0 };

	for (size_t i = 0; i < 11; i++)
		put(files[i], "");
	ck_assert_int_eq(cgroup_limit(&g, &some, &e), 0);
	file_is("memory.max", "67108864");
	file_is("memory.high", "66060288");
	file_is("memory.swap.max", "0");
	file_is("memory.oom.group", "1");
	file_is("pids.max", "51");
	file_is("cpu.max", "50000 100000");
}
END_TEST

START_TEST(limits_of_missing_controllers_are_left_out)
{
	struct ak_err e = { 0 };

	put("pids.max", "");
	g.have = CGROUP_PIDS;
	ck_assert_int_eq(cgroup_limit(&g, &some, &e), 0);
	file_is("pids.max", "51");
	g.have = CGROUP_ALL;
	ck_assert_int_eq(cgroup_limit(&g, &some, &e), -ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, "memory.max"));
	/* an old kernel, or one without swap, lacks these */
	put("memory.max", "");
	ck_assert_int_eq(cgroup_limit(&g, &some, &e), -ENOENT);
	ck_assert_ptr_nonnull(strstr(e.msg, "cpu.max"));
}
END_TEST

START_TEST(no_limit_writes_nothing)
{
	const struct cgroup_limits none = { 0 };

	ck_assert_int_eq(cgroup_limit(&g, &none, NULL), 0);
}
END_TEST

START_TEST(usage_tells_own_and_outer_limits_apart)
{
	struct cgroup_usage u;

	put("cpu.stat", "usage_usec 3000\nuser_usec 1000\nsystem_usec 2000\nnr_periods 9\nnr_throttled 4\n");
	put("memory.peak", "67108864\n");
	put("memory.events", "low 0\nhigh 1\nmax 5\noom 1\noom_kill 3\noom_group_kill 1\n");
	put("memory.events.local", "low 0\nhigh 1\nmax 5\noom 1\noom_kill 3\noom_group_kill 1\n");
	put("pids.peak", "51\n");
	put("pids.events", "max 8\n");
	cgroup_usage(&g, &u);
	ck_assert(u.cpu && u.memory && u.pids && u.oom_own);
	ck_assert_uint_eq(u.cpu_total_us, 3000);
	ck_assert_uint_eq(u.cpu_user_us, 1000);
	ck_assert_uint_eq(u.cpu_system_us, 2000);
	ck_assert_uint_eq(u.throttled, 4);
	ck_assert_uint_eq(u.memory_peak_bytes, 64u << 20);
	ck_assert_uint_eq(u.oom_kills, 3);
	ck_assert_uint_eq(u.pids_peak, 51);
	ck_assert_uint_eq(u.pids_refused, 8);
	/* somebody else's limit: killed here, but the own one was not hit */
	put("memory.events", "oom 0\noom_kill 1\n");
	put("memory.events.local", "oom 0\noom_kill 1\n");
	put("pids.events.local", "max 0\n");
	cgroup_usage(&g, &u);
	ck_assert(!u.oom_own);
	ck_assert_uint_eq(u.oom_kills, 1);
	ck_assert_uint_eq(u.pids_refused, 0);
}
END_TEST

START_TEST(usage_without_files_is_unknown)
{
	struct cgroup_usage u;

	cgroup_usage(&g, &u);
	ck_assert(!u.cpu && !u.memory && !u.pids && !u.oom_own);
	ck_assert_uint_eq(u.oom_kills, 0);
	put("cpu.stat", "usage_usec 5\n");
	cgroup_usage(&g, &u);
	ck_assert(!u.cpu);
}
END_TEST

START_TEST(empty_is_only_what_says_so)
{
	ck_assert(!cgroup_empty(&g));
	put("cgroup.events", "populated 1\nfrozen 0\n");
	ck_assert(!cgroup_empty(&g));
	put("cgroup.events", "populated 0\nfrozen 0\n");
	ck_assert(cgroup_empty(&g));
}
END_TEST

START_TEST(controllers_are_passed_down_once)
{
	struct ak_err e = { 0 };

	ck_assert_uint_eq(cgroup_pass_down(g.dir, CGROUP_ALL, &e), 0);
	ck_assert_int_eq(e.code, ENOENT);
	put("cgroup.subtree_control", "memory pids\n");
	ck_assert_uint_eq(cgroup_pass_down(g.dir, CGROUP_MEMORY, &e), CGROUP_MEMORY | CGROUP_PIDS);
	file_is("cgroup.subtree_control", "memory pids\n");	/* nothing was written */
	ck_assert_uint_eq(cgroup_pass_down(g.dir, CGROUP_ALL, &e), CGROUP_ALL);
	file_is("cgroup.subtree_control", "+cpury pids\n");	/* in a real one the text is an order, not the content */
}
END_TEST

/* --- texts for people --- */

static struct cgroup_search search_of(enum cgroup_kind kind, int code, const char *why)
{
	struct cgroup_search s = { .want = CGROUP_ALL, .n = 1, .best = -1, .mount = "/sys/fs/cgroup" };

	s.trial[0] = (struct cgroup_trial){ .kind = kind, .dir = -1, .code = code, .path = "/sys/fs/cgroup/x" };
	snprintf(s.trial[0].why, sizeof(s.trial[0].why), "%s", why);
	snprintf(s.why, sizeof(s.why), "%s /sys/fs/cgroup/x: %s", cgroup_kind_name(kind), why);
	return s;
}

START_TEST(advice_fits_what_is_in_the_way)
{
	static const struct {
		int code;
		bool root;
		const char *text;
	} rows[] = {
		{ EROFS, true, "writable /sys/fs/cgroup" },
		{ EROFS, false, "writable /sys/fs/cgroup" },
		{ EACCES, false, "loginctl enable-linger" },
		{ EBUSY, true, "only process of its group" },
		{ EBUSY, false, "systemd-run --user --scope" },
	};
	char why[CGROUP_TEXT_MAX], advice[LIMITS_ADVICE_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cgroup_search s = search_of(CGROUP_OWN, rows[i].code, "in the way");

		s.root = rows[i].root;
		limits_why(&s, 0, why, sizeof(why));
		ck_assert_ptr_nonnull(strstr(why, "in the way"));
		limits_advice(&s, 0, advice, sizeof(advice));
		ck_assert_msg(strstr(advice, rows[i].text) != NULL, "%s", advice);
		limits_why(&s, CGROUP_ALL, why, sizeof(why));
		limits_advice(&s, CGROUP_ALL, advice, sizeof(advice));
		ck_assert_str_eq(why, "");
		ck_assert_str_eq(advice, "");
	}
}
END_TEST

START_TEST(a_missing_session_is_named)
{
	struct cgroup_search s = search_of(CGROUP_OWN, EACCES, "no permission");
	char why[CGROUP_TEXT_MAX];

	s.trial[s.n] = (struct cgroup_trial){ .kind = CGROUP_SCOPE, .dir = -1, .code = ENOENT };
	snprintf(s.trial[s.n++].why, CGROUP_TEXT_MAX, "no session: XDG_RUNTIME_DIR is not set");
	limits_why(&s, 0, why, sizeof(why));
	ck_assert_ptr_nonnull(strstr(why, "no permission"));
	ck_assert_ptr_nonnull(strstr(why, "no session"));
}
END_TEST

START_TEST(a_place_that_did_not_do_is_noted)
{
	struct cgroup_search s = search_of(CGROUP_ABOVE, 0, "");
	struct ak_err e = { 0 };

	s.trial[0].usable = true;
	s.best = 0;
	(void)ak_err_set(&e, EAGAIN, "make a cgroup for the sandbox: too deep");
	limits_note_failed(&s, CGROUP_ABOVE, "/sys/fs/cgroup/x", &e);
	ck_assert(!s.trial[0].usable && s.best == -1);
	ck_assert_ptr_nonnull(strstr(s.why, "too deep"));
}
END_TEST

static Suite *cgroup_suite(void)
{
	Suite *s = suite_create("cgroup");
	TCase *texts = tcase_create("texts"), *fake = tcase_create("files"), *people = tcase_create("people");

	tcase_add_test(texts, own_path_is_the_line_of_hierarchy_zero);
	tcase_add_test(texts, own_path_that_is_too_long_is_refused);
	tcase_add_test(texts, mount_is_found_by_its_type);
	tcase_add_test(texts, mount_that_shows_everything_is_preferred);
	tcase_add_test(texts, group_is_found_below_its_mount);
	tcase_add_test(texts, candidates_go_up_from_the_own_group);
	tcase_add_test(texts, an_ordinary_user_stays_in_the_own_unit);
	tcase_add_test(texts, a_deep_group_leaves_room_for_the_top);
	tcase_add_test(texts, controllers_by_name);
	tcase_add_test(texts, keys_of_a_flat_file);
	tcase_add_test(texts, processor_share_as_quota_and_period);
	tcase_add_test(texts, memory_high_is_slightly_lower);
	tcase_add_test(texts, only_names_that_a_run_makes_are_swept);
	suite_add_tcase(s, texts);
	tcase_add_checked_fixture(fake, folder_setup, folder_teardown);
	tcase_add_test(fake, numbers_of_files);
	tcase_add_test(fake, processes_other_than_the_caller_are_counted);
	tcase_add_test(fake, limits_are_written);
	tcase_add_test(fake, limits_of_missing_controllers_are_left_out);
	tcase_add_test(fake, no_limit_writes_nothing);
	tcase_add_test(fake, usage_tells_own_and_outer_limits_apart);
	tcase_add_test(fake, usage_without_files_is_unknown);
	tcase_add_test(fake, empty_is_only_what_says_so);
	tcase_add_test(fake, controllers_are_passed_down_once);
	suite_add_tcase(s, fake);
	tcase_add_test(people, advice_fits_what_is_in_the_way);
	tcase_add_test(people, a_missing_session_is_named);
	tcase_add_test(people, a_place_that_did_not_do_is_noted);
	suite_add_tcase(s, people);
	return s;
}

int main(void)
{
	SRunner *r = srunner_create(cgroup_suite());
	int failed;

	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
