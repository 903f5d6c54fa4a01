/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's terminal: raw mode and size. Process: executor. Privilege: none. */
#include "executor/tty.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int tty_raw(int fd, struct tty_state *ret)
{
	struct termios t;
	struct tty_state s = { .fd = fd };

	if (tcgetattr(fd, &s.saved) < 0)
		return -errno;
	t = s.saved;
	cfmakeraw(&t);
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	if (tcsetattr(fd, TCSANOW, &t) < 0)
		return -errno;
	*ret = s;
	return 0;
}

void tty_restore(struct tty_state *t)
{
	if (t->fd < 0)
		return;
	/*
	 * TCSADRAIN would wait for a terminal that was stopped with Ctrl-S. A terminal that has gone away
	 * needs nothing.
	 */
	(void)tcsetattr(t->fd, TCSANOW, &t->saved);
	t->fd = -1;
}

int tty_copy_size(int from, int to)
{
	struct winsize w;

	if (ioctl(from, TIOCGWINSZ, &w) < 0)
		return -errno;
	if (w.ws_row == 0 || w.ws_col == 0)
		return -EINVAL;
	return ioctl(to, TIOCSWINSZ, &w) < 0 ? -errno : 0;
}

bool tty_is_master(int fd)
{
	struct stat st;
	unsigned n;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && ioctl(fd, TIOCGPTN, &n) == 0;
}
