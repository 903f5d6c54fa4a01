/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire form of the replies of serve mode and of the records of folders; executor and ak-init, no privilege. Encoding is canonical:
 * what decodes encodes back to the same bytes.
 */
#include "executor/shared/ak_init_serve.h"

#include <errno.h>
#include <string.h>

#include "executor/shared/ak_init_int.h"
#include "executor/shared/ak_wire.h"

#define MODE_BITS 07777u

uint32_t init_msg_type(const void *buf, size_t len)
{
	struct ak_rd r;

	ak_rd_init(&r, buf, len);
	return ak_rd_u32(&r);
}

static bool failed_valid(const struct init_rep *m)
{
	return m->stage >= INIT_STAGE_SETUP && m->stage <= INIT_STAGE_EXEC && m->code <= INIT_ERRNO_MAX &&
	       m->exit_code >= 125 && m->exit_code <= 127;
}

static bool filed_valid(const struct init_rep *m)
{
	if (m->code)
		return m->code <= INIT_ERRNO_MAX;
	return !(m->flags & ~INIT_FILED_ALL) && m->kind >= INIT_KIND_FILE && m->kind <= INIT_KIND_OTHER &&
	       m->mode <= MODE_BITS;
}

static bool rep_valid(const struct init_rep *m)
{
	if (m->type != INIT_REP_READY && m->type != INIT_REP_LEAVES && m->type != INIT_REP_STATS && m->id == 0)
		return false;
	switch (m->type) {
	case INIT_REP_FAILED:
		return failed_valid(m);
	case INIT_REP_EXITED:
		return !(m->flags & ~INIT_EXITED_ALL) && init_is_end(m->wstatus) && m->end_ns >= m->start_ns;
	case INIT_REP_FILE:
		return filed_valid(m);
	case INIT_REP_READY:
	case INIT_REP_LEAVES:
	case INIT_REP_STARTED:
	case INIT_REP_PTY:
	case INIT_REP_STATS:
		return true;
	default:
		return false;
	}
}

static void put_exited(struct ak_wr *w, const struct init_rep *m)
{
	ak_wr_u32(w, m->flags);
	ak_wr_u32(w, m->leaf);
	ak_wr_u32(w, m->wstatus);
	ak_wr_u64(w, m->start_ns);
	ak_wr_u64(w, m->end_ns);
	ak_wr_u64(w, m->user_ns);
	ak_wr_u64(w, m->system_ns);
	ak_wr_u64(w, m->maxrss_bytes);
}

static void put_filed(struct ak_wr *w, const struct init_rep *m)
{
	ak_wr_u32(w, m->code);
	if (m->code) {
		init_put_texts(w, m->text, m->hint);
		return;
	}
	ak_wr_u32(w, m->flags);
	ak_wr_u32(w, m->kind);
	ak_wr_u32(w, m->mode);
	ak_wr_u64(w, m->size);
	ak_wr_u64(w, (uint64_t)m->mtime_ns);
	ak_wr_u64(w, m->ino);
	ak_wr_u64(w, m->done);
}

static void put_stats(struct ak_wr *w, const struct init_rep *m)
{
	ak_wr_u32(w, m->running);
	ak_wr_u32(w, m->spares);
	ak_wr_u32(w, m->files);
	ak_wr_u32(w, m->processes);
	ak_wr_u32(w, m->fds);
	ak_wr_u64(w, m->commands);
	ak_wr_u64(w, m->rss_bytes);
}

long init_rep_encode(const struct init_rep *m, void *buf, size_t cap)
{
	struct ak_wr w;

	if (!rep_valid(m))
		return -EINVAL;
	ak_wr_init(&w, buf, cap < AK_INIT_REP_MAX ? cap : AK_INIT_REP_MAX);
	ak_wr_u32(&w, m->type);
	ak_wr_u32(&w, m->id);
	switch (m->type) {
	case INIT_REP_STARTED:
		ak_wr_u32(&w, m->leaf);
		ak_wr_u32(&w, m->pid);
		break;
	case INIT_REP_FAILED:
		ak_wr_u32(&w, m->leaf);
		ak_wr_u32(&w, m->stage);
		ak_wr_u32(&w, m->code);
		ak_wr_u32(&w, m->exit_code);
		init_put_texts(&w, m->text, m->hint);
		break;
	case INIT_REP_EXITED:
		put_exited(&w, m);
		break;
	case INIT_REP_FILE:
		put_filed(&w, m);
		break;
	case INIT_REP_STATS:
		put_stats(&w, m);
		break;
	default: /* READY, LEAVES and PTY are type and id */
		break;
	}
	return ak_wr_done(&w);
}

