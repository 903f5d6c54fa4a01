/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire form of the protocol's messages; any process, no privilege.
 *
 * Each message is described once, by a function that walks its fields with a coder. The coder reads or writes, so that the two
 * directions cannot differ, and checks every range in both.
 */
#include "executor/shared/ak_msg.h"

#include <errno.h>
#include <string.h>

#include "executor/shared/ak_wire.h"

#define ERRNO_MAX 4095u		/* MAX_ERRNO, linux/err.h */
#define SIGNO_MAX 64u		/* _NSIG */
#define RESOURCES 16u		/* RLIM_NLIMITS */
#define MODE_MAX 07777u
#define TYPE_MODE_MAX 0177777u
#define SIZE16_MAX 65535u	/* struct winsize */
#define EXIT_CODE_MAX 255u

/* ---- the coder ---- */

struct coder {
	struct ak_wr w;
	struct ak_rd r;
	bool writes;
	bool bad;	/* a value out of its range */
};

static void check(struct coder *c, bool ok)
{
	if (!ok) {
		c->bad = true;
		c->r.failed = true;	/* nothing is read after it */
	}
}

static void c_u8(struct coder *c, uint8_t *v, uint8_t max)
{
	if (c->writes)
		ak_wr_u8(&c->w, *v);
	else
		*v = ak_rd_u8(&c->r);
	check(c, *v <= max);
}

static void c_u32(struct coder *c, uint32_t *v, uint32_t max)
{
	if (c->writes)
		ak_wr_u32(&c->w, *v);
	else
		*v = ak_rd_u32(&c->r);
	check(c, *v <= max);
}

static void c_i64(struct coder *c, int64_t *v)
{
	if (c->writes)
		ak_wr_u64(&c->w, (uint64_t)*v);
	else
		*v = (int64_t)ak_rd_u64(&c->r);
}

static void c_u64(struct coder *c, uint64_t *v)
{
	if (c->writes)
		ak_wr_u64(&c->w, *v);
	else
		*v = ak_rd_u64(&c->r);
}

/* a text of less than @max bytes; never NULL once it is decoded */
static void c_str(struct coder *c, const char **s, size_t max)
{
	if (c->writes) {
		if (!*s)
			*s = "";
		ak_wr_str(&c->w, *s);
	} else {
		*s = ak_rd_str(&c->r);
		if (!*s) {
			check(c, false);
			*s = "";
		}
	}
	check(c, strlen(*s) < max);
}

static void c_bytes(struct coder *c, const uint8_t **p, uint32_t *n, uint32_t max)
{
	size_t len = 0;

	check(c, !c->writes || *n <= max);
	if (c->writes && !c->bad) {
		ak_wr_bytes(&c->w, *p, *n);
	} else if (!c->writes) {
		*p = ak_rd_bytes(&c->r, &len);
		check(c, len <= max);
		*n = c->bad ? 0 : (uint32_t)len;
		if (*n == 0)
			*p = NULL;
	}
}

static void write_strs(struct coder *c, const struct ak_strs *s)
{
	struct ak_strs_pos pos = { 0 };
	const char *str;

	for (uint32_t i = 0; i < s->count; i++) {
		str = ak_strs_next(s, &pos);
		check(c, str != NULL);
		if (c->bad)
			return;
		ak_wr_str(&c->w, str);
	}
}

static void read_strs(struct coder *c, struct ak_strs *s)
{
	size_t from = c->r.pos;

	for (uint32_t i = 0; i < s->count && !c->r.failed; i++)
		check(c, ak_rd_str(&c->r) != NULL);
	s->vec = NULL;
	s->packed = c->r.buf + from;
	s->packed_len = (uint32_t)(c->r.pos - from);
}

static void c_strs(struct coder *c, struct ak_strs *s, uint32_t min)
{
	c_u32(c, &s->count, AK_EXEC_STRINGS_MAX);
	check(c, s->count >= min);
	if (c->bad)
		return;
	if (c->writes)
		write_strs(c, s);
	else
		read_strs(c, s);
}

