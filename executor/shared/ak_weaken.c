/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the switches of the test build; empty in every other build. Process: executor. Privilege: none. */
#include "executor/shared/ak_weaken.h"

#ifdef AK_TEST_WEAKEN
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t bits;
} switches[] = {
	{"caps", AK_WEAK_CAPS},		{"nnp", AK_WEAK_NNP | AK_WEAK_CAPS},
	{"landlock", AK_WEAK_LANDLOCK}, {"profile", AK_WEAK_PROFILE},
	{"floor", AK_WEAK_FLOOR},	{"masks", AK_WEAK_MASKS},
	{"procro", AK_WEAK_PROC_RO},	{"dumpable", AK_WEAK_DUMPABLE},
	{"fds", AK_WEAK_FDS},		{"env", AK_WEAK_ENV},
	{"rdonly", AK_WEAK_RDONLY},	{"nosuid", AK_WEAK_NOSUID},
	{"netns", AK_WEAK_NETNS},
	{"pdeath", AK_WEAK_PDEATH},	{"rlimits", AK_WEAK_RLIMITS},
	{"canary", AK_WEAK_CANARY},	{"rootview", AK_WEAK_ROOTVIEW},
	{"protect", AK_WEAK_PROTECT},	{"streams", AK_WEAK_STREAMS},
	{"signals", AK_WEAK_SIGNALS},	{"loopback", AK_WEAK_LOOPBACK},
	{"nslimit", AK_WEAK_NSLIMIT},	{"ipcns", AK_WEAK_IPCNS},
	{"utsns", AK_WEAK_UTSNS},	{"session", AK_WEAK_SESSION},
	{"keyring", AK_WEAK_KEYRING},	{"ttyfilter", AK_WEAK_PTYFILTER},
	{"oomadj", AK_WEAK_OOMADJ},	{"cgroup", AK_WEAK_CGROUP},
	{"cgkill", AK_WEAK_CGKILL},	{"keeper", AK_WEAK_KEEPER},
	{"beneath", AK_WEAK_BENEATH},
};

static uint32_t bits_of(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		if (strlen(switches[i].name) == len && memcmp(switches[i].name, name, len) == 0)
			return switches[i].bits;
	}
	(void)fprintf(stderr, "ak: AK_WEAKEN: no switch is called \"%.*s\"\n", (int)len, name);
	exit(125);
}

uint32_t ak_weaken_mask(void)
{
	const char *list = getenv("AK_WEAKEN");
	uint32_t mask = 0;

	while (list && *list) {
		size_t len = strcspn(list, ",");

		mask |= bits_of(list, len);
		list += len + (list[len] == ',');
	}
	return mask;
}
#endif
