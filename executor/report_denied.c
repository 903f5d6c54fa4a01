/* SPDX-License-Identifier: Apache-2.0 */
/* What was refused, in the result object and as lines for people. Process: executor. Privilege: none. */
#include "executor/report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "executor/denials.h"
#include "executor/plan.h"
#include "executor/relay.h"
#include "executor/report_int.h"
#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"

#define SHELL_SIGNAL 128	/* what shells add to the number of the signal that ended a command */
#define LINE_NAMES 12u		/* names in the line for people */

#if defined(__x86_64__)
#define OTHER_ARCHITECTURES "i386 or x32"
#define OWN_ARCHITECTURE "x86_64"
#elif defined(__aarch64__)
#define OTHER_ARCHITECTURES "32-bit ARM"
#define OWN_ARCHITECTURE "aarch64"
#endif

void report_put_denied(struct ak_json *j, const struct report *r)
{
	struct denial list[DENIALS_NUMBERS + 1];
	struct ak_buf hint = { 0 };
	size_t n = 0;

	ak_json_obj(j, "denied");
	if (r->denials && r->denials->observed) {
		n = denials_list(r->denials, list, sizeof(list) / sizeof(list[0]));
		ak_json_arr(j, "syscalls");
		for (size_t i = 0; i < n; i++) {
			ak_json_obj(j, NULL);
			ak_json_str(j, "name", list[i].name);
			ak_json_u64(j, "count", list[i].count);
			ak_json_str(j, "errno", ak_errno_name(list[i].err));
			ak_json_obj_end(j);
		}
		ak_json_arr_end(j);
	} else {
		ak_json_null(j, "syscalls");
	}
	/* no host can have been denied by name in this version */
	ak_json_arr(j, "hosts");
	ak_json_arr_end(j);
	report_denied_hint(r, &hint);
	ak_json_str(j, "hint", hint.len && !hint.failed ? hint.data : NULL);
	ak_buf_release(&hint);
	ak_json_obj_end(j);
}

/* Did the command end in a way that a refusal may have caused? Not what ak itself ended */
static bool went_wrong(const struct run_result *run)
{
	if (!run || run->interrupted)
		return false;
	return (run->status == RUN_EXITED && run->exit_code != 0) || run->status == RUN_SIGNALED;
}

static bool died_of_sigsys(const struct run_result *run)
{
	return run->status == RUN_SIGNALED ? run->signal == SIGSYS : run->exit_code == SHELL_SIGNAL + SIGSYS;
}

static void add_name(struct ak_buf *out, const struct denial *d)
{
	if (strcmp(d->name, "other") == 0)
		ak_buf_str(out, "a system call that nobody knows");
	else if (d->name[0] == '#')
		ak_buf_printf(out, "system call %s", d->name + 1);
	else
		ak_buf_printf(out, "%s(2)", d->name);
}

void report_denied_hint(const struct report *r, struct ak_buf *out)
{
	const struct plan *p = r->plan;
	struct denial d;

	if (!p || !went_wrong(r->run))
		return;
	if (died_of_sigsys(r->run)) {
		ak_buf_str(out, "killed by the sandbox (SIGSYS): a call of another architecture (" OTHER_ARCHITECTURES
				"); only " OWN_ARCHITECTURE " programs run here");
		if (p->filter)
			ak_buf_printf(out, ", or a call that %s answers with death", p->seccomp);
		return;
	}
	if (!r->denials || !r->denials->observed || !denials_explain(r->denials, &d))
		return;
	add_name(out, &d);
	ak_buf_printf(out, " was refused by the sandbox (%s): ", ak_errno_name(d.err));
	if (d.by_floor)
		ak_buf_str(out, "no profile can allow it");
	else
		ak_buf_printf(out, "the profile %s does not allow it", p->seccomp ? p->seccomp : "default");
}

void report_denied_text(const struct report *r, struct ak_buf *out)
{
	struct denial list[LINE_NAMES];
	size_t n = r->denials && r->denials->observed ? denials_list(r->denials, list, LINE_NAMES) : 0;
	size_t start = out->len;

	report_denied_hint(r, out);
	if (n == 0)
		return;
	ak_buf_str(out, out->len > start ? "; refused in all: " : "refused system calls: ");
	for (size_t i = 0; i < n; i++)
		ak_buf_printf(out, "%s%s %u%s", i ? ", " : "", list[i].name, list[i].count, list[i].count == DENIALS_COUNT_MAX ? "+" : "");
}
