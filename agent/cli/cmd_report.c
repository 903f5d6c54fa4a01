/* SPDX-License-Identifier: Apache-2.0 */
/* ak report [--days N]: what sessions used and cost, from their traces. Process: agent. Privilege: none. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/cli/cli.h"
#include "agent/cli/cli_opt.h"
#include "agent/cli/commands.h"
#include "agent/env.h"
#include "agent/money.h"
#include "agent/tally.h"
#include "agent/trace.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"
#include "executor/shared/ak_parse.h"

#define DAYS 30u
#define DAYS_MAX 36500u
#define SESSIONS_MAX 100000u
#define PATH_BYTES 4096u

static const char usage[] = "usage: ak report [--days N] [--json]\n";

struct report {
	struct tally t;
	uint64_t days;
	uint64_t sessions;
	struct ak_err *err;
};

/* "YYYY-MM-DD" so many days ago, in UTC as the traces are */
static void day_before(uint64_t days, char *buf)
{
	time_t at = time(NULL) - (time_t)(days * 86400);
	struct tm tm = { 0 };

	(void)gmtime_r(&at, &tm);
	(void)strftime(buf, TALLY_DATE, "%Y-%m-%d", &tm);
}

/* --- reading --- */

/* Adds the lines of @piece; a line in parts is kept in @line */
static int add_piece(struct report *r, struct ak_buf *line, const char *p, size_t n, uint64_t *counted)
{
	while (n > 0) {
		const char *end = memchr(p, '\n', n);
		size_t len = end ? (size_t)(end - p) : n;
		int rc;

		ak_buf_add(line, p, len);
		if (!end)
			return 0;
		r->t.skipped += line->failed;
		rc = line->failed ? 0 : tally_line(&r->t, line->data, line->len);
		if (rc < 0)
			return rc;
		*counted += (uint64_t)rc;
		line->failed = false;
		line->len = 0;
		p += len + 1;
		n -= len + 1;
	}
	return 0;
}

static int read_trace(struct report *r, int fd)
{
	struct ak_buf line = { .max = TRACE_LINE_MAX };
	uint64_t counted = 0;
	char buf[65536];
	int rc = 0;

	while (rc == 0) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : 0;
			break;
		}
		rc = add_piece(r, &line, buf, (size_t)n, &counted);
	}
	/* the end of a line that is being written is no record yet */
	ak_buf_release(&line);
	r->sessions += counted > 0;
	return rc;
}

/* One session; one without a trace is none for this, and one that cannot be read does not hide the others */
static int read_session(struct report *r, int dir_fd, const char *name)
{
	struct ak_err err = { 0 };
	AK_AUTO_FD session = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AK_AUTO_FD fd = session < 0 ? -1 : openat(session, TRACE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 && errno != ENOTDIR && errno != ENOENT && errno != ELOOP) {
		(void)ak_err_sys(&err, errno, "report: the trace of session %s does not count", name);
		cli_warn("%s", err.msg);
	}
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	rc = read_trace(r, fd);
	return rc < 0 ? ak_err_sys(r->err, -rc, "read the trace of session %s", name) : 0;
}

static int read_sessions(struct report *r, const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	unsigned n = 0;
	int rc = 0;

	if (!dir)
		return errno == ENOENT ? 0 : ak_err_sys(r->err, errno, "open %s", path);
	while (rc == 0 && n++ < SESSIONS_MAX && (e = readdir(dir))) {
		if (e->d_name[0] != '.')
			rc = read_session(r, dirfd(dir), e->d_name);
	}
	(void)closedir(dir);
	return rc;
}

/* ${XDG_STATE_HOME:-~/.local/state}/ak/sessions */
static int sessions_path(char *const env[], char *buf, size_t size, struct ak_err *err)
{
	const char *state = env_get(env, "XDG_STATE_HOME");
	const char *home = env_get(env, "HOME");
	int n;

	if (state && *state == '/')
		n = snprintf(buf, size, "%s/ak/sessions", state);
	else if (home && *home == '/')
		n = snprintf(buf, size, "%s/.local/state/ak/sessions", home);
	else
		return ak_err_set(err, EINVAL, "neither XDG_STATE_HOME nor HOME says where sessions are");
	return n > 0 && (size_t)n < size ? 0 : ak_err_set(err, ENAMETOOLONG, "the path of the state folder is too long");
}

/* --- writing --- */

static void put_dollars(struct ak_json *j, const char *key, uint64_t picousd)
{
	char text[MONEY_TEXT];

	(void)money_format_exact(picousd, text);
	ak_json_raw(j, key, text, strlen(text));
}

static void put_figures(struct ak_json *j, const struct tally_row *r)
{
	ak_json_u64(j, "turns", r->turns);
	ak_json_u64(j, "input_tokens", r->input);
	ak_json_u64(j, "cached_tokens", r->cached);
	ak_json_u64(j, "output_tokens", r->output);
	put_dollars(j, "cost_usd", r->cost_picousd);
	ak_json_u64(j, "unknown_cost_calls", r->unpriced);
}

static void put_tools(struct ak_json *j, const struct tally_row *r)
{
	ak_json_u64(j, "tool_calls", r->calls);
	ak_json_u64(j, "tool_errors", r->errors);
	ak_json_u64(j, "tool_denied", r->denied);
}

