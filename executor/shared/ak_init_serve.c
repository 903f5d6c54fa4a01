/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire form of the requests of serve mode; executor and ak-init, no privilege. Encoding is canonical: what decodes encodes back to
 * the same bytes.
 */
#include "executor/shared/ak_init_serve.h"

#include <errno.h>
#include <string.h>

#include "executor/shared/ak_init_int.h"
#include "executor/shared/ak_wire.h"

#define STREAMS (INIT_EXEC_STDIN | INIT_EXEC_STDOUT | INIT_EXEC_STDERR)
#define PERMISSIONS 0777u

/* ---- requests ---- */

static bool exec_valid(const struct init_req *q)
{
	if ((q->flags & ~INIT_EXEC_ALL) || q->nextra > AK_INIT_EXTRA_MAX)
		return false;
	if ((q->flags & INIT_EXEC_TTY) && (q->flags & STREAMS))
		return false;
	if ((q->flags & INIT_EXEC_SESSION) && !(q->flags & INIT_EXEC_SHELL))
		return false;
	if ((q->flags & INIT_EXEC_PROGRAM) && (q->flags & INIT_EXEC_SHELL))
		return false;
	if (q->session >= AK_INIT_SESSIONS_MAX || (q->session && !(q->flags & INIT_EXEC_SESSION)))
		return false;
	if ((q->rows || q->cols) && !(q->flags & INIT_EXEC_TTY))
		return false;
	if ((q->flags & INIT_EXEC_RESET) && !(q->flags & INIT_EXEC_SESSION))
		return false;
	if (q->flags & INIT_EXEC_MEMFD)
		return q->body_len == 0;
	return q->body && q->body_len > 0 && q->body_len <= AK_INIT_EXEC_INLINE;
}

/* Which flags an operation takes */
static uint32_t file_flags(uint32_t op)
{
	switch (op) {
	case INIT_FILE_WRITE:
		return INIT_FILE_PARENTS | INIT_FILE_EXCL | INIT_FILE_KEPT;
	case INIT_FILE_STAT:
		return INIT_FILE_NOFOLLOW;
	case INIT_FILE_MKDIR:
		return INIT_FILE_PARENTS;
	case INIT_FILE_REMOVE:
		return INIT_FILE_RECURSIVE;
	case INIT_FILE_RENAME:
		return INIT_FILE_EXCL;
	default:
		return 0;
	}
}

static bool path_valid(const char *path)
{
	return path && path[0] && strlen(path) < AK_INIT_PATH_MAX;
}

static bool file_valid(const struct init_req *q)
{
	if (q->op < INIT_FILE_READ || q->op > INIT_FILE_WALK || (q->flags & ~file_flags(q->op)))
		return false;
	if (!path_valid(q->path) || q->mode > PERMISSIONS)
		return false;
	if ((q->flags & INIT_FILE_KEPT) && !q->path2)
		return true;
	return q->op == INIT_FILE_RENAME || (q->flags & INIT_FILE_KEPT) ? path_valid(q->path2) : !q->path2;
}

static bool req_valid(const struct init_req *q)
{
	if (q->type != INIT_REQ_STATS && q->id == 0)
		return false;
	switch (q->type) {
	case INIT_REQ_EXEC:
		return exec_valid(q);
	case INIT_REQ_SIGNAL:
		return q->signo >= 1 && q->signo <= INIT_SIGNO_MAX;
	case INIT_REQ_FILE:
		return file_valid(q);
	case INIT_REQ_KILL:
	case INIT_REQ_STATS:
	case INIT_REQ_LEAF:
		return true;
	default:
		return false;
	}
}