const char *ak_strs_next(const struct ak_strs *s, struct ak_strs_pos *pos)
{
	struct ak_rd r;
	const char *str;

	if (pos->i >= s->count)
		return NULL;
	if (s->vec)
		return s->vec[pos->i++];
	ak_rd_init(&r, s->packed, s->packed_len);
	r.pos = pos->at;
	str = ak_rd_str(&r);
	if (!str)
		return NULL;
	pos->i++;
	pos->at = r.pos;
	return str;
}

/* ---- parts ---- */

static void c_limits(struct coder *c, struct ak_limit limit[AK_LIMITS])
{
	for (unsigned i = 0; i < AK_LIMITS; i++) {
		c_u8(c, &limit[i].by, AK_BY_END - 1);
		c_u8(c, &limit[i].hit, AK_HIT_END - 1);
		c_u64(c, &limit[i].value);
		check(c, limit[i].by != AK_BY_UNSET || (limit[i].value == 0 && limit[i].hit == AK_HIT_NO));
	}
}

static void c_warnings(struct coder *c, uint32_t *n, const char *warning[AK_WARNINGS_MAX])
{
	c_u32(c, n, AK_WARNINGS_MAX);
	for (uint32_t i = 0; !c->bad && i < *n; i++)
		c_str(c, &warning[i], AK_TEXT_MAX);
}

static void c_facts(struct coder *c, struct ak_facts *m)
{
	c_u8(c, &m->backend, AK_BACKEND_END - 1);
	c_u8(c, &m->user_ns, 1);
	c_u8(c, &m->net, AK_NET_END - 1);
	c_u8(c, &m->write, AK_WRITE_END - 1);
	c_u8(c, &m->identity, AK_IDENTITY_END - 1);
	c_u8(c, &m->seccomp, AK_SECCOMP_END - 1);
	c_u32(c, &m->landlock_abi, UINT32_MAX);
	c_u32(c, &m->uid, UINT32_MAX);
	c_u32(c, &m->gid, UINT32_MAX);
	c_str(c, &m->root, AK_PATH_MAX);
	c_str(c, &m->workspace, AK_PATH_MAX);
	c_str(c, &m->cwd, AK_PATH_MAX);
	c_str(c, &m->user, AK_PATH_MAX);
	c_str(c, &m->home, AK_PATH_MAX);
	c_str(c, &m->changes, AK_CHANGES_ID_MAX);
	check(c, m->write == AK_WRITE_COW || !m->changes[0]);
	c_limits(c, m->limit);
	c_warnings(c, &m->nwarnings, m->warning);
}

static void c_sandbox(struct coder *c, struct ak_sandbox *m)
{
	c_u32(c, &m->id, UINT32_MAX);
	c_str(c, &m->name, AK_NAME_MAX);
	c_u32(c, &m->pid, UINT32_MAX);
	c_u8(c, &m->state, AK_SANDBOX_STATES - 1);
	c_u32(c, &m->running, UINT32_MAX);
	c_u32(c, &m->jobs, UINT32_MAX);
	c_u64(c, &m->age_ms);
	c_u64(c, &m->idle_ms);
}

static void c_job(struct coder *c, struct ak_job *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u8(c, &m->running, 1);
	c_u8(c, &m->status, AK_STATUS_END - 1);
	c_u32(c, &m->exit_code, EXIT_CODE_MAX);
	c_u64(c, &m->started_ms);
	c_u64(c, &m->runtime_ms);
	c_u64(c, &m->log_bytes);
	c_str(c, &m->title, AK_TITLE_MAX);
}

static void c_output(struct coder *c, struct ak_output *m)
{
	c_u8(c, &m->counted, 1);
	c_u8(c, &m->memfd, 1);
	c_u64(c, &m->total);
	c_u64(c, &m->dropped);
	c_u64(c, &m->head_len);
	c_u64(c, &m->tail_len);
	c_bytes(c, &m->bytes, &m->bytes_len, AK_CAPTURE_INLINE);
	check(c, m->head_len <= AK_CAPTURE_MAX && m->tail_len <= AK_CAPTURE_MAX);
	check(c, m->memfd ? m->bytes_len == 0 : m->bytes_len == m->head_len + m->tail_len);
	check(c, m->counted || (m->total == 0 && m->dropped == 0 && m->bytes_len == 0 && !m->memfd));
}

