/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the plan: the user's mounts, hides, --rootfs. */
#include "plan_fixture.h"

/* --- the user's mounts
 * ------------------------------------------------------------------------------------------------ */

START_TEST(the_most_specific_path_wins_whatever_the_order)
{
	make_dir("other/a/b");
	for (int order = 0; order < 2; order++) {
		o.nbinds = 0;
		add_bind(order ? BIND_RW : BIND_RO, order ? "--rw" : "--ro",
			 at(order ? "other/a/b" : "other"), NULL);
		add_bind(order ? BIND_RO : BIND_RW, order ? "--ro" : "--rw",
			 at(order ? "other" : "other/a/b"), NULL);
		plan_ok();
		ck_assert_uint_lt(index_of(need(at("other"), PM_BIND)),
				  index_of(need(at("other/a/b"), PM_BIND)));
		ck_assert_uint_eq(need(at("other"), PM_BIND)->flags, PMF_USER | PMF_IDMAP | PMF_RO);
		ck_assert_uint_eq(need(at("other/a/b"), PM_BIND)->flags,
				  PMF_USER | PMF_IDMAP | PMF_TARGET_EXISTS);
		parents_come_first();
	}
}
END_TEST

START_TEST(a_workspace_below_a_bind_stays_itself)
{
	add_bind(BIND_RO, "--ro", top, NULL);
	plan_ok();
	ck_assert_uint_lt(index_of(need(top, PM_BIND)), index_of(need(at("ws"), PM_BIND)));
	ck_assert_uint_eq(need(at("ws"), PM_BIND)->flags & PMF_RO, 0);
	ck_assert_uint_lt(index_of(need(top, PM_BIND)), index_of(need(at("home"), PM_TMPFS)));
}
END_TEST

START_TEST(two_mounts_on_one_target_are_a_mistake)
{
	add_bind(BIND_RO, "--ro", at("other"), "/x");
	add_bind(BIND_TMPFS, "--tmpfs", NULL, "/x/");
	plan_refused(EEXIST, "--ro and --tmpfs are both for \"/x\"");
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro", ".", NULL);
	plan_refused(EEXIST, "the workspace and --ro");
	ck_assert_ptr_nonnull(strstr(e.hint, "--write none"));
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro", at("other"), NULL);
	add_bind(BIND_HIDE, "--hide", NULL, at("other"));
	plan_refused(EEXIST, "--ro and --hide");
}
END_TEST

START_TEST(a_bind_replaces_a_mount_of_ours)
{
	const char *const targets[] = {"/tmp", "/run", "/var/tmp", "/var/run", at("home")};

	o.workspace = (char *)"/mnt"; /* not below any of them */
	o.workspace_given = true;
	for (size_t i = 0; i < LEN(targets); i++) {
		const char *dst = strcmp(targets[i], "/var/run") == 0 ? "/run" : targets[i];
		size_t found = 0;

		o.nbinds = 0;
		add_bind(BIND_RO, "--ro", at("other"), targets[i]);
		plan_ok();
		for (size_t k = 0; k < p.nmounts; k++)
			found += strcmp(p.mounts[k].dst, dst) == 0;
		ck_assert_msg(found == 1, "%zu mounts at %s", found, dst);
		ck_assert_str_eq(need(dst, PM_BIND)->src, at("other"));
	}
}
END_TEST

static void make_repository(const char *name)
{
	static const char *const parts[] = {"hooks", "HEAD", "config"};
	char path[256];

	for (size_t i = 0; i < LEN(parts); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", name, parts[i]);
		if (i == 0)
			make_dir(path);
		else
			make_file(path, "x\n");
	}
}

