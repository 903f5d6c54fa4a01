/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the plan: mounts, workspace, identity, limits. */
#include "plan_fixture.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "executor/shared/ak_buf.h"

/* --- the root view
 * ---------------------------------------------------------------------------------------------------- */

START_TEST(the_usual_plan_has_its_parts_in_order)
{
	const struct plan_mount *m;

	plan_ok();
	ck_assert_int_eq(p.root, PLAN_ROOT_TMPFS);
	ck_assert_ptr_null(p.rootfs);
	m = need("/usr", PM_BIND);
	ck_assert_uint_eq(m->flags, PMF_RO | PMF_SYSTEM);
	ck_assert_uint_lt(index_of(m), index_of(need("/proc", PM_PROC)));
	m = need("/dev", PM_DEV);
	ck_assert_uint_eq(m->size_bytes, 64u << 20);
	ck_assert_uint_lt(index_of(need("/proc", PM_PROC)), index_of(m));
	ck_assert_uint_lt(index_of(m), index_of(need("/tmp", PM_TMPFS)));
	m = need(at("home"), PM_TMPFS);
	ck_assert_uint_eq(m->mode, 0700);
	ck_assert_uint_eq(m->size_bytes, 512u << 20);
	ck_assert_uint_eq(m->inodes, 131072);
	m = need(at("ws"), PM_BIND);
	ck_assert_uint_eq(m->flags, PMF_WORKSPACE | PMF_IDMAP);
	ck_assert_str_eq(m->src, at("ws"));
	ck_assert_str_eq(p.workspace, at("ws"));
	ck_assert_str_eq(p.cwd, at("ws"));
	ck_assert_str_eq(p.hostname, "sandbox");
	for (size_t i = 0; i < p.nmounts; i++)
		ck_assert_int_eq(p.mounts[i].src_fd, -1);
	parents_come_first();
}
END_TEST

START_TEST(private_tmpfs_mounts_have_their_modes_and_bounds)
{
	plan_ok();
	ck_assert_uint_eq(need("/tmp", PM_TMPFS)->mode, 01777);
	ck_assert_uint_eq(need("/tmp", PM_TMPFS)->inodes, 131072);
	ck_assert_uint_eq(need("/var/tmp", PM_TMPFS)->mode, 01777);
	ck_assert_uint_eq(need("/var/tmp", PM_TMPFS)->size_bytes, 256u << 20);
	ck_assert_uint_eq(need("/run", PM_TMPFS)->mode, 0755);
	ck_assert_uint_eq(need("/run", PM_TMPFS)->size_bytes, 16u << 20);
	ck_assert_uint_eq(need("/run", PM_TMPFS)->inodes, 8192);
	ck_assert_uint_lt(index_of(need("/run", PM_TMPFS)), index_of(need("/run/lock", PM_DIR)));
}
END_TEST

START_TEST(tmpfs_is_never_larger_than_the_memory)
{
	o.memory_bytes = (struct limit_opt){.given = true, .value = 8u << 20};
	plan_ok();
	for (size_t i = 0; i < p.nmounts; i++)
		ck_assert_uint_le(p.mounts[i].size_bytes, 8u << 20);
	o.memory_bytes = (struct limit_opt){.given = true, .max = true};
	plan_ok();
	ck_assert_uint_eq(need("/tmp", PM_TMPFS)->size_bytes, 512u << 20);
}
END_TEST

START_TEST(top_level_links_of_the_host_are_made_again)
{
	struct stat st;

	plan_ok();
	ck_assert_int_eq(lstat("/bin", &st), 0);
	if (S_ISLNK(st.st_mode))
		ck_assert_ptr_nonnull(strstr(need("/bin", PM_SYMLINK)->src, "usr/bin"));
	else
		ck_assert_uint_ne(need("/bin", PM_BIND)->flags & PMF_RO, 0);
	ck_assert_str_eq(need("/var/run", PM_SYMLINK)->src, "/run");
}
END_TEST