long init_req_encode(const struct init_req *q, void *buf, size_t cap)
{
	struct ak_wr w;

	if (!req_valid(q))
		return -EINVAL;
	ak_wr_init(&w, buf, cap < AK_INIT_REQ_MAX ? cap : AK_INIT_REQ_MAX);
	ak_wr_u32(&w, q->type);
	ak_wr_u32(&w, q->id);
	switch (q->type) {
	case INIT_REQ_EXEC:
		ak_wr_u32(&w, q->flags);
		ak_wr_u32(&w, q->nextra);
		ak_wr_u32(&w, q->session);
		ak_wr_u32(&w, (uint32_t)q->rows << 16 | q->cols);
		ak_wr_bytes(&w, q->body, q->body_len);
		break;
	case INIT_REQ_SIGNAL:
		ak_wr_u32(&w, q->signo);
		break;
	case INIT_REQ_FILE:
		ak_wr_u32(&w, q->op);
		ak_wr_u32(&w, q->flags);
		ak_wr_u32(&w, q->mode);
		ak_wr_u64(&w, q->offset);
		ak_wr_u64(&w, q->limit);
		ak_wr_str(&w, q->path);
		ak_wr_str(&w, q->path2);
		break;
	default: /* KILL, STATS and LEAF are type and id */
		break;
	}
	return ak_wr_done(&w);
}

int init_req_decode(const void *buf, size_t len, struct init_req *ret)
{
	struct init_req q = { 0 };
	struct ak_rd r;
	uint32_t size;
	size_t n = 0;

	if (len > AK_INIT_REQ_MAX)
		return -EBADMSG;
	ak_rd_init(&r, buf, len);
	q.type = ak_rd_u32(&r);
	q.id = ak_rd_u32(&r);
	switch (q.type) {
	case INIT_REQ_EXEC:
		q.flags = ak_rd_u32(&r);
		q.nextra = ak_rd_u32(&r);
		q.session = ak_rd_u32(&r);
		size = ak_rd_u32(&r);
		q.rows = (uint16_t)(size >> 16);
		q.cols = (uint16_t)size;
		q.body = ak_rd_bytes(&r, &n);
		q.body_len = (uint32_t)n;
		if (n == 0)
			q.body = NULL;
		break;
	case INIT_REQ_SIGNAL:
		q.signo = ak_rd_u32(&r);
		break;
	case INIT_REQ_FILE:
		q.op = ak_rd_u32(&r);
		q.flags = ak_rd_u32(&r);
		q.mode = ak_rd_u32(&r);
		q.offset = ak_rd_u64(&r);
		q.limit = ak_rd_u64(&r);
		q.path = ak_rd_str(&r);
		q.path2 = ak_rd_str(&r);
		break;
	default: /* type and id; req_valid() refuses every unknown one */
		break;
	}
	if (ak_rd_done(&r) < 0 || !req_valid(&q))
		return -EBADMSG;
	*ret = q;
	return 0;
}

uint32_t init_req_fds(const struct init_req *q)
{
	uint32_t n = 0;

	switch (q->type) {
	case INIT_REQ_EXEC:
		for (uint32_t bit = INIT_EXEC_STDIN; bit <= INIT_EXEC_MEMFD; bit <<= 1)
			n += (q->flags & bit) != 0;
		n += (q->flags & INIT_EXEC_PROGRAM) != 0;
		return n + q->nextra;
	case INIT_REQ_FILE:
		return q->op == INIT_FILE_READ || q->op == INIT_FILE_WRITE || q->op == INIT_FILE_LIST ||
		       q->op == INIT_FILE_WALK;
	case INIT_REQ_LEAF:
		return 1;
	default:
		return 0;
	}
}

/* ---- the body of EXEC ---- */

static bool names_valid(const char *const *v, uint32_t n, bool with_value)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *eq = v[i] ? strchr(v[i], '=') : NULL;

		if (!v[i] || !v[i][0] || eq == v[i] || (eq != NULL) != with_value)
			return false;
	}
	return true;
}

static bool extra_valid(const struct init_exec *e)
{
	for (uint32_t i = 0; i < e->nextra; i++) {
		if (e->extra[i] < INIT_FIRST_KEPT_FD || e->extra[i] > 1023)
			return false;
		for (uint32_t j = 0; j < i; j++) {
			if (e->extra[j] == e->extra[i])
				return false;
		}
	}
	return true;
}

static bool body_valid(const struct init_exec *e)
{
	if (e->argc == 0 || !e->cwd || (e->cwd[0] && e->cwd[0] != '/'))
		return false;
	for (uint32_t i = 0; i < e->argc; i++) {
		if (!e->argv[i])
			return false;
	}
	for (uint32_t i = 0; i < e->nrlimits; i++) {
		if (e->rlimits[i].resource >= AK_INIT_RLIMITS_MAX)
			return false;
	}
	return names_valid(e->envp, e->envc, true) && names_valid(e->unset, e->unsetc, false) && extra_valid(e);
}

