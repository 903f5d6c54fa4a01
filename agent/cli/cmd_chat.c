/* SPDX-License-Identifier: Apache-2.0 */
/* `ak chat`, the agent's half: `ak run` with a person in front of it. Process: agent. Privilege: none. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "agent/chat.h"
#include "agent/cli/commands.h"
#include "agent/cli/run_int.h"
#include "executor/shared/ak_err.h"

static const char *help(void)
{
	return "usage: ak chat [OPTIONS] [MESSAGE]\n"
	       "Talk with a model that works through tools in a sandbox. MESSAGE is the first thing said.\n"
	       "\n"
	       "Options are those of `ak run` (ak run --help), but for those that are about one result: --output, --json,\n"
	       "--output-last-message, --output-schema, --fail-on-denied. Budgets, --max-turns and --timeout hold for each message.\n"
	       "--resume ID and --continue go on with a session of either.\n"
	       "\n"
	       "  /clear                 forget the conversation; the workspace stays as it is\n"
	       "  /cost                  tokens, money and time of this chat\n"
	       "  /diff                  what was changed in the copy of the workspace\n"
	       "  /rollback [TURN]       undo all changes of this chat, or those since that turn\n"
	       "  /tools                 what the model can call\n"
	       "  /exit, /quit           end the chat; changes are taken over as --apply says (ask)\n"
	       "  /help                  commands and keys\n"
	       "\n"
	       "A line that ends with \\ goes on in the next one; a paste is one message. Ctrl-C stops the model, or drops what was typed; in an\n"
	       "empty line it ends the chat, as Ctrl-D does. Lines are kept in the state folder (chat_history), secrets masked, not with\n"
	       "--ephemeral.\n"
	       "\n"
	       "Exit code: 0; 1 error, 2 usage or no terminal, 3 authentication, 5 no sandbox, 19 changes kept, not applied, 129/143 interrupted.\n";
}

/* the one setting about a result; it is meant for runs */
static void settings(struct run_opts *o)
{
	o->fail_on_denied = false;
}

static int check(struct run *r)
{
	const struct run_opts *o = &r->opts;
	struct ak_err *err = &r->result.err;
	const char *name = o->format != RUN_TEXT ? "--output and --json" : o->output_last_message ? "--output-last-message" :
			   o->output_schema ? "--output-schema" : o->fail_on_denied ? "--fail-on-denied" : NULL;

	r->result.end = RUN_USAGE;
	if (name) {
		(void)ak_err_set(err, EINVAL, "chat: %s: a chat has no single result", name);
		ak_err_hint(err, "use it with ak run");
		return -1;
	}
	if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1 || isatty(STDERR_FILENO) != 1) {
		(void)ak_err_set(err, ENOTTY, "chat: standard input, output and error have to be a terminal");
		ak_err_hint(err, "without one, use ak run");
		return -1;
	}
	r->result.end = RUN_DONE;
	return 0;
}

static int open_front(struct run *r)
{
	return chat_open(r->front->ctx, r);
}

static void work(struct run *r)
{
	chat_work(r->front->ctx, r);
}

static void close_front(struct run *r)
{
	r->out.view = NULL;
	chat_close(r->front->ctx);
}

int cmd_chat(int argc, char *argv[], char *envp[])
{
	struct chat c = { .history = -1 };
	struct run_front front = { .name = "chat", .help = help, .settings = settings, .check = check, .open = open_front, .work = work, .close = close_front,
				   .ctx = &c };

	/* the terminal sends it to ak, too, which tells us: one key is one interrupt */
	(void)signal(SIGINT, SIG_IGN);
	return run_main(argc, argv, envp, &front);
}