static void get_exited(struct ak_rd *r, struct init_rep *m)
{
	m->flags = ak_rd_u32(r);
	m->leaf = ak_rd_u32(r);
	m->wstatus = ak_rd_u32(r);
	m->start_ns = ak_rd_u64(r);
	m->end_ns = ak_rd_u64(r);
	m->user_ns = ak_rd_u64(r);
	m->system_ns = ak_rd_u64(r);
	m->maxrss_bytes = ak_rd_u64(r);
}

static void get_filed(struct ak_rd *r, struct init_rep *m)
{
	m->code = ak_rd_u32(r);
	if (m->code) {
		m->text = init_get_text(r);
		m->hint = init_get_text(r);
		return;
	}
	m->flags = ak_rd_u32(r);
	m->kind = ak_rd_u32(r);
	m->mode = ak_rd_u32(r);
	m->size = ak_rd_u64(r);
	m->mtime_ns = (int64_t)ak_rd_u64(r);
	m->ino = ak_rd_u64(r);
	m->done = ak_rd_u64(r);
}

static void get_stats(struct ak_rd *r, struct init_rep *m)
{
	m->running = ak_rd_u32(r);
	m->spares = ak_rd_u32(r);
	m->files = ak_rd_u32(r);
	m->processes = ak_rd_u32(r);
	m->fds = ak_rd_u32(r);
	m->commands = ak_rd_u64(r);
	m->rss_bytes = ak_rd_u64(r);
}

int init_rep_decode(const void *buf, size_t len, struct init_rep *ret)
{
	struct init_rep m = { 0 };
	struct ak_rd r;

	if (len > AK_INIT_REP_MAX)
		return -EBADMSG;
	ak_rd_init(&r, buf, len);
	m.type = ak_rd_u32(&r);
	m.id = ak_rd_u32(&r);
	switch (m.type) {
	case INIT_REP_STARTED:
		m.leaf = ak_rd_u32(&r);
		m.pid = ak_rd_u32(&r);
		break;
	case INIT_REP_FAILED:
		m.leaf = ak_rd_u32(&r);
		m.stage = ak_rd_u32(&r);
		m.code = ak_rd_u32(&r);
		m.exit_code = ak_rd_u32(&r);
		m.text = init_get_text(&r);
		m.hint = init_get_text(&r);
		break;
	case INIT_REP_EXITED:
		get_exited(&r, &m);
		break;
	case INIT_REP_FILE:
		get_filed(&r, &m);
		break;
	case INIT_REP_STATS:
		get_stats(&r, &m);
		break;
	default: /* type and id; rep_valid() refuses every unknown one */
		break;
	}
	if (ak_rd_done(&r) < 0 || !rep_valid(&m))
		return -EBADMSG;
	*ret = m;
	return 0;
}

/* ---- records ---- */

/* relative, no empty part, no "." and "..": nothing that leads out of the folder it is joined to */
static bool name_valid(const char *name)
{
	if (!name || !name[0] || strlen(name) >= AK_INIT_PATH_MAX)
		return false;
	while (*name) {
		size_t n = strcspn(name, "/");

		if (n == 0 || (n == 1 && name[0] == '.') || (n == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += n;
		if (*name == '/' && !*++name)
			return false;
	}
	return true;
}

static bool entry_valid(const struct init_entry *e)
{
	return e->kind >= INIT_KIND_FILE && e->kind <= INIT_KIND_OTHER && e->mode <= MODE_BITS && name_valid(e->name);
}

long init_entry_encode(const struct init_entry *e, void *buf, size_t cap)
{
	struct ak_wr w;

	if (!entry_valid(e))
		return -EINVAL;
	ak_wr_init(&w, buf, cap);
	ak_wr_u32(&w, e->kind);
	ak_wr_u32(&w, e->mode);
	ak_wr_u64(&w, e->size);
	ak_wr_u64(&w, (uint64_t)e->mtime_ns);
	ak_wr_str(&w, e->name);
	return ak_wr_done(&w);
}

int init_entry_next(const void *buf, size_t len, size_t *pos, struct init_entry *ret)
{
	struct init_entry e;
	struct ak_rd r;

	if (*pos >= len)
		return 0;
	ak_rd_init(&r, (const uint8_t *)buf + *pos, len - *pos);
	e.kind = ak_rd_u32(&r);
	e.mode = ak_rd_u32(&r);
	e.size = ak_rd_u64(&r);
	e.mtime_ns = (int64_t)ak_rd_u64(&r);
	e.name = ak_rd_str(&r);
	if (r.failed || !entry_valid(&e))
		return -EBADMSG;
	*pos += r.pos;
	*ret = e;
	return 1;
}