START_TEST(nothing_else_of_the_host_is_shown)
{
	static const char *const never[] = {
		"/etc/shadow", "/etc/machine-id", "/etc/ssh",	      "/etc/sudoers", "/etc/hostname",
		"/etc/apt",    "/etc/profile",	  "/etc/bash.bashrc", "/etc/npmrc",   "/etc/pip.conf",
		"/root",       "/boot",		  "/home/aktest1",    "/lost+found",
	};

	plan_ok();
	for (size_t i = 0; i < LEN(never); i++)
		ck_assert_msg(!mount_at(never[i]), "%s", never[i]);
	for (size_t i = 0; i < p.nmounts; i++) {
		const struct plan_mount *m = &p.mounts[i];

		if (m->kind == PM_BIND && !(m->flags & (PMF_WORKSPACE | PMF_PROTECT)))
			ck_assert_msg(m->flags & PMF_RO && m->flags & PMF_SYSTEM, "%s", m->dst);
	}
}
END_TEST

START_TEST(identity_files_name_only_those_inside)
{
	plan_ok();
	ck_assert_ptr_nonnull(strstr(need("/etc/passwd", PM_FILE)->src, "\nalice:x:1234:1235:alice:"));
	ck_assert_ptr_nonnull(strstr(need("/etc/passwd", PM_FILE)->src, "root:x:0:0:"));
	ck_assert_ptr_nonnull(strstr(need("/etc/passwd", PM_FILE)->src, "nobody:x:65534:"));
	ck_assert_ptr_nonnull(strstr(need("/etc/group", PM_FILE)->src, "\nalice:x:1235:\n"));
	ck_assert_ptr_nonnull(strstr(need("/etc/hosts", PM_FILE)->src, "127.0.0.1\tlocalhost sandbox\n"));
	ck_assert_str_eq(need("/etc/mtab", PM_SYMLINK)->src, "../proc/self/mounts");
	o.user_given = true;
	o.uid = 0;
	plan_ok();
	ck_assert_ptr_null(strstr(need("/etc/passwd", PM_FILE)->src, "alice"));
	ck_assert_ptr_eq(strstr(need("/etc/passwd", PM_FILE)->src, "root:x:0:1235:"),
			 need("/etc/passwd", PM_FILE)->src);
}
END_TEST

START_TEST(resolv_conf_only_with_the_hosts_network)
{
	plan_ok();
	ck_assert_ptr_null(mount_at("/etc/resolv.conf"));
	o.net = NET_HOST;
	plan_ok();
	if (access("/etc/resolv.conf", R_OK) == 0)
		need("/etc/resolv.conf", PM_FILE);
	else
		ck_assert(warned("resolv.conf"));
}
END_TEST

START_TEST(group_only_folders_of_the_host_are_hidden)
{
	struct stat st;

	/* what can be asked of any host: with supplementary groups nothing but hides is added, and only of
	 * system folders */
	plan_ok();
	size_t before = p.nmounts;

	h.ngroups = 2;
	plan_ok();
	ck_assert_uint_ge(p.nmounts + 8, before);
	for (size_t i = 0; i < p.nmounts; i++) {
		if (p.mounts[i].kind != PM_HIDE || strstr(p.mounts[i].dst, "/private"))
			continue;
		ck_assert_int_eq(lstat(p.mounts[i].dst, &st), 0);
		ck_assert_uint_ne((st.st_mode >> 3) & 5 & ~st.st_mode, 0);
	}
}
END_TEST

/* --- workspace
 * -------------------------------------------------------------------------------------------------------- */

START_TEST(a_missing_workspace_is_an_error)
{
	o.workspace = at("none");
	o.workspace_given = true;
	plan_refused(ENOENT, "workspace \"");
	make_file("file", "");
	o.workspace = at("file");
	plan_refused(ENOTDIR, "workspace \"");
}
END_TEST

START_TEST(a_deleted_current_directory_is_an_error_with_a_way_out)
{
	free(h.cwd);
	h.cwd = NULL;
	plan_refused(ENOENT, "the current directory no longer exists");
	ck_assert_ptr_nonnull(strstr(e.hint, "-C"));
	o.workspace = (char *)"relative";
	o.workspace_given = true;
	plan_refused(ENOENT, "the current directory no longer exists");
	o.workspace = at("ws");
	plan_ok();
}
END_TEST

START_TEST(a_workspace_may_have_any_name)
{
	const char *names[] = {"a b:c,d", "new\nline", "\xc3\xa9", "-x", "tab\there"};

	for (size_t i = 0; i < LEN(names); i++) {
		make_dir(names[i]);
		o.workspace = at(names[i]);
		o.workspace_given = true;
		plan_ok();
		ck_assert_str_eq(p.workspace, at(names[i]));
		need(at(names[i]), PM_BIND);
	}
}
END_TEST

