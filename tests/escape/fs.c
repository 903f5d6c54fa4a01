/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system a command sees: what is there, what is writable, and that nothing leads out.
 * Runs as a command in a sandbox with the workspace as cwd. secret=PATH is a world-readable file of the host
 * outside everything shown, mark=PATH another below /.
 */
#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include "tests/escape/esc.h"

/* every writable mount is nosuid and nodev; none propagates */
static void check_mountinfo(struct esc *e)
{
	char line[4096], bad[512] = "", prop[512] = "", dot[512] = "";
	FILE *f = fopen("/proc/self/mountinfo", "re");
	int n = 0, roots = 0;

	while (f && fgets(line, sizeof(line), f)) {
		char mnt[1024] = "", opts[256] = "";

		if (sscanf(line, "%*d %*d %*s %*s %1023s %255s", mnt, opts) != 2)
			continue;
		n++;
		roots += !strcmp(mnt, "/");
		bool ro = !strncmp(opts, "ro", 2);
		if (!ro && (!strstr(opts, "nosuid") || !strstr(opts, "nodev")) && strncmp(mnt, "/dev/", 5) &&
		    strcmp(mnt, "/dev/pts"))
			snprintf(bad + strlen(bad), sizeof(bad) - strlen(bad), " %.60s(%.60s)", mnt, opts);
		if (!ro && !strstr(opts, "nosuid") && !strncmp(mnt, "/dev/", 5))
			snprintf(bad + strlen(bad), sizeof(bad) - strlen(bad), " %.60s(%.60s)", mnt, opts);
		if (strstr(line, " shared:") || strstr(line, " master:"))
			snprintf(prop + strlen(prop), sizeof(prop) - strlen(prop), " %.60s", mnt);
		if (ro && !strstr(opts, "nosuid"))
			snprintf(dot + strlen(dot), sizeof(dot) - strlen(dot), " %.60s", mnt);
	}
	esc_is(e, "36:writable_nosuid_nodev", n > 0 && !bad[0], "without:%s", bad);
	esc_is(e, "35:readonly_nosuid", n > 0 && !dot[0], "without:%s", dot);
	esc_is(e, "33:one_root", roots == 1, "%d mounts on /", roots);
	esc_is(e, "33:no_propagation", n > 0 && !prop[0], "propagating:%s", prop);
}

static bool may_be_in_root(const char *name, const struct esc *e)
{
	static const char *const ok[] = {".",	   "..",  "bin",  "dev",  "etc", "lib",	 "lib32", "lib64",
					 "libx32", "nix", "opt",  "proc", "run", "sbin", "sys",	  "tmp",
					 "usr",	   "var", "home", "root", "mnt", "srv",	 "media"};
	const char *more = esc_arg(e, "top"); /* first folder of the workspace's path */

	for (size_t i = 0; i < sizeof(ok) / sizeof(*ok); i++)
		if (!strcmp(ok[i], name))
			return true;
	return more && !strcmp(more, name);
}

static void check_root(struct esc *e)
{
	char extra[512] = "";
	DIR *d = opendir("/");
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (!may_be_in_root(de->d_name, e))
			snprintf(extra + strlen(extra), sizeof(extra) - strlen(extra), " %.32s", de->d_name);
	esc_is(e, "34:root_list", d && !extra[0], "others:%s", extra);
	static const char *const hidden[] = {"/etc/shadow",
					     "/etc/gshadow",
					     "/etc/shadow-",
					     "/etc/sudoers",
					     "/etc/ssh/ssh_host_ed25519_key",
					     "/root/.bashrc",
					     "/root/.ssh",
					     "/var/log",
					     "/var/lib",
					     "/var/spool",
					     "/boot",
					     "/run/systemd",
					     "/run/dbus",
					     "/run/user",
					     "/run/docker.sock",
					     "/lost+found",
					     "/srv",
					     "/mnt",
					     "/media"};
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		char name[96];
		struct stat st;
		int rc = open(hidden[i], O_RDONLY | O_CLOEXEC);

		snprintf(name, sizeof(name), "34:%s", hidden[i]);
		/* a toolchain may need /var/lib or the like later; content is what counts */
		esc_is(e, name,
		       rc < 0 || (!fstat(rc, &st) && S_ISDIR(st.st_mode) && st.st_nlink <= 2 &&
				  st.st_size <= 40),
		       "%s", rc < 0 ? esc_errname(errno) : "there");
	}
	const char *secret = esc_arg(e, "secret");
	if (secret)
		esc_err(e, "34:secret_file", open(secret, O_RDONLY | O_CLOEXEC), ENOENT);
}

