/* SPDX-License-Identifier: Apache-2.0 */
/* Options of ak-agent's subcommands: long names only, never abbreviated, a table each. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CLI_CLI_OPT_H
#define AK_AGENT_CLI_CLI_OPT_H

#include <stdbool.h>
#include <stddef.h>

struct ak_err;

/* One option. A table ends with a NULL name. Exactly one of @value and @flag is set. */
struct cli_opt {
	const char *name;  /* "base-url" */
	char letter;	   /* 0: none */
	const char **value; /* --name VALUE, --name=VALUE; given twice, the last one counts */
	bool *flag;
};

/**
 * cli_opts() - read the options, leave the arguments
 * @command:	for messages: "prices list"
 * @args:	@max pointers; what is no option, or stands behind "--", in its order; borrowed from @argv
 * Return: 0; -EINVAL with @err (unknown option, missing or unwanted value, over @max arguments).
 */
int cli_opts(int argc, char *argv[], const char *command, const struct cli_opt *opts, const char **args, size_t max,
	     size_t *ret_n, struct ak_err *err);

/** cli_fail() - print one line, "ak: MESSAGE" or "ak: MESSAGE - HINT", to standard error. Return: @code. */
int cli_fail(const struct ak_err *err, int code);
/** cli_warn() - print "ak: MESSAGE" to standard error */
void cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
