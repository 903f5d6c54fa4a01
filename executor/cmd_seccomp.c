/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what a profile does, and learns one; ak-policy reads it, since the executor reads no JSON. Process: executor. Privilege: the caller's. */
#include "executor/cmd_seccomp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/cmd_exec.h"
#include "executor/companion.h"
#include "executor/seccomp_user.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "seccomp/filters.h"

#define TEXT_MAX (1u << 20)

static const char help_text[] = "usage: ak seccomp check PROFILE   what a profile allows and refuses here, and what is odd in it\n"
				"       ak seccomp dump PROFILE    the same, and the filter's program\n"
				"       ak seccomp learn [OPTIONS] [--] COMMAND [ARG...]\n"
				"                                  run COMMAND, and print a profile of what it called\n"
				"\n"
				"PROFILE: default, strict, nested, or the path of a Docker-format JSON file.\n"
				"OPTIONS: those of ak exec. The command's output goes to standard error, the profile to standard output.\n";

static void complain(const char *text, const char *hint)
{
	struct ak_buf b = { 0 };

	ak_buf_printf(&b, "ak: %s%s%s\n", text, hint && *hint ? " - " : "", hint ? hint : "");
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);	/* nobody else can be told */
	ak_buf_release(&b);
}

static int usage(const char *text)
{
	complain(text, "see ak seccomp --help");
	return 2;
}

static int show(const char *verb, const char *profile)
{
	const char *argv[] = { "ak-policy", verb, profile, NULL };
	bool shipped = seccomp_profile(profile) != NULL;
	char *text = NULL, *out = NULL;
	size_t len = 0, out_len = 0;
	struct ak_err err = { 0 };
	int rc = shipped ? 0 : seccomp_user_read("seccomp", profile, &text, &len, &err);

	if (rc == 0)
		rc = companion_run(argv, text ? text : "", len, TEXT_MAX, &out, &out_len, &err);
	if (rc == 0)
		rc = ak_write_all(STDOUT_FILENO, out, out_len);
	else
		complain(err.msg, err.hint);
	free(text);
	free(out);
	return rc < 0;
}

int cmd_seccomp(int argc, char *const argv[], char *const env[], uint64_t start_ns)
{
	if (argc >= 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0))
		return ak_write_all(STDOUT_FILENO, help_text, sizeof(help_text) - 1) < 0;
	if (argc < 1)
		return usage("seccomp: check, dump or learn is expected");
	if (strcmp(argv[0], "learn") == 0)
		return cmd_learn(argc - 1, argv + 1, env, start_ns);
	if (strcmp(argv[0], "check") != 0 && strcmp(argv[0], "dump") != 0)
		return usage("seccomp: unknown command: check, dump or learn is expected");
	if (argc != 2)
		return usage("seccomp: one profile is expected");
	return show(argv[0], argv[1]);
}
