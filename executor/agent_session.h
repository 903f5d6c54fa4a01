/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executor's view of the agent's sessions, STATE/sessions/s-...: their names, what they say about themselves, and which changeset
 * belongs to which. A changeset of `ak run` carries its session in its command, "ak run s-...": the executor's own note, made before the
 * agent starts. Process: executor. Privilege: the caller's.
 */
#ifndef AK_EXECUTOR_AGENT_SESSION_H
#define AK_EXECUTOR_AGENT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "executor/shared/ak_session_file.h"
#include "executor/workspace/changeset.h"

struct ak_err;

#define AGENT_SESSION_COMMAND "ak run "	/* and the session's name: changeset_meta.command */

/* One session's own words; the agent wrote them: shown, never obeyed */
struct agent_session {
	char id[AK_SESSION_ID_MAX];
	bool busy;		/* a run has it */
	bool known;		/* @about was read */
	struct ak_session_about about;
	char bytes[AK_SESSION_ABOUT_MAX];	/* what it points into */
};

/** agent_session_mint() - a name for a new one. Return: 0 or negative errno. */
int agent_session_mint(char ret[static AK_SESSION_ID_MAX], struct ak_err *err);
/** agent_session_of() - the session of a changeset. Return: its name, borrowed from @m; NULL: it is none of `ak run`'s */
const char *agent_session_of(const struct changeset_meta *m);

/**
 * agent_session_changeset() - the changeset that a session's last run left
 * @sessions:	the folder
 * @ret:	its meta and name; not opened. Also of one that is incomplete, which changeset_open() will say.
 * Return: 0; -ENOENT (none; without a text).
 */
int agent_session_changeset(int sessions, const char *session, char ret_id[static CHANGESET_ID_MAX], struct changeset_meta *ret,
			    struct ak_err *err);

/** agent_session_read() - one by its name. Return: 0; -ENOENT (no such session, or no folder of the caller's; without a text) */
int agent_session_read(int sessions, const char *id, struct agent_session *ret);

/**
 * agent_session_each() - all there are, in no order
 * @f:	called for each; false ends it
 */
void agent_session_each(int sessions, bool (*f)(void *arg, const struct agent_session *s), void *arg);

/** agent_session_last() - the newest of a workspace. Return: 0; -ENOENT (without a text). */
int agent_session_last(int sessions, const char *workspace, char ret[static AK_SESSION_ID_MAX]);

#define AGENT_SESSION_POINTS_MAX 100000u	/* records that are read */

/* What a session says about its checkpoints; @v is owned */
struct agent_session_points {
	struct ak_session_point *v;
	size_t n;
};

/** agent_session_points() - read that; nothing where there is none, or no memory */
void agent_session_points(int sessions, const char *id, struct agent_session_points *ret);
/** agent_session_point() - what it says about @number. Return: borrowed; NULL: nothing */
const struct ak_session_point *agent_session_point(const struct agent_session_points *p, uint32_t number);

/** agent_session_discarded() - note in a session's folder, where there is one, that its changes were thrown away */
void agent_session_discarded(int sessions, const struct changeset_meta *m);

/** agent_session_idle() - Return: 0: no run has it, or there is none; -EBUSY named */
int agent_session_idle(int sessions, const char *id, struct ak_err *err);

/**
 * agent_session_remove() - the folder with transcript, trace and long results
 * Return: 0; -ENOENT, -EBUSY (a run has it), ... named.
 */
int agent_session_remove(int sessions, const char *id, struct ak_err *err);

#endif