static void put_rows(struct ak_json *j, const char *key, const char *what, const struct tally_rows *rows)
{
	ak_json_arr(j, key);
	for (size_t i = 0; i < rows->n; i++) {
		ak_json_obj(j, NULL);
		ak_json_str(j, what, rows->v[i].name);
		if (*what != 't')
			put_figures(j, &rows->v[i]);
		put_tools(j, &rows->v[i]);
		ak_json_obj_end(j);
	}
	ak_json_arr_end(j);
}

static void put_json(struct ak_buf *b, const struct report *r)
{
	struct ak_json j;

	ak_json_init(&j, b);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-report/1");
	ak_json_u64(&j, "days", r->days);
	ak_json_str(&j, "since", r->t.since);
	ak_json_u64(&j, "sessions", r->sessions);
	put_figures(&j, &r->t.all);
	put_tools(&j, &r->t.all);
	put_rows(&j, "by_day", "day", &r->t.days);
	put_rows(&j, "by_model", "model", &r->t.models);
	put_rows(&j, "by_tool", "tool", &r->t.tools);
	ak_json_u64(&j, "skipped_lines", r->t.skipped);
	ak_json_obj_end(&j);
	ak_buf_str(b, "\n");
}

static void text_rows(struct ak_buf *b, const char *title, const struct tally_rows *rows)
{
	char cost[MONEY_TEXT];

	ak_buf_printf(b, "\n%-34s %7s %12s %12s %12s %12s\n", title, "TURNS", "INPUT", "CACHED", "OUTPUT", "COST $");
	for (size_t i = 0; i < rows->n; i++) {
		const struct tally_row *r = &rows->v[i];

		ak_buf_printf(b, "%-34s %7" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12s%s\n", r->name, r->turns, r->input, r->cached,
			      r->output, money_format(r->cost_picousd, 4, cost), r->unpriced ? " +?" : "");
	}
}

static void put_text(struct ak_buf *b, const struct report *r)
{
	const struct tally_row *all = &r->t.all;
	char cost[MONEY_TEXT];

	ak_buf_printf(b, "Since %s (%" PRIu64 " days, UTC): %" PRIu64 " sessions, %" PRIu64 " turns, $%s", r->t.since, r->days, r->sessions,
		      all->turns, money_format(all->cost_picousd, 4, cost));
	if (all->unpriced)
		ak_buf_printf(b, " and %" PRIu64 " calls of unknown cost (+?)", all->unpriced);
	ak_buf_str(b, "\n");
	if (r->sessions == 0)
		return;
	text_rows(b, "DAY", &r->t.days);
	text_rows(b, "MODEL", &r->t.models);
	if (r->t.tools.n > 0)
		ak_buf_printf(b, "\n%-34s %7s %12s %12s\n", "TOOL", "CALLS", "ERRORS", "DENIED");
	for (size_t i = 0; i < r->t.tools.n; i++) {
		const struct tally_row *t = &r->t.tools.v[i];

		ak_buf_printf(b, "%-34s %7" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", t->name, t->calls, t->errors, t->denied);
	}
}

static int print(struct report *r, bool json)
{
	struct ak_buf b = { 0 };
	int rc;

	tally_sort(&r->t);
	if (json)
		put_json(&b, r);
	else
		put_text(&b, r);
	rc = b.failed ? -ENOMEM : ak_write_all(STDOUT_FILENO, b.data, b.len);
	ak_buf_release(&b);
	if (rc == 0)
		return 0;
	(void)ak_err_sys(r->err, -rc, "standard output");
	return cli_fail(r->err, 1);
}

int cmd_report(int argc, char *argv[], char *envp[])
{
	const char *days = NULL;
	bool json = false;
	bool help = false;
	const struct cli_opt opts[] = {
		{ "days", 0, &days, NULL }, { "json", 0, NULL, &json }, { "help", 'h', NULL, &help }, { NULL, 0, NULL, NULL }
	};
	struct ak_err err = { 0 };
	struct report r = { .days = DAYS, .err = &err };
	char path[PATH_BYTES];
	const char *args[1];
	size_t n = 0;
	int rc;

	if (cli_opts(argc, argv, "report", opts, args, 0, &n, &err) < 0)
		return cli_fail(&err, 2);
	if (help)
		return ak_write_all(STDOUT_FILENO, usage, sizeof(usage) - 1) < 0 ? 1 : 0;
	if (days && ak_parse_u64(days, 1, DAYS_MAX, &r.days) < 0) {
		(void)ak_err_set(&err, EINVAL, "report: --days expects a number of days from 1 to %u, got \"%s\"", DAYS_MAX, days);
		return cli_fail(&err, 2);
	}
	day_before(r.days - 1, r.t.since);
	rc = sessions_path(envp, path, sizeof(path), &err);
	if (rc == 0)
		rc = read_sessions(&r, path);
	if (rc == 0 && r.t.skipped > 0)
		cli_warn("report: %" PRIu64 " lines of traces are no records and do not count", r.t.skipped);
	rc = rc < 0 ? cli_fail(&err, 1) : print(&r, json);
	tally_release(&r.t);
	return rc;
}
