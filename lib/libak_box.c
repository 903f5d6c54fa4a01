/* SPDX-License-Identifier: Apache-2.0 */
/* libak: sandboxes and the files in them. Any process, no privilege. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor/shared/ak_fd.h"
#include "lib/libak_int.h"

int ak_create(struct ak_client *cl, const struct ak_create *how, uint32_t *ret_sandbox, struct ak_err *err)
{
	static const struct ak_create as_it_is;
	struct ak_created m;
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_CREATE, ak_create_encode(how ? how : &as_it_is, cl->out, AK_PAYLOAD_MAX), NULL, 0, AK_OP_CREATED, &f,
			   err);

	if (r < 0)
		return r;
	r = f.nfds ? -EBADMSG : ak_created_decode(f.payload, f.len, &m);
	ak_frame_release(&f);
	if (r < 0)
		return libak_malformed(cl, err);
	*ret_sandbox = m.sandbox;
	return 0;
}

int ak_stat(struct ak_client *cl, uint32_t sandbox, void (*cb)(void *arg, const struct ak_stat *st), void *arg, struct ak_err *err)
{
	struct ak_sandbox_ref q = { .sandbox = sandbox };
	struct ak_stat m;
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_STAT, ak_sandbox_ref_encode(&q, cl->out, AK_PAYLOAD_MAX), NULL, 0, AK_OP_SANDBOX, &f, err);

	if (r < 0)
		return r;
	r = f.nfds ? -EBADMSG : ak_stat_decode(f.payload, f.len, &m);
	ak_frame_release(&f);
	if (r < 0)
		return libak_malformed(cl, err);
	cb(arg, &m);
	return 0;
}

int ak_list(struct ak_client *cl, void (*cb)(void *arg, const struct ak_sandboxes *list), void *arg, struct ak_err *err)
{
	struct ak_sandboxes m;
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_LIST, 0, NULL, 0, AK_OP_SANDBOXES, &f, err);

	if (r < 0)
		return r;
	r = f.nfds ? -EBADMSG : ak_sandboxes_decode(f.payload, f.len, &m);
	ak_frame_release(&f);
	if (r < 0)
		return libak_malformed(cl, err);
	cb(arg, &m);
	return 0;
}

/* ---- files ---- */

void ak_bytes_release(struct ak_bytes *b)
{
	free(b->data);
	*b = (struct ak_bytes){ 0 };
}

int libak_read_memfd(int fd, size_t max, uint8_t *to, size_t len)
{
	size_t done = 0;

	if (ak_memfd_check(fd, max) < (long)len)
		return -EBADMSG;
	while (done < len) {
		ssize_t n = pread(fd, to + done, len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EBADMSG;
		done += (size_t)n;
	}
	return 0;
}

static int take_data(struct ak_frame *f, const struct ak_file_reply *m, struct ak_bytes *ret)
{
	struct ak_bytes b = { .len = (size_t)m->data_len, .more = m->flags & AK_REPLY_MORE, .st = *m };
	int r = 0;

	b.st.bytes = NULL;
	b.st.bytes_len = 0;
	b.data = malloc(b.len + 1);
	if (!b.data)
		return -ENOMEM;
	if (m->flags & AK_REPLY_DATA_FD)
		r = libak_read_memfd(f->fds[0], AK_FILE_MAX, b.data, b.len);
	else if (m->bytes_len)
		memcpy(b.data, m->bytes, m->bytes_len);
	if (r < 0) {
		free(b.data);
		return r;
	}
	b.data[b.len] = '\0';
	*ret = b;
	return 0;
}

/* one file request; @ret or @ret_st may be NULL */
static int file(struct ak_client *cl, const struct ak_file *q, int fd, struct ak_bytes *ret, struct ak_file_reply *ret_st, struct ak_err *err)
{
	struct ak_file_reply m;
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_FILE, ak_file_encode(q, cl->out, AK_PAYLOAD_MAX), &fd, fd >= 0 ? 1 : 0, AK_OP_FILE_REPLY, &f, err);

	if (r < 0)
		return r;
	r = ak_file_reply_decode(f.payload, f.len, &m);
	if (r == 0 && f.nfds != ((m.flags & AK_REPLY_DATA_FD) ? 1u : 0u))
		r = -EBADMSG;
	if (r == 0 && ret)
		r = take_data(&f, &m, ret);
	ak_frame_release(&f);
	if (r == -ENOMEM)
		return ak_err_set(err, ENOMEM, "not enough memory for %s", q->path);
	if (r < 0)
		return libak_malformed(cl, err);
	if (ret_st) {
		*ret_st = m;
		ret_st->bytes = NULL;
		ret_st->bytes_len = 0;
	}
	return 0;
}