static void check_readonly(struct esc *e)
{
	struct statvfs sv;
	static const char *const dirs[] = {"/", "/usr", "/etc", "/usr/bin", "/usr/lib", "/opt"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		char name[64];

		if (statvfs(dirs[i], &sv))
			continue;
		snprintf(name, sizeof(name), "35:readonly_%s", dirs[i]);
		esc_is(e, name, sv.f_flag & ST_RDONLY, "flags 0x%lx", sv.f_flag);
	}
	esc_err(e, "35:tmpfile_in_usr", open("/usr", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), EROFS);
	esc_err2(e, "35:create_in_usr", open("/usr/ak-test", O_CREAT | O_WRONLY | O_CLOEXEC, 0600), EROFS,
		 EACCES);
	esc_err2(e, "35:create_in_root", open("/ak-test", O_CREAT | O_WRONLY | O_CLOEXEC, 0600), EROFS,
		 EACCES);
	esc_err2(e, "35:mkdir_in_root", mkdir("/ak-test", 0700), EROFS, EACCES);
	esc_err2(e, "35:write_passwd", open("/etc/passwd", O_WRONLY | O_CLOEXEC), EROFS, EACCES);
	esc_err2(e, "35:chmod_system", chmod("/usr/bin/env", 0777), EROFS, EPERM);
	esc_err2(e, "35:unlink_system", unlink("/usr/bin/env"), EROFS, EACCES);
}

static void check_links(struct esc *e)
{
	const char *secret = esc_arg(e, "secret");

	unlink("ln1");
	unlink("ln2");
	esc_err(e, "49:link_passwd", link("/etc/passwd", "ln1"), EXDEV);
	esc_err(e, "49:rename_passwd", rename("/etc/passwd", "ln1"), EXDEV);
	esc_err(e, "49:link_to_tmp", link("/etc/passwd", "/tmp/ln1"), EXDEV);
	if (secret && !symlink(secret, "ln2"))
		esc_err(e, "49:symlink_out", open("ln2", O_RDONLY | O_CLOEXEC), ENOENT);
	unlink("ln2");
	int fd = open("own", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	esc_need(e, "49:link_inside", fd >= 0 && !link("own", "own2") && !unlink("own") && !unlink("own2"));
}

/* an open folder and a second chroot led out of chroot jails; here chroot is refused, and .. ends at our root
 */
static void check_walk(struct esc *e)
{
	const char *mark = esc_arg(e, "mark");
	char path[512] = "", host[1024];
	struct stat root = {0}, up = {0};

	/* an old root that was left stacked on the new one shows only here: lookups from / do not cross it,
	 * .. does */
	esc_is(e, "33:parent_of_root",
	       !stat("/", &root) && !stat("/..", &up) && root.st_dev == up.st_dev && root.st_ino == up.st_ino,
	       "/.. is %lx:%lu, / is %lx:%lu", (unsigned long)up.st_dev, (unsigned long)up.st_ino,
	       (unsigned long)root.st_dev, (unsigned long)root.st_ino);
	esc_is(e, "33:chdir_up",
	       !chdir("/..") && !stat(".", &up) && root.st_dev == up.st_dev && root.st_ino == up.st_ino, "/");

	esc_err(e, "45:chroot_walk", chroot("."), EPERM);
	for (int i = 0; i < 40; i++)
		strncat(path, "../", sizeof(path) - strlen(path) - 1);
	if (!mark)
		return;
	snprintf(host, sizeof(host), "%s%s", path, mark + 1);
	esc_err(e, "33:walk_up", access(host, F_OK), ENOENT);
	snprintf(host, sizeof(host), "/proc/self/root/%s%s", path, mark + 1);
	esc_err(e, "33:walk_up_proc_root", access(host, F_OK), ENOENT);
	snprintf(host, sizeof(host), "/proc/self/cwd/%s%s", path, mark + 1);
	esc_err(e, "33:walk_up_proc_cwd", access(host, F_OK), ENOENT);
}

static void check_tmpfs(struct esc *e)
{
	static const char *const dirs[] = {"/tmp", "/dev/shm", "/var/tmp", "/run"};
	struct statvfs sv;
	struct stat st;
	char name[64];

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(name, sizeof(name), "46:bounded_%s", dirs[i]);
		if (statvfs(dirs[i], &sv)) {
			esc_skip(name, "not there");
			continue;
		}
		unsigned long long size = (unsigned long long)sv.f_blocks * sv.f_frsize;
		esc_is(e, name, size > 0 && size <= 2ULL << 30 && sv.f_files > 0 && sv.f_files <= 2000000,
		       "%llu bytes, %llu files", size, (unsigned long long)sv.f_files);
	}
	esc_need(e, "46:tmp_mode", !stat("/tmp", &st) && (st.st_mode & 07777) == 01777);
	esc_need(e, "74:write_tmp", open("/tmp/ak-test", O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0);
	esc_need(e, "74:write_shm", open("/dev/shm/ak-test", O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0);
	const char *home = getenv("HOME");
	snprintf(name, sizeof(name), "%s/.ak-test", home ? home : "");
	esc_need(e, "74:write_home", home && open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0);
	unlink(name);
	esc_need(e, "74:write_workspace",
		 open(".ak-test", O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0 && !unlink(".ak-test"));
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	check_mountinfo(&e);
	check_root(&e);
	check_readonly(&e);
	check_links(&e);
	check_tmpfs(&e);
	check_walk(&e);
	return esc_end(&e);
}