START_TEST(the_workspace_is_resolved)
{
	o.workspace = at("ws/./../ws//");
	o.workspace_given = true;
	plan_ok();
	ck_assert_str_eq(p.workspace, at("ws"));
}
END_TEST

/* a command of an earlier run may have made the link */
START_TEST(a_link_that_a_sandbox_can_have_made_is_not_followed)
{
	make_link("ws", "link");
	o.workspace = at("link/");
	o.workspace_given = true;
	plan_refused(ELOOP, "symbolic link");
	/* nor where the user's own leads to it */
	make_link(at("link"), "home/mine");
	o.workspace = at("home/mine");
	plan_refused(ELOOP, at("link"));
	make_link(at("ws"), "home/link");
	o.workspace = at("home/link");
	plan_ok();
	ck_assert_str_eq(p.workspace, at("ws"));
}
END_TEST

static void in_folder(const char *name)
{
	free(h.cwd);
	h.cwd = strdup(at(name));
	ck_assert_int_eq(chdir(h.cwd), 0);
}

START_TEST(the_home_is_no_workspace_unless_named)
{
	in_folder("home");
	plan_refused(EPERM, "is a home folder");
	in_folder("");
	plan_refused(EPERM, "contains a home folder");
	o.workspace = at("home");
	o.workspace_given = true;
	plan_ok();
	ck_assert_uint_ne(need(at("home"), PM_BIND)->flags & PMF_WORKSPACE, 0);
	ck_assert_str_eq(p.home, at("home"));
}
END_TEST

START_TEST(a_workspace_that_holds_the_home_has_its_secrets_hidden)
{
	make_dir("home/.ssh");
	make_dir("home/.aws");
	make_dir("home/.config/gh");
	make_dir("home/.config/ak");
	make_dir("home/.local/state/ak");
	make_file("home/.netrc", "");
	make_file("home/.bash_history", "");
	o.workspace = at("");
	o.workspace_given = true;
	plan_ok();
	need(at("home/.ssh"), PM_HIDE);
	need(at("home/.aws"), PM_HIDE);
	need(at("home/.config/gh"), PM_HIDE);
	need(at("home/.config/ak"), PM_HIDE);
	need(at("home/.local/state/ak"), PM_HIDE);
	ck_assert_uint_ne(need(at("home/.netrc"), PM_HIDE)->flags & PMF_FILE, 0);
	need(at("home/.bash_history"), PM_HIDE);
	ck_assert_ptr_null(mount_at(at("home/.kube")));
	/* the folders above ak's own are pinned: renaming one would let a new one be made in its place */
	ck_assert_uint_eq(need(at("home"), PM_BIND)->flags, PMF_PROTECT | PMF_TARGET_EXISTS | PMF_OPTIONAL);
	ck_assert_uint_eq(need(at("home/.config"), PM_BIND)->flags, PMF_PROTECT | PMF_TARGET_EXISTS | PMF_OPTIONAL);
	ck_assert_uint_eq(need(at("home/.local/state"), PM_BIND)->flags, PMF_PROTECT | PMF_TARGET_EXISTS | PMF_OPTIONAL);
	ck_assert(!warned(".config/ak"));
}
END_TEST

START_TEST(own_folders_that_could_be_made_from_inside_are_named)
{
	o.workspace = at("home");
	o.workspace_given = true;
	plan_ok();
	ck_assert(warned("/home/.config/ak"));
}
END_TEST

START_TEST(own_folders_are_never_a_workspace)
{
	make_dir("home/.local/state/ak/x");
	o.workspace = at("home/.local/state/ak/x");
	o.workspace_given = true;
	plan_refused(EPERM, "ak's own");
	in_folder("home/.local/state");
	o.workspace = NULL;
	o.workspace_given = false;
	plan_refused(EPERM, "contains ak's own");
	o.workspace = at("home/.local/state");
	o.workspace_given = true;
	plan_ok();
	need(at("home/.local/state/ak"), PM_HIDE);
}
END_TEST

START_TEST(system_folders_are_never_a_workspace)
{
	static const char *const folders[] = {"/",    "/usr", "/etc",	  "/proc", "/proc/self", "/usr/bin", "/usr/local/lib", "/etc/ssl",
					      "/sys", "/dev", "/dev/shm", "/var",  "/run"};

	o.workspace_given = true;
	for (size_t i = 0; i < LEN(folders); i++) {
		o.workspace = (char *)folders[i];
		plan_refused(EPERM, "part of the system");
	}
	o.workspace = (char *)"/tmp";
	h.home[0] = '\0';
	snprintf(h.home, 3, "/h");
	plan_ok();
	ck_assert_uint_ne(need("/tmp", PM_BIND)->flags & PMF_WORKSPACE, 0);
}
END_TEST

