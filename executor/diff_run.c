/* SPDX-License-Identifier: Apache-2.0 */
/* The host's diff in a sandbox. Process and privilege: see diff_run.h. */
#include "executor/diff_run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "executor/changes.h"
#include "executor/cmd_exec.h"
#include "executor/diff_view.h"
#include "executor/shared/ak_err.h"
#include "executor/workspace/owner.h"

/* the caller's PATH may lead into the workspace, where a run could have put a diff of its own */
static const char clean_path[] = "PATH=/usr/bin:/bin:/run/current-system/sw/bin";

#define CLEAN_ENV_MAX 64

static void clean_env(char *const env[], char *ret[static CLEAN_ENV_MAX + 2])
{
	static const char *const kept[] = { "HOME=", "USER=", "LANG=", "LC_", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=",
					    "XDG_RUNTIME_DIR=", "AK_" };
	size_t n = 0;

	ret[n++] = (char *)clean_path;
	for (; *env && n <= CLEAN_ENV_MAX; env++)
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (strncmp(*env, kept[i], strlen(kept[i])) == 0 && n <= CLEAN_ENV_MAX)
				ret[n++] = *env;
	ret[n] = NULL;
}

/* its own process, since in root mode making a sandbox gives root up */
int diff_run(const char *where, char *const env[], struct ak_err *err)
{
	struct diff_view dv = DIFF_VIEW_NONE;
	pid_t pid;
	int r = diff_view_open(&dv, err);

	if (r < 0)
		return r;
	pid = fork();
	if (pid == 0) {
		char *const argv[] = { (char *)"-q", (char *)"-C", (char *)where, (char *)"--write", (char *)"none", (char *)"--",
				       (char *)"diff", (char *)"-urN", (char *)"--no-dereference", (char *)"a", (char *)"b", NULL };
		char *clean[CLEAN_ENV_MAX + 2];

		clean_env(env, clean);
		diff_view_child(&dv);
		_exit(cmd_exec_own((int)(sizeof(argv) / sizeof(argv[0])) - 1, argv, clean));
	}
	if (pid < 0)
		return ak_err_sys(err, errno, "fork");
	diff_view_copy(&dv);
	r = owner_wait(pid);
	if (r == 127)
		changes_say("the host has no diff program: install diffutils, or use --stat");
	return r == 0 || r == 1 ? 0 : 1;	/* diff(1): 1 means that there are differences */
}
