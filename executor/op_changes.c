/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about the copy of the workspace. Process: executor. Privilege: none. */
#include <errno.h>

#include "executor/serve_int.h"

static void no_copy(struct request *q)
{
	conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_NO_CHANGES, ENOENT,
			 "this executor was not started with --write cow: there is no copy of the workspace");
}

int op_changes(struct request *q)
{
	struct ak_changes_req m;

	if (ak_changes_req_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	no_copy(q);
	return 0;
}

int op_finish(struct request *q)
{
	struct ak_finish m;

	if (ak_finish_decode(q->f->payload, q->f->len, &m) < 0)
		return -EBADMSG;
	no_copy(q);
	return 0;
}
