/* SPDX-License-Identifier: Apache-2.0 */
/* libak: the copy of the workspace and what was changed in it. Any process, no privilege. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/libak_int.h"

void ak_change_set_release(struct ak_change_set *s)
{
	free(s->data);
	*s = (struct ak_change_set){ 0 };
}

const char *ak_change_op_name(unsigned op)
{
	static const char *const names[AK_CHANGE_OP_END] = {
		[AK_CHANGE_ADDED] = "added", [AK_CHANGE_MODIFIED] = "modified", [AK_CHANGE_DELETED] = "deleted",
		[AK_CHANGE_MODE] = "mode", [AK_CHANGE_TYPE] = "type",
	};

	return op < AK_CHANGE_OP_END && names[op] ? names[op] : "?";
}

/* as many entries as it says, each of them whole */
static int check_entries(const struct ak_change_set *s)
{
	struct ak_change e;
	uint32_t n = 0;
	size_t pos = 0;
	int r;

	while ((r = ak_change_next(s->data, s->len, &pos, &e)) == 1)
		n++;
	return r == 0 && n == s->entries ? 0 : -EBADMSG;
}

static int take(struct ak_frame *f, struct ak_change_set *ret)
{
	struct ak_change_set s = { 0 };
	struct ak_changed m;
	int r = ak_changed_decode(f->payload, f->len, &m);

	if (r < 0 || f->nfds != ((m.flags & AK_CHANGED_DATA_FD) ? 1u : 0u))
		return -EBADMSG;
	s = (struct ak_change_set){ .outcome = m.outcome, .total = m.total, .nprotected = m.nprotected, .nconflicts = m.nconflicts,
				    .point = m.point, .more = m.flags & AK_CHANGED_MORE, .entries = m.entries, .len = m.data_len };
	(void)snprintf(s.id, sizeof(s.id), "%s", m.id);
	if (m.outcome == AK_CHANGES_APPLIED) {
		(void)snprintf(s.why.msg, sizeof(s.why.msg), "%s", m.text);
	} else if (m.err || m.text[0]) {
		(void)ak_err_set(&s.why, m.err ? (int)m.err : EIO, "%s", m.text);
		ak_err_hint(&s.why, "%s", m.hint);
	}
	s.data = malloc(s.len + 1);
	if (!s.data)
		return -ENOMEM;
	if (m.flags & AK_CHANGED_DATA_FD)
		r = libak_read_memfd(f->fds[0], AK_CHANGES_BYTES_MAX, s.data, s.len);
	else if (m.bytes_len)
		memcpy(s.data, m.bytes, m.bytes_len);
	s.data[s.len] = '\0';
	if (r == 0)
		r = check_entries(&s);
	if (r < 0) {
		ak_change_set_release(&s);
		return r;
	}
	*ret = s;
	return 0;
}

static int call(struct ak_client *cl, uint16_t op, long len, struct ak_change_set *ret, struct ak_err *err)
{
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, op, len, NULL, 0, AK_OP_CHANGED, &f, err);

	if (r < 0)
		return r;
	r = take(&f, ret);
	ak_frame_release(&f);
	if (r == -ENOMEM)
		return ak_err_set(err, ENOMEM, "not enough memory for the list of changes");
	return r < 0 ? libak_malformed(cl, err) : 0;
}

int ak_changes(struct ak_client *cl, uint32_t sandbox, uint32_t limit, struct ak_change_set *ret, struct ak_err *err)
{
	struct ak_changes_req q = { .sandbox = sandbox, .limit = limit };

	return call(cl, AK_OP_CHANGES, ak_changes_req_encode(&q, cl->out, AK_PAYLOAD_MAX), ret, err);
}

int ak_finish(struct ak_client *cl, uint32_t sandbox, enum ak_finish_action action, uint32_t flags, struct ak_change_set *ret,
	      struct ak_err *err)
{
	struct ak_finish q = { .sandbox = sandbox, .action = (uint8_t)action, .flags = flags };

	return call(cl, AK_OP_FINISH, ak_finish_encode(&q, cl->out, AK_PAYLOAD_MAX), ret, err);
}

int ak_restore(struct ak_client *cl, uint32_t sandbox, uint32_t point, uint32_t flags, struct ak_change_set *ret, struct ak_err *err)
{
	struct ak_finish q = { .sandbox = sandbox, .action = AK_FINISH_RESTORE, .flags = flags, .point = point };

	return call(cl, AK_OP_FINISH, ak_finish_encode(&q, cl->out, AK_PAYLOAD_MAX), ret, err);
}

static int touched_call(struct ak_client *cl, uint16_t op, long len, struct ak_touched *ret, struct ak_err *err)
{
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, op, len, NULL, 0, AK_OP_TOUCHED, &f, err);

	if (r < 0)
		return r;
	r = f.nfds ? -EBADMSG : ak_touched_decode(f.payload, f.len, ret);
	ak_frame_release(&f);
	return r < 0 ? libak_malformed(cl, err) : 0;
}

int ak_session(struct ak_client *cl, const char *name, uint32_t flags, struct ak_touched *ret, struct ak_err *err)
{
	struct ak_session q = { .flags = flags, .name = name };
	long len = ak_session_encode(&q, cl->out, AK_PAYLOAD_MAX);

	if (len < 0)
		return ak_err_set(err, EINVAL, "\"%.40s\" is no name of a session", name);
	return touched_call(cl, AK_OP_SESSION, len, ret, err);
}

int ak_rollback(struct ak_client *cl, uint32_t flags, struct ak_touched *ret, struct ak_err *err)
{
	struct ak_rollback q = { .flags = flags };

	return touched_call(cl, AK_OP_ROLLBACK, ak_rollback_encode(&q, cl->out, AK_PAYLOAD_MAX), ret, err);
}

int ak_checkpoint(struct ak_client *cl, uint32_t sandbox, uint32_t flags, struct ak_checkpointed *ret, struct ak_err *err)
{
	struct ak_checkpoint q = { .sandbox = sandbox, .flags = flags };
	struct ak_frame f = { .nfds = 0 };
	int r = libak_call(cl, AK_OP_CHECKPOINT, ak_checkpoint_encode(&q, cl->out, AK_PAYLOAD_MAX), NULL, 0, AK_OP_CHECKPOINTED, &f, err);

	if (r < 0)
		return r;
	r = f.nfds ? -EBADMSG : ak_checkpointed_decode(f.payload, f.len, ret);
	ak_frame_release(&f);
	return r < 0 ? libak_malformed(cl, err) : 0;
}
