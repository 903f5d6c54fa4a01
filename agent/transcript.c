/* SPDX-License-Identifier: Apache-2.0 */
/* Turns as lines of JSON, and back. Process: agent. Privilege: none. */
#include "agent/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/compact.h"
#include "agent/json.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_no_space.h"

#define SCHEMA "ak-session/1"
#define HEAD_MAX (1u << 20)

void transcript_head_release(struct transcript_head *h)
{
	free(h->workspace);
	free(h->model);
	free(h->system);
	free(h->provider);
	free(h->api);
	free(h->base_url);
	*h = (struct transcript_head){ 0 };
}

void transcript_head_used(struct transcript_head *h, struct transcript_head *now)
{
	struct transcript_head was = *h;

	*h = (struct transcript_head){ .workspace = was.workspace, .system = was.system, .model = now->model, .provider = now->provider,
				       .api = now->api, .base_url = now->base_url };
	now->model = now->provider = now->api = now->base_url = NULL;
	was.workspace = was.system = NULL;
	transcript_head_release(&was);
	transcript_head_release(now);
}

/* ---- writing ---- */

static void put_calls(struct ak_json *j, const struct msg *m)
{
	ak_json_arr(j, "calls");
	for (size_t i = 0; i < m->ncalls; i++) {
		const struct tool_call *c = &m->calls[i];

		ak_json_obj(j, NULL);
		ak_json_str(j, "id", c->id);
		ak_json_str(j, "name", c->name);
		ak_json_strn(j, "args", c->args, c->args_len);
		if (c->bad)
			ak_json_str(j, "bad", c->bad);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_results(struct ak_json *j, const struct msg *m)
{
	ak_json_arr(j, "results");
	for (size_t i = 0; i < m->nresults; i++) {
		const struct tool_result *r = &m->results[i];

		ak_json_obj(j, NULL);
		ak_json_str(j, "id", r->call_id);
		ak_json_strn(j, "text", r->text, r->text_len);
		ak_json_bool(j, "error", r->is_error);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_images(struct ak_json *j, const struct msg *m)
{
	ak_json_arr(j, "images");
	for (size_t i = 0; i < m->nimages; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, "type", m->images[i].media_type);
		ak_json_str(j, "data", m->images[i].base64);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_msg(struct ak_json *j, const struct msg *m)
{
	ak_json_obj(j, NULL);
	ak_json_str(j, "role", m->role == MSG_USER ? "user" : "assistant");
	if (m->text)
		ak_json_strn(j, "text", m->text, m->text_len);
	if (m->ncalls)
		put_calls(j, m);
	if (m->nresults)
		put_results(j, m);
	if (m->nimages)
		put_images(j, m);
	if (m->raw) {
		ak_json_str(j, "api", wire_api_name(m->raw_api));
		ak_json_strn(j, "raw", m->raw, m->raw_len);
	}
	ak_json_obj_end(j);
}

static void put_used(struct ak_json *j, const struct transcript_head *h)
{
	ak_json_str(j, "model", h->model);
	if (h->provider)
		ak_json_str(j, "provider", h->provider);
	if (h->api)
		ak_json_str(j, "api", h->api);
	if (h->base_url)
		ak_json_str(j, "base_url", h->base_url);
}

static int write_line(struct transcript *t, struct ak_buf *b, struct ak_err *err)
{
	int rc;

	ak_buf_str(b, "\n");
	rc = b->failed ? -ENOMEM : ak_write_all(t->fd, b->data, b->len);
	if (rc < 0) {
		t->failed = -rc;
		(void)ak_err_sys(err, -rc, "the session cannot be stored any more");
		ak_no_space(err, AK_STATE_NO_SPACE);
	}
	return rc;
}

int transcript_create(struct transcript *t, int dir, const struct transcript_head *h, struct ak_err *err)
{
	struct ak_buf b = { 0 };
	struct ak_json j;
	int rc;

	*t = (struct transcript){ .fd = -1 };
	if (dir < 0)
		return 0;
	t->fd = openat(dir, TRANSCRIPT_FILE, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (t->fd < 0)
		return ak_err_sys(err, errno, "make the session's transcript");
	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", SCHEMA);
	ak_json_str(&j, "workspace", h->workspace);
	put_used(&j, h);
	ak_json_str(&j, "system", h->system);
	ak_json_obj_end(&j);
	rc = write_line(t, &b, err);
	ak_buf_release(&b);
	return rc;
}

int transcript_add(struct transcript *t, const struct msg *m, struct ak_err *err)
{
	struct ak_buf b = { .max = TRANSCRIPT_MAX };
	struct ak_json j;
	int rc;

	if (t->fd < 0 || t->failed)
		return 0;
	ak_json_init(&j, &b);
	put_msg(&j, m);
	rc = write_line(t, &b, err);
	ak_buf_release(&b);
	return rc;
}

int transcript_compacted(struct transcript *t, size_t turns, const char *summary, struct ak_err *err)
{
	struct ak_buf b = { .max = TRANSCRIPT_MAX };
	struct ak_json j;
	int rc;

	if (t->fd < 0 || t->failed)
		return 0;
	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	ak_json_obj(&j, "compaction");
	ak_json_u64(&j, "turns_collapsed", turns);
	ak_json_str(&j, "summary", summary);
	ak_json_obj_end(&j);
	ak_json_obj_end(&j);
	rc = write_line(t, &b, err);
	ak_buf_release(&b);
	return rc;
}

int transcript_cleared(struct transcript *t, struct ak_err *err)
{
	struct ak_buf b = { 0 };
	int rc;

	if (t->fd < 0 || t->failed)
		return 0;
	ak_buf_str(&b, "{\"cleared\":true}");
	rc = write_line(t, &b, err);
	ak_buf_release(&b);
	return rc;
}

int transcript_uses(struct transcript *t, const struct transcript_head *h, struct ak_err *err)
{
	struct ak_buf b = { 0 };
	struct ak_json j;
	int rc;

	if (t->fd < 0 || t->failed)
		return 0;
	ak_json_init(&j, &b);
	ak_json_obj(&j, NULL);
	ak_json_obj(&j, "uses");
	put_used(&j, h);
	ak_json_obj_end(&j);
	ak_json_obj_end(&j);
	rc = write_line(t, &b, err);
	ak_buf_release(&b);
	return rc;
}

void transcript_close(struct transcript *t)
{
	ak_fd_close(&t->fd);
}

/* ---- turns that follow each other ---- */

static int append_text(struct msg *to, const struct msg *m)
{
	struct ak_buf b = { .max = TRANSCRIPT_MAX };
	int rc;

	if (!m->text)
		return 0;
	if (to->text) {
		ak_buf_add(&b, to->text, to->text_len);
		ak_buf_str(&b, "\n\n");
	}
	ak_buf_add(&b, m->text, m->text_len);
	rc = b.failed ? -ENOMEM : msg_set_text(to, b.data ? b.data : "", b.len);
	ak_buf_release(&b);
	return rc;
}

int history_join(struct history *h, struct msg *m)
{
	struct msg *last = h->n ? &h->v[h->n - 1] : NULL;
	int rc = 0;

	if (!last || last->role != MSG_USER || m->role != MSG_USER)
		return history_take(h, m);
	for (size_t i = 0; rc == 0 && i < m->nresults; i++)
		rc = msg_add_result(last, m->results[i].call_id, m->results[i].text, m->results[i].text_len, m->results[i].is_error);
	for (size_t i = 0; rc == 0 && i < m->nimages; i++)
		rc = msg_add_image(last, m->images[i].media_type, m->images[i].base64);
	if (rc == 0)
		rc = append_text(last, m);
	if (rc == 0)
		msg_release(m);
	return rc;
}

int history_answer(struct history *h, const char *text)
{
	struct msg *last = h->n ? &h->v[h->n - 1] : NULL;
	struct msg m = { .role = MSG_USER };
	int rc = 0;

	if (!last || last->role != MSG_ASSISTANT || last->ncalls == 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < last->ncalls; i++)
		rc = msg_add_result(&m, last->calls[i].id, text, strlen(text), true);
	if (rc == 0)
		rc = history_take(h, &m);
	msg_release(&m);
	return rc;
}

/* ---- reading ---- */

static int copy(const struct cJSON *doc, const char *name, char **ret, size_t *ret_len, struct ak_err *err)
{
	const char *text = NULL;

	if (json_opt_str(doc, name, &text, err) < 0)
		return -EBADMSG;
	if (!text)
		return 0;
	*ret = strdup(text);
	if (!*ret)
		return ak_err_set(err, ENOMEM, "no memory for a session");
	if (ret_len)
		*ret_len = strlen(text);
	return 0;
}

static int take_call(const struct cJSON *doc, struct msg *m, struct ak_err *err)
{
	struct tool_call c = { 0 };
	int rc = copy(doc, "id", &c.id, NULL, err);

	if (rc == 0)
		rc = copy(doc, "name", &c.name, NULL, err);
	if (rc == 0)
		rc = copy(doc, "args", &c.args, &c.args_len, err);
	if (rc == 0)
		rc = copy(doc, "bad", &c.bad, NULL, err);
	if (rc == 0 && (!c.id || !c.name || !c.args))
		rc = ak_err_set(err, EBADMSG, "a call lacks its id, name or args");
	if (rc == 0)
		rc = msg_take_call(m, &c);
	msg_call_release(&c);
	return rc;
}

static int take_result(const struct cJSON *doc, struct msg *m, struct ak_err *err)
{
	const char *id = NULL, *text = NULL;

	if (json_need_str(doc, "id", &id, err) < 0 || json_need_str(doc, "text", &text, err) < 0)
		return -EBADMSG;
	return msg_add_result(m, id, text, strlen(text), json_true(json_get(doc, "error")));
}

static int take_image(const struct cJSON *doc, struct msg *m, struct ak_err *err)
{
	const char *type = NULL, *data = NULL;

	if (json_need_str(doc, "type", &type, err) < 0 || json_need_str(doc, "data", &data, err) < 0)
		return -EBADMSG;
	return msg_add_image(m, type, data);
}

static int take_msg(const struct cJSON *doc, struct msg *m, struct ak_err *err)
{
	const struct cJSON *list = NULL;
	const char *role = NULL, *api = NULL;
	int rc = json_need_str(doc, "role", &role, err) < 0 ? -EBADMSG : 0;

	if (rc == 0 && strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0)
		rc = ak_err_set(err, EBADMSG, "role: neither user nor assistant");
	if (rc == 0) {
		m->role = strcmp(role, "user") == 0 ? MSG_USER : MSG_ASSISTANT;
		rc = copy(doc, "text", &m->text, &m->text_len, err);
	}
	if (rc == 0)
		rc = copy(doc, "raw", &m->raw, &m->raw_len, err);
	if (rc == 0 && m->raw && (json_need_str(doc, "api", &api, err) < 0 || (m->raw_api = wire_api_parse(api)) == WIRE_NONE))
		rc = ak_err_set(err, EBADMSG, "api: not a wire format");
	if (rc == 0 && json_opt_arr(doc, "calls", &list, err) < 0)
		rc = -EBADMSG;
	for (const struct cJSON *c = json_first(list); rc == 0 && c; c = json_next(c))
		rc = take_call(c, m, err);
	list = NULL;
	if (rc == 0 && json_opt_arr(doc, "results", &list, err) < 0)
		rc = -EBADMSG;
	for (const struct cJSON *c = json_first(list); rc == 0 && c; c = json_next(c))
		rc = take_result(c, m, err);
	list = NULL;
	if (rc == 0 && json_opt_arr(doc, "images", &list, err) < 0)
		rc = -EBADMSG;
	for (const struct cJSON *c = json_first(list); rc == 0 && c; c = json_next(c))
		rc = take_image(c, m, err);
	return rc;
}

static int take_used(const struct cJSON *doc, struct transcript_head *h, struct ak_err *err)
{
	struct transcript_head now = { 0 };
	int rc = copy(doc, "model", &now.model, NULL, err);

	if (rc == 0)
		rc = copy(doc, "provider", &now.provider, NULL, err);
	if (rc == 0)
		rc = copy(doc, "api", &now.api, NULL, err);
	if (rc == 0)
		rc = copy(doc, "base_url", &now.base_url, NULL, err);
	if (rc == 0 && !now.model)
		rc = ak_err_set(err, EBADMSG, "no model is named");
	if (rc == 0)
		transcript_head_used(h, &now);
	transcript_head_release(&now);
	return rc;
}

static int take_head(const struct cJSON *doc, struct transcript_head *h, struct ak_err *err)
{
	int rc;

	if (!json_is_str(json_get(doc, "schema"), SCHEMA))
		return ak_err_set(err, EBADMSG, "this is no transcript of this version (" SCHEMA ")");
	rc = copy(doc, "workspace", &h->workspace, NULL, err);
	if (rc == 0)
		rc = take_used(doc, h, err);
	if (rc == 0)
		rc = copy(doc, "system", &h->system, NULL, err);
	if (rc == 0 && (!h->workspace || !h->system))
		rc = ak_err_set(err, EBADMSG, "the first line lacks workspace or system");
	return rc;
}

/* a whole file, up to the last newline. Return: 0; *@ret_end: bytes that count */
static int read_whole(int fd, size_t max, char **ret, size_t *ret_end, struct ak_err *err)
{
	struct stat st;
	size_t n = 0, want;
	char *text;

	if (fstat(fd, &st) < 0)
		return ak_err_sys(err, errno, "look at the transcript");
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return ak_err_set(err, EPERM, "the transcript is no file of yours");
	if (st.st_size > (off_t)TRANSCRIPT_MAX)
		return ak_err_set(err, EFBIG, "the transcript is over %u bytes", TRANSCRIPT_MAX);
	want = (size_t)st.st_size < max ? (size_t)st.st_size : max;
	text = malloc(want + 1);
	if (!text)
		return ak_err_set(err, ENOMEM, "no memory for a session");
	while (n < want) {
		ssize_t got = pread(fd, text + n, want - n, (off_t)n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	while (n > 0 && text[n - 1] != '\n')
		n--;
	*ret = text;
	*ret_end = n;
	return 0;
}

static int take_compaction(const struct cJSON *doc, struct history *hist, struct ak_err *err)
{
	const char *summary = NULL;
	uint64_t turns = 0;
	int rc;

	if (json_need_u64(doc, "turns_collapsed", &turns, err) < 0 || json_need_str(doc, "summary", &summary, err) < 0)
		return -EBADMSG;
	rc = hist ? compact_apply(hist, turns, summary, err) : 0;
	return rc == -EINVAL ? ak_err_set(err, EBADMSG, "the compaction does not end with a group of turns") : rc;
}

static int take_line(const char *line, size_t len, unsigned no, struct transcript_head *h, struct history *hist, struct ak_err *err)
{
	struct cJSON *doc = NULL;
	struct msg m = { 0 };
	bool turn = false;
	int rc = json_parse(line, len, 0, NULL, &doc, err);

	if (rc < 0) {
		rc = -EBADMSG;
	} else if (no == 1) {
		rc = take_head(doc, h, err);
	} else if (json_kind(json_get(doc, "compaction")) == JSON_OBJECT) {
		rc = take_compaction(json_get(doc, "compaction"), hist, err);
	} else if (json_kind(json_get(doc, "uses")) == JSON_OBJECT) {
		rc = take_used(json_get(doc, "uses"), h, err);
	} else if (json_true(json_get(doc, "cleared"))) {
		if (hist)
			history_release(hist);
	} else {
		turn = true;
		rc = take_msg(doc, &m, err);
	}
	if (rc == 0 && turn && hist)
		rc = history_join(hist, &m);
	msg_release(&m);
	json_free(doc);
	return rc < 0 ? (rc == -ENOMEM ? rc : ak_err_wrap(err, "line %u of the transcript", no)) : 0;
}

int transcript_parse(const char *text, size_t len, struct transcript_head *h, struct history *hist, struct ak_err *err)
{
	unsigned no = 0;
	int rc = 0;

	while (rc == 0 && len > 0) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl ? (size_t)(nl - text) : len;

		rc = take_line(text, n, ++no, h, hist, err);
		text += n + (nl != NULL);
		len -= n + (nl != NULL);
		if (rc == 0 && !hist)
			break;
	}
	return rc == 0 && no == 0 ? ak_err_set(err, EBADMSG, "the transcript is empty") : rc;
}

int transcript_read_head(int dir, struct transcript_head *ret, struct ak_err *err)
{
	AK_AUTO_FD fd = openat(dir, TRANSCRIPT_FILE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0;
	int rc;

	if (fd < 0)
		return ak_err_sys(err, errno, "open the transcript");
	rc = read_whole(fd, HEAD_MAX, &text, &len, err);
	if (rc == 0)
		rc = transcript_parse(text, len, ret, NULL, err);
	free(text);
	return rc;
}

int transcript_load(struct transcript *t, int dir, struct transcript_head *ret_head, struct history *hist, struct ak_err *err)
{
	AK_AUTO_FD fd = openat(dir, TRANSCRIPT_FILE, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0, turns;
	int rc;

	*t = (struct transcript){ .fd = -1 };
	if (fd < 0)
		return ak_err_sys(err, errno, "open the session's transcript");
	rc = read_whole(fd, TRANSCRIPT_MAX, &text, &len, err);
	if (rc == 0)
		rc = transcript_parse(text, len, ret_head, hist, err);
	free(text);
	turns = hist->n;
	if (rc == 0)
		rc = history_answer(hist, TRANSCRIPT_OPEN_CALL);
	if (rc == 0 && hist->n)
		rc = history_check(hist, err);
	if (rc == 0 && ftruncate(fd, (off_t)len) < 0)
		rc = ak_err_sys(err, errno, "cut the transcript's torn last line");
	if (rc < 0)
		return rc;
	t->fd = ak_fd_take(&fd);
	return hist->n > turns ? transcript_add(t, &hist->v[turns], err) : 0;
}
