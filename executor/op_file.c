/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request FILE. Process: executor. Privilege: none.
 *
 * Safe to serve because the executor opens nothing: the path is a string for the sandbox's init, which looks it up in its own mount
 * namespace, beneath the places the sandbox may write. Bytes travel in memory files: a client's must be sealed before init gets it,
 * and the one that init fills has its size fixed before and is sealed before a client gets it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_fd.h"
#include "executor/touch_stay.h"

#define LIST_BYTES (16u << 20)	/* room for the entries of one LIST or WALK; what does not fit is left out and said so */

static bool takes_data(uint8_t op)
{
	return op == AK_FILE_READ || op == AK_FILE_LIST || op == AK_FILE_WALK;
}

/* Return: descriptor for init, which the caller closes; -1 after a refusal */
static int written_data(struct request *q, const struct ak_file *m, uint64_t *ret_len)
{
	long size;
	int fd;

	if (!(m->flags & AK_FILE_DATA_FD)) {
		*ret_len = m->bytes_len;
		fd = ak_memfd_sealed("ak-file", m->bytes, m->bytes_len);
		if (fd >= 0)
			(void)lseek(fd, 0, SEEK_SET);
		else
			conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_INTERNAL, -fd, "not enough memory for the file");
		return fd < 0 ? -1 : fd;
	}
	size = ak_memfd_check(q->f->fds[0], AK_FILE_MAX);
	if (size < 0) {
		conn_refuse_text(q->s, q->c, q->f->seq, size == -EFBIG ? AK_CODE_TOO_LARGE : AK_CODE_STREAM, (int)-size,
				 size == -EFBIG ? "a file of more than %u bytes" : "the data is no sealed memory file", AK_FILE_MAX);
		return -1;
	}
	*ret_len = (uint64_t)size;
	(void)lseek(q->f->fds[0], 0, SEEK_SET);	/* the client's offset too; it has no other use */
	return ak_fd_take(&q->f->fds[0]);
}

/* its size cannot change any more: init can fill it, not make it grow */
static int empty_data(struct request *q, uint64_t max)
{
	AK_AUTO_FD fd = memfd_create("ak-file", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)max) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_INTERNAL, errno, "not enough memory for the file");
		return -1;
	}
	return ak_fd_take(&fd);
}

static struct fileop *free_slot(struct server *s)
{
	for (size_t i = 0; i < AK_FILES_MAX; i++)
		if (s->files[i].id == 0)
			return &s->files[i];
	return NULL;
}

static uint64_t data_limit(const struct ak_file *m)
{
	uint64_t max = m->op == AK_FILE_READ ? AK_FILE_MAX : AK_WALK_MAX;

	return m->limit && m->limit < max ? m->limit : max;
}

static struct init_req request_of(const struct ak_file *m, uint32_t id)
{
	/* the two lists have the same numbers, as ak_proto.h and ak_init_serve.h say */
	_Static_assert((int)AK_FILE_WALK == (int)INIT_FILE_WALK && (int)AK_FILE_READ == (int)INIT_FILE_READ &&
		       (int)AK_FILE_NOFOLLOW == (int)INIT_FILE_NOFOLLOW && (int)AK_FILE_EXCL == (int)INIT_FILE_EXCL &&
		       (int)AK_KIND_OTHER == (int)INIT_KIND_OTHER, "one numbering");
	return (struct init_req){ .type = INIT_REQ_FILE, .id = id, .op = m->op, .flags = m->flags & INIT_FILE_FLAGS_ALL,
				  .path = m->path, .path2 = m->op == AK_FILE_RENAME ? m->path2 : NULL, .offset = m->op == AK_FILE_READ ? m->offset : 0,
				  .mode = m->mode & 0777 };
}

/* the request, with its data. Return: 0, or -1 after a refusal */
static int ask(struct request *q, struct box *b, const struct ak_file *m, struct fileop *op)
{
	struct init_req r = request_of(m, server_id(q->s));
	int fd = -1, e;

	if (q->kept && q->kept->where != TOUCH_ELSEWHERE) {
		r.flags |= INIT_FILE_KEPT;
		r.path2 = q->kept->where == TOUCH_KEPT ? q->kept->path : NULL;
	}

	if (m->op == AK_FILE_WRITE) {
		fd = written_data(q, m, &r.limit);
	} else if (takes_data(m->op)) {
		r.limit = data_limit(m);
		op->limit = m->op == AK_FILE_READ ? r.limit : LIST_BYTES;
		op->data = empty_data(q, op->limit);
		fd = op->data < 0 ? -1 : fcntl(op->data, F_DUPFD_CLOEXEC, 3);
	}
	if (fd < 0 && (m->op == AK_FILE_WRITE || takes_data(m->op))) {
		ak_fd_close(&op->data);
		return -1;
	}
	e = ctl_send(q->s, b, &r, &fd, fd >= 0 ? 1 : 0);
	if (e < 0) {
		ak_fd_close(&op->data);
		conn_refuse_text(q->s, q->c, q->f->seq, e == -EINVAL ? AK_CODE_BAD_VALUE : AK_CODE_TOO_MANY, -e,
				 e == -EINVAL ? "the file request makes no sense" : "the sandbox takes no request now");
		return -1;
	}
	*op = (struct fileop){ .id = r.id, .box = b->id, .to = { q->c, q->f->seq }, .op = m->op, .data = op->data, .limit = op->limit };
	return 0;
}

