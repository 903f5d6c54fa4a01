/* SPDX-License-Identifier: Apache-2.0 */
/* The file about a session as bytes. Any process, no privilege, allocates nothing. */
#include "executor/shared/ak_session_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "executor/shared/ak_wire.h"

#define MAGIC 0x31536b61u /* "akS1": the version is part of it */
#define MODEL_MAX 256u

bool ak_session_id_ok(const char *id)
{
	return strlen(id) == AK_SESSION_ID_MAX - 1 && id[0] == 's' && id[1] == '-' &&
	       strspn(id + 2, "0123456789abcdef") == AK_SESSION_ID_MAX - 3;
}

static bool valid(const struct ak_session_about *a)
{
	return a->workspace && a->model && a->task && a->workspace[0] == '/' && strlen(a->workspace) < PATH_MAX &&
	       strlen(a->model) <= MODEL_MAX && strlen(a->task) <= AK_SESSION_TASK_MAX && a->exit_code <= AK_SESSION_NOT_ENDED;
}

long ak_session_about_encode(const struct ak_session_about *a, void *buf, size_t cap)
{
	struct ak_wr w;

	if (!valid(a))
		return -EINVAL;
	ak_wr_init(&w, buf, cap);
	ak_wr_u32(&w, MAGIC);
	ak_wr_u64(&w, a->created_ms);
	ak_wr_u64(&w, a->updated_ms);
	ak_wr_u64(&w, a->runs);
	ak_wr_u64(&w, a->turns);
	ak_wr_u64(&w, a->tool_calls);
	ak_wr_u64(&w, a->cost_picousd);
	ak_wr_u32(&w, a->exit_code);
	ak_wr_str(&w, a->workspace);
	ak_wr_str(&w, a->model);
	ak_wr_str(&w, a->task);
	return ak_wr_done(&w);
}

int ak_session_about_decode(const void *buf, size_t len, struct ak_session_about *ret)
{
	struct ak_session_about a = { 0 };
	struct ak_rd r;

	ak_rd_init(&r, buf, len);
	if (ak_rd_u32(&r) != MAGIC)
		return -EBADMSG;
	a.created_ms = ak_rd_u64(&r);
	a.updated_ms = ak_rd_u64(&r);
	a.runs = ak_rd_u64(&r);
	a.turns = ak_rd_u64(&r);
	a.tool_calls = ak_rd_u64(&r);
	a.cost_picousd = ak_rd_u64(&r);
	a.exit_code = ak_rd_u32(&r);
	a.workspace = ak_rd_str(&r);
	a.model = ak_rd_str(&r);
	a.task = ak_rd_str(&r);
	if (ak_rd_done(&r) < 0 || !valid(&a))
		return -EBADMSG;
	*ret = a;
	return 0;
}

void ak_session_point_encode(const struct ak_session_point *p, void *buf)
{
	struct ak_wr w;

	ak_wr_init(&w, buf, AK_SESSION_POINT_BYTES);
	ak_wr_u32(&w, p->point);
	ak_wr_u32(&w, p->run);
	ak_wr_u64(&w, p->turn);
}

void ak_session_point_decode(const void *buf, struct ak_session_point *ret)
{
	struct ak_rd r;

	ak_rd_init(&r, buf, AK_SESSION_POINT_BYTES);
	ret->point = ak_rd_u32(&r);
	ret->run = ak_rd_u32(&r);
	ret->turn = ak_rd_u64(&r);
}
