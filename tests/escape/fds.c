/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors: only 0, 1, 2 and those listed, none of them a file, folder or socket of the host, none to be
 * reopened with more rights. Runs as a command in a sandbox; keep=N names one more that must be there.
 */
#include <dirent.h>
#include <sys/stat.h>
#include "tests/escape/esc.h"

static void check_list(struct esc *e)
{
	const char *keep = esc_arg(e, "keep");
	DIR *d = opendir("/proc/self/fd");
	struct dirent *de;
	char extra[256] = "", link[128], path[64];
	bool kept = false;

	while (d && (de = readdir(d))) {
		int fd = esc_num(de->d_name);

		if (de->d_name[0] == '.' || fd <= 2 || fd == dirfd(d))
			continue;
		if (keep && fd == esc_num(keep)) {
			kept = true;
			continue;
		}
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = 0;
		snprintf(extra + strlen(extra), sizeof(extra) - strlen(extra), " %d=%.64s", fd, link);
	}
	esc_is(e, "24:only_listed", d && !extra[0], "others:%s", extra);
	if (keep)
		esc_need(e, "24:kept", kept);
	if (d)
		closedir(d);
}

static void check_std(struct esc *e)
{
	struct stat st;
	char name[64], path[64], link[256];

	for (int fd = 0; fd <= 2; fd++) {
		snprintf(name, sizeof(name), "25:fd_%d_kind", fd);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ssize_t n = readlink(path, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = 0;
		bool ok = !fstat(fd, &st) && (S_ISFIFO(st.st_mode) || !strcmp(link, "/dev/null") ||
					      !strncmp(link, "/dev/pts/", 9));
		esc_is(e, name, ok, "%s", link);
		/* /dev/null and a pty are devices of the sandbox; a pipe has one end only */
		if (!S_ISFIFO(st.st_mode))
			continue;
		int fl = fcntl(fd, F_GETFL);
		snprintf(name, sizeof(name), "25:fd_%d_one_way", fd);
		esc_is(e, name, (fl & O_ACCMODE) == (fd ? O_WRONLY : O_RDONLY), "flags 0%o", fl);
	}
}

/* outside=PATH is a file of the caller that was given as stdin and stdout: no way may lead to it */
static void check_reopen(struct esc *e)
{
	const char *outside = esc_arg(e, "dev");
	char path[64], name[64];
	struct stat st;

	if (!outside)
		return;
	for (int fd = 0; fd <= 2; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		snprintf(name, sizeof(name), "25:reopen_%d", fd);
		int r = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		bool regular = r >= 0 && !fstat(r, &st) && S_ISREG(st.st_mode);
		esc_is(e, name, !regular, "%s",
		       regular ? "a regular file of the caller" : "no file behind it");
		snprintf(name, sizeof(name), "25:fchmod_%d", fd);
		if (!fstat(fd, &st) && S_ISREG(st.st_mode))
			esc_is(e, name, fchmod(fd, 0666) != 0, "fchmod");
	}
}

static void check_cwd(struct esc *e)
{
	char buf[4096] = "";
	long n = syscall(SYS_getcwd, buf, sizeof(buf));

	esc_is(e, "26:cwd_inside", n > 0 && buf[0] == '/', "%s", buf);
}

/* every process: its descriptors are ours to see or refused; none is a folder or file that has no place in
 * the sandbox */
static void check_others(struct esc *e)
{
	DIR *p = opendir("/proc");
	struct dirent *pe, *fe;
	char dir[300], path[600], link[512];
	int foreign = 0;

	while (p && (pe = readdir(p))) {
		if (pe->d_name[0] < '0' || pe->d_name[0] > '9' || esc_num(pe->d_name) == getpid())
			continue;
		snprintf(dir, sizeof(dir), "/proc/%s/fd", pe->d_name);
		DIR *d = opendir(dir);
		while (d && (fe = readdir(d))) {
			snprintf(path, sizeof(path), "%s/%s", dir, fe->d_name);
			ssize_t n = readlink(path, link, sizeof(link) - 1);
			if (n <= 0)
				continue;
			link[n] = 0;
			foreign += link[0] == '/' && access(link, F_OK) != 0;
		}
		if (d)
			closedir(d);
	}
	esc_is(e, "27:no_foreign_folder", foreign == 0, "%d", foreign);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	check_list(&e);
	check_std(&e);
	check_reopen(&e);
	check_cwd(&e);
	check_others(&e);
	return esc_end(&e);
}
