/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs without namespaces: which rules are planned and what is refused; removing what a hostile command left; openat2 by steps.
 * Process: unit tests. Privilege: none.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "executor/ns/sysmount.h"
#include "executor/plain.h"
#include "executor/shared/ak_fd.h"
#include "executor/workspace/fsat.h"
#include "tests/unit/plan_fixture.h"

/* --- rules --- */

static void setup(void)
{
	fixture_setup();
	o.isolation = ISOLATION_LANDLOCK;
}

static uint32_t access_of(const char *path)
{
	for (size_t i = 0; i < p.npaths; i++) {
		if (strcmp(p.paths[i].path, path) == 0)
			return p.paths[i].access;
	}
	return 0;
}

/* Does any rule allow something at @path? */
static bool covered(const char *path)
{
	for (size_t i = 0; i < p.npaths; i++) {
		if (ak_path_below(path, p.paths[i].path))
			return true;
	}
	return false;
}

START_TEST(only_what_is_shown_has_a_rule)
{
	make_file("home/secret", "x");
	plan_ok();
	ck_assert(p.plain);
	ck_assert_uint_eq(p.nmounts, 0);
	ck_assert_uint_eq(access_of(at("ws")), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/usr"), INIT_PATH_RX);
	ck_assert_uint_eq(access_of("/proc"), INIT_PATH_RX);
	ck_assert_uint_eq(access_of("/dev/null"), INIT_PATH_DEV);
	ck_assert(!covered(at("home/secret")) && !covered("/tmp") && !covered("/dev/shm") && !covered("/dev/pts"));
	ck_assert(!covered("/etc/shadow") && !covered("/sys") && !covered("/run") && !covered(at("other")));
	ck_assert(!covered("/"));
}
END_TEST

START_TEST(home_and_tmpdir_lie_in_the_private_folder)
{
	char want[PATH_MAX + 8];

	plan_ok();
	ck_assert(strncmp(p.scratch, h.state_dir, strlen(h.state_dir)) == 0);
	ck_assert_uint_eq(access_of(p.scratch), INIT_PATH_RW);
	(void)snprintf(want, sizeof(want), "%s/home", p.scratch);
	ck_assert_str_eq(variable("HOME"), want);
	(void)snprintf(want, sizeof(want), "%s/tmp", p.scratch);
	ck_assert_str_eq(variable("TMPDIR"), want);
	ck_assert_int_ne(access(p.scratch, F_OK), 0);	/* a plan makes nothing */
}
END_TEST

START_TEST(a_read_only_workspace_has_no_right_to_write)
{
	o.write = WRITE_NONE;
	plan_ok();
	ck_assert_uint_eq(access_of(at("ws")), INIT_PATH_RX);
}
END_TEST

START_TEST(what_is_hidden_below_a_readable_place_costs_it_its_rule)
{
	make_dir("other/a/b");
	make_file("other/a/b/secret", "x");
	make_file("other/a/b/open", "x");
	make_file("other/f", "x");
	make_link("/", "other/link");
	add_bind(BIND_RO, "--ro", at("other"), NULL);
	binds[o.nbinds++] = (struct bind_opt){.kind = BIND_HIDE, .opt = "--hide", .dst = at("other/a/b/secret")};
	plan_ok();
	ck_assert(!covered(at("other/a/b/secret")) && !covered(at("other/a")) && !covered(at("other")));
	ck_assert_uint_eq(access_of(at("other/a/b/open")), INIT_PATH_RX);
	ck_assert_uint_eq(access_of(at("other/f")), INIT_PATH_RX);
	ck_assert(!covered(at("other/link")));
}
END_TEST

START_TEST(secrets_of_a_home_that_is_shown_are_left_out)
{
	make_dir("home/.ssh");
	make_file("home/file", "x");
	add_bind(BIND_RO, "--ro", at("home"), NULL);
	plan_ok();
	ck_assert(!covered(at("home/.ssh")));
	ck_assert_uint_eq(access_of(at("home/file")), INIT_PATH_RX);
	binds[0].kind = BIND_RW;
	plan_refused(EPERM, "cannot be hidden");
}
END_TEST

START_TEST(options_that_need_mounts_are_refused_by_name)
{
	static const struct {
		enum bind_kind kind;
		const char *opt, *src, *dst, *text;
	} rows[] = {
		{BIND_TMPFS, "--tmpfs", NULL, "/x", "--tmpfs /x: cannot be kept"},
		{BIND_RW, "-v", "/usr", "/x", "-v /usr: cannot be kept"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		o.nbinds = 0;
		add_bind(rows[i].kind, rows[i].opt, rows[i].src, rows[i].dst);
		plan_refused(EOPNOTSUPP, rows[i].text);
	}
	o.nbinds = 0;
	o.rootfs = at("other");
	plan_refused(EOPNOTSUPP, "--rootfs: cannot be kept");
	o.rootfs = NULL;
	o.disk_bytes = 1 << 20;
	plan_refused(EOPNOTSUPP, "--disk: cannot be kept");
	o.disk_bytes = 0;
	o.user_given = true;
	o.uid = 7;
	plan_refused(EOPNOTSUPP, "--user: cannot be kept");
	o.uid = h.uid;
	plan_ok();
	o.user_given = false;
	o.pids = (struct limit_opt){.given = true, .value = 5};
	plan_refused(EOPNOTSUPP, "--pids 5: without namespaces");
	groups.group = true;
	groups.have = 7;
	plan_ok();
	ck_assert_int_eq(p.pids_by, PLAN_BY_CGROUP);
	groups.group = false;
	groups.have = 0;
}
END_TEST

START_TEST(a_place_below_a_writable_one_cannot_be_less)
{
	make_dir("ws/sub");
	make_file("ws/sub/f", "x");
	add_bind(BIND_RO, "--ro", at("ws/sub"), NULL);
	plan_refused(EOPNOTSUPP, "lies in a writable place");
	o.nbinds = 0;
	binds[o.nbinds++] = (struct bind_opt){.kind = BIND_HIDE, .opt = "--hide", .dst = at("ws/sub/f")};
	plan_refused(EOPNOTSUPP, "--hide");
	o.write = WRITE_NONE;
	plan_ok();
	ck_assert(!covered(at("ws/sub/f")));
}
END_TEST

START_TEST(root_and_homes_are_refused)
{
	h.root = true;
	plan_refused(EPERM, "not as root");
	h.root = false;
	o.workspace = at("home");
	o.workspace_given = true;
	plan_refused(EPERM, "is a home folder");
}
END_TEST

START_TEST(the_net_against_fork_bombs_is_over_what_runs_now)
{
	uint64_t n = 0;

	plan_ok();
	for (size_t i = 0; i < p.nrlimits; i++) {
		if (p.rlimits[i].resource == RLIMIT_NPROC)
			n = p.rlimits[i].hard;
	}
	ck_assert_uint_ge(n, 257);
	ck_assert_int_eq(p.pids_by, PLAN_BY_RLIMIT);
}
END_TEST

/* --- removing --- */

START_TEST(remove_takes_deep_closed_and_linked_trees)
{
	int base = open(at("other"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[201];
	int dir;

	memset(name, 'd', 200);
	name[200] = '\0';
	make_dir("other/x");
	make_file("ws/keep", "x");
	make_link(at("ws"), "other/x/link");
	make_link(at("ws/keep"), "other/x/file");
	make_dir("other/x/closed");
	make_file("other/x/closed/f", "x");
	make_dir("other/x/closed/in");
	make_dir("other/x/.0");
	make_file("other/x/.1", "x");
	ck_assert_int_eq(chmod(at("other/x/closed/in"), 0), 0);
	ck_assert_int_eq(chmod(at("other/x/closed"), 0), 0);
	/* longer than any path: 100 x 200 */
	dir = open(at("other/x"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 100; i++) {
		int next;

		ck_assert_int_eq(mkdirat(dir, name, 0700), 0);
		next = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = next;
	}
	close(dir);
	ck_assert_int_eq(ws_remove(base, "x", NULL), 0);
	ck_assert_int_ne(access(at("other/x"), F_OK), 0);
	ck_assert_int_eq(access(at("ws/keep"), F_OK), 0);
	ck_assert_int_eq(ws_remove(base, "x", NULL), 0);	/* is not there */
	close(base);
}
END_TEST

START_TEST(remove_does_not_follow_the_name_itself)
{
	int base = open(at("other"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	make_file("ws/keep", "x");
	make_link(at("ws"), "other/x");
	ck_assert_int_eq(ws_remove(base, "x", NULL), 0);
	ck_assert_int_ne(faccessat(base, "x", F_OK, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert_int_eq(access(at("ws/keep"), F_OK), 0);
	close(base);
}
END_TEST

START_TEST(begin_makes_a_closed_folder_and_end_removes_it)
{
	struct plain x = PLAIN_NONE;
	struct stat st;
	char path[PATH_MAX];

	h.uid = geteuid();
	plan_ok();
	(void)snprintf(path, sizeof(path), "%s/home", p.scratch);
	ck_assert_msg(plain_begin(&x, &p, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
	ck_assert_int_eq(plain_end(&x), 0);
	ck_assert_int_ne(access(p.scratch, F_OK), 0);
	ck_assert_int_eq(plain_end(&x), 0);
}
END_TEST

START_TEST(begin_removes_what_nobody_holds_and_leaves_the_rest)
{
	struct plain one = PLAIN_NONE, two = PLAIN_NONE;
	char left[PATH_MAX];
	char *first;

	plan_ok();
	ck_assert_int_eq(plain_begin(&one, &p, &e), 0);
	first = strdup(p.scratch);
	(void)snprintf(left, sizeof(left), "%.*s/1-left", (int)(strrchr(first, '/') - first), first);
	ck_assert_int_eq(mkdir(left, 0700), 0);
	one.plan = NULL;	/* the plan is made anew; the lock stays */
	plan_ok();
	ck_assert_int_eq(plain_begin(&two, &p, &e), 0);
	ck_assert_int_ne(access(left, F_OK), 0);
	ck_assert_int_eq(access(first, F_OK), 0);
	ck_assert_int_eq(plain_end(&two), 0);
	ak_fd_close(&one.scratch);
	ak_fd_close(&one.base);
	free(first);
}
END_TEST

START_TEST(begin_refuses_a_folder_that_others_may_use)
{
	struct plain x = PLAIN_NONE;

	plan_ok();
	make_dir("home/.local/state/ak/" PLAN_SCRATCH_DIR);
	ck_assert_int_eq(chmod(at("home/.local/state/ak/" PLAN_SCRATCH_DIR), 0777), 0);
	ck_assert_int_eq(plain_begin(&x, &p, &e), -EPERM);
	(void)plain_end(&x);
}
END_TEST

/* --- openat2 by steps --- */

static int by_kernel(int dir, const char *path, const struct ak_open_how *how)
{
	int fd = -1;

	errno = EAGAIN;	/* somebody else renamed or mounted something */
	while (fd < 0 && errno == EAGAIN)
		fd = (int)syscall(SYS_openat2, dir, path, how, sizeof(*how));
	return fd < 0 ? -errno : fd;
}

/* inside a sandbox of ak's the call is refused */
static bool kernel_opens(void)
{
	struct ak_open_how how = {.flags = O_PATH | O_CLOEXEC};
	int fd = by_kernel(AT_FDCWD, "/", &how);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

START_TEST(steps_find_what_the_kernel_finds)
{
	static const char *const paths[] = {
		"a", "a/b", "a/b/f", "a/./b//f", "a/b/", "./a", ".", "a/..", "a/b/../b/f", "..", "../a", "/a", "/a/b/f", "/", "link", "link/f",
		"a/up/b/f", "abs", "abs/f", "loop", "loop/x", "none", "none/x", "a/none", "f/x", "f/", "out", "deep/link/b/f", "a/b/f/", "chain",
		"file", "file/", "file/x", "to-file", "a/b/../../file",
	};
	static const uint64_t resolves[] = {AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_BENEATH, AK_RESOLVE_IN_ROOT,
					    AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_NO_MAGICLINKS,
					    AK_RESOLVE_NO_SYMLINKS | AK_RESOLVE_BENEATH | AK_RESOLVE_NO_XDEV};
	static const uint64_t flags[] = {O_PATH, O_RDONLY, O_PATH | O_NOFOLLOW, O_RDONLY | O_NOFOLLOW, O_RDONLY | O_DIRECTORY,
					 O_PATH | O_DIRECTORY, O_PATH | O_DIRECTORY | O_NOFOLLOW, O_RDONLY | O_DIRECTORY | O_NOFOLLOW};
	int dir;

	if (!kernel_opens()) {
		printf("not tested here: the steps of openat2 beside the kernel's, which a filter refuses\n");
		return;
	}
	make_dir("other/a/b");
	make_dir("other/deep");
	make_file("other/a/b/f", "x");
	make_file("other/f", "x");
	make_link("a/b", "other/link");
	make_link("..", "other/a/up");
	make_link("/a/b", "other/abs");
	make_link("loop", "other/loop");
	make_link("../../../../..", "other/out");
	make_link("../a", "other/deep/link");
	make_link("deep/link/../abs", "other/chain");
	make_link("a/b/f", "other/file");
	make_link("deep/../file", "other/to-file");
	dir = open(at("other"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < LEN(paths) * LEN(resolves) * LEN(flags); i++) {
		const char *path = paths[i % LEN(paths)];
		struct ak_open_how how = {.flags = flags[i / LEN(paths) / LEN(resolves)] | O_CLOEXEC,
					  .resolve = resolves[i / LEN(paths) % LEN(resolves)]};
		bool up = strstr(path, "..") && !(how.resolve & (AK_RESOLVE_IN_ROOT | AK_RESOLVE_BENEATH));
		int k = by_kernel(dir, path, &how), s = sys_openat2_steps(dir, path, &how);

		/* stricter than the kernel: ".." where no link may be followed */
		if (s == -EXDEV && (up || (how.resolve & AK_RESOLVE_BENEATH)))
			ck_assert_msg(strstr(path, "..") || path[0] == '/', "%s", path);
		else if (k >= 0)
			ck_assert_msg(s >= 0 && same_file(k, s), "%s with %#llx, %#llx: %d", path, (unsigned long long)how.flags,
				      (unsigned long long)how.resolve, s);
		else
			ck_assert_msg(s < 0 && (s == k || k == -EXDEV || k == -ENOTDIR), "%s with %#llx, %#llx: %d, kernel %d",
				      path, (unsigned long long)how.flags, (unsigned long long)how.resolve, s, k);
		if (k >= 0)
			close(k);
		if (s >= 0)
			close(s);
	}
	close(dir);
}
END_TEST

START_TEST(steps_stay_on_a_mount)
{
	struct ak_open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = AK_RESOLVE_NO_XDEV | AK_RESOLVE_NO_SYMLINKS};
	int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	ck_assert_int_eq(sys_openat2_steps(slash, "proc", &how), -EXDEV);
	ck_assert_int_eq(sys_openat2_steps(slash, "proc/1", &how), -EXDEV);
	fd = sys_openat2_steps(proc, "1", &how);
	ck_assert_int_ge(fd, 0);
	close(fd);
	close(slash);
	close(proc);
}
END_TEST

START_TEST(steps_make_a_file_but_not_through_a_link)
{
	struct ak_open_how how = {.flags = O_WRONLY | O_CREAT | O_CLOEXEC, .mode = 0600, .resolve = AK_RESOLVE_NO_SYMLINKS};
	int fd = sys_openat2_steps(AT_FDCWD, at("other/new"), &how);

	ck_assert_int_ge(fd, 0);
	close(fd);
	make_link("new", "other/to");
	ck_assert_int_eq(sys_openat2_steps(AT_FDCWD, at("other/to"), &how), -ELOOP);
	make_link("other", "way");
	ck_assert_int_eq(sys_openat2_steps(AT_FDCWD, at("way/new"), &how), -ELOOP);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plain");
	TCase *t = tcase_create("plain");
	SRunner *sr;
	int failed;

	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, setup, fixture_teardown);
	tcase_add_test(t, only_what_is_shown_has_a_rule);
	tcase_add_test(t, home_and_tmpdir_lie_in_the_private_folder);
	tcase_add_test(t, a_read_only_workspace_has_no_right_to_write);
	tcase_add_test(t, what_is_hidden_below_a_readable_place_costs_it_its_rule);
	tcase_add_test(t, secrets_of_a_home_that_is_shown_are_left_out);
	tcase_add_test(t, options_that_need_mounts_are_refused_by_name);
	tcase_add_test(t, a_place_below_a_writable_one_cannot_be_less);
	tcase_add_test(t, root_and_homes_are_refused);
	tcase_add_test(t, the_net_against_fork_bombs_is_over_what_runs_now);
	tcase_add_test(t, remove_takes_deep_closed_and_linked_trees);
	tcase_add_test(t, remove_does_not_follow_the_name_itself);
	tcase_add_test(t, begin_makes_a_closed_folder_and_end_removes_it);
	tcase_add_test(t, begin_removes_what_nobody_holds_and_leaves_the_rest);
	tcase_add_test(t, begin_refuses_a_folder_that_others_may_use);
	tcase_add_test(t, steps_find_what_the_kernel_finds);
	tcase_add_test(t, steps_stay_on_a_mount);
	tcase_add_test(t, steps_make_a_file_but_not_through_a_link);
	suite_add_tcase(s, t);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
