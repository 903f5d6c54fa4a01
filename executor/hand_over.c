/* SPDX-License-Identifier: Apache-2.0 */
/* Hands subcommands of the agent's side over to ak-agent. Process: executor, which ends thereby. Privilege: the caller's. */
#include "executor/hand_over.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "executor/companion.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static const char *const agent_words[] = {"prices", "models", "report"};

bool hand_over_knows(const char *word)
{
	for (size_t i = 0; i < sizeof(agent_words) / sizeof(agent_words[0]); i++) {
		if (strcmp(word, agent_words[i]) == 0)
			return true;
	}
	return false;
}

int hand_over(char *argv[], char *envp[], struct ak_err *err)
{
	AK_AUTO_FD fd = companion_open("ak-agent", err);

	if (fd < 0)
		return fd;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "set no_new_privs");
	/* by descriptor: what was checked is what runs */
	(void)execveat(fd, "", argv, envp, AT_EMPTY_PATH);
	return ak_err_sys(err, errno, "start ak-agent");
}