/* ---- messages ---- */

static void c_hello(struct coder *c, struct ak_hello *m)
{
	c_u32(c, &m->version, UINT32_MAX);
	c_str(c, &m->client, AK_NAME_MAX);
}

static void c_hello_reply(struct coder *c, struct ak_hello_reply *m)
{
	c_u32(c, &m->version, UINT32_MAX);
	c_u32(c, &m->pid, UINT32_MAX);
	c_str(c, &m->program, AK_NAME_MAX);
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_str(c, &m->name, AK_NAME_MAX);
	c_u64(c, &m->ttl_ms);
	c_u32(c, &m->pool, AK_POOL_MAX);
	c_u32(c, &m->pool_ready, AK_SANDBOXES_MAX);
	c_u32(c, &m->running, UINT32_MAX);
	c_u32(c, &m->jobs, UINT32_MAX);
	c_u64(c, &m->created_ms);
	c_facts(c, &m->facts);
}

static void c_create(struct coder *c, struct ak_create *m)
{
	c_str(c, &m->name, AK_NAME_MAX);
	c_u32(c, &m->flags, AK_NARROW_FLAGS_ALL);
	c_u64(c, &m->memory_bytes);
	c_u64(c, &m->cpu_milli);
	c_u64(c, &m->pids);
	c_u64(c, &m->cpu_time_ms);
	c_u64(c, &m->timeout_ms);
	c_u64(c, &m->max_output);
	c_u64(c, &m->nofile);
	c_u64(c, &m->fsize_bytes);
	c_u32(c, &m->nunset, AK_UNSET_MAX);
	for (uint32_t i = 0; !c->bad && i < m->nunset; i++)
		c_str(c, &m->unset[i], AK_PATH_MAX);
}

static void c_created(struct coder *c, struct ak_created *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_facts(c, &m->facts);
}

static void c_exec_body(struct coder *c, struct ak_exec_body *m)
{
	c_str(c, &m->cwd, AK_PATH_MAX);
	c_strs(c, &m->argv, 1);
	c_strs(c, &m->env, 0);
}

/* a pty is all three streams; what is merged or captured is output */
static bool streams_fit(const struct ak_exec *m)
{
	bool pty = m->stream[0] == AK_STREAM_PTY;

	for (int i = 1; i < 3; i++)
		if ((m->stream[i] == AK_STREAM_PTY) != pty)
			return false;
	return m->stream[0] != AK_STREAM_CAPTURE && (!(m->flags & AK_EXEC_MERGE) || m->stream[2] == AK_STREAM_NULL);
}

static void c_exec(struct coder *c, struct ak_exec *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u8(c, &m->kind, AK_EXEC_PROGRAM);
	check(c, m->kind >= AK_EXEC_ARGV);
	for (int i = 0; i < 3; i++)
		c_u8(c, &m->stream[i], AK_STREAM_PTY);
	c_u32(c, &m->flags, AK_EXEC_FLAGS_ALL);
	c_u64(c, &m->timeout_ms);
	c_u64(c, &m->kill_after_ms);
	c_u64(c, &m->cpu_time_ms);
	c_u64(c, &m->max_output);
	c_u32(c, &m->session, AK_SESSIONS_MAX - 1);
	check(c, m->kind == AK_EXEC_SESSION || (m->session == 0 && !(m->flags & AK_EXEC_RESET)));
	c_u32(c, &m->rows, SIZE16_MAX);
	c_u32(c, &m->cols, SIZE16_MAX);
	c_u32(c, &m->nrlimits, AK_EXEC_RLIMITS_MAX);
	for (uint32_t i = 0; !c->bad && i < m->nrlimits; i++) {
		c_u32(c, &m->rlimit[i].resource, RESOURCES - 1);
		c_u64(c, &m->rlimit[i].value);
	}
	c_u32(c, &m->nextra, AK_EXEC_EXTRA_MAX);
	for (uint32_t i = 0; !c->bad && i < m->nextra; i++) {
		c_u32(c, &m->extra[i], AK_EXTRA_FD_MAX);
		check(c, m->extra[i] >= 3 && (i == 0 || m->extra[i] > m->extra[i - 1]));
	}
	c_u32(c, &m->body_len, AK_EXEC_BODY_MAX);
	check(c, streams_fit(m) && ((m->flags & AK_EXEC_BODY_FD) != 0) == (m->body_len > 0));
	if (!c->bad && !(m->flags & AK_EXEC_BODY_FD))
		c_exec_body(c, &m->body);
}

