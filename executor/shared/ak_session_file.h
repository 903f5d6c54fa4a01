/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the list of sessions says of one: a small file in the session's folder, written by the agent, read by the executor. No JSON: the
 * executor reads none. Pure; any process, no privilege, allocates nothing.
 */
#ifndef AK_SHARED_AK_SESSION_FILE_H
#define AK_SHARED_AK_SESSION_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AK_SESSION_ID_MAX 15u		/* "s-", 12 hex digits, NUL */
#define AK_SESSION_ABOUT "about"	/* the file's name */
#define AK_SESSION_DISCARDED "discarded"	/* a file that is there once its kept changes were thrown away */
#define AK_SESSION_ABOUT_MAX 8192u	/* bytes of the file */
#define AK_SESSION_TASK_MAX 200u	/* bytes of the task that are kept */
#define AK_SESSION_COST_UNKNOWN UINT64_MAX
#define AK_SESSION_NOT_ENDED 255u	/* no exit code yet: it runs, or was killed */

#define AK_SESSION_TOUCHED "touched"		/* STATE/touched/uUID/SESSION/list: files that tools have changed in a workspace of that owner itself */
#define AK_SESSION_TOUCHED_LIST "list"
#define AK_SESSION_POINTS "points"	/* the file that says before which turns the checkpoints were made: one record after the other */
#define AK_SESSION_POINT_BYTES 16u

/* One checkpoint of the session's copy of the workspace */
struct ak_session_point {
	uint32_t point;	/* its number */
	uint32_t run;	/* of the session, from 1 */
	uint64_t turn;	/* of that run: it was made before the calls of this one */
};

struct ak_session_about {
	uint64_t created_ms, updated_ms;	/* since 1970 */
	uint64_t runs, turns, tool_calls;
	uint64_t cost_picousd;		/* or AK_SESSION_COST_UNKNOWN */
	uint32_t exit_code;		/* of the last run; or AK_SESSION_NOT_ENDED */
	const char *workspace, *model, *task;
};

/** ak_session_id_ok() - has @id the form of a session's name? */
bool ak_session_id_ok(const char *id);
/** ak_session_about_encode() - Return: bytes; -EINVAL (a text is missing or too long); -ENOBUFS */
long ak_session_about_encode(const struct ak_session_about *a, void *buf, size_t cap);
/** ak_session_point_encode() - a record of AK_SESSION_POINT_BYTES */
void ak_session_point_encode(const struct ak_session_point *p, void *buf);
/** ak_session_point_decode() - its inverse; every such bytes are one */
void ak_session_point_decode(const void *buf, struct ak_session_point *ret);

/** ak_session_about_decode() - texts point into @buf. Return: 0; -EBADMSG, and @ret is untouched. */
int ak_session_about_decode(const void *buf, size_t len, struct ak_session_about *ret);

#endif
