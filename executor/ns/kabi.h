/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel numbers newer than the headers of Debian 12 (linux-libc-dev 6.1). Source: include/uapi of Linux 6.18.
 * Numbers only; every use copes with a kernel that does not know them.
 */
#ifndef AK_NS_KABI_H
#define AK_NS_KABI_H

#include <linux/landlock.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <sys/syscall.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)	/* ABI 3 */
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)	/* ABI 5 */
#endif
#ifndef LANDLOCK_ACCESS_NET_BIND_TCP
#define LANDLOCK_ACCESS_NET_BIND_TCP (1ULL << 0)	/* ABI 4 */
#define LANDLOCK_ACCESS_NET_CONNECT_TCP (1ULL << 1)
#endif
#ifndef LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)	/* ABI 6 */
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif

/* openat2(2); linux/openat2.h clashes with fcntl.h on some libcs */
#define AK_RESOLVE_NO_XDEV 0x01
#define AK_RESOLVE_NO_MAGICLINKS 0x02
#define AK_RESOLVE_NO_SYMLINKS 0x04
#define AK_RESOLVE_BENEATH 0x08
#define AK_RESOLVE_IN_ROOT 0x10

/* struct landlock_ruleset_attr grew; this is the form of ABI 6 */
struct ak_landlock_attr {
	unsigned long long handled_access_fs;
	unsigned long long handled_access_net;	/* ABI 4 */
	unsigned long long scoped;		/* ABI 6 */
};

#endif
