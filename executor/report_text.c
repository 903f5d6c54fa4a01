/* SPDX-License-Identifier: Apache-2.0 */
/* Why ak gives the exit code it gives, as one line. Process: executor. Privilege: none. */
#include "executor/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "executor/cow.h"
#include "executor/opts.h"
#include "executor/relay.h"
#include "executor/report_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

void report_size_text(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	size_t u = 0;

	while (u < 3 && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		u++;
	}
	(void)snprintf(buf, size, "%" PRIu64 " %s", bytes, units[u]);
}

/* "1.5 s" */
static void add_seconds(struct ak_buf *out, uint64_t ms)
{
	if (ms % 1000 == 0)
		ak_buf_printf(out, "%" PRIu64 " s", ms / 1000);
	else
		ak_buf_printf(out, "%g s", (double)ms / 1000);
}

/* Separates what follows from what is there */
static void next_part(struct ak_buf *out, size_t start)
{
	if (out->len > start)
		ak_buf_str(out, "; ");
}

/* Texts that came from the sandbox are shown to a terminal here */
static void add_clean(struct ak_buf *out, const char *text)
{
	char copy[1024];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	ak_text_clean(copy);
	ak_buf_str(out, copy);
}

static void add_error(struct ak_buf *out, struct report_error e)
{
	add_clean(out, e.message);
	if (e.hint[0]) {
		ak_buf_str(out, " - ");
		add_clean(out, e.hint);
	}
}

static void add_disk(struct ak_buf *out, const struct exec_opts *o, const struct cow *cow)
{
	char size[48];

	report_size_text(o->disk_bytes, size, sizeof(size));
	if (cow && cow->disk_bytes > 0 && cow->disk_bytes < o->disk_bytes) {
		char layer[48];

		report_size_text(cow->disk_bytes, layer, sizeof(layer));
		ak_buf_printf(out, " at %s in the workspace; private file systems have the rest of %s (--disk)", layer, size);
	} else {
		ak_buf_printf(out, " at the limit of %s (--disk)", size);
	}
}

static void add_end(struct ak_buf *out, const struct exec_opts *o, const struct cow *cow, const struct run_result *run)
{
	char size[48];

	switch (run->status) {
	case RUN_TIMED_OUT:
		ak_buf_str(out, "timed out");
		if (o && o->timeout_ms > 0) {
			ak_buf_str(out, " after ");
			add_seconds(out, o->timeout_ms);
		}
		break;
	case RUN_OOM_KILLED:
		ak_buf_str(out, "out of memory: the command was killed");
		if (run->outer_oom && run->outer_path[0]) {
			ak_buf_str(out, " at the limit of an outer group, ");
			add_clean(out, run->outer_path);
		} else if (run->outer_oom) {
			ak_buf_str(out, " at an outer limit or for want of memory on the host, not at its own limit");
		} else if (o && !o->memory_bytes.max) {
			report_size_text(o->memory_bytes.value, size, sizeof(size));
			ak_buf_printf(out, " at the limit of %s (--memory)", size);
		}
		break;
	case RUN_CPU_TIME:
		ak_buf_str(out, "out of processor time: the command was killed");
		if (o && o->cpu_time_ms > 0) {
			ak_buf_str(out, " after ");
			add_seconds(out, o->cpu_time_ms);
			ak_buf_str(out, " (--cpu-time)");
		}
		break;
	case RUN_DISK:
		ak_buf_str(out, "too much was written: the command was killed");
		if (o && o->disk_bytes > 0)
			add_disk(out, o, cow);
		break;
	default:
		break;
	}
}

static void add_dropped(struct ak_buf *out, size_t start, const struct exec_opts *opts, const struct run_result *run)
{
	static const char *const names[] = {"stdout", "stderr"};

	for (int i = 0; i < 2; i++) {
		if (run->out[i].dropped == 0)
			continue;
		next_part(out, start);
		ak_buf_printf(out, "%" PRIu64 " of %" PRIu64 " bytes of %s were dropped%s", run->out[i].dropped,
			      run->out[i].total, names[i],
			      opts && opts->max_output_bytes != UINT64_MAX ? " (--max-output)" : "");
	}
}

void report_exit_text(const struct report *r, struct ak_buf *out)
{
	struct report_error e = report_error_of(r);
	size_t start = out->len;

	ak_buf_str(out, "");
	if (e.stage)
		add_error(out, e);
	if (!r->run)
		return;
	if (r->run->status == RUN_TIMED_OUT || r->run->status == RUN_OOM_KILLED ||
	    r->run->status == RUN_CPU_TIME || r->run->status == RUN_DISK) {
		next_part(out, start);
		add_end(out, r->opts, r->cow, r->run);
	}
	add_dropped(out, start, r->opts, r->run);
}
