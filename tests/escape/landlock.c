/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Landlock layer by itself: ro=DIR is a folder of the caller's own that is shown read-only, in a test
 * build whose mounts are left writable. Writing must still fail, with EACCES. The gap_ lines are what
 * Landlock does not cover: they must work, so that a kernel that closes a gap is noticed. With hostnet=1 (and
 * --net host) abs=NAME is an abstract socket of the host.
 */
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include "tests/escape/esc.h"

static void check_files(struct esc *e, const char *ro)
{
	char a[4096], b[4096];

	snprintf(a, sizeof(a), "%s/new", ro);
	esc_err(e, "74:create", open(a, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), EACCES);
	esc_err(e, "74:mkdir", mkdir(a, 0700), EACCES);
	esc_err(e, "74:symlink", symlink("x", a), EACCES);
	esc_err(e, "74:mkfifo", mkfifo(a, 0600), EACCES);
	snprintf(a, sizeof(a), "%s/file", ro);
	esc_err(e, "74:write", open(a, O_WRONLY | O_CLOEXEC), EACCES);
	esc_err(e, "74:truncate", truncate(a, 0), EACCES);
	esc_err(e, "74:unlink", unlink(a), EACCES);
	snprintf(b, sizeof(b), "%s/other", ro);
	esc_err(e, "74:rename", rename(a, b), EACCES);
	snprintf(b, sizeof(b), "%s/third", ro);
	esc_err(e, "74:link", link(a, b), EACCES);
	int fd = open(a, O_RDONLY | O_CLOEXEC);
	esc_need(e, "74:read", fd >= 0);
	esc_need(e, "77:gap_stat", access(a, F_OK) == 0);
	esc_need(e, "77:gap_chmod", chmod(a, 0640) == 0);
	esc_need(e, "77:gap_chown", chown(a, -1, -1) == 0);
	esc_need(e, "77:gap_utime", utimes(a, NULL) == 0);
	if (setxattr(a, "user.ak", "x", 1, 0) && errno == EOPNOTSUPP)
		esc_skip("77:gap_xattr", "the file system has no user xattrs");
	else
		esc_need(e, "77:gap_xattr", getxattr(a, "user.ak", b, sizeof(b)) == 1);
}

static void check_abstract(struct esc *e, const char *abs)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", abs);
	esc_err(e, "75:abstract_of_host",
		connect(fd, (struct sockaddr *)&a, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abs)),
		EPERM);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	const char *ro = esc_arg(&e, "ro"), *abs = esc_arg(&e, "abs");

	if (ro)
		check_files(&e, ro);
	if (abs)
		check_abstract(&e, abs);
	return esc_end(&e);
}
