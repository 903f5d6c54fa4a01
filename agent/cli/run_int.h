/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of `ak run` and `ak chat`: what they share, which is all but where the user's messages come from. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CLI_RUN_INT_H
#define AK_AGENT_CLI_RUN_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/cancel.h"
#include "agent/gate.h"
#include "agent/loop.h"
#include "agent/prices.h"
#include "agent/run_opts.h"
#include "agent/session.h"
#include "agent/session_about.h"
#include "agent/structured.h"
#include "executor/shared/ak_buf.h"

struct run;

/**
 * struct run_front - who asks, in place of the command line and standard input
 * @name:	of the command, for messages
 * @help:	text of --help
 * @settings:	those of config files are read, the words not yet: what does not hold for it is taken back
 * @check:	the words are read, nothing is made yet. Return: 0; -1 with the result filled.
 * @open:	everything is there but the confinement: the last moment to open a file. Return: as @check.
 * @work:	confined: ask and answer, until it is over
 * @close:	after the result was shown; also when @open and @work were not called
 * @ctx:	its own
 */
struct run_front {
	const char *name;
	const char *(*help)(void);
	void (*settings)(struct run_opts *o);
	int (*check)(struct run *r);
	int (*open)(struct run *r);
	void (*work)(struct run *r);
	void (*close)(struct run *r);
	void *ctx;
};

/* everything one run owns */
struct run {
	char **env;
	struct run_opts opts;
	struct run_out out;
	struct cancel cancel;
	struct providers own;	/* of config files */
	struct provider_wish wish;	/* what was asked for; borrows from @opts and @head until the session is open */
	struct provider provider;
	struct prices prices;
	struct exec_client xc;
	struct session session;
	struct transcript transcript;
	struct transcript_head head;
	struct history hist;
	struct spool_dir spools;
	struct trace trace;
	struct session_about about;
	struct gate gate;
	struct budget budget;
	struct tool_env tools;
	struct points points;
	struct loop loop;
	struct run_result result;
	struct structured structured;
	struct ak_buf task;
	struct msg attached;	/* --attach: images only */
	struct ak_buf system;
	char *system_file; /* --system-prompt-file */
	uint64_t start_ms;
	bool opened;  /* provider */
	bool resumed;
	bool told;	   /* the model knows what became of its last run */
	bool keeps;	   /* what write_file and edit_file replace is kept, to be rolled back */
	bool direct_left; /* files that tools of a run with --write direct have changed can be taken back, but not in this run */
	uint64_t pending; /* files of a run before, of which that is true still */
	const char *workspace;	/* the host's path of it; borrowed */
	const char *session_id;	/* the executor's word on which session it is; "": it leaves that to us; borrowed */
	const char *kept;	/* the changeset that the session's last run left; ""; borrowed */
	const struct run_front *front; /* NULL: the task is read once */
};

/** run_main() - all of `ak run`; @front: NULL, or who asks instead. @argc, @argv: as cmd_run(). Return: the exit code. */
int run_main(int argc, char *argv[], char *envp[], const struct run_front *front);

/**
 * run_say() - a message of the user's, into the history and the transcript
 * The first one of a conversation gets what prompt_first() puts behind it.
 * Return: 0; -1 with the result filled: -ENOMEM, or the executor is gone.
 */
int run_say(struct run *r, const char *text, size_t len);

#endif
