/* SPDX-License-Identifier: Apache-2.0 */
/* Entry point of `ak`: finds the subcommand. Process: executor. Privilege: the caller's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor/cmd_changes.h"
#include "executor/cmd_checkpoint.h"
#include "executor/cmd_create.h"
#include "executor/cmd_exec.h"
#include "executor/cmd_named.h"
#include "executor/cmd_resume.h"
#include "executor/cmd_run.h"
#include "executor/cmd_serve.h"
#include "executor/cmd_seccomp.h"
#include "executor/config.h"
#include "executor/doctor.h"
#include "executor/hand_over.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"

#define HEAP_USUAL (28u << 10)	/* what `ak exec` uses of it */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23	/* asm-generic/mman-common.h, Linux 5.14 */
#endif

static const char help_text[] = "usage: ak COMMAND [OPTIONS]\n"
				"\n"
				"  ak exec [OPTIONS] [--] COMMAND [ARG...]   run one command in a sandbox (ak exec --help)\n"
				"  ak run [OPTIONS] [PROMPT | -]             run an agent on a task, in a sandbox (ak run --help)\n"
				"  ak chat [OPTIONS] [MESSAGE]               the same, talking with it on the terminal (ak chat --help)\n"
				"  ak resume [ID] [OPTIONS] [PROMPT]         go on with a session of ak run, or with this workspace's last\n"
				"  ak create NAME [OPTIONS]                  make a sandbox that stays (ak create --help)\n"
				"  ak exec --in NAME [OPTIONS] [--] COMMAND  run a command in it; --detach: as a background job\n"
				"  ak ls [--json]                            list named sandboxes\n"
				"  ak rm NAME [--force]                      end one\n"
				"  ak jobs NAME [--json]                     list its background jobs\n"
				"  ak logs NAME JOB [-f]                     show the output of one\n"
				"  ak kill NAME JOB                          end one\n"
				"  ak diff [ID] [--stat|--json|PATH...]      what a run with --write cow changed\n"
				"  ak apply [ID] [PATH...] [--force]         take it over into the workspace\n"
				"  ak discard [ID]                           throw it away\n"
				"  ak sessions list|show ID|rm ID            changes that are kept\n"
				"  ak serve [OPTIONS]                        serve sandboxes to a program over a socket (ak serve --help)\n"
				"  ak checkpoint save|list|diff|restore|rm   keep a workspace as it is, and take it back (ak checkpoint --help)\n"
				"  ak seccomp check|dump PROFILE             what a system call profile does (ak seccomp --help)\n"
				"  ak seccomp learn [OPTIONS] COMMAND        run a command, and print a profile of what it called\n"
				"  ak config show [--json]                   settings in force, and which file or variable they come from\n"
				"  ak doctor [--json]                        what this host can enforce, and how to get the rest\n"
				"  ak prices list|show                       prices of models\n"
				"  ak models                                 models of a provider\n"
				"  ak report [--days N]                      what sessions of the agent used and cost\n"
				"  ak --version | --help\n";

/* commands beside `ak exec`, which wants to know when ak started, and `ak doctor` */
static const struct {
	const char *name;
	int (*run)(int argc, char *const argv[], char *const env[]);
} commands[] = {
	{ "create", cmd_create }, { "ls", cmd_ls },	{ "rm", cmd_rm },
	{ "jobs", cmd_jobs },	  { "logs", cmd_logs }, { "kill", cmd_kill_job },
	{ "run", cmd_run },	  { "chat", cmd_chat },	{ "resume", cmd_resume },
	{ "serve", cmd_serve },	  { "config", cmd_config },
	{ "checkpoint", cmd_checkpoint },
	{ "apply", cmd_apply },	  { "discard", cmd_discard },
	{ "sessions", cmd_sessions }, { "diff", cmd_diff },
};

static int print(int fd, const char *text)
{
	return ak_write_all(fd, text, strlen(text)) < 0 ? 1 : 0;
}

static int usage_error(const char *word)
{
	struct ak_buf b = { 0 };

	if (word)
		ak_buf_printf(&b, "ak: unknown command \"%s\" (see ak --help)\n", word);
	else
		ak_buf_str(&b, "ak: no command given (see ak --help)\n");
	if (!b.failed)
		(void)print(STDERR_FILENO, b.data);
	ak_buf_release(&b);
	return 2;
}

static int run_agent(char *argv[], char *envp[])
{
	struct ak_err err = {0};
	struct ak_buf b = {0};

	(void)hand_over(argv, envp, &err);
	ak_buf_printf(&b, "ak: %s%s%s%s\n", err.msg, err.hint[0] ? " (" : "", err.hint, err.hint[0] ? ")" : "");
	if (!b.failed)
		(void)print(STDERR_FILENO, b.data);
	ak_buf_release(&b);
	return 1;
}

/* The first pages that malloc() gives, in one call instead of a fault for each: see entry.S */
static void touch_heap(void)
{
	const uintptr_t page = 4096;
	void *first = malloc(1);
	const uintptr_t heap = (uintptr_t)first & ~(page - 1);

	free(first);
	if (heap)
		(void)madvise((void *)heap, HEAP_USUAL, MADV_POPULATE_WRITE);	/* no more mapped there: nothing happens */
}

int main(int argc, char *argv[], char *envp[])
{
	uint64_t start_ns = ak_now_ns();

	touch_heap();
	if (argc < 2)
		return usage_error(NULL);
	if (strcmp(argv[1], "exec") == 0)
		return cmd_exec(argc - 2, argv + 2, envp, start_ns);
	if (strcmp(argv[1], "seccomp") == 0)
		return cmd_seccomp(argc - 2, argv + 2, envp, start_ns);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 2, argv + 2, envp);
	if (strcmp(argv[1], "doctor") == 0)
		return doctor_main(argc - 2, argv + 2);
	if (hand_over_knows(argv[1]))
		return run_agent(argv, envp);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
		return print(STDOUT_FILENO, help_text);
	if (strcmp(argv[1], "--version") == 0)
		return print(STDOUT_FILENO, "ak " AK_VERSION "\n");
	return usage_error(argv[1]);
}
