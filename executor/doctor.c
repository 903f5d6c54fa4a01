/* SPDX-License-Identifier: Apache-2.0 */
/* `ak doctor`: options, the run of all checks, the exit code. Process: executor. Privilege: the caller's. */
#include "executor/doctor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executor/doctor_int.h"
#include "executor/hostinfo.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_fd.h"

static const char help[] =
	"usage: ak doctor [--json]\n"
	"\n"
	"Tries what sandboxes are made of on this host, each thing for real and in a process of\n"
	"its own, and says what works, what does not, what that means and what to do about it.\n"
	"\n"
	"  --json   one JSON document (schema ak-doctor/1)\n"
	"  --help   this text\n"
	"\n"
	"Exit code: 0 sandboxes can be built here, 1 something they need fails, 2 usage.\n";

enum doctor_mode { MODE_TEXT, MODE_JSON, MODE_HELP, MODE_USAGE };

static enum doctor_mode parse(int argc, char *const argv[])
{
	enum doctor_mode mode = MODE_TEXT;

	for (int i = 0; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return MODE_HELP;
		if (strcmp(argv[i], "--json") == 0) {
			mode = MODE_JSON;
			continue;
		}
		fprintf(stderr, "ak: doctor: unknown %s '%s'; see ak doctor --help\n",
			argv[i][0] == '-' ? "option" : "argument", argv[i]);
		return MODE_USAGE;
	}
	return mode;
}

/* The caller as `ak exec` sees it: root of a user namespace without host root is an ordinary user. */
static int caller(struct doctor_ctx *ctx)
{
	struct hostinfo h;

	if (hostinfo_get(environ, &h, NULL) < 0)
		return -1;
	ctx->uid = h.uid;
	ctx->gid = h.gid;
	ctx->root = h.root;
	hostinfo_release(&h);
	doctor_facts_read(&ctx->facts);
	ctx->facts.root = ctx->root;
	return 0;
}

static int run(enum doctor_mode mode)
{
	struct doctor_ctx ctx = {0};
	struct ak_buf out = {0};
	size_t n;
	const struct doctor_check *checks = doctor_checks(&n);
	struct doctor_row *rows = calloc(n, sizeof(*rows));
	int rc;

	if (!rows || caller(&ctx) < 0) {
		fprintf(stderr, "ak: doctor: out of memory\n");
		free(rows);
		return 1;
	}
	if (ctx.root) {
		ctx.range_uid = doctor_range("/etc/subuid");
		ctx.range_gid = doctor_range("/etc/subgid");
	}
	for (size_t i = 0; i < n; i++)
		doctor_run_check(&checks[i], &ctx, &rows[i]);
	if (mode == MODE_JSON)
		doctor_print_json(rows, n, ctx.uid, &out);
	else
		doctor_print_text(rows, n, ctx.uid, &out);
	rc = doctor_ok(rows, n) ? 0 : 1;
	if (out.failed || ak_write_all(STDOUT_FILENO, out.data, out.len) < 0) {
		fprintf(stderr, "ak: doctor: cannot write the result: %s\n",
			out.failed ? "out of memory" : strerror(errno));
		rc = 1;
	}
	ak_buf_release(&out);
	free(rows);
	return rc;
}

int doctor_main(int argc, char *const argv[])
{
	enum doctor_mode mode = parse(argc, argv);

	if (mode == MODE_USAGE)
		return 2;
	if (mode != MODE_HELP)
		return run(mode);
	return ak_write_all(STDOUT_FILENO, help, sizeof(help) - 1) < 0 ? 1 : 0;
}
