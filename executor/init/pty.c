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

void pty_open(struct init *in)
{
	struct winsize size = { .ws_row = in->cfg->tty_rows, .ws_col = in->cfg->tty_cols };
	const struct init_msg m = { .type = INIT_MSG_PTY };
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), unlock = 0, r;

	if (master < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "open /dev/ptmx of the sandbox");
	if (ioctl(master, TIOCSPTLCK, &unlock) < 0 || ioctl(master, TIOCSWINSZ, &size) < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "set up the terminal");
	in->slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (in->slave < 0)
		fail_simple(in, INIT_STAGE_SETUP, errno, "open the terminal's slave");
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
