/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a conversation as a script for the replay provider, one line a turn. Process: agent. Privilege: none. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "agent/money.h"
#include "agent/provider/replay.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"

struct record {
	int fd;
	bool failed;
};

static void write_line(struct record *r, struct ak_buf *b)
{
	ak_buf_str(b, "\n");
	if (b->failed || r->failed || ak_write_all(r->fd, b->data, b->len) < 0)
		r->failed = true;
	ak_buf_release(b);
}

int record_open(const char *path, struct record **ret, struct ak_err *err)
{
	struct ak_buf b = { 0 };
	struct record *r = calloc(1, sizeof(*r));

	if (!r)
		return ak_err_set(err, ENOMEM, "no memory");
	r->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_APPEND, 0600);
	if (r->fd < 0) {
		int code = errno;

		free(r);
		return ak_err_sys(err, code, "record to %s", path);
	}
	ak_buf_str(&b, "{\"schema\":\"ak-replay/1\"}");
	write_line(r, &b);
	*ret = r;
	return 0;
}

static void put_calls(struct ak_json *j, const struct msg *m)
{
	if (m->ncalls == 0)
		return;
	ak_json_arr(j, "calls");
	for (size_t i = 0; i < m->ncalls; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "id", m->calls[i].id);
		ak_json_str(j, "name", m->calls[i].name);
		/* what could not be run must not become something that can */
		if (m->calls[i].bad)
			ak_json_str(j, "args_text", "(not valid)");
		else
			ak_json_raw(j, "args", m->calls[i].args, m->calls[i].args_len);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_usage(struct ak_json *j, const struct usage *u)
{
	char text[MONEY_TEXT];
	const char *s;

	if (!u->estimated) {
		ak_json_obj(j, "usage");
		ak_json_u64(j, "input", u->input_uncached);
		ak_json_u64(j, "cache_read", u->cache_read);
		ak_json_u64(j, "cache_write_5m", u->cache_write_5m);
		ak_json_u64(j, "cache_write_1h", u->cache_write_1h);
		ak_json_u64(j, "output", u->output);
		ak_json_u64(j, "reasoning", u->reasoning);
		ak_json_obj_end(j);
	}
	if (u->cost_source != COST_PROVIDER)
		return;
	s = money_format_exact(u->cost_picousd, text);
	ak_json_raw(j, "cost_usd", s, strlen(s));
}

static void put_opt(struct ak_json *j, const char *key, const char *text)
{
	if (text)
		ak_json_str(j, key, text);
}

static void put_reply(struct ak_json *j, const struct completion *c)
{
	ak_json_obj(j, "reply");
	put_opt(j, "text", c->msg.text);
	put_opt(j, "reasoning", c->reasoning);
	put_calls(j, &c->msg);
	ak_json_str(j, "stop", stop_reason_name(c->stop));
	put_opt(j, "stop_detail", c->stop_detail);
	put_opt(j, "id", c->id);
	put_opt(j, "model", c->model);
	put_usage(j, &c->usage);
	if (c->msg.raw && provider_ops_of(c->msg.raw_api)) {
		ak_json_obj(j, "raw");
		ak_json_str(j, "api", wire_api_name(c->msg.raw_api));
		ak_json_raw(j, "turn", c->msg.raw, c->msg.raw_len);
		ak_json_obj_end(j);
	}
	ak_json_obj_end(j);
}

void record_turn(struct record *r, const struct completion *c, const struct provider_fault *f)
{
	struct ak_buf b = { 0 };
	struct ak_json j;

	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	if (c) {
		put_reply(&j, c);
	} else {
		ak_json_obj(&j, "fault");
		ak_json_str(&j, "name", fault_info(f->fault)->name);
		ak_json_u64(&j, "status", f->status > 0 ? (uint64_t)f->status : 0);
		ak_json_str(&j, "message", f->message);
		ak_json_str(&j, "type", f->type);
		ak_json_obj_end(&j);
	}
	ak_json_obj_end(&j);
	write_line(r, &b);
}

bool record_ok(const struct record *r)
{
	return !r || !r->failed;
}

void record_free(struct record *r)
{
	if (!r)
		return;
	ak_fd_close(&r->fd);
	free(r);
}
