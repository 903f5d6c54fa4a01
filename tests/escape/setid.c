/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No file with a set-user-id bit (and, for a root caller, a set-group-id bit) can be left in the workspace.
 * Runs as a command in a sandbox with the workspace as cwd; setgid=deny when the caller is root.
 */
#include <dirent.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include "tests/escape/esc.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static void fresh(const char *path)
{
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
}

/* every call that gives a file a mode; bits is what must not get through */
static void try_all(struct esc *e, const char *tag, long bits)
{
	char name[96];
	int fd;

#define DENY(what, expr)                                                                                     \
	(snprintf(name, sizeof(name), "104:%s_%s", what, tag), esc_err(e, name, (expr), EPERM))
	fresh("f");
	fd = open("f", O_RDWR | O_CLOEXEC);
#ifdef __x86_64__
	DENY("chmod", syscall(SYS_chmod, "f", bits | 0755));
	DENY("creat", syscall(SYS_creat, "n1", bits | 0755));
	DENY("open", syscall(SYS_open, "n2", O_CREAT | O_WRONLY, bits | 0755));
	DENY("open_excl", syscall(SYS_open, "n2x", O_CREAT | O_EXCL | O_RDWR, bits | 0755));
	DENY("open_tmpfile", syscall(SYS_open, ".", O_TMPFILE | O_RDWR, bits | 0755));
	DENY("mknod", syscall(SYS_mknod, "n3", S_IFREG | bits | 0755, 0));
	DENY("mknod_no_type", syscall(SYS_mknod, "n3b", bits | 0755, 0));
	DENY("mkdir", syscall(SYS_mkdir, "d1", bits | 0755));
#endif
	DENY("fchmod", syscall(SYS_fchmod, fd, bits | 0755));
	DENY("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, "f", bits | 0755));
	DENY("fchmodat2", syscall(SYS_fchmodat2, AT_FDCWD, "f", bits | 0755, 0));
	DENY("fchmodat2_empty_path", syscall(SYS_fchmodat2, fd, "", bits | 0755, AT_EMPTY_PATH));
	DENY("openat", syscall(SYS_openat, AT_FDCWD, "n4", O_CREAT | O_WRONLY, bits | 0755));
	DENY("openat_tmpfile", syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_RDWR, bits | 0755));
	DENY("mknodat", syscall(SYS_mknodat, AT_FDCWD, "n5", S_IFREG | bits | 0755, 0));
	DENY("mkdirat", syscall(SYS_mkdirat, AT_FDCWD, "d2", bits | 0755));
	DENY("fchmod_high_bits", syscall(SYS_fchmod, fd, 0x5500000000L | bits | 0755));
	DENY("fchmodat_all_bits", syscall(SYS_fchmodat, AT_FDCWD, "f", bits | 06777));
	DENY("openat_high_bits", syscall(SYS_openat, AT_FDCWD, "n6", 0x7700000000L | O_CREAT | O_WRONLY,
					 0x6600000000L | bits | 0755));
#undef DENY
	close(fd);
}

static void check_openat2(struct esc *e)
{
	struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 04755};

	esc_err(e, "104:openat2", syscall(SYS_openat2, AT_FDCWD, "n7", &how, sizeof(how)), ENOSYS);
	how = (struct open_how){.flags = O_RDONLY};
	esc_err(e, "104:openat2_plain", syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how)), ENOSYS);
}

/* a set-user-id file of the system cannot be brought in whole */
static void check_import(struct esc *e)
{
	static const unsigned char caps[20] = {
		1, 0, 0, 2, 0xff, 0xff, 0xff, 0xff}; /* VFS_CAP_REVISION_2 and the effective bit */

	esc_err(e, "104:link_su", link("/usr/bin/su", "l1"), EXDEV);
	esc_err(e, "104:rename_su", rename("/usr/bin/su", "l2"), EXDEV);
	esc_err(e, "104:exchange_su", renameat2(AT_FDCWD, "/usr/bin/su", AT_FDCWD, "f", RENAME_EXCHANGE),
		EXDEV);
	esc_err(e, "104:file_capability", setxattr("f", "security.capability", caps, sizeof(caps), 0), EPERM);
}

static void check_left(struct esc *e, mode_t bits)
{
	DIR *d = opendir(".");
	struct dirent *de;
	struct stat st;
	char left[256] = "";

	while (d && (de = readdir(d)))
		if (strcmp(de->d_name, "..") && !lstat(de->d_name, &st) && (st.st_mode & bits))
			snprintf(left + strlen(left), sizeof(left) - strlen(left), " %.32s(0%o)", de->d_name,
				 st.st_mode & 07777);
	esc_is(e, "104:nothing_left", !left[0], "left:%s", left);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	const char *g = esc_arg(&e, "setgid");
	bool deny_gid = g && !strcmp(g, "deny");

	try_all(&e, "setuid", S_ISUID);
	try_all(&e, "setuid_setgid", S_ISUID | S_ISGID);
	if (deny_gid)
		try_all(&e, "setgid", S_ISGID);
	else
		esc_need(&e, "104:setgid_folder", !mkdir("sg", 0755) && !chmod("sg", 02755));
	check_openat2(&e);
	check_import(&e);
	check_left(&e, S_ISUID | (deny_gid ? S_ISGID : 0));
	fresh("f");
	esc_need(&e, "104:plain_chmod", !chmod("f", 0755) && !chmod("f", 01644));
	esc_need(&e, "104:stray_mode_without_creat",
		 syscall(SYS_openat, AT_FDCWD, "f", O_RDONLY, 07777) >= 0);
	return esc_end(&e);
}
