/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which request is served when: the one table between a client's bytes and what the executor does.
 * Process: executor. Privilege: none.
 *
 * What a row says is checked before its handler sees the frame; the handler decodes with the latching reader and checks meaning
 * and policy. A handler returns -EBADMSG for a frame that is malformed (then the connection ends) and answers everything else.
 * Why a request is safe to serve is said at its row. Common to all: no request names a path, id, descriptor number or process of
 * the host; ids are looked up in the executor's own tables and only what the connection may use is found.
 */
#include <errno.h>

#include "executor/serve_int.h"

#define ONE_STATE(st) (1u << (st))

struct op_row {
	uint16_t op;
	uint32_t states;	/* bits of enum conn_state */
	uint32_t min, max;	/* payload bytes */
	uint32_t fds_max;	/* descriptors; how many exactly is for the message to say */
	int (*handler)(struct request *q);
};

#define NEW ONE_STATE(CONN_NEW)
#define READY ONE_STATE(CONN_READY)
#define BIG AK_PAYLOAD_MAX

static const struct op_row op_table[] = {
	/* tells facts of the sealed policy; changes nothing but the connection's state */
	{ AK_OP_HELLO, NEW, 9, 8 + AK_NAME_MAX, 0, op_hello },
	/* builds a sandbox of the sealed plan with lower numbers and fewer rights: policy_narrow() */
	{ AK_OP_CREATE, READY, 77, BIG, 0, op_create },
	/* runs inside a sandbox of the client's, under the filters and limits its policy fixed; descriptors are pipes or /dev/null */
	{ AK_OP_EXEC, READY, 68, BIG, AK_FDS_MAX, op_exec },
	/* only to commands the client started and to jobs; delivered by the sandbox's init within its pid namespace */
	{ AK_OP_SIGNAL, READY, 8, 8, 0, op_signal },
	{ AK_OP_KILL, READY, 4, 4, 0, op_kill },
	/* two numbers for a pty that belongs to the sandbox */
	{ AK_OP_RESIZE, READY, 12, 12, 0, op_resize },
	/* waits in a bounded table, with a deadline of the client's */
	{ AK_OP_WAIT, READY, 12, 12, 0, op_wait },
	/* reads memory of the executor's own: what jobs wrote, bounded, and numbers about them */
	{ AK_OP_JOB_LIST, READY, 4, 4, 0, op_job_list },
	{ AK_OP_JOB_LOG, READY, 16, 16, 0, op_job_log },
	/* done by the sandbox's init inside it, beneath its writable places; the executor passes memory files, never looks up a path */
	{ AK_OP_FILE, READY, 43, BIG, 1, op_file },
	/* numbers about sandboxes the client may use */
	{ AK_OP_STAT, READY, 4, 4, 0, op_stat },
	{ AK_OP_LIST, READY, 0, 0, 0, op_list },
	/* ends a sandbox the client may use: its own, or the executor's named one */
	{ AK_OP_DESTROY, READY, 4, 4, 0, op_destroy },
	/* reads the layer that ak's own overlay keeps the sandbox's changes in; names of paths below the workspace come back */
	{ AK_OP_CHANGES, READY, 8, 8, 0, op_changes },
	/* ends the sandbox; what is taken over into the workspace the command line must have allowed, protected names apart */
	{ AK_OP_FINISH, READY, 13, 13, 0, op_finish },
	/* copies that layer within ak's own state folder */
	{ AK_OP_CHECKPOINT, READY, 8, 8, 0, op_checkpoint },
	/* a name of one form, which is repeated to the user, and names a folder of ours for what file tools change */
	{ AK_OP_SESSION, READY, 9 + AK_SESSION_NAME, 9 + AK_SESSION_NAME, 0, op_session },
	/* puts files back that were written by FILE requests, below the workspace, by a child that follows no link */
	{ AK_OP_ROLLBACK, READY, 4, 4, 0, op_rollback },
	/* ends the executor: whoever may connect may end it, as closing the agent's connection does */
	{ AK_OP_SHUTDOWN, READY, 4, 4, 0, op_shutdown },
};

int dispatch_look(enum conn_state state, uint16_t op, size_t len, size_t nfds)
{
	for (size_t i = 0; i < sizeof(op_table) / sizeof(op_table[0]); i++) {
		const struct op_row *r = &op_table[i];

		if (r->op != op)
			continue;
		if (!(r->states & ONE_STATE(state)) || len < r->min || len > r->max || nfds > r->fds_max)
			return -EBADMSG;
		return (int)i;
	}
	return -EBADMSG;
}

int dispatch(struct server *s, struct conn *c, struct ak_frame *f)
{
	struct request q = { .s = s, .c = c, .f = f };
	int row = dispatch_look(c->state, f->op, f->len, f->nfds);

	return row < 0 ? row : op_table[row].handler(&q);
}
