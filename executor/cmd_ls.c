/* SPDX-License-Identifier: Apache-2.0 */
/* `ak ls`: the caller's named sandboxes. Process: a client of each. Privilege: the caller's. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "executor/cmd_named.h"
#include "executor/named.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_fd.h"
#include "executor/shared/ak_json_out.h"

static const char usage[] = "usage: ak ls [--json]\n"
			    "List your named sandboxes: how long they exist, what runs in them, their workspace.\n";

enum state { STATE_RUNNING, STATE_OTHER_VERSION, STATE_SILENT };

static const char *const state_names[] = { "running", "other-version", "no-answer" };

static const char *const backends[AK_BACKEND_END] = { "native", "docker", "local" };

struct row {
	const char *name;	/* borrowed */
	struct runtime_facts facts;
	enum state state;
	uint32_t running, jobs, pool_ready;	/* with STATE_RUNNING */
	enum ak_backend backend;	/* the same */
};

/* What the executor says of itself. Return: false when there is none any more. */
static bool ask(const struct runtime *rt, struct row *row)
{
	struct runtime_peer peer = RUNTIME_PEER_NONE;
	struct ak_client *cl = NULL;
	int r = runtime_connect(rt, row->name, &peer, NULL);

	if (r == -ENOENT || r == -EOWNERDEAD)
		return false;
	row->state = STATE_SILENT;
	if (r == 0)
		r = ak_connect_fd(ak_fd_take(&peer.fd), "ak ls", &cl, NULL);
	if (r == -EPROTO)
		row->state = STATE_OTHER_VERSION;
	if (r == 0) {
		const struct ak_hello_reply *h = ak_hello_facts(cl);

		row->state = STATE_RUNNING;
		row->running = h->running;
		row->jobs = h->jobs;
		row->pool_ready = h->pool_ready;
		row->backend = h->facts.backend;
	}
	ak_close(cl);
	runtime_peer_close(&peer);
	return true;
}

/* Return: number of rows, to be released one by one, or negative errno. */
static ssize_t collect(const struct runtime *rt, const struct runtime_names *names, struct row *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		struct row row = { .name = names->name[i] };

		/* it may end while we look */
		if (runtime_read_facts(rt, row.name, &row.facts, NULL) < 0)
			continue;
		if (ask(rt, &row))
			rows[n++] = row;
		else
			runtime_facts_release(&row.facts);
	}
	return (ssize_t)n;
}

static void put_json(const struct row *rows, size_t n, struct ak_buf *out)
{
	struct ak_json j;

	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-ls/1");
	ak_json_arr(&j, "sandboxes");
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		ak_json_obj(&j, NULL);
		ak_json_str(&j, "name", r->name);
		ak_json_str(&j, "state", state_names[r->state]);
		ak_json_u64(&j, "pid", r->facts.pid);
		ak_json_str(&j, "version", r->facts.version);
		ak_json_u64(&j, "created", r->facts.created_s);
		ak_json_milli(&j, "ttl", r->facts.ttl_ms);
		ak_json_str(&j, "workspace", r->facts.workspace);
		if (r->state == STATE_RUNNING) {
			ak_json_str(&j, "backend", backends[r->backend]);
			ak_json_u64(&j, "running", r->running);
			ak_json_u64(&j, "jobs", r->jobs);
			ak_json_u64(&j, "pool", r->facts.pool);
			ak_json_u64(&j, "pool_ready", r->pool_ready);
		}
		ak_json_obj_end(&j);
	}
	ak_json_arr_end(&j);
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
}

/* "12s", "3m", "5h", "4d" */
static void put_age(struct ak_buf *out, uint64_t created_s)
{
	uint64_t now = (uint64_t)time(NULL), s = now > created_s ? now - created_s : 0;
	char text[24];

	if (s < 60)
		(void)snprintf(text, sizeof(text), "%" PRIu64 "s", s);
	else if (s < 3600)
		(void)snprintf(text, sizeof(text), "%" PRIu64 "m", s / 60);
	else if (s < 86400)
		(void)snprintf(text, sizeof(text), "%" PRIu64 "h", s / 3600);
	else
		(void)snprintf(text, sizeof(text), "%" PRIu64 "d", s / 86400);
	ak_buf_printf(out, "%-6s", text);
}

static void put_text(const struct row *rows, size_t n, struct ak_buf *out)
{
	ak_buf_printf(out, "%-24s %-14s %-6s%-9s%-6s%s\n", "NAME", "STATE", "AGE", "RUNNING", "JOBS", "WORKSPACE");
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		ak_buf_printf(out, "%-24s %-14s ", r->name, state_names[r->state]);
		put_age(out, r->facts.created_s);
		if (r->state == STATE_RUNNING)
			ak_buf_printf(out, "%-9u%-6u", r->running, r->jobs);
		else
			ak_buf_printf(out, "%-9s%-6s", "-", "-");
		ak_text_clean(r->facts.workspace);
		ak_buf_printf(out, "%s\n", r->facts.workspace);
	}
}

static int fill(const struct runtime *rt, bool json, struct runtime_names *names, struct row *rows, struct ak_buf *out,
		struct ak_err *err)
{
	ssize_t n;
	int r = runtime_list(rt, names, err);

	if (r < 0)
		return r;
	n = collect(rt, names, rows);
	if (json)
		put_json(rows, (size_t)n, out);
	else if (n > 0)
		put_text(rows, (size_t)n, out);
	for (ssize_t i = 0; i < n; i++)
		runtime_facts_release(&rows[i].facts);
	return 0;
}

static int list(bool json, char *const env[], struct ak_buf *out, struct ak_err *err)
{
	struct runtime_names *names = calloc(1, sizeof(*names));
	struct row *rows = calloc(RUNTIME_SANDBOXES_MAX, sizeof(*rows));
	struct runtime rt = { .dir = -1 };
	struct hostinfo host = { 0 };
	int r = -ENOMEM;

	if (!names || !rows)
		(void)ak_err_set(err, ENOMEM, "out of memory");
	else
		r = hostinfo_get(env, &host, err);
	if (r == 0)
		r = runtime_open(&host, false, &rt, err);
	if (r == 0) {
		r = fill(&rt, json, names, rows, out, err);
	} else if (r == -ENOENT) {	/* no runtime folder: no sandbox has ever been made */
		r = 0;
		if (json)
			put_json(NULL, 0, out);
	}
	runtime_close(&rt);
	hostinfo_release(&host);
	free(rows);
	free(names);
	return r;
}

int cmd_ls(int argc, char *const argv[], char *const env[])
{
	bool json = false;
	const struct cmd_flag flags[] = { { "--json", NULL, &json }, { NULL, NULL, NULL } };
	const char *words[CMD_WORDS_MAX];
	struct ak_err err = { 0 };
	struct ak_buf b = { 0 };
	int r = cmd_words(argc, argv, usage, flags, 0, words, &err);

	if (r != 0)
		return r == 1 ? 0 : named_usage(&err);
	r = list(json, env, &b, &err);
	if (r == 0)
		r = b.len && !b.failed ? named_print(b.data, b.len) : 0;
	else
		r = named_fail(&err);
	ak_buf_release(&b);
	return r;
}