size_t ak_exec_nfds(const struct ak_exec *m)
{
	size_t n = m->nextra + ((m->flags & AK_EXEC_BODY_FD) ? 1u : 0u) + (m->kind == AK_EXEC_PROGRAM ? 1u : 0u);

	for (int i = 0; i < 3; i++)
		n += m->stream[i] == AK_STREAM_FD;
	return n;
}

static void c_started(struct coder *c, struct ak_started *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u32(c, &m->pid, UINT32_MAX);
	c_u32(c, &m->pty, 1);
}

static void c_shutdown(struct coder *c, struct ak_shutdown *m)
{
	c_u32(c, &m->force, 1);
}

static void c_cmd_ref(struct coder *c, struct ak_cmd_ref *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
}

static void c_sandbox_ref(struct coder *c, struct ak_sandbox_ref *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
}

static void c_signal(struct coder *c, struct ak_signal *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u32(c, &m->signo, SIGNO_MAX);
}

static void c_resize(struct coder *c, struct ak_resize *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u32(c, &m->rows, SIZE16_MAX);
	c_u32(c, &m->cols, SIZE16_MAX);
}

static void c_wait_req(struct coder *c, struct ak_wait_req *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u64(c, &m->timeout_ms);
}

static void c_result(struct coder *c, struct ak_result *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u8(c, &m->status, AK_STATUS_END - 1);
	c_u32(c, &m->exit_code, EXIT_CODE_MAX);
	c_u32(c, &m->signal, SIGNO_MAX);
	c_u64(c, &m->setup_ns);
	c_u64(c, &m->duration_ns);
	c_u64(c, &m->user_us);
	c_u64(c, &m->system_us);
	c_u64(c, &m->memory_peak_bytes);
	c_u32(c, &m->pids_peak, UINT32_MAX);
	c_limits(c, m->limit);
	c_u8(c, &m->stage, AK_STAGE_END - 1);
	c_u32(c, &m->err, ERRNO_MAX);
	c_str(c, &m->text, AK_TEXT_MAX);
	c_str(c, &m->hint, AK_TEXT_MAX);
	c_warnings(c, &m->nwarnings, m->warning);
	for (int i = 0; i < 2; i++)
		c_output(c, &m->out[i]);
	check(c, m->out[0].bytes_len + m->out[1].bytes_len <= AK_CAPTURE_INLINE);
}

size_t ak_result_nfds(const struct ak_result *m)
{
	return (size_t)m->out[0].memfd + m->out[1].memfd;
}

static void c_jobs(struct coder *c, struct ak_jobs *m)
{
	c_u32(c, &m->count, AK_JOBS_MAX);
	for (uint32_t i = 0; !c->bad && i < m->count; i++)
		c_job(c, &m->job[i]);
}

static void c_job_log(struct coder *c, struct ak_job_log *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u64(c, &m->offset);
	c_u32(c, &m->limit, AK_LOG_CHUNK);
}

static void c_log_data(struct coder *c, struct ak_log_data *m)
{
	c_u32(c, &m->cmd, UINT32_MAX);
	c_u8(c, &m->running, 1);
	c_u64(c, &m->offset);
	c_u64(c, &m->total);
	c_bytes(c, &m->bytes, &m->bytes_len, AK_LOG_CHUNK);
}

static void c_file(struct coder *c, struct ak_file *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u8(c, &m->op, AK_FILE_OP_END - 1);
	check(c, m->op >= AK_FILE_READ);
	c_u32(c, &m->flags, AK_FILE_FLAGS_ALL);
	c_str(c, &m->path, AK_PATH_MAX);
	c_str(c, &m->path2, AK_PATH_MAX);
	c_u64(c, &m->offset);
	c_u64(c, &m->limit);
	c_u32(c, &m->mode, MODE_MAX);
	c_bytes(c, &m->bytes, &m->bytes_len, AK_FILE_INLINE);
	check(c, m->op == AK_FILE_WRITE || (m->bytes_len == 0 && !(m->flags & AK_FILE_DATA_FD)));
	check(c, !(m->flags & AK_FILE_DATA_FD) || m->bytes_len == 0);
}