static void put_strings(struct ak_wr *w, const char *const *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ak_wr_str(w, v[i]);
}

long init_exec_encode(const struct init_exec *e, void *buf, size_t cap)
{
	struct ak_wr w;
	long n;

	if (e->argc > AK_INIT_STRINGS_MAX || e->envc > AK_INIT_STRINGS_MAX || e->unsetc > AK_INIT_STRINGS_MAX ||
	    e->nrlimits > AK_INIT_RLIMITS_MAX || e->nextra > AK_INIT_EXTRA_MAX)
		return -E2BIG;
	if (!body_valid(e))
		return -EINVAL;
	ak_wr_init(&w, buf, cap);
	ak_wr_u32(&w, e->argc);
	ak_wr_u32(&w, e->envc);
	ak_wr_u32(&w, e->unsetc);
	ak_wr_u32(&w, e->nrlimits);
	for (uint32_t i = 0; i < e->nrlimits; i++) {
		ak_wr_u32(&w, e->rlimits[i].resource);
		ak_wr_u64(&w, e->rlimits[i].soft);
		ak_wr_u64(&w, e->rlimits[i].hard);
	}
	ak_wr_u32(&w, e->nextra);
	for (uint32_t i = 0; i < e->nextra; i++)
		ak_wr_u32(&w, (uint32_t)e->extra[i]);
	ak_wr_str(&w, e->cwd);
	put_strings(&w, e->argv, e->argc);
	put_strings(&w, e->envp, e->envc);
	put_strings(&w, e->unset, e->unsetc);
	n = ak_wr_done(&w);
	return n > (long)AK_INIT_EXEC_MAX ? -E2BIG : n;
}

/* The counts come first, so that the caller can size @strv without reading the rest */
static long get_counts(struct ak_rd *r, struct init_exec *e)
{
	e->argc = init_get_count(r, AK_INIT_STRINGS_MAX);
	e->envc = init_get_count(r, AK_INIT_STRINGS_MAX);
	e->unsetc = init_get_count(r, AK_INIT_STRINGS_MAX);
	if (r->failed || r->len > AK_INIT_EXEC_MAX)
		return -EBADMSG;
	return (long)e->argc + (long)e->envc + (long)e->unsetc + 3;
}

long init_exec_counts(const void *buf, size_t len)
{
	struct init_exec e;
	struct ak_rd r;

	ak_rd_init(&r, buf, len);
	return get_counts(&r, &e);
}

static const char **get_strings(struct ak_rd *r, const char ***to, uint32_t n)
{
	const char **v = *to;

	for (uint32_t i = 0; i < n && !r->failed; i++)
		v[i] = ak_rd_str(r);
	v[n] = NULL;
	*to += n + 1;
	return v;
}

int init_exec_decode(const void *buf, size_t len, const char **strv, size_t nstrv, struct init_exec *ret)
{
	struct init_exec e = { 0 };
	struct ak_rd r;
	long n;

	ak_rd_init(&r, buf, len);
	n = get_counts(&r, &e);
	if (n < 0)
		return (int)n;
	if ((size_t)n > nstrv)
		return -ENOSPC;
	e.nrlimits = init_get_count(&r, AK_INIT_RLIMITS_MAX);
	for (uint32_t i = 0; i < e.nrlimits; i++) {
		e.rlimits[i].resource = ak_rd_u32(&r);
		e.rlimits[i].soft = ak_rd_u64(&r);
		e.rlimits[i].hard = ak_rd_u64(&r);
	}
	e.nextra = init_get_count(&r, AK_INIT_EXTRA_MAX);
	for (uint32_t i = 0; i < e.nextra; i++)
		e.extra[i] = (int32_t)ak_rd_u32(&r);
	e.cwd = ak_rd_str(&r);
	e.argv = get_strings(&r, &strv, e.argc);
	e.envp = get_strings(&r, &strv, e.envc);
	e.unset = get_strings(&r, &strv, e.unsetc);
	if (ak_rd_done(&r) < 0 || !body_valid(&e))
		return -EBADMSG;
	*ret = e;
	return 0;
}
