/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's terminal: raw mode and size. Process: executor. Privilege: none. */
#ifndef AK_TTY_H
#define AK_TTY_H

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

struct tty_state {
	int fd;			/* borrowed; -1: nothing to restore */
	struct termios saved;
};

#define TTY_STATE_NONE { .fd = -1 }

/**
 * tty_raw() - every key goes to the sandbox as a byte, Ctrl-C too, and output is not changed
 * @ret:	how to go back; untouched on failure
 * Return: 0 or negative errno.
 */
int tty_raw(int fd, struct tty_state *ret);

/**
 * tty_restore() - back to what was before tty_raw(); once, later calls do nothing. Does not wait for output.
 */
void tty_restore(struct tty_state *t);

/**
 * tty_copy_size() - give terminal (or pty master) @to the size of @from. Return: 0 or negative errno
 * (-ENOTTY, -EINVAL: size 0).
 */
int tty_copy_size(int from, int to);

/** tty_is_master() - is this the master side of a Unix 98 pty? */
bool tty_is_master(int fd);

#endif