int op_file(struct request *q)
{
	struct fileop *op = free_slot(q->s);
	struct ak_file m;
	struct box *b;

	if (ak_file_decode(q->f->payload, q->f->len, &m) < 0 || q->f->nfds != ((m.flags & AK_FILE_DATA_FD) ? 1u : 0u))
		return -EBADMSG;
	b = box_of(q, m.sandbox);
	if (!b)
		return 0;
	q->s->busy_ns = ak_now_ns();
	if (!m.path[0] || (m.op == AK_FILE_RENAME) != (m.path2[0] != '\0')) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_BAD_VALUE, EINVAL, "a path is missing, or there is one too many");
		return 0;
	}
	if (!op || b->state != BOX_READY) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_TOO_MANY, EAGAIN,
				 op ? "the sandbox is not ready yet" : "%u file operations run already", AK_FILES_MAX);
		return 0;
	}
	if (m.op == AK_FILE_WRITE && touch_refuse(q))
		return 0;
	if (m.op == AK_FILE_WRITE && q->s->touch.on && !q->kept) {
		struct touch_order o = { .op = TOUCH_RECORD };

		(void)strncpy(o.path, m.path, sizeof(o.path) - 1);
		return touch_ask(q, &o);
	}
	if ((m.op == AK_FILE_WRITE || m.op == AK_FILE_MKDIR) && copy_over(q->s, b)) {
		conn_refuse_text(q->s, q->c, q->f->seq, AK_CODE_FILE, EDQUOT, "more was written than --disk allows: remove something first");
		return 0;
	}
	(void)ask(q, b, &m, op);
	return 0;
}

/* ---- the answer ---- */

static void refuse(struct server *s, const struct fileop *op, const struct init_rep *m)
{
	struct ak_err err = { 0 };

	(void)ak_err_set(&err, (int)m->code, "%s", m->text ? m->text : "");
	ak_err_hint(&err, "%s", m->hint ? m->hint : m->code == ESTALE ? "something else is in its place by now: look at it and write again" : "");
	conn_refuse(s, op->to.c, op->to.seq, m->code == EAGAIN ? AK_CODE_TOO_MANY : AK_CODE_FILE, &err);
}

/* small data goes into the frame, large as the memory file. Return: 0 or negative errno */
static int attach(struct fileop *op, uint64_t len, struct ak_file_reply *r, uint8_t *buf, int *ret_fd)
{
	r->data_len = len;
	if (len <= AK_FILE_INLINE) {
		ssize_t n = len ? pread(op->data, buf, (size_t)len, 0) : 0;

		if (n != (ssize_t)len)
			return -EIO;
		r->bytes = buf;
		r->bytes_len = (uint32_t)len;
		return 0;
	}
	/* fails while anybody can still write through a mapping: then init is not what it was */
	if (fcntl(op->data, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -EBADMSG;
	r->flags |= AK_REPLY_DATA_FD;
	*ret_fd = ak_fd_take(&op->data);
	return 0;
}

static uint64_t data_length(const struct fileop *op, const struct init_rep *m)
{
	off_t at;

	if (op->op == AK_FILE_READ)
		return m->done;
	at = lseek(op->data, 0, SEEK_CUR);	/* one open file: its offset is where init has written to */
	return at < 0 ? 0 : (uint64_t)at;
}

static void answer(struct server *s, struct fileop *op, const struct init_rep *m)
{
	struct ak_file_reply r = { .kind = (uint8_t)m->kind, .mode = m->mode & 07777, .size = m->size, .mtime_ns = m->mtime_ns,
				   .created = (m->flags & INIT_FILED_NEW) != 0,
				   .flags = (m->flags & INIT_FILED_MORE) ? AK_REPLY_MORE : 0u };
	uint8_t buf[AK_FILE_INLINE];
	int fd = -1, e = 0;

	if (op->data >= 0) {
		uint64_t len = data_length(op, m);

		if (op->op != AK_FILE_READ)
			r.entries = m->done <= AK_WALK_MAX ? (uint32_t)m->done : AK_WALK_MAX;
		e = len <= op->limit ? attach(op, len, &r, buf, &fd) : -EBADMSG;
	}
	if (e < 0)
		conn_refuse_text(s, op->to.c, op->to.seq, AK_CODE_FILE, EBADMSG, "the sandbox gave data that makes no sense");
	else
		conn_reply(s, op->to.c, AK_OP_FILE_REPLY, op->to.seq, s->out, ak_file_reply_encode(&r, s->out, sizeof(s->out)), fd, -1);
}

static void release(struct fileop *op)
{
	ak_fd_close(&op->data);
	*op = (struct fileop){ .data = -1 };
}

bool file_done(struct server *s, const struct box *b, const struct init_rep *m)
{
	for (size_t i = 0; i < AK_FILES_MAX; i++) {
		struct fileop *op = &s->files[i];

		if (op->id != m->id || op->box != b->id)
			continue;
		if (m->code)
			refuse(s, op, m);
		else
			answer(s, op, m);
		release(op);
		return true;
	}
	return false;
}

void file_lost(struct server *s, const struct box *b)
{
	for (size_t i = 0; i < AK_FILES_MAX; i++) {
		struct fileop *op = &s->files[i];

		if (op->id == 0 || op->box != b->id)
			continue;
		conn_refuse_text(s, op->to.c, op->to.seq, AK_CODE_DEAD, ESHUTDOWN, "the sandbox ended meanwhile");
		release(op);
	}
}
