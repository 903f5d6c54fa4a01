/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's sessions in `ak sessions`. Process: executor. Privilege: the caller's. */
#ifndef AK_CMD_SESSIONS_AGENT_H
#define AK_CMD_SESSIONS_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include "executor/workspace/changeset.h"

struct ak_buf;
struct ak_json;
struct changes;

/* Which changeset is of which session; filled while changesets are listed */
struct kept_list {
	struct kept_pair {
		char session[16];
		char changeset[CHANGESET_ID_MAX];
	} *v;		/* owned */
	size_t n;
};

/** kept_note() - take note of a changeset, if it is one of the agent's. Without memory it is left out. */
void kept_note(struct kept_list *k, const struct changeset *cs);
void kept_release(struct kept_list *k);

/** sessions_agent_list() - all sessions, the newest first: an array into @j, or without it a table */
void sessions_agent_list(int sessions, const struct kept_list *k, struct ak_json *j, struct ak_buf *out);

/**
 * sessions_agent_show() - one, with the changes that are kept of it
 * @c:	begun, nothing found yet
 * Return: exit code; what is wrong has been said.
 */
int sessions_agent_show(struct changes *c, const char *id, bool json);
/** sessions_agent_rm() - remove one, with what is kept of it. Return: exit code; what is wrong has been said. */
int sessions_agent_rm(struct changes *c, const char *id);

/* --- cmd_sessions.c --- */

/** sessions_put_when() - local time, of nanoseconds since 1970 */
void sessions_put_when(struct ak_buf *out, int64_t ns);
/** sessions_put_changes() - the paths of a changeset that was read: a member "files" of @j, or without it lines */
void sessions_put_changes(const struct changes *c, struct ak_json *j, struct ak_buf *out);

#endif
