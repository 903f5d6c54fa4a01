/* SPDX-License-Identifier: Apache-2.0 */
/* Entry point of ak-agent: finds the subcommand. Started by ak. Process: agent. Privilege: none. */
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/commands.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_fd.h"

struct command {
	const char *name;
	cli_fn *run;
};

/* The names are in executor/hand_over.c, too; run and chat are started by executor/cmd_run.c */
static const struct command commands[] = {
	{"prices", cmd_prices},
	{"models", cmd_models},
	{"models-of", cmd_models_of},
	{"report", cmd_report},
	{"run", cmd_run},
	{"chat", cmd_chat},
	{"confine-check", cmd_confine_check},
	{NULL, NULL},
};

static int usage_error(const char *word)
{
	struct ak_buf b = {0};

	if (word)
		ak_buf_printf(&b, "ak: ak-agent has no command \"%s\" (see ak --help)\n", word);
	else
		ak_buf_str(&b, "ak: ak-agent is started by ak (see ak --help)\n");
	if (!b.failed)
		(void)ak_write_all(STDERR_FILENO, b.data, b.len);
	ak_buf_release(&b);
	return 2;
}

int main(int argc, char *argv[], char *envp[])
{
	/* started by descriptor, older kernels name the process after its number; a name is all this is about */
	(void)prctl(PR_SET_NAME, "ak-agent", 0, 0, 0);
	if (argc < 2)
		return usage_error(NULL);
	for (const struct command *c = commands; c->name; c++) {
		if (strcmp(argv[1], c->name) == 0)
			return c->run(argc - 2, argv + 2, envp);
	}
	if (strcmp(argv[1], "--version") == 0) {
		static const char text[] = "ak-agent " AK_VERSION "\n";

		return ak_write_all(STDOUT_FILENO, text, sizeof(text) - 1) < 0 ? 1 : 0;
	}
	return usage_error(argv[1]);
}
