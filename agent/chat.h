/* SPDX-License-Identifier: Apache-2.0 */
/* `ak chat`: messages and commands of a person, one after the other, over one run. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CHAT_H
#define AK_AGENT_CHAT_H

#include <stdint.h>

#include "agent/chat_view.h"
#include "agent/usage.h"

struct line;
struct run;

/**
 * struct chat - start with zeroes and @history -1
 * @total:	of all messages
 * @messages:	that the model was asked
 */
struct chat {
	struct line *line;
	int history; /* descriptor; owned; -1 */
	bool history_locked; /* somebody else held it at the last line, which is said */
	struct chat_view view;
	struct usage total;
	uint64_t messages;
};

/** chat_open() - line editor and history, before the confinement. Return: 0; -1 with the result of @r filled. */
int chat_open(struct chat *c, struct run *r);
/** chat_work() - until the person, a signal or the executor ends it; why is in the result of @r */
void chat_work(struct chat *c, struct run *r);
/** chat_close() - the terminal is as it was found afterwards */
void chat_close(struct chat *c);

#endif