START_TEST(write_none_is_a_read_only_workspace)
{
	make_file("ws/.env", "");
	o.write = WRITE_NONE;
	plan_ok();
	ck_assert_uint_ne(need(at("ws"), PM_BIND)->flags & PMF_RO, 0);
	ck_assert_ptr_null(mount_at(at("ws/.env")));
}
END_TEST

START_TEST(write_cow_is_an_overlay_without_protected_names)
{
	make_file("ws/.env", "");
	o.write = WRITE_COW;
	plan_ok();
	ck_assert_uint_eq(need(at("ws"), PM_BIND)->flags, PMF_WORKSPACE | PMF_IDMAP | PMF_COW);
	ck_assert_ptr_null(mount_at(at("ws/.env")));
	ck_assert(!p.allow_setid);	/* what is in the layer belongs to ids of the host */
	ck_assert_uint_eq(p.cow_disk_bytes, 0);
	ck_assert_int_eq(p.cow_layer_fd, -1);
}
END_TEST

START_TEST(disk_of_a_copy_is_what_private_file_systems_leave)
{
	uint64_t private = 0;

	o.write = WRITE_COW;
	o.disk_bytes = 64u << 20;
	plan_ok();
	for (size_t i = 0; i < p.nmounts; i++)
		if (p.mounts[i].kind == PM_DEV || (p.mounts[i].kind == PM_TMPFS && !(p.mounts[i].flags & PMF_RO)))
			private += p.mounts[i].size_bytes;
	ck_assert_uint_le(private, 32u << 20);
	ck_assert_uint_eq(p.cow_disk_bytes, (64u << 20) - private);
	for (size_t i = 0; i < p.nrlimits; i++)
		if (p.rlimits[i].resource == RLIMIT_FSIZE)
			ck_assert_uint_eq(p.rlimits[i].hard, p.cow_disk_bytes);
	o.fsize_bytes = 4096;
	plan_ok();
	for (size_t i = 0; i < p.nrlimits; i++)
		if (p.rlimits[i].resource == RLIMIT_FSIZE)
			ck_assert_uint_eq(p.rlimits[i].hard, 4096);
}
END_TEST

START_TEST(too_little_disk_says_how_much_will_do)
{
	static const enum opt_write modes[] = {WRITE_COW, WRITE_NONE};

	for (size_t i = 0; i < 2; i++) {
		o.write = modes[i];
		o.disk_bytes = 1024;
		plan_refused(EINVAL, "--disk 1024: too small");
		ck_assert_int_eq(strncmp(e.hint, "give ", 5), 0);
		o.disk_bytes = strtoull(e.hint + 5, NULL, 10) << 20;
		plan_ok();
	}
}
END_TEST

START_TEST(a_layer_never_lies_in_what_it_is_laid_over)
{
	char *state = h.state_dir;
	char below[PATH_MAX];

	o.write = WRITE_COW;
	o.workspace = (char *)at("ws");
	o.workspace_given = true;
	(void)snprintf(below, sizeof(below), "%s/state", at("ws"));
	h.state_dir = below;
	plan_refused(EPERM, "contains ak's state folder");
	h.state_dir = state;
	plan_ok();
}
END_TEST

START_TEST(the_workdir_stays_an_ordinary_folder)
{
	o.workdir = (char *)"sub/../x";
	plan_ok();
	ck_assert_str_eq(p.cwd, at("ws/x"));
	o.workdir = (char *)"/usr/lib/";
	plan_ok();
	ck_assert_str_eq(p.cwd, "/usr/lib");
	o.workdir = (char *)"/proc/self/fd/7";
	plan_refused(EPERM, "--workdir");
	o.workdir = (char *)"/usr/../dev/fd/7";
	plan_refused(EPERM, "--workdir");
	o.workdir = (char *)"";
	plan_refused(EINVAL, "--workdir");
}
END_TEST

/* --- protected names
 * -------------------------------------------------------------------------------------------------- */

