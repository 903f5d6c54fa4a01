/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: one folder each below STATE/sessions, mode 0700, locked by the process that writes to it. Process: agent.
 * Privilege: none.
 */
#ifndef AK_AGENT_SESSION_H
#define AK_AGENT_SESSION_H

#include <stdbool.h>

#include "executor/shared/ak_session_file.h"

struct ak_err;

#define SESSION_ID AK_SESSION_ID_MAX
#define SESSION_SCAN_MAX 100000u /* folders that --continue looks at */

/**
 * struct session - an open session; session_close()
 * @dir:	owned; -1: ephemeral, nothing is stored
 * @path:	of the folder, for people; owned; NULL when ephemeral
 */
struct session {
	int dir;
	char id[SESSION_ID];
	char *path;
};

/**
 * session_new() - a new session
 * @env:	for XDG_STATE_HOME and HOME
 * @id:		the name that the executor gave it; "": one of its own
 * @ephemeral:	only a name, no folder
 * Return: 0; -ENOENT (neither variable is set); -EPERM (a folder on the way is somebody else's, or open to others); errno of
 * mkdirat(2), flock(2).
 */
int session_new(char *const env[], bool ephemeral, const char *id, struct session *ret, struct ak_err *err);

/**
 * session_open() - one that is there, to go on with
 * Return: 0; -EINVAL (no name of a session); -ENOENT (no such session); -EBUSY (another process has it); -EPERM.
 */
int session_open(char *const env[], const char *id, struct session *ret, struct ak_err *err);

/**
 * session_last() - the newest session of a workspace, opened
 * Return: 0; -ENOENT (there is none); as session_open().
 */
int session_last(char *const env[], const char *workspace, struct session *ret, struct ak_err *err);

/** session_state() - the state folder, made where it is missing. Return: a descriptor, the caller's; as session_new(). */
int session_state(char *const env[], struct ak_err *err);

/** session_close() - give it free; safe twice */
void session_close(struct session *s);

#endif
