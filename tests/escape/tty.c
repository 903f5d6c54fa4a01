/* SPDX-License-Identifier: Apache-2.0 */
/* Terminals: no injection into any terminal, none of the caller's in reach. Runs as a command in a sandbox.
 */
#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include "tests/escape/esc.h"

#define HIGH 0xdeadbeef00000000L

static const struct {
	const char *name;
	long req;
} reqs[] = {
	{"TIOCSTI", 0x5412},
	{"TIOCLINUX", 0x541c},
	{"TIOCSETD", 0x5423},
	{"TIOCCONS", 0x541d},
};

static void inject(struct esc *e, int fd, const char *what)
{
	int arg = 0;
	char name[64];

	for (size_t i = 0; i < sizeof(reqs) / sizeof(*reqs); i++) {
		snprintf(name, sizeof(name), "30:%s_%s", reqs[i].name, what);
		esc_err(e, name, syscall(SYS_ioctl, fd, reqs[i].req, &arg), EPERM);
		snprintf(name, sizeof(name), "30:%s_%s_high_bits", reqs[i].name, what);
		esc_err(e, name, syscall(SYS_ioctl, fd, HIGH | reqs[i].req, &arg), EPERM);
	}
}

/* entries of /dev/pts other than ptmx */
static int count_ptys(void)
{
	int n = 0;
	DIR *d = opendir("/dev/pts");
	struct dirent *de;

	while (d && (de = readdir(d)))
		n += de->d_name[0] != '.' && strcmp(de->d_name, "ptmx") != 0;
	if (d)
		closedir(d);
	return d ? n : -1;
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	bool tty = esc_arg(&e, "tty") != NULL;
	int n = count_ptys();

	inject(&e, -1, "no_fd");
	inject(&e, 0, "stdin");
	if (!tty) {
		esc_err(&e, "20:no_controlling_tty", open("/dev/tty", O_RDWR | O_CLOEXEC), ENXIO);
		esc_is(&e, "31:no_ptys", n == 0, "%d in /dev/pts", n);
	} else {
		esc_need(&e, "31:own_tty", open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0);
		esc_is(&e, "31:only_own_pty", n == 1, "%d in /dev/pts", n);
	}
	int m = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	esc_need(&e, "31:openpt", m >= 0 && !grantpt(m) && !unlockpt(m));
	if (m >= 0) {
		int s = open(ptsname(m), O_RDWR | O_NOCTTY | O_CLOEXEC);

		esc_need(&e, "31:open_slave", s >= 0);
		inject(&e, s, "own_pty");
	}
	esc_is(&e, "20:own_session", getsid(0) > 0, "sid %d", getsid(0));
	return esc_end(&e);
}
