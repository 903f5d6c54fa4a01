/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that init makes once both filters are loaded, and the error each must give: a filter that does not do what it was
 * compiled for is found before the command starts. Used by init, and by the executor for filters that a user brought.
 * Values whose low half is refused: a filter that compares all 64 bits lets them through to the kernel.
 */
#ifndef AK_SHARED_AK_CANARY_H
#define AK_SHARED_AK_CANARY_H

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

struct ak_canary {
	const char *name;
	long nr;
	long arg[3];
	int want;	/* errno */
};

static const struct ak_canary ak_canaries[] = {
	{ "unshare", SYS_unshare, { CLONE_NEWUSER }, EPERM },
	{ "keyctl", SYS_keyctl, { -1 }, EPERM },
	{ "socket", SYS_socket, { 0x1234567800000028, SOCK_STREAM, 0 }, EAFNOSUPPORT },
	{ "ioctl", SYS_ioctl, { -1, (long)0xdeadbeef00005412 }, EPERM },
	{ "clone3", SYS_clone3, { 0, 0 }, ENOSYS },
	{ "100000", 100000, { 0 }, ENOSYS },
};

/* bits of those that --nesting allows: unshare and clone3 */
#define AK_CANARIES_NESTING ((1u << 0) | (1u << 4))
#define AK_CANARIES (sizeof(ak_canaries) / sizeof(ak_canaries[0]))

#endif