START_TEST(GIT_05_a_repository_that_is_shown_writable_keeps_its_hooks_and_configuration)
{
	static char allow_all[] = ".git", allow_hooks[] = ".git/hooks";
	char *allow[] = {allow_all, NULL};

	make_repository("other/.git");
	make_repository("bare");
	add_bind(BIND_RW, "--rw", strdup(at("other")), "/mnt/o");
	add_bind(BIND_RW, "--rw", strdup(at("bare")), NULL);
	plan_ok();
	ck_assert_uint_eq(need("/mnt/o/.git/hooks", PM_BIND)->flags & (PMF_RO | PMF_FILE), PMF_RO);
	ck_assert_uint_eq(need("/mnt/o/.git/config", PM_BIND)->flags & (PMF_RO | PMF_FILE), PMF_RO | PMF_FILE);
	ck_assert_uint_eq(need("/mnt/o/.git", PM_BIND)->flags & PMF_RO, 0); /* pinned: it cannot be renamed away */
	need(at("bare/hooks"), PM_BIND);
	need(at("bare/config"), PM_BIND);
	o.allow_protected = allow;
	plan_ok();
	ck_assert_ptr_null(mount_at("/mnt/o/.git/hooks"));
	ck_assert_ptr_null(mount_at(at("bare/config")));
	allow[0] = allow_hooks;
	plan_ok();
	ck_assert_ptr_null(mount_at(at("bare/hooks")));
	need(at("bare/config"), PM_BIND);
	o.allow_protected = NULL;
	free(binds[0].src);
	free(binds[1].src);
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro", at("bare"), NULL);
	plan_ok();
	ck_assert_ptr_null(mount_at(at("bare/hooks")));
}
END_TEST

START_TEST(targets_below_a_direct_workspace_must_exist)
{
	add_bind(BIND_RO, "--ro", at("other"), "sub/none");
	plan_refused(ENOENT, "the target does not exist");
	ck_assert_ptr_nonnull(strstr(e.hint, "mkdir"));
	o.nbinds = 0;
	add_bind(BIND_TMPFS, "--tmpfs", NULL, "none");
	plan_refused(ENOENT, "--tmpfs");
	make_dir("ws/sub");
	o.nbinds = 0;
	add_bind(BIND_TMPFS, "--tmpfs", NULL, "sub");
	plan_ok();
	ck_assert_uint_ne(need(at("ws/sub"), PM_TMPFS)->flags & PMF_TARGET_EXISTS, 0);
	ck_assert_int_eq(access(at("ws/none"), F_OK), -1);
}
END_TEST

START_TEST(a_target_through_a_link_is_refused_or_means_what_the_link_means)
{
	make_link(at("other"), "ws/link");
	make_link("/var/tmp/v", "ws/out");
	add_bind(BIND_RO, "--ro", at("home"), "out/new");
	plan_refused(ELOOP, "symbolic link");
	o.nbinds = 0;
	add_bind(BIND_RW, "--rw", "link", NULL);
	plan_refused(ELOOP, "symbolic link");
	o.nbinds = 0;
	add_bind(BIND_RW, "--rw", at("other"), "link");
	plan_ok();
	ck_assert_str_eq(need(at("other"), PM_BIND)->src, at("other"));
	ck_assert_ptr_null(mount_at(at("ws/link")));
}
END_TEST

START_TEST(links_of_the_root_view_are_followed_in_targets)
{
	add_bind(BIND_RO, "--ro", at("other"), "/var/run/x");
	add_bind(BIND_RO, "--ro", at("home"), "/mnt/../srv/./y/");
	plan_ok();
	need("/run/x", PM_BIND);
	need("/srv/y", PM_BIND);
}
END_TEST

START_TEST(kinds_of_source_and_target_must_agree)
{
	make_file("file", "");
	make_dir("ws/sub");
	make_file("ws/f", "");
	add_bind(BIND_RO, "--ro", at("file"), "sub");
	plan_refused(EISDIR, "--ro");
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro", at("other"), "f");
	plan_refused(ENOTDIR, "--ro");
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro", at("file"), "f");
	plan_ok();
	ck_assert_uint_ne(need(at("ws/f"), PM_BIND)->flags & PMF_FILE, 0);
}
END_TEST

START_TEST(a_missing_source_is_an_error_unless_it_may_be)
{
	add_bind(BIND_RO, "--ro", at("none"), NULL);
	plan_refused(ENOENT, "--ro \"");
	ck_assert_ptr_nonnull(strstr(e.hint, "--ro-try"));
	o.nbinds = 0;
	add_bind(BIND_RW, "--rw-try", at("none"), NULL);
	binds[0].optional = true;
	plan_ok();
	ck_assert_ptr_null(mount_at(at("none")));
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro-try", at("other"), NULL);
	binds[0].optional = true;
	plan_ok();
	ck_assert_uint_ne(need(at("other"), PM_BIND)->flags & PMF_OPTIONAL, 0);
}
END_TEST

