/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches that take one protection away, so that a test can show that it notices. They exist only in the test build
 * (-DAK_TEST_WEAKEN, `make weak`), which reads them from the variable AK_WEAKEN; in every other build AK_WEAK() is false.
 */
#ifndef AK_SHARED_AK_WEAKEN_H
#define AK_SHARED_AK_WEAKEN_H

#include <stdint.h>

enum ak_weaken {
	AK_WEAK_CAPS = 1u << 0,		/* "caps": keep the capability sets and leave securebits alone */
	AK_WEAK_NNP = 1u << 1,		/* "nnp": no no_new_privs (the filters then need CAP_SYS_ADMIN: implies caps) */
	AK_WEAK_LANDLOCK = 1u << 2,	/* "landlock": no Landlock domain */
	AK_WEAK_PROFILE = 1u << 3,	/* "profile": profile filter not loaded */
	AK_WEAK_FLOOR = 1u << 4,	/* "floor": floor filter not loaded */
	AK_WEAK_MASKS = 1u << 5,	/* "masks": /proc not masked */
	AK_WEAK_PROC_RO = 1u << 6,	/* "procro": /proc/sys and kin stay writable mounts */
	AK_WEAK_DUMPABLE = 1u << 7,	/* "dumpable": init stays dumpable */
	AK_WEAK_FDS = 1u << 8,		/* "fds": inherited descriptors are not closed */
	AK_WEAK_ENV = 1u << 9,		/* "env": the caller's environment is passed whole */
	AK_WEAK_RDONLY = 1u << 10,	/* "rdonly": system mounts stay writable */
	AK_WEAK_NOSUID = 1u << 11,	/* "nosuid": mounts without nosuid and nodev */
	AK_WEAK_NETNS = 1u << 12,	/* "netns": the host's network namespace with --net none */
	AK_WEAK_CGROUP = 1u << 13,	/* "cgroup": the sandbox is not born in its cgroup */
	AK_WEAK_PDEATH = 1u << 14,	/* "pdeath": init outlives the executor */
	AK_WEAK_RLIMITS = 1u << 15,	/* "rlimits": none set */
	AK_WEAK_CANARY = 1u << 16,	/* "canary": no self-test of the filters */
	AK_WEAK_ROOTVIEW = 1u << 17,	/* "rootview": the host's / is the root view */
	AK_WEAK_PROTECT = 1u << 18,	/* "protect": protected names of the workspace stay writable */
	AK_WEAK_STREAMS = 1u << 19,	/* "streams": files are passed as stdin and stdout */
	AK_WEAK_SIGNALS = 1u << 20,	/* "signals": inherited signal mask and ignored signals stay */
	AK_WEAK_LOOPBACK = 1u << 21,	/* "loopback": lo stays down */
	AK_WEAK_NSLIMIT = 1u << 22,	/* "nslimit": user.max_*_namespaces not set to 0 */
	AK_WEAK_IPCNS = 1u << 23,	/* "ipcns": the host's ipc namespace */
	AK_WEAK_UTSNS = 1u << 24,	/* "utsns": the host's uts namespace */
	AK_WEAK_SESSION = 1u << 25,	/* "session": no setsid for the command */
	AK_WEAK_KEYRING = 1u << 26,	/* "keyring": the caller's session keyring stays joined */
	AK_WEAK_PTYFILTER = 1u << 27,	/* "ttyfilter": terminal output is not filtered */
	AK_WEAK_CGKILL = 1u << 28,	/* "cgkill": as an older kernel: no cgroup.kill, layers of an overlay by name */
	AK_WEAK_KEEPER = 1u << 30,	/* "keeper": keepers leave running what a command left */
	AK_WEAK_BENEATH = 1u << 31,	/* "beneath": file operations follow links wherever they lead */
	AK_WEAK_OOMADJ = 1u << 29,	/* "oomadj": oom_score_adj unchanged */
};

#ifdef AK_TEST_WEAKEN
uint32_t ak_weaken_mask(void);	/* from the variable AK_WEAKEN, a comma list; unknown names end the process with 125 */
#define AK_WEAK(mask, bit) (((mask) & (bit)) != 0)
#else
#define ak_weaken_mask() 0u
#define AK_WEAK(mask, bit) ((void)(mask), 0)
#endif

#endif