START_TEST(protected_names_are_read_only_mounts)
{
	make_dir("ws/.git/hooks");
	make_dir("ws/.GitHub");
	make_file("ws/.env", "");
	make_file("ws/conftest.py", "");
	make_file("ws/main.c", "");
	make_dir("ws/sub/.vscode");
	plan_ok();
	ck_assert_uint_eq(need(at("ws/.git"), PM_BIND)->flags, PMF_PROTECT | PMF_TARGET_EXISTS);
	ck_assert_uint_eq(need(at("ws/.git/hooks"), PM_BIND)->flags,
			  PMF_PROTECT | PMF_TARGET_EXISTS | PMF_RO);
	ck_assert_uint_eq(need(at("ws/.GitHub"), PM_BIND)->flags, PMF_PROTECT | PMF_TARGET_EXISTS | PMF_RO);
	ck_assert_uint_eq(need(at("ws/.env"), PM_BIND)->flags,
			  PMF_PROTECT | PMF_TARGET_EXISTS | PMF_RO | PMF_FILE);
	ck_assert_str_eq(need(at("ws/.env"), PM_BIND)->src, at("ws/.env"));
	ck_assert_ptr_null(mount_at(at("ws/conftest.py")));
	ck_assert_ptr_null(mount_at(at("ws/main.c")));
	ck_assert_ptr_null(mount_at(at("ws/sub/.vscode")));
	parents_come_first();
}
END_TEST

START_TEST(the_git_file_of_a_worktree_is_read_only)
{
	make_file("ws/.git", "gitdir: /x\n");
	plan_ok();
	ck_assert_uint_eq(need(at("ws/.git"), PM_BIND)->flags,
			  PMF_PROTECT | PMF_TARGET_EXISTS | PMF_RO | PMF_FILE);
}
END_TEST

START_TEST(a_protected_link_is_named)
{
	make_link("README.md", "ws/AGENTS.md");
	make_dir("ws/.git");
	make_link("/tmp", "ws/.git/hooks");
	plan_ok();
	ck_assert_ptr_null(mount_at(at("ws/AGENTS.md")));
	ck_assert(warned("AGENTS.md\" is a symbolic link"));
	ck_assert(warned(".git/hooks\" is a symbolic link"));
}
END_TEST

START_TEST(protection_is_lifted_by_name_only)
{
	char *none[] = {(char *)"main.c", NULL}, *env[] = {(char *)".env", NULL},
	     *git[] = {(char *)".git", NULL};
	char *hooks[] = {(char *)".git/hooks", NULL}, *listed[] = {(char *)"conftest.py", NULL};

	make_file("ws/.env", "");
	make_dir("ws/.git/hooks");
	o.allow_protected = none;
	plan_refused(EINVAL, "--allow-protected \"main.c\"");
	o.allow_protected = env;
	plan_ok();
	ck_assert_ptr_null(mount_at(at("ws/.env")));
	need(at("ws/.git/hooks"), PM_BIND);
	o.allow_protected = hooks;
	plan_ok();
	need(at("ws/.git"), PM_BIND);
	ck_assert_ptr_null(mount_at(at("ws/.git/hooks")));
	o.allow_protected = git;
	plan_ok();
	ck_assert_ptr_null(mount_at(at("ws/.git")));
	ck_assert_ptr_null(mount_at(at("ws/.git/hooks")));
	o.allow_protected = listed;
	plan_ok();
}
END_TEST

START_TEST(hooks_by_another_name_are_read_only)
{
	char *hooks[] = {(char *)".git/hooks", NULL};

	make_dir("ws/.git");
	make_dir("ws/tools/hooks");
	make_file("ws/.git/config", "[core]\n\thooksPath = tools/hooks\n");
	plan_ok();
	ck_assert_uint_eq(need(at("ws/tools/hooks"), PM_BIND)->flags, PMF_PROTECT | PMF_TARGET_EXISTS | PMF_RO);
	need(at("ws/tools"), PM_BIND);	/* which cannot be renamed then */
	o.allow_protected = hooks;
	plan_ok();
	ck_assert_ptr_null(mount_at(at("ws/tools/hooks")));
	o.allow_protected = NULL;
	make_file("ws/.git/config", "[core]\n\thooksPath = .\n");
	plan_ok();
	ck_assert(warned("core.hooksPath"));
}
END_TEST

START_TEST(a_workspace_in_a_protected_folder_is_refused)
{
	char *other[] = {(char *)".idea", NULL}, *code[] = {(char *)".vscode", NULL};

	make_dir("ws/.vscode/x");
	o.workspace = at("ws/.vscode/x");
	o.workspace_given = true;
	plan_refused(EPERM, "lies in a protected folder");
	o.allow_protected = other;
	plan_refused(EPERM, "lies in a protected folder");
	o.allow_protected = code;
	plan_ok();
	o.allow_protected = NULL;
	o.write = WRITE_NONE;
	plan_ok();
}
END_TEST