int ak_file_read(struct ak_client *cl, uint32_t sandbox, const char *path, uint64_t offset, uint64_t limit, struct ak_bytes *ret,
		 struct ak_err *err)
{
	struct ak_file q = { .sandbox = sandbox, .op = AK_FILE_READ, .path = path, .offset = offset, .limit = limit };

	return file(cl, &q, -1, ret, NULL, err);
}

int ak_file_write(struct ak_client *cl, uint32_t sandbox, const char *path, const void *data, size_t len, unsigned mode,
		  uint32_t flags, struct ak_err *err)
{
	struct ak_file q = { .sandbox = sandbox, .op = AK_FILE_WRITE, .path = path, .mode = mode, .flags = flags };
	AK_AUTO_FD fd = -1;

	if (len > AK_FILE_MAX)
		return ak_err_set(err, EFBIG, "%s: more than %u bytes", path, AK_FILE_MAX);
	if (len <= AK_FILE_INLINE) {
		q.bytes = data;
		q.bytes_len = (uint32_t)len;
	} else {
		fd = ak_memfd_sealed("ak-file", data, len);
		if (fd < 0)
			return ak_err_sys(err, -fd, "send %s", path);
		q.flags |= AK_FILE_DATA_FD;
	}
	return file(cl, &q, fd, NULL, NULL, err);
}

int ak_file_list(struct ak_client *cl, uint32_t sandbox, const char *path, bool recursive, uint64_t limit, struct ak_bytes *ret,
		 struct ak_err *err)
{
	struct ak_file q = { .sandbox = sandbox, .op = recursive ? AK_FILE_WALK : AK_FILE_LIST, .path = path, .limit = limit };

	return file(cl, &q, -1, ret, NULL, err);
}

int ak_file_stat(struct ak_client *cl, uint32_t sandbox, const char *path, struct ak_file_reply *ret, struct ak_err *err)
{
	struct ak_file q = { .sandbox = sandbox, .op = AK_FILE_STAT, .path = path };

	return file(cl, &q, -1, NULL, ret, err);
}

int ak_file_mkdir(struct ak_client *cl, uint32_t sandbox, const char *path, unsigned mode, bool parents, struct ak_err *err)
{
	struct ak_file q = { .sandbox = sandbox, .op = AK_FILE_MKDIR, .path = path, .mode = mode, .flags = parents ? AK_FILE_PARENTS : 0u };

	return file(cl, &q, -1, NULL, NULL, err);
}

int ak_file_remove(struct ak_client *cl, uint32_t sandbox, const char *path, bool recursive, struct ak_err *err)
{
	struct ak_file q = { .sandbox = sandbox, .op = AK_FILE_REMOVE, .path = path, .flags = recursive ? AK_FILE_RECURSIVE : 0u };

	return file(cl, &q, -1, NULL, NULL, err);
}

int ak_file_rename(struct ak_client *cl, uint32_t sandbox, const char *from, const char *to, bool excl, struct ak_err *err)
{
	struct ak_file q = { .sandbox = sandbox, .op = AK_FILE_RENAME, .path = from, .path2 = to, .flags = excl ? AK_FILE_EXCL : 0u };

	return file(cl, &q, -1, NULL, NULL, err);
}