static void c_file_reply(struct coder *c, struct ak_file_reply *m)
{
	c_u32(c, &m->flags, AK_REPLY_FLAGS_ALL);
	c_u8(c, &m->kind, AK_KIND_END - 1);
	c_u32(c, &m->mode, MODE_MAX);
	c_u64(c, &m->size);
	c_i64(c, &m->mtime_ns);
	c_u32(c, &m->entries, AK_WALK_MAX);
	c_u32(c, &m->created, 1);
	c_u64(c, &m->data_len);
	c_bytes(c, &m->bytes, &m->bytes_len, AK_FILE_INLINE);
	check(c, m->data_len <= AK_FILE_MAX);
	check(c, (m->flags & AK_REPLY_DATA_FD) ? m->bytes_len == 0 : m->bytes_len == m->data_len);
}

static void c_entry(struct coder *c, struct ak_entry *m)
{
	c_u32(c, &m->kind, AK_KIND_END - 1);
	c_u32(c, &m->mode, MODE_MAX);
	c_u64(c, &m->size);
	c_i64(c, &m->mtime_ns);
	c_str(c, &m->name, AK_PATH_MAX);
}

static void c_sandboxes(struct coder *c, struct ak_sandboxes *m)
{
	c_u32(c, &m->count, AK_SANDBOXES_MAX);
	for (uint32_t i = 0; !c->bad && i < m->count; i++)
		c_sandbox(c, &m->sandbox[i]);
}

static void c_stat(struct coder *c, struct ak_stat *m)
{
	c_sandbox(c, &m->sandbox);
	c_facts(c, &m->facts);
	c_u64(c, &m->memory_bytes);
	c_u64(c, &m->memory_peak_bytes);
	c_u32(c, &m->pids, UINT32_MAX);
}

static void c_refused(struct coder *c, struct ak_refused *m)
{
	c_u32(c, &m->code, AK_CODE_END - 1);
	check(c, m->code >= AK_CODE_BAD_VALUE);
	c_u32(c, &m->err, ERRNO_MAX);
	c_str(c, &m->text, AK_TEXT_MAX);
	c_str(c, &m->hint, AK_TEXT_MAX);
}

static void c_changes_req(struct coder *c, struct ak_changes_req *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u32(c, &m->limit, AK_CHANGES_MAX);
}

static void c_finish(struct coder *c, struct ak_finish *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u8(c, &m->action, AK_FINISH_END - 1);
	check(c, m->action >= AK_FINISH_KEEP);
	c_u32(c, &m->flags, AK_FINISH_FLAGS_ALL);
	c_u32(c, &m->point, UINT32_MAX);
	check(c, (m->action == AK_FINISH_RESTORE) == (m->point > 0));
}

static void c_checkpoint(struct coder *c, struct ak_checkpoint *m)
{
	c_u32(c, &m->sandbox, UINT32_MAX);
	c_u32(c, &m->flags, AK_CHECKPOINT_FLAGS_ALL);
}

static void c_session(struct coder *c, struct ak_session *m)
{
	c_u32(c, &m->flags, AK_SESSION_FLAGS_ALL);
	c_str(c, &m->name, AK_SESSION_NAME + 1);
	check(c, strlen(m->name) == AK_SESSION_NAME && strncmp(m->name, "s-", 2) == 0 &&
			 strspn(m->name + 2, "0123456789abcdef") == AK_SESSION_NAME - 2);
}

static void c_rollback(struct coder *c, struct ak_rollback *m)
{
	c_u32(c, &m->flags, AK_ROLLBACK_FLAGS_ALL);
}

static void c_touched(struct coder *c, struct ak_touched *m)
{
	c_u64(c, &m->pending);
	c_u64(c, &m->count);
}

static void c_checkpointed(struct coder *c, struct ak_checkpointed *m)
{
	c_u32(c, &m->point, UINT32_MAX);
	check(c, m->point > 0);
	c_u64(c, &m->entries);
	c_u64(c, &m->bytes);
}