START_TEST(protected_names_have_a_maximum)
{
	char name[64];

	for (int i = 0; i <= 256; i++) {
		ck_assert_int_lt(snprintf(name, sizeof(name), "ws/.yarnrc%d", i), (int)sizeof(name));
		make_file(name, "");
	}
	plan_refused(E2BIG, "more than 256 protected names");
}
END_TEST

/* --- identity
 * ---------------------------------------------------------------------------------------------------------
 */

START_TEST(ids_follow_the_caller_and_the_options)
{
	static const struct {
		bool root, keep_root, user, group;
		uint32_t uid, gid;
		enum plan_identity kind;
		uint32_t want_uid, want_gid;
		const char *name;
	} rows[] = {
		{false, false, false, false, 0, 0, PLAN_ID_SAME, 1234, 1235, "alice"},
		{false, false, true, false, 7, 0, PLAN_ID_SAME, 7, 1235, "alice"},
		{false, false, true, true, 0, 9, PLAN_ID_SAME, 0, 9, "root"},
		{true, false, false, false, 0, 0, PLAN_ID_RANGE, 1000, 1000, "sandbox"},
		{true, false, true, false, 7, 0, PLAN_ID_RANGE, 7, 7, "sandbox"},
		{true, false, true, true, 0, 5, PLAN_ID_RANGE, 0, 5, "root"},
		{true, false, true, false, 65533, 0, PLAN_ID_RANGE, 65533, 65533, "sandbox"},
		{true, true, false, false, 0, 0, PLAN_ID_ROOT, 0, 0, "root"},
		{true, true, true, false, 7, 0, PLAN_ID_ROOT, 7, 7, "sandbox"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		h.root = rows[i].root;
		o.identity = rows[i].keep_root ? IDENTITY_ROOT : IDENTITY_AUTO;
		o.user_given = rows[i].user;
		o.gid_given = rows[i].group;
		o.uid = rows[i].uid;
		o.gid = rows[i].gid;
		plan_ok();
		ck_assert_int_eq(p.identity, rows[i].kind);
		ck_assert_uint_eq(p.uid, rows[i].want_uid);
		ck_assert_uint_eq(p.gid, rows[i].want_gid);
		ck_assert_str_eq(p.user, rows[i].name);
		ck_assert_int_eq(p.floor_setgid, rows[i].kind != PLAN_ID_SAME);
	}
}
END_TEST

START_TEST(ids_that_cannot_be_are_refused)
{
	o.identity = IDENTITY_ROOT;
	plan_refused(EPERM, "--identity root");
	o.identity = IDENTITY_AUTO;
	o.user_given = true;
	o.uid = UINT32_MAX;
	plan_refused(EINVAL, "--user");
	h.root = true;
	o.uid = 65534;
	plan_refused(EINVAL, "--user");
}
END_TEST

START_TEST(a_home_that_cannot_be_one_is_replaced)
{
	const char *const homes[] = {"/", "/nonexistent", "/usr/sbin", "/bin", "/dev/null", "/opt/app"};

	for (size_t i = 0; i < LEN(homes); i++) {
		free(h.home);
		h.home = strdup(homes[i]);
		o.workspace_given = true;
		o.workspace = at("ws");
		plan_ok();
		ck_assert_str_eq(p.home, "/run/home");
		need("/run/home", PM_TMPFS);
	}
	free(h.home);
	h.home = strdup("/var/lib/app");
	plan_ok();
	ck_assert_str_eq(p.home, "/var/lib/app");
}
END_TEST

/* --- limits
 * -----------------------------------------------------------------------------------------------------------
 */

static const struct plan_rlimit *rlimit_of(uint32_t resource)
{
	for (size_t i = 0; i < p.nrlimits; i++) {
		if (p.rlimits[i].resource == resource)
			return &p.rlimits[i];
	}
	return NULL;
}

static uint64_t own_hard(int resource)
{
	struct rlimit r;

	ck_assert_int_eq(getrlimit((__rlimit_resource_t)resource, &r), 0);
	return r.rlim_max == RLIM_INFINITY ? UINT64_MAX : r.rlim_max;
}

static void rlimit_is(int resource, uint64_t soft, uint64_t hard)
{
	const struct plan_rlimit *r = rlimit_of((uint32_t)resource);
	uint64_t own = own_hard(resource);

	hard = hard < own ? hard : own;
	soft = soft < hard ? soft : hard;
	ck_assert_ptr_nonnull(r);
	ck_assert_msg(r->soft == soft && r->hard == hard, "resource %d: %llu/%llu", resource,
		      (unsigned long long)r->soft, (unsigned long long)r->hard);
}

START_TEST(resource_limits_by_default)
{
	plan_ok();
	rlimit_is(RLIMIT_CORE, 1, 1);
	rlimit_is(RLIMIT_NOFILE, 1024, 4096);
	rlimit_is(RLIMIT_MEMLOCK, 65536, 65536);
	rlimit_is(RLIMIT_MSGQUEUE, 819200, 819200);
	rlimit_is(RLIMIT_NPROC, 257, 257);
	rlimit_is(RLIMIT_RTPRIO, 0, 0);
	rlimit_is(RLIMIT_NICE, 0, 0);
	rlimit_is(RLIMIT_SIGPENDING, 4096, 4096);
	rlimit_is(RLIMIT_STACK, 8u << 20, UINT64_MAX);
	ck_assert_ptr_null(rlimit_of(RLIMIT_FSIZE));
	ck_assert_ptr_null(rlimit_of(RLIMIT_CPU));
	ck_assert(warned("default CPU limit"));
	ck_assert(warned("memory limit is enforced by sampling"));
}
END_TEST

START_TEST(resource_limits_as_asked_for)
{
	o.nofile = 64;
	o.fsize_bytes = 4097;
	o.cpu_time_ms = 1500;
	o.pids = (struct limit_opt){.given = true, .value = 3};
	o.memory_bytes.given = true;
	o.cpu_milli.max = true;
	plan_ok();
	rlimit_is(RLIMIT_NOFILE, 64, 64);
	rlimit_is(RLIMIT_FSIZE, 4097, 4097);
	rlimit_is(RLIMIT_CPU, 3, 4);
	rlimit_is(RLIMIT_NPROC, 4, 4);
	ck_assert_uint_eq(p.nwarnings, 2);
	o.pids.max = true;
	plan_ok();
	ck_assert_ptr_null(rlimit_of(RLIMIT_NPROC));
}
END_TEST

START_TEST(a_limit_that_was_asked_for_and_cannot_be_is_refused)
{
	o.nofile = own_hard(RLIMIT_NOFILE) + 1;
	plan_refused(EPERM, "--nofile");
	o.nofile = own_hard(RLIMIT_NOFILE);
	plan_ok();
	o.cpu_milli.given = true;
	plan_refused(EOPNOTSUPP, "--cpus 1.000");
	ck_assert_ptr_nonnull(strstr(e.hint, "--cpus max"));
	o.cpu_milli.max = true;
	plan_ok();
	h.root = true;
	o.identity = IDENTITY_ROOT;
	plan_ok();
	ck_assert(warned("limit of processes is not enforced"));
	ck_assert_ptr_null(rlimit_of(RLIMIT_NPROC));
	o.pids.given = true;
	plan_refused(EOPNOTSUPP, "--pids 256");
	o.pids.max = true;
	plan_ok();
}
END_TEST

/* --- filters
 * ----------------------------------------------------------------------------------------------------------
 */

static uint32_t access_of(const char *path)
{
	for (size_t i = 0; i < p.npaths; i++) {
		if (strcmp(p.paths[i].path, path) == 0)
			return p.paths[i].access;
	}
	return 0;
}

START_TEST(rules_name_the_writable_places)
{
	add_bind(BIND_RW, "--rw", at("other"), "/data");
	add_bind(BIND_RO, "--ro", at("other"), "/look");
	add_bind(BIND_TMPFS, "--tmpfs", NULL, "/scratch");
	make_file("ws/.env", "");
	o.workspace = (char *)"/srv";
	plan_ok();
	ck_assert_uint_eq(access_of("/"), INIT_PATH_RX);
	ck_assert_uint_eq(access_of("/proc"), INIT_PATH_DEV);
	ck_assert_uint_eq(access_of("/dev"), INIT_PATH_DEV);
	ck_assert_uint_eq(access_of("/dev/shm"), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/tmp"), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/var/tmp"), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/run"), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/data"), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/scratch"), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/srv"), INIT_PATH_RW);
	ck_assert_uint_eq(access_of("/look"), 0);
	ck_assert_uint_eq(access_of("/usr"), 0);
	o.write = WRITE_NONE;
	plan_ok();
	ck_assert_uint_eq(access_of("/srv"), 0);
}
END_TEST

