/* SPDX-License-Identifier: Apache-2.0 */
/* Hands subcommands of the agent's side over to ak-agent. Process: executor, which ends thereby. Privilege: the caller's. */
#include "executor/hand_over.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "executor/args_agent.h"
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

/* `ak models` has no sandbox, but the providers of the config files: ak-agent models-of N, N texts, WORDS... */
static int with_providers(char *argv[], char *envp[], struct args_settings *s, char count[24], char ***ret, struct ak_err *err)
{
	size_t words = 0, n = 0;
	char **v;
	int rc = args_providers_load(envp, s, err);

	if (rc < 0 || s->n == 0)
		return rc;
	while (argv[words])
		words++;
	v = calloc(words + s->n + 2, sizeof(*v));
	if (!v)
		return ak_err_set(err, ENOMEM, "out of memory");
	(void)snprintf(count, 24, "%zu", s->n);
	v[n++] = argv[0];
	v[n++] = (char *)(uintptr_t)"models-of";
	v[n++] = count;
	memcpy(v + n, s->v, s->n * sizeof(*v));
	memcpy(v + n + s->n, argv + 2, (words - 2) * sizeof(*v));
	*ret = v;
	return 0;
}

static int start(char *argv[], char *envp[], struct ak_err *err)
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

int hand_over(char *argv[], char *envp[], struct ak_err *err)
{
	struct args_settings s = { 0 };
	char **more = NULL;
	char count[24];
	int rc = strcmp(argv[1], "models") == 0 ? with_providers(argv, envp, &s, count, &more, err) : 0;

	if (rc == 0)
		rc = start(more ? more : argv, envp, err);
	args_settings_release(&s);
	free(more);
	return rc;
}
