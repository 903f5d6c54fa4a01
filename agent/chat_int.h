/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of `ak chat`. Process: agent. Privilege: none. */
#ifndef AK_AGENT_CHAT_INT_H
#define AK_AGENT_CHAT_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/chat_words.h"

struct chat;
struct run;

/**
 * chat_command() - do a command
 * @line, @word: the line, and bytes of its first word
 * @arg:	what stands behind it
 * Return: false: the chat ends; the result of @r is filled.
 */
bool chat_command(struct chat *c, struct run *r, enum chat_command cmd, const char *line, size_t word, const char *arg);

/** chat_end_well() - the result of a chat that the person ends: what became of the last message does not count any more */
void chat_end_well(struct run *r);

#endif