START_TEST(set_id_bits_only_where_nothing_lasts)
{
	plan_ok();
	ck_assert(!p.allow_setid);
	o.write = WRITE_NONE;
	plan_ok();
	ck_assert(p.allow_setid);
	add_bind(BIND_RO, "--ro", at("other"), NULL);
	plan_ok();
	ck_assert(p.allow_setid);
	binds[0].kind = BIND_RW;
	plan_ok();
	ck_assert(!p.allow_setid);
}
END_TEST

START_TEST(a_plan_can_be_explained)
{
	struct ak_buf out = {0};

	make_dir("new\nline");
	o.workspace = at("new\nline");
	o.workspace_given = true;
	plan_ok();
	plan_explain(&p, &o, &out);
	ck_assert(!out.failed);
	for (const char *const *s = (const char *const[]){"identity\n", "\nnamespaces\n", "\nmounts\n",
							  "\nlimits\n", "\nfilters\n", "\nenvironment\n",
							  "  HOME=", "/new\\x0aline rw workspace",
							  "  argument     true\n", "\nwarnings\n", NULL};
	     *s; s++)
		ck_assert_msg(strstr(out.data, *s) != NULL, "no \"%s\" in\n%s", *s, out.data);
	ck_assert_ptr_null(strstr(out.data, "new\nline"));
	ak_buf_release(&out);
}
END_TEST

