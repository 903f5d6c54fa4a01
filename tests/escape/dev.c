/* SPDX-License-Identifier: Apache-2.0 */
/* /dev holds what it must and nothing else, and no device can be made. Runs as a command in a sandbox, cwd
 * writable. */
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "tests/escape/esc.h"

static const struct {
	const char *name;
	unsigned maj, min;
} nodes[] = {
	{"null", 1, 3}, {"zero", 1, 5}, {"full", 1, 7}, {"random", 1, 8}, {"urandom", 1, 9}, {"tty", 5, 0},
};

static bool listed(const char *name)
{
	static const char *const other[] = {".",  "..",	   "ptmx",   "pts",    "shm",
					    "fd", "stdin", "stdout", "stderr", "mqueue"};

	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
		if (!strcmp(nodes[i].name, name))
			return true;
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (!strcmp(other[i], name))
			return true;
	return false;
}

static void check_list(struct esc *e)
{
	DIR *d = opendir("/dev");
	struct dirent *de;
	char extra[512] = "", path[64], name[64];
	struct stat st;

	while (d && (de = readdir(d)))
		if (!listed(de->d_name))
			snprintf(extra + strlen(extra), sizeof(extra) - strlen(extra), " %.32s", de->d_name);
	esc_is(e, "41:no_other_nodes", d && !extra[0], "others:%s", extra);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
		snprintf(path, sizeof(path), "/dev/%s", nodes[i].name);
		snprintf(name, sizeof(name), "41:%s", nodes[i].name);
		esc_is(e, name,
		       !stat(path, &st) && S_ISCHR(st.st_mode) &&
			       st.st_rdev == makedev(nodes[i].maj, nodes[i].min),
		       "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	}
	esc_is(e, "41:mode", !stat("/dev", &st) && (st.st_mode & 07777) == 0755, "0%o", st.st_mode & 07777);
	esc_is(e, "41:shm_mode", !stat("/dev/shm", &st) && (st.st_mode & 07777) == 01777, "0%o",
	       st.st_mode & 07777);
}

static bool works(const char *path, int flags, bool want_data)
{
	char c = 'x';
	int fd = open(path, flags | O_CLOEXEC);

	return fd >= 0 && (flags == O_WRONLY ? write(fd, &c, 1) : read(fd, &c, 1)) == (want_data ? 1 : 0);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	char buf[64];
	struct stat st;

	check_list(&e);
	esc_need(&e, "41:null_read", works("/dev/null", O_RDONLY, false));
	esc_need(&e, "41:null_write", works("/dev/null", O_WRONLY, true));
	esc_need(&e, "41:zero", works("/dev/zero", O_RDONLY, true));
	esc_need(&e, "41:urandom", works("/dev/urandom", O_RDONLY, true));
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	esc_err(&e, "41:full_is_full", full < 0 ? -1 : write(full, "x", 1), ENOSPC);
	esc_need(&e, "41:dev_fd_links",
		 readlink("/dev/fd", buf, sizeof(buf)) == 13 && !memcmp(buf, "/proc/self/fd", 13));
	esc_need(&e, "41:shm_open", shm_open("/ak-test", O_CREAT | O_RDWR, 0600) >= 0);
	esc_err2(&e, "74:create_in_dev", open("/dev/ak-test", O_CREAT | O_WRONLY | O_CLOEXEC, 0600), EACCES,
		 EROFS);
	/* EACCES is Landlock's answer, which comes before the capability check */
	esc_err2(&e, "42:mknod_null", mknod("akn1", S_IFCHR | 0666, makedev(1, 3)), EPERM, EACCES);
	esc_err2(&e, "42:mknod_mem", mknod("akn2", S_IFCHR | 0666, makedev(1, 1)), EPERM, EACCES);
	esc_err2(&e, "42:mknod_block", mknod("akn3", S_IFBLK | 0666, makedev(254, 0)), EPERM, EACCES);
	esc_err2(&e, "42:mknod_tmp", mknod("/tmp/akn4", S_IFCHR | 0666, makedev(1, 3)), EPERM, EACCES);
	esc_need(&e, "42:mkfifo", !mkfifo("ak-fifo", 0600) && !stat("ak-fifo", &st) && S_ISFIFO(st.st_mode));
	esc_need(&e, "42:socket_node", !mknod("ak-sock", S_IFSOCK | 0600, 0) && !unlink("ak-sock"));
	unlink("ak-fifo");
	return esc_end(&e);
}
