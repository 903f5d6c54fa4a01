/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines that were typed into `ak chat`, kept for the next one: STATE/chat_history, 0600, one line an entry. Secrets are masked before they
 * are written. Process: agent. Privilege: none; the file is opened before the agent confines itself.
 */
#ifndef AK_AGENT_CHAT_HISTORY_H
#define AK_AGENT_CHAT_HISTORY_H

#include <stddef.h>

struct ak_buf;
struct ak_err;

#define CHAT_HISTORY_FILE "chat_history"
#define CHAT_HISTORY_ENTRY_MAX (16u << 10) /* bytes; longer ones are not kept */
#define CHAT_HISTORY_LINES 1000u	   /* that are read */
#define CHAT_HISTORY_MAX (1u << 20)	   /* bytes of the file; when it is opened larger, the older half goes */

/**
 * chat_history_open() - the file, made where it is missing; shortened where it is too large
 * @env:	for XDG_STATE_HOME and HOME
 * Return: its descriptor, owned by the caller; -ENOENT, -EPERM as session_new(); -EPERM (no regular file, or somebody else's); errno
 * of openat(2) (-ELOOP: a link is not followed).
 */
int chat_history_open(char *const env[], struct ak_err *err);

/**
 * chat_history_load() - @each is called for every entry, the oldest first
 * @ctx:	of @each; @text lives during the call
 * Return: 0; errno of reading; -ENOMEM.
 */
int chat_history_load(int fd, void (*each)(void *ctx, const char *text), void *ctx, struct ak_err *err);

/**
 * chat_history_add() - append an entry, with one write
 * What is over CHAT_HISTORY_ENTRY_MAX is left out. @fd -1: nothing is stored. Return: 0; errno of write(2) and flock(2); -ENOMEM;
 * -EWOULDBLOCK: somebody else has held its lock for as long as 0.2 s, and the entry is not kept.
 */
int chat_history_add(int fd, const char *text, size_t len, struct ak_err *err);

/* --- pure --- */

/** chat_history_encode() - an entry as a line: newlines and backslashes are written as \n and \\, other controls are left out */
void chat_history_encode(const char *text, size_t len, struct ak_buf *out);
/** chat_history_decode() - back, in place. Return: the new length. */
size_t chat_history_decode(char *line, size_t len);

#endif
