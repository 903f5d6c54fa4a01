/* SPDX-License-Identifier: Apache-2.0 */
/* Hands subcommands of the agent's side over to ak-agent. Process: executor, which ends thereby. Privilege: the caller's. */
#include "executor/hand_over.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

static const char *const agent_words[] = {"prices", "models"};
static const char *const agent_places[] = {"ak-agent", "../libexec/ak/ak-agent"};

bool hand_over_knows(const char *word)
{
	for (size_t i = 0; i < sizeof(agent_words) / sizeof(agent_words[0]); i++) {
		if (strcmp(word, agent_words[i]) == 0)
			return true;
	}
	return false;
}

/* The folder of this program, with its final slash */
static int own_folder(char ret[PATH_MAX], struct ak_err *err)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		return ak_err_sys(err, errno, "find the folder of ak (/proc/self/exe)");
	path[n] = '\0';

	char *slash = strrchr(path, '/');

	if (!slash)
		return ak_err_set(err, ENOENT, "find the folder of ak: /proc/self/exe is no path");
	slash[1] = '\0';
	memcpy(ret, path, strlen(path) + 1);
	return 0;
}

static int check_file(int fd, const char *path, struct ak_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at %s", path);
	if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		(void)ak_err_set(err, EPERM,
				 "%s is not started: it is no file that only you or root can write", path);
		ak_err_hint(err, "make it yours and run: chmod go-w %s", path);
		return -EPERM;
	}
	return 0;
}

/* Return: a descriptor of the program, -ENOENT, or another errno */
static int open_agent(struct ak_err *err)
{
	char folder[PATH_MAX];
	int rc = own_folder(folder, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof(agent_places) / sizeof(agent_places[0]); i++) {
		char path[PATH_MAX + 64];

		(void)snprintf(path, sizeof(path), "%s%s", folder, agent_places[i]);
		AK_AUTO_FD fd = open(path, O_PATH | O_CLOEXEC);

		if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
			continue;
		if (fd < 0)
			return ak_err_sys(err, errno, "open %s", path);
		rc = check_file(fd, path, err);
		return rc < 0 ? rc : ak_fd_take(&fd);
	}
	(void)ak_err_set(err, ENOENT, "ak-agent is missing: it is neither in %s nor in %s../libexec/ak", folder, folder);
	ak_err_hint(err, "install it beside ak (make install does), or copy it there");
	return -ENOENT;
}

int hand_over(char *argv[], char *envp[], struct ak_err *err)
{
	AK_AUTO_FD fd = open_agent(err);

	if (fd < 0)
		return fd;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ak_err_sys(err, errno, "set no_new_privs");
	/* by descriptor: what was checked is what runs */
	(void)execveat(fd, "", argv, envp, AT_EMPTY_PATH);
	return ak_err_sys(err, errno, "start ak-agent");
}