START_TEST(warnings_have_a_maximum)
{
	for (int i = 0; i < PLAN_WARNINGS_MAX + 5; i++)
		plan_warn(&p, "warning %d", i);
	ck_assert_uint_eq(p.nwarnings, PLAN_WARNINGS_MAX);
	ck_assert_str_eq(p.warnings[PLAN_WARNINGS_MAX - 1], "warning 31");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan");
	const struct {
		const char *name;
		const TTest *tests[16];
	} cases[] = {
		{"root view",
		 {
			 the_usual_plan_has_its_parts_in_order,
			 private_tmpfs_mounts_have_their_modes_and_bounds,
			 tmpfs_is_never_larger_than_the_memory,
			 top_level_links_of_the_host_are_made_again,
			 nothing_else_of_the_host_is_shown,
			 identity_files_name_only_those_inside,
			 resolv_conf_only_with_the_hosts_network,
			 group_only_folders_of_the_host_are_hidden,
		 }},
		{"workspace",
		 {
			 a_missing_workspace_is_an_error,
			 a_deleted_current_directory_is_an_error_with_a_way_out,
			 a_workspace_may_have_any_name,
			 the_workspace_is_resolved,
			 a_link_that_a_sandbox_can_have_made_is_not_followed,
			 the_home_is_no_workspace_unless_named,
			 a_workspace_that_holds_the_home_has_its_secrets_hidden,
			 own_folders_that_could_be_made_from_inside_are_named,
			 own_folders_are_never_a_workspace,
			 system_folders_are_never_a_workspace,
			 write_none_is_a_read_only_workspace,
			 write_cow_is_an_overlay_without_protected_names,
			 disk_of_a_copy_is_what_private_file_systems_leave,
			 too_little_disk_says_how_much_will_do,
			 a_layer_never_lies_in_what_it_is_laid_over,
			 the_workdir_stays_an_ordinary_folder,
		 }},
		{"protected",
		 {
			 protected_names_are_read_only_mounts,
			 the_git_file_of_a_worktree_is_read_only,
			 a_protected_link_is_named,
			 protection_is_lifted_by_name_only,
			 hooks_by_another_name_are_read_only,
			 a_workspace_in_a_protected_folder_is_refused,
			 protected_names_have_a_maximum,
		 }},
		{"identity",
		 {
			 ids_follow_the_caller_and_the_options,
			 ids_that_cannot_be_are_refused,
			 a_home_that_cannot_be_one_is_replaced,
		 }},
		{"limits",
		 {
			 resource_limits_by_default,
			 resource_limits_as_asked_for,
			 a_limit_that_was_asked_for_and_cannot_be_is_refused,
		 }},
		{"filters",
		 {
			 rules_name_the_writable_places,
			 set_id_bits_only_where_nothing_lasts,
			 a_plan_can_be_explained,
			 warnings_have_a_maximum,
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
