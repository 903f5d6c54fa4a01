/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the small file that `ak sessions` reads (executor/shared/ak_session_file.h). Process: agent. Privilege: none. */
#ifndef AK_AGENT_SESSION_ABOUT_H
#define AK_AGENT_SESSION_ABOUT_H

#include <stdint.h>

#include "executor/shared/ak_session_file.h"

struct budget;
struct run_result;

/**
 * struct session_about - written by descriptor, which stays open; session_about_close()
 * Nothing hangs on the file but what a list says: what cannot be written is not.
 * @fd:		-1: an ephemeral session, or it could not be opened
 * @before:	totals of the session's earlier runs, or of a chat's earlier messages, and the texts, which point into @texts and @task
 */
struct session_about {
	int fd;
	struct ak_session_about before;
	char texts[AK_SESSION_ABOUT_MAX];
	char task[AK_SESSION_TASK_MAX + 1];
};

/** session_about_open() - of a session that begins, or that goes on; before the agent is confined. @dir: -1 does nothing */
void session_about_open(struct session_about *s, int dir, const char *workspace, const char *model, const char *task);
/** session_about_task() - the first message of a session that began without one; one that has a task keeps it */
void session_about_task(struct session_about *s, const char *task);
/** session_about_next() - what @b has booked is over, and it begins anew: a chat's next message. Turns and calls are counted on. */
void session_about_next(struct session_about *s, const struct budget *b);
/** session_about_turn() - what the run has used so far. @exit_code: AK_SESSION_NOT_ENDED while it goes on */
void session_about_turn(struct session_about *s, const struct run_result *r, const struct budget *b, uint32_t exit_code);
void session_about_close(struct session_about *s);

#endif