START_TEST(sources_and_targets_that_lead_out_are_refused)
{
	static const struct {
		enum bind_kind kind;
		const char *src, *dst;
	} rows[] = {
		{BIND_RO, "/usr", "/"},		{BIND_RO, "/usr", "/proc"},  {BIND_RO, "/usr", "/proc/x"},
		{BIND_RO, "/usr", "/sys"},	{BIND_RO, "/usr", "/dev/x"}, {BIND_RO, "/usr", "/mnt/../dev"},
		{BIND_RO, "/proc", "/x"},	{BIND_RO, "/proc/1", "/x"},  {BIND_RW, "/", "/host"},
		{BIND_TMPFS, NULL, "/dev/shm"}, {BIND_RW, "/", NULL},	     {BIND_RO, "/usr", "/etc/mtab"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		o.nbinds = 0;
		add_bind(rows[i].kind, "--opt", rows[i].src, rows[i].dst);
		plan_refused(EPERM, "--opt \"");
	}
	make_dir("home/.config/ak");
	o.nbinds = 0;
	add_bind(BIND_RW, "--rw", at("home/.config/ak"), NULL);
	plan_refused(EPERM, "ak's own");
	/* a socket there can be connected to through a read-only mount as well */
	make_dir("home/.local/state/ak/run/box.d");
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro", at("home/.local/state/ak/run/box.d"), "/q");
	plan_refused(EPERM, "ak's own");
	o.nbinds = 0;
	o.rootfs = at("home/.local/state/ak/run");
	plan_refused(EPERM, "ak's own");
	o.rootfs = NULL;
}
END_TEST

START_TEST(a_bind_of_the_whole_host_has_its_kernel_files_hidden)
{
	make_dir("home/.ssh");
	make_dir("home/.config/ak");
	add_bind(BIND_RO, "--ro", "/", "/host");
	plan_ok();
	need("/host/proc", PM_HIDE);
	need("/host/dev", PM_HIDE);
	char path[PATH_MAX];

	ck_assert_int_lt(snprintf(path, sizeof(path), "/host%s", at("home/.ssh")), PATH_MAX);
	need(path, PM_HIDE);
	ck_assert_int_lt(snprintf(path, sizeof(path), "/host%s", at("home/.config/ak")), PATH_MAX);
	need(path, PM_HIDE);
}
END_TEST

START_TEST(a_secret_that_is_named_is_shown)
{
	make_dir("home/.ssh");
	make_dir("home/.aws");
	add_bind(BIND_RO, "--ro", at("home"), NULL);
	add_bind(BIND_RO, "--ro", at("home/.ssh"), NULL);
	plan_ok();
	need(at("home/.ssh"), PM_BIND);
	need(at("home/.aws"), PM_HIDE);
}
END_TEST

/* A device that is none of the sandbox's own, or NULL */
static const char *some_device(void)
{
	static const char *const names[] = {"/dev/console", "/dev/kmsg", "/dev/loop0", "/dev/tty0",
					    "/dev/kvm"};
	struct stat st;

	for (size_t i = 0; i < LEN(names); i++) {
		if (lstat(names[i], &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
			return names[i];
	}
	return NULL;
}

START_TEST(only_devices_below_dev_are_shown_as_devices)
{
	const char *device = some_device();

	make_file("file", "");
	if (device) {
		add_bind(BIND_DEV, "--dev", device, device);
		plan_ok();
		ck_assert_str_eq(need(device, PM_DEVNODE)->src, device);
	} else {
		puts("not tested: --dev of a device that exists (none found)");
	}
	o.nbinds = 0;
	add_bind(BIND_DEV, "--dev", "/dev/full", "/dev/full");
	plan_ok();
	ck_assert_ptr_null(mount_at("/dev/full"));
	o.nbinds = 0;
	add_bind(BIND_DEV, "--dev", at("file"), at("file"));
	plan_refused(EINVAL, "is not a device");
	o.nbinds = 0;
	add_bind(BIND_DEV, "--dev", "/dev/none", "/dev/none");
	plan_refused(ENOENT, "--dev");
	o.nbinds = 0;
	add_bind(BIND_DEV, "--dev", "/dev/ptmx", "/dev/ptmx");
	plan_refused(EPERM, "--dev");
}
END_TEST

START_TEST(a_target_in_a_system_folder_opens_that_folder_up)
{
	add_bind(BIND_RO, "--ro", at("other"), "/usr/local/ak-none/x");
	plan_ok();
	need("/usr", PM_DIR);
	need("/usr/local", PM_DIR);
	need("/usr/lib", PM_BIND);
	need("/usr/local/bin", PM_BIND);
	ck_assert_uint_eq(need("/usr/local/ak-none/x", PM_BIND)->flags & PMF_TARGET_EXISTS, 0);
	parents_come_first();
}
END_TEST

START_TEST(tmpfs_takes_the_size_asked_for)
{
	add_bind(BIND_TMPFS, "--tmpfs", NULL, "/x");
	binds[0].size_bytes = 4096;
	add_bind(BIND_TMPFS, "--tmpfs", NULL, "/y");
	plan_ok();
	ck_assert_uint_eq(need("/x", PM_TMPFS)->size_bytes, 4096);
	ck_assert_uint_eq(need("/x", PM_TMPFS)->mode, 0755);
	ck_assert_uint_eq(need("/y", PM_TMPFS)->size_bytes, 512u << 20);
}
END_TEST

/* --- hides
 * ------------------------------------------------------------------------------------------------------------
 */

START_TEST(a_hide_covers_what_exists)
{
	make_file("ws/.env", "");
	make_file("ws/real", "");
	make_link("real", "ws/link");
	make_dir("ws/dir");
	add_bind(BIND_HIDE, "--hide", NULL, ".env");
	add_bind(BIND_HIDE, "--hide", NULL, at("ws/none/x"));
	add_bind(BIND_HIDE, "--hide", NULL, "link");
	add_bind(BIND_HIDE, "--hide", NULL, "dir");
	add_bind(BIND_HIDE, "--hide", NULL, "dir");
	add_bind(BIND_HIDE, "--hide", NULL, "/proc/cpuinfo");
	plan_ok();
	ck_assert_uint_eq(need(at("ws/.env"), PM_HIDE)->flags, PMF_USER | PMF_FILE | PMF_TARGET_EXISTS);
	ck_assert_ptr_null(mount_at(at("ws/none/x")));
	need(at("ws/real"), PM_HIDE);
	ck_assert_ptr_null(mount_at(at("ws/link")));
	need("/proc/cpuinfo", PM_HIDE);
	need(at("ws/dir"), PM_HIDE);
	for (size_t i = 1; i < p.nmounts; i++) {
		ck_assert(p.mounts[i - 1].kind != PM_HIDE || p.mounts[i].kind == PM_HIDE);
		ck_assert(p.mounts[i - 1].kind != PM_HIDE ||
			  strcmp(p.mounts[i - 1].dst, p.mounts[i].dst) != 0);
	}
}
END_TEST

START_TEST(a_hidden_folder_still_leads_to_what_was_asked_for)
{
	free(h.cwd);
	make_dir("home/ws/.github");
	make_tool("home/.cargo/bin");
	h.cwd = strdup(at("home/ws"));
	h.path = strdup(at("home/.cargo/bin"));
	plan_ok();
	need(at("home/.cargo"), PM_BIND);
	add_bind(BIND_HIDE, "--hide", NULL, at("home"));
	plan_ok();
	free(h.path);

	const struct plan_mount *m = need(at("home"), PM_TMPFS);

	for (size_t i = 0; i < index_of(m); i++)
		ck_assert_str_ne(p.mounts[i].dst, at("home"));
	ck_assert_ptr_null(mount_at(at("home/.cargo")));
	ck_assert_uint_eq(m->flags, PMF_RO | PMF_USER);
	ck_assert_uint_lt(index_of(m), index_of(need(at("home/ws"), PM_BIND)));
	ck_assert_uint_eq(need(at("home/ws"), PM_BIND)->flags & PMF_TARGET_EXISTS, 0);
	ck_assert_uint_ne(need(at("home/ws/.github"), PM_BIND)->flags & PMF_TARGET_EXISTS, 0);
}
END_TEST

START_TEST(a_cover_makes_the_targets_inside_it)
{
	make_dir("other/a/b");
	add_bind(BIND_RO, "--ro", at("other"), NULL);
	add_bind(BIND_HIDE, "--hide", NULL, at("other/a"));
	add_bind(BIND_RO, "--ro", at("other/a/b"), NULL);
	plan_ok();
	need(at("other/a"), PM_TMPFS);
	ck_assert_uint_eq(need(at("other/a/b"), PM_BIND)->flags & PMF_TARGET_EXISTS, 0);
	parents_come_first();
	add_bind(BIND_RO, "--ro", at("other"), "/x/y/z");
	add_bind(BIND_HIDE, "--hide", NULL, "/x/y");
	plan_ok();
	ck_assert_uint_ne(need("/x/y", PM_TMPFS)->flags & PMF_RO, 0);
}
END_TEST

START_TEST(what_each_process_has_for_itself_is_not_hidden)
{
	static const char *const refused[] = {"/proc/self",	 "/proc/self/status", "/proc/thread-self/comm", "/proc/mounts",
					      "/proc/net/dev", "/proc/2",	      "/proc/12/environ",	    "/dev/fd",
					      "/dev/stdin",	 "/proc/./self/../self/maps"};
	static const char *const accepted[] = {"/proc/1/status", "/proc/cpuinfo", "/proc/selfish", "/dev/null", "/proc/2x"};

	for (size_t i = 0; i < LEN(refused); i++) {
		o.nbinds = 0;
		add_bind(BIND_HIDE, "--hide", NULL, refused[i]);
		plan_refused(EINVAL, "belongs to one process");
	}
	for (size_t i = 0; i < LEN(accepted); i++) {
		o.nbinds = 0;
		add_bind(BIND_HIDE, "--hide", NULL, accepted[i]);
		plan_ok();
		need(accepted[i], PM_HIDE);
	}
}
END_TEST

START_TEST(what_nothing_can_run_without_is_not_hidden)
{
	const char *const paths[] = {"/", "/proc", "/dev", "/usr/.."};

	for (size_t i = 0; i < LEN(paths); i++) {
		o.nbinds = 0;
		add_bind(BIND_HIDE, "--hide", NULL, paths[i]);
		plan_refused(EINVAL, "--hide \"/");
	}
}
END_TEST

/* --- rootfs
 * -----------------------------------------------------------------------------------------------------------
 */

static void make_rootfs(void)
{
	make_dir("R/usr/bin");
	make_dir("R/etc");
	make_dir("R/home");
	make_dir("R/var");
	make_link("usr/bin", "R/bin");
	make_link("/etc", "R/proc");
	make_dir("R/tmp/x");
	make_file("R/etc/passwd", "");
	o.rootfs = at("R");
}

START_TEST(a_rootfs_is_shown_entry_by_entry)
{
	make_rootfs();
	plan_ok();
	ck_assert_int_eq(p.root, PLAN_ROOT_TMPFS);
	ck_assert_str_eq(p.rootfs, at("R"));
	ck_assert_str_eq(need("/usr", PM_BIND)->src, at("R/usr"));
	ck_assert_uint_ne(need("/usr", PM_BIND)->flags & PMF_RO, 0);
	ck_assert_str_eq(need("/bin", PM_SYMLINK)->src, "usr/bin");
	ck_assert_str_eq(need("/etc", PM_BIND)->src, at("R/etc"));
	need("/proc", PM_PROC);
	need("/tmp", PM_TMPFS);
	for (size_t i = 0; i < p.nmounts; i++)
		ck_assert(strcmp(p.mounts[i].dst, "/proc") != 0 || p.mounts[i].kind == PM_PROC);
	ck_assert_ptr_null(mount_at("/etc/passwd"));
	ck_assert_ptr_null(mount_at("/opt"));
	ck_assert_ptr_null(mount_at("/var/tmp"));
	ck_assert_str_eq(variable("PATH"), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	make_dir("R/var/tmp");
	plan_ok();
	ck_assert_uint_ne(need("/var/tmp", PM_TMPFS)->flags & PMF_TARGET_EXISTS, 0);
}
END_TEST

START_TEST(a_rootfs_is_opened_up_where_our_mounts_have_no_target)
{
	make_rootfs();
	make_dir("R/home/bob");
	free(h.home);
	h.home = strdup("/home/alice");
	plan_ok();
	need("/home", PM_DIR);
	need("/home/bob", PM_BIND);
	need("/home/alice", PM_TMPFS);
	parents_come_first();
}
END_TEST

START_TEST(links_of_a_rootfs_are_resolved_inside_it)
{
	make_rootfs();
	make_dir("R/data");
	make_link("/data", "R/srv");
	make_link("../../../../../data/deep", "R/data/up");
	add_bind(BIND_RO, "--ro", at("other"), "/srv/x");
	add_bind(BIND_RO, "--ro", at("home"), "/srv/up/y");
	plan_ok();
	need("/data/x", PM_BIND);
	need("/data/deep/y", PM_BIND);
	make_link("loop", "R/loop");
	o.nbinds = 0;
	add_bind(BIND_RO, "--ro", at("other"), "/loop/x");
	plan_refused(ELOOP, "--ro");
}
END_TEST

START_TEST(a_writable_rootfs_is_an_overlay)
{
	make_rootfs();
	o.rootfs_write = ROOTFS_WRITE_TMP;
	plan_ok();
	ck_assert_int_eq(p.root, PLAN_ROOT_OVERLAY);
	ck_assert_uint_eq(p.root_size_bytes, 512u << 20);
	ck_assert_ptr_null(mount_at("/usr"));
	need("/proc", PM_PROC);
	need(at("ws"), PM_BIND);
	ck_assert_uint_eq(p.paths[0].access, INIT_PATH_RW);
	ck_assert_str_eq(p.paths[0].path, "/");
}
END_TEST

START_TEST(a_foreign_folder_of_an_overlay_is_covered_to_make_room)
{
	make_rootfs();
	make_dir("R/home/bob");
	o.rootfs_write = ROOTFS_WRITE_TMP;
	free(h.home);
	h.home = strdup("/home/alice");
	h.uid = geteuid();
	h.gid = getegid();
	plan_ok();
	ck_assert_ptr_null(mount_at("/home"));
	need("/home/alice", PM_TMPFS);
	h.uid = geteuid() + 1;
	plan_ok();
	need("/home", PM_TMPFS);
	ck_assert_uint_eq(need("/home/bob", PM_BIND)->flags & PMF_RO, PMF_RO);
	need("/home/alice", PM_TMPFS);
	parents_come_first();
}
END_TEST

START_TEST(a_rootfs_that_cannot_be_is_an_error)
{
	o.rootfs = at("none");
	plan_refused(ENOENT, "--rootfs \"");
	make_file("file", "");
	o.rootfs = at("file");
	plan_refused(ENOTDIR, "--rootfs \"");
	o.rootfs = (char *)"/";
	plan_refused(EPERM, "--rootfs \"/\"");
	o.rootfs = (char *)"host";
	plan_ok();
	o.rootfs_write = ROOTFS_WRITE_TMP;
	plan_refused(EINVAL, "--rootfs-write");
	o.rootfs = NULL;
	plan_refused(EINVAL, "--rootfs-write");
}
END_TEST

/* --- --disk
 * -----------------------------------------------------------------------------------------------------------
 */

/* of all places that can be written to; the covers of hidden folders are read-only */
static uint64_t private_bytes(void)
{
	uint64_t sum = p.root == PLAN_ROOT_OVERLAY ? p.root_size_bytes : 0;

	for (size_t i = 0; i < p.nmounts; i++)
		if ((p.mounts[i].kind == PM_TMPFS && !(p.mounts[i].flags & PMF_RO)) || p.mounts[i].kind == PM_DEV)
			sum += p.mounts[i].size_bytes;
	return sum;
}

START_TEST(disk_is_the_sum_of_the_private_file_systems)
{
	uint64_t all;

	o.write = WRITE_NONE;
	plan_ok();
	all = private_bytes();
	o.disk_bytes = all;
	plan_ok();
	ck_assert_uint_eq(private_bytes(), all);
	o.disk_bytes = 20u << 20;
	plan_ok();
	ck_assert_uint_le(private_bytes(), 20u << 20);
	ck_assert_uint_gt(private_bytes(), 19u << 20);
	ck_assert_uint_gt(need("/tmp", PM_TMPFS)->size_bytes, need("/run", PM_TMPFS)->size_bytes);
}
END_TEST

START_TEST(sizes_that_were_asked_for_count_first)
{
	o.write = WRITE_NONE;
	add_bind(BIND_TMPFS, "--tmpfs", NULL, "/scratch");
	binds[0].size_bytes = 8u << 20;
	o.disk_bytes = 20u << 20;
	plan_ok();
	ck_assert_uint_eq(need("/scratch", PM_TMPFS)->size_bytes, 8u << 20);
	ck_assert_uint_le(private_bytes(), 20u << 20);
	o.disk_bytes = 8u << 20;
	plan_refused(EINVAL, "--disk 8388608: too small");
	o.disk_bytes = 1;
	plan_refused(EINVAL, "--disk 1: too small");
}
END_TEST

START_TEST(what_is_written_to_the_hosts_disk_cannot_be_counted)
{
	o.disk_bytes = 20u << 20;
	plan_refused(EOPNOTSUPP, "--disk: the workspace");
	ck_assert_ptr_nonnull(strstr(e.hint, "--write none"));
	o.write = WRITE_NONE;
	make_dir("other");
	add_bind(BIND_RO, "--ro", at("other"), NULL);
	plan_ok();
	o.nbinds = 0;
	add_bind(BIND_RW, "--rw", at("other"), NULL);
	plan_refused(EOPNOTSUPP, "other");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan_binds");
	const struct {
		const char *name;
		const TTest *tests[16];
	} cases[] = {
		{"binds",
		 {
			 the_most_specific_path_wins_whatever_the_order,
			 a_workspace_below_a_bind_stays_itself,
			 two_mounts_on_one_target_are_a_mistake,
			 a_bind_replaces_a_mount_of_ours,
			 targets_below_a_direct_workspace_must_exist, GIT_05_a_repository_that_is_shown_writable_keeps_its_hooks_and_configuration,
			 a_target_through_a_link_is_refused_or_means_what_the_link_means,
			 links_of_the_root_view_are_followed_in_targets,
			 kinds_of_source_and_target_must_agree,
			 a_missing_source_is_an_error_unless_it_may_be,
			 sources_and_targets_that_lead_out_are_refused,
			 a_bind_of_the_whole_host_has_its_kernel_files_hidden,
			 a_secret_that_is_named_is_shown,
			 only_devices_below_dev_are_shown_as_devices,
			 a_target_in_a_system_folder_opens_that_folder_up,
			 tmpfs_takes_the_size_asked_for,
		 }},
		{"disk",
		 {
			 disk_is_the_sum_of_the_private_file_systems,
			 sizes_that_were_asked_for_count_first,
			 what_is_written_to_the_hosts_disk_cannot_be_counted,
		 }},
		{"hides",
		 {
			 a_hide_covers_what_exists,
			 a_hidden_folder_still_leads_to_what_was_asked_for,
			 a_cover_makes_the_targets_inside_it,
			 what_nothing_can_run_without_is_not_hidden,
			 what_each_process_has_for_itself_is_not_hidden,
		 }},
		{"rootfs",
		 {
			 a_rootfs_is_shown_entry_by_entry,
			 a_rootfs_is_opened_up_where_our_mounts_have_no_target,
			 links_of_a_rootfs_are_resolved_inside_it,
			 a_writable_rootfs_is_an_overlay,
			 a_foreign_folder_of_an_overlay_is_covered_to_make_room,
			 a_rootfs_that_cannot_be_is_an_error,
		 }},
	};

	for (size_t i = 0; i < LEN(cases); i++) {
		TCase *t = tcase_create(cases[i].name);

		tcase_add_checked_fixture(t, fixture_setup, fixture_teardown);
		for (size_t k = 0; k < LEN(cases[i].tests) && cases[i].tests[k]; k++)
			tcase_add_test(t, cases[i].tests[k]);
		suite_add_tcase(s, t);
	}

	SRunner *r = srunner_create(s);

	srunner_run_all(r, CK_ENV);

	int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed != 0;
}