static void c_changed(struct coder *c, struct ak_changed *m)
{
	c_u32(c, &m->flags, AK_CHANGED_FLAGS_ALL);
	c_u8(c, &m->outcome, AK_OUTCOME_END - 1);
	c_str(c, &m->id, AK_CHANGES_ID_MAX);
	c_u64(c, &m->total);
	c_u64(c, &m->nprotected);
	c_u64(c, &m->nconflicts);
	c_u32(c, &m->point, UINT32_MAX);
	c_u32(c, &m->err, ERRNO_MAX);
	c_str(c, &m->text, AK_TEXT_MAX);
	c_str(c, &m->hint, AK_TEXT_MAX);
	c_u32(c, &m->entries, AK_CHANGES_MAX);
	c_u32(c, &m->data_len, AK_CHANGES_BYTES_MAX);
	c_bytes(c, &m->bytes, &m->bytes_len, AK_FILE_INLINE);
	check(c, m->total >= m->entries && m->total >= m->nprotected && m->total >= m->nconflicts);
	check(c, ((m->flags & AK_CHANGED_MORE) != 0) == (m->total > m->entries));
	check(c, (m->flags & AK_CHANGED_DATA_FD) ? m->bytes_len == 0 && m->data_len > 0 : m->bytes_len == m->data_len);
}

static void c_change(struct coder *c, struct ak_change *m)
{
	c_u8(c, &m->op, AK_CHANGE_OP_END - 1);
	check(c, m->op >= AK_CHANGE_ADDED);
	c_u32(c, &m->flags, AK_CHANGE_FLAGS_ALL);
	c_u32(c, &m->mode, TYPE_MODE_MAX);
	c_u64(c, &m->size);
	c_str(c, &m->path, AK_PATH_MAX);
}

/* ---- both directions of each ---- */

#define DEFINE(T)                                                                \
	long ak_##T##_encode(const struct ak_##T *m, void *buf, size_t cap)      \
	{                                                                        \
		struct coder c = { .writes = true };                             \
		struct ak_##T copy = *m;                                         \
                                                                                 \
		ak_wr_init(&c.w, buf, cap);                                      \
		c_##T(&c, &copy);                                                \
		return c.bad ? -EINVAL : ak_wr_done(&c.w);                       \
	}                                                                        \
                                                                                 \
	int ak_##T##_decode(const void *buf, size_t len, struct ak_##T *ret)     \
	{                                                                        \
		struct coder c = { .writes = false };                            \
		struct ak_##T m = { 0 };                                         \
                                                                                 \
		ak_rd_init(&c.r, buf, len);                                      \
		c_##T(&c, &m);                                                   \
		if (c.bad || ak_rd_done(&c.r) < 0)                               \
			return -EBADMSG;                                         \
		*ret = m;                                                        \
		return 0;                                                        \
	}                                                                        \
	_Static_assert(sizeof(struct ak_##T) < 16384, "a message must fit the stack")

AK_MSG_EACH(DEFINE);

/* below what was listed, whatever the other side wrote */
static bool name_is_below(const char *name)
{
	for (const char *p = name; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 0 || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n + (p[n] == '/');
	}
	return name[0] != '\0';
}

int ak_entry_next(const void *data, size_t len, size_t *pos, struct ak_entry *ret)
{
	struct coder c = { .writes = false };
	struct ak_entry m = { 0 };

	if (*pos == len)
		return 0;
	ak_rd_init(&c.r, data, len);
	c.r.pos = *pos;
	c_entry(&c, &m);
	if (c.bad || c.r.failed || !name_is_below(m.name))
		return -EBADMSG;
	*pos = c.r.pos;
	*ret = m;
	return 1;
}

int ak_change_next(const void *data, size_t len, size_t *pos, struct ak_change *ret)
{
	struct coder c = { .writes = false };
	struct ak_change m = { 0 };

	if (*pos == len)
		return 0;
	ak_rd_init(&c.r, data, len);
	c.r.pos = *pos;
	c_change(&c, &m);
	if (c.bad || c.r.failed || !name_is_below(m.path))
		return -EBADMSG;
	*pos = c.r.pos;
	*ret = m;
	return 1;
}
