/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox's own terminal, in init and in the command's child; no privilege. */
#include "executor/init/init.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef TIOCGPTPEER
#define TIOCGPTPEER 0x5441 /* Linux 4.13, asm-generic/ioctls.h: the slave without a path */
#endif

int pty_make(uint16_t rows, uint16_t cols, int *ret_slave)
{
	struct winsize size = { .ws_row = rows, .ws_col = cols };
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), unlock = 0, slave = -1;

	if (master < 0)
		return -errno;
	if (ioctl(master, TIOCSPTLCK, &unlock) == 0 && ioctl(master, TIOCSWINSZ, &size) == 0)
		slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0) {
		int err = errno;

		(void)close(master);
		return -err;
	}
	*ret_slave = slave;
	return master;
}

void pty_open(struct init *in)
{
	const struct init_msg m = { .type = INIT_MSG_PTY };
	int master = pty_make(in->cfg->tty_rows, in->cfg->tty_cols, &in->slave), r;

	if (master < 0)
		fail_simple(in, INIT_STAGE_SETUP, -master, "make a terminal of the sandbox (/dev/ptmx)");
	r = msg_send_fd(in->ctl, &m, master);
	if (r < 0)
		fail_simple(in, INIT_STAGE_SETUP, -r, "send the terminal's master");
	(void)close(master);
}

void pty_attach(const struct init *in)
{
	/* the leader's group becomes the foreground one with it: tty_ioctl(4) */
	if (ioctl(in->slave, TIOCSCTTY, 0) < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "take the terminal");
	for (int fd = 0; fd <= 2; fd++) {
		if (dup2(in->slave, fd) < 0)
			fail_simple(in, INIT_STAGE_SETUP, errno, "pass the terminal");
	}
}
