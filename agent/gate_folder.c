/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate asks of the sandbox: where a path leads, and the folder of the next command. Process: agent. Privilege: none. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "agent/gate.h"
#include "agent/tool.h"
#include "executor/shared/ak_buf.h"

/*
 * Asked as the next command would be started, and then the shell is killed, so that the session stays as it
 * was. In POSIX mode no function stands before unset, so none of an earlier command answers in the place of
 * pwd.
 */
#define ASK_FOLDER "(POSIXLY_CORRECT=1; unset -f command pwd kill; command pwd -P; command kill -KILL $$)"

int gate_output(struct gate *g, unsigned kind, const char *const argv[], struct ak_buf *ret)
{
	struct ak_request rq = {.sandbox = g->xc->sandbox,
				.kind = (uint8_t)kind,
				.argv = argv,
				.timeout_ms = GATE_RESOLVE_MS,
				.flags = AK_EXEC_TIMEOUT_SET | AK_EXEC_NO_STARTED,
				.stream = {AK_STREAM_NULL, AK_STREAM_CAPTURE, AK_STREAM_NULL}};
	const uint8_t *head, *tail;
	size_t nh, nt;
	struct ak_done d = {0};
	bool good;
	int rc = ak_exec(g->xc->cl, &rq, &d, NULL);

	if (rc < 0)
		return rc;
	ak_done_output(&d, 0, &head, &nh, &tail, &nt);
	if (kind == AK_EXEC_SESSION)
		good = d.r.status == AK_STATUS_SIGNALED && d.r.signal == SIGKILL;
	else
		good = d.r.status == AK_STATUS_EXITED && d.r.exit_code == 0;
	if (!good || nt > 0 || nh < 2 || head[nh - 1] != '\n')
		rc = -EIO;
	else
		ak_buf_add(ret, head, nh - 1);
	ak_done_release(&d);
	return rc;
}

/* who is not asked for calls one by one has no use for it */
static bool is_wanted(const struct gate *g)
{
	return g->person && (g->policy == APPROVE_ALWAYS_ASK || g->policy == APPROVE_SMART || g->denies);
}

int gate_folder(struct gate *g)
{
	const char *argv[] = {ASK_FOLDER, NULL};
	struct ak_buf text = {0};
	const char *folder = NULL;
	int rc;

	if (!g->moved)
		return 0;
	if (is_wanted(g) && (g->env->sandbox_dead || g->xc->sandbox == 0))
		folder = g->xc->workspace; /* the next sandbox's shell begins there */
	else if (is_wanted(g) && gate_output(g, AK_EXEC_SESSION, argv, &text) == 0 && text.data &&
		 !memchr(text.data, '\n', text.len) && strlen(text.data) == text.len)
		folder = text.data;
	rc = approver_folder(g->approver, folder);
	ak_buf_release(&text);
	return rc;
}
