/* SPDX-License-Identifier: Apache-2.0 */
/* The table of tools, and what they do the same way. Process: agent. Privilege: none. */
#include "agent/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/truncate.h"
#include "executor/shared/ak_clock.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_path.h"

/* by name: that is the order in which they are sent, so that a provider's cache finds them */
static const struct tool *const table[] = {
	&tool_bash, &tool_edit_file, &tool_file_info, &tool_find_files, &tool_job, &tool_list_dir, &tool_read_file, &tool_rollback,
	&tool_search_text, &tool_write_file,
};

const struct tool *tool_at(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? table[i] : NULL;
}

const struct tool *tool_find(const char *name)
{
	const struct tool *t;

	for (size_t i = 0; (t = tool_at(i)) != NULL; i++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

void tool_run_release(struct tool_run *r)
{
	ak_buf_release(&r->text);
	*r = (struct tool_run){ 0 };
}

uint64_t tool_now_ms(void)
{
	return ak_now_ns() / 1000000u;
}

/* ---- the text of a result ---- */

/* one text on its way: whole to the spool, redacted to the cut */
struct funnel {
	struct redact *redact;
	struct ak_buf clear;
	struct truncate cut;
	struct spool spool;
	bool spooled;
};

static void drain(struct funnel *f)
{
	if (f->clear.failed)
		return;
	truncate_feed(&f->cut, f->clear.data ? f->clear.data : "", f->clear.len);
	f->clear.len = 0;
}

static void feed_clean(struct funnel *f, const char *p, size_t n)
{
	if (n == 0)
		return;
	if (f->spooled)
		spool_feed(&f->spool, p, n);
	redact_feed(f->redact, p, n);
	drain(f);
}

#define FEED_BYTES 16384u

/* NUL is U+FFFD: put together here, for every piece that goes on costs a look and a write */
static void feed(struct funnel *f, const char *p, size_t n)
{
	char buf[FEED_BYTES];
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		if (len + 3 > sizeof(buf)) {
			feed_clean(f, buf, len);
			len = 0;
		}
		if (p[i] != '\0') {
			buf[len++] = p[i];
			continue;
		}
		buf[len++] = '\xef';	/* U+FFFD */
		buf[len++] = '\xbf';
		buf[len++] = '\xbd';
	}
	feed_clean(f, buf, len);
}

int tool_finish(struct tool_run *r, bool is_error, const struct tool_piece *v, size_t n)
{
	struct funnel f = { .redact = malloc(sizeof(*f.redact)) };
	const char *name = NULL;
	size_t total = 0;

	if (!f.redact)
		return -ENOMEM;
	redact_init(f.redact, &f.clear);
	for (size_t i = 0; i < r->env->nknown; i++)
		(void)redact_known(f.redact, r->env->known[i].text, r->env->known[i].len);
	truncate_init(&f.cut, TRUNCATE_CHARS);
	for (size_t i = 0; i < n; i++)
		total += v[i].n;
	f.spooled = total > TRUNCATE_CHARS && r->env->spools != NULL;
	if (f.spooled)
		spool_begin(&f.spool, r->env->spools);
	for (size_t i = 0; i < n; i++)
		feed(&f, v[i].p, v[i].n);
	redact_finish(f.redact);
	drain(&f);
	if (f.spooled)
		name = spool_end(&f.spool, truncate_is_cut(&f.cut));
	(void)truncate_finish(&f.cut, name, &r->text);
	if (f.clear.failed)
		r->text.failed = true;
	ak_buf_release(&f.clear);
	free(f.redact);
	r->is_error = is_error;
	r->state = TOOL_DONE;
	r->duration_ms = r->start_ms ? tool_now_ms() - r->start_ms : 0;
	return r->text.failed ? -ENOMEM : 0;
}

int tool_say(struct tool_run *r, bool is_error, const char *fmt, ...)
{
	struct tool_piece piece;
	char *text = NULL;
	va_list ap;
	int n, rc;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	piece = (struct tool_piece){ text, (size_t)n };
	rc = tool_finish(r, is_error, &piece, 1);
	free(text);
	return rc;
}

/* ---- what goes wrong ---- */

static int file_failed(struct tool_run *r, const char *path, int eno, const struct ak_err *err)
{
	switch (eno) {
	case ENOENT:
		return tool_say(r, true, "%s: no such file or folder", path);
	case EISDIR:
		return tool_say(r, true, "%s is a folder", path);
	case ENOTDIR:
		return tool_say(r, true, r->tool == &tool_list_dir ? "%s is no folder" : "%s: a part of the path is no folder", path);
	case ELOOP:
		return tool_say(r, true, "%s is a link that leads back to itself, or through too many links", path);
	case EINVAL:
		return tool_say(r, true, err->hint[0] ? "%s is a pipe, a socket or a device: %s" : "%s: this is no path of a file%s", path, err->hint);
	case EXDEV:
		return tool_say(r, true, "%s leads out of the folders that are visible to the tools, through a link or by its name", path);
	case EROFS:
		return tool_say(r, true, "%s is read-only here", path);
	case EACCES:
	case EPERM:
		/* where it lies, not what its mode says */
		if (err->hint[0])
			return tool_say(r, true, "%s: permission denied: %s", path, err->hint);
		return tool_say(r, true, "%s: permission denied", path);
	case EDQUOT:
		/* the limit of the sandbox; or a quota of the disk, which says so */
		if (err->msg[0]) {
			r->env->limits_hit |= strstr(err->msg, "--disk") ? 1u << AK_LIMIT_DISK : 0;
			return tool_say(r, true, "%s: %s; the file is as it was", path, err->msg);
		}
		__attribute__((fallthrough));
	case ENOSPC:
		return tool_say(r, true, "%s: no space left (%s); the file is as it was", path, ak_errno_name(eno));
	case ENAMETOOLONG:
		return tool_say(r, true, "the path is too long");
	default:
		return tool_say(r, true, "%s: %s", path, err->msg);
	}
}

const char *tool_unavailable(const struct tool_run *r)
{
	return r->env->xc->backend == AK_BACKEND_DOCKER ? "docker sandbox unavailable" : "sandbox unavailable";
}

int tool_failed(struct tool_run *r, int rc, const char *path, const struct ak_err *err)
{
	struct ak_client *cl = r->env->xc->cl;
	enum ak_code code;
	int eno = 0;

	if (rc == -ECONNRESET || rc == -ENOMEM)
		return rc;
	if (rc != -EREMOTEIO)
		return tool_say(r, true, "%s: %s", tool_unavailable(r), err->msg);
	code = ak_refusal(cl, &eno);
	if (code == AK_CODE_DEAD || code == AK_CODE_NO_SANDBOX || code == AK_CODE_START) {
		r->env->sandbox_dead = true;
		return tool_say(r, true, "%s: %s", tool_unavailable(r), err->msg);
	}
	if (path && code == AK_CODE_FILE)
		return file_failed(r, path, eno, err);
	return tool_say(r, true, "%s%s%s", path ? path : "", path ? ": " : "", err->msg);
}

struct living {
	uint32_t id;
	bool found;
};

static void look(void *arg, const struct ak_sandboxes *list)
{
	struct living *l = arg;

	for (size_t i = 0; i < list->count; i++)
		l->found = l->found || (list->sandbox[i].id == l->id && list->sandbox[i].state != AK_SANDBOX_ENDING);
}

/* its init may have been killed since the last call. What cannot be asked shows in what follows */
static bool is_gone(struct exec_client *xc)
{
	struct living l = { .id = xc->sandbox };

	return ak_list(xc->cl, look, &l, NULL) == 0 && !l.found;
}

int tool_sandbox(struct tool_run *r, uint32_t *ret)
{
	struct exec_client *xc = r->env->xc;
	struct ak_err err = { 0 };
	int rc = 0;

	if (r->env->sandbox_dead || xc->sandbox == 0 || is_gone(xc)) {
		(void)xc_sandbox_destroy(xc, NULL);
		rc = xc_sandbox_create(xc, &err);
		if (rc < 0) {
			rc = tool_failed(r, rc, NULL, &err);
			return rc < 0 ? rc : 1;
		}
		r->env->sandbox_dead = false;
	}
	*ret = xc->sandbox;
	return 0;
}

/* ---- paths ---- */

char *tool_path(struct tool_run *r, const char *path)
{
	const char *top = r->env->xc->workspace;
	char *whole;
	int rc;

	if (path[0] == '\0' || path[0] == '~' || strlen(path) > TOOL_PATH_MAX) {
		rc = path[0] == '\0' ? tool_say(r, true, "the path is empty")
		     : path[0] == '~' ? tool_say(r, true, "%.200s: ~ is not expanded; give a path from the workspace", path)
				      : tool_say(r, true, "the path is too long");
		(void)rc;
		return NULL;
	}
	whole = ak_path_normalize(top, path);
	if (!whole) {
		if (errno == ENAMETOOLONG)
			(void)tool_say(r, true, "the path is too long");
		return NULL;
	}
	if (path[0] != '/' && !ak_path_below(whole, top)) {
		free(whole);
		(void)tool_say(r, true, "%s is outside of the workspace", path);
		return NULL;
	}
	return whole;
}

int tool_place(struct tool_run *r, const char *shown, char **ret_path, uint32_t *ret_box)
{
	*ret_path = tool_path(r, shown);
	if (!*ret_path)
		return r->state == TOOL_DONE ? 1 : -ENOMEM;
	return tool_sandbox(r, ret_box);
}

void tool_ended(struct tool_run *r, const struct ak_result *res)
{
	r->exit_code = (int)res->exit_code;
	for (unsigned i = 0; i < AK_LIMITS; i++)
		r->limits_hit |= res->limit[i].hit == AK_HIT_YES ? 1u << i : 0;
}

size_t tool_marks(const char *p, size_t n)
{
	static const char mark[] = REDACT_MARK;
	const size_t len = sizeof(mark) - 1;
	size_t count = 0;

	for (const char *end = p + n; (p = memmem(p, (size_t)(end - p), mark, len)) != NULL; p += len)
		count++;
	return count;
}
